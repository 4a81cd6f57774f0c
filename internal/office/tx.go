package office

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// Tx is one look at the office or one change of it.
type Tx struct {
	o        *Office
	t        *db.Tx
	now      time.Time
	actor    event.Actor
	project  string
	bells    map[string]bool   // topics to ring after the commit
	flags    map[event.ID]bool // agents with new mail
	names    map[event.ID]string
	presence *presenceOf
	mint     event.ID        // the id for the next message, where it was promised before
	ringing  func()          // runs after the commit, before anybody is rung
	claimed  map[string]bool // scopes whose claims changed
	edited   map[string]bool // scopes and agents for which edits claimed or gave up something
	after    []func()        // to be done after the commit
	record   event.Record    // that an entry of a room was read from last
	roused   []event.ID      // agents whom something in a room concerns
	staff    roster.Staff    // colleagues whom a letter may go to before they have a seat
}

func (o *Office) tx(t *db.Tx, actor event.Actor) *Tx {
	return &Tx{o: o, t: t, now: o.Now(), actor: actor, bells: map[string]bool{}, flags: map[event.ID]bool{}, names: map[event.ID]string{}, claimed: map[string]bool{}}
}

// reader gives the journal's records inside the transaction.
func (tx *Tx) reader() func(after event.Seq, limit int) ([]event.Record, error) {
	return tx.o.journal.In(tx.t).Read
}

// standing says how far the tables and the journal have come; ready is false
// when the tables are not whole.
func (tx *Tx) standing() (pos, head event.Seq, ready bool, err error) {
	if pos, ready, err = tx.o.tables.Position(tx.t); err == nil {
		head, err = tx.o.journal.In(tx.t).Head()
	}
	return pos, head, ready, err
}

// look runs fn on one snapshot. If the tables are behind the journal (another
// version's process appended, or they were dropped), they are brought up first.
func (o *Office) look(ctx context.Context, fn func(*Tx) error) error {
	for attempt := 0; ; attempt++ {
		behind, readOnly := false, o.ReadOnly()
		err := o.store.View(ctx, func(t *db.Tx) error {
			tx := o.tx(t, event.Actor{})
			pos, head, ready, err := tx.standing()
			if err != nil {
				return err
			}
			if (!ready || pos < head) && !readOnly {
				behind = true
				return nil
			}
			if !ready {
				return fault.New(fault.Unavailable, "the store %s can only be read and its tables are not built", o.store.Path()).
					WithHint("make it writable once: bureau doctor")
			}
			return fn(tx)
		})
		if err != nil && o.tablesGone(err) && attempt == 0 {
			if err := o.Rebuild(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil || !behind {
			return o.unreadable(err)
		}
		if err := o.fill(ctx); err != nil {
			return err
		}
	}
}

// change runs fn in one writing transaction, on tables that have followed the
// journal to its head, and rings the bells after the commit.
func (o *Office) change(ctx context.Context, actor event.Actor, fn func(*Tx) error) error {
	for attempt := 0; ; attempt++ {
		var done *Tx
		behind := false
		err := o.store.Update(ctx, func(t *db.Tx) error {
			tx := o.tx(t, actor)
			pos, head, ready, err := tx.standing()
			if err != nil {
				return err
			}
			if !ready || pos != head {
				caughtUp, err := o.tables.Advance(t, tx.reader(), projection.Batch)
				if err != nil {
					return err
				}
				if !caughtUp {
					behind = true
					return nil // keep this batch and go on in further transactions
				}
			}
			if err := fn(tx); err != nil {
				return err
			}
			done = tx
			return nil
		})
		if err != nil && o.tablesGone(err) && attempt == 0 {
			if err := o.Rebuild(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return o.unreadable(err)
		}
		if behind {
			if err := o.fill(ctx); err != nil {
				return err
			}
			continue
		}
		done.ring()
		if o.rouse != nil && len(done.roused) > 0 {
			o.rouse(committed(ctx), o, done.roused)
		}
		return nil
	}
}

// committed gives the context for the report of something that is stored:
// whoever gives up from then on is told what was done, and those it concerns
// are told as well.
func committed(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// fill advances the tables in batches, each a transaction of its own, so that
// other writers get their turn.
func (o *Office) fill(ctx context.Context) error {
	for first := true; ; first = false {
		var done bool
		var pos, head event.Seq
		err := o.store.Update(ctx, func(t *db.Tx) error {
			tx := o.tx(t, event.Actor{})
			var err error
			if pos, head, _, err = tx.standing(); err != nil {
				return err
			}
			if o.noFill && head-pos > projection.Batch {
				return fault.New(fault.Unavailable, "the office's tables are %d records behind", head-pos).WithHint("run bureau once, it brings them up")
			}
			done, err = o.tables.Advance(t, tx.reader(), projection.Batch)
			return err
		})
		if err != nil {
			return o.unreadable(err)
		}
		if o.progress != nil && (!first || !done) {
			o.progress(min(pos+projection.Batch, head), head)
		}
		if done {
			return nil
		}
	}
}

// Rebuild drops this generation's tables and fills them from the journal.
func (o *Office) Rebuild(ctx context.Context) error {
	if err := o.store.Update(ctx, o.tables.Drop); err != nil {
		return err
	}
	return o.fill(ctx)
}

// tablesGone recognises that somebody dropped or damaged this generation's
// tables while the process ran.
func (o *Office) tablesGone(err error) bool {
	s := err.Error()
	return strings.Contains(s, "no such table: "+o.tables.Prefix()) ||
		(strings.Contains(s, "has no column") || strings.Contains(s, "no such column")) && strings.Contains(s, o.tables.Prefix())
}

// unreadable says of a row that cannot be decoded that the store is damaged.
// What SQLite finds damaged says so itself.
func (o *Office) unreadable(err error) error {
	var (
		f      *fault.Error
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
		date   *time.ParseError
	)
	if err == nil || errors.As(err, &f) {
		return err
	}
	if errors.As(err, &syntax) || errors.As(err, &kind) || errors.As(err, &date) || errors.Is(err, db.ErrDamaged) {
		return db.Damaged(o.store.Path(), err)
	}
	return err
}

// append stores a record and folds it, once: a known id changes nothing.
func (tx *Tx) append(id event.ID, subject event.Subject, expect *event.Seq, events []event.Event) (event.Record, error) {
	if len(events) == 0 {
		return event.Record{}, nil
	}
	j := tx.o.journal.In(tx.t)
	var rec event.Record
	var err error
	if id == "" {
		rec, err = j.AppendNew(journalEntry(event.NewID(tx.now), subject, expect, tx, events))
	} else {
		var fresh bool
		if rec, fresh, err = j.Append(journalEntry(id, subject, expect, tx, events)); err == nil && !fresh {
			return rec, nil
		}
	}
	if err != nil {
		return rec, err
	}
	if err := tx.o.tables.Apply(tx.t, &rec); err != nil {
		return rec, err
	}
	tx.bells["all"] = true
	return rec, nil
}
