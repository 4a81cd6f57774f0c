package claim

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Pattern
	}{
		{".", Root},
		{"SRC/Main.GO", ":(icase)src/main.go"},
		{"straße", ":(icase)strasse"},
		{"STRASSE", ":(icase)strasse"},
		{"É/e\u0301", ":(icase)é/é"},
		{"\u212Aelvin", ":(icase)kelvin"},
		{"ΣΑΣς", ":(icase)σασσ"},
		{`\[A]\*`, `:(icase)\[a]\*`},
		{"[Mm]akefile", ":(icase)makefile"},
		{"[ßẞ]", ":(icase)ss"},
		{"[a-c]", ":(icase)[A-Ca-c]"},
		{"[A-C]", ":(icase)[A-Ca-c]"},
		{"[!a]", ":(icase)?"}, // A is not a, and the same file as a
		{"[!aA]", ":(icase)[!Aa]"},
		{`CAF\311`, `:(icase)caf\311`}, // a byte has no case
		{":(ICASE)x", ":(icase):(icase)x"},
	} {
		got := parsed(t, tc.text).Fold()
		if got != tc.want {
			t.Errorf("%q folds to %q, want %q", tc.text, got, tc.want)
		}
		if got.Fold() != got || parsed(t, string(got)) != got {
			t.Errorf("%q is not stable: %q, %q", got, got.Fold(), parsed(t, string(got)))
		}
	}
	for _, tc := range []struct{ pattern, path string }{
		{"src", "SRC/x"}, {"SRC/*.GO", "src/a.go"}, {"stra?e", "STRASSE"}, {"stra??e", "straße"}, {"STRASSE", "straße"}, {"[ﬁx]", "FI"}, {"[!b]", "ﬃ"}, {"?", "FFI"}, {"?", "İ"}, {"*I", "ﬁ"},
		{"?", "αΙ"}, {"[ᾳx]", "ΑΙ"}, {"[a-z]", "S"}, {"[a-z]", "ſ"}, {"[A-Z]x", "ax"},
	} {
		if p := parsed(t, tc.pattern).Fold(); !p.Match(tc.path) {
			t.Errorf("%q does not match %q", p, tc.path)
		}
	}
	for _, tc := range []struct{ pattern, path string }{
		{"src", "srcx"}, {"a?.go", "abc.go"}, {"?", "ab"}, {"?", "fx"}, {"[ab]", "ss"}, {"[!ß]x", "é"},
	} {
		if p := parsed(t, tc.pattern).Fold(); p.Match(tc.path) {
			t.Errorf("%q matches %q", p, tc.path)
		}
	}
	many := parsed(t, strings.Repeat("?", 100)).Fold()
	if !many.Match(strings.Repeat("ß", 100)) || many.Match(strings.Repeat("a", 99)) {
		t.Errorf("%q misses", many)
	}
}

func TestFoldedAgainstPlain(t *testing.T) {
	src, upper := parsed(t, "src"), parsed(t, "SRC/*.go")
	if !Overlap(src.Fold(), upper) || !Overlap(upper, src.Fold()) || Overlap(src, upper) {
		t.Error("a folded pattern folds the other")
	}
	if !Covers(src.Fold(), upper) || Covers(src, upper) {
		t.Error("a folded folder covers every spelling")
	}
	if Covers(src, src.Fold()) || Covers(parsed(t, "s*"), src.Fold()) || !Covers(Root, src.Fold()) {
		t.Error("a plain pattern does not cover SRC")
	}
}

// The reference is canonical caseless matching with x/text's tables.
var fullFold = cases.Fold()

func reference(s string) string {
	return norm.NFC.String(fullFold.String(norm.NFD.String(s)))
}

