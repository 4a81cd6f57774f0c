package presence

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

var (
	ctx = context.Background()
	t0  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

const (
	bob   = event.ID("01BOB")
	lease = time.Minute
)

func open1(t *testing.T) *Store {
	t.Helper()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "live.db"))
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

func key(session string) Key { return Key{Process: Self(), Session: session} }

func (k Key) gone() Key {
	k.Process = roster.Process{PID: 1<<22 - 2, Start: 1, Host: proc.Host()}
	return k
}

// ok fails the test on an error; list1 does so for a call that gives ids.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func list1(t *testing.T) func([]event.ID, error) []event.ID {
	return func(ids []event.ID, err error) []event.ID {
		t.Helper()
		ok(t, err)
		return ids
	}
}

// hold brings an offer of the message m to a stage.
func hold(t *testing.T, s *Store, k Key, stage Stage) {
	t.Helper()
	first := stage
	if stage > Handed {
		first = Reserved
	}
	list1(t)(s.Offer(ctx, bob, k, []event.ID{"m"}, 1, first, lease, t0))
	if stage > Handed {
		ok(t, s.Printed(ctx, bob, k, []event.ID{"m"}, stage, lease, t0))
	}
}

// holds says who holds the message m, and in which stage.
func holds(t *testing.T, s *Store) (Key, Stage) {
	t.Helper()
	list, err := s.Offers(ctx, bob)
	ok(t, err)
	for _, o := range list {
		if o.Message == "m" {
			return o.Key, o.Stage
		}
	}
	return Key{}, Reserved - 1
}

// TestWhoMayBeGivenWhat: an offer in each stage, and who may be given the
// message next.
func TestWhoMayBeGivenWhat(t *testing.T) {
	mine, other := key("S1"), key("S2")
	for _, row := range []struct {
		stage                         Stage
		holder                        Key
		after                         time.Duration
		never, lost, everything, take bool // granted to mine
	}{
		{Handed, mine, 0, false, true, true, true},
		{Reserved, mine, 0, false, false, true, true},
		{Passed, mine, 0, false, false, true, true},
		{InRound, mine, 0, false, false, true, true},
		{Passed, mine, lease, true, true, true, true}, // over
		{Handed, other, 0, false, false, false, false},
		{Reserved, other, lease - time.Second, false, false, false, false},
		{Passed, other, lease - time.Second, false, false, false, false},
		{Passed, other, lease, true, true, true, true},
		{Handed, other, -time.Hour, true, true, true, true}, // the clock jumped back
		{Passed, other.gone(), 0, true, true, true, true},
		{Passed, mine.gone(), 0, true, true, true, true},
	} {
		for i, want := range []bool{row.never, row.lost, row.everything, row.take} {
			s := open1(t)
			now := t0.Add(row.after)
			var got []event.ID
			hold(t, s, row.holder, row.stage)
			if i < 3 {
				got = list1(t)(s.Reserve(ctx, bob, mine, []event.ID{"m", "n"}, Again(i), lease, now))
			} else {
				got = list1(t)(s.Offer(ctx, bob, mine, []event.ID{"m", "n"}, 2, Handed, lease, now))
			}
			if slices.Contains(got, "m") != want || !slices.Contains(got, "n") {
				t.Errorf("stage %d held by %s (%d) after %s, way %d: %v", row.stage, row.holder.Session, row.holder.Process.PID, row.after, i, got)
			}
		}
	}
}

