package transcript

import (
	"strings"

	"bureau/internal/quote"
)

// coded is the text of a member in the form in which it stands in the file.
type coded struct {
	lines []string
	// fix holds, by line, the original of every line that decode cannot tell
	// from its coded form.
	fix map[int]string
	// added counts lines at the end that are not the member's.
	added int
}

// encode makes Markdown of a member's text that is only running text, lists and
// code, whatever it was. It need not know in which of them a line stands, as
// CommonMark would: it escapes whatever could start a block at the beginning of
// a line or behind list markers, and moves every fence to the first column,
// where it is one in any context.
//
// In a quote (a notice) there is no code.
func encode(body string, quoted bool) coded {
	text := strings.Split(quote.Terminal(body), "\n")
	e := encoder{quoted: quoted, blank: true, out: make([]string, 0, len(text)+1)}
	for _, line := range text {
		e.line(line)
	}
	c := coded{}
	if e.fence.char != 0 {
		e.out = append(e.out, e.fence.String())
		c.added = 1
	}
	c.lines = e.out
	for i, line := range decode(e.out[:len(text)]) {
		if line != text[i] {
			if c.fix == nil {
				c.fix = make(map[int]string)
			}
			c.fix[i] = text[i]
		}
	}
	return c
}

// original gives the text back.
func (c coded) original() string {
	lines := decode(c.lines[:max(0, len(c.lines)-c.added)])
	for i, line := range c.fix {
		if 0 <= i && i < len(lines) {
			lines[i] = line
		}
	}
	return strings.Join(lines, "\n")
}

type encoder struct {
	out    []string
	quoted bool
	fence  fence
	blank  bool // the last line was blank, or there was none
	code   bool // in code that is indented by four columns
	list   bool // there was a list: indented lines may belong to it
}

// fence is an open code fence.
type fence struct {
	char   byte // 0: none
	length int
}

func (f fence) String() string { return strings.Repeat(string(f.char), f.length) }

// closedBy reports whether a line closes the fence, however far it is indented.
func (f fence) closedBy(line string) bool {
	line = strings.Trim(line, " \t")
	return len(line) >= f.length && line[0] == f.char && run(line, f.char) == len(line)
}

// opens gives the fence that a line opens in its first column.
func opens(line string) (fence, bool) {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return fence{}, false
	}
	n := run(line, line[0])
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return fence{}, false
	}
	return fence{line[0], n}, true
}

func (e *encoder) line(line string) {
	columns, start := indent(line)
	isBlank := start == len(line)
	defer func() { e.blank = isBlank }()
	switch {
	case e.fence.char != 0:
		isBlank = false
		if !e.fence.closedBy(line) {
			e.out = append(e.out, line)
			return
		}
		if columns > 3 {
			line = e.fence.String()
		}
		e.out = append(e.out, line)
		e.fence = fence{}
	case isBlank:
		e.out = append(e.out, line)
	case columns > 3 && !e.list && !e.quoted && (e.code || e.blank):
		// Nothing but code: no list and no paragraph could go on here.
		e.code = true
		e.out = append(e.out, line)
	default:
		e.code = false
		e.prose(line, start)
	}
}

// prose writes a line that is no code.
func (e *encoder) prose(line string, start int) {
	// Behind the last character that cannot be in one stand the underline of a
	// heading, a rule or the second row of a table, if there is one.
	bar := 1 + strings.LastIndexFunc(line, func(r rune) bool { return !strings.ContainsRune("-=*_|: \t", r) })
	for i, depth := start, 0; i < len(line); depth++ {
		rest := line[i:]
		if f, ok := opens(rest); ok && !e.quoted {
			e.fence = f
			// Some renderers see the first row of a table before they see a fence.
			e.out = append(e.out, strings.ReplaceAll(rest, "|", "&#124;"))
			return
		}
		if i >= bar || starter(rest) {
			e.out = append(e.out, ended(line[:i]+`\`+rest[:1]+inline(rest[1:])))
			return
		}
		width := marker(rest)
		if width == 0 {
			break
		}
		if depth == mostNested {
			e.out = append(e.out, ended(line[:i]+rest[:width-1]+`\`+inline(rest[width-1:])))
			return
		}
		e.list = true
		i += width
		_, blanks := indent(line[i:])
		i += blanks
	}
	// List markers hold nothing that inline would touch.
	e.out = append(e.out, ended(inline(line)))
}

// ended writes the end of a line so that its last backslash cannot be taken for
// one that escapes what the next line begins with. goldmark (1.8.7) does so in
// front of two blanks, and behind other backslashes. What is shown stays: a
// backslash and the line's break.
func ended(line string) string {
	text := strings.TrimRight(line, " ")
	n := len(text) - len(strings.TrimRight(text, `\`))
	switch blanks := len(line) - len(text); {
	case n%2 == 1 && blanks == 2:
		return text + `\  `
	case n%2 == 1 && n > 1 && blanks == 0:
		return text[:len(text)-1] + "  "
	}
	return line
}

// mostNested is how many lists a line may open at once. Renderers are not made
// for thousands.
const mostNested = 8

// starter reports whether text at the beginning of a line starts something that
// a member may not start; fences, lists, bars and HTML aside.
func starter(rest string) bool {
	switch rest[0] {
	case '#', '>':
		return true
	case '~':
		return run(rest, '~') >= 3
	case '[': // the definition of a link or of a footnote, as it would be written
		rest = inline(rest)
		end := strings.IndexByte(rest, ']')
		return end < 0 || strings.HasPrefix(rest[end:], "]:") || strings.Contains(rest[:end], `\`)
	}
	return false
}

// marker gives the length of a list marker, or 0.
func marker(s string) int {
	n := 0
	if strings.IndexByte("-+*", s[0]) >= 0 {
		n = 1
	} else {
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 0 || n > 9 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// decode undoes what encode does to most lines. It is exact for none of them by
// itself: encode compares, and stores the lines that come out differently.
func decode(lines []string) []string {
	out := make([]string, len(lines))
	var open fence
	for i, line := range lines {
		if open.char != 0 {
			out[i] = line
			if columns, _ := indent(line); columns <= 3 && open.closedBy(line) {
				open = fence{}
			}
			continue
		}
		if f, ok := opens(line); ok {
			open = f
			out[i] = line
			continue
		}
		out[i] = unescape(line)
	}
	return out
}

func unescape(line string) string {
	if !strings.Contains(line, `\`) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && strings.IndexByte(escapable, line[i+1]) >= 0 {
			i++
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// escapable is what encode puts a backslash in front of.
const escapable = "#>~[-=*_|:<`!]%"

// indent gives the width of the blanks at the start of a line, with tab stops
// of four columns, and their number.
func indent(line string) (columns, n int) {
	for ; n < len(line); n++ {
		switch line[n] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns, n
		}
	}
	return columns, n
}

// run is the length of the run of c at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}
