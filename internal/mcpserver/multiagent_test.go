package mcpserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/proc"
	"bureau/internal/room"
)

// debate is a conversation over several servers, one for each handle, all in
// one project.
type debate struct {
	t    *testing.T
	b    *bench
	root string
	by   map[string]*client   // by the handle without its sign
	proc map[string]*exec.Cmd // what stands for their clients
}

func newDebate(t *testing.T) *debate {
	t.Helper()
	return &debate{t: t, b: newBench(t), root: t.TempDir(), by: map[string]*client{}, proc: map[string]*exec.Cmd{}}
}

// of gives the server of a participant.
func (d *debate) of(handle string) *client {
	d.t.Helper()
	if d.by[handle] == nil {
		cmd := exec.Command("sleep", "100")
		if err := cmd.Start(); err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		id, ok := proc.Of(cmd.Process.Pid)
		if !ok {
			d.t.Fatal("the process is gone")
		}
		d.proc[handle] = cmd
		d.by[handle] = d.server(handle, id)
	}
	return d.by[handle]
}

// server starts a server of a participant's client.
func (d *debate) server(handle string, process proc.ID) *client {
	d.t.Helper()
	return d.b.client(seat{name: "s-" + handle, tools: []string{setMultiagent, setRoom}, env: map[string]string{claude.EnvProject: d.root}, above: []proc.ID{process}})
}

// kill ends the client of a participant, and with it its server.
func (d *debate) kill(handle string) {
	d.t.Helper()
	if err := d.proc[handle].Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	d.proc[handle].Wait()
	d.by[handle].Close()
}

// open opens a conversation of these participants.
func (d *debate) open(more args, handles ...string) oldInitOut {
	d.t.Helper()
	a := args{"filepath": "debate.md", "participants": handles, "topic": "the plan"}
	for k, v := range more {
		a[k] = v
	}
	return do[oldInitOut](d.of("host"), "init_conversation", a)
}

// join lets them in, without waiting.
func (d *debate) join(handles ...string) {
	d.t.Helper()
	for _, h := range handles {
		if out := do[turnResult](d.of(h), "join_conversation", args{"handle": h, "block": false}); out.Status != "joined" {
			d.t.Fatalf("%s: %+v", h, out)
		}
	}
}

// meet opens a conversation in which all are.
func meet(t *testing.T, more args, handles ...string) *debate {
	t.Helper()
	d := newDebate(t)
	d.open(more, handles...)
	d.join(handles...)
	return d
}

// say says something without waiting.
func (d *debate) say(who, text string, more ...args) turnResult {
	d.t.Helper()
	return do[turnResult](d.of(who), "send_message", with(args{"sender": who, "content": text, "block": false}, more...))
}

func (d *debate) sent(who, text string, to ...string) turnResult {
	d.t.Helper()
	out := d.say(who, text)
	if out.Status != "sent" || out.Sent == nil || !slices.Equal(out.Sent.Recipients, to) {
		d.t.Fatalf("%s says %q: %+v %+v, want for %v", who, text, out, out.Sent, to)
	}
	return out
}

func (d *debate) refuse(who, code, text string, more ...args) *refused {
	d.t.Helper()
	return deny(d.of(who), code, "send_message", with(args{"sender": who, "content": text, "block": false}, more...))
}

func with(a args, more ...args) args {
	for _, m := range more {
		for k, v := range m {
			a[k] = v
		}
	}
	return a
}

// look waits no moment and gives what there is.
func (d *debate) look(who string) turnResult {
	d.t.Helper()
	return do[turnResult](d.of(who), "wait_for_turn", args{"handle": who, "timeout_seconds": 0})
}

func (d *debate) list(who string) oldListOut {
	d.t.Helper()
	return do[oldListOut](d.of(who), "list_participants", nil)
}

// floor checks who has the floor and who is next.
func (d *debate) floor(who string, holder string, queue ...string) {
	d.t.Helper()
	l := d.list(who)
	got := ""
	if l.ActiveTurn != nil {
		got = *l.ActiveTurn
	}
	if got != holder || !slices.Equal(l.Queue, append([]string{}, queue...)) {
		d.t.Fatalf("%s has the floor, next %v; want %s, next %v", got, l.Queue, holder, queue)
	}
}

