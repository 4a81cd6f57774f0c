package claim

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// symbol is one character of a name: a code point, or a byte that is not
// UTF-8, which stands above them all.
type symbol = rune

const rawByte symbol = utf8.MaxRune + 1 // plus the byte

// symbols reads a name.
func symbols(name string) []symbol {
	out := make([]symbol, 0, len(name))
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 {
			r = rawByte + symbol(name[i])
		}
		out = append(out, r)
		i += size
	}
	return out
}

// spell is the reverse of symbols.
func spell(name []symbol) string {
	var b strings.Builder
	for _, s := range name {
		if s >= rawByte {
			b.WriteByte(byte(s - rawByte))
		} else {
			b.WriteRune(s)
		}
	}
	return b.String()
}

// span is a range of symbols, both ends included.
type span struct{ lo, hi symbol }

// class is a set of symbols: spans in order that do not touch.
type class []span

// anySymbol is what can stand in a name: everything but NUL, the slash and the
// halves of UTF-16 pairs.
var anySymbol = class{{1, '/' - 1}, {'/' + 1, 0xD7FF}, {0xE000, utf8.MaxRune}, {rawByte + 0x80, rawByte + 0xFF}}

// newClass makes the set of the spans' symbols that can stand in a name.
// Symbols that NFC replaces, which never occur, belong to it or not, whichever
// gives fewer spans: one set has one form.
func newClass(spans []span) class {
	return join(spans).not().not()
}

// join sorts and merges spans.
func join(spans []span) class {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	var out class
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.lo <= out[last].hi+1 {
			out[last].hi = max(out[last].hi, s.hi)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// not gives what is not in c, without ends that cannot occur.
func (c class) not() class {
	var out class
	add := func(lo, hi symbol) {
		for lo <= hi && replaced(lo) {
			lo++
		}
		for lo <= hi && replaced(hi) {
			hi--
		}
		if lo <= hi {
			out = append(out, span{lo, hi})
		}
	}
	for _, u := range anySymbol {
		lo := u.lo
		for _, s := range c {
			if s.hi < lo {
				continue
			}
			if s.lo > u.hi {
				break
			}
			add(lo, s.lo-1)
			lo = s.hi + 1
		}
		add(lo, u.hi)
	}
	return out
}

// replaced reports whether NFC replaces the symbol wherever it stands.
func replaced(s symbol) bool {
	return s >= 0x80 && s < rawByte && !norm.NFC.IsNormalString(string(s))
}

func (c class) has(s symbol) bool {
	i, _ := slices.BinarySearchFunc(c, s, func(x span, s symbol) int { return int(x.hi - s) })
	return i < len(c) && c[i].lo <= s
}

// within reports whether d has all of c.
func (c class) within(d class) bool {
	j := 0
	for _, s := range c {
		for j < len(d) && d[j].hi < s.lo {
			j++
		}
		if j == len(d) || s.lo < d[j].lo || s.hi > d[j].hi {
			return false
		}
	}
	return true
}

// common says what c and d share: the dot, and anything else.
func (c class) common(d class) (dot, other bool) {
	for i, j := 0, 0; i < len(c) && j < len(d) && !(dot && other); {
		lo, hi := max(c[i].lo, d[j].lo), min(c[i].hi, d[j].hi)
		if lo <= hi {
			dot = dot || lo <= '.' && '.' <= hi
			other = other || lo != '.' || hi != '.'
		}
		if c[i].hi < d[j].hi {
			i++
		} else {
			j++
		}
	}
	return dot, other
}

// members lists a small set.
func (c class) members(most int) ([]symbol, bool) {
	var out []symbol
	for _, s := range c {
		for x := s.lo; x <= s.hi; x++ {
			if len(out) == most {
				return nil, false
			}
			out = append(out, x)
		}
	}
	return out, true
}

// write prints the set as a class.
func (c class) write(b *strings.Builder) {
	b.WriteByte('[')
	if c.has(utf8.MaxRune) && (class{{rawByte + 0x80, rawByte + 0xFF}}).within(c) {
		b.WriteByte('!')
		c = c.not()
	}
	for _, s := range c {
		writeMember(b, s.lo)
		if s.hi > s.lo+1 {
			b.WriteByte('-')
		}
		if s.hi > s.lo {
			writeMember(b, s.hi)
		}
	}
	b.WriteByte(']')
}

func writeMember(b *strings.Builder, s symbol) {
	// A mark would be taken for a part of the character before it.
	if strings.ContainsRune(`\[]!^-`, s) || s >= 0x80 && s < rawByte && !norm.NFC.PropertiesString(string(s)).BoundaryBefore() {
		b.WriteByte('\\')
	}
	writeSymbol(b, s)
}

// writeSymbol prints a byte that is not UTF-8 as git does: a backslash and
// three octal digits.
func writeSymbol(b *strings.Builder, s symbol) {
	if s < rawByte {
		b.WriteRune(s)
		return
	}
	x := byte(s - rawByte)
	b.Write([]byte{'\\', '0' + x>>6, '0' + x>>3&7, '0' + x&7})
}
