package mcpserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
)

// pair is two sessions that have met.
func (b *bench) pair() (ana, bob *client) {
	b.t.Helper()
	ana, bob = b.client(seat{name: "ana"}), b.client(seat{name: "bob"})
	do[rosterOut](ana, "roster", nil)
	do[rosterOut](bob, "roster", nil)
	return ana, bob
}

type asked struct {
	out askOut
	err error
}

// asking calls ask in the background.
func asking(ctx context.Context, c *client, a args, meta mcp.Meta) chan asked {
	done := make(chan asked, 1)
	go func() {
		out, err := tryWith[askOut](ctx, c, "ask", a, meta)
		done <- asked{out, err}
	}()
	return done
}

// wantQuestion waits until a question is in an inbox.
func wantQuestion(c *client, text string) entry {
	c.t.Helper()
	var found entry
	eventually(c.t, "the question "+text+" arrives", func() bool {
		for _, m := range do[inboxOut](c, "inbox", nil).Messages {
			if m.Open && m.Body == text {
				found = m
			}
		}
		return found.ID != ""
	})
	return found
}

// TestAskOfSomebodyAway: who asks somebody who is not here learns it.
func TestAskOfSomebodyAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, _ := b.pair()
	asked := args{"to": "user", "text": "which port?", "timeout_seconds": 1}
	out := do[askOut](ana, "ask", asked)
	if out.Status != "nothing yet" || !has(out.Hint, "user is not here, no way to wake") || !has(out.Hint, out.Question) {
		t.Fatalf("%+v", out)
	}
	// Only if somebody is here: the same question again is no exception.
	asked["if_live"] = true
	deny(ana, "unavailable", "ask", asked)
	if box := do[inboxOut](ana, "inbox", args{"show": "sent"}); box.Total != 1 {
		t.Fatalf("%+v", box)
	}
}

// TestAskWaits is the whole life of a question: nothing yet, again by its id
// and by its text, answered; and other calls are served meanwhile (case M1).
func TestAskWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	first := do[askOut](ana, "ask", args{"to": "bob", "text": "which port?", "timeout_seconds": 1})
	if first.Status != "nothing yet" || first.Question == "" || !has(first.Hint, first.Question) {
		t.Fatalf("%+v", first)
	}
	again := asking(context.Background(), ana, args{"question": first.Question}, nil)
	same := asking(context.Background(), ana, args{"to": "bob", "text": "which  port?"}, mcp.Meta{"progressToken": "same"})
	begun := time.Now()
	q := wantQuestion(bob, "which port?")
	if q.ID != first.Question {
		t.Fatalf("%+v", q)
	}
	eventually(t, "ana waits", func() bool {
		r := do[rosterOut](ana, "roster", args{"here": true})
		return len(r.Agents[0].WaitsFor) > 0 && r.Agents[0].WaitsFor[0].Asked == "bob"
	})
	select {
	case <-ana.notes: // only the second one tells how it waits
	case <-time.After(40 * time.Second):
		t.Fatal("the same question again does not wait")
	}
	if took := time.Since(begun); took > 45*time.Second {
		t.Errorf("others were served after %s", took)
	}
	if sent := do[sendOut](bob, "send", args{"answers": q.ID, "text": "8080"}); sent.Kind != "answer" || sent.Answers != q.ID {
		t.Fatalf("%+v", sent)
	}
	for _, done := range []chan asked{again, same} {
		a := <-done
		if a.err != nil || a.out.Status != "answered" || a.out.Answer != "8080" || a.out.From != "bob" || a.out.Receipt == "" {
			t.Fatalf("%+v", a)
		}
		first = a.out
	}
	// The answer was handed out and is proved by its receipt.
	if box := do[inboxOut](ana, "inbox", nil); box.Unread != 1 || box.Messages[0].State != "offered" {
		t.Fatalf("%+v", box)
	}
	if box := do[inboxOut](ana, "inbox", args{"receipt": first.Receipt}); box.Unread != 0 {
		t.Fatalf("%+v", box)
	}
	if r := deny(ana, "not_found", "ask", args{"to": "carla", "text": "?"}); !has(r.Hint, "roster") {
		t.Errorf("%+v", r)
	}
	deny(ana, "invalid", "ask", args{"to": "ana", "text": "?"})
	deny(ana, "invalid", "ask", args{"to": "bob"})
	deny(bob, "denied", "ask", args{"question": first.Question})
}

