package name

import "unicode"

// kind is what a character is in a name.
type kind uint8

const (
	kindOther  kind = iota // has no place in a name
	kindLetter             // a letter of any script
	kindDigit              // a decimal digit of any script
	kindMark               // a combining mark; stands after a letter
	kindJoint              // . _ - @, between letters and digits
)

func kindOf(r rune) kind {
	if r < 0x80 {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return kindLetter
		case '0' <= r && r <= '9':
			return kindDigit
		case r == '.', r == '_', r == '-', r == '@':
			return kindJoint
		}
		return kindOther
	}
	switch {
	case unicode.IsLetter(r), unicode.Is(unicode.Nl, r):
		// Letter numbers are written like letters: 〇 in 二〇二六.
		if !Invisible(r) {
			return kindLetter
		}
	case unicode.IsDigit(r):
		return kindDigit
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Mc, r):
		if !Invisible(r) {
			return kindMark
		}
	}
	return kindOther
}

// Starts reports whether a name may start with r: a letter or digit of any
// script.
func Starts(r rune) bool {
	k := kindOf(r)
	return k == kindLetter || k == kindDigit
}

// Continues reports whether r may stand inside a name, wherever that is: a
// letter, a digit, a combining mark, or one of . _ - @.
func Continues(r rune) bool { return kindOf(r) != kindOther }

// Joint reports whether r is one of . _ - @, which stand between letters and
// digits and never at the end.
func Joint(r rune) bool { return kindOf(r) == kindJoint }

// Invisible reports whether r shows nothing by itself (zero-width characters,
// bidirectional controls, fillers, variation selectors, tags). No name holds
// one, and [Fold] drops them.
func Invisible(r rune) bool {
	if r < 0xAD {
		return false
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r)
}
