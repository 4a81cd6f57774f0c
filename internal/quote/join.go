package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/name"
)

// joiner decides which invisible characters of a text belong to its spelling.
// Text in Persian, Hindi or Khmer and emoji of several parts would break
// without theirs; anywhere else such a character only hides something.
type joiner struct {
	s        string
	asked    bool
	hasRight bool // s holds a letter of a script that runs from right to left
}

const (
	zeroWidthSpace     = '\u200b'
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	leftToRightMark    = '\u200e'
	rightToLeftMark    = '\u200f'
	arabicLetterMark   = '\u061c'
	graphemeJoiner     = '\u034f'
	emojiSelector      = '\ufe0f'
	textSelector       = '\ufe0e'
	keycap             = '\u20e3'
)

// keeps reports whether the invisible r at s[i:i+size] stays as it is. Two of
// them in a row are never spelling, except a selector before a joiner.
func (j *joiner) keeps(i, size int, r rune) bool {
	prev, before := utf8.DecodeLastRuneInString(j.s[:i])
	next, _ := utf8.DecodeRuneInString(j.s[i+size:])
	switch r {
	case zeroWidthJoiner:
		if prev == emojiSelector {
			prev, _ = utf8.DecodeLastRuneInString(j.s[:i-before])
			return emoji(prev) && emoji(next)
		}
		return emoji(prev) && emoji(next) || joins(prev) && !name.Invisible(next)
	case zeroWidthNonJoiner:
		return joins(prev) && !name.Invisible(next)
	case zeroWidthSpace:
		return unspaced(prev) && unspaced(next)
	case leftToRightMark, rightToLeftMark, arabicLetterMark:
		return !name.Invisible(prev) && !name.Invisible(next) && j.rightToLeft()
	case graphemeJoiner:
		return unicode.Is(unicode.Mn, prev) && unicode.Is(unicode.Mn, next) && !name.Invisible(prev) && !name.Invisible(next)
	case emojiSelector, textSelector:
		return emoji(prev) || prev == 'ℹ' || prev >= 0x80 && unicode.In(prev, unicode.P, unicode.S) ||
			next == keycap && (prev == '#' || prev == '*' || '0' <= prev && prev <= '9')
	}
	if unicode.Is(unicode.Variation_Selector, r) {
		return unicode.In(prev, unicode.Han, unicode.Mongolian, unicode.Myanmar, unicode.Phags_Pa, unicode.Sm) && !name.Invisible(prev)
	}
	return false
}

func (j *joiner) rightToLeft() bool {
	if !j.asked {
		j.asked = true
		j.hasRight = strings.ContainsFunc(j.s, runsLeft)
	}
	return j.hasRight
}

// runsLeft reports whether r is a letter of a script that runs from right to
// left. They stand in these blocks; Unicode keeps new ones there.
func runsLeft(r rune) bool {
	return r >= 0x590 && unicode.IsLetter(r) &&
		(r <= 0x8FF || 0xFB1D <= r && r <= 0xFDFF || 0xFE70 <= r && r <= 0xFEFC ||
			0x10800 <= r && r <= 0x10FFF || 0x1E800 <= r && r <= 0x1EFFF)
}

// emoji reports whether r can be a part of an emoji joined from several.
func emoji(r rune) bool {
	return 0x1F000 <= r && r <= 0x1FAFF || r == '↔' || r >= 0xA9 && r != utf8.RuneError && unicode.Is(unicode.So, r)
}

// joins reports whether r is a letter or mark of a script in which joiners
// choose between forms of letters.
func joins(r rune) bool {
	if r < 0x600 || name.Invisible(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return false
	}
	return unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
		unicode.Balinese, unicode.Javanese, unicode.Tibetan, unicode.Adlam, unicode.Hanifi_Rohingya) ||
		norm.NFC.PropertiesString(string(r)).CCC() == virama || unicode.Is(unicode.Mn, r) && arabicMark(r)
}

// virama is the combining class of the signs that silence a vowel.
const virama = 9

// arabicMark reports whether r is a vowel sign that Arabic shares with other
// scripts, which Unicode therefore counts to none.
func arabicMark(r rune) bool { return 0x64B <= r && r <= 0x655 || r == 0x670 }

// unspaced reports whether r belongs to a script that is written without
// spaces and marks the places to break a line with U+200B.
func unspaced(r rune) bool {
	return r >= 0xE00 && unicode.In(r, unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Tai_Tham, unicode.Tibetan, unicode.Javanese, unicode.Balinese) &&
		!name.Invisible(r)
}

// regionFlag gives the length of the tag characters that make a flag of the
// black flag before them: England, Scotland, Wales. Others would only be a
// place to hide text in.
func regionFlag(s string) int {
	for _, region := range [...]string{"gbeng", "gbsct", "gbwls"} {
		rest := s
		for _, c := range region {
			r, size := utf8.DecodeRuneInString(rest)
			if r != 0xE0000+c {
				size = 0
			}
			if size == 0 {
				rest = ""
				break
			}
			rest = rest[size:]
		}
		if r, size := utf8.DecodeRuneInString(rest); r == 0xE007F {
			return len(s) - len(rest) + size
		}
	}
	return 0
}
