package presence

import (
	"context"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Sight is the newest sign of life of an agent.
type Sight struct {
	At time.Time
	// Awake is how long this machine has been awake since then; 0 if the sign
	// is from before its last start, or if it cannot tell.
	Awake time.Duration
}

// Sights gives the newest signs of life of agents; those that never showed one
// are missing.
func (s *Store) Sights(ctx context.Context, agents ...event.ID) (map[event.ID]Sight, error) {
	out := map[event.ID]Sight{}
	err := s.d.View(ctx, func(tx *db.Tx) error {
		for _, a := range agents {
			var x Sight
			var host string
			var clock int64
			found, err := tx.One(`SELECT at, host, awake FROM last WHERE agent = ?`, []any{a}, &x.At, &host, &clock)
			if err != nil {
				return err
			}
			if host == proc.Host() {
				x.Awake = max(proc.Awake()-time.Duration(clock), 0)
			}
			if found {
				out[a] = x
			}
		}
		return nil
	})
	return out, err
}

// PlaceLease is how long a place in the queue of a claim is kept for a process
// that shows no sign of life.
const PlaceLease = 15 * time.Second

// HoldPlace says that a process still waits at a place in the queue of a claim.
func (s *Store) HoldPlace(ctx context.Context, wait event.ID, p roster.Process, at time.Time) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT INTO place (wait, host, pid, start, beat, awake) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (wait) DO UPDATE SET host = excluded.host, pid = excluded.pid, start = excluded.start, beat = excluded.beat, awake = excluded.awake`,
			wait, p.Host, p.PID, p.Start, at, int64(proc.Awake()))
	})
}

// StayPlace holds a place in the queue for a process that does not show itself
// for a while, as between two calls; as ever, only as long as it lives.
func (s *Store) StayPlace(ctx context.Context, wait event.ID, p roster.Process, at time.Time, stay time.Duration) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT OR REPLACE INTO place (wait, host, pid, start, beat, awake) VALUES (?, ?, ?, ?, ?, ?)`,
			wait, p.Host, p.PID, p.Start, at, int64(proc.Awake()+stay-PlaceLease))
	})
}

// LeavePlace gives a place in the queue up.
func (s *Store) LeavePlace(ctx context.Context, wait event.ID) error {
	return s.d.Update(ctx, func(tx *db.Tx) error { return tx.Exec(`DELETE FROM place WHERE wait = ?`, wait) })
}

// PlaceHeld reports whether a process still waits at a place in the queue: it
// lives and has shown itself within PlaceLease of time awake.
func (s *Store) PlaceHeld(ctx context.Context, wait event.ID) (held bool, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		var p roster.Process
		var clock int64
		found, err := tx.One(`SELECT host, pid, start, awake FROM place WHERE wait = ?`, []any{wait}, &p.Host, &p.PID, &p.Start, &clock)
		if err != nil || !found {
			return err
		}
		held = Verdict(p) != roster.Gone && proc.Awake()-time.Duration(clock) < PlaceLease
		return nil
	})
	return held, err
}
