package transcript

import "strings"

// inline escapes what is not allowed inside a line of running text: HTML, code
// spans that do not end in the same line (so that no line depends on another),
// pictures, links whose target is not plainly a web address or a file, and what
// opens a block in some renderers that only its like ends, however many messages
// further on: the %% of Obsidian's comments and the $$ of mathematics.
func inline(line string) string {
	if !strings.ContainsAny(line, "<`!]%$") {
		return line
	}
	var b strings.Builder
	b.Grow(len(line) + 16)
	var lastRun map[int]int // by length, where the last run of backticks starts
	for i := 0; i < len(line); {
		size := 1
		switch c := line[i]; c {
		case '\\':
			if i+1 < len(line) && punctuation(line[i+1]) {
				size = 2
			}
		case '`':
			if lastRun == nil {
				lastRun = backticks(line)
			}
			n := run(line[i:], '`')
			if lastRun[n] <= i {
				b.WriteString(strings.Repeat("\\`", n))
				i += n
				continue
			}
			size = span(line[i:], n)
		case '<':
			if size = address(line[i:]); size == 0 {
				b.WriteByte('\\')
				size = 1
			}
		case '!':
			if strings.HasPrefix(line[i+1:], "[") {
				b.WriteByte('\\')
			}
		case '%', '$':
			if n := run(line[i:], c); n > 1 {
				b.WriteString(strings.Repeat(`\`+string(c), n))
				i += n
				continue
			}
		case ']':
			if strings.HasPrefix(line[i+1:], "(") {
				if n := target(line[i+1:]); n > 0 {
					size = 1 + n
				} else {
					b.WriteByte('\\')
				}
			}
		}
		b.WriteString(line[i : i+size])
		i += size
	}
	return b.String()
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
