package wake

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// meeting opens a room of ana, of bob, who is a session, and of the person, with
// all of them there. ana has the floor.
func (b *bench) meeting(bob office.Caller, s room.Settings) (ana office.Caller, in office.Sitting) {
	b.t.Helper()
	ctx := context.Background()
	if _, err := b.Register(ctx, b.user, "ana", roster.Process{}); err != nil {
		b.t.Fatal(err)
	}
	ana, err := b.Identify(ctx, office.Claim{As: "ana", Ancestors: []proc.ID{}})
	if err != nil {
		b.t.Fatal(err)
	}
	in = office.Sitting{Room: "debate"}
	_, err = b.RoomOpen(ctx, b.user, office.Opening{Name: in.Room, Settings: s, Members: []office.Invitation{{Handle: "ana"}, {Handle: "bob"}, {Handle: "user"}}})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range []office.Caller{ana, bob} {
		if _, err := b.RoomJoin(ctx, c, in, office.Joining{}); err != nil {
			b.t.Fatal(err)
		}
	}
	return ana, in
}

func (b *bench) say(who office.Caller, in office.Sitting, text string) {
	b.t.Helper()
	if _, err := b.RoomSay(context.Background(), who, in, office.Saying{Text: []byte(text)}); err != nil {
		b.t.Fatal(err)
	}
}

// read gives somebody what it has not read, and proves it.
func (b *bench) read(who office.Caller, in office.Sitting) {
	b.t.Helper()
	s, err := b.RoomSlice(context.Background(), who, in, office.Taking{})
	if err == nil {
		err = b.RoomProve(context.Background(), who, s.Receipt)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestATurnRings: an idle member is rung once when its turn comes, and not while
// a call is held for it.
func TestATurnRings(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	ana, in := b.meeting(bob, room.Settings{})
	b.doorbell(f)
	f.wantQuiet(500 * time.Millisecond)
	b.say(ana, in, "@bob your turn")
	f.wantRing("bureau: room debate waits for you (")
	f.wantQuiet(time.Second)
	b.say(bob, in, "@ana and yours")
	b.read(bob, in)
	held := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := b.RoomWait(context.Background(), bob, in, office.Waiting{Timeout: time.Minute, Waiting: func(office.RoomView) { close(held) }})
		done <- err
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatalf("it does not wait, %v", err)
	}
	b.say(ana, in, "@bob again")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(2500 * time.Millisecond) // rings are this far apart at least
}

// TestRouse: whoever posts rings a member that has no server, once, whatever was
// done in the room.
func TestRouse(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	ana, in := b.meeting(bob, room.Settings{})
	time.Sleep(fresh) // since it began
	o, err := office.Open(ctx, office.Options{Home: b.Home(), Rouse: Rouse(f.getenv)})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.RoomSay(ctx, ana, in, office.Saying{Text: []byte("@bob @user hello")}); err != nil {
		t.Fatal(err)
	}
	f.wantRing("room debate")
	b.say(bob, in, "@ana well")
	if _, err := o.RoomPass(ctx, b.user, in); err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(100 * time.Millisecond) // it is ana's turn
	if _, err := o.RoomWhisper(ctx, ana, in, office.Saying{Text: []byte("for the person"), To: []string{"user"}}); err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(100 * time.Millisecond)
	time.Sleep(pace.Apart)
	if _, err := o.RoomSkip(ctx, b.user, in, "bob"); err != nil {
		t.Fatal(err)
	}
	f.wantRing("room debate")
	// What comes due is done by whoever sweeps, and rings too.
	f.status(claude.Busy)
	if _, err := o.RoomLeave(ctx, ana, in, ""); err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(100 * time.Millisecond)
}

// TestDutyInRooms: with nobody looking the server that does the machine's chores
// takes the floor from who died and from who is silent.
func TestDutyInRooms(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Busy)
	b.clock.stop() // nobody's turn runs out on a busy machine
	bob := b.session(f, "bob")
	ana, in := b.meeting(bob, room.Settings{TurnLimit: 2 * sweepEvery})
	b.say(ana, in, "@bob @user your turn")
	d := duty{next: b.Now()}
	self := presence.Life{Agent: b.user.Agent.ID, Process: presence.Self(), Role: presence.Server, Since: b.Now()}
	if wait := d.perform(ctx, b.Office, &self); wait <= 0 || wait > sweepEvery+time.Second {
		t.Errorf("it looks again in %s, and bob may die meanwhile", wait)
	}
	f.kill()
	d.deadline = b.Now() // that time has passed
	d.perform(ctx, b.Office, &self)
	v, err := b.RoomShow(ctx, ana, office.Sitting{Room: in.Room, Hooked: true})
	if err != nil || v.Holder != "user" {
		t.Errorf("%s has the floor, %v", v.Holder, err)
	}
}

// TestLoopsInRooms: two sessions that only answer each other in a room are rung
// a bounded number of times in an hour.
func TestLoopsInRooms(t *testing.T) {
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	ana, in := b.meeting(bob, room.Settings{})
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	now, rings, position := b.Now(), 0, event.Seq(0)
	for i := range 3 * pace.PerThread {
		b.say(ana, in, fmt.Sprintf("@bob %d", i))
		if i%2 == 0 { // and where it has read the words, it is still its turn
			b.read(bob, in)
		}
		w, err := b.Ringable(ctx, bob.Agent.ID)
		if err != nil || len(w.Rooms) != 1 || w.Position <= position {
			t.Fatalf("%+v, %v", w, err)
		}
		now, position = now.Add(pace.Within/time.Duration(pace.Most)), w.Position
		won, _, err := live.TakeRing(ctx, bob.Agent.ID, w.Position, w.Causes, Inbox, now, pace)
		if err != nil {
			t.Fatal(err)
		}
		if won {
			rings++
		}
		b.say(bob, in, fmt.Sprintf("@ana %d", i))
	}
	if rings == 0 || rings > pace.PerThread {
		t.Errorf("%d rings", rings)
	}
	b.say(ana, in, "@user help")
	b.say(b.user, in, "@bob stop")
	w, err := b.Ringable(ctx, bob.Agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	if won, later, err := live.TakeRing(ctx, bob.Agent.ID, w.Position, w.Causes, Inbox, now.Add(pace.Apart), pace); !won || err != nil {
		t.Errorf("the person is held back for %s, %v", later, err)
	}
}
