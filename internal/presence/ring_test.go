package presence

import (
	"context"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
)

// What came of rings is forgotten after a while, and never so that a session is
// rung again for what it was rung for.
func TestOldRingsAreForgotten(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	pace := Pace{Apart: time.Second, Most: 20, Within: time.Minute, Again: time.Second, PerPair: 20, PerThread: 20, Hour: time.Hour}
	take := func(position event.Seq, when time.Time) bool {
		t.Helper()
		won, _, err := s.TakeRing(ctx, "ana", position, []Cause{{}}, "inbox", when, pace)
		if err == nil && won {
			err = s.Ringing(ctx, Rung{Agent: "ana", Position: position, At: when, Via: "inbox", Result: "posted"})
		}
		if err != nil {
			t.Fatal(err)
		}
		return won
	}
	rows := func() (n int) {
		t.Helper()
		err := s.d.View(ctx, func(tx *db.Tx) error {
			_, err := tx.One(`SELECT count(*) FROM ring`, nil, &n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 10 {
		if !take(event.Seq(i+1), at.Add(time.Duration(i)*time.Minute)) {
			t.Fatalf("ring %d was refused", i)
		}
	}
	late := at.Add(keepRings + 24*time.Hour)
	if take(10, late) {
		t.Error("rung again for what it was rung for long ago")
	}
	if n := rows(); n != 10 {
		t.Errorf("%d rows after a ring that was refused, want all 10", n)
	}
	if !take(11, late) {
		t.Fatal("a new message does not ring")
	}
	if n := rows(); n != 2 {
		t.Errorf("%d rows, want the newest old one and the new one", n)
	}
	if take(9, late.Add(time.Hour)) || take(10, late.Add(time.Hour)) {
		t.Error("rung again for what it was rung for long ago")
	}
	if r, found, err := s.LastRing(ctx, "ana", 11); err != nil || !found || r.Result != "posted" {
		t.Errorf("%+v, %v, %v", r, found, err)
	}
}

// A ring whose turn an error ended is no ring: it may be taken again, later,
// also where whoever rang says afterwards that a turn had begun.
func TestARingInVain(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	pace := Pace{Apart: time.Second, Most: 20, Within: time.Hour, Again: time.Second, AgainInVain: time.Minute, PerPair: 20, PerThread: 20, Hour: time.Hour}
	take := func(position event.Seq, when time.Time) (bool, time.Duration) {
		t.Helper()
		won, later, err := s.TakeRing(ctx, "ana", position, []Cause{{}}, "inbox", when, pace)
		if err != nil {
			t.Fatal(err)
		}
		return won, later
	}
	begun := func(position event.Seq) {
		t.Helper()
		if err := s.Ringing(ctx, Rung{Agent: "ana", Position: position, At: at, Via: "inbox", Result: "a turn began after 40 ms"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, after := range []func(){func() {}, func() { begun(7) }} {
		when := at.Add(time.Duration(i) * time.Hour)
		if won, _ := take(7, when); !won {
			t.Fatal("the ring was refused")
		}
		begun(7)
		if won, later := take(7, when.Add(time.Minute)); won || later != 0 {
			t.Errorf("rung twice: %v, %v", won, later)
		}
		if err := s.InVain(ctx, "ana", when.Add(2*time.Second)); err != nil {
			t.Fatal(err)
		}
		after()
		if r, _, err := s.LastRing(ctx, "ana", 7); err != nil || r.Result != RingInVain {
			t.Errorf("%+v, %v", r, err)
		}
		if won, later := take(7, when.Add(time.Minute)); won || later != 2*time.Second {
			t.Errorf("too early: %v, %v", won, later)
		}
		if won, _ := take(7, when.Add(time.Minute+2*time.Second)); !won {
			t.Error("not rung again")
		}
		if err := s.InVain(ctx, "ana", when.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.InVain(ctx, "nobody", at); err != nil {
		t.Error(err)
	}
}
