package wake

import (
	"context"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Two agents cannot wake each other for ever, neither in one thread nor always
// in new ones; others' mail still wakes them, and the person's always does.
func TestBudgetAgainstLoops(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	now, position := b.Now(), event.Seq(0)
	ring := func(agent event.ID, causes ...presence.Cause) (bool, time.Duration) {
		t.Helper()
		// Far enough apart that only the budget counts.
		now, position = now.Add(time.Minute), position+1
		won, later, err := live.TakeRing(ctx, agent, position, causes, Inbox, now, pace)
		if err != nil {
			t.Fatal(err)
		}
		return won, later
	}
	for i := range pace.PerPair {
		if won, later := ring("A", presence.Cause{Sender: "B", Thread: event.ID(rune('a' + i))}); !won {
			t.Fatalf("ring %d for the pair: not before %s", i, later)
		}
	}
	loop := presence.Cause{Sender: "B", Thread: "new"}
	if won, later := ring("A", loop); won || later <= 0 || later > pace.Hour {
		t.Errorf("ring %d for the pair: %v, %s", pace.PerPair+1, won, later)
	}
	if won, _ := ring("A", loop, presence.Cause{Sender: "C", Thread: "c"}); !won {
		t.Error("another sender is held back too")
	}
	if won, _ := ring("A", loop, presence.Cause{}); !won {
		t.Error("the person is held back too")
	}
	now = now.Add(pace.Hour)
	if won, _ := ring("A", loop); !won {
		t.Error("an hour later it is still held back")
	}
	// One thread with many participants: no pair is over its budget.
	now = now.Add(pace.Hour)
	agents := []event.ID{"A", "B", "C", "D"}
	for i := range pace.PerThread {
		if won, later := ring(agents[i%4], presence.Cause{Sender: agents[(i+1)%4], Thread: "round"}); !won {
			t.Fatalf("ring %d for the thread: not before %s", i, later)
		}
	}
	if won, _ := ring("A", presence.Cause{Sender: "B", Thread: "round"}); won {
		t.Errorf("ring %d for the thread", pace.PerThread+1)
	}
}

// What waits is told with who wrote it, the newest first; the person's mail
// stands outside of the budget.
func TestCauses(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	for _, n := range []string{"ana", "bob"} {
		if _, err := b.Register(ctx, b.user, n, roster.Process{}); err != nil {
			t.Fatal(err)
		}
	}
	b.send("bob", "from the person")
	ana, err := b.Identify(ctx, office.Claim{As: "ana", Ancestors: []proc.ID{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Send(ctx, ana, office.Letter{To: []string{"bob"}, Body: []byte("from ana")}); err != nil {
		t.Fatal(err)
	}
	s, err := b.Ringable(ctx, b.agent("bob"))
	if err != nil || s.Count != 2 || len(s.Causes) != 2 || s.Causes[0].Sender != b.agent("ana") || s.Causes[1] != (presence.Cause{}) {
		t.Errorf("%+v, %v", s, err)
	}
}
