package mail

import (
	"slices"
	"time"

	"bureau/internal/event"
)

// The kinds of events of a thread, of an agent's mailbox and of broadcasts.
const (
	KindOpened      event.Kind = "thread.opened"
	KindJoined      event.Kind = "thread.joined"
	KindGranted     event.Kind = "thread.granted"
	KindExhausted   event.Kind = "thread.exhausted"
	KindClosed      event.Kind = "thread.closed"
	KindSent        event.Kind = "message.sent"
	KindExpired     event.Kind = "message.expired"
	KindEnded       event.Kind = "question.ended"
	KindPassed      event.Kind = "thread.passed"
	KindSeen        event.Kind = "mail.seen"
	KindAcked       event.Kind = "mail.acked"
	KindBroadcasted event.Kind = "broadcast.posted"
)

// Opened begins a thread.
type Opened struct {
	Thread  event.ID   `json:"thread"`
	Subject string     `json:"subject"`
	Owner   event.ID   `json:"owner"`
	Members []event.ID `json:"members"` // the owner among them
	Hops    int        `json:"hops"`
}

// Joined adds a participant.
type Joined struct {
	Agent event.ID `json:"agent"`
	By    event.ID `json:"by"`
}

// Granted adds hops.
type Granted struct {
	By   event.ID `json:"by"`
	Hops int      `json:"hops"`
}

// ExhaustedNotice says that the budget is used up. Notice is the id of the
// line that tells the owner so in the inbox.
type ExhaustedNotice struct {
	Notice event.ID `json:"notice"`
	Owner  event.ID `json:"owner"`
}

// ClosedBy ends a thread for good.
type ClosedBy struct {
	By     event.ID `json:"by"`
	Reason string   `json:"reason,omitempty"`
}

// ExpiredMessage says that a message's time ran out. Whoever had seen it by
// then keeps it.
type ExpiredMessage struct {
	ID event.ID `json:"id"`
}

// EndedQuestion says that no answer can come any more from one of those asked.
type EndedQuestion struct {
	ID     event.ID `json:"id"`
	Asked  event.ID `json:"asked"`
	Reason string   `json:"reason"` // closed, retired, expired, withdrawn, gone
}

// PassedOn says that a participant is gone for good and who has what it left in
// the thread: its place, its open questions, asked and put to it, and what it
// had not read. To is "" if there is nobody.
type PassedOn struct {
	From     event.ID   `json:"from"`
	To       event.ID   `json:"to,omitempty"`
	Messages []event.ID `json:"messages,omitempty"` // that are To's to read now
	Void     []event.ID `json:"void,omitempty"`     // that nobody needs to read any more
}

// Marked is what an agent has seen or acknowledged.
type Marked struct {
	Messages []event.ID `json:"messages"`
	Via      string     `json:"via,omitempty"` // what proved it: terminal, answer, ack, hook, …
}

// Posted is one message to a group. Its copies are effects: one two-party
// thread for each recipient, with ids derived from this one's.
type Posted struct {
	Message  Message    `json:"message"`
	Audience string     `json:"audience"`         // "@all", "project:ID", "team:NAME"
	Agents   []event.ID `json:"agents,omitempty"` // who was addressed, where that is fixed at sending
	Hops     int        `json:"hops"`
}

// Apply is what an event does to the thread. It never looks at a clock. An
// event that cannot be read (its data was erased or damaged) counts as one of
// an unknown kind.
func (t *Thread) Apply(e event.Event, at time.Time) {
	if at.After(t.Last) {
		t.Last = at
	}
	if !t.apply(e) {
		t.Unknown = e.Kind
	}
}

func (t *Thread) apply(e event.Event) (known bool) {
	switch e.Kind {
	case KindOpened:
		var d Opened
		if e.Decode(&d) != nil {
			return false
		}
		t.ID, t.Subject, t.Owner, t.Members = d.Thread, d.Subject, d.Owner, d.Members
		t.Status, t.Hops, t.Left = Open, d.Hops, d.Hops
	case KindJoined:
		var d Joined
		if e.Decode(&d) != nil {
			return false
		}
		if !t.Has(d.Agent) {
			t.Members = append(t.Members, d.Agent)
		}
	case KindGranted:
		var d Granted
		if e.Decode(&d) != nil {
			return false
		}
		t.Hops += d.Hops
		t.Left += d.Hops
		if t.Status == Exhausted {
			t.Status = Open
		}
	case KindSent:
		var m Message
		if e.Decode(&m) != nil {
			return false
		}
		t.applySent(&m)
	case KindExhausted:
		t.Status = Exhausted
	case KindExpired:
		var d ExpiredMessage
		if e.Decode(&d) != nil {
			return false
		}
		t.Deadlines = slices.DeleteFunc(t.Deadlines, func(x Deadline) bool { return x.ID == d.ID })
	case KindEnded:
		var d EndedQuestion
		if e.Decode(&d) != nil {
			return false
		}
		t.dropQuestion(d.ID, d.Asked)
	case KindPassed:
		var d PassedOn
		if e.Decode(&d) != nil {
			return false
		}
		t.applyPassed(&d)
	case KindClosed:
		t.Status, t.Questions, t.Deadlines = Closed, nil, nil
	default:
		return false
	}
	return true
}

func (t *Thread) applySent(m *Message) {
	t.Left--
	if m.Answers != "" {
		t.dropQuestion(m.Answers, m.From)
	}
	if m.Kind == Question {
		for _, asked := range m.To {
			t.Questions = append(t.Questions, OpenQuestion{
				ID: m.ID, Asker: m.From, Asked: asked, AnswerTo: m.AnswerTo, Expires: m.Expires,
			})
		}
	}
	if !m.Expires.IsZero() {
		t.Deadlines = append(t.Deadlines, Deadline{ID: m.ID, At: m.Expires})
	}
}

// applyPassed gives To what was From's. A question that would then be put to
// its own asker, or twice to one agent, was ended before.
func (t *Thread) applyPassed(d *PassedOn) {
	if d.To == "" {
		return
	}
	if !t.Has(d.To) {
		t.Members = append(t.Members, d.To)
	}
	if t.Owner == d.From {
		t.Owner = d.To
	}
	for i := range t.Questions {
		q := &t.Questions[i]
		if q.Asked == d.From {
			q.Asked = d.To
		}
		if q.AnswerTo == d.From || q.Asker == d.From && q.AnswerTo == "" {
			q.AnswerTo = d.To
		}
	}
}

func (t *Thread) dropQuestion(id, asked event.ID) {
	t.Questions = slices.DeleteFunc(t.Questions, func(q OpenQuestion) bool { return q.ID == id && q.Asked == asked })
}
