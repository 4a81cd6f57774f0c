package db

import (
	"errors"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// maxStmts bounds the prepared statements that a connection keeps. The
// product has fewer; the bound is for programs that build SQL from parts.
const maxStmts = 128

// stmt is a prepared statement.
type stmt struct {
	*sqlite3.Stmt
	writes bool
	params int
	busy   bool   // somebody steps through it
	cached bool   // it belongs to the cache
	used   uint64 // when it was last taken, in takes
}

// stmtCache keeps statements by their text. An unfinished statement would make
// closing the connection fail, so all of them go through here.
type stmtCache struct {
	byText map[string]*stmt
	takes  uint64
}

func (c *stmtCache) init() { c.byText = map[string]*stmt{} }

// take gives a statement that nobody else uses. A recursive use of the same
// text gets a second one.
func (c *stmtCache) take(conn *sqlite3.Conn, sql string) (*stmt, error) {
	c.takes++
	known := c.byText[sql]
	if known != nil && !known.busy {
		known.busy, known.used = true, c.takes
		return known, nil
	}
	made, tail, err := prepare(conn, sql)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, errors.New("no SQL statement in the text")
	}
	if tail != "" {
		return nil, errors.Join(errors.New("more than one statement: use Exec without arguments"), made.Close())
	}
	made.busy, made.used = true, c.takes
	if known == nil {
		if err := c.makeRoom(); err != nil {
			return nil, errors.Join(err, made.Close())
		}
		made.cached = true
		c.byText[sql] = made
	}
	return made, nil
}

// prepare compiles the first statement of sql; made is nil if there is none.
func prepare(conn *sqlite3.Conn, sql string) (made *stmt, tail string, err error) {
	s, tail, err := conn.Prepare(sql)
	if err != nil || s == nil {
		return nil, "", err
	}
	return &stmt{Stmt: s, writes: !s.ReadOnly(), params: s.BindCount()}, strings.TrimSpace(tail), nil
}

// makeRoom closes the statement that was not used for the longest time.
func (c *stmtCache) makeRoom() error {
	if len(c.byText) < maxStmts {
		return nil
	}
	var oldest string
	var found *stmt
	for text, s := range c.byText {
		if !s.busy && (found == nil || s.used < found.used) {
			oldest, found = text, s
		}
	}
	if found == nil {
		return nil // all in use, one within the other: more than the bound for a moment
	}
	delete(c.byText, oldest)
	return found.Close()
}

// give returns a statement.
func (c *stmtCache) give(s *stmt) {
	if !s.cached {
		anyway(s.Close)
		return
	}
	// Reset repeats the error of the last step, which was reported there.
	anyway(s.Reset)
	s.ClearBindings()
	s.busy = false
}

// close finalises all statements.
func (c *stmtCache) close() error {
	var errs []error
	for _, s := range c.byText {
		errs = append(errs, s.Close())
	}
	c.init()
	return errors.Join(errs...)
}
