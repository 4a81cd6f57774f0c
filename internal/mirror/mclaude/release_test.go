package mclaude

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bureau/internal/fault"
)

func TestTouch(t *testing.T) {
	l := locks(t)
	write(t, l, anna("abc"))
	age(t, l, "abc.heartbeat", time.Hour)
	if e, err := l.Touch("abc", session, time.Time{}); err != nil || e.Status != Active || e.HeartbeatAge > time.Minute {
		t.Errorf("%+v %v", e, err)
	}
	must(t, os.Remove(filepath.Join(l.Dir(), "abc.heartbeat")))
	if e, err := l.Touch("abc", session, time.Time{}); err != nil || e.Heartbeat.IsZero() {
		t.Errorf("%+v %v", e, err)
	}
	// The real mclaude forced it and claimed it: the old holder is told.
	foreign(t, l, "abc", "9f86d081884c7d65")
	age(t, l, "abc.heartbeat", time.Minute)
	_, err := l.Touch("abc", session, time.Time{})
	wantExit(t, err, ExitWrongSession)
	if r, _ := RefusalOf(err); r.Lock == nil || r.Lock.Session != "9f86d081884c7d65" || !fault.Is(err, fault.Denied) {
		t.Errorf("%+v", r)
	}
	if e := get(t, l, "abc"); e.HeartbeatAge < time.Minute {
		t.Errorf("a foreign heartbeat was touched: %v", e.HeartbeatAge)
	}
}

// A session may go on with a lock that it made with the real mclaude.
func TestOwnLockMadeByMclaude(t *testing.T) {
	l := locks(t)
	foreign(t, l, "abc", session, "a.go")
	if e, err := l.Touch("abc", session, time.Time{}); err != nil || e.Ours {
		t.Errorf("%+v %v", e, err)
	}
	_, err := l.Release("abc", session, "done")
	must(t, err)
	if left := folderNames(t, l); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestThreeArchivesInAMinute(t *testing.T) {
	l := locks(t)
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.Local)
	l.now = func() time.Time { return now }
	l.Rule.Stale = time.Hour
	for _, summary := range []string{"one", "two", "three"} {
		write(t, l, anna("abc"))
		_, err := l.Release("abc", session, summary)
		must(t, err)
	}
	write(t, l, anna("abc"))
	_, err := l.Force("abc", Forcing{Reason: "a person says so", Override: true})
	must(t, err)
	now = now.Add(time.Minute)
	write(t, l, ben("xyz"))
	_, err = l.Release("xyz", ben("").Session, "")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(l.root, completedDir, "README.md"), nil, 0o666))
	es, err := l.Archive(10)
	must(t, err)
	var names []string
	for _, e := range es {
		names = append(names, e.Name)
	}
	want := "xyz_2026-03-14_09-31.md abc_2026-03-14_09-30_3.md abc_2026-03-14_09-30_2.md abc_2026-03-14_09-30.md abc_2026-03-14_09-30_FORCE.md"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("archives %s\nwant %s", got, want)
	}
	if !es[4].Forced || es[4].Slug != "abc" || !es[4].At.Equal(now.Add(-time.Minute)) || es[0].Forced {
		t.Errorf("%+v", es)
	}
	if few, err := l.Archive(2); err != nil || len(few) != 2 || few[0].Slug != "xyz" {
		t.Errorf("%+v %v", few, err)
	}
	data, err := os.ReadFile(filepath.Join(l.root, completedDir, "abc_2026-03-14_09-30.md"))
	must(t, err)
	if !strings.HasSuffix(string(data), "\none") {
		t.Errorf("the first archive is %s", data)
	}
}

