// Package sqlite is the journal in one SQLite file, shared by many processes
// of one machine without a daemon.
//
// Positions have no gaps: they are the head's plus one, decided under the
// database's write lock. Besides the journal's contract the engine keeps a
// running digest by position, SHA-256(digest of the record before ‖ hash of
// the record) over raw bytes and starting from 32 zero bytes, so that a
// changed, exchanged or removed row anywhere is found ([Engine.Verify]).
// Digests are local to the file.
//
// [Engine.In] offers the operations inside a transaction of the caller, who
// can so read state, decide, append and project in one.
package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"sync/atomic"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// AppID is the application id of a file that holds a journal ("BURj"), for
// [db.Options].
const AppID = 0x4255526a

// format is the version of the schema below. A file with a higher one is
// refused: it was written by a newer program.
const format = 1

// schema is everything the engine owns in the file; others may keep tables of
// their own beside it. STRICT refuses values of a wrong type.
var schema = []struct{ name, sql string }{
	// One record per row. hash, prev and digest are 32 raw bytes, time is in
	// milliseconds, actor and body are JSON (journal.AppendEvents).
	{"journal_record", `CREATE TABLE journal_record(
		seq     INTEGER PRIMARY KEY,
		id      TEXT NOT NULL UNIQUE,
		subject TEXT NOT NULL,
		expect  INTEGER,
		time    INTEGER NOT NULL,
		actor   TEXT NOT NULL,
		project TEXT NOT NULL,
		prev    BLOB,
		hash    BLOB NOT NULL,
		body    TEXT NOT NULL,
		digest  BLOB NOT NULL
	) STRICT`},
	// An index on the subject ends with the position by itself.
	{"journal_record_subject", `CREATE INDEX journal_record_subject ON journal_record(subject)`},
	// The last record of every subject.
	{"journal_subject", `CREATE TABLE journal_subject(
		subject TEXT PRIMARY KEY,
		version INTEGER NOT NULL,
		hash    BLOB NOT NULL,
		time    INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`},
	// The last record of all, in one row. It also carries the format, so that
	// a process that has the file open for days notices a newer schema with
	// its next append.
	{"journal_head", `CREATE TABLE journal_head(
		one    INTEGER PRIMARY KEY CHECK(one = 1),
		format INTEGER NOT NULL,
		seq    INTEGER NOT NULL,
		digest BLOB NOT NULL
	) STRICT`},
}

// Engine is a journal in a database. It does not own the database: closing the
// engine leaves it open.
type Engine struct {
	d      *db.DB
	closed atomic.Bool
	bell   journal.Bell
	known  head // of the running transaction; whoever runs it owns it
}

var _ journal.Restorer = (*Engine)(nil)

