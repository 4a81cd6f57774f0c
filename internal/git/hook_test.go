package git

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

// snapshot lists what lies below a folder: names, modes, targets and contents.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		content := ""
		switch {
		case st.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case st.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			content = string(b)
		}
		all[path] = st.Mode().String() + " " + content
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

func unchanged(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s: %s was %q, is %q", what, path, was, after[path])
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s: %s is new", what, path)
		}
	}
}

// recorder makes a stand-in that notes its calls in its log, and ends with the
// status in the file "status" if there is one.
func recorder(t *testing.T) guard {
	t.Helper()
	g := guard{t: t, dir: filepath.Join(realDir(t), "it's in here")}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.program = filepath.Join(g.dir, "bureau")
	g.script(`#!/bin/sh
here=` + shellQuote(g.dir) + `
printf 'guard' >>"$here/log"
printf ' [%s]' "$@" >>"$here/log"
printf ' <%s>\n' "$(cat)" >>"$here/log"
[ ! -f "$here/status" ] || exit "$(cat "$here/status")"
`)
	return g
}

func (g guard) status(code int) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "status"), fmt.Append(nil, code), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// log gives what was noted since the last time.
func (g guard) log() string {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		g.t.Fatal(err)
	}
	os.Remove(filepath.Join(g.dir, "log"))
	return string(content)
}

// noting is a hook that notes its call in the same log, and ends with a status.
func (g guard) noting(shebang string, status int) string {
	return shebang + "\nprintf 'old' >>" + shellQuote(g.dir+"/log") + "\n" +
		"for word; do printf ' [%s]' \"$word\" >>" + shellQuote(g.dir+"/log") + "; done\n" +
		"printf ' <%s>\\n' \"$(cat)\" >>" + shellQuote(g.dir+"/log") + "\n" +
		fmt.Sprintf("exit %d\n", status)
}

