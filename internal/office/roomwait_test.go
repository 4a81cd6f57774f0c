package office

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/room"
)

// waiting lets somebody wait in the background, and returns once it does.
func (d *desk) waiting(ctx context.Context, c Caller, s Sitting, w Waiting) <-chan Waited {
	d.t.Helper()
	done, begun := make(chan Waited, 1), make(chan bool, 1)
	w.Waiting = func(RoomView) { begun <- true }
	go func() {
		got, err := d.RoomWait(ctx, c, s, w)
		if err != nil {
			got.Status = err.Error()
		}
		done <- got
	}()
	select {
	case <-begun:
	case got := <-done:
		d.t.Fatalf("%s does not wait: %+v", c.Agent.Name, got)
	case <-time.After(patience):
		d.t.Fatalf("%s does not begin to wait", c.Agent.Name)
	}
	return done
}

func wait(t *testing.T, done <-chan Waited) Waited {
	t.Helper()
	select {
	case got := <-done:
		return got
	case <-time.After(patience):
		t.Fatal("still waiting")
		return Waited{}
	}
}

// never keeps waiters from looking by themselves, so that only bells wake them.
func never(t *testing.T) {
	old := sweepEvery
	sweepEvery = time.Hour
	t.Cleanup(func() { sweepEvery = old })
}

// TestWaking: a post wakes whom it addresses in another process, by its bell
// alone, and nobody else.
func TestWaking(t *testing.T) {
	never(t)
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	desks := d.several(3)
	waitBob := desks[0].waiting(ctx, bob, in("r"), Waiting{Timeout: 2 * patience})
	waitCarla := desks[1].waiting(ctx, carla, in("r"), Waiting{Timeout: 2 * patience})
	v, err := d.RoomShow(ctx, ana, in("r"))
	if err != nil || !v.Members[1].Waiting || !v.Members[2].Waiting || v.Members[0].Waiting {
		t.Errorf("%+v, %v", v.Members, err)
	}
	d.said(ana, in("r"), "@bob hello")
	if got := wait(t, waitBob); got.Status != RoomYourTurn || !slices.Equal(texts(got.Entries), []string{"@bob hello"}) {
		t.Errorf("%+v", got)
	}
	// Bob has the floor and nothing new: told at once, every time.
	if got, err := desks[0].RoomWait(ctx, bob, in("r"), Waiting{}); err != nil || got.Status != RoomYourTurn || len(got.Entries) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	desks[0].said(bob, in("r"), "@ana @carla hello")
	if got := wait(t, waitCarla); got.Status != RoomReceived || !slices.Equal(texts(got.Entries), []string{"@bob hello", "@ana @carla hello"}) || got.Room.Holder != "ana" {
		t.Errorf("%+v", got)
	}
	turn := desks[1].waiting(ctx, carla, in("r"), Waiting{For: ForTurn, Timeout: 2 * patience})
	d.said(ana, in("r"), "@bob to you")
	if got := wait(t, turn); got.Status != RoomYourTurn {
		t.Errorf("%+v", got)
	}
	// Cancelled: nothing is consumed, nobody waits any more.
	cancelled, cancel := context.WithCancel(ctx)
	gone := desks[2].waiting(cancelled, ana, in("r"), Waiting{For: ForTurn, Timeout: 2 * patience})
	cancel()
	if got := wait(t, gone); got.Status != context.Canceled.Error() {
		t.Errorf("%+v", got)
	}
	if held := d.heldIn(ctx, v.ID); len(held) != 0 {
		t.Errorf("%v wait", held)
	}
	// Closing ends every wait.
	last := desks[2].waiting(ctx, ana, in("r"), Waiting{For: ForTurn, Timeout: 2 * patience})
	if _, err := d.RoomClose(ctx, ana, in("r"), ""); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, last); got.Status != RoomIsClosed {
		t.Errorf("%+v", got)
	}
	if _, err := d.RoomWait(ctx, d.agent("eve"), in("r"), Waiting{}); !fault.Is(err, fault.Denied) {
		t.Errorf("a stranger waits: %v", err)
	}
	d.sound()
}

