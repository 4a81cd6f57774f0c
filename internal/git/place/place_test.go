package place

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/fault"
)

// layout is a repository R with a link to its root, a linked work tree beside
// it, one below .claude/worktrees, a repository inside, and a plain folder.
type layout struct{ base, root, link, beside, below, inner, plain string }

func newLayout(t *testing.T) layout {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(base, "home"))
	l := layout{
		base: base, root: filepath.Join(base, "R"), link: filepath.Join(base, "L"), beside: filepath.Join(base, "R-worktree"),
		below: filepath.Join(base, "R", ".claude", "worktrees", "x"), inner: filepath.Join(base, "R", "vendor", "lib"), plain: filepath.Join(base, "plain"),
	}
	for _, f := range []string{"home/.keep", "R/src/a.go", "R/src/b.go", "R/src2/a.go", "R/src/a.gox", "R/app/[id]/p.go", "R/vendor/lib/x.go", "plain/sub/x.txt"} {
		path := filepath.Join(base, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitDo(t, l.inner, "init", "-q")
	gitDo(t, l.root, "init", "-q", "-b", "main")
	gitDo(t, l.root, "add", "src", "src2", "app")
	gitDo(t, l.root, "commit", "-q", "-m", "x")
	gitDo(t, l.root, "worktree", "add", "-q", "-b", "one", l.beside)
	gitDo(t, l.root, "worktree", "add", "-q", "-b", "two", l.below)
	if err := os.Symlink(l.root, l.link); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		l.link = l.root
	}
	return l
}

