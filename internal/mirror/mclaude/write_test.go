package mclaude

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bureau/internal/fault"
)

func TestWriteRefusesBadValues(t *testing.T) {
	l := locks(t)
	for _, slug := range badSlugs {
		_, err := l.Write(anna(slug))
		wantExit(t, err, ExitInvalid)
		_, err = l.WriteNear(anna(slug))
		wantExit(t, err, ExitInvalid)
		_, err = l.Touch(slug, session, time.Time{})
		wantExit(t, err, ExitInvalid)
		_, err = l.Release(slug, session, "")
		wantExit(t, err, ExitInvalid)
		_, err = l.Force(slug, Forcing{Reason: "x", Override: true})
		wantExit(t, err, ExitInvalid)
		_, _, err = l.Get(slug)
		wantExit(t, err, ExitInvalid)
	}
	for _, s := range []string{"", "anna", "anna-", "ann", "bob-01J0SESSION", "anna-01J0\n", "anna-" + strings.Repeat("x", 200), "anna-é1234567"} {
		lock := anna("abc")
		lock.Session = s
		_, err := l.Write(lock)
		wantExit(t, err, ExitUsage)
	}
	huge := anna("abc")
	huge.Files = []string{strings.Repeat("x", maxMetadata)}
	_, err := l.Write(huge)
	wantExit(t, err, ExitUsage)
	if left := folderNames(t, l); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestWriteAgain(t *testing.T) {
	l := locks(t)
	first := write(t, l, anna("abc"))
	age(t, l, "abc.heartbeat", time.Hour)
	wider := anna("abc")
	wider.Files = []string{"a.go", "b.go"}
	e := write(t, l, wider)
	if len(e.Files) != 2 || !e.ClaimedAt.Equal(first.ClaimedAt) || e.Status != Active || e.HeartbeatAge > time.Minute {
		t.Errorf("%+v", e)
	}
	must(t, os.Remove(filepath.Join(l.Dir(), "abc.metadata.json")))
	must(t, os.Remove(filepath.Join(l.Dir(), "abc.heartbeat")))
	if e := write(t, l, wider); !e.Ours || e.Heartbeat.IsZero() {
		t.Errorf("%+v", e)
	}
	// The same session with another claim is somebody else.
	other := anna("abc")
	other.Claim.ID = "01J0SECOND"
	_, err := l.Write(other)
	wantExit(t, err, ExitHeld)
	if r, _ := RefusalOf(err); r.Lock == nil || r.Lock.Claim.ID != "01J0CLAIM" || !fault.Is(err, fault.Conflict) {
		t.Errorf("%+v", r)
	}
}

func TestWriteNear(t *testing.T) {
	l := locks(t)
	foreign(t, l, "abc", "9f86d081884c7d65")
	foreign(t, l, "abc-2", "9f86d081884c7d65")
	age(t, l, "abc-2.heartbeat", time.Hour) // stale is not free
	e, err := l.WriteNear(anna("abc"))
	must(t, err)
	if e.Slug != "abc-3" {
		t.Errorf("it became %q", e.Slug)
	}
	must(t, os.Remove(filepath.Join(l.Dir(), "abc.lock")))
	if e, err = l.WriteNear(anna("abc")); err != nil || e.Slug != "abc-3" {
		t.Errorf("again it became %q: %v", e.Slug, err)
	}
	if e, err = l.WriteNear(ben("abc")); err != nil || e.Slug != "abc" {
		t.Errorf("another one became %q: %v", e.Slug, err)
	}
}

func TestForeignLockIsNotTouched(t *testing.T) {
	l := locks(t)
	foreign(t, l, "held", "9f86d081884c7d65", "a.go")
	foreign(t, l, "stale", "9f86d081884c7d66")
	age(t, l, "stale.heartbeat", time.Hour)
	put(t, l, "bare.lock", "9f86d081884c7d67")
	put(t, l, "orphan.metadata.json", `{"slug":"orphan","session_id":"x"}`)
	put(t, l, "held.metadata.json.tmp.01234567", "{")
	must(t, os.Mkdir(filepath.Join(l.Dir(), "folder.lock"), 0o777))
	before := tree(t, l.Dir())
	for slug, exit := range map[string]int{"held": ExitHeld, "stale": ExitStale, "bare": ExitHeld, "folder": ExitHeld} {
		_, err := l.Write(anna(slug))
		wantExit(t, err, exit)
		_, err = l.Touch(slug, session, time.Time{})
		wantExit(t, err, ExitWrongSession)
		_, err = l.Touch(slug, "", time.Time{})
		wantExit(t, err, ExitWrongSession)
		_, err = l.Release(slug, session, "")
		wantExit(t, err, ExitWrongSession)
		_, err = l.Release(slug, "", "")
		wantExit(t, err, ExitWrongSession)
	}
	_, err := l.Force("held", Forcing{Reason: "I want it"})
	wantExit(t, err, ExitHeld)
	_, err = l.Force("stale", Forcing{Reason: "gone", Session: "somebody else"})
	wantExit(t, err, ExitWrongSession)
	_, err = l.Force("stale", Forcing{Reason: " \n"})
	wantExit(t, err, ExitUsage)
	if _, err = l.Force("folder", Forcing{Reason: "odd", Override: true}); err == nil {
		t.Error("a folder was forced")
	}
	_, err = l.Touch("nothing", session, time.Time{})
	wantExit(t, err, ExitNone)
	_, err = l.Release("nothing", session, "")
	wantExit(t, err, ExitNone)
	_, err = l.Force("nothing", Forcing{Reason: "x"})
	wantExit(t, err, ExitNone)
	list(t, l)
	if after := tree(t, l.Dir()); !maps.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
	if es, err := l.Archive(10); err != nil || len(es) != 0 {
		t.Errorf("archived: %v %v", es, err)
	}
}

// at calls what happens when a change comes to a step.
func (l Locks) at(step string, do func() error) Locks {
	l.step = func(at string) error {
		if at == step {
			return do()
		}
		return nil
	}
	return l
}

// A network file system may let two create one file. The content decides.
func TestLostCreation(t *testing.T) {
	for _, step := range []string{"signed", "beating"} {
		l := locks(t)
		_, err := l.at(step, func() error {
			put(t, l, "abc.lock", "9f86d081884c7d65")
			if step == "signed" {
				foreign(t, l, "abc", "9f86d081884c7d65")
			}
			return nil
		}).Write(anna("abc"))
		wantExit(t, err, ExitHeld)
		if r, _ := RefusalOf(err); r.Lock == nil || r.Lock.Session != "9f86d081884c7d65" {
			t.Errorf("%s: %v", step, err)
		}
		e := get(t, l, "abc")
		if e.Session != "9f86d081884c7d65" || e.Ours || step == "signed" && e.Description != "foreign" {
			t.Errorf("%s: %+v", step, e)
		}
		if left := folderNames(t, l); strings.Contains(left, tempMark) {
			t.Errorf("%s: left: %s", step, left)
		}
	}
}

// writeSteps are the steps of making a lock, in order.
var writeSteps = []string{"prepared", "locked", "signed", "described", "beating"}

func TestFullDiskWhileWriting(t *testing.T) {
	for _, step := range writeSteps {
		l := locks(t)
		_, err := l.at(step, func() error { return syscall.ENOSPC }).Write(anna("abc"))
		if !errors.Is(err, syscall.ENOSPC) || !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", step, err)
		}
		if left := folderNames(t, l); left != "" {
			t.Errorf("%s: left: %s", step, left)
		}
		write(t, l, ben("abc"))
	}
}

