// Package name says what an agent may be called and when two names are the
// same.
//
// A [Name] is what people see: normalised (NFC), trimmed, with its capitals. A
// [Key] is what is compared: two names with one key are one name. Names that
// differ only in case, in width (full-width and half-width forms) or in
// characters nobody sees have the same key, so nobody can stand beside `alice`
// as `Alice` and take her mail. Letters of different scripts that merely look
// alike (Latin and Cyrillic a) are different names.
//
// The package is pure, and it is linked into a program that starts on every
// tool call: it does no work at package initialisation, and plain ASCII never
// touches the Unicode tables.
package name

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"bureau/internal/fault"

	"golang.org/x/text/unicode/norm"
)

// Name is a valid name in its normalised form. Only [Parse], [ParseAny],
// [Numbered] and [FromFolder] make one.
type Name string

// Key is the folded form of a name: what maps and tables are keyed by. It is
// stable under [Fold] and is not meant to be shown.
type Key string

// Limits of a name.
const (
	MaxRunes = 64 // characters of a name, counted as code points after NFC
	MaxMarks = 8  // combining marks on one letter; no script needs as many
)

// TeamLead is the name that every team has once: valid only as TeamLead@TEAM.
const TeamLead = "team-lead"

// Rule is the rule for names in one sentence, as hints show it.
const Rule = "a name is 1 to 64 letters and digits of any script, with . _ - @ between them"

// Key gives the form in which the name is compared.
func (n Name) Key() Key { return Fold(string(n)) }

// Reserved reports whether the key belongs to the office itself: all,
// everyone, system, bureau, user, *, and team-lead without its team.
func Reserved(k Key) bool {
	switch k {
	case "all", "everyone", "system", "bureau", "user", "*", TeamLead:
		return true
	}
	return false
}

// Parse makes a name that an agent may bear from what was typed: white space
// around it is dropped and the rest normalised to NFC. A [fault.Invalid] error
// quotes the value, says what is wrong with it and carries the rule as hint.
func Parse(s string) (Name, error) {
	n, err := ParseAny(s)
	if err != nil {
		return "", err
	}
	switch k := n.Key(); {
	case k == TeamLead:
		return "", fault.New(fault.Invalid, "the name %s belongs to every team", show(string(n))).
			WithHint("write it with its team: %s@TEAM", TeamLead)
	case Reserved(k):
		return "", fault.New(fault.Invalid, "the name %s is reserved", show(string(n))).
			WithHint("choose another name: all, everyone, system, bureau, user and * are the office's own")
	}
	return n, nil
}

// ParseAny is [Parse] that also accepts the reserved words. It is for
// addresses (mail to user) and for the office's own agents, never for what an
// agent calls itself.
func ParseAny(s string) (Name, error) {
	if !utf8.ValidString(s) {
		return "", refuse(s, "is not valid UTF-8")
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return "", fault.New(fault.Invalid, "the name is empty").WithHint("%s", Rule)
	}
	if s == "*" {
		return Name(s), nil
	}
	// Composition shrinks a character to a third at most, so what is longer
	// than this cannot fit; refusing early bounds the work on hostile input.
	if len(s) > MaxRunes*(1+MaxMarks)*utf8.UTFMax {
		return "", refuse(s, "is too long ("+strconv.Itoa(utf8.RuneCountInString(s))+" characters)")
	}
	composed := norm.NFC.String(s)
	if wrong := check(composed); wrong != "" {
		return "", refuse(s, wrong)
	}
	return Name(composed), nil
}

// check says what is wrong with a non-empty NFC string as a name, or "".
func check(s string) string {
	if n := utf8.RuneCountInString(s); n > MaxRunes {
		return "is too long (" + strconv.Itoa(n) + " characters)"
	}
	prev, marks := kindOther, 0
	for i, r := range s {
		kind := kindOf(r)
		switch {
		case i == 0 && r == '@':
			return "starts with @, which marks a mention and is not part of the name"
		case kind == kindOther:
			return "contains " + describe(r)
		case i == 0 && kind != kindLetter && kind != kindDigit:
			return "starts with " + describe(r)
		case kind == kindMark && prev != kindLetter && prev != kindMark:
			return "has the combining mark " + describe(r) + " without a letter before it"
		}
		if kind != kindMark {
			marks = 0
		} else if marks++; marks > MaxMarks {
			return "has more than " + strconv.Itoa(MaxMarks) + " combining marks on one letter"
		}
		prev = kind
	}
	if prev == kindJoint {
		r, _ := utf8.DecodeLastRuneInString(s)
		return "ends with " + describe(r)
	}
	return ""
}

func refuse(s, wrong string) error {
	return fault.New(fault.Invalid, "the name %s %s", show(s), wrong).WithHint("%s", Rule)
}

// show quotes a refused value for an error message: nothing that controls a
// terminal or hides stays raw, and a value of any length stays one short line.
func show(s string) string {
	const most = 48
	var b strings.Builder
	b.WriteByte('"')
	count := 0
	for i, r := range s {
		if count == most {
			return b.String() + `"…`
		}
		count++
		if Invisible(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		quoted := strconv.Quote(s[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	b.WriteByte('"')
	return b.String()
}

func describe(r rune) string {
	switch {
	case r == ' ':
		return "a space"
	case strconv.IsPrint(r) && !Invisible(r) && kindOf(r) != kindMark:
		return fmt.Sprintf("%q", r)
	}
	return fmt.Sprintf("U+%04X", r)
}
