package mail

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// The people of the random schedules. ana opens every thread; eve is never
// added by anybody.
var people = []event.ID{"ana", "bob", "carla", "dan", "eve"}

func nameOf(id event.ID) string { return string(id) }

// start is when the tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ledger is what a bystander would write down about a thread, from the events
// alone and without the rules.
type ledger struct {
	granted, sent int
	put           map[[2]event.ID]event.ID // (question, asked) -> asker, ever put
	answered      map[[2]event.ID]int
	over          map[[2]event.ID]bool // answered or ended
	closed        bool
}

// machine runs random commands by random people at random moments against one
// thread and checks after every one that no promise was broken.
type machine struct {
	t     Thread
	now   time.Time
	next  int
	seen  ledger
	known []event.ID // ids of questions
}

func (m *machine) id(what string) event.ID {
	m.next++
	return event.ID(fmt.Sprintf("%s%03d", what, m.next))
}

func jsonOf(t *rapid.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// do decides a command and, if it is granted, moves the thread on.
func (m *machine) do(t *rapid.T, c Command) ([]event.Event, error) {
	before := jsonOf(t, &m.t)
	d, err := decide(&m.t, c, m.now, nameOf)
	if after := jsonOf(t, &m.t); after != before {
		t.Fatalf("%T changed its input:\n%s\n%s", c, before, after)
	}
	if err != nil {
		code := fault.CodeOf(err)
		if !slices.Contains([]fault.Code{fault.Invalid, fault.NotFound, fault.Conflict, fault.Denied}, code) || fault.HintOf(err) == "" {
			t.Fatalf("%T: %s refusal without a way out: %v", c, code, err)
		}
		return nil, err
	}
	// The state that the rules saw is the one that the stored events give,
	// also when state and events have been through the store's JSON.
	var stored Thread
	if err := json.Unmarshal([]byte(before), &stored); err != nil {
		t.Fatal(err)
	}
	at := m.now
	if at.Before(stored.Last) {
		at = stored.Last // as the journal raises it
	}
	for _, e := range d.events {
		m.note(t, e, &stored)
		stored.Apply(e, at)
	}
	if len(d.events) > 0 && jsonOf(t, &stored) != jsonOf(t, d.t) {
		t.Fatalf("%T: decided on\n%s\nfolded to\n%s", c, jsonOf(t, d.t), jsonOf(t, &stored))
	}
	m.t = stored
	for _, q := range m.t.Questions {
		if Due(q.Expires, at) {
			t.Fatalf("question %s was due at %s and is open after a command at %s", q.ID, q.Expires, at)
		}
	}
	for _, x := range m.t.Deadlines {
		if Due(x.At, at) {
			t.Fatalf("message %s was due at %s and did not expire at %s", x.ID, x.At, at)
		}
	}
	return d.events, nil
}

// note writes an event into the ledger and checks who did it; before is the
// thread just before it.
func (m *machine) note(t *rapid.T, e event.Event, before *Thread) {
	if m.seen.closed {
		t.Fatalf("%s after the thread was closed", e.Kind)
	}
	switch e.Kind {
	case KindOpened:
		var d Opened
		must(t, e.Decode(&d))
		m.seen.granted = d.Hops
	case KindGranted:
		var d Granted
		must(t, e.Decode(&d))
		if d.By != before.Owner {
			t.Fatalf("%s granted hops to %s's thread", d.By, before.Owner)
		}
		m.seen.granted += d.Hops
	case KindClosed:
		var d ClosedBy
		must(t, e.Decode(&d))
		if d.By != before.Owner {
			t.Fatalf("%s closed %s's thread", d.By, before.Owner)
		}
		m.seen.closed = true
	case KindJoined:
		var d Joined
		must(t, e.Decode(&d))
		if !before.Has(d.By) {
			t.Fatalf("%s, who takes no part, added %s", d.By, d.Agent)
		}
	case KindEnded:
		var d EndedQuestion
		must(t, e.Decode(&d))
		m.end(t, d.ID, d.Asked)
	case KindPassed:
		var d PassedOn
		must(t, e.Decode(&d))
		for _, q := range before.Questions {
			if q.Asked != d.From || d.To == "" || m.seen.over[[2]event.ID{q.ID, d.From}] {
				continue
			}
			m.end(t, q.ID, d.From)
			to := [2]event.ID{q.ID, d.To}
			if _, twice := m.seen.put[to]; twice && !m.seen.over[to] {
				t.Fatalf("%s has question %s already", d.To, q.ID)
			}
			m.seen.put[to] = q.Asker
			delete(m.seen.over, to)
			delete(m.seen.answered, to)
		}
	case KindSent:
		var d Message
		must(t, e.Decode(&d))
		m.noteSent(t, &d, before)
	}
}

func (m *machine) noteSent(t *rapid.T, d *Message, before *Thread) {
	if !before.Has(d.From) {
		t.Fatalf("%s, who takes no part, wrote", d.From)
	}
	if len(d.To) == 0 || d.Kind == "" {
		t.Fatalf("a message without recipient or kind: %+v", d)
	}
	for _, to := range d.To {
		if !before.Has(to) {
			t.Fatalf("%s got mail without being in the thread", to)
		}
	}
	m.seen.sent++
	if (d.Answers != "") != (d.Kind == Answer) {
		t.Fatalf("a %s that answers %q", d.Kind, d.Answers)
	}
	if d.Answers != "" {
		key := [2]event.ID{d.Answers, d.From}
		asker, put := m.seen.put[key]
		if !put {
			t.Fatalf("%s answered %s, which was never put to it", d.From, d.Answers)
		}
		if m.seen.answered[key]++; m.seen.answered[key] > 1 {
			t.Fatalf("%s answered %s twice", d.From, d.Answers)
		}
		m.end(t, d.Answers, d.From)
		for _, q := range before.Questions {
			if q.ID == d.Answers && q.Asked == d.From {
				if q.AnswerTo != "" {
					asker = q.AnswerTo
				}
			}
		}
		if !slices.Contains(d.To, asker) {
			t.Fatalf("the answer to %s went to %v, not to %s", d.Answers, d.To, asker)
		}
	}
	if d.Kind == Question {
		m.known = append(m.known, d.ID)
		for _, to := range d.To {
			m.seen.put[[2]event.ID{d.ID, to}] = d.From
		}
	}
}

func (m *machine) end(t *rapid.T, question, asked event.ID) {
	key := [2]event.ID{question, asked}
	if m.seen.over[key] {
		t.Fatalf("question %s to %s ended twice", question, asked)
	}
	m.seen.over[key] = true
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// check is what holds after every command.
func (m *machine) check(t *rapid.T) {
	th := &m.t
	if th.Left < 0 || th.Left != m.seen.granted-m.seen.sent || th.Hops != m.seen.granted || th.Hops > MaxHops {
		t.Fatalf("%d of %d hops left after %d grants and %d messages", th.Left, th.Hops, m.seen.granted, m.seen.sent)
	}
	if th.Free() < 0 {
		t.Fatalf("%d hops for %d open questions: one cannot be answered", th.Left, len(th.Questions))
	}
	open := 0
	for key := range m.seen.put {
		if !m.seen.over[key] {
			open++
		}
	}
	if open != len(th.Questions) {
		t.Fatalf("%d questions are open, the thread holds %d", open, len(th.Questions))
	}
	want := Open
	switch {
	case m.seen.closed:
		want = Closed
	case th.Left == 0:
		want = Exhausted
	}
	if th.Status != want {
		t.Fatalf("the thread is %s, not %s", th.Status, want)
	}
	if th.Has("eve") {
		t.Fatal("eve got in, though nobody added her")
	}
	for i, q := range th.Questions {
		if slices.ContainsFunc(th.Questions[:i], func(p OpenQuestion) bool { return p.ID == q.ID && p.Asked == q.Asked }) {
			t.Fatalf("question %s keeps two hops for one answer of %s", q.ID, q.Asked)
		}
		if q.Asker == q.Asked || !th.Has(q.Asker) || !th.Has(q.Asked) || q.AnswerTo != "" && !th.Has(q.AnswerTo) {
			t.Fatalf("question %+v among %v", q, th.Members)
		}
	}
}

// TestNoScheduleBreaksAThread lets everybody do everything at any time.
func TestNoScheduleBreaksAThread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{now: start, seen: ledger{put: map[[2]event.ID]event.ID{}, answered: map[[2]event.ID]int{}, over: map[[2]event.ID]bool{}}}
		anybody := rapid.SampledFrom(people)
		friends := rapid.SampledFrom(people[:4])
		if _, err := m.do(t, OpenThread{Thread: "T", Subject: "s", Owner: "ana", Members: []event.ID{"bob"}, Hops: rapid.IntRange(1, 6).Draw(t, "hops")}); err != nil {
			t.Fatal(err)
		}
		question := func(t *rapid.T) event.ID {
			if len(m.known) == 0 || rapid.IntRange(0, 9).Draw(t, "forged") == 0 {
				return "nonsense"
			}
			return rapid.SampledFrom(m.known).Draw(t, "question")
		}
		refuseStranger := func(t *rapid.T, by event.ID, err error) {
			if !m.t.Has(by) && !fault.Is(err, fault.Denied) {
				t.Fatalf("%s takes no part and was not denied: %v", by, err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"send": func(t *rapid.T) {
				c := Send{Notice: m.id("N"), NotAnswer: rapid.IntRange(0, 7).Draw(t, "no answer") == 0}
				c.Message = Message{
					ID: m.id("M"), From: anybody.Draw(t, "from"), Body: "x",
					To:   rapid.SliceOfN(friends, 0, 3).Draw(t, "to"),
					Kind: rapid.SampledFrom([]Kind{"", "", Question, Question, Question, Answer, Note, Update}).Draw(t, "kind"),
				}
				if rapid.IntRange(0, 2).Draw(t, "timed") == 0 {
					c.Message.Expires = m.now.Add(time.Duration(rapid.IntRange(-1, 9).Draw(t, "life")) * time.Minute)
				}
				if rapid.IntRange(0, 2).Draw(t, "responds") == 0 {
					c.Message.ReplyTo = question(t)
				}
				if c.Message.Kind == Question && rapid.IntRange(0, 3).Draw(t, "redirect") == 0 {
					c.Message.AnswerTo = friends.Draw(t, "answer to")
				}
				was := m.t.clone()
				_, err := m.do(t, c)
				refuseStranger(t, c.Message.From, err)
				m.implicit(t, was, &c, err)
			},
			"answer": func(t *rapid.T) {
				by, q := anybody.Draw(t, "from"), question(t)
				_, err := m.do(t, Send{Notice: m.id("N"), Message: Message{ID: m.id("M"), From: by, Body: "x", Kind: Answer, Answers: q}})
				refuseStranger(t, by, err)
			},
			"add": func(t *rapid.T) {
				by := anybody.Draw(t, "by")
				_, err := m.do(t, Add{By: by, Agent: friends.Draw(t, "agent")})
				refuseStranger(t, by, err)
			},
			"grant": func(t *rapid.T) {
				by := anybody.Draw(t, "by")
				_, err := m.do(t, Grant{By: by, Hops: rapid.SampledFrom([]int{-1, 0, 1, 2, 5, MaxHops}).Draw(t, "hops")})
				refuseStranger(t, by, err)
			},
			"withdraw": func(t *rapid.T) {
				by := anybody.Draw(t, "by")
				_, err := m.do(t, Withdraw{By: by, Question: question(t)})
				refuseStranger(t, by, err)
			},
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") > 0 {
					return
				}
				by := anybody.Draw(t, "by")
				_, err := m.do(t, Close{By: by})
				refuseStranger(t, by, err)
			},
			"leave": func(t *rapid.T) {
				who := friends.Draw(t, "who")
				if _, err := m.do(t, Leave{Agent: who, Reason: "retired"}); err != nil {
					t.Fatal(err)
				}
				for _, q := range m.t.Questions {
					if q.Asked == who || q.Asker == who {
						t.Fatalf("%s is gone and question %+v is open", who, q)
					}
				}
			},
			"pass on": func(t *rapid.T) {
				from, to := friends.Draw(t, "from"), rapid.SampledFrom([]event.ID{"ana", "bob", "carla", "dan", ""}).Draw(t, "to")
				if from == to {
					return
				}
				left, hops := len(m.t.Questions), m.t.Left
				if _, err := m.do(t, PassOn{From: from, To: to}); err != nil {
					t.Fatal(err)
				}
				for _, q := range m.t.Questions {
					if q.Asked == from || q.AnswerTo == from || q.Asker == from && q.AnswerTo == "" {
						t.Fatalf("%s is gone and question %+v is open", from, q)
					}
				}
				if len(m.t.Questions) > left || m.t.Left != hops {
					t.Fatalf("%d questions became %d, %d hops %d", left, len(m.t.Questions), hops, m.t.Left)
				}
			},
			"sweep": func(t *rapid.T) {
				if _, err := m.do(t, Sweep{}); err != nil {
					t.Fatal(err)
				}
			},
			"time passes": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(-60, 10).Draw(t, "minutes")) * time.Minute)
			},
			"time goes on": func(t *rapid.T) { m.now = m.now.Add(time.Minute) },
		})
	})
}

