package presence

import (
	"context"
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
const (
	Reserved Stage = -1
	Handed   Stage = 0
	Passed   Stage = 1
)

// Offered is mail that was put before somebody and is not proved yet.
type Offered struct {
	Agent   event.ID
	Message event.ID
	Key     Key
	At      time.Time
	Until   time.Time // end of the lease
	Stage   Stage
}

// Leased reports whether the offer keeps the message from others. One that was
// made in the future is from before the clock jumped back and holds nothing.
func (o *Offered) Leased(now time.Time) bool {
	const slack = 10 * time.Second // clocks are set back a little all the time
	return now.Before(o.Until) && !o.At.After(now.Add(slack)) && Verdict(o.Key.Process) != roster.Gone
}

// Offer takes up to limit of the candidates for a key, in their order: those
// that nobody else holds an unexpired offer of. An offer of a process that is
// gone holds nothing. The answer is what the key may show now; until the lease
// runs out, nobody else is given these messages.
func (s *Store) Offer(ctx context.Context, agent event.ID, key Key, candidates []event.ID, limit int, stage Stage, lease time.Duration, now time.Time) ([]event.ID, error) {
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
			if found && o.Key != key && o.Leased(now) {
				continue
			}
			err = tx.Exec(`INSERT OR REPLACE INTO offer (agent, message, host, pid, start, session, sub, at, until, gate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				agent, id, key.Process.Host, key.Process.PID, key.Process.Start, key.Session, key.Sub, now, now.Add(lease), stage)
			if err != nil {
				return err
			}
			granted = append(granted, id)
		}
		return nil
	})
	return granted, err
}

const offerColumns = `agent, message, host, pid, start, session, sub, at, until, gate`

func scanOffer(r db.Row, o *Offered) error {
	return r.Scan(&o.Agent, &o.Message, &o.Key.Process.Host, &o.Key.Process.PID, &o.Key.Process.Start, &o.Key.Session, &o.Key.Sub, &o.At, &o.Until, &o.Stage)
}

func offer(tx *db.Tx, agent, message event.ID) (o Offered, found bool, err error) {
	err = tx.Each(`SELECT `+offerColumns+` FROM offer WHERE agent = ? AND message = ?`, []any{agent, message}, func(r db.Row) error {
		found = true
		return scanOffer(r, &o)
	})
	return o, found, err
}

// Offers lists an agent's offers, or everybody's ("").
func (s *Store) Offers(ctx context.Context, agent event.ID) ([]Offered, error) {
	var out []Offered
	err := s.d.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT `+offerColumns+` FROM offer WHERE ? = '' OR agent = ? ORDER BY at`, []any{agent, agent}, func(r db.Row) error {
			var o Offered
			if err := scanOffer(r, &o); err != nil {
				return err
			}
			out = append(out, o)
			return nil
		})
	})
	return out, err
}

// Pass notes that messages offered to a key are on their way to the model: the
// next move of the same key proves them.
func (s *Store) Pass(ctx context.Context, agent event.ID, key Key, messages []event.ID) error {
	if len(messages) == 0 {
		return nil
	}
	return s.d.Update(ctx, func(tx *db.Tx) error {
		for _, id := range messages {
			err := tx.Exec(`UPDATE offer SET gate = ? WHERE agent = ? AND message = ? AND host = ? AND pid = ? AND start = ? AND session = ? AND sub = ?`,
				Passed, agent, id, key.Process.Host, key.Process.PID, key.Process.Start, key.Session, key.Sub)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Proved lists the messages whose offers to the key have been passed on.
// The caller stores them as seen and then drops the offers, in this order: a
// crash in between proves them again, which changes nothing.
func (s *Store) Proved(ctx context.Context, agent event.ID, key Key) ([]event.ID, error) {
	var out []event.ID
	err := s.d.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT message FROM offer WHERE agent = ? AND host = ? AND pid = ? AND start = ? AND session = ? AND sub = ? AND gate = 1 ORDER BY at, message`,
			[]any{agent, key.Process.Host, key.Process.PID, key.Process.Start, key.Session, key.Sub}, func(r db.Row) error {
				var id event.ID
				if err := r.Scan(&id); err != nil {
					return err
				}
				out = append(out, id)
				return nil
			})
	})
	return out, err
}

// Drop removes offers of an agent, whoever holds them.
func (s *Store) Drop(ctx context.Context, agent event.ID, messages []event.ID) error {
	if len(messages) == 0 {
		return nil
	}
	return s.d.Update(ctx, func(tx *db.Tx) error {
		for _, id := range messages {
			if err := tx.Exec(`DELETE FROM offer WHERE agent = ? AND message = ?`, agent, id); err != nil {
				return err
			}
		}
		return nil
	})
}
