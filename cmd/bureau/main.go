// Bureau is one office for all coding-agent sessions of a person or a team:
// mail, questions, a board, and everything else of package cli.
package main

import (
	"context"
	"net"
	"os"

	"bureau/internal/cli"
	"bureau/internal/hook"
	"bureau/internal/mcpserver"
)

func main() {
	cli.ServeMCP = func(ctx context.Context, m cli.MCP) error { return mcpserver.Run(ctx, mcpserver.Options(m)) }
	cli.ServeHTTP = func(s cli.Served) (func(context.Context, net.Listener) error, string, error) {
		h, err := mcpserver.NewHTTP(mcpserver.HTTPOptions(s))
		if err != nil {
			return nil, "", err
		}
		return h.Serve, mcpserver.PathMCP, nil
	}
	cli.RunHook = func(args []string) int { return hook.Run(hook.System(), args) }
	os.Exit(cli.Main())
}