func gitDo(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func want(t *testing.T, dir string, texts ...string) (Place, claim.Want) {
	t.Helper()
	p, err := For(dir, texts)
	if err != nil {
		t.Fatalf("%q from %s: %v", texts, dir, err)
	}
	w, err := p.Want(texts, nil, claim.Exclusive)
	if err != nil {
		t.Fatalf("%q from %s: %v", texts, dir, err)
	}
	return p, w
}

// TestOneFileHasOneName: whatever way somebody writes a path, from wherever,
// it meets a claim of the same file (case L4); its neighbours do not.
func TestOneFileHasOneName(t *testing.T) {
	l := newLayout(t)
	src := filepath.Join(l.root, "src")
	alice, held := want(t, l.root, "src/a.go")
	for _, c := range []struct {
		name, dir, text string
		tree            string // "" is alice's
		meets           bool
	}{
		{"itself", l.root, "src/a.go", "", true},
		{"dot", l.root, "./src/a.go", "", true},
		{"two slashes", l.root, "src//a.go", "", true},
		{"up and down", l.root, "src/../src/a.go", "", true},
		{"absolute", l.base, filepath.Join(l.root, "src", "a.go"), "", true},
		{"through a link to the root", l.root, filepath.Join(l.link, "src", "a.go"), "", true},
		{"from inside the link", l.link, "src/a.go", "", true},
		{"folder", l.root, "src/", "", true},
		{"folder without a slash", l.root, "src", "", true},
		{"everything below", l.root, "src/**", "", true},
		{"by ending", l.root, "**/*.go", "", true},
		{"by braces", l.root, "{doc,src}/a.go", "", true},
		{"by class", l.root, "src/[ab].go", "", true},
		{"from the sub-folder", src, "a.go", "", true},
		{"from the sub-folder, up", src, "..", "", true},
		{"from the sub-folder, by ending", src, "*.go", "", true},
		{"from beside", l.beside, "../R/src/a.go", "", true},
		{"from a linked tree below", l.below, filepath.Join(l.root, "src", "a.go"), "", true},
		{"the root", l.root, ".", "", true},

		{"the same file in a work tree beside", l.root, "../R-worktree/src/a.go", l.beside, true},
		{"a pattern in a work tree beside", l.root, "../R-worktree/src/*.go", l.beside, true},
		{"from inside a work tree beside", l.beside, "src/a.go", l.beside, true},
		{"in a work tree below", l.root, ".claude/worktrees/x/src/a.go", l.below, true},
		{"a folder of a work tree below", l.root, ".claude/worktrees/x/src", l.below, true},
		{"a work tree below as a whole", l.root, ".claude/worktrees/x", l.below, true},
		{"from inside a work tree below", filepath.Join(l.below, "src"), "a.go", l.below, true},

		{"another file", l.root, "src/b.go", "", false},
		{"another folder", l.root, "src2/a.go", "", false},
		{"a longer name", l.root, "src/a.gox", "", false},
		{"another ending", l.root, "src/*.gox", "", false},
		{"another file of a work tree", l.root, ".claude/worktrees/x/src/b.go", l.below, false},
	} {
		p, w := want(t, c.dir, c.text)
		tree := c.tree
		if tree == "" {
			tree = l.root
		}
		if p.Tree != tree || w.Tree != tree || p.Project.Root != alice.Project.Root {
			t.Errorf("%s: tree %s of project %s, want %s of %s", c.name, p.Tree, p.Project.Root, tree, alice.Project.Root)
		}
		if got := len(claim.Overlapping(&w, &held, true)) > 0; got != (c.meets && c.tree == "") {
			t.Errorf("%s: %q meets %q: %v", c.name, w.Paths, held.Paths, got)
		}
		// What is in another work tree is told, by the rule for work trees.
		if got := len(claim.Overlapping(&w, &held, false)) > 0; got != c.meets {
			t.Errorf("%s: %q meets %q across work trees: %v", c.name, w.Paths, held.Paths, got)
		}
	}
}

// TestUnicodeForms: é as one character and as two are one name.
func TestUnicodeForms(t *testing.T) {
	l := newLayout(t)
	_, held := want(t, l.root, "doc/caf\u00e9.md")
	for _, text := range []string{"doc/cafe\u0301.md", "doc/cafe\u0301.m*", "doc/caf\u00e9.md"} {
		if _, w := want(t, l.root, text); len(claim.Overlapping(&w, &held, true)) == 0 {
			t.Errorf("%+q does not meet %+q", w.Paths, held.Paths)
		}
	}
	if _, w := want(t, l.root, "doc/cafe.md"); len(claim.Overlapping(&w, &held, true)) > 0 {
		t.Error("cafe.md is another file")
	}
}

// TestNamesThatLookLikePatterns: a file that is there is meant as it is
// written.
func TestNamesThatLookLikePatterns(t *testing.T) {
	l := newLayout(t)
	_, held := want(t, l.root, "app/[id]/p.go")
	if !held.Paths[0].Match("app/[id]/p.go") || held.Paths[0].Match("app/i/p.go") {
		t.Errorf("%q", held.Paths)
	}
	if _, w := want(t, filepath.Join(l.root, "app", "[id]"), "*.go"); !w.Paths[0].Match("app/[id]/q.go") || w.Paths[0].Match("app/i/q.go") {
		t.Errorf("%q", w.Paths)
	}
}

// TestOtherProjects: what lies in a repository inside another is that one's;
// a claim is of one work tree.
func TestOtherProjects(t *testing.T) {
	l := newLayout(t)
	p, w := want(t, l.root, "vendor/lib/x.go")
	if p.Project.Root != l.inner || w.Paths[0] != "x.go" {
		t.Errorf("%+v, %q", p, w.Paths)
	}
	if p, w = want(t, l.root, "vendor/lib"); p.Project.Root != l.inner || w.Paths[0] != claim.Root {
		t.Errorf("%+v, %q", p, w.Paths)
	}
	if _, err := For(l.root, []string{"../plain/sub/x.txt"}); !fault.Is(err, fault.Invalid) || !strings.Contains(fault.HintOf(err), "--project") {
		t.Errorf("a folder that is no repository, from elsewhere: %v", err)
	}
	for _, texts := range [][]string{{"src/a.go", "vendor/lib/x.go"}, {"src/a.go", "../R-worktree/src/a.go"}} {
		if _, err := For(l.root, texts); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), texts[1]) {
			t.Errorf("%q: %v", texts, err)
		}
	}
	// Folders that are no repository have one name for a file, from wherever it
	// is asked, also for a guard that sees nothing but the file.
	file := filepath.Join(l.plain, "sub", "x.txt")
	whole := strings.TrimPrefix(filepath.ToSlash(file), "/")
	for dir, text := range map[string]string{l.plain: "sub/x.txt", filepath.Dir(file): "x.txt", filepath.Dir(l.plain): filepath.Base(l.plain) + "/sub/x.txt"} {
		if p, w = want(t, dir, text); p.Project.Root != "" || string(w.Paths[0]) != whole || w.Show(w.Paths[0]) != "/"+whole {
			t.Errorf("%s in %s: %+v, %q", text, dir, p, w.Paths)
		}
	}
	of, err := OfFile(file)
	if name, ok := of.File(file); err != nil || !ok || name != whole || of.Project.Root != "" {
		t.Errorf("%+v, %q, %v", of, name, err)
	}
	// A folder that mclaude keeps its locks in is a project with all below it.
	if err := os.MkdirAll(filepath.Join(l.plain, ".claude", "locks", "active-work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if p, w = want(t, filepath.Dir(file), "x.txt"); p.Project.Root != l.plain || w.Paths[0] != "sub/x.txt" {
		t.Errorf("%+v, %q", p, w.Paths)
	}
	// From a folder that is no project at all, a path's own counts.
	if p, w = want(t, filepath.Join(l.base, "home"), "../R/src/a.go"); p.Project.Root != l.root || w.Paths[0] != "src/a.go" {
		t.Errorf("%+v, %q", p, w.Paths)
	}
}

