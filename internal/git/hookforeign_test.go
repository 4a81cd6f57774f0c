package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestForeignChanges(t *testing.T) {
	ctx := t.Context()
	for _, had := range []bool{false, true} {
		r, g := newRepo(t), recorder(t)
		hooks := filepath.Join(r.dir, ".git", "hooks")
		path := filepath.Join(hooks, "pre-commit")
		if had {
			put(t, path, g.noting("#!/bin/sh", 0), 0o755)
		}
		install(t, r, g, PreCommit)

		// Edited by hand: neither removed nor written over.
		own, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, string(own)+"echo mine\n", 0o755)
		before := snapshot(t, hooks)
		if h := r.hook(t, PreCommit); h.State != HookEdited {
			t.Errorf("edited: %+v", h)
		}
		if _, err := RemoveHook(ctx, r.dir, PreCommit); !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
			t.Errorf("remove an edited hook: %v", err)
		}
		if _, err := InstallHook(ctx, r.dir, HookOptions{Name: PreCommit, Program: g.program}); !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
			t.Errorf("install over an edited hook: %v", err)
		}
		unchanged(t, "an edited hook", before, snapshot(t, hooks))

		// Replaced by another tool's.
		put(t, path, "#!/bin/sh\n# other\n"+strings.TrimPrefix(g.noting("", 0), "\n"), 0o755)
		before = snapshot(t, hooks)
		h := r.hook(t, PreCommit)
		_, errInstall := InstallHook(ctx, r.dir, HookOptions{Name: PreCommit, Program: g.program})
		if h.Runs || h.KeptRuns || h.Lapse == "" {
			t.Errorf("replaced: %+v", h)
		}
		if !had { // then it is just a hook, and is kept
			if h.State != HookReplaced || errInstall != nil {
				t.Errorf("replaced, nothing kept: %+v, %v", h, errInstall)
			}
			if _, err := RemoveHook(ctx, r.dir, PreCommit); err != nil {
				t.Error(err)
			}
			unchanged(t, "a replaced hook", before, snapshot(t, hooks))
			continue
		}
		_, errRemove := RemoveHook(ctx, r.dir, PreCommit)
		if h.State != HookReplaced || h.Note == "" || !fault.Is(errInstall, fault.Conflict) || !fault.Is(errRemove, fault.Conflict) || fault.HintOf(errRemove) == "" {
			t.Errorf("replaced: %+v, %v, %v", h, errInstall, errRemove)
		}
		unchanged(t, "a replaced hook", before, snapshot(t, hooks))

		// Deleted: what was kept is put back.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if h := r.hook(t, PreCommit); h.State != HookReplaced || h.Note == "" {
			t.Errorf("deleted: %+v", h)
		}
		if h, err := RemoveHook(ctx, r.dir, PreCommit); err != nil || !h.Changed {
			t.Errorf("remove a deleted hook: %+v, %v", h, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != g.noting("#!/bin/sh", 0) {
			t.Errorf("put back: %q, %v", got, err)
		}
	}
	r, g := newRepo(t), recorder(t)
	if err := os.MkdirAll(filepath.Join(r.dir, ".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := InstallHook(ctx, r.dir, HookOptions{Name: PreCommit, Program: g.program}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a folder in the place of the hook: %v", err)
	}
}

// TestFailedInstall leaves a hook where it was.
func TestFailedInstall(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	path := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
	put(t, path, g.noting("#!/bin/sh", 0), 0o755)
	kept := filepath.Dir(path) + keptSuffix
	put(t, filepath.Join(kept, "pre-commit/x"), "", 0o644) // a folder in the way
	before := snapshot(t, filepath.Dir(path))
	if _, err := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program}); err == nil {
		t.Error("installed over what cannot be kept")
	}
	unchanged(t, "a refused install", before, snapshot(t, filepath.Dir(path)))
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		return // no folder is closed to root
	}
	before = snapshot(t, filepath.Dir(path))
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("a closed folder: %v", err)
	}
	unchanged(t, "a failed install", before, snapshot(t, filepath.Dir(path)))
}
