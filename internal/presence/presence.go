// Package presence keeps what is true only now: which processes live for an
// agent, what was offered to whom and is not proved yet, who waits for which
// answer, and which bells were rung. It lies in the office's runtime folder,
// is shared by all processes of the machine and is never synced.
//
// Losing it loses nothing of the office: agents look absent until they show
// themselves again, and mail that was offered is offered again.
package presence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Role says what a process does for an agent.
type Role string

// The roles. A client is a coding agent's own process; a server is the MCP
// server that it started; a waiter is a command that waits for mail or an
// answer; a terminal is the session leader of a person's terminal.
const (
	Client   Role = "client"
	Server   Role = "server"
	Waiter   Role = "waiter"
	Terminal Role = "terminal"
)

// Status says what a client is at.
type Status string

// The states of a client.
const (
	Idle    Status = "idle"
	Busy    Status = "busy"
	Waiting Status = "waiting" // for a permission or another answer of its user
	Left    Status = "left"    // its process is about to go on with another conversation
)

// Life is a process that lives for an agent.
type Life struct {
	Agent    event.ID
	Process  roster.Process
	Role     Role
	Client   string // claude, terminal, …
	Session  string // the client's session id
	Status   Status // clients only
	StatusAt time.Time
	Wake     string // the way to wake it: inbox, bell, …; "" for none
	Since    time.Time
}

// Store is the live state of an office on this machine.
type Store struct {
	d *db.DB
}

var schema = `
CREATE TABLE IF NOT EXISTS life (
	agent TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL, role TEXT NOT NULL,
	client TEXT NOT NULL, session TEXT NOT NULL, status TEXT NOT NULL, status_at INTEGER NOT NULL, wake TEXT NOT NULL,
	since INTEGER NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (agent, host, pid, start, role)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS life_process ON life (host, pid, start);
CREATE TABLE IF NOT EXISTS last (
	agent TEXT PRIMARY KEY, at INTEGER NOT NULL, host TEXT NOT NULL, awake INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offer (
	agent TEXT NOT NULL, message TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL,
	session TEXT NOT NULL, sub TEXT NOT NULL, at INTEGER NOT NULL, until INTEGER NOT NULL, gate INTEGER NOT NULL,
	PRIMARY KEY (agent, message)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wait (
	question TEXT NOT NULL, asker TEXT NOT NULL, asked TEXT NOT NULL,
	host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL, since INTEGER NOT NULL,
	PRIMARY KEY (question, host, pid, start)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS wait_asker ON wait (asker);
CREATE TABLE IF NOT EXISTS ring (
	agent TEXT NOT NULL, position INTEGER NOT NULL, at INTEGER NOT NULL, via TEXT NOT NULL, result TEXT NOT NULL,
	broken INTEGER NOT NULL, PRIMARY KEY (agent, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hold (
	agent TEXT PRIMARY KEY, position INTEGER NOT NULL, until INTEGER NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cause (agent TEXT NOT NULL, sender TEXT NOT NULL, thread TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS cause_pair ON cause (agent, sender);
CREATE INDEX IF NOT EXISTS cause_thread ON cause (thread);
CREATE TABLE IF NOT EXISTS call (
	id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL, client TEXT NOT NULL,
	session TEXT NOT NULL, sub TEXT NOT NULL, sub_type TEXT NOT NULL, folder TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS call_at ON call (at);
CREATE TABLE IF NOT EXISTS stop (
	agent TEXT NOT NULL, session TEXT NOT NULL, sub TEXT NOT NULL, position INTEGER NOT NULL, row INTEGER NOT NULL,
	told INTEGER NOT NULL, PRIMARY KEY (agent, session, sub)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS place (
	wait TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL,
	beat INTEGER NOT NULL, awake INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS slice (
	receipt TEXT PRIMARY KEY, agent TEXT NOT NULL, room TEXT NOT NULL, handle TEXT NOT NULL, upto INTEGER NOT NULL,
	host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL, shown INTEGER NOT NULL,
	part_of INTEGER NOT NULL, part INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS slice_agent ON slice (agent, room, handle);
CREATE TABLE IF NOT EXISTS part (
	agent TEXT NOT NULL, room TEXT NOT NULL, handle TEXT NOT NULL, entry INTEGER NOT NULL, bytes INTEGER NOT NULL,
	PRIMARY KEY (agent, room, handle)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (
	room TEXT NOT NULL, handle TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL,
	for_host TEXT NOT NULL, for_pid INTEGER NOT NULL, for_start INTEGER NOT NULL, since INTEGER NOT NULL,
	PRIMARY KEY (room, handle, host, pid, start)) WITHOUT ROWID;`

