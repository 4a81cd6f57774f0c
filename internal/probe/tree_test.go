//go:build unix

package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// repository makes one with some committed files.
func repository(t *testing.T, files ...string) string {
	t.Helper()
	need(t, "git")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	root := t.TempDir()
	gitDo(t, root, "init", "-q", "-b", "main")
	for _, f := range files {
		write(t, filepath.Join(root, f), "old\n", 0o644)
	}
	gitDo(t, root, "add", "-f", ".")
	gitDo(t, root, "commit", "-q", "--allow-empty", "-m", "x")
	return root
}

func gitDo(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = scrub(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestWorkingTree(t *testing.T) {
	root := repository(t, "src/a.go", "src/b.go", "src/deep/c.go", "docs/x.md", "app/[id]/page.ts", "app/i/page.ts", "odd/:(top)x", "odd/a*b", "odd/ab", "gone/x", "-opt", ".gitignore")
	write(t, filepath.Join(root, ".gitignore"), "*.tmp\n", 0o644)
	gitDo(t, root, "commit", "-qam", "ignore")
	clean := []string{"src", "src/**", "**", ".", "docs/*.md", "app/[id]", "odd/:(top)x", "-opt", "not/there"}
	for _, p := range clean {
		want(t, one(t, Request{Root: root}, Paths(p)), Free, p)
	}
	write(t, filepath.Join(root, "src/junk.tmp"), "x", 0o644) // ignored
	want(t, one(t, Request{Root: root}, Paths("src")), Free)

	change := func(path string) { write(t, filepath.Join(root, path), "new\n", 0o644) }
	for _, c := range []struct {
		path  string // what changes
		busy  []string
		clean []string
	}{
		{"src/deep/c.go", []string{"src", "src/", "./src/**", "src/deep/c.go", "src/*/c.go", "**/*.go", "{docs,src}/**", "src/*", "*", "s?c"}, []string{"docs", "src/*.go", "src/a.go", "**/*.md", "{docs,app}/**"}},
		{"src/new file é\n.go", []string{"src", "src/*.go"}, []string{"src/a.go", "src/deep"}},
		{"app/[id]/page.ts", []string{"app/[id]/page.ts", "app/[id]", `app/\[id\]/**`, "app/[id]/**", "app/[id]/*.ts"}, []string{"app/i", `app/\[x\]`}},
		{"app/i/page.ts", []string{"app/i", "app/[id]/page.ts"}, []string{`app/\[id\]/page.ts`, `app/\[id\]`}},
		{"odd/:(top)x", []string{"odd/:(top)x", "odd"}, []string{"odd/x", "odd/a*b"}},
		{"odd/a*b", []string{"odd/a*b", `odd/a\*b`}, []string{"odd/ab"}},
		{"odd/ab", []string{"odd/ab", "odd/a*b"}, []string{`odd/a\*b`}},
		{"-opt", []string{"-opt", "."}, []string{"odd"}},
	} {
		change(c.path)
		for _, p := range c.busy {
			want(t, one(t, Request{Root: root}, Paths(p)), Busy, "1 file under "+p)
		}
		for _, p := range c.clean {
			want(t, one(t, Request{Root: root}, Paths(p)), Free)
		}
		if tracked := exec.Command("git", "-C", root, "ls-files", "--error-unmatch", "--", ":(literal)"+c.path).Run() == nil; tracked {
			gitDo(t, root, "checkout", "-q", "--", ":(literal)"+c.path)
		} else if err := os.Remove(filepath.Join(root, c.path)); err != nil {
			t.Fatal(err)
		}
	}

	// Names in the other Unicode form, and in no form at all.
	for name, patterns := range map[string][]string{
		"e\u0301t/x": {"\u00e9t/x", "\u00e9t", "\u00e9*/x", `\303\251t/*`, ":(icase)\u00e9T/X"},
		"\u00e9t/x":  {"e\u0301t/x", "e\u0301t"},
		"b\xe9/x":    {`b\351`, `b\351/*`, "b\xe9"},
		"Big/X y\n":  {":(icase)big/**", ":(icase)BIG/x y\n", "Big/X y\n"},
	} {
		path := filepath.Join(root, name)
		write(t, path, "new", 0o644)
		for _, p := range patterns {
			want(t, one(t, Request{Root: root}, Paths(p)), Busy, "1 file under")
		}
		want(t, one(t, Request{Root: root}, Paths("big/**")), Free)
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
	}

	// Deleted, with its folder; renamed and staged: both names count.
	if err := os.RemoveAll(filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	want(t, one(t, Request{Root: root}, Paths("gone/x")), Busy, "gone/x")
	gitDo(t, root, "mv", "src/a.go", "docs/a.go")
	want(t, one(t, Request{Root: root}, Paths("src/a.go")), Busy)
	want(t, one(t, Request{Root: root}, Paths("docs")), Busy)
	want(t, one(t, Request{Root: root}, Paths("app", "src", "docs/**")), Busy, "2 files under app and 2 more")
	want(t, one(t, Request{Root: root}, Subject{Kind: KindPath, Paths: []string{"SRC/A.GO"}, Fold: true}), Busy)
	want(t, one(t, Request{Root: root}, Paths("app")), Free)
}

func TestLinkedTreesAndSubmodules(t *testing.T) {
	root := repository(t, "src/a.go")
	lib := repository(t, "lib.c")
	gitDo(t, root, "submodule", "-q", "add", lib, "vendored")
	gitDo(t, root, "commit", "-qm", "lib")
	linked := filepath.Join(t.TempDir(), "linked")
	gitDo(t, root, "worktree", "add", "-q", linked)
	write(t, filepath.Join(linked, "src/a.go"), "new", 0o644)
	want(t, one(t, Request{Root: root}, Paths("src")), Free)
	want(t, one(t, Request{Root: root, Trees: []string{linked}}, Paths("src")), Busy)
	want(t, one(t, Request{Root: root, Trees: []string{root, linked}}, Paths("src")), Busy, linked)
	want(t, one(t, Request{Root: root, Trees: []string{linked + "-gone"}}, Paths("src")), Unknown, linked)

	write(t, filepath.Join(root, "vendored/lib.c"), "new", 0o644)
	for _, p := range []string{"vendored/lib.c", "vendored/*.c", "vendored", "."} {
		want(t, one(t, Request{Root: root}, Paths(p)), Busy)
	}

	// Git's lock of the tree: the linked one's lies in the main repository.
	write(t, filepath.Join(root, ".git/worktrees/linked/index.lock"), "", 0o644)
	want(t, one(t, Request{Root: linked}, Paths("docs")), Busy, "index.lock", "git")
	want(t, one(t, Request{Root: root}, Paths("docs")), Free)
	old := time.Now().Add(-time.Hour)
	lock := filepath.Join(root, ".git/index.lock")
	write(t, lock, "", 0o644)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	want(t, one(t, Request{Root: root}, Paths("docs")), Unknown, "index.lock", "1h")
}

func TestTreesThatCannotTell(t *testing.T) {
	root := repository(t, "src/a.go")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("src", filepath.Join(root, "inner")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"../x", "src/../../x", "link/x", "link", "not/../../there", ".git/config", strings.Repeat("{a,b}", 8)} {
		want(t, one(t, Request{Root: root}, Paths(p)), Unknown)
	}
	write(t, filepath.Join(root, "src/a.go"), "new", 0o644)
	want(t, one(t, Request{Root: root}, Paths("inner/a.go")), Busy, "src/a.go") // behind a link
	want(t, one(t, Request{Root: outside}, Paths("x")), Unknown, "not a git repository")
	want(t, one(t, Request{}, Paths("x")), Unknown)

	// What a hook of git sets must not send us to another index.
	t.Setenv("GIT_DIR", filepath.Join(outside, "x"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(outside, "y"))
	want(t, one(t, Request{Root: root}, Paths("src")), Busy)

	program(t, "git", "exec sleep 600")
	begin := time.Now()
	got := (&looker{Request: Request{Root: root, Trees: []string{root}}, own: func() ownProbes { return ownProbes{} }})
	ctx, cancel := timeout(t, 300*time.Millisecond)
	defer cancel()
	want(t, got.look(ctx, Paths("src")), Unknown, "did not end in time")
	if took := time.Since(begin); took > Each {
		t.Errorf("a git that hangs holds us for %v", took)
	}
	t.Setenv("PATH", outside)
	want(t, one(t, Request{Root: root}, Paths("src")), Unknown, "git is not installed")
}

func TestUnfold(t *testing.T) {
	for in, want := range map[string][]string{
		"a":              {"a"},
		"{a,b}/c":        {"a/c", "b/c"},
		"x{a,{b,c}d}":    {"xa", "xbd", "xcd"},
		"{a,b}{c,d}":     {"ac", "ad", "bc", "bd"},
		"{a":             {"{a"},
		"a}":             {"a}"},
		`\{a,b}`:         {`\{a,b}`},
		"{}":             {""},
		"{a,}":           {"a", ""},
		"{{{{{{{{{{{{{{": {"{{{{{{{{{{{{{{"},
	} {
		if got, ok := unfold(in, nil); !ok || !slices.Equal(got, want) {
			t.Errorf("%s unfolds to %q, %v; want %q", in, got, ok, want)
		}
	}
}
