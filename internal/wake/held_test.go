package wake

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// TestAHeldRingIsReported: who writes to a session whose budget is used up is
// told so, at once and later, with the reason; another's mail rings it.
func TestAHeldRingIsReported(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, served := range []bool{true, false} {
		b, f := newBench(t), newFake(t)
		o, err := office.Open(ctx, office.Options{Home: b.Home(), Glance: Glance(f.getenv)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Close() })
		f.status(claude.Idle)
		f.record("sessionId", "s1-bob")
		bob, ana := b.session(f, "bob"), b.session(newFake(t), "ana")
		live, err := b.Live(ctx)
		if err != nil {
			t.Fatal(err)
		}
		send := func(from office.Caller) office.RecipientView {
			t.Helper()
			sent, err := o.Send(ctx, from, office.Letter{To: []string{"bob"}, Body: []byte("hello")})
			if err != nil {
				t.Fatal(err)
			}
			AfterSend(ctx, o, f.getenv, sent.Recipients)
			return sent.Recipients[0]
		}
		// Half an hour ago ana rang it often.
		then := b.Now().Add(-30 * time.Minute)
		for range pace.PerPair {
			then = then.Add(pace.Apart)
			won, _, err := live.TakeRing(ctx, bob.Agent.ID, 0, []presence.Cause{{Sender: ana.Agent.ID, Thread: event.NewID(then)}}, Inbox, then, presence.Pace{
				PerPair: pace.PerPair, PerThread: pace.PerThread, Hour: pace.Hour, Most: 1000, Within: time.Minute})
			if err == nil && won { // of one position, so that none of them is for what comes
				err = live.Ringing(ctx, presence.Rung{Agent: bob.Agent.ID, At: then, Via: Inbox, Result: presence.RingFailed})
			}
			if !won || err != nil {
				t.Fatalf("%v, %v", won, err)
			}
		}
		if served {
			b.doorbell(f)
			b.eventually("the server is there", func() bool { _, ok := b.life(bob, presence.Server); return ok })
		}
		until := then.Add(pace.Hour - time.Duration(pace.PerPair-1)*pace.Apart).Local().Format("15:04")
		var r office.RecipientView
		b.eventually("the sender is told", func() bool { // the session must have settled
			r = send(ana)
			return r.Held != ""
		})
		if want := "held back until " + until + ": 20 rings for one sender in 1 h"; r.Wake != Inbox || r.Held != want {
			t.Errorf("%+v, want %q", r, want)
		}
		b.eventually("the sender sees it later", func() bool {
			list, err := o.SentMail(ctx, ana, office.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			return list.Messages[0].Receipts[0].Woken == "not rung, "+r.Held
		})
		if len(f.rung) > 0 {
			t.Fatalf("rung with %q", <-f.rung)
		}
		b.eventually("another's mail rings it", func() bool {
			if r := send(b.user); r.Held != "" {
				t.Fatalf("%+v", r)
			}
			return len(f.rung) > 0
		})
		f.wantRing("new messages")
		list, err := o.SentMail(ctx, ana, office.Page{Limit: 1})
		if err != nil || !strings.HasPrefix(list.Messages[0].Receipts[0].Woken, "woken via inbox: ") {
			t.Errorf("%+v, %v", list.Messages, err)
		}
	}
}

// TestABrokenOffTurn: a ring began a turn that somebody broke off before it
// proved anything. Once its lease is over the session is rung once more, and
// then no more; the sender sees why.
func TestABrokenOffTurn(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	bob := b.session(f, "bob")
	stop := b.doorbell(f)
	sent := b.send("bob", "hello")
	f.wantRing("1 new message")
	f.status(claude.Busy)
	b.wantWoken("woken via inbox: a turn began after")
	live, err := b.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	printed := func(lease time.Duration) {
		t.Helper()
		if err := live.Drop(ctx, bob.Agent.ID, []event.ID{sent.ID}); err != nil {
			t.Fatal(err)
		}
		got, err := live.Offer(ctx, bob.Agent.ID, bob.Key(), []event.ID{sent.ID}, 1, presence.Passed, lease, b.Now())
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
	}
	attempts := func() (out outcome) {
		t.Helper()
		look, err := f.waker().Look()
		if err != nil {
			t.Fatal(err)
		}
		if out, _, _, err = attempt(ctx, b.Office, bob.Agent.ID, f.waker(), look, nil); err != nil {
			t.Fatal(err)
		}
		return out
	}
	stop() // from here on the test looks instead of the server
	f.status(claude.Idle)
	printed(time.Hour)
	if out := attempts(); out != nothing {
		t.Fatalf("its lease runs, and %v", out)
	}
	printed(0)
	b.eventually("it is rung once more", func() bool { return attempts() == rung }) // at the pace
	f.wantRing("Once more, at ")
	b.wantWoken("woken via inbox: posted; the turn before was broken off")
	printed(0)
	b.eventually("it is rung no more", func() bool { return attempts() == taken })
	b.wantWoken("woken via inbox: its turn was broken off")
	if len(f.rung) > 0 {
		t.Errorf("rung with %q", <-f.rung)
	}
	b.send("bob", "newer")
	b.eventually("what is newer rings", func() bool { return attempts() == rung })
	// A session that never printed it (its hooks are off) is not rung again.
	got, err := live.Offer(ctx, bob.Agent.ID, bob.Key(), []event.ID{sent.ID}, 1, presence.Handed, 0, b.Now())
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	if out := attempts(); out != taken {
		t.Errorf("%v", out)
	}
}
