package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

// TestLayouts installs where .git is no folder, or hooks lie elsewhere.
func TestLayouts(t *testing.T) {
	type layout struct {
		install repo // where it is installed from
		commit  []repo
		hooks   string // where git looks then
		untouch string // core.hooksPath's folder, where nothing is written
	}
	for name, build := range map[string]func(t *testing.T, r repo) layout{
		"plain": func(t *testing.T, r repo) layout {
			return layout{r, []repo{r, r.at("sub")}, r.dir + "/.git/hooks", ""}
		},
		"from a sub-folder": func(t *testing.T, r repo) layout {
			return layout{r.at("sub"), []repo{r}, r.dir + "/.git/hooks", ""}
		},
		"no hooks folder": func(t *testing.T, r repo) layout {
			if err := os.RemoveAll(r.dir + "/.git/hooks"); err != nil {
				t.Fatal(err)
			}
			return layout{r, []repo{r}, r.dir + "/.git/hooks", ""}
		},
		"linked work tree": func(t *testing.T, r repo) layout {
			r.git("worktree", "add", "-q", "-b", "wt", "../w t")
			return layout{r.at("../w t"), []repo{r, r.at("../w t")}, r.dir + "/.git/hooks", ""}
		},
		"submodule": func(t *testing.T, r repo) layout {
			inner := newRepo(t)
			inner.commit("x", "1")
			r.git("submodule", "--quiet", "add", "--name", "s m", inner.dir, "su b")
			return layout{r.at("su b"), []repo{r.at("su b")}, r.dir + "/.git/modules/s m/hooks", ""}
		},
		"bare and a work tree": func(t *testing.T, r repo) layout {
			r.git("clone", "-q", "--bare", ".", "../b.git")
			bare := r.at("../b.git")
			bare.git("worktree", "add", "-q", "-b", "wt", "../from bare")
			return layout{bare, []repo{r.at("../from bare")}, bare.dir + "/hooks", ""}
		},
		"repository elsewhere": func(t *testing.T, r repo) layout {
			r.git("init", "-q", "--separate-git-dir=../sep.git")
			return layout{r, []repo{r}, filepath.Dir(r.dir) + "/sep.git/hooks", ""}
		},
		"relative core.hooksPath": func(t *testing.T, r repo) layout {
			r.git("config", "core.hooksPath", ".git hooks")
			return layout{r.at("sub"), []repo{r, r.at("sub")}, r.dir + "/.git/bureau-hooks", r.dir + "/.git hooks"}
		},
		"relative core.hooksPath, bare": func(t *testing.T, r repo) layout {
			r.git("clone", "-q", "--bare", ".", "../b.git")
			bare := r.at("../b.git")
			bare.git("config", "core.hooksPath", "my-hooks")
			bare.git("worktree", "add", "-q", "-b", "wt", "../from bare")
			// From a work tree it counts from that tree.
			return layout{r.at("../from bare"), []repo{r.at("../from bare")}, bare.dir + "/bureau-hooks", filepath.Dir(r.dir) + "/from bare/my-hooks"}
		},
		"absolute core.hooksPath": func(t *testing.T, r repo) layout {
			r.git("config", "core.hooksPath", filepath.Join(r.dir, "tools", "hooks"))
			return layout{r, []repo{r}, r.dir + "/.git/bureau-hooks", r.dir + "/tools/hooks"}
		},
		"core.hooksPath of the work tree": func(t *testing.T, r repo) layout {
			r.git("config", "extensions.worktreeConfig", "true")
			r.git("worktree", "add", "-q", "-b", "wt", "../w t")
			r.at("../w t").git("config", "--worktree", "core.hooksPath", filepath.Join(r.dir, ".git", "wt-hooks"))
			return layout{r.at("../w t"), []repo{r.at("../w t")}, r.dir + "/.git/wt-hooks", ""}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := newRepo(t), recorder(t)
			r.commit("sub/file", "1")
			l := build(t, r)
			before := snapshot(t, l.hooks)
			folders := exists(filepath.Dir(l.hooks))
			for i := range 2 {
				h, err := InstallHook(t.Context(), l.install.dir, HookOptions{Name: PreCommit, Program: g.program})
				if err != nil || h.Changed != (i == 0) || filepath.Clean(h.Path) != filepath.Clean(l.hooks+"/pre-commit") || h.Note != "" {
					t.Fatalf("install: %+v, %v; want it in %s", h, err, l.hooks)
				}
			}
			for _, at := range l.commit {
				at.git("commit", "-q", "--allow-empty", "-m", "x")
				if got := g.log(); got != asked {
					t.Errorf("in %s was run: %q", at.dir, got)
				}
			}
			if h, err := RemoveHook(t.Context(), l.install.dir, PreCommit); err != nil || h.State != HookAbsent || h.Note != "" {
				t.Fatalf("removal: %+v, %v", h, err)
			}
			unchanged(t, "after removal", before, snapshot(t, l.hooks))
			if exists(l.hooks+keptSuffix) || l.untouch != "" && exists(l.untouch) {
				t.Errorf("%s or %s is there", l.hooks+keptSuffix, l.untouch)
			}
			if exists(filepath.Dir(l.hooks)) != folders {
				t.Errorf("after removal %s is still there", filepath.Dir(l.hooks))
			}
			l.commit[0].git("commit", "-q", "--allow-empty", "-m", "x")
			if got := g.log(); got != "" {
				t.Errorf("after removal was run: %q", got)
			}
		})
	}
}

