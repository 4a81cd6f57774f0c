package claim

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/fault"
)

// glob is a pattern taken apart.
type glob struct {
	icase    bool
	segments []segment // none is the root; what is below always belongs to it
}

// segment is what stands between two slashes.
type segment struct {
	deep   bool // ** as a whole: any number of names
	tokens []token
}

type tokenKind uint8

const (
	tokenChar  tokenKind = iota // the character
	tokenClass                  // one of the class, never all and never one alone
	tokenAny                    // ?
	tokenStar                   // *
)

type token struct {
	kind  tokenKind
	char  symbol
	class class
}

// set gives the symbols that a token of one character stands for.
func (t token) set() class {
	switch t.kind {
	case tokenChar:
		return class{{t.char, t.char}}
	case tokenClass:
		return t.class
	}
	return anySymbol
}

func chars(name string) []token {
	var out []token
	for _, s := range symbols(name) {
		out = append(out, token{char: s})
	}
	return out
}

// literal gives the name of a segment without wildcards.
func (s segment) literal() (string, bool) {
	if s.deep || slices.ContainsFunc(s.tokens, func(t token) bool { return t.kind != tokenChar }) {
		return "", false
	}
	name := make([]symbol, len(s.tokens))
	for i, t := range s.tokens {
		name[i] = t.char
	}
	return spell(name), true
}

// anyName reports whether the segment is one name, whichever.
func (s segment) anyName() bool {
	return !s.deep && len(s.tokens) == 1 && s.tokens[0].kind == tokenStar
}

// parseGlob reads a pattern. The bounds are the caller's.
func parseGlob(text string) (*glob, error) {
	rest, folded := strings.CutPrefix(text, icase)
	if err := checkPath(rest, text); err != nil {
		return nil, err
	}
	g := &glob{}
	for raw := range strings.SplitSeq(norm.NFC.String(rest), "/") {
		if raw == "**" {
			g.segments = append(g.segments, segment{deep: true})
			continue
		}
		tokens, err := parseName(raw, text)
		if err != nil {
			return nil, err
		}
		seg := segment{tokens: tidyName(tokens)}
		switch name, ok := seg.literal(); {
		case ok && (name == "" || name == "."):
		case ok && name == "..":
			last := len(g.segments) - 1
			if last < 0 {
				return nil, leavesRoot(text)
			}
			if g.segments[last].deep {
				return nil, invalid(text, "has .. behind **, which names no certain folder").WithHint("write the pattern without ..")
			}
			g.segments = g.segments[:last]
		default:
			g.segments = append(g.segments, seg)
		}
	}
	g.tidy()
	if folded {
		g.fold()
	}
	return g, nil
}

// checkPath refuses what neither a pattern nor a path may be.
func checkPath(rest, text string) error {
	switch {
	case rest == "":
		return fault.New(fault.Invalid, "the path %q is empty", text).WithHint("name a file, a folder or a pattern; . is the whole project")
	case strings.IndexByte(rest, 0) >= 0:
		return invalid(text, "holds a NUL byte, which no file name does").WithHint("leave it out")
	case rest[0] == '/':
		return invalid(text, "is absolute").WithHint("write it relative to the project's root, without the leading slash")
	}
	return nil
}

// parseName reads one name of a pattern.
func parseName(raw, text string) ([]token, error) {
	var out []token
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '*':
			out = append(out, token{kind: tokenStar})
			i++
		case '?':
			out = append(out, token{kind: tokenAny})
			i++
		case '[':
			end := classEnd(raw[i:])
			if end < 0 {
				return nil, invalid(text, "has a class without its end").WithHint(`close it with ], or write \[ for a bracket in a name`)
			}
			t, err := parseClass(raw[i+1:i+end-1], text)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
			i += end
		case '{', '}':
			return nil, invalid(text, "has a brace, which is not part of one pattern").
				WithHint(`give the alternatives as patterns of their own, or write \%c for a brace in a name`, raw[i])
		default:
			s, size, err := member(raw[i:], text)
			if err != nil {
				return nil, err
			}
			out = append(out, token{char: s})
			i += size
		}
	}
	return out, nil
}

// classEnd gives the length of the class that s begins with, or -1.
func classEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := i; i < len(s) && s[i] != '/'; i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == ']' && i > first {
			return i + 1
		}
	}
	return -1
}

// parseClass reads what stands between the brackets.
func parseClass(in, text string) (token, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(in, "!"), "^")
	if len(in)-len(rest) > 1 {
		rest = in[1:] // [!^…]: the second one is a member
	}
	var spans []span
	for s := rest; s != ""; {
		if len(s) > 1 && s[0] == '[' && strings.IndexByte(":.=", s[1]) >= 0 {
			return token{}, invalid(text, "has a named class (%.12q), which is not known here", s).WithHint(`write the characters, as in [a-z]; \[ is a bracket`)
		}
		lo, size, err := member(s, text)
		if err != nil {
			return token{}, err
		}
		s = s[size:]
		hi := lo
		if len(s) > 1 && s[0] == '-' {
			if hi, size, err = member(s[1:], text); err != nil {
				return token{}, err
			}
			s = s[1+size:]
		}
		if hi < lo {
			return token{}, invalid(text, "has a range that runs backwards (%q)", spell([]symbol{lo, '-', hi})).WithHint(`turn it round, or write \- for a dash`)
		}
		spans = append(spans, span{lo, hi})
	}
	c := newClass(spans)
	if len(rest) < len(in) {
		c = c.not()
	}
	switch one, few := c.members(1); {
	case len(c) == 0:
		return token{}, invalid(text, "has a class that no character is in (%q)", "["+in+"]").WithHint("leave the class out or widen it")
	case few:
		return token{char: one[0]}, nil
	case len(c.not()) == 0:
		return token{kind: tokenAny}, nil
	}
	return token{kind: tokenClass, class: c}, nil
}

