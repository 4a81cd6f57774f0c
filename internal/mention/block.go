package mention

import (
	"sort"
	"strings"
)

// blocks walks the lines of the text as CommonMark groups them and hands every
// run of lines that forms one piece of running text to inline. Only what
// matters for hiding is told apart: fences, quotes, list items (their indent
// decides what is a fence), comments, and the ends of paragraphs (a code span
// does not reach beyond one).
func (f *finder) blocks() {
	b := blocks{finder: f, start: -1}
	for pos := 0; pos < len(f.text); {
		end, next := lineEnd(f.text, pos)
		b.line(pos, end)
		pos = next
	}
	b.flush()
}

type blocks struct {
	*finder
	// items holds, for each open list item, the column where its content starts.
	items []int
	// start and end are the paragraph so far; start is -1 outside one.
	start, end int
	fence      struct {
		char   byte // 0: none is open
		length int
		column int // content column of the item it stands in
	}
	comment bool // inside an HTML comment that started a line
	mixed   int  // no rule starts before this offset; see isRule
}

// flush ends the paragraph.
func (b *blocks) flush() {
	if b.start >= 0 {
		b.inline(b.start, b.end)
		b.start = -1
	}
}

// alone reads one line, or what is left of it, as a paragraph of its own.
func (b *blocks) alone(pos, end int) {
	b.flush()
	b.inline(pos, end)
}

// line takes the line text[pos:end].
func (b *blocks) line(pos, end int) {
	if b.comment {
		b.inComment(pos, end)
		return
	}
	pos, column := b.skipSpace(pos, end, 0)
	blank := pos == end
	if b.fence.char != 0 {
		if blank || column >= b.fence.column {
			if column-b.fence.column <= 3 && b.closesFence(pos, end) {
				b.fence.char = 0
			}
			return
		}
		b.fence.char = 0 // its list item is over, and with it the fence
	}
	if blank {
		b.flush()
		return
	}
	// Items that the line is not indented enough for are over, unless the line
	// merely continues their paragraph.
	depth := sort.Search(len(b.items), func(i int) bool { return b.items[i] > column })
	inside := depth == len(b.items)
	for first := true; ; first = false {
		base := 0
		if depth > 0 {
			base = b.items[depth-1]
		}
		indent := column - base
		if indent > 3 {
			if b.start >= 0 && first {
				b.end = end // an indented line cannot interrupt a paragraph
				return
			}
			b.items = b.items[:depth]
			b.alone(pos, end)
			return
		}
		continues := b.start >= 0 && first && inside
		if content, isItem := b.listItem(pos, end, column, continues); isItem {
			b.flush()
			b.items = b.items[:depth]
			pos, column = content.pos, content.column
			b.items = append(b.items, content.base)
			depth++
			if pos == end {
				return
			}
			continue
		}
		if b.leaf(pos, end, base, continues) {
			b.items = b.items[:min(depth, len(b.items))]
			return
		}
		if b.start < 0 {
			b.items = b.items[:depth]
			b.start = pos
		}
		b.end = end
		return
	}
}

// leaf deals with a line that is something else than running text, and reports
// whether it was. base is the content column it stands in; continues says that
// a paragraph goes on there.
func (b *blocks) leaf(pos, end, base int, continues bool) bool {
	line := b.text[pos:end]
	switch line[0] {
	case '>':
		b.flush()
		return true
	case '`', '~':
		length := run(line, line[0])
		if length < 3 || line[0] == '`' && strings.IndexByte(line[length:], '`') >= 0 {
			return false
		}
		b.flush()
		b.fence.char, b.fence.length, b.fence.column = line[0], length, base
		return true
	case '<':
		if !strings.HasPrefix(line, "<!--") {
			return false
		}
		b.flush()
		b.comment = true
		b.inComment(pos+len("<!"), end)
		return true
	case '#':
		if n := run(line, '#'); n <= 6 && (n == len(line) || isBlank(line[n])) {
			b.alone(pos, end)
			return true
		}
	case '|':
		b.alone(pos, end) // a row of a table
		return true
	case '-', '=', '*', '_':
		if b.isRule(pos, end, continues) {
			b.flush()
			return true
		}
	}
	return false
}

// inComment looks for the end of a comment; what follows on the line is text.
func (b *blocks) inComment(pos, end int) {
	if i := strings.Index(b.text[pos:end], "-->"); i >= 0 {
		b.comment = false
		b.start, b.end = pos+i+len("-->"), end
	}
}

func (b *blocks) closesFence(pos, end int) bool {
	line := b.text[pos:end]
	n := run(line, b.fence.char)
	return n >= b.fence.length && strings.Trim(line[n:], " \t") == ""
}

// content is where the content of a list item starts; base is the column that
// following lines must reach to belong to it.
type content struct{ pos, column, base int }

// listItem reads a list marker at pos. Within a paragraph, an empty item and a
// number other than 1 are running text.
func (b *blocks) listItem(pos, end, column int, continues bool) (content, bool) {
	line := b.text[pos:end]
	width := 0
	switch c := line[0]; {
	case c == '-' || c == '+' || c == '*':
		if c != '+' && b.isRule(pos, end, continues) {
			return content{}, false
		}
		width = 1
	case '0' <= c && c <= '9':
		digits := 1
		for digits < len(line) && digits < 10 && '0' <= line[digits] && line[digits] <= '9' {
			digits++
		}
		if digits > 9 || digits == len(line) || line[digits] != '.' && line[digits] != ')' || continues && line[:digits] != "1" {
			return content{}, false
		}
		width = digits + 1
	default:
		return content{}, false
	}
	if width == len(line) {
		return content{end, column + width, column + width + 1}, !continues
	}
	if !isBlank(line[width]) {
		return content{}, false
	}
	at, col := b.skipSpace(pos+width, end, column+width)
	if at == end {
		return content{end, col, column + width + 1}, !continues
	}
	if col-column-width > 4 {
		return content{at, col, column + width + 1}, true // indented code in the item
	}
	return content{at, col, col}, true
}

// skipSpace skips blanks from pos, counting columns with tab stops of four.
func (b *blocks) skipSpace(pos, end, column int) (int, int) {
	for ; pos < end; pos++ {
		switch b.text[pos] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return pos, column
		}
	}
	return pos, column
}

// isRule reports whether the line text[pos:end] is a thematic break or, below a
// paragraph, the underline of a heading.
func (b *blocks) isRule(pos, end int, below bool) bool {
	// A character that spoils a rule spoils it for every list marker before it
	// as well. Without that memory "- - - - x" would be read once for each.
	if pos < b.mixed {
		return false
	}
	c, count, gap := b.text[pos], 0, false
	for i := pos; i < end; i++ {
		switch {
		case isBlank(b.text[i]):
			gap = true
		case b.text[i] != c:
			b.mixed = i
			return false
		default:
			if gap {
				below = false
			}
			count++
		}
	}
	return count >= 3 && (c == '-' || c == '*' || c == '_') || below && (c == '-' || c == '=')
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// run is the length of the run of c at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// lineEnd gives the end of the line at pos and the start of the next. LF, CR LF
// and CR end a line.
func lineEnd(s string, pos int) (end, next int) {
	i := strings.IndexAny(s[pos:], "\r\n")
	if i < 0 {
		return len(s), len(s)
	}
	end = pos + i
	if s[end] == '\r' && end+1 < len(s) && s[end+1] == '\n' {
		return end, end + 2
	}
	return end, end + 1
}
