package setup

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/quote"
)

// Client is the program of Claude Code.
type Client struct {
	Path    string // "" when it is not there
	Version claude.Version
}

// clientTimeout bounds one run of the client. It starts in well under a
// second; on a loaded machine it took three.
const clientTimeout = 30 * time.Second

// FindClient looks for the client on the path (look is [exec.LookPath]) and
// asks for its version.
func FindClient(ctx context.Context, look func(string) (string, error)) Client {
	path, err := look("claude")
	if err != nil {
		return Client{}
	}
	c := Client{Path: path}
	if out, err := c.run(ctx, "", nil, []string{path, "--version"}); err == nil {
		c.Version, _ = claude.ParseVersion(out)
	}
	return c
}

// run runs the client without input and gives what it printed, as one line.
func (c Client) run(ctx context.Context, dir string, env, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return quote.Line(strings.TrimSpace(string(out)), 200), err
}