// member reads one character, escaped or not.
func member(s, text string) (symbol, int, error) {
	at := 0
	if s[0] == '\\' {
		if len(s) >= 4 && s[1] >= '0' && s[1] <= '3' && octal(s[2]) && octal(s[3]) {
			x := (s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0')
			switch {
			case x == 0 || x == '/':
				return 0, 0, invalid(text, "has %s, a byte that no file name holds", s[:4]).WithHint("leave it out")
			case x < utf8.RuneSelf:
				return symbol(x), 4, nil
			}
			return rawByte + symbol(x), 4, nil
		}
		if at = 1; len(s) == 1 {
			return 0, 0, invalid(text, "has a backslash at the end of a name").WithHint(`write folders with /, and \\ for a backslash in a name`)
		}
	}
	r, size := utf8.DecodeRuneInString(s[at:])
	if r == utf8.RuneError && size == 1 {
		r = rawByte + symbol(s[at])
	}
	return r, at + size, nil
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// tidyName brings a name's tokens into their one order: characters composed,
// in each run of wildcards ? before a single *.
func tidyName(tokens []token) []token {
	var out []token
	for i := 0; i < len(tokens); {
		j := i
		var run []symbol
		for ; j < len(tokens) && tokens[j].kind == tokenChar; j++ {
			run = append(run, tokens[j].char)
		}
		out = append(out, chars(norm.NFC.String(spell(run)))...)
		star := false
		for i = j; i < len(tokens) && tokens[i].kind >= tokenAny; i++ {
			if star = star || tokens[i].kind == tokenStar; tokens[i].kind == tokenAny {
				out = append(out, tokens[i])
			}
		}
		if star {
			out = append(out, token{kind: tokenStar})
		}
		if i < len(tokens) && tokens[i].kind == tokenClass {
			out = append(out, tokens[i])
			i++
		}
	}
	if len(out) == 2 && out[0].kind == tokenAny && out[1].kind == tokenStar {
		return out[1:] // no name is empty
	}
	return out
}

// tidy brings the segments into their one order: in each run of * and **, **
// last and once, and none at the end, where everything below belongs anyway.
func (g *glob) tidy() {
	var out []segment
	deep := false
	for _, s := range g.segments {
		if s.deep {
			deep = true
			continue
		}
		if deep && !s.anyName() {
			out = append(out, segment{deep: true})
			deep = false
		}
		out = append(out, s)
	}
	g.segments = out
}

// pattern prints the canonical form.
func (g *glob) pattern() Pattern {
	if len(g.segments) == 0 {
		return Root
	}
	var b strings.Builder
	for i, s := range g.segments {
		if i > 0 {
			b.WriteByte('/')
		}
		if s.deep {
			b.WriteString("**")
		}
		for _, t := range s.tokens {
			switch t.kind {
			case tokenStar:
				b.WriteByte('*')
			case tokenAny:
				b.WriteByte('?')
			case tokenClass:
				t.class.write(&b)
			default:
				if strings.ContainsRune(`*?[\{}`, t.char) {
					b.WriteByte('\\')
				}
				writeSymbol(&b, t.char)
			}
		}
	}
	switch text := b.String(); {
	case g.icase:
		return Pattern(icase + text)
	case strings.HasPrefix(text, icase):
		return Pattern(`\` + text) // a name that looks like the mark
	default:
		return Pattern(text)
	}
}

// bounded prints the canonical form of a user's text, if it is within bounds.
func (g *glob) bounded(text string) (Pattern, error) {
	p := g.pattern()
	if len(p) > MaxPattern {
		return "", tooLong(text)
	}
	if n := len(g.segments); n > MaxSegments {
		return "", invalid(text, "has %d names between slashes, more than %d", n, MaxSegments).WithHint("claim a folder higher up")
	}
	return p, nil
}

func tooLong(text string) error {
	return invalid(text, "is longer than %d bytes", MaxPattern).WithHint("claim a folder higher up")
}

func leavesRoot(text string) error {
	return invalid(text, "leaves the project by ..").WithHint("name something inside the project; paths are relative to its root")
}

// invalid makes the fault of a pattern; a long one is shown by its head.
func invalid(text, format string, args ...any) *fault.Error {
	shown := text
	if len(shown) > 80 {
		shown = strings.ToValidUTF8(shown[:77], "") + "…"
	}
	return fault.New(fault.Invalid, "the path %q "+format, append([]any{shown}, args...)...)
}
