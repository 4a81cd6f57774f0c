package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Terminal makes text of several lines safe to print: no escape sequence and no
// control character survives, newline and tab stay, CR LF is LF, a lone CR is
// shown.
func Terminal(s string) string { return show(s, style{lines: true}) }

// Line makes one safe line of any text, for listings that people or models
// read: white space (newlines too) collapses to single spaces, look-alikes of
// known tags are neutralised, and what is wider than columns is cut between
// characters as a reader sees them and ends in "…". An East Asian character and
// an emoji take two columns; the width of the result is [Width] and at most
// columns. Work and result are bounded by columns, however long s is.
func Line(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	line, whole := collapse(s, 64*columns+256)
	line = show(line, style{tame: true})
	if !whole {
		line += ellipsis
	}
	short := displaywidth.TruncateString(line, columns, ellipsis)
	if short == line {
		return line
	}
	return tameLast(short)
}

// tameLast does for the last angle bracket of a shown line what [show] does for
// all: behind it the cut may have laid bare a known tag, as in <channelling.
func tameLast(line string) string {
	at := strings.LastIndexAny(line, "<&＜﹤")
	if at < 0 {
		return line
	}
	_, size := utf8.DecodeRuneInString(line[at:])
	if line[at] == '&' {
		size = opener(line[at:])
	}
	if size == 0 || !lookAlike(line[at+size:], nil) {
		return line
	}
	return line[:at] + "‹" + line[at+size:]
}

const ellipsis = "…"

// Width is the number of terminal columns that a line without control
// characters takes.
func Width(s string) int { return displaywidth.String(s) }

// collapse joins the words of s by single spaces until most bytes are reached,
// and reports whether that was all of s.
func collapse(s string, most int) (string, bool) {
	var b strings.Builder
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return b.String(), true
		}
		if b.Len() >= most {
			return b.String(), false
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		if room := most - b.Len(); end > room {
			b.WriteString(wholeRunes(s, room))
			return b.String(), false
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
}

// UTF16Len is the length of s in UTF-16 code units, in which JavaScript clients
// count. A byte that is not UTF-8 counts as one.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n += units(r)
	}
	return n
}

// CutUTF16 gives the longest head of s of at most most UTF-16 code units, and
// whether anything was cut off. The cut falls between characters as a reader
// sees them, unless one of them alone is longer than most; it never splits a
// surrogate pair.
func CutUTF16(s string, most int) (head string, cut bool) {
	n := 0
	for i, r := range s {
		if n += units(r); n > most {
			return s[:wholeCharacters(s, i)], true
		}
	}
	return s, false
}

func units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// wholeCharacters moves the cut at s[at] back to the end of a grapheme cluster,
// if there is one in front of it.
func wholeCharacters(s string, at int) int {
	// Segmenting starts where a boundary is certain, between two ASCII
	// characters, or so far back that a wrong start has been made good.
	const far = 256
	from := at
	certain := func() bool {
		return from == 0 || s[from] < utf8.RuneSelf && s[from-1] < utf8.RuneSelf && s[from] != '\n'
	}
	for at-from < far && !certain() {
		from--
	}
	if from > 0 && certain() {
		return lastEnd(s, from, at, from)
	}
	return lastEnd(s, len(wholeRunes(s, from)), at, at)
}

// lastEnd gives the end of the last grapheme cluster between from and at, or none.
func lastEnd(s string, from, at, none int) int {
	end := none
	for g := graphemes.FromString(s[from:]); g.Next() && from+g.End() <= at; {
		end = from + g.End()
	}
	return end
}

// wholeRunes cuts s to at most most bytes without splitting a character.
func wholeRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for i := most; i >= 0 && i > most-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:most]
}
