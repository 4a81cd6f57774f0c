package quote

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bureau/internal/name"
)

// style says how a text is shown.
type style struct {
	lines bool     // newline and tab stay, CR LF becomes LF; else all are shown
	tame  bool     // look-alikes of known tags are neutralised
	tags  []string // tags that are known in this place only, as compact gives them
}

// show writes s with everything visible.
func show(s string, how style) string {
	from := plain(s, how)
	if from == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	b.WriteString(s[:from])
	joins := joiner{s: s}
	for i := from; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '\n' && how.lines, c == '\t' && how.lines:
				b.WriteByte(c)
			case c == '\r' && how.lines && i+1 < len(s) && s[i+1] == '\n':
				// The newline follows by itself.
			case c < ' ':
				b.WriteRune('␀' + rune(c))
			case c == 0x7F:
				b.WriteRune('␡')
			case how.tame && (c == '<' || c == '&'):
				if n := opener(s[i:]); n > 0 && lookAlike(s[i+n:], how.tags) {
					b.WriteRune('‹')
					i += n
					continue
				}
				b.WriteByte(c)
			default:
				b.WriteByte(c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r < 0xA0, r == '\u2028', r == '\u2029', r&0xFFFE == 0xFFFE, 0xFDD0 <= r && r <= 0xFDEF:
			writeEscape(&b, r)
		case r == '🏴':
			// Flags of regions are spelled with tag characters.
			size += regionFlag(s[i+size:])
			b.WriteString(s[i : i+size])
		case name.Invisible(r) && !joins.keeps(i, size, r):
			writeEscape(&b, r)
		case how.tame && (r == '＜' || r == '﹤') && lookAlike(s[i+size:], how.tags):
			b.WriteRune('‹')
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// plain gives the length of the head of s that shows as it is without a closer
// look.
func plain(s string, how style) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n', c == '\t':
			if !how.lines {
				return i
			}
		case c < ' ', c >= 0x7F:
			return i
		case c == '<', c == '&':
			if how.tame {
				return i
			}
		}
	}
	return len(s)
}

func writeEscape(b *strings.Builder, r rune) {
	if r > 0xFFFF {
		fmt.Fprintf(b, `\U%08x`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}
