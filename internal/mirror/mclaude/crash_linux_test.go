package mclaude

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	// crash kills itself at a step of a change.
	children["crash"] = func(args []string) error {
		l, ok := Locate(args[0])
		if !ok {
			return errors.New("no lock folder")
		}
		nth := len(args[3]) // how often the step comes before it is the one
		l.step = func(at string) error {
			if at == args[2] {
				if nth--; nth == 0 {
					return syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
			return nil
		}
		var err error
		switch args[1] {
		case "write":
			_, err = l.Write(anna("abc"))
		case "release":
			_, err = l.Release("abc", session, "done")
		}
		return errors.Join(err, errors.New("the step did not come"))
	}
}

func crash(t *testing.T, l Locks, doing, step string, nth int) {
	t.Helper()
	cmd := child(t, "crash", l.root, doing, step, strings.Repeat("x", nth))
	out, err := cmd.CombinedOutput()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("%s %s: %v %s", doing, step, err, out)
	}
}

// wantTidy fails if something of ours lies about.
func wantTidy(t *testing.T, l Locks, when string) {
	t.Helper()
	for _, name := range strings.Fields(folderNames(t, l)) {
		slug, _, _ := strings.Cut(name, ".")
		if _, err := os.Stat(filepath.Join(l.Dir(), slug+".lock")); err != nil || strings.Contains(name, tempMark) {
			t.Errorf("%s: left: %s", when, name)
		}
	}
}

func TestKilledWhileWriting(t *testing.T) {
	for _, step := range writeSteps {
		l := locks(t)
		crash(t, l, "write", step, 1)
		if step == "locked" { // an empty lock: it could be mclaude's for a moment
			if e := list(t, l); len(e) != 1 || e[0].Status != Active {
				t.Errorf("%+v", e)
			}
			_, err := l.Write(ben("abc"))
			wantExit(t, err, ExitHeld)
			age(t, l, "abc.lock", 3*time.Minute)
		}
		entries := list(t, l) // the next look
		wantTidy(t, l, step)
		if step == "prepared" || step == "locked" {
			if len(entries) != 0 {
				t.Errorf("%s: %+v", step, entries)
			}
			write(t, l, ben("abc"))
			continue
		}
		if len(entries) != 1 {
			t.Fatalf("%s: %+v", step, entries)
		}
		e := entries[0]
		if !e.Ours || e.Session != session || e.Status != Active || e.Heartbeat.IsZero() || len(e.Files) != 1 || e.Trouble != "" {
			t.Errorf("%s: %+v", step, e)
		}
		_, err := l.Write(ben("abc"))
		wantExit(t, err, ExitHeld)
		// A dead process gives no more signs of life: the lock ages as any other.
		age(t, l, "abc.heartbeat", time.Hour)
		_, err = l.Write(ben("abc"))
		wantExit(t, err, ExitStale)
	}
}

// The heartbeat that a repair makes is not a sign of life of now.
func TestRepairedHeartbeatIsOld(t *testing.T) {
	l := locks(t)
	crash(t, l, "write", "described", 1)
	age(t, l, "abc.lock", time.Hour)
	if e := list(t, l); len(e) != 1 || e[0].Status != Stale || e[0].Heartbeat.IsZero() {
		t.Errorf("%+v", e)
	}
}

func TestKilledWhileReleasing(t *testing.T) {
	for _, c := range []struct {
		step string
		nth  int
		held bool
	}{
		{"archiving", 1, true}, {"archived", 1, true},
		{"aside", 1, false}, {"unlocked", 1, false}, {"aside", 2, false}, {"silent", 1, false}, {"aside", 3, false},
	} {
		when := c.step + strings.Repeat("+", c.nth-1)
		l := locks(t)
		write(t, l, anna("abc"))
		crash(t, l, "release", c.step, c.nth)
		entries := list(t, l)
		wantTidy(t, l, when)
		if c.held != (len(entries) == 1) {
			t.Fatalf("%s: %+v", when, entries)
		}
		if c.held {
			_, err := l.Release("abc", session, "done")
			must(t, err)
		}
		if left := folderNames(t, l); left != "" {
			t.Errorf("%s: left: %s", when, left)
		}
		write(t, l, ben("abc"))
	}
}

// A process died while it had taken a lock aside that was not the one it meant.
func TestLockTakenAsideIsPutBack(t *testing.T) {
	l := locks(t)
	foreign(t, l, "abc", "9f86d081884c7d65", "a.go")
	must(t, os.Rename(filepath.Join(l.Dir(), "abc.lock"), filepath.Join(l.Dir(), tempName("abc.lock"))))
	put(t, l, "abc.metadata.json", `{"slug":"abc","session_id":"anna-01J0SESSION","written_by":"bureau"}`)
	if e := list(t, l); len(e) != 1 || e[0].Session != "9f86d081884c7d65" {
		t.Errorf("%+v", e)
	}
	wantTidy(t, l, "aside")
}

func init() {
	children["full"] = func(args []string) error {
		if err := syscall.Mount("tmpfs", args[0], "tmpfs", 0, "size=64k"); err != nil {
			return errors.Join(errors.New("skip"), err)
		}
		defer syscall.Unmount(args[0], 0)
		l, err := Create(args[0])
		if err != nil {
			return err
		}
		if _, err := l.Write(anna("before")); err != nil {
			return err
		}
		ballast, err := os.Create(filepath.Join(args[0], "ballast"))
		if err != nil {
			return err
		}
		defer ballast.Close()
		for err == nil {
			_, err = ballast.Write(make([]byte, 512))
		}
		if _, err := l.Write(anna("abc")); !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(errors.New("written to a full disk"), err)
		}
		if _, err := l.Release("before", session, "x"); !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(errors.New("archived on a full disk"), err)
		}
		es, err := l.List()
		if err != nil || len(es) != 1 || !es[0].Ours {
			return errors.Join(errors.New("other locks than before"), err)
		}
		names, err := os.ReadDir(l.Dir())
		if err != nil || len(names) != 3 {
			return errors.Join(errors.New("other files than before"), err)
		}
		if _, err := l.Touch("before", session, time.Time{}); err != nil { // a sign of life needs no room
			return err
		}
		return nil
	}
}

func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a small disk; TestFullDiskWhileWriting does without")
	}
	cmd := child(t, "full", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.HasPrefix(string(out), "skip") {
		t.Skipf("%v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
