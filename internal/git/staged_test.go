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

func (r repo) staged() []string {
	r.t.Helper()
	changes, err := Staged(r.t.Context(), r.dir, append(os.Environ(), r.env...))
	if err != nil {
		r.t.Fatal(err)
	}
	return show(changes)
}

// oddNames are what a path may be called.
var oddNames = []string{
	"docs/naïve plan.md", "日本/ファイル.md", `a"b.txt`, "tab\tx", "line\nx", " lead", "trail ", "-dash", "[x]*.md", "latin\xe9.txt",
	`back\slash`, "{a,b}", "'q'", "e\u0301 nfd", "#hash", "!bang", ":(top)x", "~", "\x01\x7f", "--", "dir with space/ x",
}

func TestOddNames(t *testing.T) {
	for _, quoting := range []string{"true", "false"} {
		r := newRepo(t)
		g := newGuard(t)
		r.commit("sub/file", "x")
		install(t, r, g, PreCommit)
		r.git("config", "core.quotePath", quoting)
		for _, from := range []string{"", "sub"} {
			for _, name := range oddNames {
				g.hold(name)
				r.write(name, from)
				r.git("--literal-pathspecs", "add", "--", name)
				out, err := r.at(from).try("commit", "-qm", "x")
				if err == nil || !strings.Contains(out, "refused: "+name+" is held by bob") {
					t.Errorf("%q from %q: %v, %s", name, from, err, out)
				}
				letter := "A "
				if from != "" {
					letter = "M "
				}
				if got := g.one(); !slices.Equal(got, []string{letter + name}) {
					t.Errorf("%q from %q was seen as %q", name, from, got)
				}
				g.hold("other")
				r.at(from).git("commit", "-qm", "x") // bob's no more
				same(t, name, g.one(), []string{letter + name})
			}
			g.hold(oddNames...)
			r.at(from).git("commit", "-q", "--allow-empty", "-m", "nothing")
			same(t, "an empty commit", g.one(), nil)
			r.write("docs/ok ü.md", "of alice"+from)
			r.git("add", "docs")
			r.at(from).git("commit", "-qm", "own")
			g.calls()
		}
	}
}

