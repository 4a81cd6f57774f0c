package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestEnviron(t *testing.T) {
	needGit(t)
	out, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/bin", "GIT_CONFIG_GLOBAL=x", "GIT_SSH_COMMAND=ssh", "GIT_EDITOR=vi", "GIT_AUTHOR_NAME=x", "=C:=C:\\", "odd"}
	given := slices.Clone(env)
	for name := range strings.FieldsSeq(string(out)) {
		given = append(given, name+"=value")
	}
	given = append(given, "GIT_EDITOR=:", "GIT_QUARANTINE_PATH=/q", "GIT_AUTHOR_DATE=@1 +0000", "GIT_CONFIG_KEY_0=core.hooksPath",
		"GIT_CONFIG_VALUE_0=x", "GIT_LITERAL_PATHSPECS=1", "GIT_REFLOG_ACTION=merge", "GITHEAD_0123=main")
	if got := Environ(given); !slices.Equal(got, env) {
		t.Errorf("%q", got)
	}
}

func (r repo) dirty(limit int, paths ...Pathspec) []string {
	r.t.Helper()
	changes, err := Dirty(r.t.Context(), r.dir, limit, paths...)
	if err != nil {
		r.t.Fatal(err)
	}
	return show(changes)
}

func TestDirty(t *testing.T) {
	r := newRepo(t)
	same(t, "a new repository", r.dirty(9), nil)
	r.commit("src/a.go", "1", "src/deep/b.go", "1", "docs/x", "1", ".gitignore", "*.log\n", "gone", "1", "from", "some text\n")
	same(t, "clean", r.dirty(9), nil)
	r.write("src/deep/b.go", "2")
	r.write("src/new.go", "2")
	r.write("src/new folder/c.txt", "2")
	r.write("src/x.log", "2")
	r.write("docs/x", "2")
	r.write("[a-z]*.md", "2")
	r.write("b.md", "2")
	r.git("add", "docs")
	r.git("rm", "-q", "gone")
	r.git("mv", "from", "to")
	all := []string{"? [a-z]*.md", "? b.md", "? src/new folder/c.txt", "? src/new.go", "A to", "D from", "D gone", "M docs/x", "M src/deep/b.go"}
	same(t, "all", r.dirty(99), all)
	if got := r.dirty(3); len(got) != 3 {
		t.Errorf("three of them: %q", got)
	}
	for _, c := range []struct {
		at   string
		spec Pathspec
		want []string
	}{
		{"", Literal("docs"), []string{"M docs/x"}},
		{"", Literal("docs/x"), []string{"M docs/x"}},
		{"", Literal("doc"), nil},
		{"", Literal("gone"), []string{"D gone"}},
		{"", Literal("from"), []string{"D from"}},
		{"", Literal("[a-z]*.md"), []string{"? [a-z]*.md"}},
		{"", Literal("src/x.log"), nil},
		{"", Literal(":(glob)**"), nil},
		{"", Glob("*.md"), []string{"? [a-z]*.md", "? b.md"}},
		{"", Glob("**/*.go"), []string{"? src/new.go", "M src/deep/b.go"}},
		{"", Glob("src/*.go"), []string{"? src/new.go"}},
		{"", Glob("src/**"), []string{"? src/new folder/c.txt", "? src/new.go", "M src/deep/b.go"}},
		{"src", Literal(""), []string{"? src/new folder/c.txt", "? src/new.go", "M src/deep/b.go"}},
		{"src", Literal("deep"), []string{"M src/deep/b.go"}},
		{"src", Literal("../docs"), []string{"M docs/x"}},
		{"src/deep", Glob("*.go"), []string{"M src/deep/b.go"}},
	} {
		same(t, c.at+": "+string(c.spec), r.at(c.at).dirty(99, c.spec), c.want)
	}
	same(t, "two", r.dirty(99, Literal("docs"), Glob("*.md")), []string{"? [a-z]*.md", "? b.md", "M docs/x"})
	for key, value := range map[string]string{"status.showUntrackedFiles": "no", "status.short": "true", "status.branch": "true",
		"status.relativePaths": "false", "core.quotePath": "true", "status.renames": "copies", "color.status": "always"} {
		r.git("config", key, value)
	}
	t.Setenv("GIT_LITERAL_PATHSPECS", "1")
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "nowhere")
	same(t, "with settings and a hook's variables", r.dirty(99), all)
	if _, err := Dirty(t.Context(), r.dir, 9, Literal("../../elsewhere")); !fault.Is(err, fault.Invalid) {
		t.Errorf("outside: %v", err)
	}
	if _, err := Dirty(t.Context(), r.dir, 0); err == nil {
		t.Error("a limit of nothing")
	}
	if _, err := Dirty(t.Context(), filepath.Join(r.dir, ".git"), 9); !fault.Is(err, fault.Invalid) {
		t.Errorf("no work tree: %v", err)
	}
}

