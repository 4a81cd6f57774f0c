// Package projection keeps tables that answer questions about an office: who
// is there, what waits for whom, which questions are open. Everything in them
// is derived from the journal by reading it in order, so they can be thrown
// away and filled again at any time.
//
// The tables carry their generation in their names. A program reads and
// advances only its own generation, so programs of different versions share a
// store without migrating each other's tables.
package projection

import (
	"strconv"
	"strings"

	"bureau/internal/db"
	"bureau/internal/event"
)

// Generation is the layout that this version reads and writes. It changes
// with every change to the tables or to what an event does to them.
const Generation = 4

// Batch is how many records one transaction folds when a generation is filled.
const Batch = 1000

// Projection is one generation of the tables. Its methods work inside a
// caller's transaction, and what they keep between calls belongs to that
// transaction or to the connection, so one value serves one connection.
type Projection struct {
	prefix string
	texts  map[string]string
	whole  int64 // the schema version at which all tables were found, 0 for none
	memo   memo
}

// New gives access to a generation.
func New(generation int) *Projection {
	return &Projection{prefix: "g" + strconv.Itoa(generation) + "_", texts: map[string]string{}}
}

// sql puts the generation's prefix where a query says ~.
func (p *Projection) sql(q string) string {
	if t, ok := p.texts[q]; ok {
		return t
	}
	t := strings.ReplaceAll(q, "~", p.prefix)
	p.texts[q] = t
	return t
}

func (p *Projection) exec(tx *db.Tx, q string, args ...any) error {
	return tx.Exec(p.sql(q), args...)
}

func (p *Projection) each(tx *db.Tx, q string, args []any, fn func(db.Row) error) error {
	return tx.Each(p.sql(q), args, fn)
}

func (p *Projection) one(tx *db.Tx, q string, args []any, dest ...any) (bool, error) {
	return tx.One(p.sql(q), args, dest...)
}

// Prefix is what the generation's tables have in front of their names.
func (p *Projection) Prefix() string { return p.prefix }

// Position is how far the tables have followed the journal; ready is false
// when a table, index or trigger of the generation is missing.
func (p *Projection) Position(tx *db.Tx) (pos event.Seq, ready bool, err error) {
	if ready, err := p.complete(tx); err != nil || !ready {
		return 0, false, err
	}
	ready, err = p.one(tx, `SELECT value FROM ~meta WHERE key = 'position'`, nil, &pos)
	return pos, ready && err == nil, err
}

// complete reports whether everything that schema makes is there. SQLite counts
// the changes of a file's schema, so one that was complete is not looked
// through again.
func (p *Projection) complete(tx *db.Tx) (bool, error) {
	var version int64
	if _, err := tx.One(`PRAGMA schema_version`, nil, &version); err != nil {
		return false, err
	}
	if version == p.whole {
		return true, nil
	}
	var n int
	if _, err := p.one(tx, `SELECT count(*) FROM sqlite_schema WHERE name GLOB '~*'`, nil, &n); err != nil || n < len(schema) {
		p.whole = 0
		return false, err
	}
	p.whole = version
	return true, nil
}

// Create makes the tables of the generation, empty.
func (p *Projection) Create(tx *db.Tx) error {
	for _, q := range schema {
		if err := p.exec(tx, q); err != nil {
			return err
		}
	}
	return p.exec(tx, `INSERT OR IGNORE INTO ~meta (key, value) VALUES ('position', 0)`)
}

// Drop removes the tables of the generation.
func (p *Projection) Drop(tx *db.Tx) error {
	p.memo = memo{}
	return drop(tx, p.prefix)
}

// Generations lists the generations that have tables in the store.
func Generations(tx *db.Tx) ([]int, error) {
	var out []int
	err := tx.Each(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'g[0-9]*_meta'`, nil, func(r db.Row) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "g"), "_meta"))
		if err == nil {
			out = append(out, n)
		}
		return nil
	})
	return out, err
}

// DropGeneration removes another generation's tables.
func DropGeneration(tx *db.Tx, generation int) error {
	return drop(tx, "g"+strconv.Itoa(generation)+"_")
}

func drop(tx *db.Tx, prefix string) error {
	var names []string
	err := tx.Each(`SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?`,
		[]any{len(prefix), prefix}, func(r db.Row) error {
			var name string
			if err := r.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
			return nil
		})
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := tx.Exec(`DROP TABLE IF EXISTS "` + n + `"`); err != nil {
			return err
		}
	}
	return nil
}

// Advance folds the records that come after the tables' position, up to limit
// of them, and reports whether the tables have reached the journal's head.
func (p *Projection) Advance(tx *db.Tx, read func(after event.Seq, limit int) ([]event.Record, error), limit int) (done bool, err error) {
	pos, ready, err := p.Position(tx)
	if err != nil {
		return false, err
	}
	if !ready {
		// What is left of the tables says nothing without the position.
		if err := p.Drop(tx); err != nil {
			return false, err
		}
		if err := p.Create(tx); err != nil {
			return false, err
		}
	}
	for limit > 0 {
		recs, err := read(pos, min(limit, Batch))
		if err != nil {
			return false, err
		}
		if len(recs) == 0 {
			return true, nil
		}
		for i := range recs {
			if err := p.Apply(tx, &recs[i]); err != nil {
				return false, err
			}
			pos = recs[i].Seq
		}
		limit -= len(recs)
	}
	return false, nil
}

// Apply folds one record and moves the position to it. Events of unknown
// kinds change nothing but the threads that they belong to.
func (p *Projection) Apply(tx *db.Tx, rec *event.Record) error {
	subject := string(rec.Subject)
	var err error
	switch {
	case rec.Subject == event.Names:
		err = p.applyNames(tx, rec)
	case rec.Subject == event.Tokens:
		err = p.applyTokens(tx, rec)
	case strings.HasPrefix(subject, "thread."):
		err = p.applyThread(tx, rec)
	case strings.HasPrefix(subject, "agent."):
		err = p.applyMailbox(tx, rec)
	case strings.HasPrefix(subject, "broadcast."):
		err = p.applyBroadcast(tx, rec)
	case strings.HasPrefix(subject, "board."):
		err = p.applyBoard(tx, rec)
	case strings.HasPrefix(subject, "claims."):
		err = p.applyClaims(tx, rec)
	case strings.HasPrefix(subject, "room."):
		err = p.applyRoom(tx, rec)
	}
	if err != nil {
		return err
	}
	return p.exec(tx, `UPDATE ~meta SET value = ? WHERE key = 'position'`, rec.Seq)
}
