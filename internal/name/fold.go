package name

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold gives the key of any string, valid name or not: what a lookup compares.
// Surrounding white space and invisible characters are dropped, case and
// compatibility forms (full width, ligatures, styled letters) are folded, and
// the typographic hyphens that word processors and models put for "-" become
// "-". Fold(string(Fold(s))) is Fold(s).
func Fold(s string) Key {
	if isASCII(s) {
		return Key(strings.ToLower(strings.TrimSpace(s)))
	}
	// A second round is for what the first one brings to light, such as white
	// space behind a dropped character; the fourth never changes anything.
	for range 4 {
		folded := strings.TrimSpace(fold(s))
		if folded == s {
			break
		}
		s = folded
	}
	return Key(s)
}

// fold is one round of Fold: NFKD, then case, then NFKC. Full case folding
// differs from folding character by character only where a character has no
// decomposition of its own, which is ß alone, so no table is needed
// (the test compares with x/text/cases, whose initialisation is too slow for
// a hook).
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r < 0x80:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case r == '‐': // U+2010; the non-breaking U+2011 decomposes to it
			b.WriteByte('-')
		case Invisible(r):
		default:
			b.WriteRune(FoldRune(r))
		}
	}
	return norm.NFKC.String(b.String())
}

// FoldRune picks one member of r's case orbit: the lower-case one where there
// is one.
func FoldRune(r rune) rune {
	lower := unicode.ToLower(unicode.ToUpper(r))
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if other == lower {
			return lower
		}
		least = min(least, other)
	}
	if lower == r {
		return r
	}
	return least
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
