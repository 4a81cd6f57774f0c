package presence

import (
	"context"
	"fmt"
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
	// RingBroken is the result of a ring whose turn was broken off before it
	// proved anything.
	RingBroken = "its turn was broken off"
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

// maxBroken is how often the turn of a ring for one position is broken off
// before it is rung for no more: its person does not want to be told of it.
const maxBroken = 2

// TakeRing reserves the one ring for an agent and a position, within the pace.
// Without an error and without won, somebody has it already (later is 0), or
// the pace does not allow it before later has passed. causes are what waits,
// the newest first; a ring needs one of them within its budget. What the budget
// holds back is kept with its reason, for [Store.HeldBack].
func (s *Store) TakeRing(ctx context.Context, agent event.ID, position event.Seq, causes []Cause, via string, now time.Time, pace Pace) (won bool, later time.Duration, err error) {
	err = s.d.Update(ctx, func(tx *db.Tx) error {
		won, later = false, 0
		var result string
		var at time.Time
		var broken int
		found, err := tx.One(`SELECT result, at, broken FROM ring WHERE agent = ? AND position >= ? ORDER BY position LIMIT 1`, []any{agent, position}, &result, &at, &broken)
		if err != nil {
			return err
		}
		if found {
			if result != Trying && result != RingBroken && !failedRing(result) || result == RingBroken && broken >= maxBroken {
				return nil
			}
			again := pace.Again
			switch result {
			case RingInVain:
				again = pace.AgainInVain
			case RingBroken:
				again = 0
			}
			if later = at.Add(again).Sub(now); later > 0 {
				return nil
			}
		}
		if later, err = apart(tx, agent, now, pace); err != nil || later > 0 {
			return err
		}
		held, free, err := budget(tx, agent, causes, now, pace)
		if err != nil {
			return err
		}
		if later = held.Until.Sub(now); later > 0 {
			held.Position = position
			return held.keep(tx, agent)
		}
		later, won = 0, true
		if err := tx.Exec(`DELETE FROM hold WHERE agent = ?`, agent); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM cause WHERE at <= ?`, now.Add(-pace.Hour)); err != nil {
			return err
		}
		if free != nil && free.Sender != "" {
			if err := tx.Exec(`INSERT INTO cause (agent, sender, thread, at) VALUES (?, ?, ?, ?)`, agent, free.Sender, free.Thread, now); err != nil {
				return err
			}
		}
		err = tx.Exec(`DELETE FROM ring WHERE agent = ? AND at < ? AND position < (SELECT max(position) FROM ring WHERE agent = ?)`,
			agent, now.Add(-keepRings), agent)
		if err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO ring (agent, position, at, via, result, broken) VALUES (?, ?, ?, ?, ?, 0)
			ON CONFLICT DO UPDATE SET at = excluded.at, via = excluded.via, result = excluded.result`, agent, position, now, via, Trying)
	})
	return won, later, err
}

// apart gives how long it is too early for another ring, whatever it is for.
// One that failed made no line in anybody's terminal, but the attempt counts.
func apart(tx *db.Tx, agent event.ID, now time.Time, pace Pace) (time.Duration, error) {
	var last time.Time
	found, err := tx.One(`SELECT at FROM ring WHERE agent = ? ORDER BY at DESC LIMIT 1`, []any{agent}, &last)
	if err != nil || !found || !last.After(now.Add(-pace.Within)) {
		return 0, err
	}
	return max(last.Add(pace.Apart).Sub(now), 0), nil
}

// InVain notes that an error ended the turn that an agent's newest ring began,
// or one after it: the same position may be rung for once more.
func (s *Store) InVain(ctx context.Context, agent event.ID, now time.Time) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`UPDATE ring SET at = ?, result = ? WHERE agent = ? AND position = (SELECT max(position) FROM ring WHERE agent = ?)`,
			now, RingInVain, agent, agent)
	})
}

// BrokenOff notes that the turn which a ring began was broken off, so that what
// it was for is not proved: the same position may be rung for once more.
func (s *Store) BrokenOff(ctx context.Context, agent event.ID, position event.Seq) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`UPDATE ring SET result = ?1, broken = broken + 1 WHERE agent = ?2 AND position = ?3 AND result <> ?1 AND result <> ?4 AND result NOT LIKE ?5`,
			RingBroken, agent, position, Trying, RingFailed+"%")
	})
}

