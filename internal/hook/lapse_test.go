package hook

import (
	"os"
	"path/filepath"
	"testing"

	"bureau/internal/git"
)

// A session is told at its start that the guard of commits was taken out, in
// every work tree, and of nothing else.
func TestToldOfALapsedGuard(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("src/a.go")
	tree := filepath.Join(filepath.Dir(d.dir), "tree")
	d.git("worktree", "add", "-q", tree)
	carla := d.started("C")
	const word = "the guard of this repository's commits is not run any more"
	start := func(dir string) said {
		t.Helper()
		return carla.event("SessionStart", "source", "compact", "cwd", dir)
	}
	start(d.dir).lacks(word)
	_, err := git.InstallHook(d.ctx, d.dir, git.HookOptions{Name: git.PreCommit, Program: "/bin/true"})
	d.must(err)
	start(d.dir).lacks(word)
	hook := filepath.Join(d.dir, ".git", "hooks", "pre-commit")
	d.must(os.Rename(hook, hook+".old"))
	d.must(os.WriteFile(hook, []byte("#!/bin/sh\ncall_lefthook run\n"), 0o755))
	start(d.dir).has(word, "lefthook put its own hook there", "`bureau guard install` puts it back")
	start(tree).has(word)
	start(t.TempDir()).lacks(word)
	_, err = git.RemoveHook(d.ctx, d.dir, git.PreCommit)
	d.must(err)
	start(d.dir).lacks(word)
}
