package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"bureau/internal/event"
)

// The JSON form of records, in files and inside engines. It is written by
// hand because encoding/json compacts raw messages, and Data has to come back
// byte for byte, or its sum is wrong.

// timeForm is RFC 3339 with milliseconds, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// AppendRecord appends the one-line JSON form of r to b.
func AppendRecord(b []byte, r *event.Record) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, int64(r.Seq), 10)
	b = appendField(b, `,"id":`, string(r.ID))
	b = appendField(b, `,"subject":`, string(r.Subject))
	if r.Expect != nil {
		b = append(b, `,"expect":`...)
		b = strconv.AppendInt(b, int64(*r.Expect), 10)
	}
	b = append(b, `,"time":"`...)
	b = r.Time.UTC().AppendFormat(b, timeForm)
	b = append(b, `","actor":`...)
	b = append(b, EncodeActor(r.Actor)...)
	if r.Project != "" {
		b = appendField(b, `,"project":`, r.Project)
	}
	if r.Prev != "" {
		b = appendField(b, `,"prev":`, r.Prev)
	}
	b = appendField(b, `,"hash":`, r.Hash)
	b = append(b, `,"events":`...)
	b = AppendEvents(b, r.Events)
	return append(b, '}')
}

// AppendEvents appends the one-line JSON form of events to b: an array of
// {"kind", "sum", "data"}. Data stands there as it is, unless its white space
// would not survive on one line; then it is "data64", in base64.
func AppendEvents(b []byte, events []event.Event) []byte {
	b = append(b, '[')
	for i, e := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, `{"kind":`, string(e.Kind))
		b = appendField(b, `,"sum":`, e.Sum)
		switch {
		case len(e.Data) == 0:
		case plain(e.Data):
			b = append(b, `,"data":`...)
			b = append(b, e.Data...)
		default:
			b = append(b, `,"data64":`...)
			b = append(b, encodeJSON([]byte(e.Data))...)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// plain reports whether data keeps its bytes as a value inside a line of JSON.
func plain(data []byte) bool {
	return !bytes.ContainsAny(data, "\r\n") && len(bytes.TrimSpace(data)) == len(data)
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	return append(b, encodeJSON(value)...)
}

// encodeJSON is JSON without HTML escaping.
func encodeJSON(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings, bytes and Actor always encode
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// EncodeActor gives the JSON form of an actor.
func EncodeActor(a event.Actor) []byte { return encodeJSON(a) }

type wireEvent struct {
	Kind   event.Kind      `json:"kind"`
	Sum    string          `json:"sum"`
	Data   json.RawMessage `json:"data"`
	Data64 []byte          `json:"data64"`
}

type wireRecord struct {
	Seq     event.Seq     `json:"seq"`
	ID      event.ID      `json:"id"`
	Subject event.Subject `json:"subject"`
	Expect  *event.Seq    `json:"expect"`
	Time    time.Time     `json:"time"`
	Actor   event.Actor   `json:"actor"`
	Project string        `json:"project"`
	Prev    string        `json:"prev"`
	Hash    string        `json:"hash"`
	Events  []wireEvent   `json:"events"`
}

// ParseRecord reads what [AppendRecord] wrote. It does not verify hashes
// ([CheckRecord] does).
func ParseRecord(line []byte) (event.Record, error) {
	var w wireRecord
	if err := json.Unmarshal(line, &w); err != nil {
		return event.Record{}, err
	}
	r := event.Record{
		Seq: w.Seq, ID: w.ID, Subject: w.Subject, Expect: w.Expect, Time: w.Time.UTC(),
		Actor: w.Actor, Project: w.Project, Prev: w.Prev, Hash: w.Hash,
	}
	var err error
	r.Events, err = events(w.Events)
	return r, err
}

// ParseEvents reads what [AppendEvents] wrote.
func ParseEvents(b []byte) ([]event.Event, error) {
	var w []wireEvent
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, err
	}
	return events(w)
}

func events(w []wireEvent) ([]event.Event, error) {
	made := make([]event.Event, len(w))
	for i, e := range w {
		made[i] = event.Event{Kind: e.Kind, Sum: e.Sum, Data: e.Data}
		if e.Data64 != nil {
			if e.Data != nil {
				return nil, fmt.Errorf("event %d has two data fields", i+1)
			}
			made[i].Data = e.Data64
		}
	}
	return made, nil
}
