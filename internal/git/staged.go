package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/fault"
)

// Change is a path that differs. The paths are git's own bytes, never quoted,
// with slashes, relative to the work tree's top: they may hold any byte but
// NUL and need not be UTF-8.
type Change struct {
	// Status is git's letter: A added, M modified, D deleted, R renamed, C
	// copied, T another type, U not merged, and ? untracked (from [Dirty]).
	Status byte
	Path   string // a renamed or copied file's new path
	From   string // where it was before, or was copied from; else ""
	// Merged marks a path of a merge commit that is as in one of the commits
	// being merged, or as git merges them by itself: it was changed there, and
	// not by this commit. What was resolved or changed on the way is not.
	Merged bool
}

// Paths gives the paths that the change touches: both sides of a rename, the
// new side of a copy.
func (c Change) Paths() []string {
	if c.Status == 'R' {
		return []string{c.From, c.Path}
	}
	return []string{c.Path}
}

// Staged gives what the commit being made would change, compared with HEAD, or
// with nothing before a repository's first commit; an amended commit is
// compared with the one that it replaces, as git shows it. It is for git's
// hooks before a commit: with env being the hook's environment, that is the
// index of this very commit (of `git commit -a`, `-p` or `-- path` too). By
// hand it is what is staged.
//
// dir is the hook's working directory; "" is the current one. A nil env is
// that of this process. Variables with relative paths count from dir. The
// person's configuration does not change the answer: renames are found,
// submodules never ignored. The index is not written. Of a merge git's own result
// is computed anew, which may leave objects in the repository, as the merge did.
// Before git 2.38, and of more than two commits, it is not known: a file that
// several of them changed then counts as changed by this commit.
func Staged(ctx context.Context, dir string, env []string) ([]Change, error) {
	if env == nil {
		env = os.Environ()
	}
	changes, err := stagedSince(ctx, dir, env)
	if err != nil {
		return nil, explain(err, "see the staged changes", dir)
	}
	if len(changes) == 0 {
		return nil, nil
	}
	heads, err := mergeHeads(ctx, dir, env)
	if err != nil {
		return nil, explain(err, "see what is being merged", dir)
	}
	for _, head := range heads {
		if err := markSame(ctx, dir, env, changes, head, nil); err != nil {
			return nil, explain(err, "compare the index with "+head, dir)
		}
	}
	if len(heads) == 1 && slices.ContainsFunc(changes, func(c Change) bool { return !c.Merged }) {
		if err := markAutomatic(ctx, dir, env, changes, heads[0]); err != nil {
			return nil, explain(err, "compare the index with the merge of "+heads[0], dir)
		}
	}
	return changes, nil
}

// markAutomatic marks the changes whose paths are in the index as git by itself
// merges the commit head into HEAD.
func markAutomatic(ctx context.Context, dir string, env []string, changes []Change, head string) error {
	out, conflicts, err := autoMerge(ctx, dir, env, head)
	if err != nil || out == "" {
		return err
	}
	return markSame(ctx, dir, env, changes, out, conflicts)
}