// Hold says that a ring is held back by the budget.
type Hold struct {
	Position event.Seq // of the newest message that it would be for
	Until    time.Time
	Why      string
}

// HeldBack gives what holds back the ring for what an agent has up to a
// position.
func (s *Store) HeldBack(ctx context.Context, agent event.ID, position event.Seq, now time.Time) (h Hold, found bool, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		found, err = tx.One(`SELECT position, until, why FROM hold WHERE agent = ? AND position >= ? AND until > ?`, []any{agent, position, now},
			&h.Position, &h.Until, &h.Why)
		return err
	})
	return h, found, err
}

// Strained reports whether an agent has used up a budget, so that a ring may be
// held back.
func (s *Store) Strained(ctx context.Context, agent event.ID, now time.Time, pace Pace) (strained bool, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		var n int
		since := now.Add(-pace.Hour)
		_, err := tx.One(`SELECT (SELECT count(*) FROM ring WHERE agent = ?1 AND at > ?2) >= ?3
			OR EXISTS (SELECT 1 FROM cause WHERE agent = ?1 AND at > ?4 GROUP BY sender HAVING count(*) >= ?5)
			OR EXISTS (SELECT 1 FROM cause WHERE at > ?4 GROUP BY thread HAVING count(*) >= ?6)`,
			[]any{agent, now.Add(-pace.Within), pace.Most, since, pace.PerPair, pace.PerThread}, &n)
		strained = n != 0
		return err
	})
	return strained, err
}

// WouldHold says what would hold back a ring of an agent for a position now,
// and keeps that like a ring that was; found is false if nothing would.
func (s *Store) WouldHold(ctx context.Context, agent event.ID, position event.Seq, causes []Cause, now time.Time, pace Pace) (h Hold, found bool, err error) {
	err = s.d.Update(ctx, func(tx *db.Tx) error {
		h, _, err = budget(tx, agent, causes, now, pace)
		if found = h.Until.After(now); err != nil || !found {
			return err
		}
		h.Position = position
		return h.keep(tx, agent)
	})
	return h, found, err
}

func (h Hold) keep(tx *db.Tx, agent event.ID) error {
	return tx.Exec(`INSERT OR REPLACE INTO hold (agent, position, until, why) VALUES (?, ?, ?, ?)`, agent, h.Position, h.Until, h.Why)
}

// budget gives the first cause that has a ring left, or until when none has one,
// and why: too many rings in all, or too many for each of the causes.
func budget(tx *db.Tx, agent event.ID, causes []Cause, now time.Time, pace Pace) (held Hold, free *Cause, err error) {
	over := func(most int, within time.Duration, words, query string, args ...any) (Hold, error) {
		var n int
		var oldest time.Time
		_, err := tx.One(`SELECT count(*), coalesce(min(at), 0) FROM `+query+` AND at > ?`, append(args, now.Add(-within)), &n, &oldest)
		if err != nil || n < most {
			return Hold{}, err
		}
		return Hold{Until: oldest.Add(within), Why: fmt.Sprintf(words, most, span(within))}, nil
	}
	all, err := over(pace.Most, pace.Within, "%d rings in %s", `ring WHERE agent = ?`, agent)
	if err != nil || all.Until.After(now) {
		return all, nil, err
	}
	for i, c := range causes {
		if c.Sender == "" {
			return Hold{}, &causes[i], nil
		}
		pair, err := over(pace.PerPair, pace.Hour, "%d rings for one sender in %s", `cause WHERE agent = ? AND sender = ?`, agent, c.Sender)
		if err != nil {
			return held, nil, err
		}
		thread, err := over(pace.PerThread, pace.Hour, "%d rings for one thread in %s", `cause WHERE thread = ?`, c.Thread)
		if err != nil {
			return held, nil, err
		}
		if thread.Until.After(pair.Until) {
			pair = thread
		}
		if !pair.Until.After(now) {
			return Hold{}, &causes[i], nil
		}
		if held.Why == "" || pair.Until.Before(held.Until) {
			held = pair
		}
	}
	return held, nil, nil
}

// span is a length of time in words.
func span(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

func failedRing(result string) bool {
	return len(result) >= len(RingFailed) && result[:len(RingFailed)] == RingFailed
}
