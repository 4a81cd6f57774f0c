package sqlite

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// Tx is the journal inside a transaction of the database. What it appends
// becomes durable with the caller's commit and vanishes with its rollback.
type Tx struct {
	e  *Engine
	tx *db.Tx
}

// In gives the journal inside tx, a transaction of the engine's database.
func (e *Engine) In(tx *db.Tx) Tx { return Tx{e, tx} }

// Append is [journal.Journal]'s, as part of the transaction. After a refusal
// (conflict, reused id, limits) the transaction may go on: nothing was written.
// When writing itself fails, the transaction will not commit.
func (t Tx) Append(entry journal.Entry) (stored event.Record, fresh bool, err error) {
	if err := entry.Check(); err != nil {
		return event.Record{}, false, err
	}
	known, found, err := t.Lookup(entry.ID)
	if err != nil {
		return event.Record{}, false, err
	}
	if found {
		if err := journal.Known(entry, &known); err != nil {
			return event.Record{}, false, err
		}
		return known, false, nil
	}
	rec, err := t.AppendNew(entry)
	return rec, err == nil, err
}

// AppendNew is Append for an id that was minted just now, so that nobody asks
// whether it is known. If it is, writing fails.
func (t Tx) AppendNew(entry journal.Entry) (event.Record, error) {
	head, digest, err := t.head()
	if err != nil {
		return event.Record{}, err
	}
	state, err := t.state(entry.Subject)
	if err != nil {
		return event.Record{}, err
	}
	rec, err := journal.Next(entry, head, state, time.Now())
	if err != nil {
		return event.Record{}, err
	}
	if err := t.insert(&rec, digest); err != nil {
		return event.Record{}, err
	}
	return rec, nil
}

// restore stores a record as it is.
func (t Tx) restore(rec *event.Record) error {
	if err := journal.CheckRecord(rec); err != nil {
		return err
	}
	if known, found, err := t.Lookup(rec.ID); err != nil {
		return err
	} else if found {
		return fault.New(fault.Conflict, "record %s is here already, at position %d", rec.ID, known.Seq)
	}
	head, digest, err := t.head()
	if err != nil {
		return err
	}
	state, err := t.state(rec.Subject)
	if err != nil {
		return err
	}
	if err := journal.Follows(rec, head, state); err != nil {
		return err
	}
	return t.insert(rec, digest)
}

// head is the last record as a transaction knows it, which nobody else can
// change before its end.
type head struct {
	tx     *db.Tx
	seq    event.Seq
	digest []byte
}

// head gives position and digest of the last record.
func (t Tx) head() (event.Seq, []byte, error) {
	if k := t.e.known; k.tx == t.tx {
		return k.seq, k.digest, nil
	}
	var version int64
	k := head{tx: t.tx}
	found, err := t.tx.One(`SELECT format, seq, digest FROM journal_head`, nil, &version, &k.seq, &k.digest)
	if err == nil && !found {
		err = errors.New("the row of the head is missing")
	}
	if err != nil {
		return 0, nil, t.broken(err)
	}
	if err := t.e.checkFormat(version); err != nil {
		return k.seq, k.digest, err
	}
	t.e.known = k
	return k.seq, k.digest, nil
}

// state gives what is kept of a subject.
func (t Tx) state(s event.Subject) (journal.State, error) {
	var (
		st   journal.State
		hash []byte
		ms   int64
	)
	found, err := t.tx.One(`SELECT version, hash, time FROM journal_subject WHERE subject = ?`, []any{s}, &st.Version, &hash, &ms)
	if err != nil || !found {
		return journal.State{}, t.broken(err)
	}
	st.Hash, st.Time = text(hash), time.UnixMilli(ms).UTC()
	return st, nil
}

// insert writes a record that was decided to come next. If it fails, the
// transaction is not committed: a record without its subject's new state would
// be damage.
func (t Tx) insert(rec *event.Record, before []byte) (err error) {
	defer func() {
		if err != nil {
			t.tx.Abort(err)
		}
	}()
	hash := raw(rec.Hash)
	digest := digestOf(before, hash)
	body := journal.AppendEvents(nil, rec.Events)
	ms := rec.Time.UnixMilli()
	err = t.tx.Exec(`INSERT INTO journal_record(seq, id, subject, expect, time, actor, project, prev, hash, body, digest) VALUES(?,?,?,?,?,?,?,?,?,?,?)`,
		rec.Seq, rec.ID, rec.Subject, rec.Expect, ms, string(journal.EncodeActor(rec.Actor)), rec.Project, raw(rec.Prev), hash, string(body), digest)
	if err != nil {
		return err
	}
	err = t.tx.Exec(`INSERT INTO journal_subject(subject, version, hash, time) VALUES(?,?,?,?)
		ON CONFLICT(subject) DO UPDATE SET version = excluded.version, hash = excluded.hash, time = excluded.time`,
		rec.Subject, rec.Seq, hash, ms)
	if err != nil {
		return err
	}
	if err := t.tx.Exec(`UPDATE journal_head SET seq = ?, digest = ?`, rec.Seq, digest); err != nil {
		return err
	}
	t.e.known = head{t.tx, rec.Seq, digest}
	t.tx.OnCommit(t.e.bell.Ring)
	return nil
}

