package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"bureau/internal/fault"
)

const (
	// maxOutput bounds what is read of one answer of git, in bytes: the paths
	// of a commit of about a million files.
	maxOutput = 64 << 20
	// runLimit bounds one run of git whose caller set no deadline of his own.
	runLimit = 60 * time.Second
	// killWait is how long the pipes of a git that was ended may stay open.
	killWait = time.Second
)

// fixed are the settings that hold for every run, whatever the person's
// configuration says. An empty core.fsmonitor is off for every version of git
// (before 2.36 the value was the name of a program).
var fixed = []string{"--no-pager", "-c", "core.quotePath=false", "-c", "core.fsmonitor=", "-c", "color.ui=false"}

// command prepares a run of git in dir ("" is the current folder). env is the
// whole environment that the repository is found by: the hook's own, or what
// [Environ] gives.
func command(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, fixed...), args...)...)
	cmd.Dir = dir
	cmd.Env = plain(env)
	cmd.WaitDelay = killWait
	return cmd
}

// run gives what git prints. A failure is a *failed.
func run(ctx context.Context, dir string, env []string, stdin io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := command(ctx, dir, env, args...)
	out, errs := &capped{max: maxOutput}, &capped{max: 4096, cut: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, errs
	if err := cmd.Run(); err != nil {
		if out.full {
			err = fmt.Errorf("its answer is longer than %d bytes", maxOutput)
		}
		return "", failure(ctx, err, errs.String(), args)
	}
	return out.String(), nil
}

// stream hands on the NUL-terminated words that git prints, until each says
// that it has enough; git is ended then.
func stream(ctx context.Context, dir string, env []string, stdin io.Reader, each func(word string) bool, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := command(ctx, dir, env, args...)
	errs := &capped{max: 4096, cut: true}
	sink := &words{each: each, stop: cancel}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, sink, errs
	if err := cmd.Run(); err != nil && !sink.done {
		return failure(ctx, err, errs.String(), args)
	}
	return nil
}

// capped keeps the first max bytes. What is more is an error, or dropped.
type capped struct {
	bytes.Buffer
	max  int
	cut  bool
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - c.Len()
	if len(p) <= room {
		return c.Buffer.Write(p)
	}
	c.full = true
	c.Buffer.Write(p[:max(room, 0)])
	if c.cut {
		return len(p), nil
	}
	return 0, io.ErrShortWrite
}

// words cuts what is written to it at NUL bytes.
type words struct {
	each func(string) bool
	stop func()
	rest []byte
	done bool
}

func (w *words) Write(p []byte) (int, error) {
	n := len(p)
	for !w.done {
		word, after, found := bytes.Cut(p, []byte{0})
		if !found {
			w.rest = append(w.rest, p...)
			if len(w.rest) > maxOutput {
				return 0, io.ErrShortWrite
			}
			break
		}
		w.done = !w.each(string(append(w.rest, word...)))
		w.rest, p = w.rest[:0], after
	}
	if w.done {
		w.stop()
	}
	return n, nil
}

// failed is a run of git that did not end well.
type failed struct {
	verb   string
	code   int // its exit status; -1 if it did not come to that
	stderr string
	err    error
}

func failure(ctx context.Context, err error, stderr string, args []string) *failed {
	f := &failed{verb: args[0], code: -1, stderr: strings.TrimSpace(stderr), err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.code = exit.ExitCode()
	}
	if ctx.Err() != nil {
		f.code, f.err = -1, ctx.Err()
	}
	return f
}

func (f *failed) Error() string {
	if line, _, _ := strings.Cut(f.stderr, "\n"); line != "" && f.code >= 0 {
		return fmt.Sprintf("git %s: %s", f.verb, line)
	}
	return fmt.Sprintf("git %s: %v", f.verb, f.err)
}

func (f *failed) Unwrap() error { return f.err }

// exitCode gives the exit status of the git that failed with err, -1 if there
// is none.
func exitCode(err error) int {
	var f *failed
	if errors.As(err, &f) {
		return f.code
	}
	return -1
}

// explain makes a refusal of what went wrong, with the next step. what says
// what could not be done; dir is the folder it was for.
func explain(err error, what, dir string) error {
	if dir == "" {
		dir = "the current folder"
	}
	var said string
	var f *failed
	if errors.As(err, &f) {
		said = f.stderr
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "cannot %s of %s in time: %w", what, dir, err)
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.Unavailable, "cannot %s of %s: there is no git on PATH", what, dir).WithHint("install git 2.31 or newer")
	case strings.Contains(said, "not a git repository"):
		return fault.New(fault.NotFound, "%s is in no git repository", dir).WithHint("go to a repository, or make one: git init")
	case strings.Contains(said, "must be run in a work tree"):
		return fault.New(fault.Invalid, "%s is no work tree: the repository is bare", dir).WithHint("go to one of its work trees: git worktree list")
	case strings.Contains(said, "dubious ownership"):
		return fault.New(fault.Denied, "git does not trust the repository of %s, since it belongs to another user", dir).
			WithHint("if you trust it: git config --global --add safe.directory FOLDER")
	case strings.Contains(said, "is outside repository"):
		return fault.New(fault.Invalid, "cannot %s of %s: %w", what, dir, err).WithHint("name paths inside of the repository")
	}
	return fault.New(fault.Unavailable, "cannot %s of %s: %w", what, dir, err)
}
