// Package fts adds full-text search (SQLite's FTS5) to a database. It is a
// package of its own so that a program that does not import it does not pay
// for it: the extension costs about 0.8 MB and start-up time.
package fts

import (
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"bureau/internal/db"
)

// Register makes FTS5 tables usable on d. It may be called more than once, but
// not inside a transaction. A connection without it reads and writes all other
// tables of the same file as usual.
func Register(d *db.DB) error { return d.Extend("fts5", fts5.Register) }
