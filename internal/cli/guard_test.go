package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/internal/office"
)

// guarded is a real repository with an office beside it, in which the guard is
// asked by git.
type guarded struct {
	*desk
	env []string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("these tests need git")
		}
		t.Skip("NOT TESTED: there is no git here")
	}
	g := &guarded{desk: newDesk(t)}
	g.dir = filepath.Join(g.dir, "it's a repo")
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "BUREAU_") {
			g.env = append(g.env, kv)
		}
	}
	home := t.TempDir()
	g.env = append(g.env, office.HomeVariable+"="+g.home, "GORACE="+raceless, "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_EDITOR=true")
	config := "[user]\n\tname = x\n\temail = x@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgSign = false\n"
	put(t, filepath.Join(home, "gitconfig"), config, 0o644)
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.git(g.dir, "init", "-q")
	g.git(g.dir, "commit", "-q", "--allow-empty", "-m", "first")
	g.must("register", "alice")
	g.must("register", "bob")
	return g
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// try runs a program as alice.
func (g *guarded) try(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(g.env[:len(g.env):len(g.env)], "BUREAU_AS=alice")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g *guarded) git(dir string, args ...string) string {
	g.t.Helper()
	out, err := g.try(dir, "git", args...)
	if err != nil {
		g.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

// commits tries a commit and reports whether the guard let it pass. Any other
// failure ends the test.
func (g *guarded) commits(dir string, args ...string) (string, bool) {
	g.t.Helper()
	out, err := g.try(dir, "git", append([]string{"commit", "-q", "-m", "x"}, args...)...)
	refused := strings.Contains(out, "that somebody else holds")
	if (err != nil) != refused || strings.Contains(out, "unguarded") {
		g.t.Fatalf("git commit %q: %v\n%s", args, err, out)
	}
	return out, !refused
}

// bobHolds claims what is there, by its exact name.
func (g *guarded) bobHolds(slug string, files ...string) {
	g.t.Helper()
	args := []string{"lock", "claim", "--slug", slug, "--description", "at it", "--as", "bob"}
	for _, f := range files {
		args = append(args, "--files="+f)
	}
	g.must(args...)
}

func (g *guarded) install(dir string, args ...string) {
	g.t.Helper()
	if out, err := g.try(dir, "bureau", append([]string{"guard", "install"}, args...)...); err != nil {
		g.t.Fatalf("guard install in %s: %v\n%s", dir, err, out)
	}
}

// Names that git would quote are seen and named (G1).
func TestGuardSeesEveryName(t *testing.T) {
	g := newGuarded(t)
	g.install(g.dir)
	names := []string{"docs/naïve plan.md", "日本/ファイル.md", "ä.txt"}
	if runtime.GOOS != "windows" {
		names = append(names, `a"b.txt`, "tab\tx", "line\nx", " lead", "trail ", "-dash", "[x]*.md", `back\slash`)
	}
	if runtime.GOOS == "linux" {
		names = append(names, "latin-\xef.txt")
	}
	for i, name := range names {
		put(t, filepath.Join(g.dir, name), "x", 0o644)
		g.bobHolds(fmt.Sprintf("name-%d", i), name)
	}
	put(t, filepath.Join(g.dir, "docs/ok ü.md"), "x", 0o644)
	g.bobHolds("sub", "docs/sub")
	put(t, filepath.Join(g.dir, "docs/sub/deep/ß.md"), "x", 0o644)
	names = append(names, "docs/sub/deep/ß.md")
	for _, quoted := range []string{"true", "false"} {
		g.git(g.dir, "config", "core.quotePath", quoted)
		for _, name := range names {
			for _, from := range []string{g.dir, filepath.Join(g.dir, "docs")} {
				g.git(g.dir, "add", "--", ":(literal)"+name)
				out, passed := g.commits(from)
				if passed || !strings.Contains(out, showPath(name)) || !strings.Contains(out, "bob: at it") {
					t.Errorf("%q passed: %v\n%s", name, passed, out)
				}
				if strings.Contains(out, "\tx") || strings.Contains(out, "line\nx") || strings.Contains(out, "\xef.") {
					t.Errorf("%q is shown as it is: %q", name, out)
				}
				g.git(g.dir, "reset", "-q")
			}
		}
	}
	g.git(g.dir, "add", "--", "docs/ok ü.md")
	if out, passed := g.commits(g.dir); !passed || out != "" {
		t.Errorf("nobody's file: %v\n%s", passed, out)
	}
	if out, passed := g.commits(g.dir, "--allow-empty"); !passed || out != "" {
		t.Errorf("nothing staged: %v\n%s", passed, out)
	}
}

// The index of the very commit counts, in every work tree (G3).
func TestGuardJudgesTheCommitThatIsMade(t *testing.T) {
	g := newGuarded(t)
	put(t, filepath.Join(g.dir, "a"), "1\n", 0o644)
	put(t, filepath.Join(g.dir, "b"), "1\n", 0o644)
	g.git(g.dir, "add", ".")
	g.git(g.dir, "commit", "-q", "-m", "both")
	tree := filepath.Join(t.TempDir(), "linked")
	g.git(g.dir, "worktree", "add", "-q", tree)
	g.install(g.dir)
	g.bobHolds("in-main", "a")
	for i, dir := range []string{g.dir, tree} {
		if i == 1 {
			// The hooks are shared; here bob holds the file of this work tree.
			put(t, filepath.Join(dir, "a"), "warned\n", 0o644)
			out, passed := g.commits(dir, "-a")
			if !passed || !strings.Contains(out, "in another work tree") {
				t.Errorf("held in the main tree: %v\n%s", passed, out)
			}
			g.must("lock", "claim", "--slug", "in-tree", "--description", "at it", "--worktree", tree, "--files", "a", "--as", "bob")
		}
		put(t, filepath.Join(dir, "a"), "2\n", 0o644)
		put(t, filepath.Join(dir, "b"), "2\n", 0o644)
		g.git(dir, "add", "a", "b")
		staged := g.git(dir, "diff", "--cached", "--name-status")
		for _, args := range [][]string{{}, {"-a"}, {"--", "a"}, {"-p"}} {
			cmd := args
			if len(args) == 1 && args[0] == "-p" {
				put(t, filepath.Join(dir, "a"), "3\n", 0o644)
				out, err := g.try(dir, "sh", "-c", "printf 'y\\n' | git commit -q -m x -p -- a")
				if err == nil || !strings.Contains(out, "that somebody else holds") {
					t.Errorf("%s: commit -p: %v\n%s", dir, err, out)
				}
				continue
			}
			if out, passed := g.commits(dir, cmd...); passed {
				t.Errorf("%s: commit %q passed\n%s", dir, args, out)
			}
			if got := g.git(dir, "diff", "--cached", "--name-status"); got != staged {
				t.Errorf("%s: after commit %q is staged:\n%s", dir, args, got)
			}
		}
		if out, passed := g.commits(dir, "--", "b"); !passed {
			t.Errorf("%s: commit -- b was refused\n%s", dir, out)
		}
		if got := g.git(dir, "show", "--name-only", "--format=", "HEAD"); got != "b\n" {
			t.Errorf("%s: the commit holds %q", dir, got)
		}
		if got := g.git(dir, "diff", "--cached", "--name-only"); got != "a\n" {
			t.Errorf("%s: staged is %q", dir, got)
		}
		if _, passed := g.commits(dir, "--amend"); passed {
			t.Errorf("%s: commit --amend with a passed", dir)
		}
		g.git(dir, "fsck")
	}
}

// Folders that are projects of their own have claims of their own.
func TestGuardOfProjectsInARepository(t *testing.T) {
	g := newGuarded(t)
	g.install(g.dir)
	put(t, filepath.Join(g.dir, "api/.bureau/project"), "our-api\n", 0o644)
	put(t, filepath.Join(g.dir, "api/src/x.go"), "x", 0o644)
	put(t, filepath.Join(g.dir, "src/x.go"), "x", 0o644)
	g.must("lock", "claim", "--slug", "api", "--description", "at it", "--files", "src/x.go", "--as", "bob", "--project", filepath.Join(g.dir, "api"))
	g.git(g.dir, "add", "src")
	if out, passed := g.commits(g.dir); !passed {
		t.Errorf("another project's file of that name: %s", out)
	}
	g.git(g.dir, "add", "api")
	if out, passed := g.commits(g.dir); passed || !strings.Contains(out, "    api/src/x.go\n") {
		t.Errorf("a file of the inner project: %v\n%s", passed, out)
	}
}

// A submodule is a project of its own, and a claim of the folder lies there:
// the commit that moves it on is asked about there too. A claim of one of its
// files does not keep anybody from that.
func TestGuardOfASubmodule(t *testing.T) {
	g := newGuarded(t)
	other, sub := filepath.Join(t.TempDir(), "other"), filepath.Join(g.dir, "sub")
	g.git(g.dir, "clone", "-q", g.dir, other)
	g.git(g.dir, "submodule", "add", "-q", other, "sub")
	g.git(g.dir, "commit", "-q", "-m", "sub")
	g.install(g.dir)
	claim := func(path string) {
		t.Helper()
		g.must("lock", "claim", "--slug", "the-sub", "--description", "at it", "--files", path, "--as", "bob", "--project", sub)
	}
	claim("some.go")
	move := func() {
		g.git(sub, "commit", "-q", "--allow-empty", "-m", "on")
		g.git(g.dir, "add", "sub")
	}
	move()
	if out, passed := g.commits(g.dir); !passed {
		t.Errorf("one file of it is held: %s", out)
	}
	g.must("lock", "release", "the-sub", "--as", "bob", "--project", sub)
	claim(".")
	move()
	if out, passed := g.commits(g.dir); passed || !strings.Contains(out, "    sub\n") {
		t.Errorf("all of it is held: %v\n%s", passed, out)
	}
	g.must("lock", "release", "the-sub", "--as", "bob", "--project", sub)

	// Where a file names the project, it is a part of that: a file of it is no
	// file of the same name above.
	put(t, filepath.Join(g.dir, ".bureau", "project"), "mine\n", 0o644)
	put(t, filepath.Join(g.dir, "some.go"), "x", 0o644)
	claim("some.go")
	g.git(g.dir, "add", "some.go")
	if out, passed := g.commits(g.dir); !passed || strings.Contains(out, "work tree") {
		t.Errorf("the same name in the submodule is held: %s", out)
	}
	g.must("lock", "release", "the-sub", "--as", "bob", "--project", sub)
	claim(".")
	move()
	if out, passed := g.commits(g.dir); passed || !strings.Contains(out, "    sub\n") {
		t.Errorf("all of it is held: %v\n%s", passed, out)
	}
}

// The command finds the place, keeps what is there and puts it back (G4).
func TestGuardInstallLayouts(t *testing.T) {
	type layout struct {
		name string
		make func(g *guarded) (dir string)
	}
	for _, l := range []layout{
		{name: "plain", make: func(g *guarded) string { return g.dir }},
		{name: "linked work tree", make: func(g *guarded) string {
			tree := filepath.Join(g.t.TempDir(), "linked")
			g.git(g.dir, "worktree", "add", "-q", tree)
			return tree
		}},
		{name: "submodule", make: func(g *guarded) string {
			other := filepath.Join(g.t.TempDir(), "other")
			g.git(g.dir, "clone", "-q", g.dir, other)
			g.git(g.dir, "submodule", "add", "-q", other, "sub")
			g.git(g.dir, "commit", "-q", "-m", "sub")
			return filepath.Join(g.dir, "sub")
		}},
		{name: "bare with a work tree", make: func(g *guarded) string {
			bare, tree := filepath.Join(g.t.TempDir(), "bare.git"), filepath.Join(g.t.TempDir(), "tree")
			g.git(g.dir, "clone", "-q", "--bare", g.dir, bare)
			g.git(bare, "worktree", "add", "-q", tree)
			return tree
		}},
		{name: "core.hooksPath", make: func(g *guarded) string {
			g.git(g.dir, "config", "core.hooksPath", "my hooks")
			return g.dir
		}},
	} {
		t.Run(l.name, func(t *testing.T) {
			g := newGuarded(t)
			g.t = t
			dir := l.make(g)
			hook := strings.TrimSpace(g.git(dir, "rev-parse", "--git-path", "hooks/pre-commit"))
			if !filepath.IsAbs(hook) {
				hook = filepath.Join(dir, hook)
			}
			log := filepath.Join(t.TempDir(), "log")
			old := "#!/bin/sh\necho old >>'" + log + "'\nexit $(cat '" + log + ".code')\n"
			put(t, hook, old, 0o755)
			put(t, log+".code", "0", 0o644)
			g.install(dir)
			g.install(dir)
			put(t, filepath.Join(dir, "held"), "x", 0o644)
			put(t, filepath.Join(dir, "free"), "x", 0o644)
			g.must("lock", "claim", "--slug", "held", "--description", "at it", "--files", "held", "--as", "bob", "--project", dir)
			g.git(dir, "add", "free")
			if out, passed := g.commits(dir); !passed {
				t.Errorf("a free file was refused: %s", out)
			}
			if got, _ := os.ReadFile(log); string(got) != "old\n" {
				t.Errorf("the earlier hook was run: %q", got)
			}
			g.git(dir, "add", "held")
			if out, passed := g.commits(dir); passed {
				t.Errorf("a held file passed: %s", out)
			}
			g.git(dir, "reset", "-q")
			put(t, filepath.Join(dir, "free"), "y", 0o644)
			put(t, log+".code", "3", 0o644)
			if out, err := g.try(dir, "git", "commit", "-q", "-a", "-m", "x"); err == nil {
				t.Errorf("the earlier hook's no was ignored: %s", out)
			}
			if out, err := g.try(dir, "bureau", "guard", "remove"); err != nil {
				t.Fatalf("remove: %v\n%s", err, out)
			}
			got, err := os.ReadFile(hook)
			st, serr := os.Stat(hook)
			if err != nil || serr != nil || string(got) != old || st.Mode().Perm() != 0o755 {
				t.Errorf("the earlier hook is %q, %v, %v", got, err, serr)
			}
			for _, name := range []string{"pre-merge-commit", "pre-push"} {
				if _, err := os.Lstat(filepath.Join(filepath.Dir(hook), name)); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		})
	}
	t.Run("a hooks folder of the machine", func(t *testing.T) {
		g := newGuarded(t)
		hooks := filepath.Join(t.TempDir(), "hooks")
		g.git(g.dir, "config", "--global", "core.hooksPath", hooks)
		if out, err := g.try(g.dir, "bureau", "guard", "install"); err == nil || !strings.Contains(out, "--global") {
			t.Errorf("it was written without consent: %v\n%s", err, out)
		}
		if entries, _ := os.ReadDir(hooks); len(entries) > 0 {
			t.Errorf("it holds %v", entries)
		}
		g.install(g.dir, "--global")
		if out, err := g.try(g.dir, "bureau", "guard", "remove"); err != nil {
			t.Errorf("remove: %v\n%s", err, out)
		}
	})
}

// A push of commits that change what others hold is refused.
func TestGuardOfPushes(t *testing.T) {
	g := newGuarded(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	g.git(g.dir, "clone", "-q", "--bare", g.dir, remote)
	g.git(g.dir, "remote", "add", "origin", remote)
	g.git(g.dir, "fetch", "-q", "origin")
	put(t, filepath.Join(g.dir, "held"), "x", 0o644)
	g.git(g.dir, "add", ".")
	g.git(g.dir, "commit", "-q", "-m", "held")
	g.install(g.dir, "--pre-push")
	g.bobHolds("held", "held")
	out, err := g.try(g.dir, "git", "push", "-q", "origin", "main")
	if err == nil || !strings.Contains(out, "this push changes 1 path that somebody else holds") {
		t.Errorf("%v\n%s", err, out)
	}
	g.must("lock", "release", "held", "--as", "bob")
	if out, err := g.try(g.dir, "git", "push", "-q", "origin", "main"); err != nil || strings.Contains(out, "bureau") {
		t.Errorf("free: %v\n%s", err, out)
	}
}

// What others wrote fills no screen: a refusal names some of many.
func TestGuardRefusalIsBounded(t *testing.T) {
	g := newGuarded(t)
	g.install(g.dir)
	for i := range 300 {
		put(t, filepath.Join(g.dir, fmt.Sprintf("d%02d/f%03d", i/20, i)), "x", 0o644)
	}
	for i := range 15 {
		g.bobHolds(fmt.Sprintf("dir-%02d", i), fmt.Sprintf("d%02d", i))
	}
	g.git(g.dir, "add", ".")
	out, passed := g.commits(g.dir)
	if passed || len(out) > 6000 || !strings.Contains(out, "changes 300 paths") || !strings.Contains(out, "and 14 more") || !strings.Contains(out, "and 7 holders more") {
		t.Errorf("passed: %v, %d bytes\n%s", passed, len(out), out)
	}
}
