//go:build linux || darwin

package probe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func timeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func TestLockFiles(t *testing.T) {
	root := t.TempDir()
	now, old := time.Now(), time.Now().Add(-3*time.Hour)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	dead, self := strconv.Itoa(gone.Process.Pid), strconv.Itoa(os.Getpid())
	file := func(name, content string, at time.Time) {
		path := filepath.Join(root, name)
		write(t, path, content, 0o644)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	file("young.lock", "", now)
	file("old.lock", "", old)
	file("mine.pid", self+"\n", now)
	file("dead.pid", " "+dead+" \n", now)
	file("later.pid", self, old.Add(-24*365*time.Hour))
	file("a/.nuxt/nuxt.lock", `{ "pid": `+self+`, "command": "dev" }`, now)
	file("a/target/debug/.cargo-lock", "", now)
	file("version", "1.2."+self, old)
	if err := os.Mkdir(filepath.Join(root, "dir.lock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("host:"+self, filepath.Join(root, "wlock")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want Verdict
		says string
	}{
		{"absent.lock", Free, "there is no"},
		{"no/folder.lock", Free, "there is no"},
		{"young.lock", Busy, "old"},
		{"old.lock", Unknown, "crash"},
		{"version", Unknown, "crash"},
		{"mine.pid", Busy, "pid " + self},
		{"dead.pid", Unknown, dead},
		{"later.pid", Unknown, "since later"},
		{"a/.nuxt/nuxt.lock", Busy, "nuxt"},
		{"a/target/debug/.cargo-lock", Free, "nobody has locked"},
		{"dir.lock", Busy, "old"},
		{"wlock", Busy, "pid " + self},
		{"pipe", Busy, "old"},
	} {
		want(t, one(t, Request{Root: root}, parse(t, "lockfile:"+c.path)), c.want, c.says)
		want(t, one(t, Request{Root: "/"}, parse(t, "lockfile:"+filepath.Join(root, c.path))), c.want, c.says)
	}
	want(t, one(t, Request{Root: root, Home: root}, parse(t, "lockfile:young.lock")), Unknown, "office itself")
}

// A lock that somebody holds is seen, whoever asks: this very process has it
// in another open file.
func TestHeldLock(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "target/debug/.cargo-lock")
	write(t, path, "", 0o644)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s := parse(t, "lockfile:target/debug/.cargo-lock")
	want(t, one(t, Request{Root: root}, s), Busy, "cargo", "is locked")
	if f := toolLocks(t.Context(), root); f.verdict != Busy {
		t.Errorf("a build below a folder: %+v", f)
	}
	if f := toolLocks(t.Context(), filepath.Join(root, "target")); f.verdict != Free {
		t.Errorf("not the folder that the tool works in: %+v", f)
	}
	// Our look did not take it away.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	want(t, one(t, Request{Root: root}, s), Free)
}

// Terraform and dpkg use locks of the other family, which name the process.
func TestHeldPOSIXLock(t *testing.T) {
	need(t, "python3")
	root := t.TempDir()
	path := filepath.Join(root, "terraform.tfstate")
	write(t, path, "{}", 0o644)
	cmd := exec.Command("python3", "-c", "import fcntl,sys\nf=open(sys.argv[1],'r+')\nfcntl.lockf(f,fcntl.LOCK_EX)\nprint('locked',flush=True)\nsys.stdin.read()", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	want(t, one(t, Request{Root: root}, parse(t, "lockfile:terraform.tfstate")), Busy, "terraform", "pid "+strconv.Itoa(cmd.Process.Pid))
}

// A claimed folder shows the locks of tools in it, however clean the tree is.
func TestToolLocksOfAClaimedFolder(t *testing.T) {
	root := repository(t, "infra/main.tf", "docs/x", ".gitignore")
	write(t, filepath.Join(root, ".gitignore"), ".terraform*\n", 0o644)
	gitDo(t, root, "commit", "-qam", "ignore")
	write(t, filepath.Join(root, "infra/prod/.terraform.tfstate.lock.info"), `{"Operation":"OperationTypeApply"}`, 0o644)
	for _, p := range []string{"infra", "infra/**", ".", "**"} {
		want(t, one(t, Request{Root: root}, Paths(p)), Busy, "terraform")
	}
	for _, p := range []string{"docs", "infra/*.tf", "infra/main.tf"} {
		want(t, one(t, Request{Root: root}, Paths(p)), Free)
	}
}
