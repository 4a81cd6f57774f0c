package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bureau/internal/fault"
)

// Tx is a transaction in progress. It is valid inside the function that
// received it and belongs to that function's goroutine.
type Tx struct {
	d         *DB
	ctx       context.Context
	writes    bool
	committed []func()
	aborted   error
}

// Update runs fn in a writing transaction. It waits for the write lock before
// fn begins, so fn sees the newest state and nobody else writes until it ends.
// The wait for other processes is bounded by the busy timeout, the wait for
// other goroutines of this process by ctx alone.
// When Update returns nil, everything fn did is stored, and synced to the disk
// if the database was opened with [Full]. When fn returns an error or panics,
// or the context ends before the commit begins, nothing is stored. An error of
// the commit itself (a disk that fails) leaves it open whether it was: what
// must not happen twice carries an id.
//
// fn must not use the DB itself: it holds the only connection. Once fn has
// returned nil, the end of the context does not interrupt the commit.
func (d *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	if d.opts.ReadOnly {
		return fault.New(fault.Unavailable, "%s is open for reading only", d.path)
	}
	if d.ro != nil {
		if err := d.reopenToWrite(ctx); err != nil {
			return err
		}
	}
	if err := d.gate.enter(ctx, d.path, d.opts.BusyTimeout); err != nil {
		return d.fail(ctx, err)
	}
	defer d.gate.leave()
	tx := &Tx{d: d, ctx: ctx, writes: true}
	if err := d.run(tx, `BEGIN IMMEDIATE`, fn); err != nil {
		return err
	}
	for _, f := range tx.committed {
		f()
	}
	return nil
}

// View runs fn on one snapshot of the database: whatever others commit
// meanwhile is not seen. Readers wait for nobody and nobody waits for them,
// but a long View keeps the log from being copied back, so it should be short.
// fn must not use the DB itself.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	if d.ro == nil {
		return d.run(&Tx{d: d, ctx: ctx}, `BEGIN`, fn)
	}
	if err := d.refresh(ctx); err != nil {
		return d.fail(ctx, err)
	}
	err := d.run(&Tx{d: d, ctx: ctx}, `BEGIN`, fn)
	// Somebody else's writing explains whatever went wrong.
	if changed := d.ro.stillValid(d.path); changed != nil {
		return changed
	}
	return err
}

