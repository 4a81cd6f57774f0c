package db

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
)

// The driver panics where SQLite reports that it is out of memory. A damaged
// page does that too: it can claim a value of hundreds of megabytes, more than
// a connection may use. So it is an error like every other, after which the
// next transaction gets a new connection.

// exhausted reports whether what was thrown is the driver's "out of memory".
// The driver throws a type of its own that cannot be named here.
func exhausted(thrown any) bool {
	err, ok := thrown.(error)
	return ok && (errors.Is(err, sqlite3.NOMEM) || err.Error() == sqlite3.NOMEM.Error())
}

// caught turns the driver's panic into an error. It is deferred by what calls
// the driver.
func (d *DB) caught(err *error) {
	p := recover()
	if p == nil {
		return
	}
	if !exhausted(p) {
		panic(p)
	}
	*err = sqlite3.NOMEM
	d.renew = true
}

// caught is [DB.caught] for a statement of a transaction, which stores
// nothing then.
func (t *Tx) caught(sql string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	if !exhausted(p) {
		panic(p)
	}
	*err = t.fail(sql, sqlite3.NOMEM)
	if t.writes {
		t.Abort(*err)
	}
	t.d.renew = true
}

// anyway runs what cleans up and whose own error was reported before.
func anyway(f func() error) {
	defer func() {
		if p := recover(); p != nil && !exhausted(p) {
			panic(p)
		}
	}()
	f()
}
