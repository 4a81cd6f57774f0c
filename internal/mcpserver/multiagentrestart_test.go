package mcpserver

import (
	"context"
	"slices"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/proc"
)

// nameless starts the client of a participant without a name of its own, in a
// new process. Its agent is whatever seat of the folder is free.
func (d *debate) nameless(handle string) {
	d.t.Helper()
	d.by[handle] = nil
	delete(d.proc, handle)
	c := d.of(handle) // the process
	c.Close()
	id, ok := proc.Of(d.proc[handle].Process.Pid)
	if !ok {
		d.t.Fatal("the process is gone")
	}
	d.by[handle] = d.b.client(seat{tools: []string{setMultiagent, setRoom}, env: map[string]string{claude.EnvProject: d.root}, above: []proc.ID{id}})
}

// TestAllComeBack: clients without names are killed and come back in any order,
// each to its own handle, turn, whispers and unread messages, whatever seat it
// gets. Who lives as a handle keeps it.
func TestAllComeBack(t *testing.T) {
	for _, order := range []string{"ABC", "CBA", "BCA"} {
		for _, how := range []string{"join_conversation", "wait_for_turn"} {
			t.Run(order+" "+how, func(t *testing.T) {
				t.Parallel()
				d := newDebate(t)
				d.open(nil, "A", "B", "C")
				for _, h := range []string{"A", "B", "C"} {
					d.nameless(h)
					d.join(h)
				}
				d.sent("A", "@B @C hello", "@B", "@C")
				d.look("B")
				whisper := args{"private": []string{"C"}, "client_msg_id": "m-1"}
				first := d.say("B", "a secret", whisper)
				// While they live nobody else is one of them.
				d.nameless("X")
				deny(d.of("X"), "denied", "join_conversation", args{"handle": "A", "block": false})
				deny(d.of("X"), "denied", "wait_for_turn", args{"handle": "C", "timeout_seconds": 0})
				deny(d.of("X"), "denied", "send_message", args{"sender": "B", "content": "a secret", "private": []string{"C"}, "client_msg_id": "m-1"})
				for _, h := range []string{"A", "B", "C", "X"} {
					d.kill(h)
				}
				for _, h := range order {
					h := string(h)
					d.nameless(h)
					if h == "B" { // its answer had not come, so it says it again
						if out := d.say("B", "a secret", whisper); out.Sent == nil || !out.Sent.Repeated || out.Sent.EventID != first.Sent.EventID {
							t.Fatalf("%+v, first %+v", out, first)
						}
					}
					in := args{"handle": h, "timeout_seconds": 0}
					if how == "join_conversation" {
						in["block"] = false
					}
					want := map[string][]string{"C": {"@B @C hello", "a secret"}}
					if got := do[turnResult](d.of(h), how, in); !slices.Equal(got.texts(), want[h]) {
						t.Errorf("%s reads %+v", h, got)
					}
					if l := d.list(h); l.You == nil || *l.You != "@"+h || !slices.Contains(l.Active, "@"+h) {
						t.Fatalf("%s is taken for %v of %+v", h, l.You, l)
					}
				}
				if got := d.look("C"); got.Status != "your_turn" || len(got.texts()) > 0 {
					t.Errorf("%+v", got)
				}
				d.sent("C", "@A go on", "@A")
				if got := d.look("A"); got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@A go on"}) {
					t.Errorf("%+v", got)
				}
				d.nameless("X")
				deny(d.of("X"), "denied", "join_conversation", args{"handle": "C", "block": false})
				if list, err := d.b.CompareTables(context.Background(), 20); err != nil || len(list) > 0 {
					t.Errorf("%v, %v", list, err)
				}
			})
		}
	}
}

// TestWhoseSeatItIs: a message to a handle wakes and shows itself to nobody who
// merely got the seat of who had that handle.
func TestWhoseSeatItIs(t *testing.T) {
	t.Parallel()
	d := newDebate(t)
	d.open(nil, "A", "B")
	for _, h := range []string{"A", "B"} {
		d.nameless(h)
		d.join(h)
	}
	d.sent("A", "@B your turn", "@B")
	d.say("B", "psst", args{"private": []string{"A"}})
	d.kill("A")
	d.nameless("X")
	before := d.list("X")
	if before.You != nil {
		t.Errorf("X is %s", *before.You)
	}
	agent, err := d.b.Agent(context.Background(), before.Participants[0].Agent)
	if err != nil {
		t.Fatal(err)
	}
	if calls, err := d.b.RoomsFor(context.Background(), agent.ID); err != nil || len(calls) > 0 {
		t.Errorf("%+v, %v", calls, err)
	}
	if h := do[roomLookOut](d.of("X"), "room", args{"room": "debate", "last": 20}); slices.ContainsFunc(h.Entries, func(e said) bool { return has(e.Text, "psst") }) {
		t.Errorf("%+v", h)
	}
	eventually(t, "A is gone", func() bool { return d.list("B").Participants[0].Status == "gone" })
	if l := d.list("B"); l.ActiveTurn != nil && *l.ActiveTurn == "@A" {
		t.Errorf("%+v", l)
	}
	d.nameless("A")
	if got := d.look("A"); !slices.Contains(got.texts(), "psst") {
		t.Errorf("%+v", got)
	}
}