type turned struct {
	out turnResult
	err error
}

// later calls a tool in the background.
func later(ctx context.Context, c *client, tool string, a args) chan turned {
	done := make(chan turned, 1)
	go func() {
		out, err := tryWith[turnResult](ctx, c, tool, a, nil)
		done <- turned{out, err}
	}()
	return done
}

// waiting waits until a call of somebody is held in the conversation.
func (d *debate) waiting(by string, handles ...string) {
	d.t.Helper()
	for _, h := range handles {
		eventually(d.t, h+" waits", func() bool {
			for _, m := range d.list(by).Participants {
				if m.Handle == "@"+h && m.Waiting {
					return true
				}
			}
			return false
		})
	}
}

func (d *debate) got(done chan turned) turnResult {
	d.t.Helper()
	select {
	case r := <-done:
		if r.err != nil {
			d.t.Fatal(r.err)
		}
		return r.out
	case <-time.After(20 * time.Second):
		d.t.Fatal("the call does not come back")
	}
	return turnResult{}
}

// texts are the messages of a result that somebody said.
func (r *turnResult) texts() (list []string) {
	for _, m := range r.NewMessages {
		if m.Sender != system {
			list = append(list, m.Content)
		}
	}
	return list
}

// TestMultiagent are the acceptance checks of reference/multiagent.md that a
// client of these tools can see; their numbers are the names. 1 to 46 without:
// 18 and 25 are here for all columns; 36, 37 and 40 have their large tests
// beside the transcript and the office; 41 has the other side in package cli;
// 44 comes with serving over HTTP; 45 is the command line's.
func TestMultiagent(t *testing.T) {
	checks := map[string]func(*testing.T){
		"01 handles are normalised": func(t *testing.T) {
			d := newDebate(t)
			out := d.open(nil, "Alice", " @Bob ", "@Bob", "@user")
			if !slices.Equal(out.Participants, []string{"@Alice", "@Bob", "@user"}) || out.Status != "initialized" {
				t.Errorf("%+v", out)
			}
		},
		"02 what is no handle registers nobody": func(t *testing.T) {
			d := newDebate(t)
			bad := []string{"", "@", "@all", "@system", "a b", "a|b", "a\nb", "@@Bob", strings.Repeat("x", 10000)}
			for _, h := range bad {
				deny(d.of("host"), "invalid", "init_conversation", args{"filepath": "debate.md", "participants": []string{"A", h}})
			}
			if _, err := os.Stat(filepath.Join(d.root, "debate.md")); err == nil {
				t.Error("a refused conversation has a file")
			}
			d.open(nil, "A", "B")
			for _, h := range bad {
				deny(d.of("A"), "invalid", "join_conversation", args{"handle": h})
			}
			if l := d.list("host"); len(l.Participants) != 2 || len(l.Active) != 0 {
				t.Errorf("%+v", l)
			}
		},
		"03 case and punctuation": func(t *testing.T) {
			meet(t, nil, "A", "Bob").sent("A", "ask @bob.", "@Bob")
		},
		"04 code does not address": func(t *testing.T) {
			meet(t, nil, "A", "B", "C").sent("A", "```\n@C\n```\n`@C` @B", "@B")
		},
		"05 fences of any length": func(t *testing.T) {
			d := meet(t, args{"column": "description"}, "A", "B", "C")
			for _, text := range []string{"~~~\n@C\n~~~\n@B", "``@C ` @C`` @B", "````\n```\n@C\n```\n@C\n````\n@B", "@B\n```\n@C"} {
				d.sent("A", text, "@B")
			}
		},
		"06 mail addresses, links, escapes": func(t *testing.T) {
			d := meet(t, args{"column": "description"}, "A", "B", "C")
			for _, text := range []string{"x@B.com", "https://h/@B", "git@B", `\@B`} {
				d.refuse("A", "invalid", text)
				d.sent("A", text+" @C", "@C")
			}
			if out := do[turnResult](d.of("A"), "whisper_message", args{"sender": "A", "target": "@B", "content": "write to x@C.com", "block": false}); out.Status != "sent" {
				t.Errorf("%+v", out)
			}
		},
		"07 punctuation around": func(t *testing.T) {
			d := meet(t, args{"column": "description"}, "A", "B")
			for _, text := range []string{"_@B_", "@B-", "@B’s", "@B:"} {
				d.sent("A", text, "@B")
			}
		},
		"08 every script and normal form": func(t *testing.T) {
			d := meet(t, args{"column": "description"}, "A", "李", "Ștefan", "Éric")
			for text, want := range map[string]string{"@李": "@李", "@s\u0326TEFAN": "@Ștefan", "@e\u0301RIC": "@Éric"} {
				d.sent("A", text, want)
			}
		},
		"09 one point per member and message": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C")
			d.sent("A", "@B @B @B and @C", "@B", "@C")
			d.floor("A", "@B", "@C")
		},
		"10 a message for nobody": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C")
			before := d.list("A")
			file := d.file()
			for _, text := range []string{"hello", "@dave", "@A", "@A and @dave"} {
				if r := d.refuse("A", "invalid", text); !has(r.Hint, "@B", "@C", "@all") || !has(string(r.Detail), "no_recipient") {
					t.Errorf("%+v", r)
				}
			}
			if after := d.list("A"); after.Count != before.Count || d.file() != file {
				t.Errorf("%+v, then %+v", before, after)
			}
			d.floor("A", "@A")
		},
		"11 @all": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C", "D")
			d.sent("A", "@all", "@B", "@C", "@D")
			d.floor("A", "@B", "@C", "@D")
		},
		"12 no whisper to all": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C")
			before := d.list("A").Count
			for _, p := range []args{{"private": []string{"B"}}, {"private": true}, {"is_private": true}} {
				d.refuse("A", "invalid", "@B @ALL", p)
			}
			for _, list := range [][]string{{"@all"}, {"B", "@ALL"}} {
				d.refuse("A", "invalid", "x", args{"private": list})
				deny(d.of("A"), "invalid", "whisper_message", args{"sender": "A", "target": list, "content": "x"})
			}
			if d.list("A").Count != before {
				t.Error("something was stored")
			}
		},
		"13 @all beside a name": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C", "D")
			out := d.sent("A", "@all but @C first", "@C", "@B", "@D")
			if out.SystemNotice == nil || !has(*out.SystemNotice, "@C", "first") {
				t.Errorf("%+v", out)
			}
			d = meet(t, args{"column": "code"}, "A", "B", "C", "D")
			out = d.sent("A", "@all but @C first", "@C")
			if out.SystemNotice == nil || !has(*out.SystemNotice, "@all", "@C") {
				t.Errorf("%+v", out)
			}
		},
		"14 first in, first out": func(t *testing.T) {
			d := meet(t, nil, "A", "B", "C")
			d.sent("A", "@B @C", "@B", "@C")
			d.floor("A", "@B", "@C")
			d.sent("B", "@A", "@A")
			d.floor("A", "@C", "@A")
			d.sent("C", "@B", "@B")
			d.floor("A", "@A", "@B")
		},
		"15 in the order of mention": func(t *testing.T) {
			for _, column := range []string{"", "code"} {
				d := meet(t, args{"column": column}, "A", "B", "C")
				d.sent("A", "@C and @B", "@C", "@B")
				d.floor("A", "@C", "@B")
			}
		},
		"16 nobody starves": func(t *testing.T) {
			for _, column := range []string{"", "code"} {
				d := meet(t, args{"column": column}, "A", "B", "C", "D")
				d.sent("A", "@B @C @D", "@B", "@C", "@D")
				others := map[string]string{"@A": "@B @C", "@B": "@A @C", "@C": "@A @B"}
				for turns := 0; ; turns++ {
					holder := *d.list("A").ActiveTurn
					if holder == "@D" {
						break
					}
					if turns > 8 {
						t.Fatalf("%q: D has not spoken after %d turns", column, turns)
					}
					d.say(holder[1:], others[holder])
				}
			}
		},
		"17 out of turn": func(t *testing.T) {
			for _, column := range []string{"", "code"} {
				d := meet(t, args{"column": column}, "A", "B", "C")
				before := d.list("A").Count
				out := d.say("B", "@A")
				if out.Status != "not_your_turn" || *out.ActiveTurn != "@A" || len(out.ActiveParticipants) != 3 || out.Error == nil || !has(*out.Error, "@A has the floor") || *out.SystemNotice != *out.Error || out.Sent != nil {
					t.Errorf("%+v", out)
				}
				deny(d.of("Z"), "not_found", "send_message", args{"sender": "Z", "content": "@A"})
				if l := d.list("A"); l.Count != before || len(l.Participants) != 3 {
					t.Errorf("%+v", l)
				}
				d.sent("A", "@B @C", "@B", "@C")
				if out := d.say("C", "@A"); !has(*out.Error, "you are next", "wait_for_turn") || !slices.Equal(out.CurrentQueue, []string{"@C"}) {
					t.Errorf("%+v", out)
				}
				if out := do[turnResult](d.of("C"), "whisper_message", args{"sender": "C", "target": "@A", "content": "psst"}); out.Status != "not_your_turn" {
					t.Errorf("%+v", out)
				}
			}
		},
		"18 an open floor": func(t *testing.T) {
			d := meet(t, args{"column": "description"}, "A", "B", "C")
			d.sent("B", "@C", "@C")
			d.floor("A", "@A", "@C")
			d.sent("A", "@B", "@B")
			d.floor("A", "@C", "@B")
		},
		"19 a barrier of two": func(t *testing.T) {
			for _, first := range []string{"A", "B"} {
				d := newDebate(t)
				d.open(args{"first_speaker": first}, "A", "B", "C")
				a := later(context.Background(), d.of("A"), "join_conversation", args{"handle": "A"})
				d.waiting("host", "A")
				if l := d.list("host"); !slices.Equal(l.Missing, []string{"@B", "@C"}) {
					t.Errorf("%+v", l)
				}
				if out := do[turnResult](d.of("A"), "send_message", args{"sender": "A", "content": "@B"}); out.Status != "not_your_turn" || !has(*out.Error, "1 of @B, @C") {
					t.Errorf("%+v", out)
				}
				b := do[turnResult](d.of("B"), "join_conversation", args{"handle": "B"})
				want := map[string]string{"A": "joined", "B": "joined", first: "your_turn"}
				out := d.got(a)
				if out.Status != want["A"] || b.Status != want["B"] || !slices.ContainsFunc(out.NewMessages, func(m oldMessage) bool { return m.Sender == system && has(m.Content, "@B joined") }) {
					t.Errorf("%s first: %+v, and B %+v", first, out, b)
				}
			}
		},
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
			for _, h := range []string{"Alice", "Bob"} {
				calls = append(calls, later(context.Background(), d.of(h), "join_conversation", args{"handle": h, "timeout_seconds": 2}))
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
			out := do[turnResult](d.of("C"), "wait_for_turn", args{"handle": "C", "timeout_seconds": 20})
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
			for _, h := range []string{"A", "B"} {
				do[turnResult](d.of("host"), "join_conversation", args{"handle": h, "block": false})
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
			if m := got.NewMessages[len(got.NewMessages)-1]; !m.Cut || len(m.Content) > maxText+200 || !has(m.Content, "room read") {
				t.Errorf("%.300s", m.Content)
			}
		},
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
}

// file is the transcript.
func (d *debate) file() string {
	d.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.root, "debate.md"))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
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
	write(t, filepath.Join(d.root, "notes.md"), "mine")
	elsewhere := filepath.Join(t.TempDir(), "x.md")
	if err := os.Symlink(filepath.Join(d.root, "notes.md"), filepath.Join(d.root, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"notes.md", "link.md", "../x.md", elsewhere} {
		for _, force := range []bool{false, true} {
			if _, err := try[oldInitOut](d.of("host"), "init_conversation", args{"filepath": path, "participants": []string{"A"}, "force": force}); err == nil {
				t.Errorf("%s is taken, force %v", path, force)
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