// What fails on the way and finds another's lock at the end leaves that alone.
func TestUndoLeavesTheOthersLock(t *testing.T) {
	l := locks(t)
	_, err := l.at("beating", func() error {
		foreign(t, l, "abc", "9f86d081884c7d65")
		return syscall.EIO
	}).Write(anna("abc"))
	if !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if e := get(t, l, "abc"); e.Session != "9f86d081884c7d65" || e.Description != "foreign" || e.Heartbeat.IsZero() {
		t.Errorf("%+v", e)
	}
}

const contenders, rounds = 8, 20

func init() {
	children["claim"] = func(args []string) error {
		l, ok := Locate(args[0])
		if !ok {
			return errors.New("no lock folder")
		}
		l.Patience = time.Minute
		for round := range rounds {
			// All begin a round together.
			if err := os.WriteFile(filepath.Join(args[0], fmt.Sprintf("ready-%d-%s", round, args[1])), nil, 0o666); err != nil {
				return err
			}
			for ready := 0; ready < contenders; time.Sleep(time.Millisecond) {
				names, err := filepath.Glob(filepath.Join(args[0], fmt.Sprintf("ready-%d-*", round)))
				if err != nil {
					return err
				}
				ready = len(names)
			}
			id := "p" + args[1]
			_, err := l.Write(Lock{Slug: fmt.Sprint("work-", round), Session: id + "-01J0SESSION", Claim: Claim{ID: id, Identity: id}})
			fmt.Println(ExitCode(err))
			if ExitCode(err) != ExitOK && ExitCode(err) != ExitHeld {
				return err
			}
		}
		return nil
	}
}

