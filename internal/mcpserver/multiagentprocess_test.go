package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/agent/claude"
	"bureau/internal/office"
)

// spawn starts a server in a process of its own that speaks these tools, for an
// agent whose client is this process.
func (d *debate) spawn(agent string) *wire {
	d.t.Helper()
	w := d.b.start(serveVariable+"=multiagent", "BUREAU_NAME="+agent, claude.EnvProject+"="+d.root)
	w.initialize("2025-11-25", "x")
	return w
}

func (w *wire) call(tool string, a args) turnResult {
	w.t.Helper()
	return structured[turnResult](w, w.ask("tools/call", map[string]any{"name": tool, "arguments": a}))
}

// crash ends a server in the middle of whatever it does.
func (w *wire) crash() {
	w.t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	<-w.ended
}

// TestMultiagentCrashes are the checks in which a server dies.
func TestMultiagentCrashes(t *testing.T) {
	for name, check := range map[string]func(*testing.T, *debate, *wire){
		"30 after a slice was handed out": func(t *testing.T, d *debate, b *wire) {
			d.sent("A", "@B one", "@B")
			for range 2 {
				if got := b.call("wait_for_turn", args{"handle": "B"}); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@B one"}) {
					t.Fatalf("%+v", got)
				}
				b.crash()
				b = d.spawn("bob")
			}
			// What comes next proves it.
			b.call("wait_for_turn", args{"handle": "B"})
			if got := b.call("wait_for_turn", args{"handle": "B"}); len(got.NewMessages) != 0 {
				t.Fatalf("%+v", got)
			}
			// So does the receipt, in another process.
			b.call("send_message", args{"sender": "B", "content": "@A and?", "block": false})
			d.sent("A", "@B two", "@B")
			got := b.call("wait_for_turn", args{"handle": "B"})
			b.crash()
			b = d.spawn("bob")
			if again := b.call("wait_for_turn", args{"handle": "B", "receipt": got.Receipt}); len(again.NewMessages) != 0 || got.Receipt == "" {
				t.Fatalf("%+v, then %+v", got, again)
			}
			b.end()
		},
		"31 given up as it comes": func(t *testing.T, d *debate, b *wire) {
			d.sent("A", "@B are you there?", "@B")
			// The result is on its way when the client gives up, and is dropped.
			b.call("wait_for_turn", args{"handle": "B"})
			b.line(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": b.n}})
			if got := b.call("wait_for_turn", args{"handle": "B"}); !slices.Equal(got.texts(), []string{"@B are you there?"}) {
				t.Fatalf("%+v", got)
			}
			if got := b.call("wait_for_turn", args{"handle": "B"}); len(got.NewMessages) != 0 {
				t.Fatalf("%+v", got)
			}
			b.end()
		},
		"31 while it waits": func(t *testing.T, d *debate, b *wire) {
			b.send("tools/call", map[string]any{"name": "wait_for_turn", "arguments": args{"handle": "B"}})
			d.waiting("A", "B")
			b.crash()
			d.sent("A", "@B are you there?", "@B")
			b = d.spawn("bob")
			if got := b.call("wait_for_turn", args{"handle": "B"}); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@B are you there?"}) {
				t.Fatalf("%+v", got)
			}
			b.end()
		},
		"42 after a message was acknowledged": func(t *testing.T, d *debate, b *wire) {
			d.sent("A", "@B one", "@B")
			out := b.call("send_message", args{"sender": "B", "content": "@A two", "block": false})
			before, file := d.list("A"), d.file()
			b.crash()
			b = d.spawn("bob")
			after := structured[oldListOut](b, b.ask("tools/call", map[string]any{"name": "list_participants", "arguments": args{}}))
			if after.Count != before.Count || *after.ActiveTurn != "@A" || *after.You != "@B" || after.Conversation != before.Conversation || d.file() != file {
				t.Fatalf("%+v, then %+v", before, after)
			}
			if got := d.look("A"); got.NewMessages[len(got.NewMessages)-1].EventID != out.Sent.EventID {
				t.Fatalf("%+v", got)
			}
			b.end()
		},
		"32 before its reply came": func(t *testing.T, d *debate, b *wire) {
			d.sent("A", "@B one", "@B")
			msg := args{"sender": "B", "content": "@A once", "client_msg_id": "m-1"}
			b.send("tools/call", map[string]any{"name": "send_message", "arguments": msg}) // it waits for an answer
			eventually(t, "it is stored", func() bool { return d.list("A").ActiveTurn != nil && *d.list("A").ActiveTurn == "@A" })
			b.crash()
			b = d.spawn("bob")
			msg["block"] = false
			if out := b.call("send_message", msg); out.Status != "sent" || !out.Sent.Repeated {
				t.Fatalf("%+v", out)
			}
			if got := d.look("A"); !slices.Equal(got.texts(), []string{"@A once"}) {
				t.Fatalf("%+v", got)
			}
			b.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDebate(t)
			d.open(nil, "A", "B")
			d.join("A")
			b := d.spawn("bob")
			b.call("join_conversation", args{"handle": "B", "block": false})
			check(t, d, b)
		})
	}
}

