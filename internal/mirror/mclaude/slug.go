package mclaude

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	shortestSlug = 3
	longestSlug  = 80
	readableSlug = 60 // the most that is taken from a text
)

// ValidSlug reports whether a string is a slug of mclaude's locks: 3 to 80
// lower-case ASCII letters, digits and hyphens, the first not a hyphen.
// (mclaude's own check lets a newline at the end through, this one does not.)
func ValidSlug(s string) bool {
	return len(s) >= shortestSlug && len(s) <= longestSlug && s[0] != '-' && slugChars(s)
}

func slugChars(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Slug makes a slug of any text: its ASCII letters, in lower case, and digits,
// with a hyphen for all between them, at most 60 of them and cut between words
// where that is possible. Other scripts are not transliterated. What is left
// with less than three characters gets a hash of the text. The same text, in
// whatever Unicode form, always gives the same slug.
func Slug(text string) string {
	text = norm.NFC.String(text)
	s := kebab(text, readableSlug)
	if len(s) >= shortestSlug {
		return s
	}
	if s == "" {
		s = "work"
	}
	return s + "-" + shortHash(text)
}

// Numbered gives the n-th form of a slug: itself for 1, then with "-2", "-3",
// … at its end, shortened where that is needed.
func Numbered(slug string, n int) string {
	if n < 2 {
		return slug
	}
	tail := "-" + strconv.Itoa(n)
	if most := longestSlug - len(tail); len(slug) > most {
		slug = strings.TrimRight(slug[:most], "-")
	}
	return slug + tail
}

// Identity makes an identity of mclaude's registry (2 to 32 lower-case ASCII
// letters, digits and hyphens, the first not a hyphen) of a name in any script.
func Identity(name string) string {
	name = norm.NFC.String(name)
	s := kebab(name, 32)
	if len(s) >= 2 {
		return s
	}
	if s == "" {
		s = "agent"
	}
	return s + "-" + shortHash(name)
}

// SessionID gives the session id under which a session writes its locks:
// identity, hyphen, and what is its own. Only with the identity in front do
// mclaude's commit guard and its hook see that a lock is one's own, if
// MCLAUDE_IDENTITY is set to the same identity.
func SessionID(identity, session string) string {
	tail := strings.Map(func(r rune) rune {
		if sessionChar(r) {
			return r
		}
		return -1
	}, session)
	if tail != session || len(tail) < shortestSession || len(tail) > 64 {
		tail = shortHash(session)
	}
	return identity + "-" + tail
}

const (
	shortestSession = 8
	longestSession  = 200
)

func sessionChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

func validSession(s string) bool {
	return len(s) >= shortestSession && len(s) <= longestSession &&
		strings.IndexFunc(s, func(r rune) bool { return !sessionChar(r) }) < 0
}

// kebab joins the runs of ASCII letters and digits of a text with hyphens and
// cuts the result, between words if the first one fits.
func kebab(text string, most int) string {
	var b strings.Builder
	gap, cut := false, false
	for _, r := range text {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		if b.Len() >= most {
			cut = true
			break
		}
		b.WriteByte(byte(r))
	}
	s := b.String()
	if cut && !strings.HasSuffix(s, "-") {
		if i := strings.LastIndexByte(s, '-'); i >= shortestSlug {
			s = s[:i]
		}
	}
	return strings.Trim(s[:min(len(s), most)], "-")
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
