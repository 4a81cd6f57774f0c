package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline reads one piece of running text from left to right, skips what hides
// mentions and looks at every @ that is left.
func (f *finder) inline(start, end int) {
	if !strings.ContainsAny(f.text[start:end], "@＠") {
		return
	}
	p := inline{finder: f, start: start, end: end}
	for i := start; i < end; {
		i = p.step(i)
	}
}

type inline struct {
	*finder
	start, end int
	// ticks holds the positions of the runs of backticks still ahead, by length.
	ticks    map[int][]int
	brackets int  // "[" not closed yet
	open     bool // a comment was found to have no end
}

// step deals with what is at i and gives the position behind it.
func (p *inline) step(i int) int {
	switch c := p.text[i]; c {
	case '\\':
		return p.escape(i)
	case '`':
		return p.code(i)
	case '<':
		return p.angle(i)
	case '[':
		p.brackets++
	case ']':
		if p.brackets > 0 {
			p.brackets--
			return p.link(i + 1)
		}
	case ':':
		if strings.HasPrefix(p.text[i:p.end], "://") && i > p.start && isASCIIWord(p.text[i-1]) {
			return p.url(i + len("://"))
		}
	case 'w', 'W':
		if i+4 <= p.end && strings.EqualFold(p.text[i:i+4], "www.") && (i == p.start || !isASCIIWord(p.text[i-1])) {
			return p.url(i + 4)
		}
	case '@':
		return p.at(i, 1)
	case "＠"[0]:
		if strings.HasPrefix(p.text[i:p.end], "＠") {
			return p.at(i, len("＠"))
		}
	}
	return i + 1
}

// escape skips a backslash and the punctuation that it takes the meaning from.
func (p *inline) escape(i int) int {
	if rest := p.text[i+1 : p.end]; strings.HasPrefix(rest, "＠") {
		return i + 1 + len("＠")
	} else if rest != "" && isASCIIPunct(rest[0]) {
		return i + 2
	}
	return i + 1
}

// code skips a code span: from a run of backticks to the next run of the same
// length. A run without a partner is text.
func (p *inline) code(i int) int {
	if p.ticks == nil {
		p.ticks = make(map[int][]int)
		for at := i; at < p.end; {
			n := run(p.text[at:p.end], '`')
			if n > 0 {
				p.ticks[n] = append(p.ticks[n], at)
				at += n
			}
			skip := strings.IndexByte(p.text[at:p.end], '`')
			if skip < 0 {
				break
			}
			at += skip
		}
	}
	length := run(p.text[i:p.end], '`')
	ahead := p.ticks[length]
	for len(ahead) > 0 && ahead[0] < i+length {
		ahead = ahead[1:]
	}
	p.ticks[length] = ahead
	if len(ahead) == 0 {
		return i + length
	}
	return ahead[0] + length
}

// angle skips a comment, an autolink or an HTML tag.
func (p *inline) angle(i int) int {
	rest := p.text[i:p.end]
	if strings.HasPrefix(rest, "<!--") {
		if !p.open {
			// From the second dash pair on: <!--> is a whole comment.
			if end := strings.Index(rest[2:], "-->"); end >= 0 {
				return i + 2 + end + len("-->")
			}
			p.open = true
		}
		return i + 1
	}
	if n := autolink(rest); n > 0 {
		return i + n
	}
	if n := tag(rest); n > 0 {
		return i + n
	}
	return i + 1
}

// link skips the destination and title behind the "]" of a link.
func (p *inline) link(i int) int {
	if rest := p.text[i:p.end]; strings.HasPrefix(rest, "(") {
		return i + destination(rest)
	}
	return i
}

// url skips the rest of a bare URL. It ends at white space, at a bracket or
// quote that it did not open, and at full-width punctuation.
func (p *inline) url(i int) int {
	depth := 0
	for i < p.end {
		r, size := utf8.DecodeRuneInString(p.text[i:p.end])
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		case '<', '>', '"', '`', '|', ']', '，', '。', '、', '；', '：', '！', '？', '）', '】', '」', '』', '》', '“', '”':
			return i
		}
		if unicode.IsSpace(r) {
			return i
		}
		i += size
	}
	return i
}

