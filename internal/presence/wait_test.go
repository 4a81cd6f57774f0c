package presence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"bureau/internal/event"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "run", "live.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// gone names a process that does not run.
func gone(n int) roster.Process {
	return roster.Process{PID: 1<<22 - 1 - n, Start: 1, Host: proc.Host()}
}

func always(event.ID, event.ID) (bool, error) { return true, nil }

// TestCircles builds random waits one after the other and compares each verdict
// with a plain search: a wait is refused exactly if its asker is waited for,
// over however many others, by the one it asks.
func TestCircles(t *testing.T) {
	ctx := context.Background()
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newStore(t)
		settled := map[event.ID]bool{}
		var all []Wait
		open := func(q, _ event.ID) (bool, error) { return !settled[q], nil }
		counts := func(w Wait) bool { return !settled[w.Question] && Verdict(w.Process) != roster.Gone }
		// reaches reports whether from waits, over others, for to.
		var reaches func(from, to event.ID, seen map[event.ID]bool) bool
		reaches = func(from, to event.ID, seen map[event.ID]bool) bool {
			if seen[from] {
				return false
			}
			seen[from] = true
			for _, w := range all {
				if w.Asker == from && counts(w) && (w.Asked == to || reaches(w.Asked, to, seen)) {
					return true
				}
			}
			return false
		}
		refused := 0
		for n := range 60 {
			asker, asked := rng.IntN(7), rng.IntN(6)
			if asked >= asker {
				asked++
			}
			w := Wait{
				Question: event.ID(fmt.Sprint("Q", n)), Asker: event.ID(fmt.Sprint("A", asker)), Asked: event.ID(fmt.Sprint("A", asked)), Process: Self(),
			}
			if rng.IntN(5) == 0 {
				w.Process = gone(n)
			}
			want := reaches(w.Asked, w.Asker, map[event.ID]bool{})
			circle, err := s.Begin(ctx, w, open)
			if err != nil || (len(circle) > 0) != want {
				t.Fatalf("seed %d: %s asks %s: %v, %v; want refused %v", seed, w.Asker, w.Asked, circle, err, want)
			}
			if want {
				refused++
				checkCircle(t, w, circle, counts)
			} else {
				all = append(all, w)
			}
			switch rng.IntN(4) {
			case 0:
				settled[all[rng.IntN(len(all))].Question] = true
			case 1:
				i := rng.IntN(len(all))
				if err := s.End(ctx, all[i].Question, all[i].Process); err != nil {
					t.Fatal(err)
				}
				all = append(all[:i], all[i+1:]...)
			}
			if len(all) == 0 {
				all = append(all, Wait{Question: "none", Process: gone(0)})
			}
		}
		if refused == 0 {
			t.Errorf("seed %d: no circle was closed", seed)
		}
	}
}

// checkCircle follows a circle: it begins with the wait for the refused asker
// and runs backwards to the one that it asks.
func checkCircle(t *testing.T, w Wait, circle []Wait, counts func(Wait) bool) {
	t.Helper()
	next := w.Asker
	for _, x := range circle {
		if !counts(x) {
			t.Fatalf("the circle %v counts a wait that is over: %v", circle, x)
		}
		if x.Asked != next {
			t.Fatalf("the circle %v is broken at %v", circle, x)
		}
		next = x.Asker
	}
	if next != w.Asked {
		t.Fatalf("the circle %v does not lead to %s", circle, w.Asked)
	}
}

// TestTheSameQuestionAgain: the question that is waited for already is no link
// of its own circle.
func TestTheSameQuestionAgain(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	w := Wait{Question: "Q", Asker: "ana", Asked: "bob", Process: Self()}
	for range 2 {
		if circle, err := s.Begin(ctx, w, always); err != nil || len(circle) > 0 {
			t.Fatalf("%v, %v", circle, err)
		}
	}
	if list, err := s.Waits(ctx); err != nil || len(list) != 1 || list[0].Question != "Q" {
		t.Fatalf("%v, %v", list, err)
	}
}

// TestBeginMayLookBack: the question whether others are open may look into this
// store itself, and an error of it records nothing.
func TestBeginMayLookBack(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	if _, err := s.Begin(ctx, Wait{Question: "Q1", Asker: "ana", Asked: "bob", Process: Self()}, always); err != nil {
		t.Fatal(err)
	}
	back := Wait{Question: "Q2", Asker: "bob", Asked: "ana", Process: Self()}
	broken := errors.New("broken")
	if _, err := s.Begin(ctx, back, func(q, asked event.ID) (bool, error) { return false, broken }); err != broken {
		t.Fatal(err)
	}
	circle, err := s.Begin(ctx, back, func(q, asked event.ID) (bool, error) {
		waits, err := s.Waits(ctx)
		return len(waits) == 1, err
	})
	if err != nil || len(circle) != 1 || circle[0].Question != "Q1" {
		t.Fatalf("%v, %v", circle, err)
	}
	// Answered between the two looks: no circle any more.
	asks := 0
	circle, err = s.Begin(ctx, back, func(q, asked event.ID) (bool, error) { asks++; return asks == 1, nil })
	if err != nil || len(circle) != 0 || asks != 2 {
		t.Fatalf("%v after %d looks, %v", circle, asks, err)
	}
}