func TestParseArchive(t *testing.T) {
	for _, name := range []string{
		"", ".md", "abc.md", "abc_2026-03-14.md", "abc_2026-13-14_09-30.md", "ab_2026-03-14_09-30.md", "_2026-03-14_09-30.md",
		"a/b_2026-03-14_09-30.md", "abc_2026-03-14_09-30_x.md", "abc-2026-03-14_09-30.md", "abc_2026-03-14_09-30.txt",
	} {
		if a, ok := parseArchive(name); ok {
			t.Errorf("%q is taken for %+v", name, a)
		}
	}
	if a, ok := parseArchive("abc_2026-03-14_09-30_FORCE_2.md"); !ok || !a.Forced || a.number != 2 || a.Slug != "abc" {
		t.Errorf("%+v", a)
	}
}

// What a session says cannot look like something else in the archive.
func TestArchiveCannotBeForged(t *testing.T) {
	l := locks(t)
	foreign(t, l, "abc", session)
	put(t, l, "abc.metadata.json", `{"session_id":"anna-01J0SESSION","description":"x\n**Claimed at:** never\u2028y","files":["a\n## Summary"]}`)
	done, err := l.Release("abc", session, "ok\x1b[31m")
	must(t, err)
	data, err := os.ReadFile(filepath.Join(l.root, done.Archive))
	must(t, err)
	if strings.Count(string(data), "\n**Claimed at:**") != 1 || strings.Count(string(data), "\n## Summary") != 1 || strings.ContainsAny(string(data), "\x1b\u2028") {
		t.Errorf("%s", data)
	}
}

func TestReleaseNeedsItsArchive(t *testing.T) {
	for _, step := range []string{"archiving", "archived"} {
		l := locks(t)
		write(t, l, anna("abc"))
		_, err := l.at(step, func() error { return syscall.ENOSPC }).Release("abc", session, "")
		if !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		if e := get(t, l, "abc"); !e.Ours || e.Status != Active {
			t.Errorf("%+v", e)
		}
	}
}

// Between the look and the removal the real mclaude made the lock its own.
func TestReleaseDoesNotRemoveTheNextLock(t *testing.T) {
	for _, step := range []string{"archived", "unlocked", "silent"} {
		l := locks(t)
		write(t, l, anna("abc"))
		age(t, l, "abc.heartbeat", time.Minute)
		_, err := l.at(step, func() error {
			foreign(t, l, "abc", "9f86d081884c7d65", "b.go")
			return nil
		}).Release("abc", session, "done")
		es, aerr := l.Archive(10)
		must(t, aerr)
		if step == "archived" {
			wantExit(t, err, ExitWrongSession)
			if len(es) != 0 {
				t.Errorf("a release that was none is archived: %+v", es)
			}
		} else if err != nil || len(es) != 1 {
			t.Errorf("%s: %v %+v", step, err, es)
		}
		e := get(t, l, "abc")
		if e.Session != "9f86d081884c7d65" || e.Description != "foreign" || e.Heartbeat.IsZero() || e.Trouble != "" {
			t.Errorf("%s: %+v", step, e)
		}
		if left := folderNames(t, l); left != "abc.heartbeat abc.lock abc.metadata.json" {
			t.Errorf("%s: left: %s", step, left)
		}
	}
}

// Two see one stale lock; one takes it over, the other is told.
func TestOneTakesOver(t *testing.T) {
	for range 20 {
		l := locks(t)
		foreign(t, l, "abc", "9f86d081884c7d65")
		age(t, l, "abc.heartbeat", time.Hour)
		var wg sync.WaitGroup
		won := make([]bool, 4)
		for i, lock := range []Lock{anna("abc"), ben("abc"), anna("abc"), ben("abc")} {
			lock.Claim.ID += string(rune('0' + i))
			wg.Go(func() {
				if _, err := l.Force("abc", Forcing{Reason: "stale"}); err != nil && ExitCode(err) != ExitHeld && ExitCode(err) != ExitNone {
					t.Error(err)
				}
				_, err := l.Write(lock)
				won[i] = err == nil
				if err != nil && ExitCode(err) != ExitHeld {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		n := 0
		for _, w := range won {
			if w {
				n++
			}
		}
		if es, err := l.Archive(10); n != 1 || err != nil || len(es) != 1 {
			t.Fatalf("%d owners, archives %+v %v", n, es, err)
		}
	}
}
