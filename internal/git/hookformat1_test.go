package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

// format1 is the script that the first format wrote, with the words that run
// what it kept.
func format1(program, run string) []byte {
	text := "#!/bin/sh\n" + hookMark1 + "(pre-commit)\n" +
		"# \"bureau guard install\" wrote this; \"bureau guard remove\" takes it out. Changes belong\n" +
		"# into pre-commit.before-bureau, the hook that was here before: it is run after the\n" +
		"# guard, as git would have run it.\n\n" +
		"case $0 in\n" +
		"*/*) bureau_guard_kept=${0%/*}/pre-commit.before-bureau ;;\n" +
		"*) bureau_guard_kept=./pre-commit.before-bureau ;;\n" +
		"esac\n" +
		progMark + shellQuote(program) + "\n" +
		"\"$bureau_guard_program\" guard run pre-commit -- \"$@\" </dev/null || exit $?\n" +
		"[ -x \"$bureau_guard_kept\" ] || exit 0\n" + run + "\n"
	return append([]byte(text), sumMark+sum([]byte(text))+"\n"...)
}

// TestFormat1 finds what an older bureau left in a repository.
func TestFormat1(t *testing.T) {
	for name, link := range map[string]bool{"a file": false, "a relative link": true} {
		for _, installs := range []int{0, 1, 2} {
			t.Run(fmt.Sprintf("%s, %d installs", name, installs), func(t *testing.T) {
				r, g := newRepo(t), recorder(t)
				hooks := filepath.Join(r.dir, ".git", "hooks")
				path := filepath.Join(hooks, "pre-commit")
				if link {
					put(t, filepath.Join(hooks, "impl"), g.noting("#!/bin/sh", 0), 0o755)
					if err := os.Symlink("impl", path); err != nil {
						t.Fatal(err)
					}
				} else {
					put(t, path, g.noting("#!/bin/sh", 0), 0o710)
				}
				before := snapshot(t, hooks)
				if err := os.Rename(path, path+keptSuffix); err != nil {
					t.Fatal(err)
				}
				put(t, path, string(format1(g.program, `exec "$bureau_guard_kept" "$@"`)), 0o755)
				if h := r.hook(t, PreCommit); h.State != HookInstalled || !h.Runs || !h.KeptRuns || h.Kept != path+keptSuffix || h.Program != g.program {
					t.Errorf("as it was: %+v", h)
				}
				for range installs {
					install(t, r, g, PreCommit)
					if h := r.hook(t, PreCommit); h.Kept != filepath.Join(hooks+keptSuffix, "pre-commit") || exists(path+keptSuffix) {
						t.Errorf("brought up to date: %+v", h)
					}
				}
				r.git("commit", "-q", "--allow-empty", "-m", "x")
				if got := g.log(); got != asked+"old <>\n" {
					t.Errorf("was run: %q", got)
				}
				if h, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil || h.State != HookAbsent {
					t.Errorf("remove: %+v, %v", h, err)
				}
				unchanged(t, "after removal", before, snapshot(t, hooks))
				if exists(hooks + keptSuffix) {
					t.Error("the folder of what was kept is left")
				}
			})
		}
	}
}

// TestFormat1Replaced is an older bureau's hook that another tool wrote over.
func TestFormat1Replaced(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	path := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
	put(t, path+keptSuffix, g.noting("#!/bin/sh", 0), 0o755)
	if h := r.hook(t, PreCommit); h.State != HookReplaced || h.Runs || h.KeptRuns || h.Lapse == "" {
		t.Errorf("deleted: %+v", h)
	}
	put(t, path, "#!/bin/sh\n", 0o755)
	_, errInstall := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
	_, errRemove := RemoveHook(t.Context(), r.dir, PreCommit)
	for _, err := range []error{errInstall, errRemove} {
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), path+keptSuffix) {
			t.Errorf("two hooks of others: %v", err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	install(t, r, g, PreCommit)
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	if got := g.log(); got != asked+"old <>\n" {
		t.Errorf("was run: %q", got)
	}
}

// TestFormat1AfterUs is an older bureau that takes this one's script for
// another tool's, and keeps it.
func TestFormat1AfterUs(t *testing.T) {
	for _, how := range []string{"install", "remove"} {
		r, g := newRepo(t), recorder(t)
		hooks := filepath.Join(r.dir, ".git", "hooks")
		path := filepath.Join(hooks, "pre-commit")
		put(t, path, g.noting("#!/bin/sh", 0), 0o755)
		before := snapshot(t, hooks)
		install(t, r, g, PreCommit)
		if err := os.Rename(path, path+keptSuffix); err != nil {
			t.Fatal(err)
		}
		put(t, path, string(format1(g.program, `exec "$bureau_guard_kept" "$@"`)), 0o755)
		r.git("commit", "-q", "--allow-empty", "-m", "x")
		if got := g.log(); got != asked+asked+"old <>\n" {
			t.Errorf("one above the other, was run: %q", got)
		}
		if how == "install" {
			install(t, r, g, PreCommit)
			r.git("commit", "-q", "--allow-empty", "-m", "x")
			if got := g.log(); got != asked+"old <>\n" {
				t.Errorf("was run: %q", got)
			}
		}
		if h, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil || h.State != HookAbsent {
			t.Errorf("remove: %+v, %v", h, err)
		}
		unchanged(t, "after "+how, before, snapshot(t, hooks))
	}
	// Both have kept a hook of others: nobody but a person can choose.
	r, g := newRepo(t), recorder(t)
	hooks := filepath.Join(r.dir, ".git", "hooks")
	path := filepath.Join(hooks, "pre-commit")
	put(t, path, "#!/bin/sh\n# one\n", 0o755)
	install(t, r, g, PreCommit)
	put(t, path+keptSuffix, "#!/bin/sh\n# two\n", 0o755)
	put(t, path, string(format1(g.program, "exit 0")), 0o755)
	before := snapshot(t, filepath.Join(r.dir, ".git"))
	_, errInstall := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
	_, errRemove := RemoveHook(t.Context(), r.dir, PreCommit)
	if !fault.Is(errInstall, fault.Conflict) || !fault.Is(errRemove, fault.Conflict) || fault.HintOf(errRemove) == "" {
		t.Errorf("two are kept: %v, %v", errInstall, errRemove)
	}
	unchanged(t, "two are kept", before, snapshot(t, filepath.Join(r.dir, ".git")))
}