func TestRemovedWorktreesProgram(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	r.commit("a", "1")
	r.git("worktree", "add", "-q", "-b", "wt", "../w t")
	program := filepath.Join(filepath.Dir(r.dir), "w t", "bin", "bureau")
	put(t, program, "#!/bin/sh\nexec "+shellQuote(g.program)+" \"$@\"\n", 0o755)
	if _, err := InstallHook(t.Context(), r.at("../w t").dir, HookOptions{Name: PreCommit, Program: program}); err != nil {
		t.Fatal(err)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked {
		t.Errorf("was run: %q", got)
	}
	r.git("worktree", "remove", "--force", "../w t")
	out, err := r.try("commit", "-q", "--allow-empty", "-m", "x")
	if err != nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "bureau: ") || !strings.Contains(out, program) {
		t.Errorf("the program's work tree is removed: %v, %q", err, out)
	}
}

func TestSharedFolders(t *testing.T) {
	shared := filepath.Join(realDir(t), "shared hooks")
	for name, set := range map[string]func(t *testing.T, r repo){
		"global": func(t *testing.T, r repo) {
			file := filepath.Join(realDir(t), "config")
			put(t, file, "[user]\n\tname = x\n\temail = x@example.com\n[core]\n\thooksPath = \""+shared+"\"\n", 0o644)
			t.Setenv("GIT_CONFIG_GLOBAL", file)
		},
		"global, below the home folder": func(t *testing.T, r repo) {
			t.Setenv("HOME", filepath.Dir(shared))
			file := filepath.Join(realDir(t), "config")
			put(t, file, "[user]\n\tname = x\n\temail = x@example.com\n[core]\n\thooksPath = \"~/shared hooks\"\n", 0o644)
			t.Setenv("GIT_CONFIG_GLOBAL", file)
		},
		"system": func(t *testing.T, r repo) {
			file := filepath.Join(realDir(t), "config")
			put(t, file, "[core]\n\thooksPath = \""+shared+"\"\n", 0o644)
			t.Setenv("GIT_CONFIG_SYSTEM", file)
			t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
		},
		"outside": func(t *testing.T, r repo) { r.git("config", "core.hooksPath", shared) },
		"outside, relative": func(t *testing.T, r repo) {
			rel, err := filepath.Rel(r.dir, shared)
			if err != nil {
				t.Fatal(err)
			}
			r.git("config", "core.hooksPath", rel)
		},
		"a link": func(t *testing.T, r repo) {
			if err := os.MkdirAll(shared, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(r.dir, ".git", "hooks")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(shared, filepath.Join(r.dir, ".git", "hooks")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := newRepo(t), recorder(t)
			set(t, r)
			o := HookOptions{Name: PreCommit, Program: g.program}
			before := snapshot(t, shared)
			h, err := InstallHook(t.Context(), r.dir, o)
			if !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" || h.Shared == "" || h.Changed {
				t.Fatalf("without consent: %+v, %v", h, err)
			}
			unchanged(t, "without consent", before, snapshot(t, shared))
			o.AllowGlobal = true
			if h, err := InstallHook(t.Context(), r.dir, o); err != nil || h.Shared == "" || h.State != HookInstalled {
				t.Fatalf("with consent: %+v, %v", h, err)
			}
			r.git("commit", "-q", "--allow-empty", "-m", "x")
			if got := g.log(); got != asked {
				t.Errorf("was run: %q", got)
			}
			if _, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil {
				t.Error(err)
			}
			unchanged(t, "after removal", before, snapshot(t, shared))
		})
	}
}

