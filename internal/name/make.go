package name

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Numbered gives the i-th name for a taken n: reviewer-2, reviewer-3, … The
// base is shortened where the number would break the limit. For i below 2 it
// is n itself.
func Numbered(n Name, i int) Name {
	if i < 2 {
		return n
	}
	tail := "-" + strconv.Itoa(i)
	return Name(cut(string(n), MaxRunes-len(tail)) + tail)
}

// FromFolder makes the name of a session that was given none: user@folder.
// Both parts may be any strings; what a name cannot hold becomes "-". A folder
// without a usable name (the root folder, for one) is "root", a user without
// one is "someone". The result is always valid for [Parse].
func FromFolder(user, folderBase string) Name {
	const userMost = 24 // leaves a long folder name at least 39 characters
	u, f := part(user), part(folderBase)
	if u == "" {
		u = "someone"
	}
	if f == "" {
		f = "root"
	}
	if utf8.RuneCountInString(u)+1+utf8.RuneCountInString(f) > MaxRunes {
		u = cut(u, userMost)
	}
	if Fold(u) == TeamLead {
		// team-lead@x is the lead of team x, whatever the login name says.
		u = "user-" + u
	}
	f = cut(f, MaxRunes-1-utf8.RuneCountInString(u))
	return Name(u + "@" + f)
}

// part reduces s to what may stand on one side of an @ in a name; "" if
// nothing of it can.
func part(s string) string {
	var b strings.Builder
	prev, marks, dash := kindOther, 0, false
	for _, r := range norm.NFC.String(s) {
		k := kindOf(r)
		switch {
		case k == kindMark && (prev != kindLetter && prev != kindMark || marks == MaxMarks):
			continue
		case k == kindMark:
			marks++
		case k == kindOther && Invisible(r):
			continue
		case k == kindOther, r == '@':
			if !dash {
				b.WriteByte('-')
			}
			prev, marks, dash = kindJoint, 0, true
			continue
		default:
			marks = 0
		}
		b.WriteRune(r)
		prev, dash = k, r == '-'
		if b.Len() > 4*MaxRunes*(1+MaxMarks) {
			break
		}
	}
	// What was dropped may have kept a letter and its mark apart.
	return cut(norm.NFC.String(strings.Trim(b.String(), "._-")), MaxRunes)
}

// cut shortens a name to at most most characters: never between a letter and
// its marks, never leaving one of . _ - @ at the end.
func cut(s string, most int) string {
	ends := make([]int, 0, most+1) // byte offsets of the characters kept
	for i := range s {
		ends = append(ends, i)
		if len(ends) > most {
			break
		}
	}
	if len(ends) <= most {
		return s
	}
	at := most
	for at > 0 {
		if r, _ := utf8.DecodeRuneInString(s[ends[at]:]); kindOf(r) != kindMark {
			break
		}
		at--
	}
	return strings.TrimRight(s[:ends[at]], "._-@")
}
