// Bureau is one office for all coding-agent sessions of a person or a team:
// mail, questions, a board, and everything else of package cli.
package main

import (
	"os"

	"bureau/internal/cli"
)

func main() { os.Exit(cli.Main()) }
