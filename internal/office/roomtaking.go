package office

import (
	"sort"
	"unicode/utf8"

	"bureau/internal/fault"
	"bureau/internal/presence"
)

// The bounds of a slice. What is longer than a slice may be is cut, and RoomBody
// has the rest.
const (
	DefaultSlice      = 50
	DefaultSliceBytes = 48 << 10
)

// Taking says how much is put before a member.
type Taking struct {
	Limit int // entries; 0: DefaultSlice
	Bytes int // of texts; 0: DefaultSliceBytes
	Text  int // bytes of one text, what is longer is cut; 0: Bytes
	// Measure says how long a text is where it is shown, for all bounds of bytes:
	// not less than its bytes, and no longer text is shorter. nil: its bytes.
	Measure func(string) int
	// Parts gives what is longer in parts, one after the other: it counts as read
	// when its last part does. Otherwise its beginning is all that a slice has.
	Parts bool
	// Again also takes what was given to the same conversation before, arrived
	// and is not proved: for a prompt or a start, which cannot tell.
	Again bool
	// Printing is for a hook that is about to print it into the client's context:
	// it then calls Printed with the receipt. If it dies before, it is given again.
	Printing bool
}

// measure gives the length of a text of which most can be told from more.
func (t Taking) measure(text string, most int) int {
	if t.Measure == nil || len(text) > most {
		return len(text)
	}
	return t.Measure(text)
}

// cut gives the longest beginning of a text that is at most so long; at least
// one character.
func (t Taking) cut(text string, most int) string {
	if len(text) > most {
		text = cutText(text, most)
	}
	if t.measure(text, most) <= most {
		return text
	}
	n := sort.Search(len(text), func(n int) bool { return t.Measure(cutText(text, n)) > most })
	if short := cutText(text, n-1); short != "" {
		return short
	}
	_, size := utf8.DecodeRuneInString(text)
	return text[:size]
}

func (t Taking) bounds() (limit, bytes int, err error) {
	limit, bytes = t.Limit, t.Bytes
	if limit == 0 {
		limit = DefaultSlice
	}
	if bytes == 0 {
		bytes = DefaultSliceBytes
	}
	if limit < 0 || limit > MaxPage || bytes < 0 || t.Text < 0 {
		return 0, 0, fault.New(fault.Invalid, "a slice cannot have %d entries of %d bytes", limit, bytes).WithHint("choose between 1 and %d entries", MaxPage)
	}
	return limit, bytes, nil
}

// further gives the part that reaches further.
func further(a, b presence.Part) presence.Part {
	if b.Entry > a.Entry || b.Entry == a.Entry && b.Bytes > a.Bytes {
		return b
	}
	return a
}
