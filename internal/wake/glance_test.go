package wake

import (
	"context"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// TestTheWayOfASessionWithoutAServer is the one that its senders use, and what it
// is at is its client's own word.
func TestTheWayOfASessionWithoutAServer(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	o, err := office.Open(ctx, office.Options{Home: b.Home(), Glance: Glance(f.getenv)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	f.record("sessionId", "s1-bob")
	bob := b.session(f, "bob")
	want := func(what, status, wake string) {
		t.Helper()
		all, err := o.Directory(ctx, office.DirectoryQuery{Here: true})
		if err != nil || len(all.Agents) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		one, err := o.Agent(ctx, "bob")
		if err != nil {
			t.Fatal(err)
		}
		sent, err := o.Send(ctx, b.user, office.Letter{To: []string{"bob"}, Body: []byte(what)})
		if err != nil {
			t.Fatal(err)
		}
		mail, err := o.SentMail(ctx, b.user, office.Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for face, v := range map[string][2]string{
			"directory": {all.Agents[0].Status, all.Agents[0].Wake}, "show": {one.Status, one.Wake},
			"send": {status, sent.Recipients[0].Wake}, "sent": {status, mail.Messages[0].Receipts[0].Woken},
		} {
			if v != [2]string{status, wake} {
				t.Errorf("%s: %s says %q, want %q", what, face, v, [2]string{status, wake})
			}
		}
	}
	f.status(claude.Idle)
	want("idle", "idle", Inbox)
	// Esc fires no hook: the record knows, and is newer.
	if err := b.SetStatus(ctx, bob, presence.Busy); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // the record counts in milliseconds
	f.status(claude.Idle)
	want("after Esc", "idle", Inbox)
	f.status(claude.Waiting)
	want("a dialog", "waiting", Inbox)
	f.status(claude.Busy)
	want("at work", "busy", office.WakeBusy)
	f.status(claude.Idle)
	f.record("peerProtocol", 2)
	want("another protocol", "idle", office.WakeNone)
	f.record("peerProtocol", 1)
	f.record("sessionId", "of another conversation")
	if err := b.SetStatus(ctx, bob, presence.Idle); err != nil {
		t.Fatal(err)
	}
	want("another conversation", "idle", office.WakeNone)
	// A server that can ring is the way; its session is none without one.
	f.record("sessionId", "s1-bob")
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := live.Enter(ctx, presence.Life{Agent: bob.Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "bureau", Session: "s1-bob", Wake: "bell", Since: b.Now()}); err != nil {
		t.Fatal(err)
	}
	want("a server", "idle", "bell")
}