// TestWakeAll: where the room is set so, a public post wakes everybody.
func TestWakeAll(t *testing.T) {
	never(t)
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{Wake: room.WakeAll}}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	for _, c := range []Caller{ana, bob, carla} {
		if err := d.RoomShown(ctx, c, d.slice(c, in("r")).Receipt); err != nil {
			t.Fatal(err)
		}
	}
	waiting := d.beside(Options{}).waiting(ctx, carla, in("r"), Waiting{For: ForMessage, Timeout: 2 * patience})
	d.said(ana, in("r"), "@bob hello")
	if got := wait(t, waiting); got.Status != RoomReceived || len(texts(got.Entries)) != 1 {
		t.Errorf("%+v", got)
	}
	d.sound()
}

// TestTimesRunOut: a time-out loses nothing and says who is missing; what is due
// is decided by whoever looks next.
func TestTimesRunOut(t *testing.T) {
	ctx := context.Background()
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob", "carla")
	d.joined(in("r"), ana)
	got, err := d.RoomWait(ctx, ana, in("r"), Waiting{Timeout: 50 * time.Millisecond})
	if err != nil || got.Status != RoomTimeout || len(got.Room.Missing) != 2 || got.Room.More != 1 || len(got.Entries) != 0 || got.Receipt != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	// The barrier opens by itself, with whoever is there.
	clk.move(room.DefaultBarrierLimit)
	if got, err = d.RoomWait(ctx, ana, in("r"), Waiting{Timeout: -1}); err != nil || got.Status != RoomYourTurn || !got.Room.Started {
		t.Fatalf("%+v, %v", got, err)
	}
	d.joined(in("r"), bob)
	d.said(ana, in("r"), "@bob well?")
	next, err := d.SweepRooms(ctx)
	if err != nil || !next.Equal(clk.now().Add(room.DefaultTurnLimit)) {
		t.Errorf("%s, %v", next, err)
	}
	clk.move(room.DefaultTurnLimit)
	if _, err := d.SweepDue(ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := d.RoomShow(ctx, ana, in("r")); err != nil || !v.YourTurn {
		t.Errorf("%+v, %v", v, err)
	}
	// A refusal keeps what was due.
	d.said(ana, in("r"), "@bob still there?")
	clk.move(room.DefaultTurnLimit)
	_, err = d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte("nobody is meant")})
	d.want(fault.Invalid, err)
	log := d.log(ana, in("r")).Entries
	if last := log[len(log)-1]; last.Kind != room.KindLost {
		t.Errorf("%+v", last)
	}
	d.sound()
}

// TestAWaiterArmsATimer: nobody rings and nobody sweeps, and the turn of one who
// says nothing ends all the same.
func TestAWaiterArmsATimer(t *testing.T) {
	never(t)
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{TurnLimit: time.Second}}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob well?")
	if got, err := d.RoomWait(ctx, ana, in("r"), Waiting{For: ForTurn, Timeout: 2 * patience}); err != nil || got.Status != RoomYourTurn {
		t.Errorf("%+v, %v", got, err)
	}
	d.sound()
}

