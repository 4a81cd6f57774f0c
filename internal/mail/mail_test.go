package mail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// talk is a thread on which examples are played.
type talk struct {
	t   *testing.T
	th  Thread
	now time.Time
	n   int
}

func newTalk(t *testing.T, hops int, members ...event.ID) *talk {
	t.Helper()
	x := &talk{t: t, now: start}
	x.ok(OpenThread{Thread: "T", Subject: "s", Owner: members[0], Members: members[1:], Hops: hops})
	return x
}

func (x *talk) try(c Command) ([]event.Event, error) {
	x.t.Helper()
	events, err := Decide(&x.th, c, x.now, nameOf)
	for _, e := range events {
		x.th.Apply(e, x.now)
	}
	return events, err
}

func (x *talk) ok(c Command) []event.Event {
	x.t.Helper()
	events, err := x.try(c)
	if err != nil {
		x.t.Fatalf("%+v: %v", c, err)
	}
	return events
}

func (x *talk) refused(code fault.Code, c Command, words ...string) {
	x.t.Helper()
	_, err := x.try(c)
	if !fault.Is(err, code) {
		x.t.Fatalf("%+v: %v, want %s", c, err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error()+" "+fault.HintOf(err), w) {
			x.t.Errorf("%q does not say %q", err.Error()+" "+fault.HintOf(err), w)
		}
	}
}

// msg makes a message with a new id.
func (x *talk) msg(from event.ID, kind Kind, to ...event.ID) Send {
	x.n++
	return Send{Notice: event.ID(fmt.Sprintf("N%d", x.n)), Message: Message{ID: event.ID(fmt.Sprintf("M%d", x.n)), From: from, To: to, Kind: kind, Body: "x"}}
}

func (x *talk) ask(from event.ID, to ...event.ID) event.ID {
	x.t.Helper()
	c := x.msg(from, Question, to...)
	x.ok(c)
	return c.Message.ID
}

