package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// big makes an entry of about the given size.
func big(n int, s event.Subject, size int) journal.Entry {
	data := make([]byte, size)
	for i := range data {
		data[i] = 'x'
	}
	data[0], data[size-1] = '"', '"'
	return journal.Entry{ID: id(n), Subject: s, Events: []event.Event{{Kind: "big", Data: data}}}
}

func longPages(t *testing.T, j journal.Journal) {
	const each = 3 << 20
	count := journal.MaxPage/each + 3
	for n := range count {
		add(t, j, big(n, "s", each))
	}
	page, err := j.Read(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(page) == 0 || len(page) >= count {
		t.Errorf("a page of %d records of %d bytes", len(page), each)
	}
	if got := all(t, j, 0, 0); len(got) != count {
		t.Errorf("%d records, want %d", len(got), count)
	}
}

func monotone(t *testing.T, j journal.Journal) {
	base := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	put := func(n int, s event.Subject, at time.Time) time.Time {
		e := entry(n, s)
		e.Time = at
		return add(t, j, e).Time
	}
	put(1, "a", base)
	if got := put(2, "a", base.Add(-time.Hour)); !got.Equal(base) {
		t.Errorf("raised to %v, want %v", got, base)
	}
	if got := put(3, "a", base.Add(time.Hour)); !got.Equal(base.Add(time.Hour)) {
		t.Errorf("got %v", got)
	}
	if got := put(4, "b", base.Add(-time.Hour)); !got.Equal(base.Add(-time.Hour)) {
		t.Errorf("another subject's time was changed to %v", got)
	}
	for _, r := range all(t, j, 0, 0) {
		if err := journal.CheckRecord(&r); err != nil {
			t.Error(err)
		}
	}
}

func limits(t *testing.T, j journal.Journal) {
	many := func(n int) journal.Entry {
		e := entry(n, "s")
		for len(e.Events) < n {
			e.Events = append(e.Events, event.Event{Kind: "k"})
		}
		return e
	}
	add(t, j, many(journal.MaxEvents))
	add(t, j, big(1, "s", journal.MaxRecord))
	refused := map[string]journal.Entry{
		"too many events":  many(journal.MaxEvents + 1),
		"too many bytes":   big(2, "s", journal.MaxRecord+1),
		"no event":         {ID: id(3), Subject: "s"},
		"no id":            {Subject: "s", Events: entry(4, "s").Events},
		"no subject":       entry(5, ""),
		"no kind":          {ID: id(6), Subject: "s", Events: []event.Event{{}}},
		"not JSON":         {ID: id(7), Subject: "s", Events: []event.Event{{Kind: "k", Data: json.RawMessage(`{"a":`)}}},
		"not UTF-8":        entry(8, "s\xff"),
		"control":          entry(9, "s\n"),
		"long subject":     entry(10, event.Subject(make([]byte, journal.MaxSubject+1))),
		"negative version": {ID: id(11), Subject: "s", Expect: journal.Expect(-1), Events: entry(11, "s").Events},
		"early":            {ID: id(12), Subject: "s", Time: time.Unix(-1, 0), Events: entry(12, "s").Events},
		"actor not UTF-8":  {ID: id(13), Subject: "s", Actor: event.Actor{Name: "\xff"}, Events: entry(13, "s").Events},
	}
	for what, e := range refused {
		if _, _, err := j.Append(t.Context(), e); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want invalid", what, err)
		}
	}
	if got := all(t, j, 0, 0); len(got) != 2 {
		t.Errorf("%d records, want 2", len(got))
	}
}

func bytesKept(t *testing.T, j journal.Journal) {
	for n, data := range []string{
		`{"b":1,"a":2,"b":3}`, `1.0`, `1e+05`, `-0`, `123456789012345678901234567890.10`, `null`, `true`, `""`, `[]`,
		`"<script>&amp;` + "\u2028" + `"`, `"\u00e4\/"`, "{\n\t\"a\": 1\r\n}", " 1 ", `{"k":"` + "\xff\xfe" + `"}`, "\"\U0001F600\"",
	} {
		rec := add(t, j, journal.Entry{ID: id(n), Subject: "s", Events: []event.Event{{Kind: "k", Data: json.RawMessage(data)}}})
		got, _, err := j.Lookup(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Events[0].Data) != data {
			t.Errorf("got %q, want %q", got.Events[0].Data, data)
		}
		if err := journal.CheckRecord(&got); err != nil {
			t.Error(err)
		}
	}
}

func isolated(t *testing.T, j journal.Journal) {
	data := []byte(`{"a":1}`)
	e := journal.Entry{ID: id(1), Subject: "s", Events: []event.Event{{Kind: "k", Data: data}}}
	stored := add(t, j, e)
	data[2] = 'X'
	stored.Events[0].Kind = "X"
	all(t, j, 0, 0)[0].Events[0].Data[2] = 'Y'
	if got := all(t, j, 0, 0)[0]; string(got.Events[0].Data) != `{"a":1}` || got.Events[0].Kind != "k" {
		t.Errorf("the stored record became %s", got.Events[0].Data)
	}
}

func hashes(t *testing.T, j journal.Journal) {
	for n := range 20 {
		s := event.Subject(fmt.Sprintf("s%d", n%3))
		e := entry(n, s)
		if n%4 != 0 {
			v, err := j.Version(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			e.Expect = &v
		}
		add(t, j, e)
	}
	state := map[event.Subject]journal.State{}
	for _, r := range all(t, j, 0, 0) {
		if err := journal.CheckRecord(&r); err != nil {
			t.Error(err)
		}
		// Engines may leave out positions, so only the chain is checked.
		if err := journal.Follows(&r, r.Seq-1, state[r.Subject]); err != nil {
			t.Error(err)
		}
		state[r.Subject] = journal.Then(&r)
	}
}

func ended(t *testing.T, j journal.Journal) {
	add(t, j, entry(1, "s"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := j.Append(ctx, entry(2, "s")); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if _, err := j.Read(ctx, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := j.Head(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("head: %v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, _, err := j.Append(late, entry(3, "s")); !fault.Is(err, fault.Timeout) {
		t.Errorf("append after the deadline: %v", err)
	}
	if got := all(t, j, 0, 0); len(got) != 1 {
		t.Errorf("%d records, want 1", len(got))
	}
}

func closed(t *testing.T, j journal.Journal) {
	add(t, j, entry(1, "s"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, _, err := j.Append(t.Context(), entry(2, "s")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("append: %v", err)
	}
	if _, err := j.Read(t.Context(), 0, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("read: %v", err)
	}
}
