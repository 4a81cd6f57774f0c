package office

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// Letter is a message that somebody wants to send.
type Letter struct {
	To         []string // names, ids or groups (@all, project:NAME, *, team:NAME)
	Thread     string   // a thread's id or part of it; "" for a new one
	Re         string   // the message that this one responds to; gives thread and recipient too
	Answers    string   // the question that this one answers
	AnswerTo   string   // whom the answer goes to, if not the sender
	Kind       mail.Kind
	NotAnswer  bool // no answer, even if a question waits here
	Subject    string
	Body       []byte
	Files      []File
	Importance mail.Importance
	AckWanted  bool
	NoWake     bool
	Expires    time.Duration // after this it ends as expired; 0: never (a project's broadcast: 7 days)
	Hops       int           // budget of a new thread; 0: mail.DefaultHops
	ClientID   string        // makes sending again harmless; "" for none
}

// Sent is what became of a letter.
type Sent struct {
	ID         event.ID        `json:"id"`
	Short      string          `json:"short"`  // the shortest unique end of the id
	Thread     event.ID        `json:"thread"` // "" for a group: each recipient has its own
	State      mail.State      `json:"state"`  // stored: it is durable, nothing more is claimed
	Kind       mail.Kind       `json:"kind"`
	Answers    event.ID        `json:"answers,omitempty"` // the question that it answered
	Recipients []RecipientView `json:"recipients"`
	Repeated   bool            `json:"repeated,omitempty"` // it was sent before with this client id
	Group      string          `json:"group,omitempty"`

	threadShort string
}

// ThreadShort gives the short form of the thread's id, "" for a group.
func (s *Sent) ThreadShort() string { return s.threadShort }

// RecipientView is one who will get a message.
type RecipientView struct {
	Name     string     `json:"name"`
	ID       event.ID   `json:"id,omitempty"`     // of the copy, for a group
	Thread   event.ID   `json:"thread,omitempty"` // of the copy, for a group
	Here     bool       `json:"here"`             // a process lives for it now
	Wake     string     `json:"wake"`             // how it will notice; see WakeWord
	LastSeen *time.Time `json:"last_seen,omitempty"`
	// Held says why it is not rung although there is a way, and until when if that
	// ends; "" if nothing holds that back.
	Held string `json:"held,omitempty"`
	// For names the subagent that it was written to, if that has ended and the
	// recipient, its session's main agent, gets it instead.
	For string `json:"for,omitempty"`
	// Hint says what would make a colleague notice whom nothing can wake.
	Hint string `json:"hint,omitempty"`

	agent     event.ID
	main      event.ID // of a subagent: its session's main agent
	idle      bool     // a subagent that sits idle
	colleague bool     // nobody ever sat in its seat
	quiet     bool     // nobody is rung for what was sent
}

// Send stores a message. When it returns nil the message is durable and its
// recipients are rung; whether they have seen it is for their receipts to say.
// A refusal stores nothing.
func (o *Office) Send(ctx context.Context, caller Caller, l Letter) (Sent, error) {
	if err := caller.mayChange(); err != nil {
		return Sent{}, err
	}
	m, err := o.compose(&l)
	if err != nil {
		return Sent{}, err
	}
	var here *presenceOf
	if group, _, _ := splitGroups(l.To); group != "" {
		// Who belongs to it may depend on who is here. Asked now, that costs no
		// other writer time; live state that cannot be read means nobody.
		if here, err = o.presence(ctx); err != nil {
			here = &presenceOf{}
		}
	}
	var sent Sent
	err = o.knowing(caller, func(staff roster.Staff) error {
		return o.change(ctx, caller.actor(), func(tx *Tx) error {
			tx.project, tx.presence, tx.staff = caller.Project.ID, here, staff
			// Who is here is looked up before anybody is rung: a waiting process
			// may be gone right after.
			tx.ringing = func() {
				o.describe(context.WithoutCancel(ctx), caller, sent.Recipients)
				quieten(sent.Recipients, &mail.Message{Kind: sent.Kind, Importance: m.Importance, NoWake: m.NoWake, Group: sent.Group})
			}
			var err error
			if sent, err = tx.send(caller, &l, m); err != nil {
				return err
			}
			return tx.shorten(&sent)
		})
	})
	if err != nil {
		return Sent{}, err
	}
	return sent, nil
}

// shorten fills in the short ids of what was sent.
func (tx *Tx) shorten(s *Sent) (err error) {
	if s.Short, err = tx.o.tables.Short(tx.t, s.ID); err == nil && s.Thread != "" {
		s.threadShort, err = tx.o.tables.Short(tx.t, s.Thread)
	}
	return err
}

