package transcript

import (
	"strings"
	"time"

	"bureau/internal/quote"
)

// plain makes of any text one line without Markdown, at most columns wide: for
// names, topics and table cells. The arrow is ours in headings, so another one
// takes its place.
func plain(s string, columns int) string {
	s = quote.Line(s, columns)
	// What is not wide can still be long: marks upon marks.
	if most := 6 * columns; len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	var b strings.Builder
	bare := hasAddress(s) // see inline
	for i, r := range s {
		switch r {
		case '`', '*', '[', ']', '<', '>', '#', '!', '~', '&', '$', '%':
			if bare || r == '<' {
				b.WriteString(reference(byte(r)))
				continue
			}
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\\': // entities: tables and escapes disagree about \\|
			b.WriteString("&#92;")
		case '|':
			b.WriteString("&#124;")
		case '_':
			if i == 0 || i+1 == len(s) || !alphanumeric(s[i-1]) || !alphanumeric(s[i+1]) {
				b.WriteByte('\\')
			}
			b.WriteByte('_')
		case '➔':
			b.WriteRune('→')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// at is a handle as headings show it. Whatever the handle is, it starts with @,
// so that no name looks like one of our labels.
func at(handle string) string { return "@" + plain(strings.TrimPrefix(handle, "@"), 64) }

func ats(handles []string) string {
	shown := make([]string, 0, min(len(handles), mostNames+1))
	for _, h := range handles {
		if len(shown) == mostNames {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, at(h))
	}
	return strings.Join(shown, ", ")
}

// mostNames is how many names stand in one line.
const mostNames = 50

// path shows a file name as code where it can.
func path(s string) string {
	s = quote.Line(s, 400)
	if s == "" {
		return none
	}
	if strings.Contains(s, "`") {
		return plain(s, 400)
	}
	return "`" + s + "`"
}

const none = "—"

func stamp(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

func alphanumeric(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}