func digestOf(before, hash []byte) []byte {
	h := sha256.New()
	h.Write(before)
	h.Write(hash)
	return h.Sum(nil)
}

// columns are what scan reads.
const columns = `seq, id, subject, expect, time, actor, project, prev, hash, body`

// scan reads a record from a row of columns. It does not verify hashes.
func scan(row db.Row) (rec event.Record, size int, err error) {
	var (
		ms                int64
		actor, prev, hash []byte
		body              []byte
	)
	err = row.Scan(&rec.Seq, &rec.ID, &rec.Subject, &rec.Expect, &ms, &actor, &rec.Project, &prev, &hash, &body)
	if err != nil {
		return rec, 0, err
	}
	rec.Time, rec.Prev, rec.Hash = time.UnixMilli(ms).UTC(), text(prev), text(hash)
	if err := json.Unmarshal(actor, &rec.Actor); err != nil {
		return rec, 0, fmt.Errorf("the actor cannot be read: %w", err)
	}
	if rec.Events, err = journal.ParseEvents(body); err != nil {
		return rec, 0, fmt.Errorf("the events cannot be read: %w", err)
	}
	return rec, len(body), nil
}

// errPageFull ends a page early.
var errPageFull = errors.New("page full")

// read gives a page of records, all of them above the position last: what goes
// on reading behind the last one it got would otherwise never end in a damaged
// file.
func (t Tx) read(last event.Seq, where string, args []any, limit int) ([]event.Record, error) {
	if limit <= 0 {
		limit = journal.DefaultPage
	}
	var page []event.Record
	bytes := 0
	err := t.tx.Each(`SELECT `+columns+` FROM journal_record WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, limit), func(row db.Row) error {
		rec, size, err := scan(row)
		if err != nil {
			return t.broken(fmt.Errorf("record %d: %w", rec.Seq, err))
		}
		if rec.Seq <= last {
			return t.broken(fmt.Errorf("record %d comes after %d: the table is out of order", rec.Seq, last))
		}
		last = rec.Seq
		page = append(page, rec)
		if bytes += size; bytes >= journal.MaxPage {
			return errPageFull
		}
		return nil
	})
	if err != nil && err != errPageFull {
		return nil, t.broken(err)
	}
	return page, nil
}

// Read is [journal.Journal]'s.
func (t Tx) Read(after event.Seq, limit int) ([]event.Record, error) {
	return t.read(after, `seq > ?`, []any{after}, limit)
}

// ReadSubject is [journal.Journal]'s.
func (t Tx) ReadSubject(s event.Subject, after event.Seq, limit int) ([]event.Record, error) {
	return t.read(after, `subject = ? AND seq > ?`, []any{s, after}, limit)
}

// Lookup is [journal.Journal]'s.
func (t Tx) Lookup(id event.ID) (event.Record, bool, error) {
	page, err := t.read(0, `id = ?`, []any{id}, 1)
	if err != nil || len(page) == 0 {
		return event.Record{}, false, err
	}
	return page[0], true, nil
}

// Version is [journal.Journal]'s.
func (t Tx) Version(s event.Subject) (event.Seq, error) {
	st, err := t.state(s)
	return st.Version, err
}

// Head is [journal.Journal]'s.
func (t Tx) Head() (event.Seq, error) {
	seq, _, err := t.head()
	return seq, err
}

// broken is the error for rows that do not make sense. Errors of the database
// say themselves what they are.
func (t Tx) broken(err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) || t.tx.Context().Err() != nil {
		return err
	}
	return fault.New(fault.Unavailable, "the journal in %s is damaged: %w", t.e.d.Path(), damage{err}).
		WithHint("`bureau doctor` says what is damaged; nothing was changed")
}

// damage is what is wrong with a row: [db.ErrDamaged], in other words.
type damage struct{ error }

func (d damage) Unwrap() error        { return d.error }
func (d damage) Is(target error) bool { return target == db.ErrDamaged }