// autoMerge gives the tree that git merges by itself, and the paths that it
// leaves to a person. Where git cannot tell, the tree is "".
func autoMerge(ctx context.Context, dir string, env []string, head string) (tree string, conflicts []string, err error) {
	err = stream(ctx, dir, env, nil, func(word string) bool {
		switch {
		case tree == "" && isID(word):
			tree = word
		case tree == "" || word == "":
			return false // there is no more to know
		default:
			conflicts = append(conflicts, word)
		}
		return true
	}, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories", "HEAD", head)
	switch exitCode(err) {
	case 1: // there are conflicts
	case -1:
		return tree, nil, err
	default: // an older git, or nothing that can be merged
		return "", nil, nil
	}
	return tree, conflicts, nil
}

// diffIndex compares the index with a tree. Renames are looked for among up to
// so many files; beyond that they are a deletion and an addition.
func diffIndex(args ...string) []string {
	return append([]string{"diff-index", "--cached", "-z", "--no-ext-diff", "--no-relative", "--ignore-submodules=none",
		"--ita-invisible-in-index", "-l1000"}, args...)
}

func stagedSince(ctx context.Context, dir string, env []string) ([]Change, error) {
	out, err := run(ctx, dir, env, nil, diffIndex("--name-status", "-M", "HEAD", "--")...)
	if err != nil {
		if !unborn(ctx, dir, env) {
			return nil, err
		}
		empty, err := run(ctx, dir, env, strings.NewReader(""), "hash-object", "-t", "tree", "--stdin")
		if err != nil {
			return nil, err
		}
		out, err = run(ctx, dir, env, nil, diffIndex("--name-status", "-M", strings.TrimSpace(empty), "--")...)
		if err != nil {
			return nil, err
		}
	}
	return parseNameStatus(out)
}

// unborn reports whether HEAD names a branch that has no commit yet.
func unborn(ctx context.Context, dir string, env []string) bool {
	branch, err := run(ctx, dir, env, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return false
	}
	_, err = run(ctx, dir, env, nil, "show-ref", "--verify", "--quiet", "--", strings.TrimSuffix(branch, "\n"))
	return exitCode(err) == 1
}

// parseNameStatus reads the form of git diff --name-status -z: a letter, for
// renames and copies with a score, and one path or two, each ended by a NUL.
func parseNameStatus(out string) ([]Change, error) {
	var changes []Change
	for rest := out; rest != ""; {
		var c Change
		var status string
		var ok bool
		if status, rest, ok = strings.Cut(rest, "\x00"); ok && status != "" {
			c.Status = status[0]
			if c.Status == 'R' || c.Status == 'C' {
				if c.From, rest, ok = strings.Cut(rest, "\x00"); !ok {
					return nil, fault.New(fault.Unavailable, "git's list of changes ends inside of a change")
				}
			}
			c.Path, rest, ok = strings.Cut(rest, "\x00")
		}
		if !ok || c.Path == "" {
			return nil, fault.New(fault.Unavailable, "git's list of changes ends inside of a change")
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// mergeHeads gives the commits that the commit being made merges. Before `git
// merge` commits by itself it has written no MERGE_HEAD yet, but it names them
// to its hook (pre-merge-commit) in the environment.
func mergeHeads(ctx context.Context, dir string, env []string) ([]string, error) {
	var heads []string
	for _, kv := range env {
		if key, ok := strings.CutPrefix(kv, "GITHEAD_"); ok {
			if id, _, _ := strings.Cut(key, "="); isID(id) && !slices.Contains(heads, id) {
				heads = append(heads, id)
			}
		}
	}
	path, err := run(ctx, dir, env, nil, "rev-parse", "--git-path", "MERGE_HEAD")
	if err != nil {
		return nil, err
	}
	path = strings.TrimSuffix(path, "\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return heads, nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range strings.Fields(string(content)) {
		if isID(id) && !slices.Contains(heads, id) {
			heads = append(heads, id)
		}
	}
	return heads, nil
}

// isID reports whether s is the full id of an object, SHA-1 or SHA-256.
func isID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// markSame marks the changes whose paths are in the index as they are in a tree
// or commit, but for some.
func markSame(ctx context.Context, dir string, env []string, changes []Change, tree string, but []string) error {
	out, err := run(ctx, dir, env, nil, diffIndex("--name-only", "--no-renames", tree, "--")...)
	if err != nil {
		return err
	}
	differs := make(map[string]bool)
	for path := range strings.SplitSeq(out, "\x00") {
		differs[path] = true
	}
	for _, path := range but {
		differs[path] = true
	}
	for i, c := range changes {
		same := true
		for _, path := range c.Paths() {
			same = same && !differs[path]
		}
		changes[i].Merged = c.Merged || same
	}
	return nil
}
