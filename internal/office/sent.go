package office

import (
	"context"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

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
	first := true
	for _, r := range list {
		if r.State == mail.Stored && tx.o.offered(tx.t.Context(), r.Agent)[m.ID] {
			r.State = mail.Offered
		}
		c := ReceiptView{Name: tx.nameOf(r.Agent), State: r.State, Reason: r.Reason, At: r.At}
		switch {
		case r.Reason == projection.ReasonPassed:
			c.Reason = "it has ended; " + tx.nameOf(r.Via) + " has it now"
		case r.Reason == mail.Gone:
			c.Reason = "it has ended"
		case r.Via != "":
			c.For = tx.nameOf(r.Via)
		}
		if p != nil && mail.Unseen(r.State) {
			c.Woken = tx.woken(p, r.Agent, r.Seq, wakingPart(m))
		}
		v.Receipts = append(v.Receipts, c)
		// Where one has it now instead of another, that one counts.
		if r.Reason != projection.ReasonPassed && (first || mail.Before(r.State, v.State)) {
			v.State, first = r.State, false
		}
	}
	return nil
}

// woken says what was done, or could be done, to make a recipient notice.
func (tx *Tx) woken(p *presenceOf, agent event.ID, position event.Seq, m *mail.Message) string {
	mate, a := event.ID(""), roster.Agent{}
	if found, ok, err := tx.o.tables.Agent(tx.t, agent); err == nil && ok {
		a = found
	}
	if a.Kind == roster.Worker && p.status(agent) == presence.Idle {
		// What wakes it is a ring of its lead.
		if main, found, err := tx.mainOf(&a); err == nil && found {
			mate, agent, a = agent, main.ID, main
		}
	}
	if live, err := tx.o.Live(tx.t.Context()); err == nil {
		if r, found, err := live.LastRing(tx.t.Context(), agent, position); err == nil && found {
			words := "woken via " + r.Via + ": " + r.Result
			if mate != "" {
				words = "its lead " + words
			}
			if r.Broken > 0 && r.Result != presence.RingBroken {
				words += "; the turn before was broken off"
			}
			return words
		}
		if h, held, err := live.HeldBack(tx.t.Context(), agent, position, tx.now); err == nil && held && mail.Wakes(m) {
			return "not rung, " + HeldWord(h)
		}
	}
	if a.Kind == roster.Session {
		p.ask(agent)
	}
	word := p.wake(agent)
	if mate != "" {
		word = p.mateWake(mate, agent)
	}
	how, held := quietWord(word, m)
	if held != "" {
		how += ", " + held
	}
	return how
}