// compose makes what does not depend on the office's state: body and files
// are kept before the transaction, so that it stays short.
func (o *Office) compose(l *Letter) (mail.Message, error) {
	m := mail.Message{
		Kind: l.Kind, Subject: strings.TrimSpace(l.Subject), Importance: l.Importance, AckWanted: l.AckWanted, NoWake: l.NoWake,
	}
	if len(l.Body) > mail.MaxBody {
		return m, fault.New(fault.Invalid, "the body has %d bytes; the limit is %d (1 MiB)", len(l.Body), mail.MaxBody).
			WithHint("attach it as a file (--attach), or put it where the recipient can read it and send the path")
	}
	if l.Expires < 0 {
		return m, fault.New(fault.Invalid, "a message cannot expire %s before it is sent", -l.Expires)
	}
	if err := o.storeBody(&m, l.Body); err != nil {
		return m, err
	}
	if err := o.attach(&m, l.Files); err != nil {
		return m, err
	}
	if l.ClientID != "" {
		raw, err := json.Marshal(struct {
			L     Letter
			Body  string
			Files []mail.Attachment
		}{Letter{To: l.To, Thread: l.Thread, Re: l.Re, Answers: l.Answers, AnswerTo: l.AnswerTo, Kind: l.Kind, Subject: l.Subject,
			Importance: l.Importance, AckWanted: l.AckWanted, NoWake: l.NoWake, NotAnswer: l.NotAnswer, Expires: l.Expires, Hops: l.Hops}, event.Sum(l.Body), m.Files})
		if err != nil {
			return m, err
		}
		m.Request = event.Sum(raw)
	}
	return m, nil
}

// send decides a letter inside a transaction.
func (tx *Tx) send(caller Caller, l *Letter, m mail.Message) (Sent, error) {
	m.From = caller.Agent.ID
	m.ID = tx.idFor(caller, l, "message")
	if l.ClientID != "" {
		if old, found, err := tx.repeated(caller, l, &m); err != nil || found {
			return old, err
		}
	}
	group, names, err := splitGroups(l.To)
	if err != nil {
		return Sent{}, err
	}
	if group != "" {
		m.Expires = expiry(tx.now, l.Expires)
		return tx.broadcast(caller, l, m, group)
	}
	for _, n := range names {
		a, err := tx.recipient(n)
		if err != nil {
			return Sent{}, err
		}
		if !slices.Contains(m.To, a.ID) {
			m.To = append(m.To, a.ID)
		}
	}
	if l.AnswerTo != "" {
		a, err := tx.recipient(l.AnswerTo)
		if err != nil {
			return Sent{}, err
		}
		if a.ID != m.From {
			m.AnswerTo = a.ID
		}
	}
	thread, err := tx.threadFor(caller, l, &m)
	if err != nil {
		return Sent{}, err
	}
	sentAt := tx.now
	if t, _, _, err := tx.o.tables.Thread(tx.t, thread); err != nil {
		return Sent{}, err
	} else if sentAt.Before(t.Last) {
		sentAt = t.Last // the clock jumped back, and the thread's time does not
	}
	m.Expires = expiry(sentAt, l.Expires)
	cmd := mail.Send{Message: m, Notice: event.Derive("exhausted", string(m.ID)), NotAnswer: l.NotAnswer}
	if thread == "" {
		if len(m.To) == 0 {
			return Sent{}, fault.New(fault.Invalid, "the message has no recipient").WithHint("name one: bureau send NAME TEXT; bureau agents lists everyone")
		}
		thread = tx.idFor(caller, l, "thread")
		cmd.Open = &mail.OpenThread{Thread: thread, Subject: subjectOf(&m), Owner: m.From, Members: m.To, Hops: l.Hops}
	}
	if m.Kind == mail.Question && m.Print == "" {
		cmd.Message.Print = questionPrint(l.Body)
	}
	return tx.deliver(thread, cmd, tx.recordID(caller, l))
}

// expiry gives the moment at which a message ends that is sent at another; none
// for a life of 0.
func expiry(sentAt time.Time, life time.Duration) time.Time {
	if life <= 0 {
		return time.Time{}
	}
	return sentAt.Add(life)
}

// deliver puts one message into a thread and tells its recipients.
func (tx *Tx) deliver(thread event.ID, cmd mail.Send, record event.ID) (Sent, error) {
	stored, err := tx.sendInto(thread, cmd, record)
	if err != nil {
		return Sent{}, err
	}
	sent := Sent{ID: stored.ID, Thread: thread, State: mail.Stored, Kind: stored.Kind, Answers: stored.Answers}
	gone := 0
	for _, to := range stored.To {
		a, found, err := tx.o.tables.Agent(tx.t, to)
		if err != nil {
			return Sent{}, err
		}
		if ended(&a) && !a.Retired {
			r, err := tx.forward(&a, stored.From)
			if err != nil {
				return Sent{}, err
			}
			if !slices.Contains(stored.To, r.agent) {
				sent.Recipients = append(sent.Recipients, r)
			}
			continue
		}
		r := RecipientView{Name: tx.nameOf(to), agent: to, colleague: a.Kind == roster.Colleague}
		if a.Kind == roster.Worker {
			if r.main, err = tx.lead(&a); err != nil {
				return Sent{}, err
			}
		}
		sent.Recipients = append(sent.Recipients, r)
		if found && !a.Retired {
			continue
		}
		// Named recipients were looked up; this one came from the thread.
		if gone++; stored.Kind == mail.Question {
			return Sent{}, fault.New(fault.NotFound, "%s is retired and cannot answer", a.Name).WithHint("bureau agents lists who is there")
		}
	}
	if gone == len(stored.To) {
		sent.State = mail.Undeliverable
	}
	return sent, nil
}

