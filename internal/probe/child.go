package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxOutput is what is kept of a program's output; the rest is read and
// dropped, so that a program that floods is not blocked but runs into its limit.
const maxOutput = 256 << 10

// heldOpen is how long an ended program's output is still read: a child of its
// own may hold it open for ever.
const heldOpen = 500 * time.Millisecond

// child is a program to run.
type child struct {
	argv []string
	dir  string
	env  []string // added to the scrubbed environment
	out  io.Writer
	max  time.Duration // its limit
}

// outcome is how it went. Exactly one of these holds: err is set (it did not
// start, or did not end by itself), or code is its exit status.
type outcome struct {
	code int
	out  []byte // the head of its output, unless child.out took it
	errs string // the first line of what it said to standard error
	err  error
}

var errLate = errors.New("it did not end in time")

// run starts a program without a shell and input, as the leader of a process
// group, and waits for it. It returns when the program ended or its limit or
// ctx did; whatever of its group still runs is killed then. A process that
// left the group (setsid) is beyond reach, and does not delay the return.
func run(ctx context.Context, c child) outcome {
	ctx, cancel := context.WithTimeout(ctx, c.max)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(scrub(os.Environ()), c.env...)
	cmd.WaitDelay = heldOpen
	out, errs := &head{max: maxOutput}, &head{max: 4096}
	cmd.Stdout, cmd.Stderr = out, errs
	if c.out != nil {
		cmd.Stdout = c.out
	}
	kill, err := startGroup(cmd)
	if err != nil {
		return outcome{err: notStarted(cmd, err)}
	}
	err = cmd.Wait()
	kill()
	o := outcome{out: out.buf.Bytes(), errs: firstLine(errs.buf.Bytes())}
	switch {
	case ctx.Err() != nil:
		o.err = errLate
	case cmd.ProcessState.ExitCode() < 0:
		o.err = err // a signal
	default:
		o.code = cmd.ProcessState.ExitCode()
	}
	return o
}

// notStarted says what is missing where the system only says that something is.
func notStarted(cmd *exec.Cmd, err error) error {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return err
	case cmd.Dir != "" && missing(cmd.Dir):
		return fmt.Errorf("its folder %s is not there", cmd.Dir)
	case errors.Is(err, fs.ErrPermission):
		return errors.New("it may not be run")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case missing(path):
		return errors.New("it is not there")
	}
	return errors.New("the interpreter that it names is not there")
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// why says in a few words what went wrong with a program.
func (o outcome) why(program string) string {
	switch {
	case errors.Is(o.err, exec.ErrNotFound):
		return program + " is not installed"
	case o.err != nil:
		return program + ": " + o.err.Error()
	case o.errs != "":
		return program + ": " + o.errs
	}
	return program + " ended with status " + strconv.Itoa(o.code)
}

// head keeps the beginning of what is written to it.
type head struct {
	buf bytes.Buffer
	max int
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.max - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return strings.TrimSpace(line)
}

// scrub takes from an environment what a probe must not have: who we are in
// the office and the secrets that prove it, and what git sets for its hooks,
// which would point it to another repository or index.
func scrub(env []string) []string {
	out := make([]string, 0, len(env))
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case key == "BUREAU_HOME", key == "GIT_SSH", key == "GIT_SSH_COMMAND":
		case strings.HasPrefix(key, "BUREAU_"), strings.HasPrefix(key, "CLAUDE_CODE_MESSAGING_"), strings.HasPrefix(key, "GIT_"):
			continue
		}
		out = append(out, kv)
	}
	return out
}