func TestFoldText(t *testing.T) {
	ours, theirs := make(map[string]string), make(map[string]string)
	expanding := make(map[rune]bool)
	for _, e := range expansions() {
		expanding[e.from] = true
	}
	inRanges := func(r rune) bool {
		return slices.ContainsFunc(unicode.CaseRanges, func(c unicode.CaseRange) bool { return rune(c.Lo) <= r && r <= rune(c.Hi) })
	}
	for r := rune(1); r < 0x20000; r++ { // beyond are ideographs and nothing with a case
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Cs, unicode.Co) {
			continue
		}
		got, want := foldText(string(r)), reference(string(r))
		if unicode.Is(unicode.Cherokee, r) {
			want = reference(strings.ToUpper(string(r))) // x/text folds small to capital and capital to small
		}
		if prev, ok := ours[got]; ok && prev != want {
			t.Errorf("%U folds to %q and joins %q with %q", r, got, prev, want)
		}
		if prev, ok := theirs[want]; ok && prev != got {
			t.Errorf("%U folds to %q, others like it to %q", r, got, prev)
		}
		ours[got], theirs[want] = want, got
		if again := foldText(got); again != got {
			t.Errorf("%U folds to %q and then to %q", r, got, again)
		}
		if replaced(r) {
			continue
		}
		if many := len([]rune(got)) > 1; many != expanding[r] {
			t.Errorf("%U folds to %q, expansion: %v", r, got, expanding[r])
		}
		if unicode.SimpleFold(r) != r && !expanding[r] && !inRanges(r) {
			t.Errorf("%U has other cases and is in no range", r)
		}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			if foldText(string(other)) != got {
				t.Errorf("%U and %U differ in case only and fold to %q and %q", r, other, got, foldText(string(other)))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("aAsSßẞſéÉe\u0301\u0345\u0307αᾳΙιİıﬃŉΐ/")), 0, 8, -1).Draw(t, "s")
		if foldText(foldText(s)) != foldText(s) {
			t.Fatalf("%q folds to %q and then to %q", s, foldText(s), foldText(foldText(s)))
		}
		if up := strings.ToUpper(s); reference(up) == reference(s) && foldText(up) != foldText(s) {
			t.Fatalf("%q and %q fold to %q and %q", s, up, foldText(s), foldText(up))
		}
	})
}

// A folded pattern matches a name if the pattern matches any spelling of it,
// and two folded patterns overlap if they match spellings of one name.
func TestFoldProperties(t *testing.T) {
	// ŉ folds to ʼn and ﬖ to վն; the patterns name only the first four.
	alphabet := []rune("ʼnNŉվնﬖ")
	names := append(words(alphabet, 4), words(alphabet[:4], 5)...)
	folded := make([]string, len(names))
	for i, n := range names {
		folded[i] = foldText(n)
	}
	gen := tokensOf(alphabet[:4], 2)
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		p, q := parsedOr(t, a.text()), parsedOr(t, b.text())
		x, y := make(map[string]bool), make(map[string]bool)
		for i, n := range names {
			x[folded[i]] = x[folded[i]] || a.match([]rune(n))
			y[folded[i]] = y[folded[i]] || b.match([]rune(n))
		}
		both, inside := false, true
		for n := range x {
			both = both || x[n] && y[n]
			if len([]rune(n)) <= 4 { // every spelling of a longer one is not in the list
				inside = inside && (x[n] || !y[n])
			}
		}
		for i, n := range names {
			if len([]rune(n)) <= 2 && p.Fold().Match(n) != x[folded[i]] {
				t.Fatalf("%q: %q matches %q: %v", p, p.Fold(), n, !x[folded[i]])
			}
		}
		if got := Overlap(p.Fold(), q.Fold()); got != both || Overlap(p, q.Fold()) != got || Overlap(p.Fold(), q) != got {
			t.Fatalf("Overlap(%q, %q) = %v", p.Fold(), q.Fold(), got)
		}
		if Overlap(p, q) && !both {
			t.Fatalf("%q and %q overlap and their folds do not", p, q)
		}
		if Covers(p.Fold(), q.Fold()) && !inside {
			t.Fatalf("%q does not cover %q", p.Fold(), q.Fold())
		}
	})
}
