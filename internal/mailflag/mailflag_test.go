package mailflag

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bureau/internal/fault"
)

const (
	anna = "01J0000000000000000000ANNA"
	ben  = "01J00000000000000000000BEN"
)

// TestMain lets the test binary play a sender in another process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MAILFLAG_TEST_DIR"); dir != "" {
		for range 200 {
			if err := Raise(dir, anna, ben); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		return
	}
	os.Exit(m.Run())
}

func flagDir(t testing.TB) string { return filepath.Join(t.TempDir(), "f") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantIdle checks what the hook of a frequent event would do now.
func wantIdle(t *testing.T, want bool, dir, session, key, when string) {
	t.Helper()
	if got := Idle(dir, session, key, time.Now()); got != want {
		t.Errorf("%s: idle is %v", when, got)
	}
}

// look is what the hook does when it is not idle and finds nothing.
func look(t *testing.T, dir, session, key string) {
	t.Helper()
	size, known := Size(dir, session)
	if !known {
		t.Fatalf("session %q is not linked", session)
	}
	must(t, Mark(dir, session, key, size))
}

func TestTheLifeOfASession(t *testing.T) {
	dir := flagDir(t)
	wantIdle(t, false, dir, "s1", "", "before anything")
	if _, known := Size(dir, "s1"); known {
		t.Error("the flag of a session without a link is known")
	}
	must(t, Link(dir, "s1", anna))
	wantIdle(t, false, dir, "s1", "", "before the first look")
	look(t, dir, "s1", "")
	wantIdle(t, true, dir, "s1", "", "after a look, without any mail ever")
	must(t, Raise(dir, ben))
	wantIdle(t, true, dir, "s1", "", "after mail for somebody else")
	must(t, Raise(dir, ben, anna))
	wantIdle(t, false, dir, "s1", "", "after mail")
	look(t, dir, "s1", "")
	wantIdle(t, true, dir, "s1", "", "after a look at it")
	must(t, Invalidate(dir, "s1", ""))
	must(t, Invalidate(dir, "s1", ""))
	wantIdle(t, false, dir, "s1", "", "with an offer outstanding")
	look(t, dir, "s1", "")
	must(t, Forget(dir, "s1"))
	wantIdle(t, false, dir, "s1", "", "after its end")
	must(t, Forget(dir, "s1"))
}

func TestMailDuringALookIsNotMarked(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	size, _ := Size(dir, "s")
	must(t, Raise(dir, anna)) // the look comes too early for this one
	must(t, Mark(dir, "s", "", size))
	wantIdle(t, false, dir, "s", "", "after mail during a look")
}

func TestAMarkGrowsOld(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	look(t, dir, "s", "")
	_, at, ok := Marked(dir, "s", "")
	if age := time.Since(at); !ok || age < 0 || age > Stale {
		t.Fatalf("marked %v ago, %v", age, ok)
	}
	for after, want := range map[time.Duration]bool{
		-time.Second: false, 0: true, Stale - time.Millisecond: true, Stale: false, time.Hour: false,
	} {
		if got := Idle(dir, "s", "", at.Add(after)); got != want {
			t.Errorf("%v after the look: idle is %v", after, got)
		}
	}
	past := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(markPath(dir, "s", ""), past, past))
	wantIdle(t, false, dir, "s", "", "with an old mark")
	look(t, dir, "s", "")
	wantIdle(t, true, dir, "s", "", "after a look that found the same size")
}

func TestKeysAreApart(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	must(t, Raise(dir, anna))
	look(t, dir, "s", "")
	wantIdle(t, false, dir, "s", "agent-1", "a subagent that never looked")
	look(t, dir, "s", "agent-1")
	must(t, Invalidate(dir, "s", "agent-1"))
	wantIdle(t, true, dir, "s", "", "the main agent, after a subagent got an offer")
	must(t, Link(dir, "s2", anna))
	wantIdle(t, false, dir, "s2", "", "another session of the same agent")
}

func TestRelinkingForgetsMarks(t *testing.T) {
	dir := flagDir(t)
	must(t, Raise(dir, anna, ben))
	must(t, Link(dir, "s", anna))
	look(t, dir, "s", "")
	look(t, dir, "s", "k")
	must(t, Link(dir, "s", anna))
	wantIdle(t, true, dir, "s", "", "after linking to the same agent again")
	must(t, Link(dir, "s", ben)) // whose flag has the same size
	wantIdle(t, false, dir, "s", "", "after linking to another agent")
	wantIdle(t, false, dir, "s", "k", "after linking to another agent")
	must(t, Raise(dir, ben))
	if size, known := Size(dir, "s"); size != 2 || !known {
		t.Errorf("the new agent's flag: %d %v", size, known)
	}
}

func TestForeignSessionIds(t *testing.T) {
	dir := flagDir(t)
	ids := []string{"../../escape", "/abs", "a/b", "a\\b", ".", "..", "nul\x00byte", "é", "e\u0301", "\xff",
		strings.Repeat("long", 5000), "s", "S", "CON"}
	for i, id := range ids {
		must(t, Link(dir, id, anna))
		must(t, Mark(dir, id, id, int64(i)))
	}
	for i, id := range ids {
		if size, _, ok := Marked(dir, id, id); size != int64(i) || !ok {
			t.Errorf("%.20q: the mark is %d %v, want %d", id, size, ok, i)
		}
	}
	outside, err := os.ReadDir(filepath.Dir(dir))
	must(t, err)
	if len(outside) != 1 {
		t.Errorf("outside the folder: %v", outside)
	}
	inside, err := os.ReadDir(filepath.Join(dir, sessions))
	must(t, err)
	if len(inside) != len(ids) {
		t.Errorf("%d folders for %d sessions", len(inside), len(ids))
	}
}

