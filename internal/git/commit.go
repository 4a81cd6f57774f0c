package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bureau/internal/fault"
)

// markLimit bounds how long somebody waits to hear whether a project is one that
// was moved.
const markLimit = 500 * time.Millisecond

// Mark gives what a repository is recognised by wherever it lies: its
// [FirstCommit]. "" where there is none, or git does not tell in half a second;
// then it is recognised by its path alone.
func Mark(ctx context.Context, root string) string {
	if _, _, ok := Root(root); !ok && !exists(filepath.Join(root, "HEAD")) { // a bare one has no tree
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, markLimit)
	defer cancel()
	mark, _ := FirstCommit(ctx, root)
	return mark
}

// firstCommitLimit bounds the search: a history of a million commits takes
// longer, and is then recognised by its path alone.
const firstCommitLimit = 2 * time.Second

// FirstCommit gives the commit that a repository's history begins with, along
// first parents: the same in every clone, wherever it lies. "" without an
// error is a repository without a commit.
func FirstCommit(ctx context.Context, root string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, firstCommitLimit)
	defer cancel()
	out, err := run(ctx, root, Environ(os.Environ()), nil, "rev-list", "--max-parents=0", "--first-parent", "HEAD")
	if err != nil {
		var f *failed
		if errors.As(err, &f) && f.code > 0 && strings.Contains(f.stderr, "ambiguous argument 'HEAD'") {
			return "", nil
		}
		return "", fault.New(fault.Unavailable, "git cannot tell the first commit of %s: %w", root, err)
	}
	fields := strings.Fields(out)
	if len(fields) == 0 {
		return "", nil
	}
	return fields[len(fields)-1], nil
}
