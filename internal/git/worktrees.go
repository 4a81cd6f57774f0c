package git

import (
	"context"
	"os"
	"strings"
)

// Worktree is one work tree of a repository.
type Worktree struct {
	Path   string // absolute; of a bare repository its own folder
	Head   string // the commit's id; "" before the first commit and if bare
	Branch string // the full ref; "" if detached or bare
	Main   bool   // not a linked one
	Bare   bool   // the repository itself, without a work tree

	Detached bool
	Locked   bool // git does not remove it; its folder may be away for a time
	Prunable bool // its folder is gone, and git will forget it

	LockReason, PruneReason string // in git's words; may be empty
}

// Worktrees lists the work trees of the repository that dir is in, the main
// one first. What this process inherited from a git hook does not count; dir
// does. The path of a main work tree whose repository lies elsewhere (git init
// --separate-git-dir) is known only from inside of it; from a linked work tree
// it is the repository's folder.
func Worktrees(ctx context.Context, dir string) ([]Worktree, error) {
	env := Environ(os.Environ())
	end := "\x00"
	out, err := run(ctx, dir, env, nil, "worktree", "list", "--porcelain", "-z")
	if exitCode(err) == 129 { // before git 2.36 there is no -z here
		end = "\n"
		out, err = run(ctx, dir, env, nil, "worktree", "list", "--porcelain")
	}
	if err != nil {
		return nil, explain(err, "list the work trees", dir)
	}
	trees := parseWorktrees(out, end)
	if len(trees) > 0 && !trees[0].Bare && !exists(trees[0].Path+"/.git") {
		trees[0].Path = mainPath(ctx, dir, env, trees[0].Path)
	}
	return trees, nil
}

// parseWorktrees reads the porcelain form of git worktree list: attributes,
// each ended by end, an empty one after each work tree.
func parseWorktrees(out, end string) []Worktree {
	var trees []Worktree
	for line := range strings.SplitSeq(out, end) {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			trees = append(trees, Worktree{Path: value, Main: len(trees) == 0})
		}
		if len(trees) == 0 {
			continue
		}
		tree := &trees[len(trees)-1]
		switch key {
		case "HEAD":
			if !zero(value) {
				tree.Head = value
			}
		case "branch":
			tree.Branch = value
		case "bare":
			tree.Bare = true
		case "detached":
			tree.Detached = true
		case "locked":
			tree.Locked, tree.LockReason = true, value
		case "prunable":
			tree.Prunable, tree.PruneReason = true, value
		}
	}
	return trees
}

// mainPath finds the main work tree of a repository that does not lie in it.
// Git lists the repository's folder instead (for a submodule that is
// .git/modules/NAME of the one around it).
func mainPath(ctx context.Context, dir string, env []string, listed string) string {
	// core.worktree says where it is, for submodules.
	if top, err := revParse(ctx, listed, env, "--show-toplevel"); err == nil && top != "" {
		return top
	}
	here, err := revParse(ctx, dir, env, "--absolute-git-dir")
	if err != nil {
		return listed
	}
	common, err := revParse(ctx, dir, env, "--path-format=absolute", "--git-common-dir")
	if err != nil || here != common {
		return listed
	}
	if top, err := revParse(ctx, dir, env, "--show-toplevel"); err == nil && top != "" {
		return top
	}
	return listed
}

// revParse gives one answer of git rev-parse, which may hold line ends itself.
func revParse(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	out, err := run(ctx, dir, env, nil, append([]string{"rev-parse"}, args...)...)
	return strings.TrimSuffix(out, "\n"), err
}
