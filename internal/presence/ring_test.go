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