// sent gives the message among events.
func sent(t *testing.T, events []event.Event) (m Message) {
	t.Helper()
	for _, e := range events {
		if e.Kind == KindSent {
			if err := e.Decode(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

func kinds(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

func TestEachMessageCostsOneHop(t *testing.T) {
	x := newTalk(t, 0, "ana", "bob")
	if x.th.Left != DefaultHops {
		t.Fatalf("%d hops by default", x.th.Left)
	}
	got := 0
	for i := range 100 {
		from := []event.ID{"ana", "bob"}[i%2]
		if events, err := x.try(x.msg(from, Note)); err == nil {
			got++
			if last := got == DefaultHops; strings.Contains(kinds(events), string(KindExhausted)) != last {
				t.Fatalf("message %d: %s", got, kinds(events))
			}
		} else if !fault.Is(err, fault.Conflict) {
			t.Fatal(err)
		}
	}
	if got != DefaultHops || x.th.Status != Exhausted {
		t.Fatalf("%d messages, thread is %s", got, x.th.Status)
	}
	x.refused(fault.Denied, Grant{By: "bob", Hops: 3}, "ana")
	x.ok(Grant{By: "ana", Hops: 1})
	x.ok(x.msg("bob", Note))
	x.refused(fault.Conflict, x.msg("bob", Note), "used up", "bureau thread grant")
}

func TestAQuestionKeepsAHopForItsAnswer(t *testing.T) {
	x := newTalk(t, 3, "ana", "bob")
	x.ok(x.msg("ana", Note))
	q := x.ask("ana", "bob")
	// One hop is left and it is the answer's.
	x.refused(fault.Conflict, x.msg("ana", Note), "kept for the answers", string(q))
	n := x.msg("bob", Note)
	x.refused(fault.Conflict, n, "kept for the answers")
	m := sent(t, x.ok(x.msg("bob", "")))
	if m.Answers != q || x.th.Left != 0 {
		t.Fatalf("%+v, %d left", m, x.th.Left)
	}

	x = newTalk(t, 1, "ana", "bob")
	x.refused(fault.Conflict, x.msg("ana", Question, "bob"), "needs 2")
	x = newTalk(t, 3, "ana", "bob", "carla", "dan")
	x.refused(fault.Conflict, x.msg("ana", Question, "bob", "carla", "dan"), "needs 4")
	x.ask("ana", "bob", "carla")
	x.refused(fault.Conflict, x.msg("dan", Note, "ana"), "kept for the answers")
	x.ok(x.msg("carla", Answer))
	x.ok(x.msg("bob", Answer))
	if x.th.Status != Exhausted {
		t.Fatalf("%+v", x.th)
	}

	// Repeated recipients are one recipient.
	x = newTalk(t, 2, "ana", "bob")
	x.ask("ana", "bob", "bob", "bob")
	if len(x.th.Questions) != 1 {
		t.Fatalf("%+v", x.th.Questions)
	}
}

func TestWhatAMessageAnswers(t *testing.T) {
	t.Run("one open question", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		q := x.ask("ana", "bob")
		m := sent(t, x.ok(x.msg("bob", "")))
		if m.Kind != Answer || m.Answers != q || m.ReplyTo != q || !slices.Equal(m.To, []event.ID{"ana"}) {
			t.Fatalf("%+v", m)
		}
		x.refused(fault.Conflict, x.msg("bob", Answer), "no question waits")
		if m := sent(t, x.ok(x.msg("bob", ""))); m.Kind != Note {
			t.Fatalf("%+v", m)
		}
	})
	t.Run("several open questions", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		first, second := x.ask("ana", "bob"), x.ask("ana", "bob")
		x.refused(fault.Conflict, x.msg("bob", ""), string(first), string(second), "bureau answer")
		c := x.msg("bob", "")
		c.Message.Answers = second
		if m := sent(t, x.ok(c)); m.Answers != second {
			t.Fatalf("%+v", m)
		}
		if m := sent(t, x.ok(x.msg("bob", ""))); m.Answers != first {
			t.Fatalf("%+v", m)
		}
	})
	t.Run("a reply names its question", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		first, _ := x.ask("ana", "bob"), x.ask("ana", "bob")
		c := x.msg("bob", "", "ana")
		c.Message.ReplyTo = first
		if m := sent(t, x.ok(c)); m.Answers != first {
			t.Fatalf("%+v", m)
		}
	})
	t.Run("said to be a note", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		x.ask("ana", "bob")
		for _, kind := range []Kind{Note, Update, Request, Ack, Error, Broadcast} {
			c := x.msg("bob", kind)
			if m := sent(t, x.ok(c)); m.Answers != "" || m.Kind != kind {
				t.Fatalf("%+v", m)
			}
			x.ok(Grant{By: "ana", Hops: 1})
		}
		c := x.msg("bob", "")
		c.NotAnswer = true
		if m := sent(t, x.ok(c)); m.Answers != "" || len(x.th.Questions) != 1 {
			t.Fatalf("%+v", m)
		}
	})
	t.Run("a question back", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		q := x.ask("ana", "bob")
		x.ask("bob", "ana")
		if len(x.th.Questions) != 2 {
			t.Fatalf("%+v", x.th.Questions)
		}
		c := x.msg("bob", Question, "ana")
		c.Message.Answers = q
		x.refused(fault.Invalid, c, "cannot be a question")
		c = x.msg("bob", "")
		c.Message.Answers, c.NotAnswer = q, true
		x.refused(fault.Invalid, c)
	})
	t.Run("written to somebody else", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob", "carla")
		x.ask("ana", "bob")
		if m := sent(t, x.ok(x.msg("bob", "", "carla"))); m.Kind != Note || len(x.th.Questions) != 1 {
			t.Fatalf("%+v", m)
		}
		if m := sent(t, x.ok(x.msg("bob", "", "carla", "ana"))); m.Kind != Answer || len(m.To) != 2 {
			t.Fatalf("%+v", m)
		}
	})
	t.Run("the answer goes where the asker said", func(t *testing.T) {
		x := newTalk(t, 8, "ana", "bob")
		c := x.msg("ana", Question, "bob")
		c.Message.AnswerTo = "carla"
		x.ok(c)
		if !x.th.Has("carla") {
			t.Fatal("carla gets the answer without taking part")
		}
		if m := sent(t, x.ok(x.msg("bob", ""))); !slices.Equal(m.To, []event.ID{"carla"}) {
			t.Fatalf("%+v", m)
		}
	})
}

func TestForgedAnswers(t *testing.T) {
	x := newTalk(t, 20, "ana", "bob", "carla")
	q := x.ask("ana", "bob")
	named := func(from event.ID, question event.ID) Send {
		c := x.msg(from, Answer)
		c.Message.Answers = question
		return c
	}
	x.refused(fault.Denied, named("carla", q), "bob")
	x.refused(fault.Denied, named("ana", q))
	x.refused(fault.Denied, named("eve", q), "takes no part")
	x.refused(fault.Conflict, named("bob", "nonsense"), "not open")
	x.ok(named("bob", q))
	x.refused(fault.Conflict, named("bob", q), "not open")
	withdrawn := x.ask("ana", "bob")
	x.refused(fault.Denied, Withdraw{By: "bob", Question: withdrawn}, "ana")
	x.ok(Withdraw{By: "ana", Question: withdrawn})
	x.refused(fault.Conflict, named("bob", withdrawn))
	x.refused(fault.NotFound, Withdraw{By: "ana", Question: withdrawn})
	x.refused(fault.Invalid, x.msg("bob", Question, "bob"))
}