func (r repo) hook(t *testing.T, name string) Hook {
	t.Helper()
	h, err := HookStatus(t.Context(), r.dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (r repo) try1(what string) (string, error) {
	r.t.Helper()
	return r.try("commit", "-q", "--allow-empty", "-m", what)
}

const asked = "guard [guard] [run] [pre-commit] [--] <>\n"

func put(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestExistingHooks(t *testing.T) {
	py, _ := exec.LookPath("python3")
	for name, c := range map[string]struct {
		make func(t *testing.T, path string, g guard)
		log  string // of the earlier hook
		fail bool   // the earlier hook stops the commit
		skip bool
	}{
		"none":  {make: func(*testing.T, string, guard) {}},
		"shell": {make: func(t *testing.T, p string, g guard) { put(t, p, g.noting("#!/bin/sh", 0), 0o755) }, log: "old <>\n"},
		"mode":  {make: func(t *testing.T, p string, g guard) { put(t, p, g.noting("#!/bin/sh", 0), 0o710) }, log: "old <>\n"},
		"fails": {make: func(t *testing.T, p string, g guard) { put(t, p, g.noting("#!/bin/sh", 3), 0o755) }, log: "old <>\n", fail: true},
		"no first line": {make: func(t *testing.T, p string, g guard) {
			put(t, p, strings.TrimPrefix(g.noting("", 0), "\n"), 0o755)
		}, log: "old <>\n"},
		"not executable": {make: func(t *testing.T, p string, g guard) { put(t, p, g.noting("#!/bin/sh", 1), 0o644) }},
		"link": {make: func(t *testing.T, p string, g guard) {
			put(t, filepath.Join(g.dir, "shared hook"), g.noting("#!/bin/sh", 0), 0o755)
			if err := os.Symlink(filepath.Join(g.dir, "shared hook"), p); err != nil {
				t.Fatal(err)
			}
		}, log: "old <>\n"},
		"relative link": {make: func(t *testing.T, p string, g guard) {
			put(t, filepath.Join(filepath.Dir(p), "impl"), g.noting("#!/bin/sh", 4), 0o755)
			if err := os.Symlink("impl", p); err != nil {
				t.Fatal(err)
			}
		}, log: "old <>\n", fail: true},
		"dangling link": {make: func(t *testing.T, p string, g guard) {
			if err := os.Symlink("not there", p); err != nil {
				t.Fatal(err)
			}
		}},
		// Git itself cannot run such a file either, and stops the commit.
		"line ends of Windows": {make: func(t *testing.T, p string, g guard) {
			put(t, p, strings.ReplaceAll(g.noting("#!/bin/sh", 0), "\n", "\r\n"), 0o755)
		}, fail: true},
		"python": {make: func(t *testing.T, p string, g guard) {
			put(t, p, fmt.Sprintf("#!%s\nimport sys\nopen(%q, 'a').write('old ' + str(sys.argv[1:]) + '\\n')\nsys.exit(5)\n", py, g.dir+"/log"), 0o755)
		}, log: "old []\n", fail: true, skip: py == ""},
		"any bytes": {make: func(t *testing.T, p string, g guard) { put(t, p, "\x00\xff\xfe no script \r\r", 0o600) }},
		"by its name": {make: func(t *testing.T, p string, g guard) {
			put(t, p, "#!/usr/bin/env sh\nprintf '%s\\n' \"$(basename \"$0\")\" >>"+shellQuote(g.dir+"/log")+"\nexit 6\n", 0o755)
		}, log: "pre-commit\n", fail: true},
		"by its name, read with sed": {make: func(t *testing.T, p string, g guard) {
			put(t, p, "#!/bin/sh\nprintf '%s\\n' \"$(echo \"$0\" | sed 's,.*/,,')\" >>"+shellQuote(g.dir+"/log")+"\n", 0o755)
		}, log: "pre-commit\n"},
		"by its name, bash's own": {make: func(t *testing.T, p string, g guard) {
			put(t, p, "#!/usr/bin/env bash\nprintf '%s\\n' \"${BASH_SOURCE##*/}\" >>"+shellQuote(g.dir+"/log")+"\n", 0o755)
		}, log: "pre-commit\n"},
		"by its name, python, a link": {make: func(t *testing.T, p string, g guard) {
			put(t, filepath.Join(filepath.Dir(p), "dispatch"), fmt.Sprintf("#!%s\nimport os, sys\nname = os.path.basename(sys.argv[0])\nopen(%q, 'a').write(name + '\\n')\nsys.exit(0 if name == 'pre-commit' else 'unknown hook type ' + name)\n", py, g.dir+"/log"), 0o755)
			if err := os.Symlink("dispatch", p); err != nil {
				t.Fatal(err)
			}
		}, log: "pre-commit\n", skip: py == ""},
		"starts itself again": {make: func(t *testing.T, p string, g guard) {
			put(t, p, "#!/bin/sh\n[ -n \"$again\" ] || { again=1 exec \"$0\" \"$@\"; }\n"+strings.TrimPrefix(g.noting("", 0), "\n"), 0o755)
		}, log: "old <>\n"},
		"what lies beside it and above": {make: func(t *testing.T, p string, g guard) {
			put(t, filepath.Join(filepath.Dir(p), "lib", "common.sh"), g.noting("", 0), 0o644)
			put(t, filepath.Join(filepath.Dir(p), "common.sh"), ". \"${0%/*}/lib/common.sh\"\n", 0o644)
			put(t, p, "#!/bin/sh\ncd \"$(dirname \"$0\")/../..\" && [ -d .git ] || exit 9\n. .git/hooks/common.sh\n", 0o755)
		}, log: "old <>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.skip {
				t.Skip("NOT TESTED: no python3")
			}
			r, g := newRepo(t), recorder(t)
			hooks := filepath.Join(r.dir, ".git", "hooks")
			c.make(t, filepath.Join(hooks, "pre-commit"), g)
			before := snapshot(t, hooks)
			_, err := r.try1("without us")
			if (err != nil) != c.fail || g.log() != c.log {
				t.Fatalf("the case itself is wrong: %v", err)
			}
			if h := r.hook(t, PreCommit); h.State != HookAbsent || h.Kept != "" {
				t.Errorf("before: %+v", h)
			}
			var first map[string]string
			for i := range 2 {
				h, err := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
				if err != nil || h.State != HookInstalled || h.Changed != (i == 0) || h.Program != g.program || h.Missing {
					t.Fatalf("install %d: %+v, %v", i, h, err)
				}
				if i == 0 {
					first = snapshot(t, hooks)
				}
			}
			unchanged(t, "the second install", first, snapshot(t, hooks))
			out, err := r.try1("with us")
			if (err != nil) != c.fail {
				t.Errorf("with the guard: %v, %s", err, out)
			}
			if got := g.log(); got != asked+c.log {
				t.Errorf("was run: %q, want %q", got, asked+c.log)
			}
			g.status(1)
			if out, err := r.try1("refused"); err == nil {
				t.Errorf("the guard's no was ignored: %s", out)
			}
			if got := g.log(); got != asked {
				t.Errorf("after a no was run: %q", got)
			}
			// Whether that is a person's word is for the guard to say.
			if _, err := r.with("BUREAU_GUARD=off").try1("off"); err == nil {
				t.Error("guard off: its no was ignored")
			}
			g.log()
			g.status(6)
			out, err = r.with("BUREAU_GUARD=off").try1("off")
			if got := g.log(); (err != nil) != c.fail || got != asked+c.log || strings.Contains(out, "unguarded") {
				t.Errorf("guard off: %v, %s; was run: %q", err, out, got)
			}
			if h, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil || !h.Changed || h.State != HookAbsent {
				t.Errorf("remove: %+v, %v", h, err)
			}
			if exists(hooks + keptSuffix) {
				t.Error("the folder of what was kept is left")
			}
			unchanged(t, "after removal", before, snapshot(t, hooks))
			if h, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil || h.Changed {
				t.Errorf("the second removal: %+v, %v", h, err)
			}
		})
	}
}

func TestGuardThatCannotAnswer(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	install(t, r, g, PreCommit)
	for _, code := range []int{2, 6, 126, 127, 137} {
		g.status(code)
		out, err := r.try1("x")
		if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, fmt.Sprintf("could not decide (status %d)", code)) {
			t.Errorf("status %d: %v, %q", code, err, out)
		}
	}
	gone := func(what string) {
		t.Helper()
		out, err := r.try1("x")
		if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, g.program+" is gone; run 'bureau guard install'") {
			t.Errorf("%s: %v, %q", what, err, out)
		}
		if h := r.hook(t, PreCommit); h.State != HookInstalled || !h.Missing || h.Note == "" {
			t.Errorf("%s: %+v", what, h)
		}
	}
	if err := os.Chmod(g.program, 0o644); err != nil {
		t.Fatal(err)
	}
	gone("not executable")
	if err := os.Remove(g.program); err != nil {
		t.Fatal(err)
	}
	gone("removed")
	if err := os.Mkdir(g.program, 0o755); err != nil {
		t.Fatal(err)
	}
	gone("a folder")

	// Then the one on PATH is asked.
	other := recorder(t)
	out, err := r.with("PATH="+other.dir+string(os.PathListSeparator)+os.Getenv("PATH")).try("commit", "-q", "--allow-empty", "-m", "x")
	if err != nil || out != "" || other.log() != asked {
		t.Errorf("bureau on PATH: %v, %q", err, out)
	}
}