// sendInto carries out a Send and gives the message as it was stored.
func (tx *Tx) sendInto(thread event.ID, cmd mail.Send, record event.ID) (mail.Message, error) {
	events, err := tx.onThreadAs(thread, cmd, record)
	if err != nil {
		return mail.Message{}, err
	}
	var stored mail.Message
	for _, e := range events {
		switch e.Kind {
		case mail.KindSent:
			if err := e.Decode(&stored); err != nil {
				return stored, err
			}
			tx.tell(true, stored.To...)
			// An asker may be waiting although the answer goes elsewhere.
			if stored.Answers != "" {
				if qs, err := tx.o.tables.Question(tx.t, stored.Answers); err == nil && len(qs) > 0 {
					tx.tell(false, qs[0].Asker)
				}
			}
		case mail.KindExhausted:
			var d mail.ExhaustedNotice
			if err := e.Decode(&d); err != nil {
				return stored, err
			}
			tx.tell(true, d.Owner)
			if a, _, err := tx.o.tables.Agent(tx.t, d.Owner); err != nil {
				return stored, err
			} else if ended(&a) {
				if err := tx.passOn(&a); err != nil {
					return stored, err
				}
			}
		}
	}
	return stored, nil
}

// onThread decides a command on a thread, appends and folds its events.
func (tx *Tx) onThread(id event.ID, c mail.Command) ([]event.Event, error) {
	return tx.onThreadAs(id, c, "")
}

func (tx *Tx) onThreadAs(id event.ID, c mail.Command, record event.ID) ([]event.Event, error) {
	t, version, _, err := tx.o.tables.Thread(tx.t, id)
	if err != nil {
		return nil, err
	}
	events, err := mail.Decide(&t, c, tx.now, tx.nameOf)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	rec, err := tx.append(record, event.ThreadSubject(id), &version, events)
	if err != nil {
		return nil, err
	}
	// Whoever waits for a question in the thread looks again when one ends.
	for _, e := range rec.Events {
		if e.Kind == mail.KindEnded || e.Kind == mail.KindClosed || e.Kind == mail.KindExpired || e.Kind == mail.KindPassed {
			for _, q := range t.Questions {
				tx.tell(false, q.Asker)
			}
		}
	}
	return rec.Events, tx.tellEnded(&t, rec.Events)
}

// threadFor finds the thread of a letter, "" for a new one, and what the
// message takes over from the one it responds to.
func (tx *Tx) threadFor(caller Caller, l *Letter, m *mail.Message) (event.ID, error) {
	var thread event.ID
	if l.Thread != "" {
		id, err := tx.resolve(caller, l.Thread, "thread")
		if err != nil {
			return "", err
		}
		thread = id
	}
	from := func(word string) (event.ID, error) {
		id, err := tx.resolve(caller, word, "message")
		if err != nil {
			return "", err
		}
		row, _, err := tx.o.tables.MessageByID(tx.t, id)
		if err != nil {
			return "", err
		}
		if thread != "" && row.Thread != thread {
			return "", fault.New(fault.Conflict, "message %s is not in thread %s", id, thread).WithHint("leave --thread away; it is in %s", row.Thread)
		}
		thread = row.Thread
		if len(m.To) == 0 && row.From != m.From && row.From != "" && l.Answers == "" {
			m.To = []event.ID{row.From}
		}
		return id, nil
	}
	var err error
	if l.Re != "" {
		if m.ReplyTo, err = from(l.Re); err != nil {
			return "", err
		}
	}
	if l.Answers != "" {
		if m.Answers, err = from(l.Answers); err != nil {
			return "", err
		}
	}
	return thread, nil
}

// recipient gives somebody who can get mail. A colleague that was never written
// to gets its seat.
func (tx *Tx) recipient(word string) (roster.Agent, error) {
	if err := tx.employ(word); err != nil {
		return roster.Agent{}, err
	}
	return tx.addressee(word)
}

// addressee is recipient for looks, which give nobody a seat.
func (tx *Tx) addressee(word string) (roster.Agent, error) {
	a, err := tx.find(word)
	if err != nil {
		return a, err
	}
	if a.Retired {
		return a, fault.New(fault.NotFound, "%s is retired", a.Name).WithHint("bureau agents lists who is there")
	}
	if ended(&a) {
		return a, tx.endedRefusal(&a, tx.actor.Agent)
	}
	return a, nil
}

// subjectOf names a new thread: by the message's subject or its first words.
func subjectOf(m *mail.Message) string {
	s := m.Subject
	if s == "" {
		s = m.Body
		if m.Blob != nil {
			s = m.Blob.Head
		}
	}
	s = strings.Join(strings.Fields(s), " ")
	if s == "" && len(m.Files) > 0 {
		s = m.Files[0].Name
	}
	return head(s, 80)
}

// questionPrint tells questions with the same text.
func questionPrint(body []byte) string {
	return event.Sum([]byte(strings.Join(strings.Fields(string(body)), " ")))
}