// TestMultiagentAndOthers is check 41: who waits in a tool is woken by what is
// said elsewhere, and the reverse.
func TestMultiagentAndOthers(t *testing.T) {
	t.Parallel()
	d := newDebate(t)
	d.open(nil, "A", "user")
	user := d.b.user()
	if _, err := d.b.RoomJoin(context.Background(), user, office.Sitting{Room: "debate"}, office.Joining{}); err != nil {
		t.Fatal(err)
	}
	d.join("A")
	if _, err := d.b.RoomStart(context.Background(), user, office.Sitting{Room: "debate"}); err != nil {
		t.Fatal(err)
	}
	waited := make(chan office.Waited, 1)
	go func() {
		w, err := d.b.RoomWait(context.Background(), user, office.Sitting{Room: "debate"}, office.Waiting{Timeout: patience})
		if err != nil {
			t.Error(err)
		}
		waited <- w
	}()
	d.waiting("A", "user")
	reply := later(context.Background(), d.of("A"), "send_message", args{"sender": "A", "content": "@user which?"})
	if w := <-waited; w.Status != office.RoomYourTurn || w.Entries[len(w.Entries)-1].Text != "@user which?" {
		t.Fatalf("%+v", w)
	}
	d.waiting("host", "A")
	if _, err := d.b.RoomSay(context.Background(), user, office.Sitting{Room: "debate"}, office.Saying{Text: []byte("@A this one")}); err != nil {
		t.Fatal(err)
	}
	if got := d.got(reply); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@A this one"}) {
		t.Fatalf("%+v", got)
	}
}

// TestMultiagentMentions is case J4: with each punctuation behind it, a name is
// itself and nobody with a shorter one.
func TestMultiagentMentions(t *testing.T) {
	t.Parallel()
	all := []string{"build", "build-bot", "build.v2", "build_2", "Builder", "björn", "王", "a1"}
	d := newDebate(t)
	d.open(args{"column": "description"}, append([]string{"lead"}, all...)...)
	d.join("lead")
	for _, h := range all { // all in one session, each in a seat of its own
		do[turnResult](d.of("host"), "join_conversation", args{"handle": h, "block": false})
	}
	for _, h := range all {
		for _, tail := range []string{"", " ", ".", ",", ":", ";", "!", "?", ")", "'s", "/", "**", "`", "。"} {
			d.sent("lead", "@"+h+tail, "@"+h)
		}
	}
	for _, h := range all {
		out := do[turnResult](d.of("host"), "wait_for_turn", args{"handle": h, "timeout_seconds": 0})
		for _, m := range out.NewMessages {
			if m.Sender == "@lead" && slices.Contains(m.Recipients, "@"+h) != strings.HasPrefix(m.Content, "@"+h) && slices.Contains(m.Recipients, "@"+h) {
				t.Errorf("%s got %+v", h, m)
			}
		}
	}
}

