package claim

import (
	"slices"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// TestLocksInOtherTrees: a lock counts in its own work tree, or in every one
// where it names none; in the others it is met at the merge, or is in the way
// too if the project says so.
func TestLocksInOtherTrees(t *testing.T) {
	w := Want{Paths: []Pattern{"src/**"}, Mode: Exclusive, Tree: "/p"}
	for _, c := range []struct {
		name          string
		tree          string
		path          Pattern
		stale         bool
		trees         Trees
		blocks, meets int
	}{
		{"here", "/p", "src/a.go", false, Warn, 1, 0},
		{"anywhere", "", "src/a.go", false, Warn, 1, 0},
		{"elsewhere", "/w", "src/a.go", false, Warn, 0, 1},
		{"elsewhere, denied", "/w", "src/a.go", false, Deny, 1, 1},
		{"stale", "/w", "src/a.go", true, Deny, 0, 0},
		{"another file", "/p", "doc", false, Warn, 0, 0},
		{"another file elsewhere", "/w", "doc", false, Deny, 0, 0},
	} {
		f := Foreign{Name: "x", Paths: []Pattern{c.path}, Tree: c.tree, Stale: c.stale}
		l := look{ev: &Evidence{Foreign: []Foreign{f}}, rules: Rules{Worktrees: c.trees}}
		blocks, meets := l.foreign(&w), MeetLocks([]Foreign{f}, &w)
		if len(blocks) != c.blocks || len(meets) != c.meets {
			t.Errorf("%s: %d blocks, %d meets", c.name, len(blocks), len(meets))
		}
		if want := c.blocks == 1 && c.tree != "/w"; f.Over(&w) != want {
			t.Errorf("%s: over it: %v", c.name, !want)
		}
		for _, b := range append(blocks, meets...) {
			if (b.Tree != "") != (c.tree == "/w") {
				t.Errorf("%s: in the tree %q", c.name, b.Tree)
			}
		}
	}
}

// TestBeside: what is claimed on purpose stands beside a lock that came later or
// earlier; what an edit claimed gives way to one that was there before it, or
// that does not say since when; what was overtaken gives way to any.
func TestBeside(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		auto   bool
		since  time.Duration // of the lock, after the claim
		gone   bool
		guard  Guard
		blocks int
		meets  int
	}{
		{"claimed, a later lock", false, time.Second, false, Auto, 0, 1},
		{"claimed, an older lock", false, -time.Second, false, Auto, 0, 1},
		{"edited, a later lock", true, time.Second, false, Auto, 0, 1},
		{"edited, an older lock", true, -time.Second, false, Auto, 1, 0},
		{"edited, a lock of the same moment", true, 0, false, Auto, 1, 0},
		{"overtaken", false, time.Second, true, Auto, 1, 0},
		{"no guard", true, -time.Second, false, Off, 0, 0},
	} {
		w := NewBook()
		r := DefaultRules()
		r.Guard = c.guard
		if err := w.PutRules(r); err != nil {
			t.Fatal(err)
		}
		own := Claim{ID: "C1", Holder: "ana", Want: Want{Paths: []Pattern{"src/a.go"}, Mode: Exclusive, Tree: "/p"}, Since: now, Renewed: now, TTL: time.Hour, Auto: c.auto}
		if err := w.Put(own); err != nil {
			t.Fatal(err)
		}
		ask := Beside{Paths: []string{"src/a.go", "src/free.go"}, Tree: "/p"}
		if c.gone {
			ask.Gone = []event.ID{"C1"}
		}
		ev := Evidence{Foreign: []Foreign{{Name: "x", Paths: []Pattern{"src/**"}, Tree: "/p", Since: now.Add(c.since)}}}
		d, err := Decide(w, By{Agent: "ana"}, ask, now.Add(time.Minute), ev)
		if len(d.Blocks) != c.blocks || len(d.Meets) != c.meets || (c.blocks > 0) != fault.Is(err, fault.Conflict) || len(d.Events) != 0 {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
		for _, b := range append(d.Blocks, d.Meets...) {
			if !slices.Equal(b.Overlap, []string{"src/a.go"}) {
				t.Errorf("%s: it is about %q", c.name, b.Overlap)
			}
		}
	}
}

// TestOvertake: an overtaken claim is lost, whoever notices it, and only by a
// claim of the same the holder passes again.
func TestOvertake(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, by := range []event.ID{"", "bob", "ana"} {
		w := NewBook()
		own := Claim{ID: "C1", Holder: "ana", Want: Want{Paths: []Pattern{"src/**"}, Mode: Exclusive, Tree: "/p"}, Since: now, Renewed: now, TTL: time.Hour}
		if err := w.Put(own); err != nil {
			t.Fatal(err)
		}
		d, err := Decide(w, By{Agent: by}, Overtake{Claims: []event.ID{"C1", "C0"}, Why: "its lock file was removed"}, now, Evidence{})
		if err != nil || len(d.Events) != 1 {
			t.Fatalf("by %q: %+v, %v", by, d, err)
		}
		if known, err := Apply(w, d.Events[0], now, 7); !known || err != nil {
			t.Fatal(known, err)
		}
		edit := Edit{Paths: []string{"src/a.go"}, IDs: []event.ID{"C2"}, Tree: "/p"}
		if _, err := Decide(w, By{Agent: "ana"}, edit, now, Evidence{}); !fault.Is(err, fault.Conflict) {
			t.Errorf("by %q: the edit: %v", by, err)
		}
	}
}
