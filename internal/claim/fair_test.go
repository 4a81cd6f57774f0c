package claim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
)

// TestNobodyStarves: while holders release in finite time, everybody who waits
// gets what it wants, at the latest when all that asked before have had it.
func TestNobodyStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		people := []*soul{w.soul("ana"), w.soul("bob"), w.soul("carla"), w.soul("dan")}
		type wish struct {
			take  Take
			until int // the round in which it has to be served
			holds int // rounds that it then holds on
		}
		wishes := map[event.ID]*wish{}
		holding := map[event.ID]int{} // claim -> the round in which it is released
		served := 0
		for round := 0; round < 120; round++ {
			w.wall, w.awake = w.wall.Add(time.Second), w.awake+time.Second
			for _, s := range people {
				s.seen, s.seenAt = w.wall, w.awake
			}
			for _, c := range w.book.Live() {
				if holding[c.ID] <= round {
					s := w.soul(c.Holder)
					if _, err := w.do(t, s, false, Release{Claims: []event.ID{c.ID}}, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			order := rapid.Permutation(people).Draw(t, "order")
			for _, s := range order {
				x := wishes[s.id]
				if x == nil {
					held, _ := w.book.Held(s.id)
					if len(held) > 0 || !rapid.Bool().Draw(t, "wants") {
						continue
					}
					x = &wish{take: Take{Want: drawWant(t), Intent: "x", Wait: w.id("wait"), Until: w.now().Add(time.Hour)},
						until: round + 3*4*len(people), holds: rapid.IntRange(1, 3).Draw(t, "holds")}
					wishes[s.id] = x
				}
				x.take.ID = w.id("claim")
				d, err := w.do(t, s, false, x.take, nil)
				if err != nil {
					t.Fatalf("%s: %v", s.id, err)
				}
				if d.Wait == nil {
					holding[d.Claim.ID] = round + x.holds
					delete(wishes, s.id)
					served++
				} else if round > x.until {
					t.Fatalf("%s has waited since round %d for %v", s.id, x.until-3*4*len(people), x.take.Want)
				}
			}
		}
		if served == 0 {
			t.Fatal("nobody wanted anything")
		}
	})
}

// TestWaitersArePassedABoundedNumberOfTimes: people who hold parts of what
// somebody waits for, take more of it without standing in line, change what
// they hold and give every claim up after a few rounds get in its way only as
// long as what they held before stands.
func TestWaitersArePassedABoundedNumberOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const longest = 3 // rounds that a claim is held
		w := newWorld()
		pushy := []*soul{w.soul("ana"), w.soul("ana.1"), w.soul("carla"), w.soul("dan")}
		waiter := w.soul("bob")
		due := map[event.ID]int{} // claim -> the round in which it is released
		parts := []Pattern{"src/a.go", "src/b.go", "doc", "src"}
		push := func(round int) {
			for _, s := range pushy {
				for range rapid.IntRange(0, 2).Draw(t, "takes") {
					p := rapid.SampledFrom(parts).Draw(t, "part")
					var c Command = Take{ID: w.id("claim"), Want: Want{Paths: []Pattern{p}, Mode: Exclusive, Tree: "/p"}, Intent: "x"}
					held, _ := w.book.Held(s.id)
					if len(held) > 0 && rapid.Bool().Draw(t, "changes") {
						c = Change{Claim: rapid.SampledFrom(held).Draw(t, "claim").ID, Want: &Want{Paths: []Pattern{p}, Mode: Exclusive, Tree: "/p"}}
					}
					_, _ = w.do(t, s, false, c, nil)
				}
			}
			for _, c := range w.book.Live() {
				if _, known := due[c.ID]; !known {
					due[c.ID] = round + rapid.IntRange(1, longest).Draw(t, "holds")
				}
			}
		}
		push(0)
		want := Take{Want: Want{Paths: []Pattern{"src", "doc"}, Mode: Exclusive, Tree: "/p"}, Intent: "all", Wait: w.id("wait"), Until: start.Add(24 * time.Hour)}
		// What was there is gone after the longest time, and so is what passed
		// the waiter until then after as long again; a subagent may still do
		// what its main agent holds.
		for round := 1; ; round++ {
			want.ID = w.id("claim")
			d, err := w.do(t, waiter, false, want, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d.Wait == nil {
				return
			}
			if round > 3*longest+1 {
				t.Fatalf("bob waits in round %d, behind %+v", round, d.Blocks)
			}
			push(round)
			w.wall, w.awake = w.wall.Add(time.Second), w.awake+time.Second
			for _, c := range w.book.Live() {
				if due[c.ID] <= round {
					if _, err := w.do(t, w.soul(c.Holder), false, Release{Claims: []event.ID{c.ID}}, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// TestASubagentStandsInLine: what its main agent holds lets a subagent pass who
// waits for that, and nobody who waits for something else.
func TestASubagentStandsInLine(t *testing.T) {
	n := newNest()
	take := func(who string, w Want, wait bool) error {
		w.Mode, w.Tree = Exclusive, "/p"
		k := Take{ID: n.id("claim"), Want: w, Intent: "x"}
		if wait {
			k.Wait, k.Until = n.id("wait"), n.now.Add(time.Hour)
		}
		_, err := n.do(t, "/p", who, k)
		return err
	}
	src, gpu := Want{Paths: []Pattern{"src"}}, Want{Resources: []Resource{"gpu:0"}}
	if err := take("ana", src, false); err != nil {
		t.Fatal(err)
	}
	if err := take("tim", gpu, false); err != nil {
		t.Fatal(err)
	}
	if err := take("bob", gpu, true); err != nil {
		t.Fatal(err)
	}
	held, _ := n.books["/p"].Held("tim")
	if _, err := n.do(t, "/p", "tim", Release{Claims: []event.ID{held[0].ID}}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Want{gpu, {Paths: []Pattern{"src/a.go"}, Resources: gpu.Resources}} {
		if err := take("ana.sub", w, false); err == nil {
			t.Errorf("%+v: it passed bob, who waits for the GPU", w)
		}
	}
	if err := take("bob", src, true); err != nil {
		t.Fatal(err)
	}
	if err := take("ana.sub", Want{Paths: []Pattern{"src/a.go"}}, false); err != nil {
		t.Errorf("its main agent holds that: %v", err)
	}
}
