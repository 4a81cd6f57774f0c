package office

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bureau/internal/bell"
	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// What becomes of a question whose answerer leaves: it stays open for whoever
// takes the seat next, and whoever waits for it is told at once. One that ends
// for good is told of by a letter, unless its asker waits and sees it.

// watched follows whether the one who was asked is still there while somebody
// waits for its answer. Only a session and a person's terminal count as being
// there: a command that waits for mail comes and goes.
type watched struct {
	o    *Office
	to   event.ID
	here bool
}

// leaves looks again, and reports whether the one who was asked was there at the
// look before and is not now. Of somebody else than before nothing is known yet.
func (w *watched) leaves(ctx context.Context, to event.ID) bool {
	live, err := w.o.Live(ctx)
	if err != nil {
		return false
	}
	lives, err := live.Lives(ctx, to)
	if err != nil {
		return false
	}
	// The server of a session that has ended ends a moment after it.
	lives = slices.DeleteFunc(lives, func(l presence.Life) bool { return l.Role == presence.Server })
	stays := slices.ContainsFunc(lives, func(l presence.Life) bool { return l.Role == presence.Client || l.Role == presence.Terminal })
	left := w.to == to && w.here && len(lives) == 0
	w.to, w.here = to, stays || w.to == to && w.here && len(lives) > 0
	return left
}

// ofAsked says how the one who was asked would notice now.
func (o *Office) ofAsked(ctx context.Context, caller Caller, to *roster.Agent) RecipientView {
	list := []RecipientView{{Name: string(to.Name), agent: to.ID}}
	list[0].colleague = to.Kind == roster.Colleague
	o.describe(ctx, caller, list)
	return list[0]
}

// goneNow is ofAsked for somebody whose session has just ended: the server of
// that session, if it is still there, rings nobody any more.
func (o *Office) goneNow(ctx context.Context, caller Caller, to *roster.Agent) RecipientView {
	r := o.ofAsked(ctx, caller, to)
	if r.Here {
		r.Here, r.Wake = false, WakeNone
	}
	return r
}

// ringAskers lets whoever waits for an answer of an agent look again.
func (o *Office) ringAskers(ctx context.Context, live *presence.Store, asked event.ID) {
	waits, err := live.Waits(ctx)
	if err != nil {
		return // their sweep finds it
	}
	var topics []string
	for _, w := range waits {
		if w.Asked == asked {
			topics = append(topics, string(w.Asker))
		}
	}
	if len(topics) > 0 {
		_, _ = bell.Ring(o.run.BellDir(), topics...)
	}
}

// endings are the reasons for which a question ends without its asker's doing,
// as its letter says them. An expiry is the asker's own.
var endings = map[string]string{
	"closed":  "the thread was closed",
	"retired": "%s was retired",
	mail.Gone: "%s has ended and left it to nobody",
}

// tellEnded writes to the askers of questions that have just ended. before is
// the thread as it was. Who did it knows, and who waits for the answer sees it.
func (tx *Tx) tellEnded(before *mail.Thread, events []event.Event) error {
	for _, e := range events {
		var d mail.EndedQuestion
		if e.Kind != mail.KindEnded || e.Decode(&d) != nil || endings[d.Reason] == "" {
			continue
		}
		at := slices.IndexFunc(before.Questions, func(q mail.OpenQuestion) bool { return q.ID == d.ID && q.Asked == d.Asked })
		if at < 0 {
			continue
		}
		q := before.Questions[at]
		to := q.Asker
		if q.AnswerTo != "" {
			to = q.AnswerTo
		}
		reader, found, err := tx.o.tables.Agent(tx.t, to)
		if err != nil {
			return err
		}
		if !found || reader.Retired || ended(&reader) || to == d.Asked || tx.awaited(d.ID, d.Asked) {
			continue
		}
		asked, found, err := tx.o.tables.Agent(tx.t, d.Asked)
		if err != nil || !found {
			return err
		}
		if d.Reason == mail.Gone {
			// What its own subagent did not answer a session's client tells it.
			main, found, err := tx.mainOf(&asked)
			if err != nil {
				return err
			}
			if found && main.ID == to {
				continue
			}
		}
		why := endings[d.Reason]
		short, err := tx.o.tables.Short(tx.t, d.ID)
		if err != nil {
			return err
		}
		if strings.Contains(why, "%s") {
			why = fmt.Sprintf(why, asked.Name)
		}
		if d.Reason == "closed" {
			why += closedWhy(events)
		}
		body := fmt.Sprintf("Your question %s to %s has ended: %s. No answer to it can come any more.", short, asked.Name, why)
		if m, found, err := tx.o.tables.MessageByID(tx.t, d.ID); err != nil {
			return err
		} else if found && m.Preview != "" {
			body += "\nYou asked: " + m.Preview
		}
		l := Letter{Subject: "your question has ended", Kind: mail.Update, Body: []byte(body)}
		if err := tx.write(claim.By{Agent: tx.actor.Agent}, to, l, event.Derive("question ended", string(d.ID), string(d.Asked))); err != nil {
			return err
		}
	}
	return nil
}

// closedWhy gives what was said when a thread was closed.
func closedWhy(events []event.Event) string {
	for _, e := range events {
		var d mail.ClosedBy
		if e.Kind == mail.KindClosed && e.Decode(&d) == nil && strings.TrimSpace(d.Reason) != "" {
			return " (" + strings.TrimSpace(d.Reason) + ")"
		}
	}
	return ""
}

// awaited reports whether a living process waits for the answer to a question.
func (tx *Tx) awaited(question, asked event.ID) bool {
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return false
	}
	waits, err := live.Waits(tx.t.Context())
	return err == nil && slices.ContainsFunc(waits, func(w presence.Wait) bool { return w.Question == question && w.Asked == asked })
}
