// Bureau is one office for all coding-agent sessions of a person or a team:
// mail, questions, a board, and everything else of package cli.
package main

import (
	"context"
	"os"

	"bureau/internal/cli"
	"bureau/internal/mcpserver"
)

func main() {
	cli.ServeMCP = func(ctx context.Context, m cli.MCP) error { return mcpserver.Run(ctx, mcpserver.Options(m)) }
	os.Exit(cli.Main())
}