// implicit checks what a message without a named question became.
func (m *machine) implicit(t *rapid.T, was *Thread, c *Send, err error) {
	from, to := c.Message.From, c.Message.To
	if c.NotAnswer || c.Message.Kind != "" && c.Message.Kind != Answer || !was.Has(from) || was.Status == Closed {
		return
	}
	now := m.now
	if now.Before(was.Last) {
		now = was.Last
	}
	var waiting []event.ID
	for _, q := range was.Questions {
		if q.Asked == from && !Due(q.Expires, now) && (len(to) == 0 || slices.Contains(to, q.Asker) || slices.Contains(to, q.AnswerTo)) {
			waiting = append(waiting, q.ID)
		}
	}
	if slices.Contains(waiting, c.Message.ReplyTo) {
		waiting = []event.ID{c.Message.ReplyTo}
	}
	if len(waiting) > 1 {
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("%d questions waited and the message was not refused: %v", len(waiting), err)
		}
		return
	}
	if len(waiting) == 1 && err == nil {
		if m.seen.answered[[2]event.ID{waiting[0], from}] != 1 {
			t.Fatalf("the message did not answer %s, the one question that waited", waiting[0])
		}
	}
	if len(waiting) == 0 && c.Message.Kind == Answer && err == nil {
		t.Fatal("an answer without a question was taken")
	}
}
