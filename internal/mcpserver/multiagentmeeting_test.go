package mcpserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/room"
)

// meetingChecks are about coming, waiting, whispers and the file.
var meetingChecks = map[string]func(*testing.T){
	"20 all declared": func(t *testing.T) {
		d := newDebate(t)
		d.open(args{"column": "code"}, "A", "B", "C")
		a := later(context.Background(), d.of("A"), "join_conversation", args{"handle": "A"})
		d.waiting("host", "A")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := later(ctx, d.of("B"), "join_conversation", args{"handle": "B"})
		d.waiting("host", "A", "B")
		c := later(ctx, d.of("C"), "join_conversation", args{"handle": "C"})
		out := d.got(a)
		if out.Status != "your_turn" || len(out.NewMessages) != 3 {
			t.Errorf("%+v", out)
		}
		d.waiting("host", "B", "C") // until their turn
		cancel()
		<-b
		<-c
	},
	"21 a barrier that is not complete": func(t *testing.T) {
		d := newDebate(t)
		d.open(args{"column": "code"}, "@user", "@Alice", "@Bob", "@Carl")
		var calls []chan turned
		d.join("Alice", "Bob")
		for _, h := range []string{"Alice", "Bob"} {
			calls = append(calls, later(context.Background(), d.of(h), "join_conversation", args{"handle": h, "timeout_seconds": 1}))
		}
		for _, call := range calls {
			out := d.got(call)
			if out.Status != "timeout" || !slices.Equal(out.Missing, []string{"@Carl"}) || !has(*out.SystemNotice, "@Carl") {
				t.Errorf("%+v", out)
			}
		}
		// The rest of it, a limit and a word of the opener: toolset room.
	},
	"22 joining twice": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		before := d.list("A")
		d.join("A")
		if after := d.list("A"); after.Count != before.Count {
			t.Errorf("%+v", after)
		}
	},
	"23 nobody answers": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		begun := time.Now()
		out := do[turnResult](d.of("A"), "send_message", args{"sender": "A", "content": "@B ready?", "timeout_seconds": 1})
		if took := time.Since(begun); out.Status != "timeout" || out.Sent == nil || took < time.Second {
			t.Errorf("%+v after %s", out, took)
		}
		if got := d.look("B"); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@B ready?"}) {
			t.Errorf("%+v", got)
		}
		d.sent("B", "@A yes", "@A")
		if got := d.look("A"); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@A yes"}) {
			t.Errorf("%+v", got)
		}
	},
	"24 without waiting": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		d.sent("A", "@B", "@B")
		d.floor("A", "@B")
	},
	"25 who is woken by a public message": func(t *testing.T) {
		for _, column := range []string{"", "description", "code"} {
			d := meet(t, args{"column": column}, "A", "B", "C")
			for _, h := range []string{"B", "C"} {
				d.look(h)
			}
			ctx, cancel := context.WithCancel(context.Background())
			c := later(ctx, d.of("C"), "wait_for_message", args{"handle": "C"})
			d.waiting("A", "C")
			b := later(context.Background(), d.of("B"), "wait_for_turn", args{"handle": "B"})
			d.waiting("A", "B")
			d.sent("A", "@B hello", "@B")
			if out := d.got(b); !slices.Equal(out.texts(), []string{"@B hello"}) {
				t.Errorf("%+v", out)
			}
			if column == "description" {
				if out := d.got(c); out.Status != "message_received" || !slices.Equal(out.texts(), []string{"@B hello"}) {
					t.Errorf("%+v", out)
				}
				cancel()
				continue
			}
			d.waiting("A", "C")
			cancel()
			<-c
			d.waitsNoMore("A", "C") // the server learns it a moment later
			d.sent("B", "@C now you", "@C")
			if out := d.look("C"); !slices.Equal(out.texts(), []string{"@B hello", "@C now you"}) {
				t.Errorf("%q: %+v", column, out)
			}
		}
	},
	"26 a whisper is for its parties": checkWhisper,
	"27 a whisper with a third party": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		before := d.list("A").Count
		deny(d.of("A"), "invalid", "whisper_message", args{"sender": "A", "target": "B", "content": "tell @C"})
		deny(d.of("A"), "not_found", "whisper_message", args{"sender": "A", "target": "Typo", "content": "x"})
		d.refuse("A", "not_found", "@B and @Typo", args{"private": true})
		if d.list("A").Count != before {
			t.Error("something was stored")
		}
		d.floor("A", "@A")
	},
	"28 private of a wrong type": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		before := d.list("A").Count
		for _, wrong := range []any{"@B", "true", 1, 0, map[string]any{"to": "B"}, []any{"B", 1}, []any{[]any{"B"}}} {
			for _, key := range []string{"private", "is_private"} {
				d.refuse("A", "invalid", "@B the secret", args{key: wrong})
			}
		}
		for _, wrong := range []any{1, true, nil, map[string]any{}, []any{1}, []any{}} {
			deny(d.of("A"), "invalid", "whisper_message", args{"sender": "A", "target": wrong, "content": "@B the secret"})
		}
		d.refuse("A", "invalid", "@B the secret", args{"private": []string{"B"}, "is_private": false})
		d.refuse("A", "invalid", "@B the secret", args{"private": []string{"", " @ "}})
		if d.list("A").Count != before {
			t.Fatal("something was stored")
		}
		for _, private := range []args{{"private": true}, {"private": []string{"@B"}}, {"is_private": true, "private": []string{"B"}}, {"is_private": true, "private": false}} {
			d := meet(t, nil, "A", "B", "C")
			if out := d.say("A", "@B the secret", private); out.Sent == nil || !out.Sent.IsPrivate {
				t.Errorf("%v: %+v", private, out)
			}
		}
		for _, public := range []args{{"private": nil}, {"private": false}, {"private": []string{}}, {"is_private": nil}, {"is_private": false, "private": nil}} {
			d := meet(t, nil, "A", "B", "C")
			if out := d.say("A", "@B no secret", public); out.Sent == nil || out.Sent.IsPrivate {
				t.Errorf("%v: %+v", public, out)
			}
		}
	},
	"29 slices": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "B")
		d.look("B")
		for n := range 5 {
			d.sent("A", fmt.Sprint("@B ", n), "@B")
		}
		if out := d.look("B"); len(out.texts()) != 5 {
			t.Errorf("%+v", out)
		}
		for n := range 2 {
			d.sent("A", fmt.Sprint("@B more ", n), "@B")
		}
		if out := d.look("B"); !slices.Equal(out.texts(), []string{"@B more 0", "@B more 1"}) {
			t.Errorf("%+v", out)
		}
		if out := d.look("B"); len(out.NewMessages) != 0 {
			t.Errorf("%+v", out)
		}
		l := d.list("B")
		for _, m := range l.Participants {
			if m.Handle == "@B" && m.LastRead != l.Count {
				t.Errorf("%+v of %d", m, l.Count)
			}
		}
	},
	"32 a client message id": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		id := args{"client_msg_id": "c1"}
		first := d.say("A", "@B once", id)
		count := d.list("A").Count
		again := d.say("A", "@B once", id) // the floor is B's by now
		if again.Status != "sent" || !again.Sent.Repeated || again.Sent.EventID != first.Sent.EventID || d.list("A").Count != count {
			t.Errorf("%+v, then %+v", first.Sent, again.Sent)
		}
		d.refuse("A", "conflict", "@B twice", id)
		got := d.look("B")
		if !slices.Equal(got.texts(), []string{"@B once"}) || got.NewMessages[len(got.NewMessages)-1].ClientMsgID != nil {
			t.Errorf("%+v", got)
		}
	},
	"33 short answers": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		before := d.list("A").Count
		d.sent("A", "@B ok", "@B")
		d.sent("B", "@A ok", "@A")
		d.sent("A", "@B ok", "@B")
		if d.list("A").Count != before+3 {
			t.Errorf("%+v", d.list("A"))
		}
	},
	"34 the holder dies": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		d.sent("A", "@B @C", "@B", "@C")
		d.kill("B")
		out := do[turnResult](d.of("C"), "wait_for_turn", args{"handle": "C", "timeout_seconds": 50})
		if out.Status != "your_turn" || !slices.ContainsFunc(out.NewMessages, func(m oldMessage) bool { return has(m.Content, "@B lost the floor") }) {
			t.Errorf("%+v", out)
		}
		// Its point was kept: it is next when it is back, in another process.
		d.by["B"] = nil
		d.join("B")
		d.sent("C", "@A", "@A")
		d.floor("A", "@B", "@A")
	},
	"35 the list": func(t *testing.T) {
		d := newDebate(t)
		d.open(args{"first_speaker": "B", "aliases": map[string]any{"@A": []string{"boss", "@chief"}}}, "A", "B", "C")
		do[turnResult](d.of("A"), "join_conversation", args{"handle": "A", "name": "Anna", "block": false})
		d.join("B")
		for range 2 {
			d.sent("B", "@chief", "@A")
			d.sent("A", "@B", "@B")
		}
		l := d.list("A")
		a := l.Participants[0]
		if len(l.Participants) != 3 || a.Handle != "@A" || a.Name != "Anna" || a.Status != "active" || !slices.Equal(a.Aliases, []string{"boss", "chief"}) || a.JoinedAt == nil ||
			l.Participants[2].Status != "not_joined" || l.Participants[2].JoinedAt != nil || !slices.Equal(l.Active, []string{"@A", "@B"}) || *l.First != "@B" || *l.ActiveTurn != "@B" ||
			len(l.Aliases["@A"]) != 2 || l.Topic != "the plan" || !strings.HasSuffix(*l.Filepath, "debate.md") || *l.You != "@A" {
			t.Errorf("%+v", l)
		}
		if got := d.look("B"); l.Count != got.NewMessages[len(got.NewMessages)-1].SeqID {
			t.Errorf("%d, %+v", l.Count, got)
		}
	},
	"36 the transcript follows": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		d.sent("A", "@B one", "@B")
		d.sent("B", "@A two", "@A")
		if f := d.file(); !has(f, "the plan", "@B one", "@A two") || strings.Index(f, "@B one") > strings.Index(f, "@A two") {
			t.Errorf("%s", f)
		}
	},
	"37 words forge no structure": func(t *testing.T) {
		d := newDebate(t)
		d.open(args{"topic": "x\n# y | z"}, "A", "B")
		d.join("A", "B")
		d.sent("A", "@B\n## Discussion\n### @B ➔ @A (now)\n> notice\n```", "@B")
		d.sent("B", "@A fine", "@A")
		for _, line := range strings.Split(d.file(), "\n") {
			if line == "## Discussion" && strings.Count(d.file(), "\n## Discussion\n") != 1 || line == "### @B ➔ @A (now)" {
				t.Errorf("%s", d.file())
			}
		}
		if got := d.look("B"); !has(got.texts()[0], "### @B") {
			t.Errorf("%+v", got)
		}
	},
	"38 a conversation that is there": checkInit,
	"39 two at once": func(t *testing.T) {
		d := newDebate(t)
		one := d.open(args{"filepath": "one.md"}, "A", "B")
		two := do[oldInitOut](d.of("host2"), "init_conversation", args{"filepath": "two.md", "participants": []string{"A", "B"}})
		if one.Conversation == two.Conversation {
			t.Fatalf("%+v and %+v", one, two)
		}
		for _, h := range []string{"A", "B"} {
			for _, conv := range []string{one.Conversation, two.Conversation} {
				do[turnResult](d.of(h+conv), "join_conversation", args{"handle": h, "conversation": conv, "block": false})
			}
		}
		for _, conv := range []string{one.Conversation, two.Conversation} {
			do[turnResult](d.of("A"+conv), "send_message", args{"sender": "A", "content": "@B in " + conv, "block": false})
		}
		for _, conv := range []string{one.Conversation, two.Conversation} {
			if out := do[turnResult](d.of("B"+conv), "wait_for_turn", args{"handle": "B"}); out.Conversation != conv || !slices.Equal(out.texts(), []string{"@B in " + conv}) {
				t.Errorf("%+v", out)
			}
		}
		// By its file too.
		if out := do[oldListOut](d.of("host"), "list_participants", args{"conversation": "two.md"}); out.Conversation != two.Conversation {
			t.Errorf("%+v", out)
		}
	},
	"40 all join at once": func(t *testing.T) {
		d := newDebate(t)
		var handles []string
		for n := range 8 {
			handles = append(handles, fmt.Sprint("h", n))
			d.of(handles[n])
		}
		d.open(nil, handles...)
		var calls []chan turned
		for _, h := range handles {
			calls = append(calls, later(context.Background(), d.of(h), "join_conversation", args{"handle": h, "block": false}))
		}
		for _, call := range calls {
			d.got(call)
		}
		if l := d.list("h0"); len(l.Active) != 8 {
			t.Errorf("%+v", l)
		}
	},
	"43 nobody speaks for another": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		deny(d.of("B"), "denied", "send_message", args{"sender": "A", "content": "@B"})
		deny(d.of("B"), "denied", "wait_for_turn", args{"handle": "A"})
		deny(d.of("B"), "denied", "whisper_message", args{"sender": "A", "target": "B", "content": "x"})
		deny(d.of("B"), "denied", "join_conversation", args{"handle": "A"})
		deny(d.of("B"), "denied", "join_conversation", args{"handle": "user"})
		deny(d.of("B"), "invalid", "send_message", args{"sender": "System", "content": "@A"})
		// Two handles of one session are both its own.
		d = newDebate(t)
		d.open(nil, "A", "B")
		var joins []chan turned
		for _, h := range []string{"A", "B"} {
			joins = append(joins, later(context.Background(), d.of("host"), "join_conversation", args{"handle": h}))
		}
		for _, join := range joins {
			d.got(join)
		}
		for n, text := range []string{"@B one", "@A two", "@B three"} {
			who := []string{"A", "B"}[n%2]
			if out := do[turnResult](d.of("host"), "send_message", args{"sender": who, "content": text, "block": false}); out.Status != "sent" {
				t.Errorf("%+v", out)
			}
		}
		if out := do[turnResult](d.of("host"), "wait_for_turn", args{"handle": "B"}); !slices.Equal(out.texts(), []string{"@B one", "@B three"}) {
			t.Errorf("%+v", out)
		}
	},
	"46 a message has a limit": func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		d.refuse("A", "invalid", "@B"+strings.Repeat("x", room.MaxBody))
		d.say("A", "@B "+strings.Repeat("x", room.MaxBody-3))
		got := d.look("B")
		if m := got.NewMessages[len(got.NewMessages)-1]; !m.Cut || len(m.Content) != maxText || m.Bytes != room.MaxBody || !has(*got.SystemNotice, "wait_for_turn gives its next part") {
			t.Errorf("%.300s %s", m.Content, *got.SystemNotice)
		}
	},
}

