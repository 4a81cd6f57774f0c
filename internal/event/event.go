// Package event holds the words in which everything that happens in an office
// is written down: events, the records that carry them, and their identifiers.
//
// One append to the journal is one [Record]: one to many events of one
// subject, decided together, stored together or not at all. A record has one
// position; its events share it. State is what one gets by reading records in
// order of position.
package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Seq is a position in the journal. The first record has position 1; 0 means
// "nothing yet". Positions only grow and are never used twice.
type Seq int64

// ID names a record, a message, a thread or an agent: a ULID in its usual 26
// characters. Some ids are minted, some derived from others ([Derive]); only
// minted ones sort by time, so order always comes from [Seq].
type ID string

// Subject names the aggregate that a record belongs to. What must be decided
// one after the other lives in one subject.
type Subject string

// The subjects of an office.
const Names Subject = "names" // every registration, rename and retirement

// Tokens holds the credentials that were issued and revoked. It is apart from
// the names, which a version that does not know tokens must be able to change.
const Tokens Subject = "tokens"

// AgentSubject holds what one agent has seen and acknowledged.
func AgentSubject(id ID) Subject { return Subject("agent." + string(id)) }

// ThreadSubject holds one conversation.
func ThreadSubject(id ID) Subject { return Subject("thread." + string(id)) }

// BroadcastSubject holds one message to a whole project.
func BroadcastSubject(id ID) Subject { return Subject("broadcast." + string(id)) }

// RoomSubject holds one meeting: members, floor, messages and votes.
func RoomSubject(id ID) Subject { return Subject("room." + string(id)) }

// BoardSubject holds one scope of the board.
func BoardSubject(scope string) Subject { return Subject("board." + scope) }

// ClaimsSubject holds all claims of one project.
func ClaimsSubject(scope string) Subject { return Subject("claims." + scope) }

// Kind says what happened. The meaning of Data belongs to the kind and never
// changes: a new meaning is a new kind. Readers keep and skip kinds that they
// do not know.
type Kind string

// Event is one thing that happened.
type Event struct {
	Kind Kind `json:"kind"`
	// Data is the event's JSON. It may be erased later; Sum stays.
	Data json.RawMessage `json:"data,omitempty"`
	// Sum is the SHA-256 of Data in hexadecimal, set when the event is stored.
	Sum string `json:"sum,omitempty"`
}

// New makes an event of a kind from its data, which must encode as JSON.
func New(kind Kind, data any) Event {
	raw, err := encode(data)
	if err != nil {
		// Data types are our own structs; one that does not encode is a defect.
		panic(fmt.Sprintf("event %s: %v", kind, err))
	}
	return Event{Kind: kind, Data: raw}
}

// encode is JSON without HTML escaping, so that text stays as it was written.
func encode(data any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Decode reads an event's data into v. Unknown fields are ignored.
func (e Event) Decode(v any) error {
	if err := json.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("event %s: %w", e.Kind, err)
	}
	return nil
}

// Actor says who did it and from where. Agent and Name are what the office
// established, never what the caller claimed.
type Actor struct {
	Agent   ID     `json:"agent,omitempty"`
	Name    string `json:"name,omitempty"` // the name at that moment, for readers of the raw journal
	PID     int    `json:"pid,omitempty"`
	Start   int64  `json:"start,omitempty"` // the process's start time, in the unit of package proc
	Host    string `json:"host,omitempty"`  // host domain: machine, boot and pid namespace
	Session string `json:"session,omitempty"`
}

// Record is what one append stores: events of one subject, with one position.
type Record struct {
	Seq     Seq       `json:"seq"`
	ID      ID        `json:"id"`
	Subject Subject   `json:"subject"`
	Expect  *Seq      `json:"expect,omitempty"` // the subject's version that the decision was based on; nil: none
	Time    time.Time `json:"time"`             // UTC, whole milliseconds
	Actor   Actor     `json:"actor"`
	Project string    `json:"project,omitempty"`
	Events  []Event   `json:"events"`
	// Prev is the hash of the subject's previous record, where Expect was
	// given and there was one.
	Prev string `json:"prev,omitempty"`
	// Hash covers everything above but Seq, with Data represented by its sum.
	Hash string `json:"hash"`
}

// Sum is the SHA-256 of data in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Seal fills in every event's Sum and the record's Hash from the rest.
func (r *Record) Seal() {
	for i := range r.Events {
		r.Events[i].Sum = Sum(r.Events[i].Data)
	}
	r.Hash = r.ComputeHash()
}

// ComputeHash gives the hash that the record should carry. Fields go in with
// their length in front, so that no two records share an encoding.
func (r *Record) ComputeHash() string {
	h := sha256.New()
	put := func(s string) {
		io.WriteString(h, strconv.Itoa(len(s)))
		io.WriteString(h, ":")
		io.WriteString(h, s)
	}
	put("bureau record 1")
	put(string(r.ID))
	put(string(r.Subject))
	if r.Expect == nil {
		put("-")
	} else {
		put(strconv.FormatInt(int64(*r.Expect), 10))
	}
	put(strconv.FormatInt(r.Time.UnixMilli(), 10))
	put(string(r.Actor.Agent))
	put(r.Actor.Name)
	put(strconv.Itoa(r.Actor.PID))
	put(strconv.FormatInt(r.Actor.Start, 10))
	put(r.Actor.Host)
	put(r.Actor.Session)
	put(r.Project)
	put(r.Prev)
	put(strconv.Itoa(len(r.Events)))
	for _, e := range r.Events {
		put(string(e.Kind))
		put(e.Sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SameContent reports whether two records say the same, whoever wrote them
// and when: the test for a repeated append with a known id.
func (r *Record) SameContent(other *Record) bool {
	if r.ID != other.ID || r.Subject != other.Subject || len(r.Events) != len(other.Events) {
		return false
	}
	for i := range r.Events {
		if r.Events[i].Kind != other.Events[i].Kind || Sum(r.Events[i].Data) != other.Events[i].Sum && r.Events[i].Sum != other.Events[i].Sum {
			return false
		}
	}
	return true
}
