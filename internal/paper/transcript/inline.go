package transcript

import (
	"strconv"
	"strings"
)

// inline escapes what is not allowed inside a line of running text: HTML, code
// spans that do not end in the same line (so that no line depends on another),
// pictures, links whose target is not plainly a web address or a file, and what
// opens a block in some renderers that only its like ends, however many messages
// further on: the %% of Obsidian's comments and the $$ of mathematics.
//
// Renderers that make links of bare addresses take a backslash for a part of
// the address, and what stands behind it counts again; so do the backticks of a
// span that begins in one. Behind the start of an address everything is
// therefore written as a character reference, up to the next blank, where every
// renderer ends it. A < is one everywhere: no renderer takes it for a tag.
func inline(line string) string {
	if !strings.ContainsAny(line, "<`!]%$") {
		return line
	}
	var b strings.Builder
	b.Grow(len(line) + 16)
	var lastRun map[int]int // by length, where the last run of backticks starts
	bare := false           // in what a renderer may take for an address
	escape := func(c byte, n int) {
		if bare || c == '<' {
			b.WriteString(strings.Repeat(reference(c), n))
		} else {
			b.WriteString(strings.Repeat(`\`+string(c), n))
		}
	}
	for i := 0; i < len(line); {
		size := 1
		switch c := line[i]; c {
		case ' ', '\t':
			bare = false
		case ':', '.':
			bare = bare || startsAddress(line, i)
		case '\\':
			switch {
			case bare || i+1 == len(line):
			case line[i+1] == '<': // the backslash would make text of what stands for it
				i++
				continue
			case punctuation(line[i+1]):
				size = 2
			}
		case '`':
			if lastRun == nil {
				lastRun = backticks(line)
			}
			n := run(line[i:], '`')
			if bare || lastRun[n] <= i {
				escape(c, n)
				i += n
				continue
			}
			size = span(line[i:], n)
		case '<':
			if !bare {
				size = address(line[i:])
			}
			if bare || size == 0 {
				escape(c, 1)
				i++
				continue
			}
		case '!':
			if strings.HasPrefix(line[i+1:], "[") {
				escape(c, 1)
				i++
				continue
			}
		case '%', '$':
			if n := run(line[i:], c); n > 1 {
				escape(c, n)
				i += n
				continue
			}
		case ']':
			if strings.HasPrefix(line[i+1:], "(") {
				n := target(line[i+1:])
				if n == 0 {
					escape(c, 1)
					i++
					continue
				}
				size = 1 + n
				// Where no bracket opens the link, its address is a bare one.
				last := line[i : i+size]
				if blank := strings.LastIndexByte(last, ' '); blank >= 0 {
					bare, last = false, last[blank:]
				}
				bare = bare || hasAddress(last)
			}
		}
		b.WriteString(line[i : i+size])
		i += size
	}
	return b.String()
}

// reference is a character in a form that is nothing but that character,
// wherever it stands.
func reference(c byte) string {
	if c == '<' {
		return "&lt;"
	}
	return "&#" + strconv.Itoa(int(c)) + ";"
}

// startsAddress reports whether the colon or full stop at i belongs to the
// beginning of what some renderer links without being asked: a scheme with two
// slashes (some take every scheme, some only those of the web), a scheme of
// mail or chat, or www.
func startsAddress(s string, i int) bool {
	if s[i] == ':' && i > 0 && alphanumeric(s[i-1]) {
		before := strings.ToLower(s[max(0, i-6):i])
		return strings.HasPrefix(s[i:], "://") || strings.HasSuffix(before, "mailto") || strings.HasSuffix(before, "xmpp")
	}
	return s[i] == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www")
}

func hasAddress(s string) bool {
	for i := range len(s) {
		if (s[i] == ':' || s[i] == '.') && startsAddress(s, i) {
			return true
		}
	}
	return false
}

func backticks(line string) map[int]int {
	runs := make(map[int]int)
	for i := 0; i < len(line); {
		n := run(line[i:], '`')
		if n > 0 {
			runs[n] = i
		}
		i += max(n, 1)
	}
	return runs
}

// span gives the length of the code span at the start of s, which opens with n
// backticks and is known to be closed.
func span(s string, n int) int {
	for i := n; i < len(s); {
		length := run(s[i:], '`')
		i += max(length, 1)
		if length == n {
			return i
		}
	}
	return len(s)
}

// address gives the length of <https://…> at the start of s, or 0.
func address(s string) int {
	end := strings.IndexAny(s[1:], "> \t<`\"'\\")
	if end < 0 || s[1+end] != '>' || !web(s[1:1+end]) {
		return 0
	}
	return end + 2
}

// target gives the length of (address) or (address "title") at the start of s,
// or 0 if it is anything else or an address that a click should not follow.
func target(s string) int {
	i := 1
	for i < len(s) && (s[i] >= 0x80 || alphanumeric(s[i]) || strings.IndexByte("-._~:/?#@$&+,;=%*!'", s[i]) >= 0) {
		i++
	}
	dest := s[1:i]
	if dest == "" || !web(dest) && strings.ContainsAny(dest, ":&") {
		return 0
	}
	if strings.HasPrefix(s[i:], ` "`) {
		start := i + 2
		end := strings.IndexAny(s[start:], "\"\\`<>&")
		if end < 0 || s[start+end] != '"' {
			return 0
		}
		i = start + end + 1
	}
	if i == len(s) || s[i] != ')' {
		return 0
	}
	return i + 1
}

// web reports whether an address has one of the schemes that only show a page
// or write a letter.
func web(s string) bool {
	for _, scheme := range [...]string{"https://", "http://", "mailto:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

func punctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