// TestMultiagentHeld: a held call tells that it waits and ends in time; what
// comes after is delivered by the next one (case M1).
func TestMultiagentHeld(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	done := make(chan turned, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		out, err := tryWith[turnResult](ctx, d.of("B"), "wait_for_turn", args{"handle": "B", "timeout_seconds": 200}, mcp.Meta{"progressToken": 1})
		done <- turned{out, err}
	}()
	for range 2 {
		if note := <-d.of("B").notes; !has(note, "waiting in debate", "@A has the floor") {
			t.Errorf("%q", note)
		}
	}
	d.list("B") // other calls of the same connection are served
	cancel()    // the client gives up, and the server hears of it
	<-done
	eventually(t, "nobody waits", func() bool {
		for _, m := range d.list("A").Participants {
			if m.Waiting {
				return false
			}
		}
		return true
	})
	d.sent("A", "@B late", "@B")
	if got := d.look("B"); !slices.Equal(got.texts(), []string{"@B late"}) {
		t.Fatalf("%+v", got)
	}
	if out := do[turnResult](d.of("A"), "wait_for_message", args{"handle": "A", "timeout_seconds": 0.2}); out.Status != "timeout" || *out.ActiveTurn != "@B" || !has(*out.SystemNotice, "wait_for_turn") {
		t.Fatalf("%+v", out)
	}
}

