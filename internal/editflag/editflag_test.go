package editflag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnAnswerStandsUntilAClaimChanges: an edit that was allowed passes until a
// claim of its project changes, its time is over or its session ends.
func TestAnAnswerStandsUntilAClaimChanges(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "e")
	now := time.Now()
	const most = 5 * time.Minute
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(allowed bool, key, path string, at time.Time) {
		t.Helper()
		if got := Allowed(dir, key, path, at, most); got != allowed {
			t.Errorf("%s %s: allowed %v", key, path, got)
		}
	}
	want(false, "S1", "/p/a.go", now)
	ok(Raise(dir, "p"))
	ok(Allow(dir, "S1", "/p/a.go", []Seen{{"p", Size(dir, "p")}}, now.Add(time.Minute)))
	want(true, "S1", "/p/a.go", now)
	want(false, "S1", "/p/b.go", now)
	want(false, "S1/sub", "/p/a.go", now)
	want(false, "S2", "/p/a.go", now)
	want(false, "S1", "/p/a.go", now.Add(2*time.Minute))
	want(false, "S1", "/p/a.go", now.Add(-time.Hour)) // the clock was set back
	ok(Raise(dir, "other"))
	want(true, "S1", "/p/a.go", now)
	before := Size(dir, "p")
	ok(Raise(dir, "p"))
	want(false, "S1", "/p/a.go", now)
	ok(Allow(dir, "S1", "/p/a.go", []Seen{{"p", before}}, now.Add(time.Minute)))
	want(false, "S1", "/p/a.go", now) // it changed during the look
	ok(Allow(dir, "S1", "/p/a.go", []Seen{{"p", Size(dir, "p")}}, now.Add(time.Minute)))
	want(true, "S1", "/p/a.go", now)
	// Several scopes have a say; one of them was never raised.
	three := []Seen{{"p", Size(dir, "p")}, {"around", Size(dir, "around")}, {"never", Size(dir, "never")}}
	ok(Allow(dir, "S1", "/p/in/a.go", three, now.Add(time.Minute)))
	want(true, "S1", "/p/in/a.go", now)
	ok(Raise(dir, "around"))
	want(false, "S1", "/p/in/a.go", now)
	three[1].Size++
	ok(Allow(dir, "S1", "/p/in/a.go", three, now.Add(time.Minute)))
	want(true, "S1", "/p/in/a.go", now)
	ok(Raise(dir, "never"))
	want(false, "S1", "/p/in/a.go", now)
	many := make([]Seen, mostScopes+1)
	ok(Allow(dir, "S1", "/p/deep/a.go", many, now.Add(time.Minute)))
	want(false, "S1", "/p/deep/a.go", now) // it is asked about each time
	for i := range many {
		many[i] = Seen{string(rune('a' + i)), 0}
	}
	ok(Allow(dir, "S1", "/p/deep/a.go", many[1:], now.Add(time.Minute)))
	want(true, "S1", "/p/deep/a.go", now)
	for _, torn := range []string{"", "x", "x y z\n", hash("p") + " 2 99", hash("p") + " 2 " + hash("q") + " 99\n"} {
		ok(os.WriteFile(markPath(dir, "S1", "/p/torn.go"), []byte(torn), 0o600))
		want(false, "S1", "/p/torn.go", now)
	}
	ok(Forget(dir, "S1"))
	want(false, "S1", "/p/a.go", now)
	ok(Forget(dir, "S1"))
	ok(Allow(dir, "S2", "/p/a.go", []Seen{{"p", Size(dir, "p")}}, now.Add(time.Minute)))
	ok(Sweep(dir, time.Now().Add(-time.Hour)))
	want(true, "S2", "/p/a.go", now)
	ok(Sweep(dir, time.Now().Add(time.Hour)))
	want(false, "S2", "/p/a.go", now)
	ok(Sweep(filepath.Join(dir, "nowhere"), now))
}

// TestAnAnswerDependsOnFolders: an answer stands only as long as the folders that
// it depends on stay as they were, those that were not there too; while one is
// changing no answer is kept.
func TestAnAnswerDependsOnFolders(t *testing.T) {
	base := t.TempDir()
	dir, locks, none := filepath.Join(base, "e"), filepath.Join(base, "the locks é"), filepath.Join(base, "none")
	now := time.Now()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, allowed bool) {
		t.Helper()
		if got := Allowed(dir, "S1", "/p/a.go", now, time.Hour); got != allowed {
			t.Errorf("%s: allowed %v", what, got)
		}
	}
	allow := func() {
		t.Helper()
		ok(Allow(dir, "S1", "/p/a.go", []Seen{{"p", Size(dir, "p")}}, now.Add(time.Minute), Watch(locks, none)...))
	}
	age := func(folder string, by time.Duration) {
		t.Helper()
		ok(os.Chtimes(folder, now.Add(-by), now.Add(-by)))
	}
	ok(os.Mkdir(locks, 0o700))
	age(locks, time.Hour)
	ok(Raise(dir, "p"))
	allow()
	want("nothing changed", true)
	age(locks, 30*time.Minute)
	want("a folder changed", false)
	allow()
	want("asked again", true)
	ok(os.Mkdir(none, 0o700))
	age(none, time.Hour)
	want("a folder was made", false)
	allow()
	want("with both", true)
	ok(os.Remove(none))
	want("a folder was removed", false)
	ok(Forget(dir, "S1"))
	age(locks, 0)
	allow()
	want("it changed this very moment", false)
	age(locks, -time.Hour)
	allow()
	want("it changed in the future", false)
	age(locks, time.Hour)
	ok(Allow(dir, "S1", "/p/a.go", []Seen{{"p", Size(dir, "p")}}, now.Add(time.Minute), Watch(filepath.Join(base, strings.Repeat("x", maxMark)))...))
	want("more than is kept", false)
}