// appID marks the file as bureau's live state ("BuLv").
const appID = 0x42754c76

// version is the layout of the tables. A file of another layout is put aside:
// live state is never migrated.
const version = 9

// Open opens the live state at path, making it if it is missing. A damaged
// file, or one of another layout, is put aside and begun anew.
func Open(ctx context.Context, path string) (*Store, error) {
	for attempt := 0; ; attempt++ {
		s, err := open(ctx, path)
		if err == nil || attempt > 0 || !errors.Is(err, db.ErrDamaged) && !errors.Is(err, db.ErrForeign) && !errors.Is(err, errLayout) {
			return s, err
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Rename(path+suffix, path+suffix+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
}

var errLayout = errors.New("live state of another version")

func open(ctx context.Context, path string) (*Store, error) {
	d, err := db.Open(ctx, path, db.Options{Create: true, Sync: db.Off, AppID: appID})
	if err != nil {
		return nil, err
	}
	s := &Store{d: d}
	layout := d.Version()
	if layout == version {
		return s, nil
	}
	err = d.View(ctx, func(tx *db.Tx) error {
		_, err := tx.One(`PRAGMA user_version`, nil, &layout)
		return err
	})
	if err == nil && layout == 0 {
		err = d.Update(ctx, func(tx *db.Tx) error {
			if err := tx.Exec(schema); err != nil {
				return err
			}
			return tx.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
		})
		layout = version
	}
	if err == nil && layout != version {
		err = errLayout
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

// Close releases the store.
func (s *Store) Close() error { return s.d.Close() }

// Verdict says whether a process lives, as far as this host can tell.
func Verdict(p roster.Process) roster.Verdict {
	switch {
	case p.Zero():
		return roster.Gone
	case p.Host != proc.Host():
		return roster.Unknown
	case proc.ID{PID: p.PID, Start: p.Start}.Alive():
		return roster.Alive
	}
	return roster.Gone
}

// Self names the calling process.
func Self() roster.Process {
	id := proc.Self()
	return roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
}

// Enter records a process that lives for an agent, or what has changed about
// it, and counts as a sign of life. Who entered last comes last in every list,
// whatever the clock says.
func (s *Store) Enter(ctx context.Context, l Life) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		err := tx.Exec(`INSERT INTO life (agent, host, pid, start, role, client, session, status, status_at, wake, since, turn)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(turn), 0) + 1 FROM life))
			ON CONFLICT DO UPDATE SET client = excluded.client, session = excluded.session, status = excluded.status,
				status_at = excluded.status_at, wake = excluded.wake, turn = excluded.turn`,
			l.Agent, l.Process.Host, l.Process.PID, l.Process.Start, l.Role, l.Client, l.Session, l.Status, l.StatusAt, l.Wake, l.Since)
		if err != nil {
			return err
		}
		return touch(tx, l.Agent, l.Since)
	})
}

// Leave removes a process in one role. What was offered to a client that leaves
// is free at once: it cannot prove it any more.
func (s *Store) Leave(ctx context.Context, agent event.ID, p roster.Process, role Role) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		if role == Client {
			if err := tx.Exec(`DELETE FROM offer WHERE agent = ? AND host = ? AND pid = ? AND start = ?`, agent, p.Host, p.PID, p.Start); err != nil {
				return err
			}
		}
		return tx.Exec(`DELETE FROM life WHERE agent = ? AND host = ? AND pid = ? AND start = ? AND role = ?`,
			agent, p.Host, p.PID, p.Start, role)
	})
}

// Touch is a sign of life at a moment.
func (s *Store) Touch(ctx context.Context, agent event.ID, at time.Time) error {
	return s.d.Update(ctx, func(tx *db.Tx) error { return touch(tx, agent, at) })
}

