// Package memory is a journal that lives in one process, for tests of what
// stands above it. Nothing is durable.
package memory

import (
	"context"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// Engine is a journal in memory. Make one with [New].
type Engine struct {
	mu       sync.Mutex
	closed   bool
	records  []event.Record // the one at position n is at n-1
	byID     map[event.ID]event.Seq
	subjects map[event.Subject]journal.State
	ofEach   map[event.Subject][]event.Seq
	bell     journal.Bell
}

var _ journal.Restorer = (*Engine)(nil)

// New gives an empty journal.
func New() *Engine {
	return &Engine{
		byID:     map[event.ID]event.Seq{},
		subjects: map[event.Subject]journal.State{},
		ofEach:   map[event.Subject][]event.Seq{},
	}
}

// with runs fn alone, if the engine is open and ctx has not ended.
func (e *Engine) with(ctx context.Context, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fault.New(fault.Unavailable, "the journal is closed")
	}
	return fn()
}

// Append implements [journal.Journal].
func (e *Engine) Append(ctx context.Context, entry journal.Entry) (stored event.Record, fresh bool, err error) {
	err = e.with(ctx, func() error {
		if err := entry.Check(); err != nil {
			return err
		}
		if seq, known := e.byID[entry.ID]; known {
			rec := e.records[seq-1]
			if err := journal.Known(entry, &rec); err != nil {
				return err
			}
			stored = clone(rec)
			return nil
		}
		rec, err := journal.Next(entry, event.Seq(len(e.records)), e.subjects[entry.Subject], time.Now())
		if err != nil {
			return err
		}
		e.insert(rec)
		stored, fresh = clone(rec), true
		return nil
	})
	return stored, fresh, err
}

// Restore implements [journal.Restorer].
func (e *Engine) Restore(ctx context.Context, records []event.Record) error {
	return e.with(ctx, func() error {
		// Nothing is stored unless all fit, so the states are kept aside.
		head, states, ids := event.Seq(len(e.records)), map[event.Subject]journal.State{}, map[event.ID]bool{}
		for i := range records {
			r := &records[i]
			if err := journal.CheckRecord(r); err != nil {
				return err
			}
			if _, known := e.byID[r.ID]; known || ids[r.ID] {
				return fault.New(fault.Conflict, "record %s is here already", r.ID)
			}
			state, seen := states[r.Subject]
			if !seen {
				state = e.subjects[r.Subject]
			}
			if err := journal.Follows(r, head, state); err != nil {
				return err
			}
			head, states[r.Subject], ids[r.ID] = r.Seq, journal.Then(r), true
		}
		for _, r := range records {
			e.insert(r)
		}
		return nil
	})
}

func (e *Engine) insert(r event.Record) {
	e.records = append(e.records, clone(r))
	e.byID[r.ID] = r.Seq
	e.subjects[r.Subject] = journal.Then(&r)
	e.ofEach[r.Subject] = append(e.ofEach[r.Subject], r.Seq)
	e.bell.Ring()
}

// clone keeps what callers do to their records out of the journal.
func clone(r event.Record) event.Record {
	if r.Expect != nil {
		r.Expect = journal.Expect(*r.Expect)
	}
	r.Events = slices.Clone(r.Events)
	for i := range r.Events {
		r.Events[i].Data = slices.Clone(r.Events[i].Data)
	}
	return r
}

// page collects records until one of the limits.
type page struct {
	records []event.Record
	bytes   int
	limit   int
}

func newPage(limit int) *page {
	if limit <= 0 {
		limit = journal.DefaultPage
	}
	return &page{limit: limit}
}

// add takes a record and reports whether there is room for more.
func (p *page) add(r event.Record) bool {
	p.records = append(p.records, clone(r))
	for _, ev := range r.Events {
		p.bytes += len(ev.Data)
	}
	return len(p.records) < p.limit && p.bytes < journal.MaxPage
}

// Read implements [journal.Journal].
func (e *Engine) Read(ctx context.Context, after event.Seq, limit int) ([]event.Record, error) {
	p := newPage(limit)
	err := e.with(ctx, func() error {
		for i := max(0, int(after)); i < len(e.records); i++ {
			if !p.add(e.records[i]) {
				break
			}
		}
		return nil
	})
	return p.records, err
}

// ReadSubject implements [journal.Journal].
func (e *Engine) ReadSubject(ctx context.Context, s event.Subject, after event.Seq, limit int) ([]event.Record, error) {
	p := newPage(limit)
	err := e.with(ctx, func() error {
		of := e.ofEach[s]
		first := sort.Search(len(of), func(i int) bool { return of[i] > after })
		for _, seq := range of[first:] {
			if !p.add(e.records[seq-1]) {
				break
			}
		}
		return nil
	})
	return p.records, err
}

// Lookup implements [journal.Journal].
func (e *Engine) Lookup(ctx context.Context, id event.ID) (rec event.Record, found bool, err error) {
	err = e.with(ctx, func() error {
		if seq, known := e.byID[id]; known {
			rec, found = clone(e.records[seq-1]), true
		}
		return nil
	})
	return rec, found, err
}

// Version implements [journal.Journal].
func (e *Engine) Version(ctx context.Context, s event.Subject) (v event.Seq, err error) {
	err = e.with(ctx, func() error {
		v = e.subjects[s].Version
		return nil
	})
	return v, err
}

// Head implements [journal.Journal].
func (e *Engine) Head(ctx context.Context) (head event.Seq, err error) {
	err = e.with(ctx, func() error {
		head = event.Seq(len(e.records))
		return nil
	})
	return head, err
}

// Watch implements [journal.Journal].
func (e *Engine) Watch(ctx context.Context, after event.Seq, nudge <-chan struct{}) iter.Seq2[event.Record, error] {
	return journal.Follow(ctx, after, nudge, e.Read, e.bell.Next)
}

// Close ends every Watch; the records are gone with the engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.bell.Ring()
	return nil
}
