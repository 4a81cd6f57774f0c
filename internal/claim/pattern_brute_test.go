package claim

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// The reference: patterns as trees, matched by trying everything.

type refToken struct {
	star bool
	set  string // the members; empty is any
	not  bool
}

type refName []refToken

func (n refName) text() string {
	var b strings.Builder
	for _, t := range n {
		switch {
		case t.star:
			b.WriteByte('*')
		case t.set == "":
			b.WriteByte('?')
		case t.not:
			b.WriteString("[!" + t.set + "]")
		case utf8.RuneCountInString(t.set) == 1:
			b.WriteString(t.set)
		default:
			b.WriteString("[" + t.set + "]")
		}
	}
	return b.String()
}

func (n refName) match(s []rune) bool {
	if len(n) == 0 {
		return len(s) == 0
	}
	t := n[0]
	if t.star {
		return n[1:].match(s) || len(s) > 0 && n.match(s[1:])
	}
	return len(s) > 0 && (t.set == "" || strings.ContainsRune(t.set, s[0]) != t.not) && n[1:].match(s[1:])
}

type refPath []refName // nil is **

func (p refPath) text() string {
	var out []string
	for _, n := range p {
		if n == nil {
			out = append(out, "**")
		} else {
			out = append(out, n.text())
		}
	}
	return strings.Join(out, "/")
}

func (p refPath) match(names []string) bool {
	switch {
	case len(p) == 0:
		return true // what is below
	case p[0] == nil:
		return p[1:].match(names) || len(names) > 0 && p.match(names[1:])
	}
	return len(names) > 0 && p[0].match([]rune(names[0])) && p[1:].match(names[1:])
}

// tokensOf draws names of a pattern with up to most tokens that are not *.
func tokensOf(alphabet []rune, most int) *rapid.Generator[refName] {
	one := rapid.Custom(func(t *rapid.T) refToken {
		set := string(rapid.SliceOfNDistinct(rapid.SampledFrom(alphabet), 0, 2, rapid.ID[rune]).Draw(t, "set"))
		return refToken{set: set, not: set != "" && rapid.IntRange(0, 3).Draw(t, "not") == 0}
	})
	return rapid.Custom(func(t *rapid.T) refName {
		n := refName{}
		for _, x := range rapid.SliceOfN(one, 0, most).Draw(t, "tokens") {
			if rapid.IntRange(0, 2).Draw(t, "star") == 0 {
				n = append(n, refToken{star: true})
			}
			n = append(n, x)
		}
		if len(n) == 0 || rapid.IntRange(0, 2).Draw(t, "star") == 0 {
			n = append(n, refToken{star: true})
		}
		return n
	}).Filter(func(n refName) bool {
		// Names that are only dots mean folders.
		return strings.Trim(n.text(), ".") != ""
	})
}

// words lists every name over the alphabet up to a length.
func words(alphabet []rune, most int) []string {
	var out []string
	last := []string{""}
	for range most {
		var next []string
		for _, head := range last {
			for _, c := range alphabet {
				next = append(next, head+string(c))
			}
		}
		out = append(out, next...)
		last = next
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "." || s == ".." })
}

func parsedOr(t *rapid.T, text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		t.Fatalf("ParsePattern(%q): %v", text, err)
	}
	return p
}

// compare checks two patterns against every path in a list.
func compare(t *rapid.T, a, b refPath, paths []string) {
	p, q := parsedOr(t, a.text()), parsedOr(t, b.text())
	both, inside := false, true
	for _, path := range paths {
		var names []string
		if path != "." {
			names = strings.Split(path, "/")
		}
		x, y := a.match(names), b.match(names)
		if p.Match(path) != x || q.Match(path) != y {
			t.Fatalf("%q matches %q: %v; %q: %v", p, path, p.Match(path), q, q.Match(path))
		}
		both = both || x && y
		inside = inside && (x || !y)
	}
	if got := Overlap(p, q); got != both || Overlap(q, p) != got {
		t.Fatalf("Overlap(%q, %q) = %v, the other way %v; by trying %v", p, q, got, Overlap(q, p), both)
	}
	if Covers(p, q) && !inside {
		t.Fatalf("%q does not cover %q", p, q)
	}
	if !Covers(p, p) || !Overlap(p, p) {
		t.Fatalf("%q does not cover itself", p)
	}
	if both {
		x, y := p.Prefix(), q.Prefix()
		if x != "" && y != "" && !below(x, y) && !below(y, x) {
			t.Fatalf("%q and %q overlap with prefixes %q and %q", p, q, x, y)
		}
	}
}

// Names: every witness of an overlap of two patterns with up to three
// characters each is at most six long. The c stands for what no set names, and
// only sets with a ! match it.
func TestNamesAgainstBruteForce(t *testing.T) {
	names := words([]rune("abc."), 6)
	gen := tokensOf([]rune("ab."), 3)
	rapid.Check(t, func(t *rapid.T) {
		compare(t, refPath{gen.Draw(t, "a")}, refPath{gen.Draw(t, "b")}, names)
	})
}

