package office

import (
	"context"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/proc"
	"bureau/internal/quote"
)

// TestTheClockJumpsBack: an hour later it is an hour earlier. Nothing is lost,
// the order stays, and what was given a time of life gets all of it.
func TestTheClockJumpsBack(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	first := d.send(ana, "bob", "first")
	if _, err := d.Ack(ctx, bob, []string{string(first.ID)}); err != nil {
		t.Fatal(err)
	}
	c.move(-time.Hour)

	second, err := d.Send(ctx, ana, Letter{Thread: string(first.Thread), Body: []byte("second"), Expires: 30 * time.Minute})
	if err != nil {
		t.Fatalf("a message of half an hour in a thread that is an hour ahead: %v", err)
	}
	third := d.send(ana, "bob", "third")
	talk, err := d.Thread(ctx, bob, string(first.Thread), Page{})
	if err != nil || len(talk.Log) != 2 || talk.Log[0].ID != first.ID || talk.Log[1].ID != second.ID {
		t.Fatalf("%+v, %v", talk.Log, err)
	}
	if m := talk.Log[1]; m.SentAt.Before(talk.Log[0].SentAt) || m.ExpiresAt.Sub(m.SentAt) != 30*time.Minute {
		t.Errorf("sent at %s after %s, expires at %s", m.SentAt, talk.Log[0].SentAt, m.ExpiresAt)
	}
	box := d.walk(bob, true, 10)
	if len(box) != 3 || box[0].ID != third.ID || box[1].ID != second.ID || box[2].ID != first.ID {
		t.Fatalf("the inbox is out of order: %+v", box)
	}
	list, err := d.ThreadList(ctx, bob, false, false, Page{})
	if err != nil || len(list.Threads) != 2 || list.Threads[0].ID != third.Thread {
		t.Fatalf("%+v, %v", list, err)
	}

	// The mailbox is an hour ahead as well: what is seen in time stays seen.
	short, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("short"), Expires: 30 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	c.move(10 * time.Minute)
	if err := d.Seen(ctx, bob, []event.ID{short.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	if m := d.sentState(ana, short.ID); m.State != mail.Seen {
		t.Errorf("seen in time, and the sender is told: %s", m.State)
	}
	c.move(2 * time.Hour)
	if m := d.sentState(ana, short.ID); m.State != mail.Seen {
		t.Errorf("later the sender is told: %s", m.State)
	}
	if m := d.sentState(ana, second.ID); m.State != mail.Expired {
		t.Errorf("not seen in time, and the sender is told: %s", m.State)
	}
	d.sound()
}

// TestLeasesDoNotGrowWithAJump: what was offered before the clock jumped back
// does not stay away from others until the old hour comes again.
func TestLeasesDoNotGrowWithAJump(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	sent := d.send(ana, "bob", "hello")
	one, other := bob, bob
	one.Session, other.Session = "one", "other"
	if list, _, err := d.Take(ctx, one, 5, time.Minute); err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, _, err := d.Take(ctx, other, 5, time.Minute); err != nil || len(list) != 0 {
		t.Fatalf("offered twice: %+v, %v", list, err)
	}
	if m := d.sentState(ana, sent.ID); m.State != mail.Offered {
		t.Fatalf("%s", m.State)
	}
	c.move(-time.Hour)
	if list, _, err := d.Take(ctx, other, 5, time.Minute); err != nil || len(list) != 1 {
		t.Fatalf("an hour of silence: %+v, %v", list, err)
	}
}

// TestTheNewestSessionOfAProcess: a process that goes from one conversation to
// another and back is always the one it began last, whatever the clock says.
func TestTheNewestSessionOfAProcess(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	p := d.project("app")
	who := func(want Caller) {
		t.Helper()
		got, err := d.Identify(ctx, Claim{Ancestors: []proc.ID{proc.Self()}})
		if err != nil || got.Agent.ID != want.Agent.ID || got.Session != want.Session {
			t.Fatalf("it is %s (%s), not %s (%s); %v", got.Agent.Name, got.Session, want.Agent.Name, want.Session, err)
		}
	}
	first := d.session("S1", self(), p)
	who(first)
	c.move(-time.Hour)
	second := d.begin(Session{Client: "claude", ID: "S2", Fork: true, Process: self(), Folder: p.Root, Project: p})
	if second.Agent.ID == first.Agent.ID {
		t.Fatal("the fork is the original")
	}
	who(second)
	c.move(time.Second)
	back := d.session("S1", self(), p)
	if back.Agent.ID != first.Agent.ID {
		t.Fatal("S1 is somebody else now")
	}
	who(back)
	cleared := d.begin(Session{Client: "claude", ID: "S3", Continues: true, Process: self(), Folder: p.Root, Project: p})
	if cleared.Agent.ID != first.Agent.ID {
		t.Fatalf("cleared, and %s became %s", first.Agent.Name, cleared.Agent.Name)
	}
	who(cleared)
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 90 * time.Minute: "1 h", 47 * time.Hour: "47 h", 49 * time.Hour: "2 days",
	} {
		if got := quote.Ago(d); got != want {
			t.Errorf("quote.Ago(%s) = %s, want %s", d, got, want)
		}
	}
}
