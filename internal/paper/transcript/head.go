package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"bureau/internal/fault"
)

// identity is what a file says of itself for good.
type identity struct {
	Version int    `json:"v"`
	Head    int    `json:"head"` // bytes of the header
	Room    string `json:"room"`
	Lang    string `json:"lang"`
	Private bool   `json:"private"`
}

// extent is how far a file goes, as of its last header.
type extent struct {
	Seq  int64  `json:"seq"`  // the room's sequence number that the file has caught up with
	Last int64  `json:"last"` // the last entry's; 0: none
	At   int64  `json:"at"`   // offset of the last entry
	End  int64  `json:"end"`  // offset behind it
	Sum  string `json:"sum"`  // checksum of the header, reckoned with zeros in its place
}

const (
	version   = 1
	mark      = "<!-- bureau:transcript "
	markEnd   = " -->"
	noSum     = "00000000"
	firstRead = 4096 // the marker is in it, and mostly all of the header
	mostHead  = 4 << 20
	mostRoom  = 64

	leastMark  = 384 // bytes for the marker, which never grows beyond
	leastLine  = 128 // bytes for a line that can change, at first
	leastRows  = 8   // rows for members, at first
	mostRows   = 128
	beforeRows = 14 // lines above the first member
	afterRows  = 3  // lines below the last place for one
)

// slot is a line of the header. One with least 0 never changes and takes the
// bytes it has.
type slot struct {
	text  string
	least int
}

// slots renders a header in its fixed order of lines, with places for rows
// members at least. The first line is the marker's.
func (l *labels) slots(h Header, rows int) []slot {
	fixed := func(s string) slot { return slot{s, 0} }
	field := func(label, value string, least int) slot {
		if value == "" {
			return slot{"", least}
		}
		return slot{"- **" + label + l.colon + "** " + value, least}
	}
	topic := plain(h.Topic, 400)
	if topic == "" {
		topic = l.noTopic
	}
	turn := none
	if h.Turn != "" {
		turn = at(h.Turn)
	}
	// The two that may be missing; the one that is there comes first.
	first, second := field(l.purpose, plain(h.Purpose, 400), leastLine), slot{"", leastLine}
	if !h.Closed.IsZero() {
		second = field(l.closed, stamp(h.Closed), leastLine)
	}
	if first.text == "" {
		first, second = second, first
	}
	out := []slot{
		{"", leastMark},
		fixed(""),
		fixed("# " + l.title),
		fixed(""),
		field(l.file, path(h.File), leastLine),
		field(l.topic, topic, leastLine),
		field(l.opened, stamp(h.Opened), leastLine),
		field(l.turn, turn, leastLine),
		field(l.queue, queue(h.Queue), 2*leastLine),
		first,
		second,
		fixed(""),
		fixed("| " + strings.Join([]string{l.handle, l.name, l.status, l.joined}, " | ") + " |"),
		fixed("|---|---|---|---|"),
	}
	members, more := h.Members, 0
	if len(members) > mostRows {
		members, more = members[:mostRows-1], len(members)-mostRows+1
	}
	for _, m := range members {
		row := []string{at(m.Handle), plain(m.Name, 64), l.of(m.Status), stamp(m.Joined)}
		out = append(out, slot{"| " + strings.Join(row, " | ") + " |", leastLine})
	}
	if more > 0 {
		out = append(out, slot{"| … | " + fmt.Sprintf(l.more, more) + " | | |", leastLine})
	}
	for rows = grown(rows, len(out)-beforeRows); len(out) < beforeRows+rows; {
		out = append(out, slot{"", leastLine})
	}
	return append(out, fixed(""), fixed("## "+l.thread), fixed(""))
}

func queue(waiting []Waiting) string {
	if len(waiting) == 0 {
		return none
	}
	var shown []string
	for _, w := range waiting {
		if len(shown) == mostNames {
			shown = append(shown, "…")
			break
		}
		s := at(w.Handle)
		if w.Points > 1 {
			s += fmt.Sprintf(" (%d)", w.Points)
		}
		shown = append(shown, s)
	}
	return strings.Join(shown, ", ")
}

