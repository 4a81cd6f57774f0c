// Package journaltest is the conformance suite that every engine of the
// journal passes.
package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// Run runs the suite. open gives a new, empty journal and arranges for its end
// with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) journal.Journal) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, journal.Journal)
	}{
		{"an empty journal answers", empty},
		{"records come back as they were", roundTrip},
		{"positions and versions", positions},
		{"expectations", expectations},
		{"the expectation is checked and met only once", onceEach},
		{"ids are idempotent", idempotent},
		{"an append is all or nothing", atomic},
		{"paging", paging},
		{"long pages end early", longPages},
		{"lookup", lookup},
		{"time never goes back on a subject", monotone},
		{"limits", limits},
		{"data keeps its bytes", bytesKept},
		{"what callers do to their slices stays outside", isolated},
		{"hashes and chains verify", hashes},
		{"an ended context", ended},
		{"concurrent appends", concurrent},
		{"watch from any position", watchFrom},
		{"watch is woken by a nudge and by an append", watchWakes},
		{"watch among concurrent writers", watchConcurrent},
		{"watch ends", watchEnds},
		{"a closed journal refuses", closed},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, opener)
	}{
		{"an export restores the journal as it was", exportImport},
		{"an import continues and repeats", importContinues},
		{"an import refuses another journal", importRefusesOther},
		{"an import refuses torn files by line", importRefusesTorn},
		{"restoring is all or nothing", restoreAtomic},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, func(t *testing.T) journal.Restorer {
				r, ok := open(t).(journal.Restorer)
				if !ok {
					t.Skip("the engine does not restore records")
				}
				return r
			})
		})
	}
}

// opener opens a new, empty journal that can restore records.
type opener func(t *testing.T) journal.Restorer

// minute bounds what a test waits for; on a busy machine it is far away.
const minute = time.Minute

// id gives the n-th test id.
func id(n int) event.ID { return event.Derive("journaltest", fmt.Sprint(n)) }

// entry makes an entry with one event.
func entry(n int, s event.Subject) journal.Entry {
	return journal.Entry{ID: id(n), Subject: s, Events: []event.Event{event.New("test.happened", map[string]int{"n": n})}}
}

// add appends and fails the test if that does not work.
func add(t *testing.T, j journal.Journal, e journal.Entry) event.Record {
	t.Helper()
	rec, fresh, err := j.Append(t.Context(), e)
	if err != nil {
		t.Fatalf("append %s to %s: %v", e.ID, e.Subject, err)
	}
	if !fresh {
		t.Fatalf("append %s to %s: the id was known", e.ID, e.Subject)
	}
	return rec
}

// all reads everything above after, page by page.
func all(t *testing.T, j journal.Journal, after event.Seq, limit int) []event.Record {
	t.Helper()
	var got []event.Record
	for {
		page, err := j.Read(t.Context(), after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return got
		}
		if limit > 0 && len(page) > limit {
			t.Fatalf("%d records for a limit of %d", len(page), limit)
		}
		got = append(got, page...)
		after = page[len(page)-1].Seq
	}
}

// inOrder fails unless positions grow.
func inOrder(t *testing.T, records []event.Record) {
	t.Helper()
	for i := 1; i < len(records); i++ {
		if records[i].Seq <= records[i-1].Seq {
			t.Fatalf("position %d comes after %d", records[i].Seq, records[i-1].Seq)
		}
	}
}