// run carries out one transaction. The caller holds the connection.
func (d *DB) run(tx *Tx, begin string, fn func(*Tx) error) error {
	d.conn.SetInterrupt(tx.ctx)
	defer d.conn.SetInterrupt(context.Background())
	d.watch.last = nil
	if err := d.step(begin); err != nil {
		return d.fail(tx.ctx, err)
	}
	finished := false
	defer func() {
		// Also when fn panics or ends its goroutine.
		if !finished {
			d.rollback()
		}
		tx.d = nil
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if tx.aborted != nil {
		return tx.aborted
	}
	if d.conn.GetAutocommit() {
		// Some errors (disk full, among others) end the transaction in SQLite.
		// fn went on, and its later statements were on their own.
		return fault.New(fault.Unavailable, "%s: an error inside the transaction ended it", d.path)
	}
	if tx.ctx.Err() != nil {
		return d.ended(tx.ctx)
	}
	if !tx.writes {
		// Nothing to keep; and COMMIT, unlike ROLLBACK, repeats the error of a
		// query that met a damaged page.
		return nil
	}
	// From here on the outcome has to be known: no interruption.
	d.conn.SetInterrupt(context.Background())
	if err := d.step(`COMMIT`); err != nil {
		return d.fail(context.Background(), err)
	}
	finished = true
	return nil
}

// step runs one of the statements that make up a transaction.
func (d *DB) step(sql string) (err error) {
	defer d.caught(&err)
	s, err := d.stmts.take(d.conn, sql)
	if err != nil {
		return err
	}
	defer d.stmts.give(s)
	return s.Exec()
}

func (d *DB) rollback() {
	d.conn.SetInterrupt(context.Background())
	if !d.conn.GetAutocommit() {
		// Fails only when there is nothing to roll back.
		d.step(`ROLLBACK`)
	}
}

// OnCommit runs f after the transaction is committed, before Update returns.
func (t *Tx) OnCommit(f func()) { t.committed = append(t.committed, f) }

// Abort makes the transaction end without a commit, and Update return err,
// whatever fn returns later: for a function that has written half of what
// belongs together. The first call counts.
func (t *Tx) Abort(err error) {
	if t.aborted == nil {
		t.aborted = err
	}
}

// Context gives the context of the transaction.
func (t *Tx) Context() context.Context { return t.ctx }

// Exec runs a statement. Without arguments it also runs several, separated by
// semicolons.
func (t *Tx) Exec(sql string, args ...any) (err error) {
	defer t.caught(sql, &err)
	if len(args) == 0 && strings.IndexByte(strings.TrimRight(sql, "; \t\r\n"), ';') >= 0 {
		return t.script(sql)
	}
	s, err := t.take(sql, args)
	if err != nil {
		return err
	}
	defer t.d.stmts.give(s)
	if err := s.Exec(); err != nil {
		return t.fail(sql, err)
	}
	return nil
}

// script runs statements one after the other, without keeping them.
func (t *Tx) script(sql string) error {
	if err := t.usable(); err != nil {
		return err
	}
	for rest := sql; rest != ""; {
		s, tail, err := prepare(t.d.conn, rest)
		if err != nil {
			return t.fail(rest, err)
		}
		if s == nil {
			return nil // a comment at the end
		}
		err = t.allowed(s, rest)
		if err == nil {
			if err = s.Exec(); err != nil {
				err = t.fail(rest, err)
			}
		}
		anyway(s.Close)
		if err != nil {
			return err
		}
		rest = tail
	}
	return nil
}

// Each runs a query and calls fn with every row, until fn returns an error,
// which Each returns as it is. fn may run other statements on t, the same one
// included. The row is valid until fn returns.
func (t *Tx) Each(sql string, args []any, fn func(Row) error) (err error) {
	defer t.caught(sql, &err)
	s, err := t.take(sql, args)
	if err != nil {
		return err
	}
	defer t.d.stmts.give(s)
	for s.Step() {
		if err := fn(Row{s}); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return t.fail(sql, err)
	}
	return nil
}

// One reads the first row of a query into dest; found is false if there is
// none.
func (t *Tx) One(sql string, args []any, dest ...any) (found bool, err error) {
	defer t.caught(sql, &err)
	s, err := t.take(sql, args)
	if err != nil {
		return false, err
	}
	defer t.d.stmts.give(s)
	if !s.Step() {
		if err := s.Err(); err != nil {
			return false, t.fail(sql, err)
		}
		return false, nil
	}
	return true, Row{s}.Scan(dest...)
}

// Changes gives the number of rows that the last INSERT, UPDATE or DELETE of
// this transaction changed.
func (t *Tx) Changes() int64 { return t.d.conn.Changes() }

// LastID gives the row number that the last INSERT of this transaction gave.
// One that was ignored gives none: ask [Tx.Changes] first.
func (t *Tx) LastID() int64 { return t.d.conn.LastInsertRowID() }

// take gives a statement with its arguments bound.
func (t *Tx) take(sql string, args []any) (*stmt, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := t.d.stmts.take(t.d.conn, sql)
	if err != nil {
		return nil, t.fail(sql, err)
	}
	if err := t.allowed(s, sql); err != nil {
		t.d.stmts.give(s)
		return nil, err
	}
	if err := bind(s, args); err != nil {
		t.d.stmts.give(s)
		return nil, t.fail(sql, err)
	}
	return s, nil
}

func (t *Tx) usable() error {
	if t.d == nil {
		return errors.New("db: transaction used after its end")
	}
	return nil
}

// allowed keeps a View from writing: its transaction would have to be turned
// into a writing one, which SQLite refuses when others wrote in between.
func (t *Tx) allowed(s *stmt, sql string) error {
	if s.writes && !t.writes {
		return fmt.Errorf("db: View runs a writing statement: %s", brief(sql))
	}
	return nil
}

func (t *Tx) fail(sql string, err error) error {
	return t.d.fail(t.ctx, &sqlError{sql: brief(sql), err: err})
}
