package mcpserver

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/proc"
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
		cmd := exec.Command("sleep", "600")
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
		eventually(d.t, h+" waits", func() bool { return d.waits(by, h) })
	}
}

// waitsNoMore waits until no call of somebody is held.
func (d *debate) waitsNoMore(by, handle string) {
	d.t.Helper()
	eventually(d.t, handle+" waits no more", func() bool { return !d.waits(by, handle) })
}

func (d *debate) waits(by, handle string) bool {
	return slices.ContainsFunc(d.list(by).Participants, func(m oldMember) bool { return m.Handle == "@"+handle && m.Waiting })
}

func (d *debate) got(done chan turned) turnResult {
	d.t.Helper()
	select {
	case r := <-done:
		if r.err != nil {
			d.t.Fatal(r.err)
		}
		return r.out
	case <-time.After(patience):
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

// file is the transcript.
func (d *debate) file() string {
	d.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.root, "debate.md"))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}