// Open finds the journal in d, or creates it if the database is empty. A
// database with a journal of a newer format, or with something else in it, is
// refused as unavailable and left as it is.
func Open(ctx context.Context, d *db.DB) (*Engine, error) {
	e := &Engine{d: d}
	if d.Version() == format {
		return e, nil // every look at the head checks the format again
	}
	var found bool
	err := d.View(ctx, func(tx *db.Tx) (err error) {
		found, err = e.recognise(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found && d.ReadOnly() {
		return nil, fault.New(fault.NotFound, "%s holds no journal yet, and it cannot be written", d.Path())
	}
	if !found {
		err = d.Update(ctx, func(tx *db.Tx) error {
			if found, err := e.recognise(tx); found || err != nil {
				return err // another process has just created it
			}
			return create(tx)
		})
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// recognise says whether the journal is there.
func (e *Engine) recognise(tx *db.Tx) (bool, error) {
	var version, appID, tables int64
	if _, err := tx.One(`PRAGMA user_version`, nil, &version); err != nil {
		return false, err
	}
	if _, err := tx.One(`PRAGMA application_id`, nil, &appID); err != nil {
		return false, err
	}
	if version != 0 && appID == AppID {
		return true, e.checkFormat(version)
	}
	if _, err := tx.One(`SELECT count(*) FROM sqlite_schema`, nil, &tables); err != nil {
		return false, err
	}
	if version != 0 || tables != 0 || appID != 0 && appID != AppID {
		return false, fault.New(fault.Unavailable, "%s: %w: it is an SQLite database without a journal", e.d.Path(), db.ErrForeign).
			WithHint("the file was left as it is; choose another place with BUREAU_HOME, or move that file away")
	}
	return false, nil
}

func (e *Engine) checkFormat(version int64) error {
	if version <= format {
		return nil
	}
	return fault.New(fault.Unavailable, "%s was written by a newer bureau (format %d, this one knows %d)", e.d.Path(), version, format).
		WithHint("update this bureau; processes started before the update have to be started again")
}

func create(tx *db.Tx) error {
	for _, s := range schema {
		if err := tx.Exec(s.sql); err != nil {
			return err
		}
	}
	if err := tx.Exec(`INSERT INTO journal_head(one, format, seq, digest) VALUES(1, ?, 0, ?)`, format, make([]byte, 32)); err != nil {
		return err
	}
	if err := tx.Exec(fmt.Sprintf(`PRAGMA application_id=%d`, AppID)); err != nil {
		return err
	}
	return tx.Exec(fmt.Sprintf(`PRAGMA user_version=%d`, format))
}

// DB gives the database that the engine works on.
func (e *Engine) DB() *db.DB { return e.d }

// Append implements [journal.Journal] in a transaction of its own.
func (e *Engine) Append(ctx context.Context, entry journal.Entry) (stored event.Record, fresh bool, err error) {
	err = e.update(ctx, func(tx Tx) error {
		stored, fresh, err = tx.Append(entry)
		return err
	})
	if err != nil {
		return event.Record{}, false, err
	}
	return stored, fresh, nil
}

// Read implements [journal.Journal].
func (e *Engine) Read(ctx context.Context, after event.Seq, limit int) (page []event.Record, err error) {
	err = e.view(ctx, func(tx Tx) error {
		page, err = tx.Read(after, limit)
		return err
	})
	return page, err
}

// ReadSubject implements [journal.Journal].
func (e *Engine) ReadSubject(ctx context.Context, s event.Subject, after event.Seq, limit int) (page []event.Record, err error) {
	err = e.view(ctx, func(tx Tx) error {
		page, err = tx.ReadSubject(s, after, limit)
		return err
	})
	return page, err
}

// Lookup implements [journal.Journal].
func (e *Engine) Lookup(ctx context.Context, id event.ID) (rec event.Record, found bool, err error) {
	err = e.view(ctx, func(tx Tx) error {
		rec, found, err = tx.Lookup(id)
		return err
	})
	return rec, found, err
}

// Version implements [journal.Journal].
func (e *Engine) Version(ctx context.Context, s event.Subject) (v event.Seq, err error) {
	err = e.view(ctx, func(tx Tx) error {
		v, err = tx.Version(s)
		return err
	})
	return v, err
}

// Head implements [journal.Journal].
func (e *Engine) Head(ctx context.Context) (head event.Seq, err error) {
	err = e.view(ctx, func(tx Tx) error {
		head, err = tx.Head()
		return err
	})
	return head, err
}

// Watch implements [journal.Journal].
func (e *Engine) Watch(ctx context.Context, after event.Seq, nudge <-chan struct{}) iter.Seq2[event.Record, error] {
	return journal.Follow(ctx, after, nudge, e.Read, e.bell.Next)
}

// Restore implements [journal.Restorer].
func (e *Engine) Restore(ctx context.Context, records []event.Record) error {
	return e.update(ctx, func(tx Tx) error {
		for i := range records {
			if err := tx.restore(&records[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close ends every Watch and refuses what comes after. The database stays
// open.
func (e *Engine) Close() error {
	e.closed.Store(true)
	e.bell.Ring()
	return nil
}

func (e *Engine) update(ctx context.Context, fn func(Tx) error) error {
	if err := e.open(); err != nil {
		return err
	}
	return e.d.Update(ctx, func(tx *db.Tx) error { return fn(e.In(tx)) })
}

func (e *Engine) view(ctx context.Context, fn func(Tx) error) error {
	if err := e.open(); err != nil {
		return err
	}
	return e.d.View(ctx, func(tx *db.Tx) error { return fn(e.In(tx)) })
}

func (e *Engine) open() error {
	if e.closed.Load() {
		return fault.New(fault.Unavailable, "the journal in %s is closed", e.d.Path())
	}
	return nil
}

// raw and text turn hashes between the two forms.
func raw(hash string) []byte {
	if hash == "" {
		return nil
	}
	b, err := hex.DecodeString(hash)
	if err != nil {
		panic("journal/sqlite: hash is not hexadecimal: " + hash) // sealed by event, or checked by CheckRecord
	}
	return b
}

func text(raw []byte) string { return hex.EncodeToString(raw) }
