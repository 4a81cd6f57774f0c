// Bureau is one office for all coding-agent sessions of a person or a team.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"bureau/internal/cli"
)

// interrupted is the exit status of a command that a signal ended.
const interrupted = 130

func main() { os.Exit(run()) }

// run ends through its return on every path, so that the office is closed: the
// first signal cancels the context, only the second one ends at once.
func run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(interrupted)
	}()
	// With a handler a write to a pipe that nobody reads is an error, which
	// the commands take into account, and not the end of the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return cli.Run(ctx, cli.System(), os.Args[1:])
}
