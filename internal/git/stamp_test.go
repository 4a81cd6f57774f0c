package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestStamp: a work tree keeps its stamp when it is moved, and neither a clone
// nor a copy has it, nor what is made in its place.
func TestStamp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no numbers of files here")
	}
	r := newRepo(t)
	r.commit("a", "1")
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	git := func(args ...string) { t.Helper(); r.git(args...) }
	linked := at("linked")
	git("worktree", "add", "-q", linked, "-b", "other")
	bare := at("bare.git")
	git("clone", "-q", "--bare", r.dir, bare)
	main := at("main")
	git("clone", "-q", r.dir, main)
	plain := at("plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{linked, bare, main, plain} {
		was := Stamp(dir)
		if was == "" || dir != plain && birth(dir) == "" {
			t.Fatalf("%s has no stamp: %q", dir, was)
		}
		to := dir + "-moved"
		if dir == linked {
			git("worktree", "move", dir, to)
		} else if err := os.Rename(dir, to); err != nil {
			t.Fatal(err)
		}
		if got := Stamp(to); got != was {
			t.Errorf("%s was %q and is %q behind a move", dir, was, got)
		}
		if got := Stamp(dir); got != "" {
			t.Errorf("%s is gone and has a stamp: %q", dir, got)
		}
		switch dir {
		case plain:
			continue
		case linked:
			git("worktree", "add", "-q", "--detach", dir)
		default:
			git("clone", "-q", r.dir, dir)
		}
		if got := Stamp(dir); got == was || got == "" {
			t.Errorf("another one at %s has the stamp %q", dir, got)
		}
		if birth(dir) == birth(to) {
			t.Errorf("two of one birth: %s", birth(dir))
		}
	}
	if cp, err := exec.LookPath("cp"); err == nil {
		if out, err := exec.Command(cp, "-R", "-p", main, at("copy")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if Stamp(at("copy")) == Stamp(main) {
			t.Error("a copy has the stamp of what it was made from")
		}
		if birth(at("copy")) != birth(main) {
			t.Error("a copy that keeps times has another birth: so has what is moved to another file system")
		}
	}
}