// TestWhoIsCalled: an idle member whose turn it is, who is addressed or who is
// invited is woken like for mail, unless a call of it waits.
func TestWhoIsCalled(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	v := d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	calls := func(c Caller) []RoomCall {
		t.Helper()
		list, err := d.RoomsFor(ctx, c.Agent.ID)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := calls(bob); len(list) != 1 || !slices.Equal(list[0].Why, []string{CallInvited}) || list[0].Position() == 0 {
		t.Fatalf("%+v", list)
	}
	d.joined(in("r"), ana, bob)
	if list := calls(bob); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	d.said(ana, in("r"), "@bob hello")
	list := calls(bob)
	if len(list) != 1 || !slices.Equal(list[0].Why, []string{CallTurn, CallAddressed}) || list[0].From != "ana" || list[0].Unread == 0 || list[0].Attended {
		t.Fatalf("%+v", list)
	}
	w, err := d.Ringable(ctx, bob.Agent.ID)
	if err != nil || w.Position != list[0].Position() || len(w.Rooms) != 1 || w.Count != 0 || !slices.Equal(w.Causes, []presence.Cause{{Sender: ana.Agent.ID, Thread: v.ID}}) {
		t.Errorf("%+v, %v", w, err)
	}
	// Given and not proved: somebody is about to.
	got := d.slice(bob, in("r"))
	if w, err := d.Ringable(ctx, bob.Agent.ID); err != nil || w.Position != 0 {
		t.Errorf("%+v, %v", w, err)
	}
	if err := d.RoomShown(ctx, bob, got.Receipt); err != nil {
		t.Fatal(err)
	}
	// A call of its own waits: nobody has to ring.
	d.said(bob, in("r"), "@ana hello")
	d.said(ana, in("r"), "@all look")
	turn := d.beside(Options{}).waiting(ctx, ana, in("r"), Waiting{For: ForTurn, Timeout: 2 * patience})
	if list := calls(ana); len(list) != 1 || !list[0].Attended {
		t.Errorf("%+v", list)
	}
	d.said(bob, in("r"), "@ana done")
	if got := wait(t, turn); got.Status != RoomYourTurn {
		t.Errorf("%+v", got)
	}
	// The human is asked: he is told, and so is the moderator's session.
	d.said(ana, in("r"), "@bob your turn")
	d.said(bob, in("r"), "@user may we?")
	if list := calls(ana); len(list) != 1 || !slices.Contains(list[0].Why, CallAddressed) || list[0].From != "bob" || !list[0].AsksUser || list[0].MayRelay {
		t.Errorf("%+v", list)
	}
	if user := calls(d.user()); len(user) != 1 || user[0].AsksUser || user[0].Handle != room.User || user[0].From != "bob" {
		t.Errorf("%+v", user)
	}
	// He answers where he saw it, without reading the room: nobody asks any more.
	d.said(d.user(), in("r"), "@bob you may")
	if user := calls(d.user()); len(user) != 0 {
		t.Errorf("answered, and still %+v", user)
	}
	// Question and answer often fall into one millisecond.
	for range 30 {
		d.said(bob, in("r"), "@user and tomorrow?")
		if user := calls(d.user()); len(user) != 1 || !slices.Contains(user[0].Why, CallAddressed) || user[0].From != "bob" {
			t.Fatalf("%+v", user)
		}
		d.said(d.user(), in("r"), "@bob yes")
		if user := calls(d.user()); len(user) != 0 {
			t.Fatalf("answered, and still %+v", user)
		}
	}
	d.sound()
}

// TestWaitingForAnAnswer: who speaks and then waits is not given what it had not
// read before in place of the answer. It comes along with that, or with the
// time-out.
func TestWaitingForAnAnswer(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{Floor: room.OpenTalk}}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	d.said(ana, in("r"), "@bob old")
	d.said(bob, in("r"), "@carla first")
	d.said(ana, in("r"), "@bob older")
	// Two turns of his are over, and something that is for him is unread.
	d.said(bob, in("r"), "@carla second")
	_, err := d.RoomWhisper(ctx, carla, in("r"), Saying{Text: []byte("psst"), To: []string{"ana"}}) // has no number for bob
	d.fine("whisper", err)
	said := d.said(bob, in("r"), "@ana and your answer?")
	got, err := d.RoomWait(ctx, bob, in("r"), Waiting{Timeout: 50 * time.Millisecond, After: said.Entry.Seq})
	if err != nil || got.Status != RoomTimeout || !slices.Equal(texts(got.Entries), []string{"@bob old", "@bob older"}) || got.Receipt == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	waiting := d.beside(Options{}).waiting(ctx, bob, in("r"), Waiting{Timeout: time.Minute, After: said.Entry.Seq})
	d.said(ana, in("r"), "@bob the answer")
	if got := wait(t, waiting); len(got.Entries) == 0 || got.Entries[len(got.Entries)-1].Text != "@bob the answer" {
		t.Errorf("%+v", got)
	}
	d.sound()
}

// TestTheRoomThatWasClosed: who names no room and is in no open one means the
// one that was closed last, and reads how.
func TestTheRoomThatWasClosed(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, eve := d.agent("ana"), d.agent("bob"), d.agent("eve")
	for _, n := range []string{"older", "newer"} {
		d.opened(ana, Opening{Name: n}, "ana", "bob")
		d.joined(in(n), ana, bob)
		if _, err := d.RoomClose(ctx, ana, in(n), n+" is over"); err != nil {
			t.Fatal(err)
		}
	}
	w, err := d.RoomWait(ctx, bob, in(""), Waiting{Timeout: -1})
	if err != nil || w.Status != RoomIsClosed || w.Room.Name != "newer" || !strings.HasSuffix(w.Entries[len(w.Entries)-1].Text, "newer is over") {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = d.RoomSay(ctx, bob, in(""), Saying{Text: []byte("@ana x")})
	d.want(fault.Conflict, err)
	_, err = d.RoomWait(ctx, eve, in(""), Waiting{Timeout: -1})
	d.want(fault.NotFound, err)
}
