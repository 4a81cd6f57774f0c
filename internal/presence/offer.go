package presence

import (
	"context"
	"slices"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// Key says to whom something was offered: one conversation in one process, and
// inside it the main agent ("") or one subagent. Proof counts only from the
// same key.
type Key struct {
	Process roster.Process
	Session string
	Sub     string
}

// Stage is how far an offer has come on its way into a model's context.
type Stage int

// The stages. A hook reserves what it is about to print and says so once it is
// printed; what a tool returns is handed out, and passed on once a later event
// shows that the result arrived. Only from Passed on does the key's next move
// prove it: a hook or a server that dies in between proves nothing.
//
// InRound is for what arrived while a round of tool calls was still running.
// Other calls of that round make moves before the model has seen anything of
// it, so only the end of the turn proves it, or the next move after the round.
const (
	Reserved Stage = -1
	Handed   Stage = 0
	Passed   Stage = 1
	InRound  Stage = 2
)

// Again says which of a key's own offers may be made once more.
type Again int

// What is offered again. At the end of a turn all results of tools are in, so
// what was handed out and did not arrive is lost. A prompt or a start that
// finds anything unproved cannot tell whether it arrived.
const (
	Never      Again = iota // what was given stays given, until its lease ends
	Lost                    // what tools handed out and no result showed
	Everything              // whatever is not proved
)

func (a Again) allows(s Stage) bool { return a == Everything || a == Lost && s == Handed }

// Offered is mail that was put before somebody and is not proved yet.
type Offered struct {
	Agent   event.ID
	Message event.ID
	Key     Key
	At      time.Time
	Until   time.Time // end of the lease, if the session stays out of turns
	Stage   Stage
	// InTurn is set while the session that it was made to is in a turn. Leases
	// do not run then: its next move is sure to come, but may take hours.
	InTurn bool
}

// Leased reports whether the offer keeps the message from others. One that was
// made in the future is from before the clock jumped back and holds nothing.
func (o *Offered) Leased(now time.Time) bool {
	const slack = 10 * time.Second // clocks are set back a little all the time
	return (o.InTurn || now.Before(o.Until)) && !o.At.After(now.Add(slack)) && Verdict(o.Key.Process) != roster.Gone
}

// Free reports whether the message may be put before the one with the key: the
// offer is its own and may be made again, or it holds nothing any more.
func (o *Offered) Free(key Key, again Again, now time.Time) bool {
	return o.Key == key && again.allows(o.Stage) || !o.Leased(now)
}

// Offer takes up to limit of the candidates for a key, in their order: those
// that nobody else holds an unexpired offer of. An offer of a process that is
// gone holds nothing. The answer is what the key may show now; until the lease
// runs out, nobody else is given these messages.
func (s *Store) Offer(ctx context.Context, agent event.ID, key Key, candidates []event.ID, limit int, stage Stage, lease time.Duration, now time.Time) ([]event.ID, error) {
	return s.offer(ctx, agent, key, candidates, limit, Offered{Stage: stage, At: now, Until: now.Add(lease)}, Everything)
}

// Reserve takes candidates for a hook that is about to print them, for as long
// as printing takes. Unlike [Store.Offer] it leaves out what the key itself has
// been given, unless that is to be offered again: two hooks of one event must
// not print the same.
func (s *Store) Reserve(ctx context.Context, agent event.ID, key Key, candidates []event.ID, again Again, lease time.Duration, now time.Time) ([]event.ID, error) {
	return s.offer(ctx, agent, key, candidates, len(candidates), Offered{Stage: Reserved, At: now, Until: now.Add(lease)}, again)
}

func (s *Store) offer(ctx context.Context, agent event.ID, key Key, candidates []event.ID, limit int, as Offered, again Again) ([]event.ID, error) {
	var granted []event.ID
	err := s.d.Update(ctx, func(tx *db.Tx) error {
		granted = granted[:0]
		for _, id := range candidates {
			if len(granted) >= limit {
				break
			}
			o, found, err := offer(tx, agent, id)
			if err != nil {
				return err
			}
			if found && !o.Free(key, again, as.At) {
				continue
			}
			err = tx.Exec(`INSERT OR REPLACE INTO offer (agent, message, host, pid, start, session, sub, at, until, gate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				agent, id, key.Process.Host, key.Process.PID, key.Process.Start, key.Session, key.Sub, as.At, as.Until, as.Stage)
			if err != nil {
				return err
			}
			granted = append(granted, id)
		}
		return nil
	})
	return granted, err
}

// selectOffers reads offers together with what the client that they were made
// to is at.
const selectOffers = `SELECT o.agent, o.message, o.host, o.pid, o.start, o.session, o.sub, o.at, o.until, o.gate, l.status, l.status_at
	FROM offer o LEFT JOIN life l ON l.agent = o.agent AND l.host = o.host AND l.pid = o.pid AND l.start = o.start AND l.role = 'client'
		AND l.session = o.session`

func scanOffer(r db.Row, o *Offered) error {
	var status Status
	var since time.Time
	err := r.Scan(&o.Agent, &o.Message, &o.Key.Process.Host, &o.Key.Process.PID, &o.Key.Process.Start, &o.Key.Session, &o.Key.Sub, &o.At, &o.Until, &o.Stage,
		&status, &since)
	switch {
	case o.Stage == Reserved:
		// A hook prints within moments or never.
	case status == Busy || status == Waiting:
		o.InTurn = true
	case since.After(o.At):
		o.Until = since.Add(o.Until.Sub(o.At)) // the turn did not count
	}
	return err
}

func offer(tx *db.Tx, agent, message event.ID) (o Offered, found bool, err error) {
	err = tx.Each(selectOffers+` WHERE o.agent = ? AND o.message = ?`, []any{agent, message}, func(r db.Row) error {
		found = true
		return scanOffer(r, &o)
	})
	return o, found, err
}

// Session gives what the client with a key is at, "" if it is not known here,
// and the offers that were made to the key.
func (s *Store) Session(ctx context.Context, agent event.ID, key Key) (status Status, offers []Offered, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		p := key.Process
		if _, err := tx.One(`SELECT status FROM life WHERE agent = ? AND host = ? AND pid = ? AND start = ? AND role = ?`,
			[]any{agent, p.Host, p.PID, p.Start, Client}, &status); err != nil {
			return err
		}
		offers, err = list(tx, agent)
		return err
	})
	return status, slices.DeleteFunc(offers, func(o Offered) bool { return o.Key != key }), err
}

// Offers lists an agent's offers, or everybody's ("").
func (s *Store) Offers(ctx context.Context, agent event.ID) (offers []Offered, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		offers, err = list(tx, agent)
		return err
	})
	return offers, err
}

func list(tx *db.Tx, agent event.ID) (out []Offered, err error) {
	err = tx.Each(selectOffers+` WHERE ? = '' OR o.agent = ? ORDER BY o.at`, []any{agent, agent}, func(r db.Row) error {
		var o Offered
		if err := scanOffer(r, &o); err != nil {
			return err
		}
		out = append(out, o)
		return nil
	})
	return out, err
}
