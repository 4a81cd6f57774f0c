package sqlite

import (
	"bytes"
	"strings"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/journal"
)

// tables checks what is derived from the records.
func (v *verifier) tables(tx Tx) {
	var (
		version, seq int64
		digest       []byte
	)
	found, err := tx.tx.One(`SELECT format, seq, digest FROM journal_head`, nil, &version, &seq, &digest)
	v.Head = event.Seq(seq)
	switch {
	case err != nil:
		v.add(Index, 0, "", "the row with the head cannot be read: %v", err)
	case !found:
		v.add(Index, 0, "", "the row with the head is missing")
	case v.unread:
	case v.Head > v.last:
		v.gaps = append(v.gaps, gap{v.last + 1, v.Head})
		v.add(Missing, v.last+1, "", "records %d to %d are missing at the end", v.last+1, v.Head)
	case v.Head < v.last:
		v.add(Index, v.Head, "", "the head is said to be %d, but there are records up to %d", v.Head, v.last)
	case !v.broken && !bytes.Equal(digest, v.digest):
		v.add(Digest, v.Head, "", "the digest of the head is not that of the last record, %d", v.last)
	}
	var strays int64
	if _, err := tx.tx.One(`SELECT count(*) FROM journal_record WHERE seq < 1`, nil, &strays); err == nil && strays > 0 {
		v.add(Index, 0, "", "%d records have positions below 1", strays)
	}
	seen := map[event.Subject]bool{}
	err = tx.tx.Each(`SELECT subject, version, hash, time FROM journal_subject`, nil, func(row db.Row) error {
		var (
			s       event.Subject
			ver, ms int64
			hash    []byte
		)
		if err := row.Scan(&s, &ver, &hash, &ms); err != nil {
			v.add(Index, 0, s, "the state of a subject cannot be read: %v", err)
			return nil
		}
		seen[s] = true
		v.subject(s, journal.State{Version: event.Seq(ver), Hash: text(hash), Time: time.UnixMilli(ms).UTC()})
		return nil
	})
	if err != nil {
		v.add(Index, 0, "", "the states of the subjects cannot be read: %v", err)
		return
	}
	for s, want := range v.subjects {
		if !seen[s] {
			v.add(Index, want.Version, s, "subject %s has no state, but its last record is %d", s, want.Version)
		}
	}
}

// subject compares the kept state of a subject with its last record.
func (v *verifier) subject(s event.Subject, kept journal.State) {
	last, known := v.subjects[s]
	switch {
	case kept == last:
	case v.lost(kept.Version):
		// Follows from a finding that is reported already.
	case !known:
		v.add(Index, kept.Version, s, "subject %s is said to be at %d, but has no records", s, kept.Version)
	case kept.Version != last.Version:
		v.add(Index, kept.Version, s, "subject %s is said to be at %d, but its last record is %d", s, kept.Version, last.Version)
	default:
		v.add(Index, kept.Version, s, "the state of subject %s is not that of its last record, %d", s, last.Version)
	}
}

// schema compares the engine's tables with what they should be.
func (v *verifier) schema(tx Tx) {
	for _, want := range schema {
		var sql string
		found, err := tx.tx.One(`SELECT sql FROM sqlite_schema WHERE name = ?`, []any{want.name}, &sql)
		switch {
		case err != nil:
			v.add(File, 0, "", "the schema cannot be read: %v", err)
			return
		case !found:
			v.add(Index, 0, "", "%s is missing from the schema", want.name)
		case sql != want.sql:
			v.add(Index, 0, "", "%s was changed: %s", want.name, strings.Join(strings.Fields(sql), " "))
		}
	}
}

// file asks SQLite for its own opinion: pages, indexes, constraints.
func (v *verifier) file(tx Tx) {
	err := tx.tx.Each(`PRAGMA integrity_check`, nil, func(row db.Row) error {
		var says string
		if err := row.Scan(&says); err != nil {
			return err
		}
		if says != "ok" {
			v.add(File, 0, "", "SQLite says: %s", says)
		}
		return nil
	})
	if err != nil {
		v.add(File, 0, "", "SQLite cannot check the file: %v", err)
	}
}
