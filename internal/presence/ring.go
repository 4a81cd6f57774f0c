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
	// RingInVain is the result of a ring whose turn an error ended: what it was
	// for was put before nobody.
	RingInVain = RingFailed + ": its turn ended with an error"
)

// keepRings is how long it is kept what came of a ring, for senders who look
// how their message was told of. The newest one of an agent stays: it says up
// to which position there is nothing to ring for.
const keepRings = 30 * 24 * time.Hour

// Pace bounds the rings of one agent, whoever rings.
type Pace struct {
	Apart  time.Duration // least time between two rings
	Most   int           // at most so many
	Within time.Duration // in this time
	// Again is how long after a ring that failed, or whose process died while
	// it tried, the same position may be rung for once more.
	Again time.Duration
	// AgainInVain is that time after a turn that ended with an error. The model's
	// API may be down for long; the budget below bounds the attempts.
	AgainInVain time.Duration
	// A budget against loops: two agents that wake each other for ever, in one
	// thread or always in new ones.
	PerPair   int           // rings of one agent for one sender
	PerThread int           // rings for one thread, of all its participants
	Hour      time.Duration // in which they are counted
}

// Cause is what a ring is for. Without a sender, which is how the person's own
// messages and the office's come, the budget does not count.
type Cause struct {
	Sender event.ID
	Thread event.ID
}

// TakeRing reserves the one ring for an agent and a position, within the pace.
// Without an error and without won, somebody has it already (later is 0), or
// the pace does not allow it before later has passed. causes are what waits,
// the newest first; a ring needs one of them within its budget.
func (s *Store) TakeRing(ctx context.Context, agent event.ID, position event.Seq, causes []Cause, via string, now time.Time, pace Pace) (won bool, later time.Duration, err error) {
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
			again := pace.Again
			if result == RingInVain {
				again = pace.AgainInVain
			}
			if later = at.Add(again).Sub(now); later > 0 {
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
		if later, err = spend(tx, agent, causes, now, pace); err != nil || later > 0 {
			return err
		}
		won = true
		err = tx.Exec(`DELETE FROM ring WHERE agent = ? AND at < ? AND position < (SELECT max(position) FROM ring WHERE agent = ?)`,
			agent, now.Add(-keepRings), agent)
		if err != nil {
			return err
		}
		return tx.Exec(`INSERT OR REPLACE INTO ring (agent, position, at, via, result) VALUES (?, ?, ?, ?, ?)`, agent, position, now, via, Trying)
	})
	return won, later, err
}

// InVain notes that an error ended the turn that an agent's newest ring began,
// or one after it: the same position may be rung for once more.
func (s *Store) InVain(ctx context.Context, agent event.ID, now time.Time) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`UPDATE ring SET at = ?, result = ? WHERE agent = ? AND position = (SELECT max(position) FROM ring WHERE agent = ?)`,
			now, RingInVain, agent, agent)
	})
}

// spend takes one ring from the budget of the first cause that has one left,
// or says when the first of them has one again.
func spend(tx *db.Tx, agent event.ID, causes []Cause, now time.Time, pace Pace) (later time.Duration, err error) {
	since := now.Add(-pace.Hour)
	if err := tx.Exec(`DELETE FROM cause WHERE at <= ?`, since); err != nil {
		return 0, err
	}
	for _, c := range causes {
		if c.Sender == "" {
			return 0, nil
		}
		var pair, thread int
		var pairOldest, threadOldest time.Time
		if _, err := tx.One(`SELECT count(*), coalesce(min(at), 0) FROM cause WHERE agent = ? AND sender = ?`, []any{agent, c.Sender}, &pair, &pairOldest); err != nil {
			return 0, err
		}
		if _, err := tx.One(`SELECT count(*), coalesce(min(at), 0) FROM cause WHERE thread = ?`, []any{c.Thread}, &thread, &threadOldest); err != nil {
			return 0, err
		}
		wait := time.Duration(0)
		if pair >= pace.PerPair {
			wait = pairOldest.Sub(since)
		}
		if thread >= pace.PerThread {
			wait = max(wait, threadOldest.Sub(since))
		}
		if wait <= 0 {
			return 0, tx.Exec(`INSERT INTO cause (agent, sender, thread, at) VALUES (?, ?, ?, ?)`, agent, c.Sender, c.Thread, now)
		}
		if later == 0 || wait < later {
			later = wait
		}
	}
	return later, nil
}

func failedRing(result string) bool {
	return len(result) >= len(RingFailed) && result[:len(RingFailed)] == RingFailed
}