// autolink gives the length of <scheme:…> or <name@domain> at the start of s,
// or 0.
func autolink(s string) int {
	if len(s) < 2 || !isASCIIWord(s[1]) {
		return 0
	}
	address := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>':
			if address {
				return i + 1
			}
			return 0
		case c == '<', c <= ' ', c == 0x7F:
			return 0
		case c == ':', c == '@':
			address = true
		}
	}
	return 0
}

// tag gives the length of an HTML tag at the start of s, or 0. Attribute values
// with a "<" in them are not read as such, which keeps the look-ahead short.
func tag(s string) int {
	i := 1
	closing := strings.HasPrefix(s[i:], "/")
	if closing {
		i++
	}
	if i >= len(s) || !isASCIILetter(s[i]) {
		return 0
	}
	for i < len(s) && (isASCIIWord(s[i]) || s[i] == '-') {
		i++
	}
	for {
		space := spaces(s[i:])
		i += space
		if strings.HasPrefix(s[i:], ">") {
			return i + 1
		}
		if strings.HasPrefix(s[i:], "/>") && !closing {
			return i + 2
		}
		if space == 0 || closing || i >= len(s) {
			return 0
		}
		n := attribute(s[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
}

// attribute gives the length of name or name=value at the start of s, or 0.
func attribute(s string) int {
	i := 0
	for i < len(s) && (isASCIIWord(s[i]) || i > 0 && (s[i] == '.' || s[i] == '-') || s[i] == ':' || s[i] == '_') {
		i++
	}
	if i == 0 || '0' <= s[0] && s[0] <= '9' {
		return 0
	}
	equals := i + spaces(s[i:])
	if !strings.HasPrefix(s[equals:], "=") {
		return i
	}
	i = equals + 1
	i += spaces(s[i:])
	if i == len(s) {
		return 0
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		n := strings.IndexAny(s[i+1:], string(quote)+"<")
		if n < 0 || s[i+1+n] != quote {
			return 0
		}
		return i + n + 2
	}
	n := strings.IndexAny(s[i:], " \t\r\n\"'=<>`")
	if n <= 0 {
		return 0
	}
	return i + n
}

// destination gives the length of "(destination)" or "(destination "title")" of
// a link at the start of s, or 0.
func destination(s string) int {
	i := 1 + spaces(s[1:])
	if strings.HasPrefix(s[i:], "<") {
		for i++; ; i++ {
			if i >= len(s) || s[i] == '<' || s[i] == '\n' || s[i] == '\r' {
				return 0
			}
			if s[i] == '\\' && i+1 < len(s) && isASCIIPunct(s[i+1]) {
				i++
			} else if s[i] == '>' {
				break
			}
		}
		i++
	} else {
		const deepest = 32 // as in the reference implementation
		depth := 0
	bare:
		for i < len(s) {
			switch c := s[i]; {
			case c <= ' ' || c == 0x7F:
				break bare
			case c == '\\' && i+1 < len(s) && isASCIIPunct(s[i+1]):
				i++
			case c == '(':
				if depth++; depth > deepest {
					return 0
				}
			case c == ')':
				if depth == 0 {
					break bare
				}
				depth--
			}
			i++
		}
		if depth != 0 {
			return 0
		}
	}
	if space := spaces(s[i:]); space > 0 {
		i += space
		i += title(s[i:])
		i += spaces(s[i:])
	}
	if !strings.HasPrefix(s[i:], ")") {
		return 0
	}
	return i + 1
}

// title gives the length of a link's title at the start of s, or 0.
func title(s string) int {
	if s == "" {
		return 0
	}
	shut := s[0]
	switch shut {
	case '"', '\'':
	case '(':
		shut = ')'
	default:
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == shut:
			return i + 1
		case c == '(' && shut == ')':
			return 0
		}
	}
	return 0
}

func spaces(s string) int {
	return len(s) - len(strings.TrimLeft(s, " \t\r\n"))
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isASCIIWord(c byte) bool { return isASCIILetter(c) || '0' <= c && c <= '9' }

func isASCIIPunct(c byte) bool { return c > ' ' && c < 0x7F && !isASCIIWord(c) }
