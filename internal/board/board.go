// Package board holds the rules of the board: notes under a key, without a
// recipient, one writer after the other, with their history.
//
// The package is pure. A key lives in a scope (a project, or the whole
// office); all keys of a scope are one subject, so a compare-and-set is exact.
package board

import (
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// Limits of the board.
const (
	MaxKey   = 200      // characters of a key
	MaxValue = 64 << 10 // bytes of a value
)

// OfficeScope is the scope that all projects share.
const OfficeScope = "office"

// Entry is what stands under a key.
type Entry struct {
	Scope   string    `json:"scope"`
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Author  event.ID  `json:"author"`
	At      time.Time `json:"at"`
	Version event.Seq `json:"version"` // position of the record that wrote it; 0: nothing there
}

// The kinds of events in a board subject.
const (
	KindSet     event.Kind = "board.set"
	KindDeleted event.Kind = "board.deleted"
)

// Set writes a value.
type Set struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Deleted takes a key off the board; its history stays.
type Deleted struct {
	Key string `json:"key"`
}

// Put writes a value under a key. With IfVersion it does so only if the entry
// still has that version (0: only if nothing is there).
type Put struct {
	Key, Value string
	IfVersion  *event.Seq
}

// Decide gives the event, or a refusal. Writing what stands there already is
// still an event: somebody said it again.
func (c Put) Decide(now Entry) ([]event.Event, error) {
	if err := CheckKey(c.Key); err != nil {
		return nil, err
	}
	if len(c.Value) > MaxValue {
		return nil, fault.New(fault.Invalid, "the value for %q has %d bytes; the limit is %d", c.Key, len(c.Value), MaxValue).
			WithHint("put it into a file and set its path")
	}
	if !utf8.ValidString(c.Value) {
		return nil, fault.New(fault.Invalid, "the value for %q is not valid UTF-8", c.Key).WithHint("put it into a file and set its path")
	}
	if err := matches(now, c.Key, c.IfVersion); err != nil {
		return nil, err
	}
	return []event.Event{event.New(KindSet, Set{Key: c.Key, Value: c.Value})}, nil
}

// Delete takes a key off the board.
type Delete struct {
	Key       string
	IfVersion *event.Seq
}

// Decide gives the event, or a refusal when nothing is there.
func (c Delete) Decide(now Entry) ([]event.Event, error) {
	if now.Version == 0 {
		return nil, fault.New(fault.NotFound, "nothing on the board under %q", c.Key).WithHint("bureau board list shows what is there")
	}
	if err := matches(now, c.Key, c.IfVersion); err != nil {
		return nil, err
	}
	return []event.Event{event.New(KindDeleted, Deleted{Key: c.Key})}, nil
}

func matches(now Entry, key string, want *event.Seq) error {
	if want == nil || *want == now.Version {
		return nil
	}
	return fault.New(fault.Conflict, "%q is at version %d, not %d: somebody wrote it meanwhile", key, now.Version, *want).
		WithHint("read it again (bureau board get) and decide again").
		WithDetail(now)
}

// CheckKey refuses keys that cannot be listed or typed.
func CheckKey(key string) error {
	switch n := utf8.RuneCountInString(key); {
	case strings.TrimSpace(key) == "":
		return fault.New(fault.Invalid, "the key is empty").WithHint("a key is a word such as build:status")
	case n > MaxKey:
		return fault.New(fault.Invalid, "the key has %d characters; the limit is %d", n, MaxKey)
	case !utf8.ValidString(key):
		return fault.New(fault.Invalid, "the key %q is not valid UTF-8", key)
	case strings.HasSuffix(key, "*"):
		return fault.New(fault.Invalid, "the key %q ends in *, which lists by prefix", key).WithHint("leave the * off to write")
	}
	for _, r := range key {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return fault.New(fault.Invalid, "the key %q holds a control character", key)
		}
	}
	return nil
}
