package wake

import (
	"context"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// TestATeammateIsWokenByItsLead: mail for one that sits idle rings its session;
// what one leaves that ends rings as the session's own mail, although the
// session was rung for something newer before.
func TestATeammateIsWokenByItsLead(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	lead := b.session(f, "lead")
	mate, err := b.Subagent(ctx, lead, "claude", "aworker1-0123456789abcdef", "worker1")
	if err != nil {
		t.Fatal(err)
	}
	b.doorbell(f)
	b.eventually("the server is there", func() bool { _, ok := b.life(lead, presence.Server); return ok })
	old := b.send("lead.worker1", "while it is at work")
	if r := old.Recipients[0]; r.Wake != office.WakeBusy {
		t.Errorf("%+v", r)
	}
	b.send("lead", "newer, and for its lead")
	f.wantRing("1 new message (")
	if err := b.SetStatus(ctx, mate, presence.Idle); err != nil {
		t.Fatal(err)
	}
	sent := b.send("lead.worker1", "while it sits idle")
	if r := sent.Recipients[0]; r.Wake != office.WakeLead {
		t.Errorf("%+v", r)
	}
	f.wantRing("2 new messages wait for your teammate lead.worker1 (newest " + string(sent.ID[20:]) + ")")
	b.wantWoken("its lead woken via inbox: ")
	if err := b.EndSubagent(ctx, mate); err != nil {
		t.Fatal(err)
	}
	f.wantRing("3 new messages")
}

// TestTheSenderRingsTheLead of an idle teammate, if no server does.
func TestTheSenderRingsTheLead(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFake(t)
	ctx := context.Background()
	f.status(claude.Idle)
	lead := b.session(f, "lead")
	mate, err := b.Subagent(ctx, lead, "claude", "aworker1-0123456789abcdef", "worker1")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SetStatus(ctx, mate, presence.Idle); err != nil {
		t.Fatal(err)
	}
	b.eventually("the sender rings", func() bool { // not in the session's first moments
		AfterSend(ctx, b.Office, f.getenv, b.send("lead.worker1", "hello").Recipients)
		select {
		case line := <-f.rung:
			return strings.Contains(line, "for your teammate lead.worker1")
		default:
			return false
		}
	})
}

func TestLinesOfMates(t *testing.T) {
	newest := event.ID("01K8Z4N6T6W0G0N4Y1B75P0SZZ")
	w1, w2 := office.Mate{Name: name.Name("a.w1"), Count: 1}, office.Mate{Name: name.Name("a.w2"), Count: 2}
	for want, w := range map[string]office.Summons{
		"bureau: 1 new message waits for your teammate a.w1 (newest 5P0SZZ). It sits idle: tell it with SendMessage to read its inbox.": {Newest: newest, Mates: []office.Mate{w1}},
		"bureau: 2 new messages wait for your teammate a.w2 and some for 1 more (newest 5P0SZZ). It sits idle: tell it with SendMessage to read its inbox. 3 new messages besides, for you: call inbox.": {
			Newest: newest, Count: 3, Mates: []office.Mate{w2, w1}},
		"bureau: room debate waits for you (5P0SZZ, 7). 1 new message waits for your teammate a.w1 (newest 5P0SZZ). It sits idle: tell it with SendMessage to read its inbox.": {
			Newest: newest, Position: 7, Rooms: []name.Name{"debate"}, Mates: []office.Mate{w1}},
	} {
		if got := summonsLine(w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