func TestOneWinner(t *testing.T) {
	l := locks(t)
	wins := make([]int, rounds)
	outs := make(chan string, contenders)
	for i := range contenders {
		cmd := child(t, "claim", l.root, fmt.Sprint(i))
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				out = fmt.Appendf(out, "%v", err)
			}
			outs <- string(out)
		}()
	}
	for range contenders {
		out := <-outs
		words := strings.Fields(out)
		if len(words) != rounds {
			t.Fatalf("a process said %q", out)
		}
		for round, exit := range words {
			if exit == "0" {
				wins[round]++
			}
		}
	}
	for round, n := range wins {
		if n != 1 {
			t.Errorf("round %d has %d winners", round, n)
		}
	}
	for _, e := range list(t, l) {
		if !e.Ours || e.Status != Active || e.Trouble != "" {
			t.Errorf("%+v", e)
		}
	}
}

// TestSinceWhenEachFileIsLocked: a file counts from the moment that it is written,
// and keeps that; one that was claimed long before its first lock file counts from
// its claim, and one that is claimed anew begins anew.
func TestSinceWhenEachFileIsLocked(t *testing.T) {
	l := locks(t)
	clock := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	l.now = func() time.Time { return clock }
	lock := anna("edits")
	put := func(files []string, claimed ...time.Time) []time.Time {
		t.Helper()
		lock.Files, lock.Claim.FilesSince = files, claimed
		return write(t, l, lock).Claim.FilesSince
	}
	same := func(got []time.Time, want ...time.Time) {
		t.Helper()
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	claimed, old, first := clock.Add(-time.Second), clock.Add(-time.Hour), clock
	same(put([]string{"a", "b"}, claimed, old), first, old)
	clock = clock.Add(time.Second)
	same(put([]string{"b", "a", "c"}, old, claimed, claimed), old, first, clock)
	third := clock
	clock = clock.Add(10 * time.Second)
	same(put([]string{"a", "c"}, clock.Add(-time.Second), claimed), clock, third)
	// A clock that went back makes nothing older than its claim.
	last := clock
	clock = clock.Add(-time.Hour)
	same(put([]string{"a", "d"}, last.Add(-time.Second), last), last, last)
	same(put([]string{"a", "d"}, last.Add(-time.Second), last), last, last)
	// Without a time for each of them none is said.
	same(put([]string{"a", "d"}, last))
}
