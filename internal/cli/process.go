package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interrupted is the exit status of a command that a signal ended.
const Interrupted = 130

// Main runs the process's own command line. It ends through its return on
// every path, so that the office is closed: the first signal cancels the
// context, and only a second one ends at once.
func Main() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(Interrupted)
	}()
	// With a handler, writing to a pipe that nobody reads is an error that the
	// commands take into account, and not the end of the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return Run(ctx, System(), os.Args[1:])
}
