package presence

import (
	"context"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
)

// ofKey restricts a statement to the offers of one key.
const ofKey = ` agent = ? AND host = ? AND pid = ? AND start = ? AND session = ? AND sub = ?`

func keyArgs(agent event.ID, k Key) []any {
	return []any{agent, k.Process.Host, k.Process.PID, k.Process.Start, k.Session, k.Sub}
}

// Printed notes that messages which were reserved for a key are printed, and
// how far that brings them. A reservation that somebody else took over
// meanwhile stays theirs.
func (s *Store) Printed(ctx context.Context, agent event.ID, key Key, messages []event.ID, to Stage, lease time.Duration, now time.Time) error {
	return s.each(ctx, messages, func(tx *db.Tx, id event.ID) error {
		return tx.Exec(`UPDATE offer SET gate = ?, at = ?, until = ? WHERE message = ? AND gate = ? AND`+ofKey,
			append([]any{to, now, now.Add(lease), id, Reserved}, keyArgs(agent, key)...)...)
	})
}

// Pass notes that messages which were handed out to a key have arrived in its
// client.
func (s *Store) Pass(ctx context.Context, agent event.ID, key Key, messages []event.ID, to Stage) error {
	return s.each(ctx, messages, func(tx *db.Tx, id event.ID) error {
		return tx.Exec(`UPDATE offer SET gate = ? WHERE message = ? AND gate = ? AND`+ofKey,
			append([]any{to, id, Handed}, keyArgs(agent, key)...)...)
	})
}

// EndRound notes that a round of tool calls is over: what arrived in it is
// proved by the key's next move.
func (s *Store) EndRound(ctx context.Context, agent event.ID, key Key) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`UPDATE offer SET gate = ? WHERE gate = ? AND`+ofKey, append([]any{Passed, InRound}, keyArgs(agent, key)...)...)
	})
}

// Proved lists the messages that a move of the key proves; endOfTurn says that
// the move is the end of a turn. The caller stores them as seen and then drops
// the offers, in this order: a crash in between proves them again, which
// changes nothing.
func (s *Store) Proved(ctx context.Context, agent event.ID, key Key, endOfTurn bool) ([]event.ID, error) {
	late := Passed
	if endOfTurn {
		late = InRound
	}
	var out []event.ID
	err := s.d.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT message FROM offer WHERE gate IN (?, ?) AND`+ofKey+` ORDER BY at, message`,
			append([]any{Passed, late}, keyArgs(agent, key)...), func(r db.Row) error {
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
	return s.each(ctx, messages, func(tx *db.Tx, id event.ID) error {
		if err := tx.Exec(`DELETE FROM slice WHERE agent = ? AND receipt = ?`, agent, id); err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM offer WHERE agent = ? AND message = ?`, agent, id)
	})
}

// Release removes the offers to an agent that were made to anybody but the one
// with the key: its conversation goes on there, and nobody else can prove them.
func (s *Store) Release(ctx context.Context, agent event.ID, but Key) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`DELETE FROM offer WHERE agent = ? AND NOT (`+ofKey+`)`, append([]any{agent}, keyArgs(agent, but)...)...)
	})
}

func (s *Store) each(ctx context.Context, messages []event.ID, fn func(*db.Tx, event.ID) error) error {
	if len(messages) == 0 {
		return nil
	}
	return s.d.Update(ctx, func(tx *db.Tx) error {
		for _, id := range messages {
			if err := fn(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}
