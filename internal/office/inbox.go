package office

import (
	"context"
	"encoding/base64"
	"encoding/json"
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
	if err != nil || r.Kind != mail.Question {
		return v, err
	}
	v.Open, err = tx.openTo(r.ID, caller.Agent.ID)
	return v, err
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

// Read gives whole messages by their ids or parts of them. It changes
// nothing by itself: a terminal then calls Seen; in a session the reading is
// an offer.
func (o *Office) Read(ctx context.Context, caller Caller, parts []string) ([]MessageView, error) {
	var out []MessageView
	offered := o.offered(ctx, caller.Agent.ID)
	err := o.look(ctx, func(tx *Tx) error {
		out = out[:0]
		for _, part := range parts {
			id, err := tx.resolve(caller, part, "message")
			if err != nil {
				return err
			}
			v, err := tx.wholeFor(caller, id, offered)
			if err == nil {
				err = v.lost
			}
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	})
	if err != nil || !caller.InSession() {
		return out, err
	}
	return out, o.offerRead(ctx, caller, out)
}

// wholeFor gives a whole message as the caller may see it.
func (tx *Tx) wholeFor(caller Caller, id event.ID, offered map[event.ID]bool) (MessageView, error) {
	m, found, err := tx.o.tables.MessageByID(tx.t, id)
	if err != nil {
		return MessageView{}, err
	}
	if !found {
		return MessageView{}, fault.New(fault.NotFound, "no message %q", id).WithHint("bureau inbox --all lists yours")
	}
	r := projection.Received{Message: m}
	mine := false
	if r.Receipt, mine, err = tx.o.tables.ReceiptOf(tx.t, m.N, caller.Agent.ID, tx.now); err != nil {
		return MessageView{}, err
	}
	if !mine { // what was addressed to the caller is the caller's to read
		if err := tx.see(caller, m.Thread); err != nil {
			return MessageView{}, err
		}
	}
	v, err := tx.received(caller, &r, offered)
	if err != nil {
		return v, err
	}
	if !mine {
		v.State = ""
		if err := tx.receipts(&v, &m, nil); err != nil {
			return v, err
		}
	}
	return v, tx.whole(&v, &m)
}

// offerRead keeps what a session read as offers until its next move.
func (o *Office) offerRead(ctx context.Context, caller Caller, list []MessageView) error {
	var ids []event.ID
	for i := range list {
		if mail.Unseen(list[i].State) {
			ids = append(ids, list[i].ID)
		}
	}
	if caller.Stale {
		return nil // it may look, and the process that its conversation went on in is given the mail
	}
	_, err := o.handOut(ctx, caller, ids, len(ids), DefaultLease)
	return err
}

// Take offers the caller up to limit unseen messages, oldest first, whole.
// Until the lease ends nobody else who reads the same inbox is given them.
// more is how many wait besides.
func (o *Office) Take(ctx context.Context, caller Caller, limit int, lease time.Duration) (list []MessageView, more int, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, 0, err
	}
	var granted []event.ID
	var after int64
	for len(granted) < limit {
		var candidates []event.ID
		err := o.look(ctx, func(tx *Tx) error {
			rows, err := o.tables.Unseen(tx.t, caller.Agent.ID, after, max(limit, 100), tx.now)
			candidates = candidates[:0]
			for _, r := range rows {
				candidates = append(candidates, r.ID)
			}
			if len(rows) > 0 {
				after = rows[len(rows)-1].N
			}
			return err
		})
		if err != nil || len(candidates) == 0 {
			if err != nil {
				return nil, 0, err
			}
			break
		}
		got := candidates[:min(len(candidates), limit-len(granted))]
		if !caller.Stale { // who may only look takes nothing from the others
			if got, err = o.handOut(ctx, caller, candidates, limit-len(granted), lease); err != nil {
				return nil, 0, err
			}
		}
		granted = append(granted, got...)
	}
	var settled []event.ID
	err = o.look(ctx, func(tx *Tx) error {
		list, settled = list[:0], settled[:0]
		for _, id := range granted {
			v, err := tx.wholeFor(caller, id, map[event.ID]bool{id: true})
			if err != nil {
				return err
			}
			// Between the look and the offer somebody else may have proved it.
			if !mail.Unseen(v.State) {
				settled = append(settled, id)
				continue
			}
			list = append(list, v)
		}
		_, unread, err := o.tables.Counts(tx.t, caller.Agent.ID, tx.now)
		more = max(unread-len(list), 0)
		return err
	})
	if err == nil && len(settled) > 0 {
		err = live.Drop(ctx, caller.Agent.ID, settled)
	}
	return list, more, err
}

// Seen stores that the caller has got messages: after this they are never
// given as new again. via says what proved it.
func (o *Office) Seen(ctx context.Context, caller Caller, ids []event.ID, via string) error {
	return o.mark(ctx, caller, ids, mail.KindSeen, via)
}

// Ack acknowledges messages explicitly, which also proves that they were seen.
func (o *Office) Ack(ctx context.Context, caller Caller, parts []string) ([]MessageView, error) {
	if err := caller.mayChange(); err != nil {
		return nil, err
	}
	var ids []event.ID
	err := o.look(ctx, func(tx *Tx) error {
		ids = ids[:0]
		for _, part := range parts {
			id, err := tx.resolve(caller, part, "message")
			if err != nil {
				return err
			}
			m, _, err := tx.o.tables.MessageByID(tx.t, id)
			if err != nil {
				return err
			}
			if _, mine, err := tx.o.tables.ReceiptOf(tx.t, m.N, caller.Agent.ID, tx.now); err != nil {
				return err
			} else if !mine {
				return fault.New(fault.Denied, "message %s was not sent to %s", id, caller.Agent.Name).WithHint("only a recipient acknowledges it")
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := o.mark(ctx, caller, ids, mail.KindAcked, "ack"); err != nil {
		return nil, err
	}
	var out []MessageView
	err = o.look(ctx, func(tx *Tx) error {
		out = out[:0]
		for _, id := range ids {
			v, err := tx.wholeFor(caller, id, nil)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	})
	return out, err
}

// mark appends one record for all messages that it moves forward.
func (o *Office) mark(ctx context.Context, caller Caller, ids []event.ID, kind event.Kind, via string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := caller.mayChange(); err != nil {
		return err
	}
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		subject := event.AgentSubject(caller.Agent.ID)
		if err := tx.known(subject); err != nil {
			return err
		}
		news := mail.Seen
		if kind == mail.KindAcked {
			news = mail.Acked
		}
		var moved []event.ID
		for _, id := range ids {
			m, found, err := o.tables.MessageByID(tx.t, id)
			if err != nil {
				return err
			}
			if !found {
				continue // an offer can outlive its office; the others count
			}
			r, mine, err := o.tables.ReceiptOf(tx.t, m.N, caller.Agent.ID, tx.now)
			if err != nil {
				return err
			}
			if mine && mail.Forward(r.State, news) != r.State {
				moved = append(moved, id)
				tx.tell(false, m.From)
			}
		}
		if len(moved) == 0 {
			return nil
		}
		_, err := tx.append("", subject, nil, []event.Event{event.New(kind, mail.Marked{Messages: moved, Via: via})})
		return err
	})
	if err != nil {
		return err
	}
	// Only now: a crash before this line makes the offer again, and no harm is done.
	live, err := o.Live(ctx)
	if err != nil {
		return nil
	}
	_ = live.Drop(ctx, caller.Agent.ID, ids)
	return nil
}

// SentMail lists the caller's own messages, newest first, with the state of
// each recipient. State is the least of them.
func (o *Office) SentMail(ctx context.Context, caller Caller, page Page) (Messages, error) {
	out := Messages{Messages: []MessageView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	var below int64
	if page.From != "" {
		if err := decodeCursor(page.From, &below); err != nil {
			return out, err
		}
	}
	p, err := o.presence(ctx)
	if err != nil {
		return out, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Messages = out.Messages[:0]
		list, total, err := o.tables.SentBy(tx.t, caller.Agent.ID, below, limit+1)
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(list[limit-1].N)
		}
		for i := range list {
			v, err := tx.view(&list[i], "")
			if err != nil {
				return err
			}
			if err := tx.receipts(&v, &list[i], p); err != nil {
				return err
			}
			out.Messages = append(out.Messages, v)
		}
		out.Total = total
		return nil
	})
	return out, err
}

// receipts fills in how far a message has come with each recipient.
func (tx *Tx) receipts(v *MessageView, m *projection.Message, p *presenceOf) error {
	list, err := tx.o.tables.Receipts(tx.t, m.N, tx.now)
	if err != nil {
		return err
	}
	for i, r := range list {
		if r.State == mail.Stored && tx.o.offered(tx.t.Context(), r.Agent)[m.ID] {
			r.State = mail.Offered
		}
		c := ReceiptView{Name: tx.nameOf(r.Agent), State: r.State, Reason: r.Reason, At: r.At}
		if p != nil && mail.Unseen(r.State) {
			c.Woken = tx.woken(p, r.Agent, m.Seq)
		}
		v.Receipts = append(v.Receipts, c)
		if i == 0 || mail.Before(r.State, v.State) {
			v.State = r.State
		}
	}
	return nil
}

// woken says what was done, or could be done, to make a recipient notice.
func (tx *Tx) woken(p *presenceOf, agent event.ID, position event.Seq) string {
	if live, err := tx.o.Live(tx.t.Context()); err == nil {
		if r, found, err := live.LastRing(tx.t.Context(), agent, position); err == nil && found {
			return "woken via " + r.Via + ": " + r.Result
		}
	}
	return p.wake(agent)
}

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

// sweepEvery is how often a waiter looks although nobody rang.
const sweepEvery = 5 * time.Second

// waitEnded gives the reason why a wait ended early.
func waitEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
