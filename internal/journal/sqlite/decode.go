package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/journal"
)

// decode reads a record from raw columns. Unlike scan it takes nothing for
// granted.
func decode(c []any) (rec event.Record, err error) {
	seq, ok := c[0].(int64)
	rec.Seq = event.Seq(seq)
	var errs []error
	wrong := func(name string, v any) { errs = append(errs, fmt.Errorf("its %s is %s", name, describe(v))) }
	str := func(i int, name string) string {
		s, ok := c[i].(string)
		if !ok || !utf8.ValidString(s) && name != "body" {
			wrong(name, c[i])
		}
		return s
	}
	if !ok {
		wrong("position", c[0])
	}
	rec.ID, rec.Subject, rec.Project = event.ID(str(1, "id")), event.Subject(str(2, "subject")), str(6, "project")
	switch expect := c[3].(type) {
	case nil:
	case int64:
		rec.Expect = journal.Expect(event.Seq(expect))
	default:
		wrong("expectation", expect)
	}
	if ms, ok := c[4].(int64); ok {
		rec.Time = time.UnixMilli(ms).UTC()
	} else {
		wrong("time", c[4])
	}
	if prev, ok := c[7].([]byte); ok && len(prev) == sha256Size {
		rec.Prev = text(prev)
	} else if c[7] != nil {
		wrong("previous hash", c[7])
	}
	if hash, ok := c[8].([]byte); ok && len(hash) == sha256Size {
		rec.Hash = text(hash)
	} else {
		wrong("hash", c[8])
	}
	if err := json.Unmarshal([]byte(str(5, "actor")), &rec.Actor); err != nil {
		errs = append(errs, fmt.Errorf("its actor is torn: %w", err))
	}
	if rec.Events, err = journal.ParseEvents([]byte(str(9, "body"))); err != nil {
		errs = append(errs, fmt.Errorf("its events are torn: %w", err))
	} else if len(rec.Events) == 0 {
		errs = append(errs, errors.New("it has no events"))
	}
	return rec, errors.Join(errs...)
}

// describe shows a value that should not be there, briefly.
func describe(v any) string {
	if v == nil {
		return "missing"
	}
	return fmt.Sprintf("wrong: %.40q", fmt.Sprint(v))
}