// TestMultiagentShapes: names, types, defaults and fields that prompts written
// for multiagent-mcp rely on.
func TestMultiagentShapes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.client(seat{tools: []string{"multiagent"}})
	list, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ required, optional string }{
		"init_conversation": {"filepath participants", "topic first_speaker aliases force"},
		"join_conversation": {"handle", "name timeout_seconds block"},
		"list_participants": {"", ""},
		"send_message":      {"sender content", "private is_private timeout_seconds block client_msg_id"},
		"broadcast_message": {"sender content", "timeout_seconds"},
		"whisper_message":   {"sender target content", "timeout_seconds"},
		"wait_for_turn":     {"handle", "timeout_seconds"},
		"wait_for_message":  {"handle", "timeout_seconds"},
	}
	for _, tool := range list.Tools {
		schema, _ := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		w, known := want[tool.Name]
		if !known || len(required) != len(strings.Fields(w.required)) {
			t.Errorf("%s requires %v", tool.Name, required)
		}
		for _, p := range strings.Fields(w.required + " " + w.optional) {
			if properties[p] == nil {
				t.Errorf("%s has no %s", tool.Name, p)
			}
			if slices.Contains(required, any(p)) != slices.Contains(strings.Fields(w.required), p) {
				t.Errorf("%s: is %s required?", tool.Name, p)
			}
		}
		delete(want, tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	fields := func(v any, names string) {
		t.Helper()
		raw, _ := json.Marshal(v)
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		for _, n := range strings.Fields(names) {
			if _, ok := m[n]; !ok {
				t.Errorf("no %s in %s", n, raw)
			}
		}
	}
	for _, column := range []string{"", "description", "code"} {
		d := newDebate(t)
		fields(d.open(args{"column": column, "first_speaker": nil, "aliases": nil}, "A", "B"), "status filepath topic participants first_speaker aliases message")
		d.join("A", "B")
		d.sent("A", "@B hello", "@B")
		got := d.look("B")
		fields(got, "status active_turn new_messages current_queue active_participants system_notice error")
		do[roomOut](d.of("host"), "room_do", args{"action": "invite", "room": got.Conversation, "members": []string{"late"}})
		d.sent("B", "@A and you", "@A")
		if got = d.look("A"); len(got.NewMessages) < 2 || got.NewMessages[0].Sender != system {
			t.Fatalf("no notice: %+v", got)
		}
		ids := map[any]bool{}
		for _, m := range got.NewMessages { // notices too
			fields(m, "id client_msg_id seq_id sender recipients content is_private timestamp event_id")
			if number, ok := m.ID.(float64); ok == (column == "code") || ok && int64(number) != m.SeqID || !ok && m.ID != m.EventID || m.EventID == "" || ids[m.ID] {
				t.Errorf("%q: id %v, %+v", column, m.ID, m)
			}
			ids[m.ID] = true
		}
		if column == "code" && (got.SystemNotice == nil || !has(*got.SystemNotice, "debate.md", "Do not read")) {
			t.Errorf("%+v", got)
		}
		l := d.list("A")
		fields(l, "participants active_participants aliases active_turn first_speaker turn_queue message_count topic filepath")
		fields(l.Participants[0], "handle name status aliases joined_at last_read_seq_id")
		if l.Column != column {
			t.Errorf("%+v", l)
		}
	}
	// A transcript of the other columns is labelled as there.
	d := newDebate(t)
	d.open(args{"column": "code"}, "A", "B")
	if f := d.file(); !has(f, "## Fil de discussion", "**Sujet :**") {
		t.Error(f)
	}
	// The environment sets the column of conversations that name none.
	c = b.client(seat{tools: []string{"multiagent"}, env: map[string]string{ColumnVariable: "code", claude.EnvProject: t.TempDir()}})
	if out := do[oldInitOut](c, "init_conversation", args{"filepath": "", "participants": []string{}}); out.Column != "code" || out.Filepath != "" {
		t.Errorf("%+v", out)
	}
	deny(c, "invalid", "init_conversation", args{"filepath": "x.md", "participants": []string{"A"}, "column": "both"})
	deny(c, "invalid", "init_conversation", args{"filepath": "x.md", "participants": []string{"A"}, "aliases": map[string]any{"B": []string{"b"}}})
}

// TestMultiagentArguments: every form of an argument that takes several.
func TestMultiagentArguments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"@A":["x","@y"],"B":["z"]}`: "map[A:[x y] B:[z]]", `"{\"A\":[\"x\"]}"`: "map[A:[x]]", `["A:x,y","@B=z"]`: "map[A:[x y] B:[z]]",
		`["A:x=1"]`: "map[A:[x=1]]", `null`: "map[]", `""`: "map[]", `{}`: "map[]", `{"A":"x"}`: "map[A:[x]]",
	} {
		var a aliases
		if err := json.Unmarshal([]byte(in), &a); err != nil || fmt.Sprint(a.of) != want {
			t.Errorf("%s is %v, %v; want %s", in, a.of, err, want)
		}
	}
	for _, in := range []string{`5`, `["A"]`, `{"A":5}`, `{"A":[5]}`, `"x"`, `[5]`, `true`} {
		var a aliases
		if err := json.Unmarshal([]byte(in), &a); err == nil {
			t.Errorf("%s is %v", in, a.of)
		}
	}
	for in, want := range map[string]string{
		"debate.md": "debate", "notes/Debate One.md": "Debate-One", `c:\x\plan.md`: "plan", "": "conversation", "/": "conversation", ".md": "conversation",
		"all.md": "conversation", "...": "conversation", strings.Repeat("é", 200) + ".md": strings.Repeat("é", 60), "a|b.md": "a-b",
	} {
		if got := conversationName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestMultiagentBroadcast reaches everybody, also without a mention and whatever
// the text begins with.
func TestMultiagentBroadcast(t *testing.T) {
	t.Parallel()
	d := meet(t, args{"column": "description"}, "A", "B", "C")
	for _, text := range []string{"hello", "```\n@B\n```", "@all hello"} {
		out := do[turnResult](d.of("A"), "broadcast_message", args{"sender": "A", "content": text, "block": false})
		if !slices.Equal(out.Sent.Recipients, []string{"@B", "@C"}) {
			t.Errorf("%q: %+v", text, out.Sent)
		}
	}
	out := do[turnResult](d.of("A"), "broadcast_message", args{"sender": "A", "content": "@C first", "block": false})
	if !slices.Equal(out.Sent.Recipients, []string{"@C", "@B"}) || !has(*out.SystemNotice, "@C") {
		t.Errorf("%+v", out)
	}
	deny(d.of("A"), "invalid", "broadcast_message", args{"sender": "A", "content": " "})
}

// TestRoomToolLists: what a session pays for that asked for rooms.
func TestRoomToolLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for set, want := range map[string]int{"room": 8, "multiagent": 8, "room,multiagent": 16, "all,room,multiagent": 24} {
		c := b.client(seat{tools: []string{set}})
		list, err := c.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != want || len(raw) > 1500*want {
			t.Errorf("%s: %d tools of %d bytes", set, len(list.Tools), len(raw))
		}
		for _, tool := range list.Tools {
			a := tool.Annotations
			if a == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint) || tool.OutputSchema == nil || tool.Title == "" {
				t.Errorf("%s: %+v", tool.Name, tool)
			}
			m, _ := tool.InputSchema.(map[string]any)
			properties, _ := m["properties"].(map[string]any)
			for name, p := range properties {
				p, _ := p.(map[string]any)
				if _, ok := p["type"].(string); !ok && p["anyOf"] == nil {
					t.Errorf("%s: %s has the type %v", tool.Name, name, p)
				}
			}
		}
		if info := c.InitializeResult(); len(info.Instructions) > 2000 || !has(info.Instructions, "never your user's consent") {
			t.Errorf("%s: instructions %q", set, info.Instructions)
		}
	}
}
