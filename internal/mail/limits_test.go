package mail

import (
	"fmt"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
)

func TestNoThread(t *testing.T) {
	for _, c := range []Command{
		Send{Message: Message{ID: "M", From: "ana", To: []event.ID{"bob"}, Body: "x"}}, Add{By: "ana", Agent: "bob"}, Grant{By: "ana", Hops: 1},
		Close{By: "ana"}, Withdraw{By: "ana", Question: "Q"},
	} {
		if _, err := Decide(&Thread{}, c, start, nameOf); !fault.Is(err, fault.NotFound) {
			t.Errorf("%T: %v", c, err)
		}
	}
	for _, c := range []Command{Sweep{}, Leave{Agent: "ana"}} {
		if events, err := Decide(&Thread{}, c, start, nameOf); err != nil || len(events) > 0 {
			t.Errorf("%T: %v, %v", c, events, err)
		}
	}
}

func TestLimits(t *testing.T) {
	x := newTalk(t, 8, "ana", "bob")
	with := func(change func(*Message)) Send {
		c := x.msg("ana", Note, "bob")
		change(&c.Message)
		return c
	}
	x.ok(with(func(m *Message) { m.Body = strings.Repeat("x", MaxBody) }))
	x.refused(fault.Invalid, with(func(m *Message) { m.Body = strings.Repeat("x", MaxBody+1) }), "1 MiB")
	x.refused(fault.Invalid, with(func(m *Message) { m.Body, m.Blob = "", &Blob{Size: MaxBody + 1} }), "1 MiB")
	x.ok(with(func(m *Message) { m.Subject = strings.Repeat("é", MaxSubject) }))
	x.refused(fault.Invalid, with(func(m *Message) { m.Subject = strings.Repeat("é", MaxSubject+1) }), "200")
	x.refused(fault.Invalid, with(func(m *Message) { m.Files = make([]Attachment, MaxAttachments+1) }), "16")
	x.refused(fault.Invalid, with(func(m *Message) { m.Body = "" }), "empty")
	x.ok(with(func(m *Message) { m.Body, m.Files = "", make([]Attachment, 1) }))

	for _, hops := range []int{-1, MaxHops + 1} {
		if _, err := Decide(&Thread{}, OpenThread{Thread: "T", Owner: "ana", Hops: hops}, start, nameOf); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d hops: %v", hops, err)
		}
	}
	x.refused(fault.Invalid, Grant{By: "ana", Hops: MaxHops}, "1000")
	many := make([]event.ID, MaxMembers)
	for i := range many {
		many[i] = event.ID(fmt.Sprint("agent", i))
	}
	if _, err := Decide(&Thread{}, OpenThread{Thread: "T", Owner: "ana", Members: many}, start, nameOf); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	x = newTalk(t, 8, append([]event.ID{"ana"}, many[1:]...)...)
	x.refused(fault.Conflict, x.msg("ana", Note, "one too many"), "64")

	x = newTalk(t, 8, "ana", "bob", "carla")
	x.refused(fault.Invalid, x.msg("ana", Note), "bob, carla")
}

// TestANewerBureauWasHere refuses every command on a thread that holds an
// event of an unknown kind, wherever it stands.
func TestANewerBureauWasHere(t *testing.T) {
	x := newTalk(t, 8, "ana", "bob")
	q := x.ask("ana", "bob")
	x.th.Apply(event.New("thread.frozen", map[string]string{"by": "ana"}), start)
	for _, c := range []Command{
		x.msg("ana", Note), Add{By: "ana", Agent: "carla"}, Grant{By: "ana", Hops: 1}, Close{By: "ana"},
		Withdraw{By: "ana", Question: q}, Leave{Agent: "bob"}, Sweep{},
	} {
		x.refused(fault.Unavailable, c, "thread.frozen", "newer bureau")
	}
	// What is known goes on being folded.
	if x.th.Apply(event.New(KindGranted, Granted{By: "ana", Hops: 2}), start); x.th.Hops != 10 {
		t.Fatalf("%+v", x.th)
	}
}

// TestUnreadableEvents: what an event said that was erased or damaged nobody
// knows any more, so nothing more may be decided on it.
func TestUnreadableEvents(t *testing.T) {
	for _, kind := range []event.Kind{KindOpened, KindJoined, KindGranted, KindSent, KindExpired, KindEnded} {
		for _, data := range []string{"", "null]", `"x"`, "[]"} {
			x := newTalk(t, 8, "ana", "bob")
			x.th.Apply(event.Event{Kind: kind, Data: []byte(data)}, start)
			x.refused(fault.Unavailable, x.msg("ana", Note), string(kind))
		}
	}
}
