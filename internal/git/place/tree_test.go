package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/claim"
)

// TestSubmoduleIsNoLinkedTree: in a project that a file names, a repository
// below is a part of it with its full path; a linked work tree is one.
func TestSubmoduleIsNoLinkedTree(t *testing.T) {
	l := newLayout(t)
	gitDo(t, l.inner, "add", "x.go")
	gitDo(t, l.inner, "commit", "-q", "-m", "x")
	gitDo(t, l.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", l.inner, "sub")
	own := filepath.Join(l.root, "split")
	gitDo(t, l.root, "init", "-q", "--separate-git-dir", filepath.Join(l.base, "elsewhere.git"), own)
	gitDo(t, l.inner, "worktree", "add", "-q", "-b", "three", filepath.Join(l.root, "vendor", "tree"))

	// Without such a file it is a project of its own.
	if p, w := want(t, l.root, "sub/x.go"); p.Project.Root != filepath.Join(l.root, "sub") || w.Paths[0] != "x.go" {
		t.Errorf("%+v, %q", p, w.Paths)
	}
	if err := os.MkdirAll(filepath.Join(l.root, ".bureau"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.root, ".bureau", "project"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for text, tree := range map[string]string{
		"sub/x.go": l.root, "sub": l.root, "sub/src/a.go": l.root, "split/src/a.go": l.root, "vendor/lib/x.go": l.root, "vendor/tree/x.go": l.root,
		".claude/worktrees/x/src/a.go": l.below,
	} {
		p, w := want(t, l.root, text)
		name := strings.TrimPrefix(text, ".claude/worktrees/x/")
		if p.Project.ID != "mine" || p.Tree != tree || w.Paths[0] != claim.Pattern(name) {
			t.Errorf("%s: %q in %s of %+v", text, w.Paths, p.Tree, p.Project)
		}
		of, err := OfFile(filepath.Join(l.root, filepath.FromSlash(text)))
		if got, ok := of.File(filepath.Join(l.root, filepath.FromSlash(text))); err != nil || !ok || got != name || of.Tree != tree {
			t.Errorf("a guard that sees %s: %q in %s, %v", text, got, of.Tree, err)
		}
	}
}

// TestTreesInsideABareRepository: they are linked work trees of it.
func TestTreesInsideABareRepository(t *testing.T) {
	l := newLayout(t)
	bare := filepath.Join(l.base, "bare.git")
	gitDo(t, l.root, "clone", "-q", "--bare", ".", bare)
	for _, name := range []string{"a", "b"} {
		tree := filepath.Join(bare, name)
		gitDo(t, bare, "worktree", "add", "-q", "-b", "in-"+name, tree)
		if p, w := want(t, tree, "src/a.go"); p.Tree != tree || p.Project.Root != bare || w.Paths[0] != "src/a.go" {
			t.Errorf("%q in %s of %+v", w.Paths, p.Tree, p.Project)
		}
	}
}
