package mail

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// Send puts one message into a thread. The message's Kind may be empty: then
// it is an answer if its author has exactly one open question from those it is
// written to, and a note otherwise. Its To may be empty: then it goes to the
// asker, or to the other one of two.
type Send struct {
	Message Message
	// Open begins the thread with this message, if it is new.
	Open *OpenThread
	// Notice is the id for the line that tells the owner when this message
	// uses up the budget.
	Notice event.ID
	// NotAnswer says that the message is no answer, even if a question waits.
	NotAnswer bool
}

func (c Send) decide(d *decision) error {
	m := c.Message
	if c.Open != nil && !d.t.Exists() {
		if err := c.Open.decide(d); err != nil {
			return err
		}
	}
	if err := d.mayWrite(m.From); err != nil {
		return err
	}
	if err := check(&m); err != nil {
		return err
	}
	if err := d.settle(&m, c.NotAnswer); err != nil {
		return err
	}
	if Due(m.Expires, d.now) {
		return fault.New(fault.Invalid, "the message would expire at %s, which is past", m.Expires.Format("2006-01-02 15:04:05 MST")).
			WithHint("give a longer --expires")
	}
	for _, to := range m.To {
		if err := d.join(to, m.From); err != nil {
			return err
		}
	}
	if m.AnswerTo != "" {
		if err := d.join(m.AnswerTo, m.From); err != nil {
			return err
		}
	}
	if err := d.afford(&m); err != nil {
		return err
	}
	d.emit(KindSent, m)
	if d.t.Left == 0 {
		d.emit(KindExhausted, ExhaustedNotice{Notice: c.Notice, Owner: d.t.Owner})
	}
	return nil
}

// check refuses what no thread could take.
func check(m *Message) error {
	if len(m.Body) > MaxBody || m.Blob != nil && m.Blob.Size > MaxBody {
		size := int64(len(m.Body))
		if m.Blob != nil {
			size = m.Blob.Size
		}
		return fault.New(fault.Invalid, "the body has %d bytes; the limit is %d (1 MiB)", size, MaxBody).
			WithHint("attach it as a file (--attach), or put it where the recipient can read it and send the path")
	}
	if n := utf8.RuneCountInString(m.Subject); n > MaxSubject {
		return fault.New(fault.Invalid, "the subject has %d characters; the limit is %d", n, MaxSubject).
			WithHint("put the rest into the body")
	}
	if len(m.Files) > MaxAttachments {
		return fault.New(fault.Invalid, "%d attachments are too many", len(m.Files)).WithHint("at most %d travel with one message", MaxAttachments)
	}
	if m.Body == "" && m.Blob == nil && len(m.Files) == 0 {
		return fault.New(fault.Invalid, "the message is empty").WithHint("give a text, - for standard input, or --file")
	}
	return nil
}

// settle fixes kind, answered question and recipients.
func (d *decision) settle(m *Message, notAnswer bool) error {
	m.To = distinct(m.To)
	if slices.Contains(m.To, m.From) && m.Kind == Question {
		return fault.New(fault.Invalid, "%s cannot put a question to itself", d.name(m.From)).WithHint("name somebody else")
	}
	if m.Answers != "" {
		if notAnswer || m.Kind != "" && m.Kind != Answer {
			return fault.New(fault.Invalid, "a message that answers question %s cannot be a %s as well", m.Answers, cmp.Or(m.Kind, Note)).
				WithHint("leave the kind away, or send two messages")
		}
		q, err := d.question(m.Answers, m.From)
		if err != nil {
			return err
		}
		return d.answer(m, q)
	}
	waiting := d.waitingFrom(m)
	switch {
	case notAnswer || m.Kind != "" && m.Kind != Answer:
	case len(waiting) == 1:
		return d.answer(m, waiting[0])
	case len(waiting) > 1:
		return fault.New(fault.Conflict, "%d questions wait for %s here: %s", len(waiting), d.name(m.From), d.list(waiting)).
			WithHint("say which one: bureau answer QUESTION TEXT; or --kind note if it is none").
			WithDetail(waiting)
	case m.Kind == Answer:
		return fault.New(fault.Conflict, "no question waits for an answer from %s in thread %s", d.name(m.From), d.t.ID).
			WithHint("send it as --kind note")
	}
	if m.Kind == "" || m.Kind == Answer {
		m.Kind = Note
	}
	if len(m.To) == 0 {
		others := slices.DeleteFunc(slices.Clone(d.t.Members), func(a event.ID) bool { return a == m.From })
		if len(others) != 1 {
			return fault.New(fault.Invalid, "thread %s has %d others: %s", d.t.ID, len(others), d.names(others)).
				WithHint("name whom you write to")
		}
		m.To = others
	}
	return nil
}

