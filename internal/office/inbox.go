package office

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/presence"
	"bureau/internal/projection"
)

// DefaultPage is how many entries a list shows; MaxPage is the most that can
// be asked for.
const (
	DefaultPage = 20
	MaxPage     = 500
)

// Page is a place in a list and how much of it is wanted.
type Page struct {
	Limit int    // 0: DefaultPage
	From  string // the cursor that the page before gave; "" for the first
}

func (p Page) limit() (int, error) {
	switch {
	case p.Limit == 0:
		return DefaultPage, nil
	case p.Limit < 0 || p.Limit > MaxPage:
		return 0, fault.New(fault.Invalid, "a page cannot have %d entries", p.Limit).WithHint("choose between 1 and %d", MaxPage)
	}
	return p.Limit, nil
}

// cursors are opaque: base64 of JSON.
func encodeCursor(v any) string {
	raw, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func decodeCursor(s string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fault.New(fault.Invalid, "%q is no cursor of this list", s).WithHint("use the one that the page before printed")
	}
	return nil
}

// Messages is a page of mail.
type Messages struct {
	Messages []MessageView `json:"messages"`
	Total    int           `json:"total"`  // entries of the whole list, not only of the page
	Unread   int           `json:"unread"` // that wait for the agent
	Next     string        `json:"next"`   // cursor of the next page, "" at the end
}

// Inbox lists the caller's mail and changes nothing: important before normal
// before low, newest first in each. Without all it lists what is unread: not
// seen, or seen but with an acknowledgement wanted. A walk by cursors shows
// every message once, also while new mail arrives (that belongs to the next
// walk) or mail is read meanwhile.
func (o *Office) Inbox(ctx context.Context, caller Caller, all bool, page Page) (Messages, error) {
	out := Messages{Messages: []MessageView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	var from *projection.Cursor
	if page.From != "" {
		from = new(projection.Cursor)
		if err := decodeCursor(page.From, from); err != nil {
			return out, err
		}
	}
	offered := o.offered(ctx, caller.Agent.ID)
	err = o.look(ctx, func(tx *Tx) error {
		out.Messages = out.Messages[:0]
		list, next, err := o.tables.Inbox(tx.t, caller.Agent.ID, !all, from, limit, tx.now)
		if err != nil {
			return err
		}
		total, unread, err := o.tables.Counts(tx.t, caller.Agent.ID, tx.now)
		if err != nil {
			return err
		}
		out.Unread, out.Total = unread, unread
		if all {
			out.Total = total
		}
		for i := range list {
			v, err := tx.received(caller, &list[i], offered)
			if err != nil {
				return err
			}
			out.Messages = append(out.Messages, v)
		}
		if next != nil {
			out.Next = encodeCursor(next)
		}
		return nil
	})
	return out, err
}

// received makes the view of a message for its recipient.
func (tx *Tx) received(caller Caller, r *projection.Received, offered map[event.ID]bool) (MessageView, error) {
	state := r.Receipt.State
	if state == mail.Stored && offered[r.ID] {
		state = mail.Offered
	}
	v, err := tx.view(&r.Message, state)
	if via := r.Receipt.Via; via != "" && r.Receipt.Reason != projection.ReasonPassed {
		v.For = tx.nameOf(via)
	}
	if err == nil {
		err = tx.original(caller, &r.Message, &v)
	}
	if err != nil || r.Kind != mail.Question {
		return v, err
	}
	v.Open, err = tx.openTo(r.ID, caller.Agent.ID)
	return v, err
}

// original adds to a view what the message answers or replies to. The answer to
// a question of a subagent that has ended is for that one, whoever has it now.
func (tx *Tx) original(caller Caller, m *projection.Message, v *MessageView) error {
	id := m.Answers
	if id == "" {
		id = m.ReplyTo
	}
	if id == "" {
		return nil
	}
	was, found, err := tx.o.tables.MessageByID(tx.t, id)
	if err != nil || !found || was.From != caller.Agent.ID && !tx.maySee(caller, was.Thread) {
		return err
	}
	text := was.Subject
	if text == "" {
		text = was.Preview
	}
	of := Original{ID: id, From: tx.nameOf(was.From), Text: head(strings.Join(strings.Fields(text), " "), originalRunes), Mine: was.From == caller.Agent.ID}
	if of.Short, err = tx.o.tables.Short(tx.t, id); err != nil {
		return err
	}
	v.Of = &of
	if v.For != "" || of.Mine || m.Answers == "" {
		return nil
	}
	asker, found, err := tx.o.tables.Agent(tx.t, was.From)
	if err != nil || !found || !ended(&asker) {
		return err
	}
	if main, found, err := tx.mainOf(&asker); err != nil || !found || main.ID != caller.Agent.ID {
		return err
	}
	v.For = of.From
	return nil
}

func (tx *Tx) openTo(question, agent event.ID) (bool, error) {
	list, err := tx.o.tables.Question(tx.t, question)
	for _, q := range list {
		if q.Asked == agent && q.Status == "open" {
			return true, err
		}
	}
	return false, err
}

// offered gives the messages of an agent that are under an offer now. Live
// state that cannot be read means none.
func (o *Office) offered(ctx context.Context, agent event.ID) map[event.ID]bool {
	out := map[event.ID]bool{}
	live, err := o.Live(ctx)
	if err != nil {
		return out
	}
	offers, err := live.Offers(ctx, agent)
	if err != nil {
		return out
	}
	now := o.Now()
	for _, x := range offers {
		if x.Leased(now) || x.Stage == presence.Passed {
			out[x.Message] = true
		}
	}
	return out
}

// DefaultLease is how long mail that was put before somebody is kept from
// others while its proof is awaited.
const DefaultLease = 60 * time.Second

// StartLease is how long mail that was put before a session at its start is
// kept from others while the session sits idle. A prompt follows a start at
// once, or nothing does until somebody rings.
const StartLease = 2 * time.Second

// WaitMail waits until the caller has unread mail or the context ends, and
// gives how much. sweep bounds how late a ring that was lost is noticed.
func (o *Office) WaitMail(ctx context.Context, caller Caller) (unread int, err error) {
	b, err := o.listen(string(caller.Agent.ID))
	if err != nil {
		return 0, err
	}
	defer b.Close()
	leave, err := o.Attend(ctx, caller)
	if err != nil {
		return 0, err
	}
	defer leave()
	for {
		err := o.look(ctx, func(tx *Tx) (err error) {
			_, unread, err = o.tables.Counts(tx.t, caller.Agent.ID, tx.now)
			return err
		})
		if err != nil || unread > 0 {
			return unread, err
		}
		if _, err := b.Wait(ctx, sweepEvery); err != nil {
			return 0, waitEnded(ctx, err)
		}
	}
}

// sweepEvery is how often a waiter looks although nobody rang. Only tests
// change it.
var sweepEvery = 5 * time.Second

// waitEnded gives the reason why a wait ended early.
func waitEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
