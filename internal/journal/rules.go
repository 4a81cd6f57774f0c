package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// State is what an engine keeps of a subject: its last record.
type State struct {
	Version event.Seq // position
	Hash    string
	Time    time.Time
}

// Check refuses, with an invalid fault, an entry that no engine may store.
func (e *Entry) Check() error {
	if err := checkHeader(e.ID, e.Subject, e.Time, e.Actor, e.Project); err != nil {
		return err
	}
	if e.Expect != nil && *e.Expect < 0 {
		return fault.New(fault.Invalid, "a subject cannot be at version %d", *e.Expect)
	}
	return checkEvents(e.Subject, e.Events)
}

func checkHeader(id event.ID, s event.Subject, t time.Time, a event.Actor, project string) error {
	switch {
	case !event.ValidID(string(id)):
		return fault.New(fault.Invalid, "%q is not an id", id)
	case s == "":
		return fault.New(fault.Invalid, "record %s has no subject", id)
	case len(s) > MaxSubject:
		return fault.New(fault.Invalid, "the subject of record %s has %d bytes, more than %d", id, len(s), MaxSubject)
	case strings.ContainsFunc(string(s), func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "subject %q holds control characters", s)
	case !t.IsZero() && (t.UnixMilli() < 0 || t.UTC().Year() > 9999):
		return fault.New(fault.Invalid, "record %s is dated outside of the years 1970 to 9999", id)
	}
	for _, text := range []string{string(s), string(a.Agent), a.Name, a.Host, a.Session, project} {
		if !utf8.ValidString(text) {
			return fault.New(fault.Invalid, "record %s holds a text that is not UTF-8: %q", id, text)
		}
		if len(text) > MaxText {
			return fault.New(fault.Invalid, "record %s holds a text of %d bytes, more than %d: %.40q…", id, len(text), MaxText, text)
		}
	}
	return nil
}

func checkEvents(s event.Subject, events []event.Event) error {
	switch {
	case len(events) == 0:
		return fault.New(fault.Invalid, "a record for %s has no events", s)
	case len(events) > MaxEvents:
		return fault.New(fault.Invalid, "a record for %s has %d events, more than %d", s, len(events), MaxEvents)
	}
	bytes := 0
	for i, ev := range events {
		bytes += len(ev.Data)
		switch {
		case ev.Kind == "":
			return fault.New(fault.Invalid, "event %d for %s has no kind", i+1, s)
		case len(ev.Kind) > MaxKind:
			return fault.New(fault.Invalid, "event %d for %s has a kind of %d bytes, more than %d", i+1, s, len(ev.Kind), MaxKind)
		case !utf8.ValidString(string(ev.Kind)):
			return fault.New(fault.Invalid, "event %d for %s has a kind that is not UTF-8: %q", i+1, s, ev.Kind)
		case bytes > MaxRecord:
			return fault.New(fault.Invalid, "a record for %s has more than %d bytes", s, MaxRecord)
		case len(ev.Data) > 0 && !json.Valid(ev.Data):
			return fault.New(fault.Invalid, "event %d (%s) for %s is not valid JSON", i+1, ev.Kind, s)
		}
	}
	return nil
}

// Next makes the record that stores e after the position head, on a subject
// that stands at s. It is the one place where an engine's append is decided:
// limits, expectation, time, chain and hash. now is used if e has no time.
func Next(e Entry, head event.Seq, s State, now time.Time) (event.Record, error) {
	if err := e.Check(); err != nil {
		return event.Record{}, err
	}
	r := event.Record{
		Seq:     head + 1,
		ID:      e.ID,
		Subject: e.Subject,
		Time:    e.Time,
		Actor:   e.Actor,
		Project: e.Project,
		Events:  slices.Clone(e.Events), // sealing writes into it
	}
	if e.Expect != nil {
		if *e.Expect != s.Version {
			return event.Record{}, &ErrConflict{Subject: e.Subject, Expected: *e.Expect, Actual: s.Version}
		}
		r.Expect = Expect(*e.Expect)
		r.Prev = s.Hash
	}
	if r.Time.IsZero() {
		r.Time = now
	}
	if r.Time = r.Time.UTC().Truncate(time.Millisecond); r.Time.Before(s.Time) {
		r.Time = s.Time
	}
	r.Seal()
	return r, nil
}

// Known answers an append whose id is taken by the record stored: nil if the
// entry says the same, [ErrReused] if not.
func Known(e Entry, stored *event.Record) error {
	asked := event.Record{ID: e.ID, Subject: e.Subject, Events: e.Events}
	if !asked.SameContent(stored) {
		return &ErrReused{ID: e.ID}
	}
	return nil
}

// CheckRecord verifies a stored or imported record by itself: its limits,
// every event's sum and the record's hash. Events whose data was erased
// (empty, with the sum of what was there) are sound.
func CheckRecord(r *event.Record) error {
	if err := checkHeader(r.ID, r.Subject, r.Time, r.Actor, r.Project); err != nil {
		return err
	}
	if r.Time.UnixMilli() < 0 {
		return fault.New(fault.Invalid, "record %s has no time", r.ID)
	}
	if err := checkEvents(r.Subject, r.Events); err != nil {
		return err
	}
	for i, ev := range r.Events {
		if sum, err := hex.DecodeString(ev.Sum); err != nil || len(sum) != sha256.Size {
			return fault.New(fault.Invalid, "event %d (%s) of record %s has no sum", i+1, ev.Kind, r.ID)
		}
		if !Erased(ev) && ev.Sum != event.Sum(ev.Data) {
			return fault.New(fault.Invalid, "event %d (%s) of record %s does not match its sum", i+1, ev.Kind, r.ID)
		}
	}
	if r.Hash != r.ComputeHash() {
		return fault.New(fault.Invalid, "record %s does not match its hash", r.ID)
	}
	return nil
}

// Erased reports whether an event's data was removed after it was stored.
func Erased(ev event.Event) bool { return len(ev.Data) == 0 && ev.Sum != event.Sum(nil) }

// Follows verifies that r, sound by itself, is the record that comes after the
// position head on a subject that stands at s. The error says what does not
// fit.
func Follows(r *event.Record, head event.Seq, s State) error {
	wantPrev := ""
	if r.Expect != nil {
		wantPrev = s.Hash
	}
	switch {
	case r.Seq != head+1:
		return fault.New(fault.Conflict, "record %s has position %d, but %d comes next", r.ID, r.Seq, head+1)
	case r.Expect != nil && *r.Expect != s.Version:
		return fault.New(fault.Conflict, "record %s was decided when %s was at %d, but it is at %d", r.ID, r.Subject, *r.Expect, s.Version)
	case r.Prev != wantPrev:
		return fault.New(fault.Conflict, "record %s does not continue the record before it on %s", r.ID, r.Subject)
	case r.Time.Before(s.Time):
		return fault.New(fault.Conflict, "record %s is dated before the record before it on %s", r.ID, r.Subject)
	}
	return nil
}

// Then is the state of a subject after r.
func Then(r *event.Record) State { return State{Version: r.Seq, Hash: r.Hash, Time: r.Time} }
