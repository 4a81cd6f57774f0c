package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"bureau/internal/fault"
)

// The bounds of one look at a push.
const (
	maxPushCommits = 20_000
	maxPushPaths   = 200_000
	maxPushInput   = 16 << 20 // bytes of the hook's input
	maxPushMerges  = 100      // that are merged anew
)

// Push is what a push would bring to the other side.
type Push struct {
	Paths   []string // sorted, each once; as in [Change]
	Commits int      // how many commits were looked at
	// More says that there is more than the bounds allow: of 20,000 commits
	// the newest were looked at, of 200,000 paths some are named.
	More bool
}

// Pushed gives the paths that the commits being pushed change, for git's
// pre-push hook: lines is the hook's input, "LOCAL-REF LOCAL-ID REMOTE-REF
// REMOTE-ID" each (githooks(5)). These are the commits that are in a local id
// and neither in the branch's old remote id nor in any remote-tracking ref, so
// what was merged from the other side does not count again. Of a merge commit
// those paths count that differ from all its parents and from what git merges by
// itself (before git 2.35, of more than two parents, and beyond 100 merges only
// the parents count); of a rename both sides. Deleted refs bring nothing. dir
// and env are as for [Staged].
func Pushed(ctx context.Context, dir string, env []string, lines io.Reader) (Push, error) {
	if env == nil {
		env = os.Environ()
	}
	revs, err := pushedRevs(lines)
	if err != nil || revs == "" {
		return Push{}, err
	}
	// A remote id that was never fetched is no object here: it is passed over.
	list, err := run(ctx, dir, env, strings.NewReader(revs), "rev-list", "--parents", fmt.Sprintf("--max-count=%d", maxPushCommits+1),
		"--ignore-missing", "--stdin", "--not", "--remotes")
	if err != nil {
		return Push{}, explain(err, "list the commits being pushed", dir)
	}
	commits := strings.SplitAfter(list, "\n")
	commits = commits[:len(commits)-1] // behind the last line end there is nothing
	var push Push
	if push.More = len(commits) > maxPushCommits; push.More {
		commits = commits[:maxPushCommits]
	}
	if push.Commits = len(commits); push.Commits == 0 {
		return push, nil
	}
	var all strings.Builder
	merges := make(map[string]bool)
	for _, line := range commits {
		ids := strings.Fields(line) // the commit and its parents
		merges[ids[0]] = len(ids) == 3
		all.WriteString(ids[0] + "\n")
	}
	seen := make(map[string]bool)
	var own func(path string) bool // of the merge that is looked at; nil is all
	of, again, path := "", 0, false
	err = stream(ctx, dir, env, strings.NewReader(all.String()), func(word string) bool {
		switch {
		case path:
			if path = false; merges[of] && own == nil && again < maxPushMerges {
				own = remerged(ctx, dir, env, of)
				again++
			}
			if own == nil || own(word) {
				seen[word] = true
			}
		case strings.HasPrefix(word, ":"):
			path = true
		default:
			of, own = word, nil
		}
		push.More = push.More || len(seen) > maxPushPaths
		return len(seen) <= maxPushPaths
	}, "diff-tree", "--stdin", "--root", "-r", "-c", "-z", "--raw", "--no-renames",
		"--no-ext-diff", "--no-relative", "--ignore-submodules=none")
	if err != nil {
		return Push{}, explain(err, "list the paths being pushed", dir)
	}
	for path := range seen {
		push.Paths = append(push.Paths, path)
	}
	slices.Sort(push.Paths)
	return push, nil
}

// remerged gives the paths of a merge commit that differ from what git merges
// by itself; nil where an older git does not know.
func remerged(ctx context.Context, dir string, env []string, id string) func(path string) bool {
	out, err := run(ctx, dir, env, nil, "show", "--no-show-signature", "--format=", "-z", "--name-only", "--diff-merges=remerge", "--no-renames",
		"--no-ext-diff", "--no-relative", "--ignore-submodules=none", id, "--")
	if err != nil {
		return nil
	}
	differs := make(map[string]bool)
	for path := range strings.SplitSeq(out, "\x00") {
		differs[path] = true
	}
	return func(path string) bool { return differs[path] }
}

// pushedRevs turns the hook's input into what git rev-list --stdin reads. It
// is empty if nothing but deletions is pushed.
func pushedRevs(lines io.Reader) (string, error) {
	var with, without strings.Builder
	scan := bufio.NewScanner(io.LimitReader(lines, maxPushInput))
	for scan.Scan() {
		if strings.TrimSpace(scan.Text()) == "" {
			continue
		}
		words := strings.Fields(scan.Text())
		// The local ref may be any expression that names a commit; the ids are
		// counted from the end.
		if len(words) < 4 || !isID(words[len(words)-3]) || !isID(words[len(words)-1]) {
			return "", fault.New(fault.Invalid, "not a line of a pre-push hook's input: %q", scan.Text()).
				WithHint("it is LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID; see git help githooks")
		}
		local, remote := words[len(words)-3], words[len(words)-1]
		if zero(local) {
			continue
		}
		fmt.Fprintln(&with, local)
		if !zero(remote) {
			fmt.Fprintf(&without, "^%s\n", remote)
		}
	}
	if err := scan.Err(); err != nil {
		return "", fault.New(fault.Invalid, "cannot read the pre-push hook's input: %w", err)
	}
	if with.Len() == 0 {
		return "", nil
	}
	return with.String() + without.String(), nil
}

// zero reports whether an id is the one that stands for "no object".
func zero(id string) bool { return strings.Trim(id, "0") == "" }