func TestWorktrees(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	id := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	base := filepath.Dir(r.dir)
	r.git("worktree", "add", "-q", "-b", "one", "../ü one")
	r.git("worktree", "add", "-q", "--detach", "../line\nend")
	r.git("worktree", "add", "-q", "-b", "gone", "../gone")
	r.git("worktree", "lock", "--reason", "on a stick", "../ü one")
	if err := os.RemoveAll(filepath.Join(base, "gone")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", t.TempDir())
	r.env = []string{"GIT_DIR=" + filepath.Join(r.dir, ".git")}
	version := r.git("--version")
	for _, dir := range []string{r.dir, filepath.Join(base, "ü one")} {
		got, err := Worktrees(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].PruneReason = ""
		}
		slices.SortFunc(got[1:], func(a, b Worktree) int { return strings.Compare(a.Path, b.Path) })
		want := []Worktree{
			{Path: r.dir, Head: id, Branch: "refs/heads/main", Main: true},
			{Path: filepath.Join(base, "gone"), Head: id, Branch: "refs/heads/gone", Prunable: true},
			{Path: filepath.Join(base, "line\nend"), Head: id, Detached: true},
			{Path: filepath.Join(base, "ü one"), Head: id, Branch: "refs/heads/one", Locked: true, LockReason: "on a stick"},
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s from %s:\n got %+v\nwant %+v", version, dir, got, want)
		}
	}

	// A git from before 2.36 has no -z here.
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	put(t, filepath.Join(bin, "git"), "#!/bin/sh\ncase \"$*\" in *worktree*' -z'*) exit 129 ;; esac\nexec "+shellQuote(real)+" \"$@\"\n", 0o755)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	got, err := Worktrees(t.Context(), r.dir)
	if err != nil || len(got) != 4 || got[0].Path != r.dir || got[0].Branch != "refs/heads/main" ||
		!slices.ContainsFunc(got, func(w Worktree) bool { return w.Locked && w.Path == filepath.Join(base, "ü one") }) {
		t.Errorf("without -z: %+v, %v", got, err)
	}
}

func TestWorktreesOfOtherLayouts(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	r.git("clone", "-q", "--bare", ".", "../b.git")
	bare := r.at("../b.git")
	if got, err := Worktrees(t.Context(), bare.dir); err != nil || len(got) != 1 || !got[0].Bare || got[0].Path != bare.dir {
		t.Errorf("bare: %+v, %v", got, err)
	}
	r.git("submodule", "--quiet", "add", bare.dir, "sub")
	if got, err := Worktrees(t.Context(), r.at("sub").dir); err != nil || len(got) != 1 || got[0].Path != filepath.Join(r.dir, "sub") {
		t.Errorf("submodule: %+v, %v", got, err)
	}
	sep := newRepo(t)
	sep.git("init", "-q", "--separate-git-dir=../sep.git")
	if got, err := Worktrees(t.Context(), sep.dir); err != nil || len(got) != 1 || got[0].Path != sep.dir || got[0].Head != "" {
		t.Errorf("repository elsewhere: %+v, %v", got, err)
	}
	if _, err := Worktrees(t.Context(), t.TempDir()); !fault.Is(err, fault.NotFound) {
		t.Errorf("outside: %v", err)
	}
}

func TestBranch(t *testing.T) {
	r := newRepo(t)
	r.git("symbolic-ref", "HEAD", "refs/heads/trunk")
	if got := Branch(r.dir); got != "trunk" {
		t.Errorf("before the first commit it is on %q", got)
	}
	r.commit("sub/a", "1")
	r.git("checkout", "-q", "-b", "feature/auth")
	r.git("worktree", "add", "-q", "-b", "wt", "../w t")
	r.git("worktree", "add", "-q", "--detach", "../none")
	for dir, want := range map[string]string{".": "feature/auth", "sub": "feature/auth", "../w t": "wt", "../w t/sub": "wt", "../none": "", "../elsewhere": ""} {
		if got := Branch(r.at(dir).dir); got != want {
			t.Errorf("%s is on %q, not %q", dir, got, want)
		}
	}
}

func TestHasChanges(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	r.git("clone", "-q", "--bare", ".", "../b.git")
	bare := r.at("../b.git")
	for _, name := range []string{"edited", "new file", "clean", "gone"} {
		bare.git("worktree", "add", "-q", "-b", "b-"+strings.ReplaceAll(name, " ", "-"), "../"+name)
	}
	r.at("../edited").write("a", "2")
	r.at("../new file").write("b", "2")
	if err := os.RemoveAll(r.at("../gone").dir); err != nil {
		t.Fatal(err)
	}
	for untracked, want := range map[bool][]string{false: {"edited"}, true: {"edited", "new file"}} {
		got, err := HasChanges(t.Context(), bare.dir, untracked)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tree := range got {
			names = append(names, filepath.Base(tree.Path))
		}
		slices.Sort(names)
		same(t, "changed", names, want)
	}
	put(t, filepath.Join(r.at("../clean").dir, ".git"), "broken", 0o644)
	if got, err := HasChanges(t.Context(), bare.dir, false); err == nil || len(got) != 1 {
		t.Errorf("with a work tree that cannot be read: %v, %v", got, err)
	}
}

// TestTrees: the other work trees' like of a folder, from whatever work tree it
// is asked, as git lists them.
func TestTrees(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	r.commit("sub/x", "1")
	base := filepath.Dir(r.dir)
	beside, nested := filepath.Join(base, "beside of it"), filepath.Join(r.dir, ".trees", "n")
	r.git("worktree", "add", "-q", "-b", "one", beside)
	r.git("worktree", "add", "-q", "-b", "two", nested)
	r.git("worktree", "add", "-q", "-b", "three", filepath.Join(base, "gone"))
	if err := os.RemoveAll(filepath.Join(base, "gone")); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(base, "bare.git")
	r.git("clone", "-q", "--bare", r.dir, bare)
	ofBare := filepath.Join(base, "of bare")
	r.git("--git-dir", bare, "worktree", "add", "-q", "-b", "four", ofBare)
	for _, c := range []struct {
		of   string
		want []string
	}{
		{r.dir, []string{nested, beside}},
		{beside, []string{r.dir, nested}},
		{nested, []string{r.dir, beside}},
		{filepath.Join(beside, "sub"), []string{filepath.Join(r.dir, "sub"), filepath.Join(nested, "sub")}},
		{filepath.Join(r.dir, ".trees"), nil},
		{bare, []string{ofBare}},
		{ofBare, nil},
		{base, nil},
	} {
		got := Trees(c.of)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.of, got, c.want)
		}
	}
}