// TestFilesThatAreNotThere: a claim may come before the file; links to nothing
// lead to what an edit would make.
func TestFilesThatAreNotThere(t *testing.T) {
	l := newLayout(t)
	for text, name := range map[string]string{"new/deep/file.go": "new/deep/file.go", "src/new.go": "src/new.go", "src/../gone/x": "gone/x"} {
		if _, w := want(t, l.root, text); string(w.Paths[0]) != name {
			t.Errorf("%s is %q", text, w.Paths)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("src/made.go", filepath.Join(l.root, "soon")); err != nil {
			t.Fatal(err)
		}
		if _, w := want(t, l.root, "soon"); w.Paths[0] != "src/made.go" {
			t.Errorf("%q", w.Paths)
		}
	}
	p, err := OfFile(filepath.Join(l.root, "no", "such", "folder", "x"))
	if err != nil || p.Tree != l.root {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"", "  ", "src/{1..3}", "a/[b"} {
		p, err := For(l.root, []string{text})
		if err == nil {
			_, err = p.Want([]string{text}, nil, claim.Exclusive)
		}
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Of(filepath.Join(l.root, "nowhere")); err == nil {
		t.Error("a folder that is not there has no place")
	}
}

// A thing of this machine is one thing, with the machine's name or without.
func TestThingsOfThisMachine(t *testing.T) {
	own, err := os.Hostname()
	if err != nil || own == "" {
		t.Skip("this machine has no name")
	}
	for _, text := range []string{"gpu:0", "gpu:" + own + "/0", "gpu:" + strings.ToUpper(own) + "/00", "GPU:localhost/0", "gpu:-/0"} {
		w, err := Place{}.Want(nil, []string{text}, claim.Exclusive)
		if err != nil || len(w.Resources) != 1 || w.Resources[0] != "gpu:0" {
			t.Errorf("%s is %q, %v", text, w.Resources, err)
		}
	}
	w, err := Place{}.Want(nil, []string{"gpu:" + own + "-other/0"}, claim.Exclusive)
	if err != nil || w.Resources[0] != claim.Resource("gpu:"+strings.ToLower(own)+"-other/0") {
		t.Errorf("another machine's: %q, %v", w.Resources, err)
	}
}
