package presence

import (
	"context"
	"strings"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// Call is a tool call that a client announced before it made it: who in which
// conversation calls. Its id comes from the client and is never used twice.
type Call struct {
	ID      string
	Process roster.Process
	Client  string
	Session string
	Sub     string // the subagent's id, "" for the main agent
	SubType string // what the client calls that subagent
	Folder  string // where the caller works now, "" if unknown: what its relative paths mean
	At      time.Time
}

// callLife is how long a call is remembered: longer than any call takes.
const callLife = 24 * time.Hour

// NoteCall remembers a call.
func (s *Store) NoteCall(ctx context.Context, c Call) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		if err := tx.Exec(`DELETE FROM call WHERE at < ?`, c.At.Add(-callLife)); err != nil {
			return err
		}
		return tx.Exec(`INSERT OR REPLACE INTO call (id, host, pid, start, client, session, sub, sub_type, folder, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.ID, c.Process.Host, c.Process.PID, c.Process.Start, c.Client, c.Session, c.Sub, c.SubType, strings.ToValidUTF8(c.Folder, "\uFFFD"), c.At)
	})
}

// FindCall gives a call that was announced.
func (s *Store) FindCall(ctx context.Context, id string) (c Call, found bool, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		c.ID = id
		found, err = tx.One(`SELECT host, pid, start, client, session, sub, sub_type, folder, at FROM call WHERE id = ?`, []any{id},
			&c.Process.Host, &c.Process.PID, &c.Process.Start, &c.Client, &c.Session, &c.Sub, &c.SubType, &c.Folder, &c.At)
		return err
	})
	return c, found, err
}

// Stops bounds how often a stopping session is made to go on: not twice for
// the same mail, and not for ever.
type Stops struct {
	Position event.Seq // newest message it went on for
	Row      int       // how often in a row, since its user last spoke
	Told     event.Seq // position of the newest thing in a room that it was told of, at whatever event
}

// Stops gives what was done for a key so far.
func (s *Store) Stops(ctx context.Context, agent event.ID, key Key) (st Stops, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		_, err := tx.One(`SELECT position, row, told FROM stop WHERE agent = ? AND session = ? AND sub = ?`, []any{agent, key.Session, key.Sub}, &st.Position, &st.Row, &st.Told)
		return err
	})
	return st, err
}

// SetStops stores it.
func (s *Store) SetStops(ctx context.Context, agent event.ID, key Key, st Stops) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT OR REPLACE INTO stop (agent, session, sub, position, row, told) VALUES (?, ?, ?, ?, ?, ?)`,
			agent, key.Session, key.Sub, st.Position, st.Row, st.Told)
	})
}

// questions marks the row of a key that is about questions: it has a position of
// its own, as they were given to the key before, and not by a stop.
const questions = "?"

// Asked gives the position of the newest question put to a key that it was
// reminded of when it stopped, or that it had before this turn.
func (s *Store) Asked(ctx context.Context, agent event.ID, key Key) (event.Seq, error) {
	key.Sub += questions
	st, err := s.Stops(ctx, agent, key)
	return st.Position, err
}

// SetAsked stores it.
func (s *Store) SetAsked(ctx context.Context, agent event.ID, key Key, position event.Seq) error {
	key.Sub += questions
	return s.SetStops(ctx, agent, key, Stops{Position: position})
}

// SetStatus notes what a client is at. Saying the same again does not move the
// moment since when it is.
func (s *Store) SetStatus(ctx context.Context, agent event.ID, p roster.Process, status Status, at time.Time) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		err := tx.Exec(`UPDATE life SET status_at = CASE WHEN status = ? THEN status_at ELSE ? END, status = ?
			WHERE agent = ? AND host = ? AND pid = ? AND start = ? AND role = ?`,
			status, at, status, agent, p.Host, p.PID, p.Start, Client)
		if err != nil {
			return err
		}
		return touch(tx, agent, at)
	})
}
