package presence

import (
	"context"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
)

// What a ring's row says before anything came of it, and how the result of a
// ring that reached nobody begins: such a one may be tried again.
const (
	Trying     = "trying"
	RingFailed = "failed"
)

// Pace bounds the rings of one agent, whoever rings.
type Pace struct {
	Apart  time.Duration // least time between two rings
	Most   int           // at most so many
	Within time.Duration // in this time
	// Again is how long after a ring that failed, or whose process died while
	// it tried, the same position may be rung for once more.
	Again time.Duration
}

// TakeRing reserves the one ring for an agent and a position, within the pace.
// Without an error and without won, somebody has it already (later is 0), or
// the pace does not allow it before later has passed.
func (s *Store) TakeRing(ctx context.Context, agent event.ID, position event.Seq, via string, now time.Time, pace Pace) (won bool, later time.Duration, err error) {
	err = s.d.Update(ctx, func(tx *db.Tx) error {
		won, later = false, 0
		var result string
		var at time.Time
		found, err := tx.One(`SELECT result, at FROM ring WHERE agent = ? AND position >= ? ORDER BY position LIMIT 1`, []any{agent, position}, &result, &at)
		if err != nil {
			return err
		}
		if found {
			if result != Trying && !failedRing(result) {
				return nil
			}
			if later = at.Add(pace.Again).Sub(now); later > 0 {
				return nil
			}
		}
		// One that failed made no line in anybody's terminal, but the attempt counts.
		var last, oldest time.Time
		var n int
		_, err = tx.One(`SELECT count(*), coalesce(max(at), 0), coalesce(min(at), 0) FROM ring WHERE agent = ? AND at > ?`,
			[]any{agent, now.Add(-pace.Within)}, &n, &last, &oldest)
		if err != nil {
			return err
		}
		later = 0
		if n > 0 {
			later = max(last.Add(pace.Apart).Sub(now), 0)
		}
		if n >= pace.Most {
			later = max(later, oldest.Add(pace.Within).Sub(now))
		}
		if later > 0 {
			return nil
		}
		won = true
		return tx.Exec(`INSERT OR REPLACE INTO ring (agent, position, at, via, result) VALUES (?, ?, ?, ?, ?)`, agent, position, now, via, Trying)
	})
	return won, later, err
}

func failedRing(result string) bool {
	return len(result) >= len(RingFailed) && result[:len(RingFailed)] == RingFailed
}