func TestHooksTurnedOff(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	for _, value := range []string{"", os.DevNull} {
		r.git("config", "core.hooksPath", value)
		_, err := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program, AllowGlobal: true})
		if !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
			t.Errorf("core.hooksPath %q: %v", value, err)
		}
	}
}

// stub is what husky 9 puts into .husky/_ for every hook, in our own words:
// read in "h", which finds the person's hook by the name in $0.
const stub = "#!/usr/bin/env sh\n. \"${0%/*}/h\"\n"

func TestHusky(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	reinstall := func() {
		r.git("config", "core.hooksPath", ".husky/_")
		put(t, filepath.Join(r.dir, ".husky/_/.gitignore"), "*\n", 0o644)
		put(t, filepath.Join(r.dir, ".husky/_/h"), "hook=$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\n[ -f \"$hook\" ] || exit 0\nsh -e \"$hook\" \"$@\"\nexit $?\n", 0o644)
		put(t, filepath.Join(r.dir, ".husky/_/pre-commit"), stub, 0o755)
	}
	reinstall()
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 0), 0o644)
	before := snapshot(t, filepath.Join(r.dir, ".husky"))
	config, _ := os.ReadFile(filepath.Join(r.dir, ".git/config"))
	check := func(what string) {
		t.Helper()
		install(t, r, g, PreCommit)
		if h := r.hook(t, PreCommit); h.State != HookInstalled || h.Manager != "husky" || h.Note != "" {
			t.Errorf("%s: %+v", what, h)
		}
		r.git("commit", "-q", "--allow-empty", "-m", "x")
		if got := g.log(); got != asked+"old <>\n" {
			t.Errorf("%s: was run: %q", what, got)
		}
	}
	check("installed")
	unchanged(t, "installed", before, snapshot(t, filepath.Join(r.dir, ".husky")))
	reinstall() // npm install does that
	if h := r.hook(t, PreCommit); h.State != HookInstalled || h.Manager != "husky" || !h.KeptRuns || h.Note != "" {
		t.Errorf("after husky came back: %+v", h)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked+"old <>\n" {
		t.Errorf("after husky came back was run: %q", got)
	}
	check("installed again")
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 1), 0o644)
	if out, err := r.try("commit", "-q", "--allow-empty", "-m", "x"); err == nil {
		t.Errorf("husky's no was ignored: %s", out)
	}
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 0), 0o644)
	reinstall()
	if _, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil {
		t.Error(err)
	}
	unchanged(t, "removed after husky came back", before, snapshot(t, filepath.Join(r.dir, ".husky")))
	if now, _ := os.ReadFile(filepath.Join(r.dir, ".git/config")); string(now) != string(config) || exists(filepath.Join(r.dir, ".git/bureau-hooks")) {
		t.Errorf("after removal the configuration is\n%s\nwas\n%s", now, config)
	}
}

// TestHusky8 is a hook that starts its own file anew.
func TestHusky8(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	r.git("config", "core.hooksPath", ".husky")
	put(t, filepath.Join(r.dir, ".husky/_/husky.sh"), "if [ -z \"$again\" ]; then\n\thook_name=$(basename -- \"$0\")\n\texport again=1\n\tsh -e \"$0\" \"$@\"\n\texit $?\nfi\n", 0o644)
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), "#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n: \"$(basename \"$0\")\"\n"+strings.TrimPrefix(g.noting("", 0), "\n"), 0o755)
	install(t, r, g, PreCommit)
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked+"old <>\n" {
		t.Errorf("was run: %q", got)
	}
}