// same compares two records in every field that has a meaning.
func same(t *testing.T, got, want event.Record) {
	t.Helper()
	g, w := string(journal.AppendRecord(nil, &got)), string(journal.AppendRecord(nil, &want))
	if g != w || !got.Time.Equal(want.Time) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func empty(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	if head, err := j.Head(ctx); head != 0 || err != nil {
		t.Errorf("head %d, %v", head, err)
	}
	if v, err := j.Version(ctx, "names"); v != 0 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	if page, err := j.Read(ctx, 0, 10); len(page) != 0 || err != nil {
		t.Errorf("read %v, %v", page, err)
	}
	if page, err := j.ReadSubject(ctx, "names", 0, 10); len(page) != 0 || err != nil {
		t.Errorf("read %v, %v", page, err)
	}
	if _, found, err := j.Lookup(ctx, id(1)); found || err != nil {
		t.Errorf("lookup %v, %v", found, err)
	}
}

func roundTrip(t *testing.T, j journal.Journal) {
	when := time.Date(2031, 4, 5, 6, 7, 8, 9_876_543, time.FixedZone("x", 3600))
	e := journal.Entry{
		ID: id(1), Subject: `claims./home/ä b/"c"`, Expect: journal.Expect(0), Time: when, Project: "p<&>",
		Actor: event.Actor{Agent: id(2), Name: "mähr <x>", PID: 42, Start: 1 << 60, Host: "h", Session: "s\u2028"},
		Events: []event.Event{
			{Kind: "a", Data: json.RawMessage(`{"b":1,"a":1e400,"c":"<&>\u00e4"}`)},
			{Kind: "from the year 3000", Data: json.RawMessage(`[null, 12345678901234567890]`)},
			{Kind: "empty"},
		},
	}
	stored := add(t, j, e)
	if stored.ID != e.ID || stored.Subject != e.Subject || stored.Actor != e.Actor || stored.Project != e.Project ||
		stored.Expect == nil || *stored.Expect != 0 || len(stored.Events) != 3 {
		t.Errorf("stored %+v", stored)
	}
	if want := when.UTC().Truncate(time.Millisecond); !stored.Time.Equal(want) || stored.Time.Location() != time.UTC {
		t.Errorf("time %v, want %v", stored.Time, want)
	}
	for i, ev := range stored.Events {
		if ev.Kind != e.Events[i].Kind || string(ev.Data) != string(e.Events[i].Data) || ev.Sum != event.Sum(e.Events[i].Data) {
			t.Errorf("event %d: %+v", i, ev)
		}
	}
	if e.Events[0].Sum != "" {
		t.Error("the append wrote into the caller's events")
	}
	for _, got := range all(t, j, 0, 0) {
		same(t, got, stored)
	}
	got, found, err := j.Lookup(t.Context(), e.ID)
	if !found || err != nil {
		t.Fatalf("lookup: %v, %v", found, err)
	}
	same(t, got, stored)
	before := time.Now().Add(-time.Second)
	if rec := add(t, j, entry(3, "other")); rec.Time.Before(before.Truncate(time.Millisecond)) || rec.Time.After(time.Now().Add(time.Second)) {
		t.Errorf("a record without a time got %v", rec.Time)
	}
}

func positions(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	last := map[event.Subject]event.Seq{}
	var head event.Seq
	for n := range 30 {
		s := event.Subject(fmt.Sprintf("thread.%d", n%4))
		rec := add(t, j, entry(n, s))
		if rec.Seq <= head {
			t.Fatalf("position %d after %d", rec.Seq, head)
		}
		head, last[s] = rec.Seq, rec.Seq
		if got, err := j.Head(ctx); got != head || err != nil {
			t.Fatalf("head %d, %v; want %d", got, err, head)
		}
		for s, want := range last {
			if got, err := j.Version(ctx, s); got != want || err != nil {
				t.Fatalf("version of %s %d, %v; want %d", s, got, err, want)
			}
		}
	}
	inOrder(t, all(t, j, 0, 0))
}

func expectations(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	e := entry(1, "a")
	e.Expect = journal.Expect(7)
	conflict(t, j, e, 7, 0)
	e.Expect = journal.Expect(0)
	first := add(t, j, e)
	other := add(t, j, entry(2, "b"))
	e = entry(3, "a")
	e.Expect = journal.Expect(0)
	conflict(t, j, e, 0, first.Seq)
	e.Expect = journal.Expect(other.Seq)
	conflict(t, j, e, other.Seq, first.Seq)
	if v, _ := j.Version(ctx, "a"); v != first.Seq {
		t.Errorf("a refused append moved the version to %d", v)
	}
	e.Expect = journal.Expect(first.Seq)
	second := add(t, j, e)
	if second.Prev != first.Hash {
		t.Errorf("prev is %q, want %q", second.Prev, first.Hash)
	}
	third := add(t, j, entry(4, "a"))
	if third.Prev != "" {
		t.Errorf("an append without an expectation is chained to %q", third.Prev)
	}
	e = entry(5, "a")
	e.Expect = journal.Expect(third.Seq)
	if fourth := add(t, j, e); fourth.Prev != third.Hash {
		t.Errorf("prev is %q, want %q", fourth.Prev, third.Hash)
	}
}

// conflict appends and wants to be refused.
func conflict(t *testing.T, j journal.Journal, e journal.Entry, expected, actual event.Seq) {
	t.Helper()
	_, fresh, err := j.Append(t.Context(), e)
	var c *journal.ErrConflict
	if !errors.As(err, &c) || fresh {
		t.Fatalf("got %v, want a conflict", err)
	}
	if want := (journal.ErrConflict{Subject: e.Subject, Expected: expected, Actual: actual}); *c != want {
		t.Errorf("got %+v, want %+v", *c, want)
	}
	if _, found, _ := j.Lookup(t.Context(), e.ID); found {
		t.Error("the refused record is there")
	}
}

func idempotent(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	e := entry(1, "a")
	e.Expect = journal.Expect(0)
	stored := add(t, j, e)
	add(t, j, entry(2, "a"))
	// The same again, from another process at another time: the expectation is
	// out of date by now, and does not matter.
	e.Actor.PID, e.Time, e.Project = 99, time.Now().Add(time.Hour), "elsewhere"
	again, fresh, err := j.Append(ctx, e)
	if err != nil || fresh {
		t.Fatalf("again: %v, %v", fresh, err)
	}
	same(t, again, stored)
	for what, change := range map[string]func(*journal.Entry){
		"data":    func(e *journal.Entry) { e.Events = []event.Event{event.New("test.happened", map[string]int{"n": 2})} },
		"kind":    func(e *journal.Entry) { e.Events = []event.Event{{Kind: "other", Data: e.Events[0].Data}} },
		"subject": func(e *journal.Entry) { e.Subject = "b" },
		"count":   func(e *journal.Entry) { e.Events = append(e.Events[:1:1], e.Events[0]) },
	} {
		changed := e
		change(&changed)
		_, _, err := j.Append(ctx, changed)
		var reused *journal.ErrReused
		if !errors.As(err, &reused) || reused.ID != e.ID {
			t.Errorf("another %s under the same id: %v", what, err)
		}
	}
	if got := all(t, j, 0, 0); len(got) != 2 {
		t.Errorf("%d records, want 2", len(got))
	}
}

func atomic(t *testing.T, j journal.Journal) {
	e := entry(1, "a")
	for n := range 5 {
		e.Events = append(e.Events, event.New("more", n))
	}
	bad := e
	bad.Events = append(bad.Events[:3:3], event.Event{Kind: "bad", Data: json.RawMessage(`{`)})
	if _, _, err := j.Append(t.Context(), bad); !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v, want invalid", err)
	}
	if got := all(t, j, 0, 0); len(got) != 0 {
		t.Fatalf("a refused append left %v", got)
	}
	rec := add(t, j, e)
	got := all(t, j, 0, 0)
	if len(got) != 1 || len(got[0].Events) != 6 || got[0].Seq != rec.Seq {
		t.Errorf("got %v", got)
	}
}

