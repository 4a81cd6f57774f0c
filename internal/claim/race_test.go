package claim

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
)

// TestOneOfficeWins: several offices begin with one file, and each claims it,
// writes its lock and looks again, in whatever order the steps fall: exactly one
// of them may. Before that each had locks of its own for long or for a moment.
func TestOneOfficeWins(t *testing.T) {
	type office struct {
		book         *Book
		agent        event.ID
		began        time.Time // since when it has its lock
		wrote        time.Time
		passed, done bool
	}
	w := Want{Paths: []Pattern{"n.txt"}, Mode: Exclusive, Tree: "/p"}
	rapid.Check(t, func(t *rapid.T) {
		clock := start
		tick := func() time.Time { clock = clock.Add(time.Millisecond); return clock }
		var all []*office
		for i := range rapid.IntRange(2, 4).Draw(t, "offices") {
			began := start.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "age")) * time.Minute)
			all = append(all, &office{book: NewBook(), agent: event.ID(fmt.Sprintf("agent%d", i)), began: began})
		}
		lock := func(o *office) Foreign {
			f := Foreign{Name: string(o.agent), Claim: o.agent, Tree: "/p", Since: o.began, Paths: []Pattern{"first"}, Times: []time.Time{o.began}}
			if !o.wrote.IsZero() {
				f.Paths, f.Times = append(f.Paths, "n.txt"), append(f.Times, o.wrote)
			}
			return f
		}
		look := func(o *office) bool {
			ask := Beside{Paths: []string{"n.txt"}, Tree: "/p", Own: []Foreign{lock(o)}, New: []event.ID{"new"}}
			var ev Evidence
			for _, other := range all {
				if other != o {
					ev.Foreign = append(ev.Foreign, lock(other))
				}
			}
			_, err := Decide(o.book, By{Agent: o.agent}, ask, clock, ev)
			return err == nil
		}
		for left := 3 * len(all); left > 0; left-- {
			var can []*office
			for _, o := range all {
				if !o.done {
					can = append(can, o)
				}
			}
			o := rapid.SampledFrom(can).Draw(t, "who")
			now := tick()
			switch _, claimed, _ := o.book.Claim("new"); {
			case !claimed:
				c := Claim{ID: "new", Holder: o.agent, Want: w, Auto: true, Since: now, Renewed: now, TTL: time.Hour}
				if err := o.book.Put(c); err != nil {
					t.Fatal(err)
				}
			case o.wrote.IsZero():
				o.wrote = now
			default:
				o.done = true
				if o.passed = look(o); !o.passed {
					o.wrote = time.Time{} // it gives its claim back
				}
			}
		}
		passed := 0
		for _, o := range all {
			if o.passed {
				passed++
				if !look(o) {
					t.Fatalf("%s has it and may not go on", o.agent)
				}
			}
		}
		if passed != 1 {
			t.Fatalf("%d may edit the file", passed)
		}
	})
}
