package mcpserver

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
)

// TestAskOfASubagentThatEnds: who waits is told at once who has the question
// now, and waits on for that one; nobody writes to it any more.
func TestAskOfASubagentThatEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lead, bert := b.client(seat{}), b.client(seat{name: "bert"})
	b.hook(lead, office.Session{ID: "S1", Declared: "anna"})
	n := 0
	meta := func(sub string) mcp.Meta {
		n++
		return b.announce(lead, "call-"+string(rune('a'+n)), "S1", sub, map[string]string{"a1": "Explore"}[sub])
	}
	if _, err := tryWith[rosterOut](context.Background(), lead, "roster", nil, meta("a1")); err != nil {
		t.Fatal(err)
	}
	main, err := b.SessionCaller(context.Background(), "claude", "S1", "", processOf(lead.process))
	if err != nil {
		t.Fatal(err)
	}
	sub, err := b.Subagent(context.Background(), main, "claude", "a1", "Explore")
	if err != nil {
		t.Fatal(err)
	}
	waiting := asking(context.Background(), bert, args{"to": "anna.Explore", "text": "are you there?", "timeout_seconds": 50}, nil)
	eventually(t, "bert waits", func() bool {
		v, err := b.Agent(context.Background(), "bert")
		return err == nil && len(v.WaitingFor) == 1
	})
	if err := b.EndSubagent(context.Background(), sub); err != nil {
		t.Fatal(err)
	}
	var a asked
	select {
	case a = <-waiting:
	case <-time.After(20 * time.Second):
		t.Fatal("bert waits on for nothing")
	}
	if a.err != nil || a.out.Status != statusNothing || !has(a.out.Hint, "anna.Explore was a subagent and has ended; anna, whose it was, has the question now", "question="+a.out.Question) {
		t.Fatalf("%+v", a)
	}
	for _, tool := range []string{"ask", "send"} {
		if r := deny(bert, "not_found", tool, args{"to": "anna.Explore", "text": "x"}); !has(r.Hint, "write to anna,") {
			t.Errorf("%+v", r)
		}
	}
	box, err := tryWith[inboxOut](context.Background(), lead, "inbox", nil, meta(""))
	if err != nil || box.Unread != 1 || box.Messages[0].For != "anna.Explore" || !box.Messages[0].Open {
		t.Fatalf("%+v, %v", box, err)
	}
	waiting = asking(context.Background(), bert, args{"question": a.out.Question, "timeout_seconds": 50}, nil)
	if _, err := tryWith[sendOut](context.Background(), lead, "send", args{"answers": a.out.Question, "text": "I am"}, meta("")); err != nil {
		t.Fatal(err)
	}
	if a := <-waiting; a.err != nil || a.out.Answer != "I am" || a.out.From != "anna" {
		t.Fatalf("%+v", a)
	}
	r := do[rosterOut](bert, "roster", nil)
	for _, x := range r.Agents {
		if x.Name == "anna.Explore" && x.Ended != "write to anna, who has its mail" {
			t.Errorf("%+v", x)
		}
	}
	box = do[inboxOut](bert, "inbox", args{"show": "sent"})
	if got := box.Messages[0].Receipts; len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, r := range box.Messages[0].Receipts {
		if r.Name == "anna" && r.For != "anna.Explore" || r.Name != "anna" && (r.State != "undeliverable" || r.Reason != "it has ended; anna has it now") {
			t.Errorf("%+v", r)
		}
	}
}