// distinct drops repeated recipients: a question put twice to one agent would
// keep two hops for its one answer.
func distinct(to []event.ID) []event.ID {
	var out []event.ID
	for _, a := range to {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// waitingFrom lists the open questions that the message may be meant for: those
// put to its author by whom it is written to, or by anybody if it names nobody.
// A message that responds to one of them is meant for that one.
func (d *decision) waitingFrom(m *Message) []OpenQuestion {
	var out []OpenQuestion
	for _, q := range d.t.PutTo(m.From) {
		if len(m.To) == 0 || slices.Contains(m.To, q.Asker) || q.AnswerTo != "" && slices.Contains(m.To, q.AnswerTo) {
			if q.ID == m.ReplyTo {
				return []OpenQuestion{q}
			}
			out = append(out, q)
		}
	}
	return out
}

// question finds an open question that was put to the author.
func (d *decision) question(id, author event.ID) (OpenQuestion, error) {
	var other *OpenQuestion
	for i, q := range d.t.Questions {
		if q.ID != id {
			continue
		}
		if q.Asked == author {
			return q, nil
		}
		other = &d.t.Questions[i]
	}
	if other != nil {
		return OpenQuestion{}, fault.New(fault.Denied, "question %s was put to %s, not to %s", id, d.name(other.Asked), d.name(author)).
			WithHint("send a note to %s instead", d.name(other.Asker))
	}
	return OpenQuestion{}, fault.New(fault.Conflict, "question %s is not open: it was answered, withdrawn or ended", id).
		WithHint("send a note in the thread instead: bureau send --thread %s …", d.t.ID)
}

// answer makes the message the answer to a question. It goes to whoever waits
// for it, whatever else the author wrote to.
func (d *decision) answer(m *Message, q OpenQuestion) error {
	m.Kind, m.Answers = Answer, q.ID
	if m.ReplyTo == "" {
		m.ReplyTo = q.ID
	}
	dest := q.Asker
	if q.AnswerTo != "" {
		dest = q.AnswerTo
	}
	if !slices.Contains(m.To, dest) {
		m.To = append(slices.Clone(m.To), dest)
	}
	return nil
}

// afford refuses a message that the budget cannot carry. Every message costs
// one hop; an open question keeps one for each answer it waits for.
func (d *decision) afford(m *Message) error {
	need := 1
	switch {
	case m.Answers != "":
		return nil // its hop was kept when the question was asked
	case m.Kind == Question:
		need += len(m.To)
	}
	free := d.t.Free()
	if free >= need {
		return nil
	}
	hint := fmt.Sprintf("its owner %[1]s can grant more, or the person at a plain terminal, or any participant once %[1]s is retired: bureau thread grant %[2]s 8",
		d.name(d.t.Owner), string(d.t.ID))
	switch kept := len(d.t.Questions); {
	case d.t.Left == 0:
		return fault.New(fault.Conflict, "the hop budget of thread %s is used up (%d of %d)", d.t.ID, d.t.Hops, d.t.Hops).WithHint("%s", hint)
	case m.Kind == Question:
		return fault.New(fault.Conflict, "thread %s has %d hops to spend; a question needs %d, so that its answer can be sent", d.t.ID, max(free, 0), need).WithHint("%s", hint)
	default:
		return fault.New(fault.Conflict, "the last %d hops of thread %s are kept for the answers to %s", kept, d.t.ID, d.list(d.t.Questions)).WithHint("%s", hint)
	}
}
