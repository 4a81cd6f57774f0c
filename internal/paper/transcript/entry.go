package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// meta is the comment in front of an entry: what its lines are, for programs.
type meta struct {
	Seq       int64          `json:"seq"`
	Len       int64          `json:"len"` // bytes from the next line to the next entry
	Sum       string         `json:"sum"` // their checksum
	Kind      Kind           `json:"kind"`
	From      string         `json:"from,omitempty"`
	To        []string       `json:"to,omitempty"`
	Time      time.Time      `json:"time,omitzero"`
	RelayedBy string         `json:"relayed_by,omitempty"`
	Mark      string         `json:"mark,omitempty"`  // see Entry; files of before have none
	Fix       map[int]string `json:"fix,omitempty"`   // see coded
	Added     int            `json:"added,omitempty"` // see coded
}

const (
	entryMark = "<!-- bureau:entry "
	rule      = "\n\n---\n\n"
)

// entry writes one entry as it stands in the file. JSON writes < and > as
// escapes, so nothing in the comment can end it.
func (l *labels) entry(e Entry) []byte {
	body := encode(e.Body, e.Kind == Notice)
	var text bytes.Buffer
	if e.Kind == Notice {
		for i, line := range body.lines {
			if i > 0 {
				text.WriteByte('\n')
			}
			text.WriteString("> ")
			if i == 0 {
				text.WriteString(l.noticeStart())
			}
			text.WriteString(line)
		}
	} else {
		text.WriteString("### " + l.heading(e) + "\n\n")
		text.WriteString(strings.Join(body.lines, "\n"))
	}
	text.WriteString(rule)
	m := meta{
		Seq: e.Seq, Len: int64(text.Len()), Sum: checksum(text.Bytes()),
		Kind: e.Kind, From: e.From, To: e.To, Time: e.Time.UTC(), RelayedBy: e.RelayedBy, Mark: e.Mark,
		Fix: body.fix, Added: body.added,
	}
	comment, _ := json.Marshal(m) // plain values: it cannot fail
	out := make([]byte, 0, len(entryMark)+len(comment)+len(markEnd)+1+text.Len())
	out = append(out, entryMark...)
	out = append(out, comment...)
	out = append(out, markEnd...)
	out = append(out, '\n')
	return append(out, text.Bytes()...)
}

// heading gives the words of an entry's heading: from whom to whom and when.
func (l *labels) heading(e Entry) string {
	var b strings.Builder
	b.WriteString(map[Kind]string{
		Whisper:  "🔒 [" + l.whisper + "] ",
		Proposal: "📋 [" + l.proposal + "] ",
		Vote:     "🗳️ [" + l.vote + "] ",
		Result:   "📊 [" + l.result + "] ",
		Close:    "🏁 [" + l.closing + "] ",
	}[e.Kind])
	if e.From != "" {
		b.WriteString(at(e.From) + " ")
	}
	if e.RelayedBy != "" {
		b.WriteString("(" + fmt.Sprintf(l.relayed, plain(e.RelayedBy, 64)) + ") ")
	}
	if len(e.To) > 0 {
		b.WriteString("➔ " + ats(e.To) + " ")
	}
	b.WriteString("(" + stamp(e.Time) + ")")
	return b.String()
}

// found is an entry in a file.
type found struct {
	meta
	start, next int64 // offsets of the comment and behind the rule
	text        []byte
}

// trouble is why there is no entry where one should be.
type trouble int

const (
	fine    trouble = iota
	torn            // the file ends before the entry does
	damaged         // something else stands there
)

// findEntry reads the entry at the start of b, which reaches to the end of the
// file; offset is where b starts in it.
func findEntry(b []byte, offset int64) (found, trouble) {
	e, why := tryEntry(b, offset)
	if why == damaged {
		// After a power failure some systems leave zeros in the place of what
		// was written last. Nobody writes them here.
		if left := bytes.TrimRight(b, "\x00"); len(left) < len(b) {
			if len(left) == 0 {
				return found{}, torn
			}
			if _, why := tryEntry(left, offset); why == torn {
				return found{}, torn
			}
		}
	}
	return e, why
}

func tryEntry(b []byte, offset int64) (found, trouble) {
	line, rest, whole := bytes.Cut(b, []byte{'\n'})
	if !whole {
		if n := min(len(line), len(entryMark)); string(line[:n]) != entryMark[:n] {
			return found{}, damaged
		}
		return found{}, torn
	}
	m, ok := readMeta(line)
	if !ok {
		return found{}, damaged
	}
	if m.Len > int64(len(rest)) {
		return found{}, torn
	}
	text := rest[:m.Len]
	if checksum(text) != m.Sum {
		return found{}, damaged
	}
	return found{m, offset, offset + int64(len(line)) + 1 + m.Len, text}, fine
}

func readMeta(line []byte) (meta, bool) {
	var m meta
	line, ok := bytes.CutPrefix(line, []byte(entryMark))
	line, ok2 := bytes.CutSuffix(line, []byte(markEnd))
	if !ok || !ok2 || json.Unmarshal(line, &m) != nil || m.Seq <= 0 || m.Len < 0 {
		return meta{}, false
	}
	return m, true
}

// lastAt reads what the last entry says of itself, and reports whether it stands
// at offset at and ends exactly at end. It reads little: not the text.
func lastAt(f io.ReaderAt, at, end, seq int64) (meta, bool) {
	line := make([]byte, 0, 512)
	for at+int64(len(line)) < end {
		n := min(int64(max(512, len(line))), end-at-int64(len(line)))
		chunk := make([]byte, n)
		if _, err := f.ReadAt(chunk, at+int64(len(line))); err != nil {
			return meta{}, false
		}
		line = append(line, chunk...)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			m, ok := readMeta(line[:i])
			if !ok || m.Seq != seq || at+int64(i)+1+m.Len != end {
				return meta{}, false
			}
			tail := make([]byte, len(rule))
			_, err := f.ReadAt(tail, end-int64(len(rule)))
			return m, err == nil && string(tail) == rule
		}
	}
	return meta{}, false
}

// point is what a file's last entry says of itself.
func (m meta) point() Entry {
	return Entry{Seq: m.Seq, Kind: m.Kind, From: m.From, To: m.To, Time: m.Time, RelayedBy: m.RelayedBy, Mark: m.Mark}
}

// entry gives back what was written.
func (f found) entry(l *labels) Entry {
	e := f.point()
	text := strings.TrimSuffix(string(f.text), rule)
	if f.Kind == Notice {
		text = strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n> ", "\n"), "\n")
		text = strings.TrimPrefix(text, l.noticeStart())
	} else if _, body, ok := strings.Cut(text, "\n\n"); ok {
		text = body
	}
	e.Body = coded{strings.Split(text, "\n"), f.Fix, f.Added}.original()
	return e
}
