package db

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bureau/internal/fault"
)

func init() {
	children["read"] = readChild
	children["mounted"] = mountedChild
}

// readChild reads a database that it may not write, until its standard input
// ends: one line of output per line of input, with the number of notes.
func readChild(args []string) error {
	d, err := Open(ctx(), args[0], creating)
	if err != nil {
		return err
	}
	defer d.Close()
	if !d.ReadOnly() {
		return errors.New("the database was opened for writing")
	}
	err = d.Update(ctx(), func(tx *Tx) error { return tx.Exec(`DELETE FROM note`) })
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), args[0]) {
		return fmt.Errorf("update: %v", err)
	}
	if want := args[1]; want != fmt.Sprint(d.ro.way) {
		return fmt.Errorf("it is read in way %d, want %s", d.ro.way, want)
	}
	for {
		var line string
		if _, err := fmt.Scanln(&line); err != nil {
			return d.Close()
		}
		var n int
		err := d.View(ctx(), func(tx *Tx) error {
			_, err := tx.One(`SELECT count(*) FROM note`, nil, &n)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// reader is a readChild that runs as nobody.
type reader struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
	err strings.Builder
}

// readAs starts a reader. Permissions do not bind root, so it needs root to
// become somebody else.
func readAs(t *testing.T, path string, want way) *reader {
	t.Helper()
	cmd := child(t, "read", path, fmt.Sprint(want))
	cmd.Path = publicCopy(t, cmd.Path)
	cmd.Dir = "/"
	cmd.Env = append(cmd.Env, "TMPDIR="+publicDir(t, 0o777))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return startReader(t, cmd)
}

func startReader(t *testing.T, cmd *exec.Cmd) *reader {
	t.Helper()
	r := &reader{t: t, cmd: cmd}
	var err1, err2 error
	r.in, err1 = cmd.StdinPipe()
	r.out, err2 = cmd.StdoutPipe()
	cmd.Stderr = &r.err
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return r
}

// count asks for the number of notes.
func (r *reader) count(want int) {
	r.t.Helper()
	var got int
	fmt.Fprintln(r.in, "count")
	if _, err := fmt.Fscanln(r.out, &got); err != nil || got != want {
		r.t.Errorf("read %d, want %d: %v", got, want, err)
	}
}

func (r *reader) end() {
	r.t.Helper()
	r.in.Close()
	io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("%v: %s", err, r.err.String())
	}
}

func publicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bureau-db-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// publicCopy puts a program where everybody may run it.
func publicCopy(t *testing.T, program string) string {
	t.Helper()
	to := filepath.Join(publicDir(t, 0o755), "program")
	if err := copyFile(t.Context(), program, to); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// public makes everything readable, but not writable, for others.
func public(t *testing.T, path string) {
	t.Helper()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user or to mount")
	}
}

func TestReadOnlyLive(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o755), "test.db")
	d := open(t, path, creating)
	update(t, d, `CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	public(t, path)
	r := readAs(t, path, live)
	r.count(1)
	for range 300 {
		update(t, d, `INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", 20_000)) // through checkpoints
	}
	r.count(301)
	// The writers go, and others come: the reader notices neither.
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r.count(301)
	d = open(t, path, creating)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	public(t, path)
	r.count(302)
	r.end()
}

func TestReadOnlyStill(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o755), "test.db")
	d := open(t, path, creating)
	update(t, d, `CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	public(t, path)
	r := readAs(t, path, still)
	r.count(1)
	d = open(t, path, creating)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	public(t, path)
	r.count(2) // now live
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r.count(2)
	r.end()
}

func TestReadOnlyAfterCrash(t *testing.T) {
	needRoot(t)
	whole := notes(t)
	for range 5 {
		update(t, whole, `INSERT INTO note(text) VALUES('x')`)
	}
	// As a crash leaves the files, with the index and without it.
	for want, rests := range map[way][]string{live: {"", "-wal", "-shm"}, copied: {"", "-wal"}} {
		afterCrash(t, whole.Path(), rests, want)
	}
}

func afterCrash(t *testing.T, original string, rests []string, want way) {
	t.Helper()
	path := filepath.Join(publicDir(t, 0o755), "test.db")
	for _, rest := range rests {
		if err := copyFile(t.Context(), original+rest, path+rest); err != nil {
			t.Fatal(err)
		}
	}
	public(t, path)
	r := readAs(t, path, want)
	r.count(5)
	d := open(t, path, creating)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	public(t, path)
	r.count(6)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r.count(6)
	r.end()
}

// TestReadOnlyFile may not write the file, but its directory.
func TestReadOnlyFile(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o777), "test.db")
	d := open(t, path, creating)
	update(t, d, `CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	r := readAs(t, path, still)
	r.count(0)
	r.end()
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUnreadable(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o755), "test.db")
	d := open(t, path, creating)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r := readAs(t, path, still)
	r.in.Close()
	io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err == nil || !strings.Contains(r.err.String(), "permission denied") {
		t.Errorf("%v: %s", err, r.err.String())
	}
}

// mount runs a function of children in a mount namespace of its own.
func mount(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	needRoot(t)
	cmd := child(t, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// skip begins what a child says if the machine does not let it mount.
const skip = "skip: "

func runMounted(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if strings.HasPrefix(string(out), skip) || errors.Is(err, syscall.EPERM) {
		t.Skipf("%v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// mountedChild mounts the directory of a database for reading only and reads it.
func mountedChild(args []string) error {
	path := args[0]
	dir := filepath.Dir(path)
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf(skip+"%w", err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf(skip+"%w", err)
	}
	return readChild(args)
}

func TestReadOnlyMount(t *testing.T) {
	for _, want := range []way{live, still} {
		d := notes(t)
		update(t, d, `INSERT INTO note(text) VALUES('x')`)
		if want == still {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		cmd := mount(t, "mounted", d.Path(), fmt.Sprint(want))
		cmd.Stdin = strings.NewReader("count\n")
		runMounted(t, cmd)
	}
}
