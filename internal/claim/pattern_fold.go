package claim

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"bureau/internal/name"
	"golang.org/x/text/unicode/norm"
)

// foldText gives the key of a path on a file system that ignores case: full
// case folding of the decomposed form (canonical caseless matching, D145 of
// the Unicode Standard), composed again.
//
// x/text/cases does the same; its initialisation is too slow for a hook. The
// test compares the two.
func foldText(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var out []symbol
	for _, r := range symbols(norm.NFD.String(s)) {
		if many, ok := ligatures()[r]; ok {
			out = append(out, []symbol(many)...)
		} else {
			out = append(out, foldSymbol(r))
		}
	}
	return norm.NFC.String(spell(out))
}

// ligatures are the characters that fold to several and do not decompose.
// Source: status F of CaseFolding.txt in the Unicode Character Database.
var ligatures = sync.OnceValue(func() map[symbol]string {
	return map[symbol]string{
		'ß': "ss", 'ẞ': "ss", 'ŉ': "ʼn", 'ẚ': "aʾ", 'և': "եւ",
		'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
		'ﬓ': "մն", 'ﬔ': "մե", 'ﬕ': "մի", 'ﬖ': "վն", 'ﬗ': "մխ",
	}
})

// foldSymbol picks one of the characters that differ in case only: the
// lower-case one where there is one.
func foldSymbol(r symbol) symbol {
	if r >= rawByte {
		return r
	}
	return name.FoldRune(r)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// expansion is a character that folds to several, and those.
type expansion struct {
	from symbol
	to   []symbol
}

// expansions lists them all in order. Besides the ligatures they are the
// dotted capital I and the Greek letters with an iota below; the others that
// fold to several are composed again.
var expansions = sync.OnceValue(func() []expansion {
	var out []expansion
	try := func(r symbol) {
		if to := symbols(foldText(string(r))); len(to) > 1 && !replaced(r) {
			out = append(out, expansion{r, to})
		}
	}
	for r := range ligatures() {
		try(r)
	}
	try('İ')
	for r := symbol(0x1F80); r < 0x2000; r++ {
		try(r)
	}
	slices.SortFunc(out, func(a, b expansion) int { return int(a.from - b.from) })
	return out
})

// closed adds to a class every character that differs from a member in case
// only.
func closed(c class) class {
	spans := slices.Clone(c)
	for _, cr := range unicode.CaseRanges {
		lo, hi := symbol(cr.Lo), symbol(cr.Hi)
		for _, s := range c {
			for r := max(lo, s.lo); r <= min(hi, s.hi); r++ {
				if replaced(r) {
					continue
				}
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					spans = append(spans, span{other, other})
				}
			}
		}
	}
	for _, e := range expansions() {
		if c.has(e.from) {
			for _, same := range expansions() {
				if slices.Equal(same.to, e.to) {
					spans = append(spans, span{same.from, same.from})
				}
			}
		}
	}
	return newClass(spans)
}

// oneSpelling gives the folded text that all members of a closed class share.
func oneSpelling(c class) (string, bool) {
	few, ok := c.members(16)
	if !ok {
		return "", false
	}
	text := foldText(spell(few[:1]))
	return text, !slices.ContainsFunc(few, func(s symbol) bool { return foldText(spell([]symbol{s})) != text })
}

// maxExpanding is how many wildcards of a folded pattern may stand for a
// character that folds to several; each costs as much as some 20 characters.
const maxExpanding = 64

// fold makes the glob ignore case: it then compares folded text.
func (g *glob) fold() {
	if g.icase {
		return
	}
	g.icase = true
	n := 0
	for i := range g.segments {
		g.segments[i].tokens = foldName(g.segments[i].tokens)
		for j := range g.segments[i].tokens {
			if expanding(g.segments[i].tokens, j) {
				n++
			}
		}
	}
	if n > maxExpanding {
		for i, s := range g.segments {
			g.segments[i].tokens = widen(s.tokens)
		}
	}
	g.tidy()
}

// foldName folds the tokens of a name.
func foldName(tokens []token) []token {
	var run []symbol
	var out []token
	flush := func() {
		out = append(out, chars(foldText(spell(run)))...)
		run = nil
	}
	for _, t := range tokens {
		if t.kind == tokenChar {
			run = append(run, t.char)
			continue
		}
		if t.kind == tokenClass {
			c := closed(t.class)
			if text, ok := oneSpelling(c); ok {
				run = append(run, symbols(text)...)
				continue
			}
			if t = (token{kind: tokenClass, class: c}); len(c.not()) == 0 {
				t = token{kind: tokenAny}
			}
		}
		flush()
		out = append(out, t)
	}
	flush()
	return tidyName(out)
}

// expanding reports whether a token of a folded name stands for characters
// that fold to several. A ? beside a * need not: the * takes the rest.
func expanding(tokens []token, i int) bool {
	switch tokens[i].kind {
	case tokenClass:
		return slices.ContainsFunc(expansions(), func(e expansion) bool { return tokens[i].class.has(e.from) })
	case tokenAny:
		for i < len(tokens) && tokens[i].kind == tokenAny {
			i++
		}
		return i == len(tokens) || tokens[i].kind != tokenStar
	}
	return false
}

// widen replaces what expands by something that matches more and costs less.
func widen(tokens []token) []token {
	var out []token
	for i, t := range tokens {
		if expanding(tokens, i) {
			out = append(out, token{kind: tokenAny}, token{kind: tokenStar})
		} else {
			out = append(out, t)
		}
	}
	return tidyName(out)
}
