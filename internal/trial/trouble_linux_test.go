package trial

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

// inside runs a test again in a mount namespace of its own, as root, so that
// it can mount what it likes; all is gone with its process.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv("BUREAU_TRIAL_MOUNTS") != "" {
		// Nothing mounted here must reach the machine's own name space.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if os.Geteuid() != 0 {
		missing(t, "root, to mount file systems")
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "BUREAU_TRIAL_MOUNTS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		missing(t, "the right to make a mount namespace")
		return false
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("the test did not run inside:\n%s", out)
	}
	return false
}

// missing says loudly what a test lacks; in CI that is a failure.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("NOT TESTED: this test needs %s", what)
}

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Fatalf("mount %s on %s: %v", source, target, err)
	}
	if flags&syscall.MS_REMOUNT == 0 {
		t.Cleanup(func() { _ = syscall.Unmount(target, syscall.MNT_DETACH) })
	}
}

func mkdir(t *testing.T, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func forget(t *testing.T, home string) {
	t.Cleanup(func() {
		if run, err := runtimedir.Look(home); err == nil {
			_ = os.RemoveAll(run.Path())
		}
	})
}

// An office on a volume that is not mounted now is not begun anew on the mount
// point; after mounting all is back.
func TestVolumeThatIsNotMounted(t *testing.T) {
	if !inside(t) {
		return
	}
	ctx := context.Background()
	base := t.TempDir()
	disk, point := mkdir(t, base, "disk"), mkdir(t, base, "volume")
	mount(t, "tmpfs", disk, "tmpfs", 0, "")
	mount(t, disk, point, "", syscall.MS_BIND, "")
	home := filepath.Join(point, ".bureau")
	forget(t, home)
	o, err := office.Open(ctx, office.Options{Home: home, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, Office: o}
	if _, err := o.Register(ctx, p.user(), "ana", roster.Process{}); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Unmount(point, 0); err != nil {
		t.Fatal(err)
	}
	_, err = office.Open(ctx, office.Options{Home: home, Create: true})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), home) {
		t.Errorf("opening with the volume away: %v; want unavailable, naming %s", err, home)
	}
	if entries, err := os.ReadDir(point); err != nil || len(entries) != 0 {
		t.Errorf("something was made on the mount point: %v, %v", entries, err)
	}
	mount(t, disk, point, "", syscall.MS_BIND, "")
	o, err = office.Open(ctx, office.Options{Home: home, Create: true})
	if err != nil {
		t.Fatalf("after mounting: %v", err)
	}
	defer o.Close()
	if a, err := o.Who(ctx, "ana"); err != nil || a.Name != "ana" {
		t.Errorf("after mounting: %v, %v", a.Name, err)
	}
}

// A full disk refuses and loses nothing; with room again the office goes on.
func TestFullDisk(t *testing.T) {
	if !inside(t) {
		return
	}
	ctx := context.Background()
	disk := mkdir(t, t.TempDir(), "disk")
	mount(t, "tmpfs", disk, "tmpfs", 0, "size=2m")
	home := filepath.Join(disk, "office")
	forget(t, home)
	o, err := office.Open(ctx, office.Options{Home: home, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	p := &place{t: t, Office: o}
	for _, n := range []string{"ana", "bob"} {
		if _, err := o.Register(ctx, p.user(), n, roster.Process{}); err != nil {
			t.Fatal(err)
		}
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 700<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	acked := 0
	for range 2000 {
		if _, err = o.Send(ctx, p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte(strings.Repeat("text ", 200))}); err != nil {
			break
		}
		acked++
	}
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d messages: %v; want unavailable, and that the disk is full", acked, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Send(ctx, p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte("with room again")}); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	box, err := o.Inbox(ctx, p.as("bob"), false, office.Page{Limit: 1})
	if err != nil || box.Total != acked+1 {
		t.Errorf("bob has %d messages (%v), want the %d acknowledged ones and the last", box.Total, err, acked)
	}
	p.sound()
}

// A store that can only be read is still read; writing says what is wrong.
func TestReadOnlyVolume(t *testing.T) {
	if !inside(t) {
		return
	}
	ctx := context.Background()
	disk := mkdir(t, t.TempDir(), "disk")
	mount(t, "tmpfs", disk, "tmpfs", 0, "")
	home := filepath.Join(disk, "office")
	forget(t, home)
	o, err := office.Open(ctx, office.Options{Home: home, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, Office: o}
	for _, n := range []string{"ana", "bob"} {
		if _, err := o.Register(ctx, p.user(), n, roster.Process{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Send(ctx, p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte("text")}); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	mount(t, "", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	o, err = office.Open(ctx, office.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	p = &place{t: t, Office: o}
	box, err := o.Inbox(ctx, p.as("bob"), false, office.Page{})
	if err != nil || len(box.Messages) != 1 {
		t.Errorf("reading: %d messages, %v", len(box.Messages), err)
	}
	if _, err := o.Send(ctx, p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte("text")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("writing: %v; want unavailable", err)
	}
}