func paging(t *testing.T, j journal.Journal) {
	var want []event.Record
	of := map[event.Subject][]event.Record{}
	for n := range 25 {
		s := event.Subject(fmt.Sprintf("s%d", n%3))
		rec := add(t, j, entry(n, s))
		want = append(want, rec)
		of[s] = append(of[s], rec)
	}
	for _, limit := range []int{0, 1, 4, 25, 1000} {
		if got := all(t, j, 0, limit); !reflect.DeepEqual(seqs(got), seqs(want)) {
			t.Errorf("limit %d: %v, want %v", limit, seqs(got), seqs(want))
		}
	}
	if got := all(t, j, want[9].Seq, 4); !reflect.DeepEqual(seqs(got), seqs(want[10:])) {
		t.Errorf("after %d: %v", want[9].Seq, seqs(got))
	}
	for s, records := range of {
		var got []event.Record
		for after := event.Seq(0); ; after = got[len(got)-1].Seq {
			page, err := j.ReadSubject(t.Context(), s, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if !reflect.DeepEqual(seqs(got), seqs(records)) {
			t.Errorf("%s: %v, want %v", s, seqs(got), seqs(records))
		}
	}
	if page, err := j.ReadSubject(t.Context(), "s", 0, 0); len(page) != 0 || err != nil {
		t.Errorf("a subject is matched by its beginning: %v, %v", page, err)
	}
}

func seqs(records []event.Record) []event.Seq {
	s := []event.Seq{}
	for _, r := range records {
		s = append(s, r.Seq)
	}
	return s
}

func lookup(t *testing.T, j journal.Journal) {
	for n := range 10 {
		add(t, j, entry(n, "s"))
	}
	for n := range 10 {
		rec, found, err := j.Lookup(t.Context(), id(n))
		if !found || err != nil || rec.ID != id(n) {
			t.Errorf("lookup %d: %v, %v, %v", n, rec, found, err)
		}
	}
	if _, found, err := j.Lookup(t.Context(), id(11)); found || err != nil {
		t.Errorf("lookup of nothing: %v, %v", found, err)
	}
}
