package office

import (
	"context"
	"slices"
	"time"

	"bureau/internal/bell"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// Agent gives the recipient's id.
func (r *RecipientView) Agent() event.ID { return r.agent }

// Lead gives the main agent of the session of a recipient that is a subagent
// and sits idle; "" for all others.
func (r *RecipientView) Lead() event.ID {
	if r.idle {
		return r.main
	}
	return ""
}

// Listen hangs a bell that rings when something is new for an agent, or, with
// "", whenever anything happens in the office. Close must follow.
func (o *Office) Listen(agent event.ID) (*bell.Bell, error) {
	if agent == "" {
		return o.listen("all")
	}
	return o.listen(string(agent))
}

// RunningIn gives the main agent of the session that a client process holds
// now; found is false for a process that registered none. A process lives for
// the subagents of its session too, who are not meant.
func (o *Office) RunningIn(ctx context.Context, p roster.Process) (c Caller, found bool, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return c, false, err
	}
	lives, err := live.Process(ctx, p)
	if err != nil {
		return c, false, err
	}
	for _, l := range slices.Backward(lives) { // whom it took up last
		c, err := o.SessionCaller(ctx, l.Client, l.Session, "", p)
		if err == nil && c.Agent.ID == l.Agent {
			return c, true, nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return c, false, err
		}
	}
	return Caller{}, false, nil
}

// Announced gives the call that a client's hook announced under an id.
func (o *Office) Announced(ctx context.Context, call string) (presence.Call, bool, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return presence.Call{}, false, err
	}
	return live.FindCall(ctx, call)
}

// Hand keeps that a tool hands messages out to the caller, as Read does for
// what it shows, and gives those that it may show: what somebody else was
// given meanwhile is left out.
func (o *Office) Hand(ctx context.Context, caller Caller, ids []event.ID) ([]event.ID, error) {
	if caller.Stale {
		return ids, nil // it may look, and takes nothing from the others
	}
	return o.handOut(ctx, caller, ids, len(ids), DefaultLease)
}

// leased gives the messages of an agent that are under an offer whose lease
// runs: somebody who may be about to prove them has them. broken gives those
// that were printed for a session which lives on, and whose lease ran out, with
// the moment: no move proved them, so the turn was broken off.
func (o *Office) leased(ctx context.Context, agent event.ID) (held map[event.ID]bool, broken map[event.ID]time.Time) {
	held, broken = map[event.ID]bool{}, map[event.ID]time.Time{}
	live, err := o.Live(ctx)
	if err != nil {
		return held, broken
	}
	offers, err := live.Offers(ctx, agent)
	if err != nil {
		return held, broken
	}
	now := o.Now()
	for _, x := range offers {
		switch {
		case x.Leased(now):
			held[x.Message] = true
		case x.Stage >= presence.Passed && presence.Verdict(x.Key.Process) == roster.Alive:
			broken[x.Message] = x.At
		}
	}
	return held, broken
}

// maxSweep bounds one sweep of deadlines.
const maxSweep = 500

// SweepDue ends the open questions whose time has run out, so that asker and
// asked see the same, and what is due in rooms. It gives the earliest deadline
// that is left; zero if there is none. Whoever sweeps need not take part.
func (o *Office) SweepDue(ctx context.Context) (next time.Time, err error) {
	if next, err = o.sweepQuestions(ctx); err != nil {
		return next, err
	}
	rooms, err := o.SweepRooms(ctx)
	if next.IsZero() || !rooms.IsZero() && rooms.Before(next) {
		next = rooms
	}
	return next, err
}

func (o *Office) sweepQuestions(ctx context.Context) (next time.Time, err error) {
	var due []event.ID
	err = o.look(ctx, func(tx *Tx) error {
		due, next = due[:0], time.Time{}
		list, err := o.tables.Expiring(tx.t, maxSweep)
		if err != nil {
			return err
		}
		for _, q := range list {
			if !mail.Due(q.Expires, tx.now) {
				next = q.Expires
				return nil
			}
			t, _, _, err := o.tables.Thread(tx.t, q.Thread)
			if err != nil {
				return err
			}
			// Where a newer bureau wrote, it has the say.
			if t.Unknown == "" && !slices.Contains(due, q.Thread) {
				due = append(due, q.Thread)
			}
		}
		return nil
	})
	if err != nil || o.ReadOnly() {
		return next, err
	}
	for _, thread := range due {
		if err := o.change(ctx, event.Actor{}, func(tx *Tx) error {
			_, err := tx.onThread(thread, mail.Sweep{})
			return err
		}); err != nil {
			return next, err
		}
	}
	return next, nil
}
