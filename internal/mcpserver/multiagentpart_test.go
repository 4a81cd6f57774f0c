package mcpserver

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// long is a text of many different lines.
func long(start string, bytes int) string {
	var b strings.Builder
	b.WriteString(start)
	for n := 0; b.Len() < bytes; n++ {
		b.WriteString("\nline " + strconv.Itoa(n) + ": “quoted” & <tagged>")
	}
	return b.String()
}

// parts asks until a message that comes in parts is there, and gives its whole
// text and the results.
func parts(t *testing.T, ask func(n int) turnResult) (text string, all []turnResult) {
	t.Helper()
	for n := range 50 {
		out := ask(n)
		m := only(t, out)
		if int(m.Offset) != len(text) || m.Cut != out.More {
			t.Fatalf("part %d begins at %d of %d, more of it: %v, more: %v: %.200s", n, m.Offset, len(text), m.Cut, out.More, m.Content)
		}
		text += m.Content
		all = append(all, out)
		if !m.Cut {
			return text, all
		}
	}
	t.Fatal("it does not end")
	return "", nil
}

// only gives the message of a result that has one.
func only(t *testing.T, out turnResult) oldMessage {
	t.Helper()
	if len(out.NewMessages) != 1 {
		t.Fatalf("%d messages: %+v", len(out.NewMessages), out)
	}
	return out.NewMessages[0]
}

// A message that no result can hold comes in parts, and counts as read when the
// last of them does.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B", "C")
	want := long("@B read this", 42_000)
	one := d.sent("A", want, "@B")
	read := func() int64 {
		for _, p := range d.list("A").Participants {
			if p.Handle == "@B" {
				return p.LastRead
			}
		}
		t.Fatal("@B is not there")
		return 0
	}
	if out := d.look("B"); only(t, out).Content != "@C joined" || !out.More {
		t.Errorf("before it: %+v", out)
	}
	text, all := parts(t, func(n int) turnResult {
		if n > 0 && read() >= one.Sent.SeqID {
			t.Fatalf("part %d and it counts as read", n)
		}
		return d.look("B")
	})
	if text != want || len(all) < 3 {
		t.Errorf("%d parts with %d bytes, want %d: they differ", len(all), len(text), len(want))
	}
	if out := d.look("B"); len(out.NewMessages) != 0 || read() < one.Sent.SeqID {
		t.Errorf("after its end: read %d of %d, %+v", read(), one.Sent.SeqID, out)
	}
	// A whisper is no different.
	secret := long("for your eyes", 20_000)
	if out := do[turnResult](d.of("B"), "whisper_message", args{"sender": "B", "target": "A", "content": secret, "block": false}); out.Status != "sent" {
		t.Fatalf("%+v", out)
	}
	d.look("C")
	if out := d.look("C"); len(out.NewMessages) != 0 {
		t.Errorf("@C learns of it: %+v", out)
	}
	if out := d.look("A"); out.NewMessages[len(out.NewMessages)-1].Content != "@C joined" || !out.More {
		t.Errorf("before it: %+v", out)
	}
	if text, _ := parts(t, func(int) turnResult { return d.look("A") }); text != secret {
		t.Errorf("the whisper has %d bytes, want %d", len(text), len(secret))
	}
}

// Whoever did not get a part gets it again, also in a new process; who answers
// in the middle goes on where it was.
func TestLongMessageAgain(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	want := long("@B read this", 40_000)
	d.sent("A", want, "@B")
	first := d.look("B")
	second := d.look("B")
	d.kill("B")
	delete(d.by, "B")
	again := do[turnResult](d.of("B"), "join_conversation", args{"handle": "B", "block": false})
	if m := again.NewMessages[0]; m.Content != only(t, second).Content || m.Offset != only(t, second).Offset {
		t.Errorf("after its death it begins at %d, want %d", m.Offset, second.NewMessages[0].Offset)
	}
	said := d.say("B", "@A a moment", args{"receipt": again.Receipt})
	if said.Status != "sent" || len(said.NewMessages) != 0 {
		t.Fatalf("%+v", said)
	}
	text := only(t, first).Content + again.NewMessages[0].Content
	for out := d.look("B"); ; out = d.look("B") {
		m := out.NewMessages[0]
		if int(m.Offset) != len(text) {
			t.Fatalf("it goes on at %d of %d", m.Offset, len(text))
		}
		if text += m.Content; !m.Cut {
			break
		}
	}
	if text != want {
		t.Errorf("%d bytes, want %d: they differ", len(text), len(want))
	}
}

// What is long only as JSON is kept short too (do looks at every result's size).
func TestLongMessageOfEscapes(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	for _, piece := range []string{"<", "\x01", "\u202e", "\"\n"} {
		want := "@B " + strings.Repeat(piece, 20_000/len(piece))
		d.sent("A", want, "@B")
		bytes := 0
		for out := d.look("B"); ; out = d.look("B") {
			m := only(t, out)
			if int(m.Offset) < bytes || m.Content == "" {
				t.Fatalf("%q: from %d after %d", piece, m.Offset, bytes)
			}
			if bytes = int(m.Offset) + 1; !m.Cut {
				break
			}
		}
		d.say("B", "@A go on")
	}
}

// A client without a shell on this machine, whose only words are these tools.
func TestHTTPLongMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_TOOLS=multiagent")
	first, view := b.token("ana", 0)
	second, _ := b.token("bob", 0)
	ana, bob := s.connect(first), s.connect(second)
	told[json.RawMessage](t, ana.tool("init_conversation", args{
		"filepath": filepath.Join(view.Folder, "talk.md"), "topic": "Tabs?", "participants": []string{"@A", "@B"},
	}))
	told[turnResult](t, ana.tool("join_conversation", args{"handle": "@A", "timeout_seconds": 0}))
	joined := told[turnResult](t, bob.tool("join_conversation", args{"handle": "@B", "timeout_seconds": 5}))
	receipt := told[turnResult](t, bob.tool("wait_for_turn", args{"handle": "@B", "timeout_seconds": 0, "receipt": joined.Receipt})).Receipt
	want := long("@B read this", 42_000)
	told[turnResult](t, ana.tool("send_message", args{"sender": "@A", "content": want, "block": false}))
	text, all := parts(t, func(n int) turnResult {
		in := args{"handle": "@B", "timeout_seconds": 5}
		if n != 1 { // a client of multiagent-mcp knows no receipts
			in["receipt"] = receipt
		}
		out := told[turnResult](t, bob.tool("wait_for_turn", in))
		receipt = out.Receipt
		return out
	})
	if text != want || len(all) < 3 {
		t.Errorf("%d parts with %d bytes, want %d: they differ", len(all), len(text), len(want))
	}
	if out := told[turnResult](t, bob.tool("wait_for_turn", args{"handle": "@B", "timeout_seconds": 0, "receipt": receipt})); len(out.NewMessages) != 0 {
		t.Errorf("after its end: %+v", out)
	}
}