// TestFrameworkInstallsOverUs plays the pre-commit framework: its hook moves
// the one that it finds to NAME.legacy, and runs that first.
func TestFrameworkInstallsOverUs(t *testing.T) {
	framework := func(g guard, version string) string {
		return "#!/usr/bin/env bash\n# File generated by pre-commit: " + version + "\nhere=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\n" +
			"case ${RUNNING_LEGACY-} in 1) echo bug >&2; exit 1 ;; esac\n" +
			"[ ! -x \"$here/pre-commit.legacy\" ] || RUNNING_LEGACY=1 \"$here/pre-commit.legacy\" \"$@\" || exit 1\n" +
			"echo framework >>" + shellQuote(g.dir+"/log") + "\n"
	}
	for _, had := range []string{"nothing", "a script", "the framework"} {
		t.Run(had, func(t *testing.T) {
			r, g := newRepo(t), recorder(t)
			hooks := filepath.Join(r.dir, ".git", "hooks")
			path := filepath.Join(hooks, "pre-commit")
			overUs := func(version string) {
				if old, err := os.ReadFile(path); err == nil && !strings.Contains(string(old), "File generated by pre-commit") {
					if err := os.Rename(path, path+".legacy"); err != nil {
						t.Fatal(err)
					}
				}
				put(t, path, framework(g, version), 0o755)
			}
			want := ""
			switch had {
			case "a script":
				put(t, path, g.noting("#!/bin/sh", 0), 0o755)
				want = "old <>\n"
			case "the framework":
				overUs("1")
			}
			install(t, r, g, PreCommit)
			overUs("2")
			if h := r.hook(t, PreCommit); h.State != HookMoved || h.Manager != "pre-commit" || h.Note == "" {
				t.Errorf("moved: %+v", h)
			}
			// Even so the guard is asked once, and nothing runs twice.
			out, err := r.try("commit", "-q", "--allow-empty", "-m", "x")
			if got := g.log(); err != nil || got != asked+want+"framework\n" {
				t.Errorf("moved: %v, %s, was run: %q", err, out, got)
			}
			if had != "a script" {
				install(t, r, g, PreCommit)
				if out, err := r.try("commit", "-q", "--allow-empty", "-m", "x"); err != nil || g.log() != asked+"framework\n" {
					t.Errorf("installed again: %v, %s", err, out)
				}
				overUs("3")
			}
			if h, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil || !h.Changed || h.State != HookAbsent || h.Manager != "pre-commit" {
				t.Errorf("removed: %+v, %v", h, err)
			}
			if out, err := r.try("commit", "-q", "--allow-empty", "-m", "x"); err != nil || g.log() != want+"framework\n" {
				t.Errorf("after removal: %v, %s", err, out)
			}
			if exists(path + keptSuffix) {
				t.Error("something is still kept")
			}
		})
	}
}

func TestLefthook(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	path := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
	write := func(version string) {
		put(t, path, "#!/bin/sh\n# "+version+"\n[ \"$LEFTHOOK\" != 0 ] || exit 0\ncall_lefthook()\n{\n\techo \"lefthook $*\" >>"+shellQuote(g.dir+"/log")+"\n}\ncall_lefthook run pre-commit \"$@\"\n", 0o755)
	}
	write("1")
	install(t, r, g, PreCommit)
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked+"lefthook run pre-commit\n" {
		t.Errorf("was run: %q", got)
	}
	if err := os.Rename(path, path+".old"); err != nil { // it finds a foreign hook, and comes back
		t.Fatal(err)
	}
	write("2")
	if h := r.hook(t, PreCommit); h.State != HookMoved || h.Manager != "lefthook" {
		t.Errorf("%+v", h)
	}
	install(t, r, g, PreCommit)
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked+"lefthook run pre-commit\n" || exists(path+".old") {
		t.Errorf("installed again, was run: %q", got)
	}
	if _, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(path); !strings.Contains(string(content), "# 2\n") || exists(path+keptSuffix) {
		t.Errorf("after removal: %s", content)
	}
}

func TestTwoInstallsAtOnce(t *testing.T) {
	for range 10 {
		r, g := newRepo(t), recorder(t)
		path := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
		put(t, path, g.noting("#!/bin/sh", 0), 0o755)
		errs := make(chan error)
		for range 4 {
			go func() {
				_, err := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
				errs <- err
			}()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		r.git("commit", "-q", "--allow-empty", "-m", "x")
		if got := g.log(); got != asked+"old <>\n" {
			t.Fatalf("was run: %q", got)
		}
	}
}
