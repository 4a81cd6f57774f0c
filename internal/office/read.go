package office

import (
	"context"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
)

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
// given as new again. via says what proved it. Receipts of rooms may stand among
// the ids: what they were given for counts as read.
func (o *Office) Seen(ctx context.Context, caller Caller, ids []event.ID, via string) error {
	rest, err := o.seenInRooms(ctx, caller, ids, via)
	if err != nil {
		return err
	}
	return o.mark(ctx, caller, rest, mail.KindSeen, via)
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
			// An offer can outlive its office; the others count.
			from, r, mine, err := o.tables.ReceiptFor(tx.t, id, caller.Agent.ID, tx.now)
			if err != nil {
				return err
			}
			if mine && mail.Forward(r.State, news) != r.State {
				moved = append(moved, id)
				tx.tell(false, from)
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