func TestStrangers(t *testing.T) {
	x := newTalk(t, 8, "ana", "bob")
	q := x.ask("ana", "bob")
	for _, c := range []Command{
		x.msg("eve", Note, "ana"), x.msg("eve", Question, "ana"), Add{By: "eve", Agent: "eve"}, Add{By: "eve", Agent: "carla"},
		Grant{By: "eve", Hops: 1}, Close{By: "eve"}, Withdraw{By: "eve", Question: q},
	} {
		_, err := x.try(c)
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%T: %v", c, err)
			continue
		}
		if words := err.Error() + fault.HintOf(err); strings.Contains(words, "ana") || strings.Contains(words, "bob") {
			t.Errorf("%T tells a stranger who is in there: %s", c, words)
		}
	}
	// A participant lets somebody in, by adding or by writing to them.
	x.ok(Add{By: "bob", Agent: "carla"})
	if events := x.ok(x.msg("ana", Note, "dan")); kinds(events) != "thread.joined message.sent" {
		t.Fatal(kinds(events))
	}
	if events := x.ok(Add{By: "bob", Agent: "carla"}); len(events) != 0 {
		t.Fatalf("added twice: %s", kinds(events))
	}
}

// Who stands in for an owner: the person always, every participant once the
// owner is retired, a stranger never.
func TestStandingIn(t *testing.T) {
	orphaned, person := StandIn{Orphaned: true}, StandIn{Person: true}
	x := newTalk(t, 2, "ana", "bob")
	x.refused(fault.Denied, Grant{By: "bob", Hops: 1}, "ana", "only the owner")
	x.refused(fault.Denied, Grant{By: "eve", Hops: 1, StandIn: orphaned}, "no part")
	x.refused(fault.Denied, Close{By: "eve", StandIn: orphaned}, "no part")
	if got := kinds(x.ok(Grant{By: "bob", Hops: 1, StandIn: orphaned})); got != "thread.granted" {
		t.Fatal(got)
	}
	if got := kinds(x.ok(Grant{By: "user", Hops: 1, StandIn: person})); got != "thread.granted" {
		t.Fatal(got)
	}
	x.refused(fault.Invalid, Grant{By: "user", Hops: MaxHops, StandIn: person}, "cannot grant")
	if got := kinds(x.ok(Close{By: "bob", StandIn: orphaned})); got != "thread.closed" {
		t.Fatal(got)
	}
	x.refused(fault.Conflict, Grant{By: "user", Hops: 1, StandIn: person}, "closed")
	x = newTalk(t, 2, "ana", "bob")
	x.ask("ana", "bob")
	if got := kinds(x.ok(Close{By: "user", StandIn: person})); got != "question.ended thread.closed" {
		t.Fatal(got)
	}
}

func TestClosing(t *testing.T) {
	x := newTalk(t, 8, "ana", "bob")
	x.ask("ana", "bob")
	x.ask("bob", "ana")
	x.refused(fault.Denied, Close{By: "bob"}, "ana", "only the owner")
	if got := kinds(x.ok(Close{By: "ana", Reason: "done"})); got != "question.ended question.ended thread.closed" {
		t.Fatal(got)
	}
	if events := x.ok(Close{By: "ana"}); len(events) != 0 {
		t.Fatal("closed twice")
	}
	for _, c := range []Command{x.msg("bob", Note), x.msg("ana", Note), Add{By: "ana", Agent: "carla"}, Grant{By: "ana", Hops: 1}} {
		x.refused(fault.Conflict, c, "closed")
	}
	x.refused(fault.Conflict, OpenThread{Thread: "T", Owner: "ana"}, "exists")
}

func TestExpiry(t *testing.T) {
	x := newTalk(t, 4, "ana", "bob")
	c := x.msg("ana", Question, "bob")
	c.Message.Expires = start.Add(time.Hour)
	x.ok(c)
	note := x.msg("ana", Note, "bob")
	note.Message.Expires = start.Add(2 * time.Hour)
	x.ok(note)
	x.now = start.Add(59 * time.Minute)
	if events := x.ok(Sweep{}); len(events) > 0 {
		t.Fatal(kinds(events))
	}
	x.now = start.Add(time.Hour)
	// Whatever is done next, what is due ends first: the answer comes too late.
	x.refused(fault.Conflict, x.msg("bob", Answer), "no question waits")
	if got := kinds(x.ok(Sweep{})); got != "question.ended message.expired" {
		t.Fatal(got)
	}
	if events := x.ok(Sweep{}); len(events) > 0 {
		t.Fatal("expired twice")
	}
	x.now = start // the clock jumps back
	if got := kinds(x.ok(x.msg("bob", Note))); got != "message.sent" {
		t.Fatal(got)
	}
	if !x.th.Last.Equal(start.Add(time.Hour)) {
		t.Fatalf("the thread's time went back to %s", x.th.Last)
	}
	late := x.msg("ana", Note, "bob")
	late.Message.Expires = start.Add(30 * time.Minute)
	x.refused(fault.Invalid, late, "past")
}