func touch(tx *db.Tx, agent event.ID, at time.Time) error {
	return tx.Exec(`INSERT INTO last (agent, at, host, awake) VALUES (?, ?, ?, ?) ON CONFLICT (agent) DO UPDATE SET
		at = max(at, excluded.at), host = excluded.host, awake = excluded.awake`, agent, at, proc.Host(), int64(proc.Awake()))
}

// Known gives, of the agents named or (none) of all, the processes that live
// now and the newest sign of life of each agent that ever showed one. What is
// recorded but gone is left out.
func (s *Store) Known(ctx context.Context, agents ...event.ID) (lives []Life, last map[event.ID]time.Time, err error) {
	last = map[event.ID]time.Time{}
	err = s.d.View(ctx, func(tx *db.Tx) error {
		read := func(where string, args ...any) error {
			if err := each(tx, where, args, func(l Life) { lives = append(lives, l) }); err != nil {
				return err
			}
			return tx.Each(`SELECT agent, at FROM last`+where, args, func(r db.Row) error {
				var id event.ID
				var at time.Time
				if err := r.Scan(&id, &at); err != nil {
					return err
				}
				last[id] = at
				return nil
			})
		}
		if len(agents) == 0 {
			return read(``)
		}
		for _, a := range agents {
			if err := read(` WHERE agent = ?`, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(lives, func(l Life) bool { return Verdict(l.Process) == roster.Gone }), last, nil
}

// Lives lists the processes that live now, for one agent or ("") for all.
func (s *Store) Lives(ctx context.Context, agent event.ID) ([]Life, error) {
	if agent == "" {
		lives, _, err := s.Known(ctx)
		return lives, err
	}
	lives, _, err := s.Known(ctx, agent)
	return lives, err
}

// Process lists the agents that a process lives for as a client.
func (s *Store) Process(ctx context.Context, p roster.Process) ([]Life, error) {
	var out []Life
	err := s.d.View(ctx, func(tx *db.Tx) error {
		return each(tx, ` WHERE host = ? AND pid = ? AND start = ? AND role = ?`, []any{p.Host, p.PID, p.Start, Client},
			func(l Life) { out = append(out, l) })
	})
	return out, err
}

func each(tx *db.Tx, where string, args []any, fn func(Life)) error {
	return tx.Each(`SELECT agent, host, pid, start, role, client, session, status, status_at, wake, since FROM life`+where+` ORDER BY turn`, args,
		func(r db.Row) error {
			var l Life
			err := r.Scan(&l.Agent, &l.Process.Host, &l.Process.PID, &l.Process.Start, &l.Role, &l.Client, &l.Session,
				&l.Status, &l.StatusAt, &l.Wake, &l.Since)
			if err == nil {
				fn(l)
			}
			return err
		})
}

// Sweep removes what belongs to processes that are gone. Only live state goes:
// mail and names are not touched.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	type key struct {
		host       string
		pid, start int64
	}
	var dead []key
	err = s.d.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT host, pid, start FROM life UNION SELECT host, pid, start FROM wait UNION SELECT host, pid, start FROM offer
			UNION SELECT host, pid, start FROM held`, nil,
			func(r db.Row) error {
				var k key
				if err := r.Scan(&k.host, &k.pid, &k.start); err != nil {
					return err
				}
				if Verdict(roster.Process{Host: k.host, PID: int(k.pid), Start: k.start}) == roster.Gone {
					dead = append(dead, k)
				}
				return nil
			})
	})
	if err != nil || len(dead) == 0 {
		return 0, err
	}
	err = s.d.Update(ctx, func(tx *db.Tx) error {
		for _, k := range dead {
			for _, table := range []string{"life", "wait", "offer", "held"} {
				if err := tx.Exec(`DELETE FROM `+table+` WHERE host = ? AND pid = ? AND start = ?`, k.host, k.pid, k.start); err != nil {
					return err
				}
				removed += int(tx.Changes())
			}
		}
		// What no offer belongs to any more proves nothing.
		return tx.Exec(`DELETE FROM slice WHERE receipt NOT IN (SELECT message FROM offer)`)
	})
	return removed, err
}
