package transcript

import (
	"errors"

	"bureau/internal/fault"
)

// Point is how far a file has come.
type Point struct {
	// Seq is the room's sequence number that it has caught up with.
	Seq int64
	// Last is its last entry, without the text; with the number 0 in a file that
	// has none.
	Last Entry
}

// Is refuses a file whose last entry is not the one that the room has under its
// number, which is nil if it has none. What the file tells is another course of
// the meeting then, and nothing may be written behind it: a [fault.Conflict].
// Entries without a mark, as files of before have them, are told by their time.
func (p Point) Is(there *Entry) error {
	switch was := &p.Last; {
	case was.Seq == 0:
		return nil
	case there == nil:
		return p.apart("it goes on to entry %d, which the journal does not have")
	case was.Mark != "" && there.Mark != "":
		if was.Mark == there.Mark {
			return nil
		}
	case was.Time.IsZero() || there.Time.IsZero() || was.Time.Equal(there.Time):
		return nil
	}
	return p.apart("its entry %d is not the one that the journal has")
}

func (p Point) apart(what string) error {
	return fault.New(fault.Conflict, what+"; it was written from another journal, or this one is an older copy", p.Last.Seq).
		WithHint("%s", renew).WithDetail(Apart{p.Last.Seq})
}

// Apart is the detail of a refusal because a file tells another course of the
// meeting than the journal does.
type Apart struct {
	Entry int64 `json:"entry"` // the number of its last entry
}

// Altered is the detail of a refusal because another program has changed a file.
type Altered struct {
	At int64 `json:"at"` // offset in bytes
}

// renew is the way out of both.
const renew = "bureau room transcript NAME --sync puts the file aside under a dated name and writes it anew"

// Renewable reports whether an error is one of a transcript that [SetAside] makes
// way for a new one from.
func Renewable(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Detail.(type) {
	case Apart, Altered:
		return true
	}
	return false
}
