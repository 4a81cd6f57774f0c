package office

import (
	"bytes"
	"context"
	"sync"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/mailflag"
	"bureau/internal/presence"
	"bureau/internal/projection"
)

// Choice is which mail an event of a session delivers.
type Choice int

// The choices. What is of low importance waits for the next turn, and what
// wakes nobody does not keep a session from stopping either.
const (
	AnyMail Choice = iota
	NotLow
	Waking
)

func (c Choice) takes(r *projection.Received) bool {
	switch c {
	case NotLow:
		return r.Importance >= mail.Normal
	case Waking:
		return wakes(r)
	}
	return true
}

// enough bounds the bodies that Pending loads: a hook prints less than this,
// so what follows could not be shown anyway.
const enough = 64 << 10

// Pending lists what may be put before a caller now, whole and oldest first:
// unseen mail that nobody holds an offer of, or only offers that may be made
// again. unread counts all that waits for the caller, as Inbox does.
func (o *Office) Pending(ctx context.Context, caller Caller, again presence.Again, choice Choice, limit int) (list []MessageView, unread int, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, 0, err
	}
	offers, err := live.Offers(ctx, caller.Agent.ID)
	if err != nil {
		return nil, 0, err
	}
	now := o.Now()
	skip := map[event.ID]bool{}
	for _, x := range offers {
		if !x.Free(caller.Key(), again, now) {
			skip[x.Message] = true
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		list = list[:0]
		_, unread, err = o.tables.Counts(tx.t, caller.Agent.ID, tx.now)
		if err != nil {
			return err
		}
		const page = 50
		size := 0
		for after := int64(0); ; {
			rows, err := o.tables.Unseen(tx.t, caller.Agent.ID, after, page, tx.now)
			if err != nil {
				return err
			}
			for i := range rows {
				r := &rows[i]
				after = r.N
				if skip[r.ID] || !choice.takes(r) {
					continue
				}
				v, err := tx.received(caller, r, nil)
				if err == nil {
					err = tx.whole(&v, &r.Message)
				}
				if err != nil {
					return err
				}
				v.wakes, v.position = wakes(r), r.Receipt.Seq
				list = append(list, v)
				if size += len(v.Body); len(list) == limit || size > enough {
					return nil
				}
			}
			if len(rows) < page {
				return nil
			}
		}
	})
	return list, unread, err
}

// wakes applies the one rule for what makes a session go on or wake up.
func wakes(r *projection.Received) bool {
	return mail.Wakes(&mail.Message{Kind: r.Kind, Importance: r.Importance, NoWake: r.NoWake, Group: r.Group})
}

// Wakes reports whether the message may wake its recipient or make a stopping
// session go on; set by Pending.
func (m *MessageView) Wakes() bool { return m.wakes }

// Position is where the message stands in the journal; set by Pending.
func (m *MessageView) Position() event.Seq { return m.position }

// Reserve takes messages that a hook is about to print and gives those that it
// may: what somebody else was given meanwhile is left out. Once they are
// printed the hook calls Printed; if it dies before, they are offered again.
func (o *Office) Reserve(ctx context.Context, caller Caller, ids []event.ID, again presence.Again) ([]event.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	return live.Reserve(ctx, caller.Agent.ID, caller.Key(), ids, again, printLease, o.Now())
}

// printLease is how long a hook may take from reserving to printing.
const printLease = 5 * time.Second

// Printed notes that reserved messages were printed into the client's context
// channel: the caller's next move proves them. inRound says that it was done
// inside a round of tool calls, whose moves prove nothing of it. lease is how
// long it is kept from others while the session is idle: [DefaultLease], or
// [StartLease] at the start of a session.
func (o *Office) Printed(ctx context.Context, caller Caller, ids []event.ID, inRound bool, lease time.Duration) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.Printed(ctx, caller.Agent.ID, caller.Key(), ids, stage(inRound), lease, o.Now())
}

func stage(inRound bool) presence.Stage {
	if inRound {
		return presence.InRound
	}
	return presence.Passed
}

// handOut keeps that a tool hands messages out to the caller, until a look at
// its result shows that they arrived. A session's hook must take that look, so
// it may not take the next event for one with nothing to do.
func (o *Office) handOut(ctx context.Context, caller Caller, ids []event.ID, limit int, lease time.Duration) ([]event.ID, error) {
	live, err := o.Live(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	granted, err := live.Offer(ctx, caller.Agent.ID, caller.Key(), ids, limit, presence.Handed, lease, o.Now())
	if err == nil && len(granted) > 0 && caller.InSession() {
		err = mailflag.Invalidate(o.run.FlagDir(), FlagName(caller.Session, caller.Sub), "")
	}
	return granted, err
}

// Round takes note of tool calls that ended: of one, inside a round whose other
// calls still run, or of the whole round, which is a move that proves what was
// given before it. results gives what the tools returned; what the caller was
// handed out and can be found there, by the end of its id, has arrived.
// outstanding reports whether anything of the caller's is still to be proved.
func (o *Office) Round(ctx context.Context, caller Caller, via string, results func() []byte, inRound bool) (outstanding bool, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return false, err
	}
	agent, key := caller.Agent.ID, caller.Key()
	status, offers, err := live.Session(ctx, agent, key)
	if err != nil {
		return false, err
	}
	if status != presence.Busy && (caller.Sub == "" || status == presence.Idle) {
		if err := live.SetStatus(ctx, agent, key.Process, presence.Busy, o.Now()); err != nil {
			return false, err
		}
	}
	var proved, arrived []event.ID
	early := false
	returned := sync.OnceValue(results)
	for _, x := range offers {
		end := string(x.Message[len(x.Message)-projection.ShortLen:])
		switch {
		case x.Stage == presence.Passed && !inRound:
			proved = append(proved, x.Message)
		case x.Stage == presence.Handed && bytes.Contains(returned(), []byte(end)):
			arrived = append(arrived, x.Message)
		case x.Stage == presence.InRound:
			early = true
		}
	}
	if err := o.Seen(ctx, caller, proved, via); err != nil {
		return false, err
	}
	if err := live.Pass(ctx, agent, key, arrived, stage(inRound)); err != nil {
		return false, err
	}
	if early && !inRound {
		err = live.EndRound(ctx, agent, key)
	}
	return len(offers) > len(proved), err
}

// Moved stores as seen what the caller was given before and has proved by
// making a move. endOfTurn says that the move ends its turn, which also proves
// what arrived inside the last round of tool calls.
func (o *Office) Moved(ctx context.Context, caller Caller, via string, endOfTurn bool) error {
	if caller.Stale {
		return nil
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	proved, err := live.Proved(ctx, caller.Agent.ID, caller.Key(), endOfTurn)
	if err != nil || len(proved) == 0 {
		return err
	}
	return o.Seen(ctx, caller, proved, via)
}
