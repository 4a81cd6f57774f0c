package wake

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/presence"
)

func TestLine(t *testing.T) {
	for want, count := range map[string]int{
		"bureau: 1 new message (5P0SZZ). Call inbox to read it.":            1,
		"bureau: 12 new messages (newest 5P0SZZ). Call inbox to read them.": 12,
	} {
		if got := Line(count, "01K8Z4N6T6W0G0N4Y1B75P0SZZ"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestIdleFromTheStart: level-triggered, nothing ever changes.
func TestIdleFromTheStart(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	b.doorbell(f)
	b.eventually("the sender can see the way", func() bool { l, ok := b.life(bob, presence.Server); return ok && l.Wake == Inbox })
	sent := b.send("bob", "hello")
	if sent.Recipients[0].Wake != Inbox {
		t.Errorf("wake %q", sent.Recipients[0].Wake)
	}
	f.wantRing("1 new message (" + string(sent.ID[20:]) + ")")
	f.status(claude.Busy)
	b.wantWoken("woken via inbox: a turn began after")
	// One ring per position, also when it is idle again and has not read.
	f.status(claude.Idle)
	f.wantQuiet(700 * time.Millisecond)
	if err := b.Seen(context.Background(), bob, []event.ID{sent.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	// What comes within the pace of a ring belongs to one, at the pace.
	time.Sleep(pace.Apart)
	b.clock.stop()
	sent = b.send("bob", "before")
	f.wantRing("1 new message (" + string(sent.ID[20:]) + ")")
	if err := b.Seen(context.Background(), bob, []event.ID{sent.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	b.send("bob", "one")
	last := b.send("bob", "two")
	f.wantQuiet(300 * time.Millisecond)
	b.clock.goOn()
	f.wantRing("(newest " + string(last.ID[20:]) + ")")
	f.wantQuiet(300 * time.Millisecond)
}

// TestMailBeforeTheServer: the server starts, or starts again, while mail waits.
func TestMailBeforeTheServer(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.status(claude.Busy)
	b.session(f, "bob")
	b.send("bob", "hello")
	stop := b.doorbell(f)
	f.wantQuiet(600 * time.Millisecond)
	stop()
	f.status(claude.Idle)
	f.wantQuiet(300 * time.Millisecond)
	// Two servers of one session: one ring.
	b.doorbell(f)
	b.doorbell(f)
	f.wantRing("1 new message")
	f.wantQuiet(700 * time.Millisecond)
}

// TestBusyIsNotRung: it becomes idle later, or has seen the mail by then.
func TestBusyIsNotRung(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.status(claude.Busy)
	bob := b.session(f, "bob")
	b.doorbell(f)
	b.eventually("the client's word is known", func() bool { l, _ := b.life(bob, presence.Client); return l.Status == presence.Busy })
	sent := b.send("bob", "hello")
	f.wantQuiet(500 * time.Millisecond)
	f.status(claude.Waiting)
	f.wantQuiet(500 * time.Millisecond)
	if err := b.Seen(context.Background(), bob, []event.ID{sent.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	f.status(claude.Idle)
	f.wantQuiet(700 * time.Millisecond)
	f.status(claude.Busy)
	b.eventually("the client's word is known", func() bool { l, _ := b.life(bob, presence.Client); return l.Status == presence.Busy })
	b.send("bob", "again")
	f.wantQuiet(400 * time.Millisecond)
	f.status(claude.Idle)
	f.wantRing("1 new message")
}

// TestBackground: with a subagent in the background the client stays busy while
// its conversation has come to its Stop.
func TestBackground(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	bob := b.session(f, "bob")
	status := func(s presence.Status) {
		t.Helper()
		time.Sleep(2 * time.Millisecond) // the client's times are whole milliseconds
		if err := b.SetStatus(context.Background(), bob, s); err != nil {
			t.Fatal(err)
		}
	}
	status(presence.Busy)
	f.status(claude.Busy)
	b.doorbell(f)
	b.send("bob", "hello")
	f.wantQuiet(700 * time.Millisecond)
	status(presence.Idle)
	f.wantRing("1 new message")
	if l, _ := b.life(bob, presence.Client); l.Status != presence.Idle {
		t.Errorf("the session is %s", l.Status)
	}
	f.status(claude.Busy) // and now it is at work itself
	b.send("bob", "again")
	f.wantQuiet(settled + 500*time.Millisecond)
}

// TestJustBegun: its hook is about to print what waits.
func TestJustBegun(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	b.clock.stop() // it has just begun, until the hook is done
	b.doorbell(f)
	bob := b.session(f, "bob")
	sent := b.send("bob", "hello")
	f.wantQuiet(fresh / 2)
	ids, err := b.Reserve(ctx, bob, []event.ID{sent.ID}, presence.Never)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	if err := b.Printed(ctx, bob, ids, false, office.DefaultLease); err != nil {
		t.Fatal(err)
	}
	b.clock.goOn()
	f.wantQuiet(fresh + 300*time.Millisecond)
}

// TestWhatDoesNotWake: low importance, and what is under an offer.
func TestWhatDoesNotWake(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	sent := b.send("bob", "offered")
	if _, err := b.Hand(ctx, bob, []event.ID{sent.ID}); err != nil {
		t.Fatal(err)
	}
	b.doorbell(f)
	if _, err := b.Send(ctx, b.user, office.Letter{To: []string{"bob"}, Body: []byte("when you can"), Importance: -1}); err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(800 * time.Millisecond)
}

// TestAnotherInbox: the record's socket is newer than the environment's, and
// its token is not ours.
func TestAnotherInbox(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	moved := filepath.Join(f.env["HOME"], "j.sock")
	f.listen(moved, "another")
	f.record("messagingSocketPath", moved)
	f.status(claude.Idle)
	b.session(f, "bob")
	b.doorbell(f)
	b.send("bob", "hello")
	f.wantRing("1 new message")
}

// TestNoWay: another protocol is not spoken to, and the sender learns that
// there is no way.
func TestNoWay(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.record("peerProtocol", 2)
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	b.doorbell(f)
	b.eventually("the server is there", func() bool { _, ok := b.life(bob, presence.Server); return ok })
	if sent := b.send("bob", "hello"); sent.Recipients[0].Wake != office.WakeNone {
		t.Errorf("wake %q", sent.Recipients[0].Wake)
	}
	f.wantQuiet(600 * time.Millisecond)
}

// TestPrintMode: such a session tells no status; its hooks do, and only one
// that stays is rung.
func TestPrintMode(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.record("entrypoint", claude.EntryPrint)
	bob := b.session(f, "bob")
	if err := b.SetStatus(ctx, bob, presence.Busy); err != nil {
		t.Fatal(err)
	}
	b.doorbell(f)
	b.send("bob", "hello")
	f.wantQuiet(400 * time.Millisecond)
	begun := time.Now()
	if err := b.SetStatus(ctx, bob, presence.Idle); err != nil {
		t.Fatal(err)
	}
	f.wantRing("1 new message")
	if took := time.Since(begun); took < settled-time.Millisecond { // the office counts in whole ones
		t.Errorf("it was rung %s after its Stop", took)
	}
}

// TestFailedRing: nobody listens; it is kept and tried again.
func TestFailedRing(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.record("messagingSocketPath", filepath.Join(f.env["HOME"], "none.sock"))
	f.status(claude.Idle)
	b.session(f, "bob")
	stop := b.doorbell(f)
	b.send("bob", "hello")
	b.wantWoken("woken via inbox: failed")
	stop()
	live, err := b.Live(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	mail, err := b.Ringable(context.Background(), b.agent("bob"))
	if err != nil {
		t.Fatal(err)
	}
	tried, _, err := live.LastRing(context.Background(), b.agent("bob"), mail.Position)
	if err != nil {
		t.Fatal(err)
	}
	now := tried.At
	if won, later, err := live.TakeRing(context.Background(), b.agent("bob"), mail.Position, nil, Inbox, now, pace); won || later <= 0 || err != nil {
		t.Errorf("taken again at once: %v, %v, %v", won, later, err)
	}
	if won, _, err := live.TakeRing(context.Background(), b.agent("bob"), mail.Position, nil, Inbox, now.Add(pace.Again), pace); !won || err != nil {
		t.Errorf("not taken again later: %v, %v", won, err)
	}
}

func (b *bench) agent(name string) event.ID {
	a, err := b.Who(context.Background(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.ID
}

func TestPace(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	now := b.Now()
	for i := range pace.Most {
		won, later, err := live.TakeRing(ctx, "A", event.Seq(i+1), nil, Inbox, now, pace)
		if !won || err != nil {
			t.Fatalf("ring %d: %v, %s, %v", i, won, later, err)
		}
		if err := live.Ringing(ctx, presence.Rung{Agent: "A", Position: event.Seq(i + 1), At: now, Via: Inbox, Result: "posted"}); err != nil {
			t.Fatal(err)
		}
		if won, later, _ := live.TakeRing(ctx, "A", event.Seq(i+1), nil, Inbox, now, pace); won || later != 0 {
			t.Fatalf("rung twice: %v, %s", won, later)
		}
		if won, later, _ := live.TakeRing(ctx, "A", event.Seq(i+2), nil, Inbox, now, pace); won || later < pace.Apart {
			t.Fatalf("too early: %v, %s", won, later)
		}
		now = now.Add(pace.Apart)
	}
	won, later, err := live.TakeRing(ctx, "A", 1000, nil, Inbox, now, pace)
	if won || err != nil || later < 9*time.Minute {
		t.Errorf("ring %d: %v, %s, %v", pace.Most+1, won, later, err)
	}
	if won, _, _ := live.TakeRing(ctx, "B", 1000, nil, Inbox, now, pace); !won {
		t.Error("another agent is held back too")
	}
}

// TestAfterSend: the sender rings who has no server, once.
func TestAfterSend(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	b.session(f, "bob")
	time.Sleep(fresh) // since it began
	sent := b.send("bob", "hello")
	AfterSend(ctx, b.Office, f.getenv, sent.Recipients)
	if sent.Recipients[0].Wake != Inbox {
		t.Errorf("wake %q", sent.Recipients[0].Wake)
	}
	f.wantRing("1 new message")
	b.wantWoken("woken via inbox: posted")
	AfterSend(ctx, b.Office, f.getenv, sent.Recipients)
	f.wantQuiet(200 * time.Millisecond)
	// A server that comes later does not ring for the same again.
	b.doorbell(f)
	f.wantQuiet(500 * time.Millisecond)
}

// TestAnotherAccount: the session runs in a home of the client that was set up
// for another account, and no environment names it.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	path := filepath.Join(b.Home(), filepath.FromSlash(claude.SetUpFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"version":1,"homes":[`+strconv.Quote(filepath.Join(f.env["HOME"], ".claude"))+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f.status(claude.Idle)
	b.session(f, "bob")
	time.Sleep(fresh) // since it began
	sent := b.send("bob", "hello")
	elsewhere := t.TempDir()
	AfterSend(ctx, b.Office, func(key string) string {
		if key == "HOME" {
			return elsewhere
		}
		return ""
	}, sent.Recipients)
	f.wantRing("1 new message")
}

// TestRounds: a server rings for sessions that have none and that were busy
// when they were written to, and ends questions that ran out.
func TestRounds(t *testing.T) {
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	t.Setenv("HOME", f.env["HOME"])
	t.Setenv(claude.EnvConfigDir, "")
	f.status(claude.Busy)
	b.session(f, "bob")
	sent := b.send("bob", "hello")
	AfterSend(ctx, b.Office, f.getenv, sent.Recipients)
	f.wantQuiet(100 * time.Millisecond)
	if _, err := b.Send(ctx, b.user, office.Letter{To: []string{"bob"}, Kind: "question", Body: []byte("ready?"), Expires: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	f.status(claude.Idle)
	time.Sleep(fresh)
	d := duty{next: b.Now()}
	self := presence.Life{Agent: b.user.Agent.ID, Process: presence.Self(), Role: presence.Server, Since: b.Now()}
	if wait := d.perform(ctx, b.Office, &self); wait <= 0 || wait > dutyEvery {
		t.Errorf("wait %s", wait)
	}
	f.wantRing("1 new message")
	threads, err := b.ThreadList(ctx, b.user, false, true, office.Page{})
	if err != nil || len(threads.Threads) != 2 {
		t.Fatalf("%+v, %v", threads, err)
	}
	for _, th := range threads.Threads {
		if len(th.Questions) > 0 {
			t.Errorf("a question is still open: %+v", th.Questions)
		}
	}
}

// TestUnregistered: nobody knows the session until its hook, or the server
// after a while, registers it.
func TestUnregistered(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	f.status(claude.Idle)
	const grace = 200 * time.Millisecond
	begun, registered := make(chan struct{}), make(chan struct{})
	first := true
	b.run(&Doorbell{
		// The first look comes before the hook, and every other one after it.
		Office: func(ctx context.Context) (*office.Office, func(), error) {
			if !first {
				select {
				case <-registered:
				case <-ctx.Done():
				}
			}
			first = false
			return b.lend(ctx)
		},
		Process: f.process, Waker: f.waker(), Grace: grace,
		Begin: func(context.Context, *office.Office) error { close(begun); return errors.New("no") },
	})
	// The bell of the whole office tells of the new session at once.
	bob := b.session(f, "bob")
	close(registered)
	b.eventually("the server is there", func() bool { _, ok := b.life(bob, presence.Server); return ok })
	time.Sleep(grace)
	b.send("bob", "hello")
	f.wantRing("1 new message")
	select {
	case <-begun:
		t.Error("begun although it is registered")
	default:
	}
}

// TestLeaving: a server that ends is not there any more, and neither is one
// whose conversation went on elsewhere.
func TestLeaving(t *testing.T) {
	t.Parallel()
	b, f, g := newBench(t), newFake(t), newFake(t)
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	stop := b.doorbell(f)
	here := func() bool { _, ok := b.life(bob, presence.Server); return ok }
	b.eventually("the server is there", here)
	stop()
	if here() {
		t.Error("it has not left")
	}
	b.doorbell(f)
	b.eventually("the server is back", here)
	// The same conversation in a second terminal.
	if _, err := b.StartSession(context.Background(), office.Session{Client: "claude", ID: "s1-bob", Process: g.process, Folder: "/srv"}); err != nil {
		t.Fatal(err)
	}
	b.eventually("the older server left", func() bool { return !here() })
	b.send("bob", "hello")
	f.wantQuiet(500 * time.Millisecond)
}

// TestLinesOfRooms: a ring for a room names it, and no two are alike.
func TestLinesOfRooms(t *testing.T) {
	for want, w := range map[string]office.Summons{
		"bureau: 1 new message (75P0SZ). Call inbox to read it.":                                  {Count: 1, Newest: "01K8Z4N6T6W0G0N4Y1B75P0SZ"},
		"bureau: room debate waits for you (B75P0S, 7).":                                          {Position: 7, Newest: "01K8Z4N6T6W0G0N4Y1B75P0S", Rooms: []name.Name{"debate"}},
		"bureau: room a and 1 more wait for you (B75P0S, 8). 2 new messages besides: call inbox.": {Position: 8, Newest: "01K8Z4N6T6W0G0N4Y1B75P0S", Count: 2, Rooms: []name.Name{"a", "b"}},
	} {
		if got := summonsLine(w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestATurnInVain: the turn that a ring began ended with an error of the
// model's API. The session is rung once more, with words that are not the same.
func TestATurnInVain(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	b.doorbell(f)
	b.send("bob", "hello")
	f.wantRing("1 new message")
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.TurnFailed(ctx, bob); err != nil {
		t.Fatal(err)
	}
	f.wantQuiet(500 * time.Millisecond)
	b.wantWoken("failed: its turn ended with an error")
	if err := live.InVain(ctx, bob.Agent.ID, time.Now().Add(-pace.AgainInVain)); err != nil {
		t.Fatal(err)
	}
	select { // at the server's next round
	case line := <-f.rung:
		if !strings.Contains(line, "1 new message") || !strings.Contains(line, "Once more, at ") {
			t.Errorf("rung with %q", line)
		}
	case <-time.After(2 * patience):
		t.Error("it is not rung once more")
	}
}