func TestPathsAgainstBruteForce(t *testing.T) {
	paths := []string{"."}
	last := []string{""}
	for range 5 {
		var next []string
		for _, head := range last {
			for _, n := range []string{"a", "b", "ab"} {
				next = append(next, head+n+"/")
			}
		}
		for _, n := range next {
			paths = append(paths, strings.TrimSuffix(n, "/"))
		}
		last = next
	}
	lit := func(s string) (n refName) {
		for _, c := range s {
			n = append(n, refToken{set: string(c)})
		}
		return n
	}
	star := refName{{star: true}}
	name := rapid.SampledFrom([]refName{lit("a"), lit("b"), lit("ab"), star, append(lit("a"), star[0]), append(refName{star[0]}, lit("b")...), {{set: "ab"}}})
	gen := rapid.Custom(func(t *rapid.T) refPath {
		var p refPath
		for _, n := range rapid.SliceOfN(name, 0, 2).Draw(t, "names") {
			if rapid.Bool().Draw(t, "deep") {
				p = append(p, nil)
			}
			p = append(p, n)
		}
		if len(p) == 0 || rapid.IntRange(0, 3).Draw(t, "deep") == 0 {
			p = append(p, nil)
		}
		return p
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		compare(t, a, b, paths)

		// A path is claimed where it matches or something below it does.
		path := rapid.SampledFrom(paths).Draw(t, "path")
		p := parsedOr(t, a.text())
		x, err := Literal(path)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.ContainsFunc(paths, func(y string) bool { return (path == "." || below(y, path)) && p.Match(y) })
		if got := Overlap(x, p); got != want && strings.Count(path, "/") < 2 || p.Match(path) && !got || Covers(p, x) != p.Match(path) {
			t.Fatalf("%q and %q: overlap %v, match %v, cover %v", x, p, got, p.Match(path), Covers(p, x))
		}
	})
}

// checkPattern is what holds for any text.
func checkPattern(t interface{ Fatalf(string, ...any) }, text, path string) {
	if all, err := Expand(text); err == nil {
		for _, x := range all {
			if _, err := ParsePattern(x); err != nil && strings.Contains(err.Error(), "has a brace") {
				t.Fatalf("Expand(%q) gives %q: %v", text, x, err)
			}
		}
	}
	if lit, err := Literal(path); err == nil {
		if again, err := ParsePattern(string(lit)); again != lit || !lit.Match(path) || !lit.Fold().Match(path) || !Covers(lit, lit) {
			t.Fatalf("Literal(%q) = %q reads as %q, %v", path, lit, again, err)
		}
		if lit != Root && lit.Prefix() != Normal(path) {
			t.Fatalf("Literal(%q) = %q has the prefix %q", path, lit, lit.Prefix())
		}
	}
	p, err := ParsePattern(text)
	if err != nil {
		return
	}
	if again, err := ParsePattern(string(p)); again != p || !utf8.ValidString(string(p)) || len(p) > MaxPattern {
		t.Fatalf("ParsePattern(%q) = %q, which reads as %q, %v", text, p, again, err)
	}
	f := p.Fold()
	if g, err := parseGlob(string(f)); err != nil || g.pattern() != f || f.Fold() != f || !utf8.ValidString(string(f)) {
		t.Fatalf("%q folds to %q, which reads as %q, %v", p, f, f.Fold(), err)
	}
	if !Overlap(p, p) || !Overlap(f, f) || !Overlap(p, f) || !Covers(p, p) || !Covers(f, p) || !Covers(Root, p) {
		t.Fatalf("%q does not meet itself or its fold %q", p, f)
	}
	if q, err := ParsePattern(path); err == nil && (Overlap(p, q) != Overlap(q, p) || Overlap(p, q) && !Overlap(f, q.Fold()) || Covers(p, q) && !Overlap(p, q)) {
		t.Fatalf("%q and %q: %v, %v", p, q, Overlap(p, q), Overlap(q, p))
	}
	if lit, err := Literal(path); err == nil && p.Match(path) && (!Overlap(lit, p) || !f.Match(path) && norm.NFD.String(path) == path) {
		t.Fatalf("%q matches %q and does not overlap it", p, path)
	}
}

func TestPatternProperties(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"a", "b", "A", "/", "/", ".", "..", "*", "**", "?", "[", "]", "[!", "-", "!", "^", `\`, "{", "}", ",", "[ab]", "[a-c]", ":(icase)", "é", "e\u0301", "\u0301", "ß", "\xe9", "\xc3", "\xa9", `\303`, `\251`, `\056`,
		"\u212b", "\u1100", "\u1161", "ﬁ", "ſ", "\u0345", "\U0010FFFF", "\u034f", "\n", " ",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 0, 10).Draw(t, "parts"), "") })
	rapid.Check(t, func(t *rapid.T) { checkPattern(t, text.Draw(t, "text"), text.Draw(t, "path")) })
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"src/**/*.go", "./a//[!b-d]?", `\[x\]`, "[\u0301e]", "caf\xe9", ":(icase)STRAßE/?", "{a,{b}}", "**/../x", "[+-9]", "e" + strings.Repeat("\u0301", 40) + "*" + strings.Repeat("\u0323", 40)} {
		f.Add(s, "src/a.go")
		f.Add("*", s)
	}
	f.Fuzz(func(t *testing.T, text, path string) { checkPattern(t, text, path) })
}