// TestCancelledAsk: nothing is taken, and the answer still comes.
func TestCancelledAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	ctx, cancel := context.WithCancel(context.Background())
	done := asking(ctx, ana, args{"to": "bob", "text": "ready?"}, nil)
	q := wantQuestion(bob, "ready?")
	cancel()
	if a := <-done; !errors.Is(a.err, context.Canceled) {
		t.Fatalf("%+v", a)
	}
	eventually(t, "ana waits no more", func() bool {
		return len(do[rosterOut](ana, "roster", args{"here": true}).Agents[0].WaitsFor) == 0
	})
	do[sendOut](bob, "send", args{"answers": q.ID, "text": "yes"})
	if box := do[inboxOut](ana, "inbox", nil); box.Unread != 1 || box.Messages[0].State != "stored" {
		t.Fatalf("%+v", box)
	}
	// An inbox that waits is cancelled without taking anything either.
	ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	do[readOut](bob, "read_message", nil)
	if _, err := tryWith[inboxOut](ctx, b.client(seat{name: "carla"}), "inbox", args{"wait_seconds": 20}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
}

// TestCircle: who would wait for each other is refused, with what to do.
func TestCircle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	done := asking(context.Background(), ana, args{"to": "bob", "text": "yours?"}, nil)
	q := wantQuestion(bob, "yours?")
	if r := deny(bob, "conflict", "ask", args{"to": "ana", "text": "no, yours?"}); !has(r.Hint, q.ID) || has(r.Hint, "bureau answer") {
		t.Errorf("%+v", r)
	}
	do[sendOut](bob, "send", args{"answers": q.ID, "text": "mine"})
	if a := <-done; a.out.Answer != "mine" {
		t.Fatalf("%+v", a)
	}
}

// TestProgress: with a token the wait may be longer and is heard of, without it
// the client hears nothing (case M1).
func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	done := asking(context.Background(), ana, args{"to": "bob", "text": "ready?"}, mcp.Meta{"progressToken": "p1"})
	for range 2 {
		select {
		case words := <-ana.notes:
			if !has(words, "waiting for the answer of bob") {
				t.Errorf("%q", words)
			}
		case <-time.After(patience):
			t.Fatal("no progress")
		}
	}
	do[sendOut](bob, "send", args{"answers": wantQuestion(bob, "ready?").ID, "text": "yes"})
	if a := <-done; a.out.Answer != "yes" {
		t.Fatalf("%+v", a)
	}
	if out := do[inboxOut](ana, "inbox", args{"show": "unread", "wait_seconds": 1}); out.Unread != 1 {
		t.Fatalf("%+v", out)
	}
	carla := b.client(seat{name: "carla"})
	if out := do[inboxOut](carla, "inbox", args{"wait_seconds": 1}); out.Status != "nothing yet" {
		t.Fatalf("%+v", out)
	}
	select {
	case words := <-carla.notes:
		t.Errorf("unasked for: %q", words)
	case <-time.After(300 * time.Millisecond):
	}
}

func TestPatience(t *testing.T) {
	with := &mcp.CallToolParamsRaw{Meta: mcp.Meta{"progressToken": "x"}}
	for _, c := range []struct {
		params  *mcp.CallToolParamsRaw
		seconds int
		want    time.Duration
	}{
		{&mcp.CallToolParamsRaw{}, 0, 50 * time.Second}, {&mcp.CallToolParamsRaw{}, 90, 50 * time.Second}, {&mcp.CallToolParamsRaw{}, 7, 7 * time.Second},
		{with, 0, 50 * time.Second}, {with, 90, 90 * time.Second}, {with, 1 << 40, 280 * time.Second}, {with, -1, 50 * time.Second},
	} {
		call := &call{req: &mcp.CallToolRequest{Params: c.params}}
		if got := call.patience(c.seconds); got != c.want {
			t.Errorf("%d s, token %v: %s, want %s", c.seconds, c.params.GetProgressToken(), got, c.want)
		}
	}
}

// TestInboxWaits until mail comes.
func TestInboxWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	done := make(chan inboxOut, 1)
	go func() { done <- do[inboxOut](bob, "inbox", args{"wait_seconds": 50}) }()
	eventually(t, "bob waits", func() bool {
		r := do[rosterOut](ana, "roster", nil)
		return r.Agents[1].Wake == office.WakeWaiting
	})
	do[sendOut](ana, "send", args{"to": "bob", "text": "now"})
	if out := <-done; out.Unread != 1 || out.Status != "" || out.Messages[0].Body != "now" {
		t.Fatalf("%+v", out)
	}
}