func TestWrongArguments(t *testing.T) {
	dir := flagDir(t)
	for _, agent := range []string{"", "..", "../x", "a/b", sessions} {
		if err := Raise(dir, agent); !fault.Is(err, fault.Invalid) {
			t.Errorf("Raise(%q): %v", agent, err)
		}
		if err := Link(dir, "s", agent); !fault.Is(err, fault.Invalid) {
			t.Errorf("Link to %q: %v", agent, err)
		}
	}
	if err := Link(dir, "", anna); !fault.Is(err, fault.Invalid) {
		t.Errorf("Link of no session: %v", err)
	}
	if err := Raise(dir, "..", anna); !fault.Is(err, fault.Invalid) {
		t.Errorf("Raise of a wrong and a right one: %v", err)
	}
	if st, err := os.Stat(filepath.Join(dir, anna)); err != nil || st.Size() != 1 {
		t.Errorf("the right one was not raised: %v", err)
	}
}

func TestNoRuntimeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone", "f")
	for what, err := range map[string]error{
		"Raise": Raise(dir, anna), "Link": Link(dir, "s", anna), "Mark": Mark(dir, "s", "", 1),
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, Invalidate(dir, "s", ""))
	must(t, Forget(dir, "s"))
	if n, err := Sweep(dir, time.Now()); n != 0 || err != nil {
		t.Errorf("Sweep: %d %v", n, err)
	}
	wantIdle(t, false, dir, "s", "", "without a folder")
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits here")
	}
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	look(t, dir, "s", "k")
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		st, err := e.Info()
		must(t, err)
		if e.Type()&os.ModeSymlink == 0 && st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, st.Mode())
		}
		return nil
	}))
}

func TestSweep(t *testing.T) {
	dir := flagDir(t)
	must(t, Raise(dir, anna, ben, "resting"))
	must(t, Link(dir, "old", anna))
	look(t, dir, "old", "")
	must(t, os.WriteFile(filepath.Join(dir, "not.ours"), nil, 0o600))
	time.Sleep(30 * time.Millisecond)
	cut := time.Now()
	time.Sleep(30 * time.Millisecond)
	must(t, Link(dir, "young", ben))
	must(t, Raise(dir, "writing"))

	n, err := Sweep(dir, cut)
	if n != 3 || err != nil {
		t.Errorf("Sweep = %d %v, want 3: a session, its flag, and the flag of one who rests", n, err)
	}
	if _, known := Size(dir, "old"); known {
		t.Error("the old session is still linked")
	}
	if size, known := Size(dir, "young"); size != 1 || !known {
		t.Errorf("the flag that a young session needs: %d %v", size, known)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 4 {
		t.Errorf("left: %v", left)
	}
}

// A session that works in an old folder is not old.
func TestSweepSparesWhoWorks(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	look(t, dir, "s", "")
	time.Sleep(30 * time.Millisecond)
	cut := time.Now()
	time.Sleep(30 * time.Millisecond)
	look(t, dir, "s", "")
	if n, err := Sweep(dir, cut); n != 0 || err != nil {
		t.Errorf("Sweep = %d %v", n, err)
	}
	wantIdle(t, true, dir, "s", "", "after a sweep")
}

// A flag that others removed is unknown, not empty: the hook looks.
func TestALostFlag(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	look(t, dir, "s", "")
	must(t, os.Remove(filepath.Join(dir, anna)))
	if size, known := Size(dir, "s"); known {
		t.Errorf("a lost flag has size %d", size)
	}
	wantIdle(t, false, dir, "s", "", "without the flag")
	must(t, Link(dir, "s", anna))
	if size, known := Size(dir, "s"); size != 0 || !known {
		t.Errorf("linked again: %d %v", size, known)
	}
}

func TestManyProcessesRaise(t *testing.T) {
	dir := flagDir(t)
	exe, err := os.Executable()
	must(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), "MAILFLAG_TEST_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	for _, agent := range []string{anna, ben} {
		must(t, Link(dir, agent, agent))
		if size, known := Size(dir, agent); size != 8*200 || !known {
			t.Errorf("size %d %v, want %d", size, known, 8*200)
		}
	}
}

// Several hooks of one session run at once while mail comes. Whatever the
// order, when the last message is committed and flagged, the hook is not idle
// until somebody has looked at it.
func TestNothingHides(t *testing.T) {
	dir := flagDir(t)
	must(t, Link(dir, "s", anna))
	var committed, seen atomic.Int64
	hook := func() {
		if Idle(dir, "s", "", time.Now()) {
			return
		}
		size, _ := Size(dir, "s")
		for found := committed.Load(); ; {
			old := seen.Load()
			if found <= old || seen.CompareAndSwap(old, found) {
				break
			}
		}
		if err := Mark(dir, "s", "", size); err != nil {
			t.Error(err)
		}
	}
	for range 300 {
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				committed.Add(1)
				if err := Raise(dir, anna); err != nil {
					t.Error(err)
				}
			})
			all.Go(hook)
		}
		all.Wait()
		hook()
		if committed.Load() != seen.Load() {
			t.Fatalf("%d committed, %d seen, and the hook is idle", committed.Load(), seen.Load())
		}
	}
}

func BenchmarkIdle(b *testing.B) {
	dir := flagDir(b)
	must(b, Link(dir, "s", anna))
	must(b, Mark(dir, "s", "", 0))
	now := time.Now()
	for b.Loop() {
		Idle(dir, "s", "", now)
	}
}

func BenchmarkRaise(b *testing.B) {
	dir := flagDir(b)
	for b.Loop() {
		must(b, Raise(dir, anna))
	}
}
