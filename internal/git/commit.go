package git

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"bureau/internal/fault"
)

// firstCommitLimit bounds the search: a history of a million commits takes
// longer, and is then recognised by its path alone.
const firstCommitLimit = 2 * time.Second

// FirstCommit gives the commit that a repository's history begins with, along
// first parents: the same in every clone, wherever it lies. "" without an
// error is a repository without a commit.
func FirstCommit(ctx context.Context, root string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, firstCommitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "rev-list", "--max-parents=0", "--first-parent", "HEAD")
	cmd.Dir = root
	cmd.Env = scrub(os.Environ())
	cmd.WaitDelay = firstCommitLimit / 4
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() == nil && strings.Contains(errs.String(), "ambiguous argument 'HEAD'") {
			return "", nil
		}
		return "", fault.New(fault.Unavailable, "git cannot tell the first commit of %s: %w", root, err)
	}
	fields := strings.Fields(out.String())
	if len(fields) == 0 {
		return "", nil
	}
	return fields[len(fields)-1], nil
}

// scrub takes away what would point git to another repository (a hook of git
// sets such variables), and its translations.
func scrub(env []string) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LC_ALL=") {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
}
