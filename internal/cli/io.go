package cli

import (
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
)

// IO is everything that a command reads from and writes to. No command knows
// another way to the world outside of the office, so each can be run inside a
// test.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool // whether each of them is a terminal
	OutTTY   bool
	ErrTTY   bool
	NoReader bool // what is written to Out reaches nobody
	Color    bool // Out may be coloured
	Width    int  // columns of a line on Out; 0: PlainWidth
	Dir      string
	Env      func(key string) string
	Now      func() time.Time
}

// PlainWidth is how wide listings are where there is no terminal: wide enough
// for a line of text, narrow enough for the context of a model.
const PlainWidth = 120

// System is the IO of the process itself.
func System() IO {
	streams := IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Now: time.Now,
		InTTY: isTerminal(os.Stdin), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
	}
	streams.NoReader = closedOutput(os.Stdout)
	// A folder that is gone is no reason to stop: then there is no project.
	streams.Dir, _ = os.Getwd()
	// https://no-color.org: any value that is not empty switches colour off.
	streams.Color = streams.OutTTY && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if streams.OutTTY {
		streams.Width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && streams.Width == 0 {
		streams.Width = n
	}
	return streams
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (s IO) width() int {
	if s.Width <= 0 {
		return PlainWidth
	}
	return max(s.Width, 40)
}
