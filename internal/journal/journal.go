// Package journal is the append-only log behind an office, as an interface.
//
// Engines: journal/sqlite keeps it in one file that many processes share
// without a daemon; journal/memory keeps it in one process, for tests. Both
// pass the one conformance suite in journal/journaltest.
package journal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"bureau/internal/event"
)

// Limits that every engine enforces, with an invalid fault.
const (
	MaxEvents  = 1000    // events in one record
	MaxRecord  = 4 << 20 // bytes of all Data of one record
	MaxSubject = 512     // bytes of a subject
	MaxKind    = 256     // bytes of a kind
	MaxText    = 4096    // bytes of any other text: name, host, session, project
)

// The size of a page of Read.
const (
	DefaultPage = 1000     // records, when the caller names no limit
	MaxPage     = 16 << 20 // bytes of Data after which a page ends early
)

// Entry is what a caller appends; the engine adds position, hashes and, if
// Time is zero, the time.
//
// Data must be valid JSON, or empty. It is stored byte for byte: key order,
// spelling of numbers and white space stay. All other texts must be UTF-8.
type Entry struct {
	// ID is the idempotency key. A second append with a known id and the same
	// content is answered with the stored record; with other content it is
	// refused with [ErrReused].
	ID      event.ID
	Subject event.Subject
	// Expect is the version that the subject must have: the position of its
	// last record, 0 for a subject without any. nil appends unconditionally.
	Expect *event.Seq
	// Time is when it happened, between 1970 and 9999; the journal keeps whole
	// milliseconds.
	Time    time.Time
	Actor   event.Actor
	Project string
	Events  []event.Event
}

// Expect makes an expectation.
func Expect(v event.Seq) *event.Seq { return &v }

// ErrConflict (always as a pointer) says that the subject has another version than expected. Read
// again, decide again.
type ErrConflict struct {
	Subject  event.Subject
	Expected event.Seq
	Actual   event.Seq
}

func (e *ErrConflict) Error() string {
	return fmt.Sprintf("subject %s is at %d, expected %d", e.Subject, e.Actual, e.Expected)
}

// ErrReused (always as a pointer) says that the id is taken by a record that says something else.
type ErrReused struct{ ID event.ID }

func (e *ErrReused) Error() string {
	return fmt.Sprintf("id %s is already used by another record", e.ID)
}

// Journal is the contract of an engine. All methods may be called from
// several goroutines.
type Journal interface {
	// Append stores one record. When it returns nil the record is durable
	// (synced), and every later Read from any process finds it. A record's
	// time is never earlier than that of its subject's last record: it is
	// raised if need be. stored is the record as it stands in the journal;
	// fresh is false when the id was known and nothing was written.
	Append(ctx context.Context, e Entry) (stored event.Record, fresh bool, err error)

	// Read gives up to limit records with a position above after, in order; a
	// limit of 0 means [DefaultPage]. A page ends early when it grows beyond
	// [MaxPage], so only an empty one means that there are no more.
	Read(ctx context.Context, after event.Seq, limit int) ([]event.Record, error)

	// ReadSubject is Read for one subject.
	ReadSubject(ctx context.Context, s event.Subject, after event.Seq, limit int) ([]event.Record, error)

	// Lookup finds a record by its id.
	Lookup(ctx context.Context, id event.ID) (rec event.Record, found bool, err error)

	// Version gives the position of the subject's last record, 0 for none.
	Version(ctx context.Context, s event.Subject) (event.Seq, error)

	// Head gives the position of the last record, 0 for an empty journal.
	Head(ctx context.Context) (event.Seq, error)

	// Watch yields every record above after, in order and without gaps, first
	// those that are there, then new ones as they come, until ctx ends (without
	// an error) or the engine fails or is closed (one final error). nudge, if
	// not nil, makes it look at once; without a nudge a record of the same
	// engine is noticed at once and one of another process within [Sweep].
	Watch(ctx context.Context, after event.Seq, nudge <-chan struct{}) iter.Seq2[event.Record, error]

	// Close releases the engine. Nothing durable depends on it.
	Close() error
}