// TestStages: what brings an offer forward, and what proves it.
func TestStages(t *testing.T) {
	mine, other := key("S1"), key("S2")
	s := open1(t)
	proved := func(k Key, endOfTurn bool) int {
		t.Helper()
		return len(list1(t)(s.Proved(ctx, bob, k, endOfTurn)))
	}
	m := []event.ID{"m"}
	for _, row := range []struct {
		begin         Stage
		step          func() error
		after         Stage
		byMove, byEnd bool
	}{
		{Reserved, func() error { return nil }, Reserved, false, false},
		{Reserved, func() error { return s.Printed(ctx, bob, other, m, Passed, lease, t0) }, Reserved, false, false},
		{Reserved, func() error { return s.Pass(ctx, bob, mine, m, Passed) }, Reserved, false, false}, // a result with its id is not its print
		{Reserved, func() error { return s.Printed(ctx, bob, mine, m, Passed, lease, t0) }, Passed, true, true},
		{Reserved, func() error { return s.Printed(ctx, bob, mine, m, InRound, lease, t0) }, InRound, false, true},
		{Handed, func() error { return s.Printed(ctx, bob, mine, m, Passed, lease, t0) }, Handed, false, false},
		{Handed, func() error { return s.Pass(ctx, bob, other, m, Passed) }, Handed, false, false},
		{Handed, func() error { return s.Pass(ctx, bob, mine, m, Passed) }, Passed, true, true},
		{Handed, func() error { return s.Pass(ctx, bob, mine, m, InRound) }, InRound, false, true},
		{Handed, func() error { return s.EndRound(ctx, bob, mine) }, Handed, false, false},
		{InRound, func() error { return s.EndRound(ctx, bob, other) }, InRound, false, true},
		{InRound, func() error { return s.EndRound(ctx, bob, mine) }, Passed, true, true},
	} {
		ok(t, s.Drop(ctx, bob, m))
		hold(t, s, mine, row.begin)
		ok(t, row.step())
		if k, stage := holds(t, s); k != mine || stage != row.after {
			t.Errorf("%+v: stage %d", row, stage)
		}
		if proved(mine, false) == 1 != row.byMove || proved(mine, true) == 1 != row.byEnd || proved(other, true) != 0 {
			t.Errorf("%+v: proved by a move %d, by the end %d", row, proved(mine, false), proved(mine, true))
		}
	}
}

// TestWhoLeavesHoldsNothing: nor does whoever else held the conversation.
func TestWhoLeavesHoldsNothing(t *testing.T) {
	mine, other := key("S1"), key("S2")
	s := open1(t)
	hold(t, s, mine, Passed)
	ok(t, s.Release(ctx, bob, mine))
	if k, _ := holds(t, s); k != mine {
		t.Error("it released its own")
	}
	ok(t, s.Release(ctx, "01ANA", other))
	ok(t, s.Leave(ctx, bob, mine.Process, Server))
	ok(t, s.Leave(ctx, "01ANA", mine.Process, Client))
	if k, _ := holds(t, s); k != mine {
		t.Error("others took it away")
	}
	ok(t, s.Leave(ctx, bob, mine.Process, Client))
	if k, _ := holds(t, s); k == mine {
		t.Error("it left and holds on")
	}
	hold(t, s, mine, Passed)
	ok(t, s.Release(ctx, bob, other))
	if k, _ := holds(t, s); k == mine {
		t.Error("somebody else has the conversation, and it holds on")
	}
}

// TestLeasesDoNotRunInTurns: from the end of the turn it is a whole lease; a
// reservation always runs.
func TestLeasesDoNotRunInTurns(t *testing.T) {
	mine := key("S1")
	s := open1(t)
	ok(t, s.Enter(ctx, Life{Agent: bob, Process: mine.Process, Role: Client, Session: "S1", Status: Busy, StatusAt: t0, Since: t0}))
	leased := func(after time.Duration) bool {
		t.Helper()
		list, err := s.Offers(ctx, bob)
		ok(t, err)
		return len(list) == 1 && list[0].Leased(t0.Add(after))
	}
	hold(t, s, mine, Reserved)
	if !leased(lease-time.Second) || leased(lease) {
		t.Error("a reservation does not end in time")
	}
	hold(t, s, mine, Passed)
	if !leased(100 * time.Hour) {
		t.Error("the lease ran in a turn")
	}
	ok(t, s.SetStatus(ctx, bob, mine.Process, Waiting, t0.Add(time.Hour)))
	if !leased(100 * time.Hour) {
		t.Error("the lease ran while the user was asked")
	}
	for _, again := range []time.Duration{2 * time.Hour, 2*time.Hour + 30*time.Second} { // said twice
		ok(t, s.SetStatus(ctx, bob, mine.Process, Idle, t0.Add(again)))
		if end := 2*time.Hour + lease; !leased(end-time.Second) || leased(end) {
			t.Error("the lease is not a whole one from the end of the turn")
		}
	}
	status, offers, err := s.Session(ctx, bob, mine)
	if err != nil || status != Idle || len(offers) != 1 {
		t.Errorf("%s, %v, %v", status, offers, err)
	}
	if status, offers, err = s.Session(ctx, bob, key("S2")); err != nil || len(offers) != 0 {
		t.Errorf("%s, %v, %v", status, offers, err)
	}
}