// grown doubles a size until need fits.
func grown(size, need int) int {
	for size < need {
		size *= 2
	}
	return size
}

// layout is the width in bytes of every line of a header, newline included.
type layout []int

// layoutOf measures a header as it stands in a file.
func layoutOf(head []byte) layout {
	var w layout
	for line := range bytes.Lines(head) {
		w = append(w, len(line))
	}
	return w
}

func (w layout) rows() int { return max(leastRows, len(w)-beforeRows-afterRows) }

func (w layout) size() int {
	n := 0
	for _, width := range w {
		n += width
	}
	return n
}

// fit gives the layout for slots: the old one if they fit it, else one in which
// what has become too narrow is doubled. All members have places of one width.
func fit(slots []slot, old layout) layout {
	if len(old) < beforeRows+afterRows {
		old = nil
	}
	w := make(layout, len(slots))
	row := leastLine
	isRow := func(i, lines int) bool { return i >= beforeRows && i < lines-afterRows }
	for i, width := range old {
		if isRow(i, len(old)) {
			row = max(row, width)
		}
	}
	for i, s := range slots {
		if isRow(i, len(slots)) {
			row = grown(row, len(s.text)+1)
		}
	}
	for i, s := range slots {
		switch {
		case isRow(i, len(slots)):
			w[i] = row
		case s.least == 0:
			w[i] = len(s.text) + 1
		case old != nil: // only lines above the rows have room to grow
			w[i] = grown(max(s.least, old[i]), len(s.text)+1)
		default:
			w[i] = grown(s.least, len(s.text)+1)
		}
	}
	return w
}

// head writes a header in a layout that fits it.
func head(id identity, ext extent, slots []slot, w layout) []byte {
	id.Version, id.Head, ext.Sum = version, w.size(), noSum
	first, _ := json.Marshal(id)
	second, _ := json.Marshal(ext)
	out := make([]byte, 0, id.Head)
	for i, s := range slots {
		if i == 0 {
			text := mark + string(first) + " " + string(second)
			s.text = text + strings.Repeat(" ", w[0]-1-len(text)-len(markEnd)) + markEnd
		}
		out = append(out, s.text...)
		for pad := w[i] - 1 - len(s.text); pad > 0; pad-- {
			out = append(out, ' ')
		}
		out = append(out, '\n')
	}
	// Nothing behind the sum in the marker can look like one: see sumAt.
	copy(out[sumAt(out):], checksum(out))
	return out
}

// sumAt is where the checksum stands in a header's first line: it is the last
// value, and spaces and the end of the comment follow.
func sumAt(head []byte) int {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.LastIndexByte(line, '}') - 1 - len(noSum)
}

// checksum is the beginning of a SHA-256, in hexadecimal.
func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// readMark reads the first line of a file. It reports false in sound when the
// part that changes is damaged; the identity still holds then.
func readMark(b []byte) (id identity, ext extent, sound bool, err error) {
	foreign := fault.New(fault.Conflict, "the file is not a transcript that bureau wrote")
	rest, ok := bytes.CutPrefix(b, []byte(mark))
	if !ok {
		return id, ext, false, foreign
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	if d.Decode(&id) != nil || id.Version < 1 || id.Room == "" {
		return id, ext, false, foreign
	}
	if id.Version > version {
		return id, ext, false, fault.New(fault.Unavailable, "the transcript was written by a newer bureau (format %d)", id.Version)
	}
	if id.Head < leastMark || id.Head > mostHead {
		return id, ext, false, foreign
	}
	return id, ext, d.Decode(&ext) == nil, nil
}

// sumsUp reports whether a whole header carries its own checksum.
func sumsUp(head []byte, ext extent) bool {
	at := sumAt(head)
	if at < 0 || len(ext.Sum) != len(noSum) {
		return false
	}
	b := bytes.Clone(head)
	copy(b[at:], noSum)
	return checksum(b) == ext.Sum
}