func checkWhisper(t *testing.T) {
	d := meet(t, nil, "A", "B", "C")
	before := d.list("C")
	d.look("C")
	do[turnResult](d.of("A"), "whisper_message", args{"sender": "A", "target": []string{"@b"}, "content": "psst", "block": false})
	if out := d.look("C"); len(out.NewMessages) != 0 {
		t.Errorf("%+v", out)
	}
	if after := d.list("C"); after.Count != before.Count {
		t.Errorf("%d entries, then %d", before.Count, after.Count)
	}
	got := d.look("B")
	if m := got.NewMessages[len(got.NewMessages)-1]; m.Content != "psst" || !m.IsPrivate || m.Sender != "@A" || !slices.Equal(m.Recipients, []string{"@B"}) {
		t.Errorf("%+v", got)
	}
	if f := d.file(); has(f, "psst") {
		t.Error(f)
	}
	// What comes after has the next number for C too.
	d.sent("B", "@C hello", "@C")
	if out := d.look("C"); len(out.NewMessages) != 1 || out.NewMessages[0].SeqID != before.Count+1 {
		t.Errorf("%+v after %d", out, before.Count)
	}
}

func checkInit(t *testing.T) {
	d := meet(t, nil, "A", "B")
	d.sent("A", "@B the old one", "@B")
	again := args{"filepath": "debate.md", "participants": []string{"A", "B"}}
	r := deny(d.of("host"), "conflict", "init_conversation", again)
	if !has(r.Message, "@A", "@B") || !has(string(r.Detail), `"present":["A","B"]`) || !has(r.Hint, "force") || !has(d.file(), "the old one") {
		t.Errorf("%+v", r)
	}
	// A stranger cannot close it, and is not told to.
	if r := deny(d.of("stranger"), "conflict", "init_conversation", again); has(r.Hint, "force") || !has(r.Hint, "another filepath") {
		t.Errorf("a stranger is told: %s", r.Hint)
	}
	write(t, filepath.Join(d.root, "notes.md"), "mine")
	elsewhere := filepath.Join(t.TempDir(), "x.md")
	if err := os.Symlink(filepath.Join(d.root, "notes.md"), filepath.Join(d.root, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"notes.md", "link.md", "../x.md", elsewhere} {
		for _, force := range []bool{false, true} {
			if _, err := try[oldInitOut](d.of("host"), "init_conversation", args{"filepath": path, "participants": []string{"A"}, "force": force}); err == nil || has(err.Error(), "--") {
				t.Errorf("%s with force %v: %v", path, force, err)
			}
		}
	}
	if raw, _ := os.ReadFile(filepath.Join(d.root, "notes.md")); string(raw) != "mine" {
		t.Errorf("notes.md is %q", raw)
	}
	blocked := later(context.Background(), d.of("A"), "wait_for_turn", args{"handle": "A"})
	d.waiting("host", "A")
	again["force"] = true
	out := do[oldInitOut](d.of("host"), "init_conversation", again)
	if raw, err := os.ReadFile(out.Kept); err != nil || !has(string(raw), "the old one") || has(d.file(), "the old one") {
		t.Errorf("%+v, %v", out, err)
	}
	if closed := d.got(blocked); closed.Status != "closed" {
		t.Errorf("%+v", closed)
	}
	// Whoever joins now is in the new one.
	d.join("A", "B")
	if l := d.list("A"); l.Conversation != out.Conversation || l.Count != 3 {
		t.Errorf("%+v", l)
	}
	// The file of one that was closed is not written over either.
	d.sent("A", "@B the second", "@B")
	do[roomOut](d.of("A"), "room_do", args{"action": "leave"})
	do[roomOut](d.of("host"), "room_do", args{"action": "close", "room": out.Conversation, "text": "decided"})
	delete(again, "force")
	if r := deny(d.of("host"), "conflict", "init_conversation", again); !has(r.Hint, "force=true") || !has(d.file(), "the second", "decided") {
		t.Errorf("%+v", r)
	}
	again["force"] = true
	out = do[oldInitOut](d.of("host"), "init_conversation", again)
	if raw, err := os.ReadFile(out.Kept); err != nil || !has(string(raw), "the second") || has(d.file(), "the second") {
		t.Errorf("%+v, %v", out, err)
	}
}