func TestStagedKinds(t *testing.T) {
	r := newRepo(t)
	long := strings.Repeat("a line of text\n", 40)
	same(t, "nothing in a new repository", r.staged(), nil)
	r.write("first", long)
	r.git("add", "first")
	same(t, "before the first commit", r.staged(), []string{"A first"})
	r.commit("gone", "1", "linked", "2", "moved/from", long, "stays", "3")
	same(t, "nothing staged", r.staged(), nil)

	r.git("mv", "moved/from", "to ü")
	r.git("rm", "-q", "gone")
	if err := os.Remove(filepath.Join(r.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("stays", filepath.Join(r.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	r.git("add", "linked")
	r.write("intended", "x")
	r.git("add", "-N", "intended")
	r.write("stays", "not staged")
	want := []string{"D gone", "R moved/from > to ü", "T linked"}
	same(t, "kinds", r.staged(), want)
	changes, err := Staged(t.Context(), r.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Status == 'R' && !slices.Equal(c.Paths(), []string{"moved/from", "to ü"}) {
			t.Errorf("a rename touches %q", c.Paths())
		}
	}
	same(t, "a copy touches", Change{Status: 'C', Path: "new", From: "old"}.Paths(), []string{"new"})
	if err := os.Mkdir(filepath.Join(r.dir, "elsewhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	same(t, "from a sub-folder", r.at("elsewhere").staged(), want)

	// What a person may have set changes nothing.
	marker := filepath.Join(t.TempDir(), "ran")
	for _, kv := range []string{"diff.renames=false", "diff.renames=copies", "diff.noprefix=true", "diff.relative=true",
		"diff.external=touch " + marker, "diff.ignoreSubmodules=all", "diff.orderFile=/not/there", "color.ui=always", "color.diff=always",
		"core.pager=touch " + marker, "status.renames=false", "diff.mnemonicPrefix=true", "core.fsmonitor=touch " + marker,
		"status.showUntrackedFiles=no", "diff.algorithm=patience", "diff.suppressBlankEmpty=true"} {
		key, value, _ := strings.Cut(kv, "=")
		r.git("config", key, value)
		same(t, kv, r.at("elsewhere").staged(), want)
		r.git("config", "--unset", key)
	}
	same(t, "variables", r.with("GIT_EXTERNAL_DIFF=touch "+marker, "GIT_DIFF_OPTS=-u0", "GIT_PAGER=touch "+marker, "GIT_LITERAL_PATHSPECS=1",
		"GIT_TRACE=1", "LC_ALL=de_DE.UTF-8").staged(), want)
	if exists(marker) {
		t.Error("another program was run")
	}

	// Looking writes nothing, and does not wait for who holds the index.
	index := filepath.Join(r.dir, ".git", "index")
	before, _ := os.ReadFile(index)
	r.write(".git/index.lock", "")
	same(t, "while the index is locked", r.staged(), want)
	if after, _ := os.ReadFile(index); string(before) != string(after) {
		t.Error("the index was written")
	}
}

func TestStagedElsewhere(t *testing.T) {
	needGit(t)
	if _, err := Staged(t.Context(), t.TempDir(), nil); !fault.Is(err, fault.NotFound) || fault.HintOf(err) == "" {
		t.Errorf("outside of a repository: %v", err)
	}
	r := newRepo(t)
	r.commit("a", "1")
	r.write(".git/HEAD", "ref: refs/heads/main\n")
	r.write(".git/refs/heads/main", "not an id\n")
	if got, err := Staged(t.Context(), r.dir, nil); err == nil {
		t.Errorf("a broken branch looks like %v", show(got))
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Staged(t.Context(), r.dir, nil); !fault.Is(err, fault.Unavailable) || fault.HintOf(err) == "" {
		t.Errorf("without git: %v", err)
	}
}

func TestStagedSHA256(t *testing.T) {
	r := newRepo(t)
	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "--object-format=sha256")
	r.write("a", "1")
	r.git("add", "a")
	same(t, "before the first commit", r.staged(), []string{"A a"})
}

func TestParseNameStatus(t *testing.T) {
	for _, bad := range []string{"M", "M\x00", "M\x00\x00", "\x00a\x00", "R100\x00a\x00", "R100\x00a", "M\x00a", "M\x00a\x00R"} {
		if got, err := parseNameStatus(bad); err == nil {
			t.Errorf("%q is %q", bad, show(got))
		}
	}
	got, err := parseNameStatus("C075\x00a\x00b\nc\x00U\x00d\x00")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "good", show(got), []string{"C a > b\nc", "U d"})
}

func TestAmend(t *testing.T) {
	r := newRepo(t)
	g := newGuard(t)
	r.commit("a", "1")
	r.commit("b", "1")
	install(t, r, g, PreCommit)
	r.write("a", "2")
	r.git("commit", "-qa", "--amend", "--no-edit")
	same(t, "amend", g.one(), []string{"M a"})
	g.hold("a")
	r.write("a", "3")
	if out, err := r.try("commit", "-qa", "--amend", "--no-edit"); err == nil {
		t.Errorf("amended: %s", out)
	}
	g.calls()
	r.git("checkout", "-q", "a")
	r.git("commit", "-q", "--amend", "-m", "other words")
	same(t, "amend of the message", g.one(), nil)
}

func TestMerges(t *testing.T) {
	r := newRepo(t)
	g := newGuard(t)
	r.commit("both", "1\n", "theirs", "1\n", "ours", "1\n")
	r.git("switch", "-qc", "other")
	r.commit("both", "other\n", "theirs", "2\n", "new", "x\n")
	r.git("switch", "-q", "main")
	r.commit("both", "main\n", "ours", "2\n")
	install(t, r, g, PreCommit, PreMergeCommit)

	if out, err := r.try("merge", "other"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	got := r.staged()
	if !slices.Contains(got, "U both") {
		t.Errorf("while it is not resolved: %q", got)
	}
	r.write("both", "resolved\n")
	r.write("ours", "3\n")
	r.git("add", "both", "ours")
	g.hold("both")
	if out, err := r.try("commit", "-qm", "merge"); err == nil {
		t.Errorf("merged: %s", out)
	}
	same(t, "resolved", g.one(), []string{"A new (merged)", "M both", "M ours", "M theirs (merged)"})
	g.hold()
	r.git("commit", "-qm", "merge")
	g.calls()

	// What git merges by itself within a file is nobody's change but that of
	// the commits it comes from; an edit on the way is.
	lines := strings.Split(strings.Repeat("line\n", 30), "\n")
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("switch", "-qc", "within")
	lines[2] = "theirs"
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("switch", "-q", "main")
	lines[2], lines[25] = "line", "ours"
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("merge", "-q", "--no-commit", "within")
	same(t, "merged within files", r.staged(), []string{"M twice (merged)", "M within (merged)"})
	r.write("twice", strings.ReplaceAll(strings.Join(lines, "\n"), "line", "edited"))
	r.git("add", "twice")
	r.git("commit", "-qm", "merge")
	same(t, "merged within files, one edited", g.one(), []string{"M twice", "M within (merged)"})

	// A merge that git commits by itself runs the other hook, and has no
	// MERGE_HEAD yet.
	r.git("switch", "-qc", "third", "main~1")
	r.commit("clean", "x\n")
	r.git("switch", "-q", "main")
	r.git("merge", "-q", "--no-edit", "third")
	same(t, "a clean merge", g.one(), []string{"A clean (merged)"})
	r.healthy()
}

func TestCherryPickAndRevert(t *testing.T) {
	r := newRepo(t)
	g := newGuard(t)
	r.commit("a", "1\n")
	r.git("switch", "-qc", "other")
	r.commit("a", "2\n")
	r.git("switch", "-q", "main")
	r.commit("a", "3\n")
	install(t, r, g, PreCommit)
	if out, err := r.try("cherry-pick", "other"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	r.write("a", "4\n")
	r.git("add", "a")
	r.git("commit", "-qm", "picked")
	same(t, "a resolved cherry-pick", g.one(), []string{"M a"})
}

func TestSubmodules(t *testing.T) {
	inner := newRepo(t)
	inner.commit("file", "1")
	r := newRepo(t)
	r.git("submodule", "--quiet", "add", inner.dir, "lib/su b")
	same(t, "added", r.staged(), []string{"A .gitmodules", "A lib/su b"})
	r.git("commit", "-qm", "sub")
	sub := r.at("lib/su b")
	sub.commit("file", "2")
	r.git("config", "submodule.lib/su b.ignore", "all")
	r.git("config", "diff.ignoreSubmodules", "all")
	r.git("update-index", "--cacheinfo", "160000,"+strings.TrimSpace(sub.git("rev-parse", "HEAD"))+",lib/su b")
	same(t, "moved on, ignored by settings", r.staged(), []string{"M lib/su b"})

	// In the submodule itself the hook sees the submodule's own paths.
	g := newGuard(t)
	install(t, sub, g, PreCommit)
	sub.write("file", "3")
	sub.git("commit", "-qam", "inner")
	same(t, "inside", g.one(), []string{"M file"})
}

func TestPartialCommits(t *testing.T) {
	main := newRepo(t)
	main.commit("a", "1\n", "b", "1\n", "sub/c", "1\n")
	main.git("worktree", "add", "-q", "-b", "wt", "../linked tree")
	store := newRepo(t)
	store.commit("note", "first\n")
	for _, r := range []repo{main, main.at("../linked tree")} {
		g := newGuard(t)
		install(t, r, g, PreCommit)
		if err := os.WriteFile(filepath.Join(g.dir, "store"), []byte(store.dir), 0o644); err != nil {
			t.Fatal(err)
		}
		g.hold("a")
		refused := func(what string, want []string, run func() (string, error)) {
			t.Helper()
			head := r.git("rev-parse", "HEAD")
			index := r.git("ls-files", "--stage")
			if out, err := run(); err == nil || !strings.Contains(out, "refused: a ") {
				t.Errorf("%s: %v, %s", what, err, out)
			}
			same(t, what, g.one(), want)
			if r.git("rev-parse", "HEAD") != head || r.git("ls-files", "--stage") != index {
				t.Errorf("%s was refused and changed something", what)
			}
			r.healthy()
		}
		commit := func(args ...string) func() (string, error) {
			return func() (string, error) { return r.try(append([]string{"commit", "-qm", "x"}, args...)...) }
		}
		r.write("a", "2\n")
		r.write("b", "2\n")
		r.git("add", "a", "b")
		r.write("sub/c", "2\n")
		refused("-- a", []string{"M a"}, commit("--", "a"))
		refused("-a", []string{"M a", "M b", "M sub/c"}, commit("-a"))
		refused("what is staged", []string{"M a", "M b"}, commit())
		refused("-i", []string{"M a", "M b", "M sub/c"}, commit("-i", "--", "sub/c"))
		r.git("commit", "-qm", "only b", "--", "b")
		same(t, "-- b", g.one(), []string{"M b"})
		same(t, "the commit", strings.Fields(r.git("show", "--format=", "--name-only", "HEAD")), []string{"b"})
		same(t, "still staged", r.staged(), []string{"M a"})
		r.healthy()
		r.at("sub").git("commit", "-qm", "from the folder", "--", "c")
		same(t, "-- c in sub", g.one(), []string{"M sub/c"})

		// One of two hunks, chosen by a script.
		r.git("reset", "-q", "--hard")
		g.hold()
		r.write("b", strings.Repeat("line\n", 20))
		r.git("commit", "-qam", "long")
		g.calls()
		g.hold("a")
		r.write("b", "top\n"+strings.Repeat("line\n", 20)+"end\n")
		r.write("a", "3\n")
		pick := func(answers string) (string, error) {
			cmd := exec.Command("git", "commit", "-qpm", "picked")
			cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(answers)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := pick("n\ny\nn\n"); err != nil {
			t.Errorf("-p of b: %v, %s", err, out)
		}
		same(t, "-p of b", g.one(), []string{"M b"})
		if got := strings.Count(r.git("show", "HEAD:b"), "\n"); got != 21 {
			t.Errorf("the picked commit has %d lines", got)
		}
		if out, err := pick("y\nn\n"); err == nil {
			t.Errorf("-p of a: %s", out)
		}
		same(t, "-p of a", g.one(), []string{"M a"})
		r.healthy()
		r.git("reset", "-q", "--hard")
		// The other repository got its own commits, of its own file.
		store.healthy()
		if out := store.git("status", "--porcelain"); out != "" {
			t.Errorf("the store is not clean: %s", out)
		}
		same(t, "the store's files", strings.Fields(store.git("ls-files")), []string{"note"})
	}
	if got := strings.Count(store.git("log", "--format=%s"), "note\n"); got != 18 {
		t.Errorf("the store has %d commits", got)
	}
}

func TestDotfilesRepository(t *testing.T) {
	r := newRepo(t)
	g := newGuard(t)
	r.commit("a", "1")
	install(t, r, g, PreCommit)
	tree := realDir(t)
	if err := os.WriteFile(filepath.Join(tree, "a"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	away := repo{t: t, dir: tree}
	away.git("--git-dir="+filepath.Join(r.dir, ".git"), "--work-tree=.", "commit", "-qam", "x")
	same(t, "--git-dir and --work-tree", g.one(), []string{"M a"})
}
