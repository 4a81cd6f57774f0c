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

// What the budget holds back is kept with its reason until it may ring, and says
// nothing of what is newer.
func TestHeldRings(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	pace := Pace{Apart: time.Second, Most: 5, Within: 10 * time.Minute, Again: time.Second, PerPair: 2, PerThread: 3, Hour: time.Hour}
	now := at
	take := func(agent event.ID, position event.Seq, c Cause) bool {
		t.Helper()
		now = now.Add(time.Minute)
		won, later, err := s.TakeRing(ctx, agent, position, []Cause{c}, "inbox", now, pace)
		if err == nil && won {
			err = s.Ringing(ctx, Rung{Agent: agent, Position: position, At: now, Via: "inbox", Result: "posted"})
		}
		if err != nil || !won && later <= 0 {
			t.Fatal(err, later)
		}
		return won
	}
	held := func(agent event.ID, position event.Seq) string {
		t.Helper()
		h, found, err := s.HeldBack(ctx, agent, position, now)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return ""
		}
		return h.Until.Sub(at).String() + " " + h.Why
	}
	strained := func(agent event.ID) bool {
		t.Helper()
		is, err := s.Strained(ctx, agent, now, pace)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if !take("ana", 1, Cause{"bob", "t1"}) || strained("ana") || !take("ana", 2, Cause{"bob", "t1"}) || !strained("ana") || strained("carla") {
		t.Fatal("two rings for one sender")
	}
	if take("ana", 3, Cause{"bob", "t2"}) {
		t.Fatal("a third one for the same sender")
	}
	if got := held("ana", 3); got != "1h1m0s 2 rings for one sender in 1 h" {
		t.Error(got)
	}
	if held("ana", 2) == "" || held("ana", 4) != "" || held("carla", 1) != "" {
		t.Error("it is held back up to position 3, and nobody else")
	}
	if !take("carla", 3, Cause{"dan", "t1"}) || take("carla", 4, Cause{"dan", "t1"}) {
		t.Fatal("four rings for one thread")
	}
	if got := held("carla", 4); got != "1h1m0s 3 rings for one thread in 1 h" {
		t.Error(got)
	}
	// What may ring ends it.
	if !take("ana", 4, Cause{}) || held("ana", 3) != "" {
		t.Error("the person's mail is held back")
	}
	for i := range 2 {
		if !take("ana", event.Seq(5+i), Cause{}) {
			t.Fatal("too early")
		}
	}
	if take("ana", 7, Cause{}) {
		t.Fatal("six rings")
	}
	if got := held("ana", 7); got != "11m0s 5 rings in 10 min" {
		t.Error(got)
	}
	now = at.Add(11 * time.Minute)
	if held("ana", 7) != "" {
		t.Error("its time is over")
	}
}

// A ring whose turn was broken off may be taken once more, not twice.
func TestBrokenOffRings(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	pace := Pace{Apart: time.Second, Most: 20, Within: time.Minute, Again: time.Minute, PerPair: 20, PerThread: 20, Hour: time.Hour}
	now := at
	take := func() bool {
		t.Helper()
		now = now.Add(10 * time.Second)
		won, _, err := s.TakeRing(ctx, "ana", 7, nil, "inbox", now, pace)
		if err != nil {
			t.Fatal(err)
		}
		return won
	}
	result := func(words string) {
		t.Helper()
		if err := s.Ringing(ctx, Rung{Agent: "ana", Position: 7, At: now, Via: "inbox", Result: words}); err != nil {
			t.Fatal(err)
		}
	}
	broken := func() {
		t.Helper()
		for range 3 { // whoever looks says so
			if err := s.BrokenOff(ctx, "ana", 7); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !take() {
		t.Fatal("the first ring")
	}
	broken() // nobody knows yet what becomes of it
	result("a turn began after 600 ms")
	if take() {
		t.Fatal("rung twice")
	}
	broken()
	if !take() {
		t.Fatal("its turn was broken off, and it is not rung once more")
	}
	result("a turn began after 500 ms")
	broken()
	if take() {
		t.Error("rung a third time")
	}
	if r, _, err := s.LastRing(ctx, "ana", 7); err != nil || r.Result != RingBroken {
		t.Errorf("%+v, %v", r, err)
	}
	result(RingFailed + ": no socket")
	broken()
	if r, _, err := s.LastRing(ctx, "ana", 7); err != nil || r.Result != RingFailed+": no socket" {
		t.Errorf("%+v, %v", r, err)
	}
}