func TestHookArguments(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	ctx := t.Context()
	for _, o := range []HookOptions{
		{Name: "commit-msg", Program: g.program}, {Name: PreCommit, Program: "bureau"}, {Name: "", Program: g.program},
		{Name: PreCommit, Program: g.program + "\n"}, {Name: PreCommit, Program: g.program, Args: []string{"a\x00"}},
	} {
		if _, err := InstallHook(ctx, r.dir, o); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := InstallHook(ctx, r.dir, HookOptions{Name: PreCommit, Program: g.program, Args: []string{"--home", "it's $HOME `x`"}}); err != nil {
		t.Fatal(err)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got, want := g.log(), "guard [--home] [it's $HOME `x`] [guard] [run] [pre-commit] [--] <>\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Another program: our own script is written anew.
	other := recorder(t)
	if h, err := InstallHook(ctx, r.dir, HookOptions{Name: PreCommit, Program: other.program}); err != nil || !h.Changed || h.Kept != "" {
		t.Errorf("%+v, %v", h, err)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if g.log() != "" || other.log() != asked {
		t.Error("not the new program was asked")
	}
	if _, err := InstallHook(ctx, t.TempDir(), HookOptions{Name: PreCommit, Program: g.program}); !fault.Is(err, fault.NotFound) {
		t.Errorf("outside of a repository: %v", err)
	}
	if err := os.Chmod(filepath.Join(r.dir, ".git/hooks/pre-commit"), 0o644); err != nil {
		t.Fatal(err)
	}
	if h := r.hook(t, PreCommit); h.State != HookOff {
		t.Errorf("not executable: %+v", h)
	}
	install(t, r, other, PreCommit)
	if h := r.hook(t, PreCommit); h.State != HookInstalled {
		t.Errorf("installed again: %+v", h)
	}
}

func TestPrePushHook(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	r.commit("a", "1")
	far := filepath.Join(realDir(t), "far.git")
	r.git("init", "-q", "--bare", far)
	r.git("remote", "add", "origin", far)
	hooks := filepath.Join(r.dir, ".git", "hooks")
	old := filepath.Join(hooks, "pre-push")
	for _, hook := range []string{g.noting("#!/bin/sh", 0), g.noting("#!/bin/sh\n: $(basename \"$0\")", 0), "#!/bin/sh\nexit 0\n"} {
		put(t, old, hook, 0o755)
		install(t, r, g, PrePush)
		r.commit("a", hook)
		id := strings.TrimSpace(r.git("rev-parse", "HEAD"))
		r.git("tag", "t"+id)
		was := strings.Repeat("0", 40)
		if out, err := r.try("rev-parse", "--verify", "-q", "refs/remotes/origin/main"); err == nil {
			was = strings.TrimSpace(out)
		}
		r.git("push", "-q", "origin", "main", "t"+id)
		input := fmt.Sprintf("refs/heads/main %s refs/heads/main %s\nrefs/tags/t%s %s refs/tags/t%s %s", id, was, id, id, id, strings.Repeat("0", 40))
		want := fmt.Sprintf("guard [guard] [run] [pre-push] [--] [origin] [%s] <%s>\n", far, input)
		if strings.Contains(hook, "old") {
			want += fmt.Sprintf("old [origin] [%s] <%s>\n", far, input)
		}
		if got := g.log(); got != want {
			t.Errorf("was run:\n%s\nwant\n%s", got, want)
		}
		if _, err := RemoveHook(t.Context(), r.dir, PrePush); err != nil {
			t.Fatal(err)
		}
	}
	put(t, old, g.noting("#!/bin/sh", 7), 0o755)
	install(t, r, g, PrePush)
	r.commit("a", "more")
	if out, err := r.try("push", "-q", "origin", "main"); err == nil {
		t.Errorf("the earlier hook's no was ignored: %s", out)
	}
	put(t, filepath.Join(hooks+keptSuffix, "pre-push"), g.noting("#!/bin/sh", 0), 0o755)
	g.status(1)
	if out, err := r.try("push", "-q", "origin", "main"); err == nil {
		t.Errorf("the guard's no was ignored: %s", out)
	}
	g.log()
	g.status(6)
	if out, err := r.with("BUREAU_GUARD=off").try("push", "-q", "origin", "main"); err != nil || strings.Contains(out, "unguarded") {
		t.Errorf("off: %v, %s", err, out)
	}
}