// TestBounds: results stay small whatever lies in the office, and everything
// can be reached (cases S1 and S4).
func TestBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.pair()
	ctx := context.Background()
	from, _, err := b.RunningIn(ctx, processOf(ana.process))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("wörter und 字 ", 4000)
	thread := ""
	for i := range 60 {
		l := office.Letter{To: []string{"bob"}, Thread: thread, Body: []byte(strings.Repeat("x", 3000)), Hops: 100}
		if i == 30 {
			l.Body = []byte(long)
		}
		sent, err := b.Send(ctx, from, l)
		if err != nil {
			t.Fatal(err)
		}
		thread = string(sent.Thread)
	}
	walk := func(tool string, a args, page func(args) (ids []string, total int, next string)) {
		t.Helper()
		seen := map[string]bool{}
		for {
			ids, total, next := page(a)
			for _, id := range ids {
				if seen[id] {
					t.Fatalf("%s shows %s twice", tool, id)
				}
				seen[id] = true
			}
			if next == "" {
				if len(seen) != 60 || total != 60 {
					t.Fatalf("%s shows %d of %d", tool, len(seen), total)
				}
				return
			}
			a["cursor"] = next
		}
	}
	ids := func(list []entry) (out []string) {
		for _, e := range list {
			out = append(out, e.ID)
		}
		return out
	}
	walk("inbox", args{"limit": 500}, func(a args) ([]string, int, string) {
		out := do[inboxOut](bob, "inbox", a)
		return ids(out.Messages), out.Total, out.Next
	})
	walk("thread", args{"thread": thread, "limit": 500}, func(a args) ([]string, int, string) {
		out := do[threadOut](bob, "thread", a)
		return ids(out.Messages), out.Total, out.Next
	})
	walk("sent", args{"show": "sent"}, func(a args) ([]string, int, string) {
		out := do[inboxOut](ana, "inbox", a)
		return ids(out.Messages), out.Total, out.Next
	})
	var read []string
	for len(read) < 60 {
		out := do[readOut](bob, "read_message", args{"limit": 50})
		for _, m := range out.Messages {
			read = append(read, m.ID)
			for body, next := m.Body, m.Next; len(read) == 31; {
				if next == 0 {
					if body != long {
						t.Errorf("the long message came as %d of %d bytes", len(body), len(long))
					}
					break
				}
				rest := do[readOut](bob, "read_message", args{"ids": []string{m.ID}, "offset": next}).Messages[0]
				body, next = body+rest.Body, rest.Next
			}
		}
		if out.Unread != 60-len(read) {
			t.Fatalf("%d unread after %d", out.Unread, len(read))
		}
		do[inboxOut](bob, "inbox", args{"receipt": out.Receipt, "limit": 1})
	}
	many := do[readOut](bob, "read_message", args{"ids": read[:10]})
	if len(many.Messages)+len(many.Left) != 10 || len(many.Left) == 0 {
		t.Fatalf("%d and %d left", len(many.Messages), len(many.Left))
	}
	deny(bob, "invalid", "read_message", args{"ids": read[:2], "offset": 1})
	deny(bob, "invalid", "read_message", args{"limit": 51})
}

// TestBigRoster: a hundred agents fit into 8 KB, in pages.
func TestBigRoster(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana := b.client(seat{name: "ana"})
	for i := range 100 {
		_, err := b.StartSession(context.Background(), office.Session{
			Client: "claude", ID: "big-" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Process: processOf(ana.process),
			Declared: strings.Repeat("n", 40) + string(rune('a'+i/26)) + string(rune('a'+i%26)), Folder: "/srv",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for cursor := ""; ; {
		res, err := ana.CallTool(context.Background(), &mcp.CallToolParams{Name: "roster", Arguments: args{"cursor": cursor}, Meta: mcp.Meta{metaSession: "ana"}})
		if err != nil || res.IsError || len(textOf(res)) > 8<<10 {
			t.Fatalf("%d bytes, %v", len(textOf(res)), err)
		}
		out, err := tryWith[rosterOut](context.Background(), ana, "roster", args{"cursor": cursor}, mcp.Meta{metaSession: "ana"})
		if err != nil || out.Total < 100 {
			t.Fatalf("%+v, %v", out, err)
		}
		seen += len(out.Agents)
		if cursor = out.Next; cursor == "" {
			if seen != out.Total {
				t.Errorf("%d of %d", seen, out.Total)
			}
			return
		}
	}
}
