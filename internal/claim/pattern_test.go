package claim

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/fault"
)

func parsed(t testing.TB, text string) Pattern {
	t.Helper()
	p, err := ParsePattern(text)
	if err != nil {
		t.Fatalf("ParsePattern(%q): %v", text, err)
	}
	return p
}

func TestParsePattern(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Pattern
	}{
		{"src", "src"},
		{"src/", "src"},
		{"./src/**", "src"},
		{"src/**/**/", "src"},
		{"src//a.go", "src/a.go"},
		{"src/../src/a.go", "src/a.go"},
		{"a/*/../b", "a/b"},
		{".", Root},
		{"./", Root},
		{"**", Root},
		{"**/**", Root},
		{"src/..", Root},
		{"**/*.go", "**/*.go"},
		{"**/*", "*"},
		{"src/**/*", "src/*"},
		{"**/*/b", "*/**/b"},
		{"**/**/b", "**/b"},
		{"?*", "*"},
		{"***", "*"},
		{"a**b", "a*b"},
		{"a*?b", "a?*b"},
		{"a*?*?b", "a??*b"},
		{"[a]b", "ab"},
		{"[*]b", `\*b`},
		{"[[]b]", `\[b]`},
		{"[cba]", "[a-c]"},
		{"[ba]", "[ab]"},
		{"[a-cb-z]", "[a-z]"},
		{"[^x]", "[!x]"},
		{"[!^x]", `[!\^x]`},
		{"[]x]", `[\]x]`},
		{"[!]x]", `[!\]x]`},
		{"[x-]", `[\-x]`},
		{"[-x]", `[\-x]`},
		{"[+-9]", `[+-.0-9]`}, // no name holds a slash
		{`[\]\\]`, `[\\\]]`},
		{`[\!a]`, `[\!a]`},
		{"[{,}]", "[,{}]"},
		{`\a\*\\`, `a\*\\`},
		{`\{id\}`, `\{id\}`},
		{`\.\./x`, ""}, // still the folder above
		{`a/\.`, "a"},
		{"-rf", "-rf"},
		{"a b\t'\"\n", "a b\t'\"\n"},
		{"caf\xe9", `caf\351`},
		{`caf\351`, `caf\351`},
		{`caf\303\251`, "café"},
		{"[a\xe9]", `[a\351]`},
		{"cafe\u0301", "café"},
		{`cafe\314\201`, "café"},
		{"[e\u0301x]", "[xé]"},
		{"[\u0301e]", "[e\\\u0301]"},
		{"e[\u0301]", "é"},
		{"e*\u0301", "e*\u0301"},
		{":(icase)SRC/A.go", ":(icase)src/a.go"},
		{`\:(icase)SRC`, `\:(icase)SRC`},
		{"./:(icase)SRC", `\:(icase)SRC`},
		{":(icase):(icase)S", ":(icase):(icase)s"},
		{":(icase).", Root},
	} {
		got, err := ParsePattern(tc.text)
		if got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("ParsePattern(%q) = %q, %v; want %q", tc.text, got, err, tc.want)
		}
		if err == nil {
			if again, err := ParsePattern(string(got)); again != got {
				t.Errorf("ParsePattern(%q) = %q, %v", got, again, err)
			}
		}
	}
}

func TestParsePatternRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want, hint string }{
		{"", "is empty", "whole project"},
		{":(icase)", "is empty", "whole project"},
		{"/src", "is absolute", "relative"},
		{"..", "leaves the project", "inside"},
		{"src/../../x", "leaves the project", "inside"},
		{"**/../x", "behind **", "without .."},
		{"a\x00b", "NUL", "leave it out"},
		{`a\000b`, `\000`, "leave it out"},
		{`a\057b`, `\057`, "leave it out"},
		{"src/[a-z", "without its end", `\[`},
		{"src/[a/b]", "without its end", `\[`},
		{"[]", "without its end", `\[`},
		{"[z-a]", "runs backwards", "turn it round"},
		{"[[:alpha:]]", "named class", "[a-z]"},
		{`[!\001-.0-` + "\U0010FFFF" + `\200-\377]`, "no character", "widen"},
		{`src\`, "backslash", `\\`},
		{`src\/a`, "backslash", `\\`},
		{"app/{a,b}/*.go", "brace", `\{`},
		{"a}", "brace", `\}`},
		{strings.Repeat("a", MaxPattern+1), "longer than 4096 bytes", "folder higher up"},
		{strings.Repeat("\xff", MaxPattern/2), "longer than 4096 bytes", "folder higher up"},
		{strings.Repeat("a/", MaxSegments+1), "129 names", "folder higher up"},
	} {
		p, err := ParsePattern(tc.text)
		if p != "" || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(fault.HintOf(err), tc.hint) {
			t.Errorf("ParsePattern(%.40q) = %q, %v (%s); want %q", tc.text, p, err, fault.HintOf(err), tc.want)
		}
		if err != nil && (len(err.Error()) > 300 || !utf8.ValidString(err.Error())) {
			t.Errorf("the fault of %.40q is %q", tc.text, err)
		}
	}
	for _, text := range []string{strings.Repeat("a", MaxPattern), strings.Repeat("a/", MaxSegments), strings.Repeat("**/", 1000)} {
		parsed(t, text)
	}
}

func TestLiteral(t *testing.T) {
	for _, name := range []string{
		"src/a.go", "app/[slug]/page.tsx", "*", "**", "a?b", `a\b`, "{id}", "[!x]", "-rf", " ", "a b", `"'`, "a\nb\t", "caf\xe9", "\xff\xfe/\xc3",
		":(icase)X", "…", ".git", "...", `\351`, "]", "a/**/b",
	} {
		p, err := Literal(name)
		if err != nil {
			t.Errorf("Literal(%q): %v", name, err)
			continue
		}
		if !p.Match(name) || !p.Match(name+"/below") || p.Match(name+"x") || p.Match("x/"+name) || p.Match(".") {
			t.Errorf("Literal(%q) = %q matches wrongly", name, p)
		}
		if p.Prefix() != name {
			t.Errorf("Literal(%q).Prefix() = %q", name, p.Prefix())
		}
		if again := parsed(t, string(p)); again != p || !utf8.ValidString(string(p)) {
			t.Errorf("Literal(%q) = %q reads as %q", name, p, again)
		}
	}
	for text, want := range map[string]Pattern{".": Root, "./a//b/": "a/b", "a/../b": "b", "e\u0301": "é"} {
		if got, err := Literal(text); got != want {
			t.Errorf("Literal(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/a", "..", "../a", "a/../..", "a\x00", strings.Repeat("a", 4097), strings.Repeat("*", 4000)} {
		if p, err := Literal(text); !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
			t.Errorf("Literal(%.20q) = %q, %v", text, p, err)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tc := range []struct{ pattern, yes, no string }{
		{"src", "src|src/a.go|src/x/y|./src//a|a/../src", "src2|src2/a.go|sr|.||x/src|../src|/src"},
		{".", ".||a|a/b", "..|../a|/a"},
		{"*", "a|.git|a/b|-", ".|"},
		{"*/b", "a/b|a/b/c|.x/b", "a|b|a/c"},
		{"**/*.go", "a.go|x/a.go|x/y/.go|x.go/y", "a.gox|go|."},
		{"src/**/test", "src/test|src/a/b/test/c", "src|test|src/tests"},
		{"a?c", "abc|a.c|a*c|aéc|a\xffc|ae\u0301c", "ac|abbc|a/c"},
		{"[a-c]x", "ax|cx", "dx|Ax|x"},
		{"[!a-c]x", "dx|.x|éx|\xffx", "ax|x"},
		{`\[a\]`, "[a]", "a"},
		{"[+-9]", "+|0|-", "a|/"},
		{`caf\351`, "caf\xe9", "café"},
		{"café", "café|cafe\u0301", "caf\xe9|cafe"},
		{"app/[slug]", "app/s", "app/[slug]"},
	} {
		p := parsed(t, tc.pattern)
		for path := range strings.SplitSeq(tc.yes, "|") {
			if !p.Match(path) {
				t.Errorf("%q does not match %q", p, path)
			}
		}
		for path := range strings.SplitSeq(tc.no, "|") {
			if p.Match(path) {
				t.Errorf("%q matches %q", p, path)
			}
		}
	}
}

func TestSameThingOtherSpelling(t *testing.T) { // L4
	held := parsed(t, "src/a.go")
	for _, text := range []string{"./src/a.go", "src//a.go", "src/../src/a.go", "src/", "src/**", "**/*.go", "src/a.go/**", "s?c/[a-b].go", "**", "**/a.go"} {
		p := parsed(t, text)
		if !Overlap(held, p) || !Overlap(p, held) || !Overlap(p.Fold(), held.Fold()) || !Covers(p, held) {
			t.Errorf("%q and %q do not overlap", held, text)
		}
	}
	for _, text := range []string{"src/b.go", "src2/a.go", "src/a.gox", "src/?.c", "*/*.c", "*/[!a-zA-Z]*"} {
		p := parsed(t, text)
		if Overlap(held, p) || Overlap(p, held) || Overlap(p.Fold(), held.Fold()) || Covers(p, held) {
			t.Errorf("%q and %q overlap", held, text)
		}
	}
	nfc, _ := Literal("src/é.go")
	nfd, _ := Literal(norm.NFD.String("src/é.go"))
	if nfc != nfd || !Overlap(parsed(t, "src/e\u0301*"), nfc) {
		t.Errorf("%q and %q are one path", nfc, nfd)
	}
}

func TestOverlapAndCovers(t *testing.T) {
	for _, tc := range []struct {
		a, b            string
		overlap         bool
		aCoversB, bCovA bool
	}{
		{"src", "src/a.go", true, true, false},
		{".", "*", true, true, false},
		{"*", "**/x", true, true, false},
		{"**/x", "a/**/x", true, true, false},
		{"a/**/x", "a/x", true, true, false},
		{"a/*/x", "a/**/x", true, false, true},
		{"a/*", "a", true, false, true},
		{"*.go", "a.*", true, false, false},
		{"*.go", "*.c", false, false, false},
		{"*.go/x", "*.c", false, false, false},
		{"[a-m]", "[n-z]", false, false, false},
		{"[a-m]", "[m-z]", true, false, false},
		{"[a-z]", "[b-c]", true, true, false},
		{"[!a]", "[!b]", true, false, false},
		{"[!a]", "b", true, true, false},
		{"[.a]", "[.b]", false, false, false}, // they share "." only, which is no name
		{"[.a][.b]", "[.c][.d]", false, false, false},
		{"[.a][.b][.c]", "[.d][.e][.f]", true, false, false},
		{"a?*", "a*b", true, true, false},
		{"*a*", "*b*a", true, true, false},
		{"??*", "*", true, false, true},
		{"src", "src2", false, false, false},
	} {
		a, b := parsed(t, tc.a), parsed(t, tc.b)
		if Overlap(a, b) != tc.overlap || Overlap(b, a) != tc.overlap {
			t.Errorf("Overlap(%q, %q) is not %v", a, b, tc.overlap)
		}
		if got := Covers(a, b); got != tc.aCoversB {
			t.Errorf("Covers(%q, %q) = %v", a, b, got)
		}
		if got := Covers(b, a); got != tc.bCovA {
			t.Errorf("Covers(%q, %q) = %v", b, a, got)
		}
	}
}

func TestNoPattern(t *testing.T) {
	src := parsed(t, "src")
	for _, p := range []Pattern{"", "/", "..", "../src", "[", "a{b", "a\x00", icase, `\`} {
		if p.Match("src") || p.Match("") || Overlap(p, src) || Overlap(src, p) || Overlap(p, p) || Covers(p, src) || Covers(p, p) || p.Prefix() != "" || p.Fold() != p {
			t.Errorf("%q is taken for a pattern", p)
		}
	}
	if !Pattern("src//").Match("src/a") || !Overlap("./src", src) || !Overlap(":(icase)SRC", src) {
		t.Error("another spelling of a pattern is not read")
	}
}

func TestPrefix(t *testing.T) {
	for text, want := range map[string]string{
		".": "", "src/api/*.go": "src/api", "src/api": "src/api", "**/*.go": "", "*/a": "", "a/**/b": "a",
		`app/\[slug\]/x?`: "app/[slug]", `caf\351/*`: "caf\xe9", ":(icase)SRC/*": "src",
	} {
		if got := parsed(t, text).Prefix(); got != want {
			t.Errorf("the prefix of %q is %q, want %q", text, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"": ".", ".": ".", "./": ".", "a/": "a", "a//b/./c": "a/b/c", "a/../b": "b", "../a": "../a", "e\u0301": "é", "\xe9": "\xe9",
	} {
		if got := Normal(in); got != want {
			t.Errorf("Normal(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestOverlapCost counts steps: the product of the lengths bounds them,
// whatever the patterns are.
func TestOverlapCost(t *testing.T) {
	texts := []string{
		strings.Repeat("*a", 100) + "b", strings.Repeat("a*", 100), strings.Repeat("*a", 100) + "?c", strings.Repeat("?", 200), strings.Repeat("[ab]*", 80) + "x",
		strings.Repeat("**/a/", 60) + "b", strings.Repeat("a/**/", 60) + "c", strings.Repeat("**/*a*a*a*b/", 60) + "d", strings.Repeat("*/", 120), "**/" + strings.Repeat("*a*/", 100) + "e",
		":(icase)" + strings.Repeat("?", 20), ":(icase)" + strings.Repeat("?", 100), ":(icase)" + strings.Repeat("[!x]", 90), ":(icase)" + strings.Repeat("*?ß", 50),
	}
	for _, long := range []string{strings.Repeat("*a", 2000) + "b", ":(icase)" + strings.Repeat("?", 64), ":(icase)" + strings.Repeat("[!x]*", 800)} {
		x, y, _ := pair(parsed(t, long), parsed(t, strings.Repeat("a*", 2000)))
		steps := 0
		if x.meets(y, &steps); steps > 16*MaxPattern*MaxPattern {
			t.Errorf("%.20q took %d steps", long, steps)
		}
	}
	for _, a := range texts {
		for _, b := range texts {
			x, y, ok := pair(parsed(t, a), parsed(t, b))
			if !ok {
				t.Fatal(a, b)
			}
			steps := 0
			got := x.meets(y, &steps)
			// Each expanding wildcard has up to 20 states with as many arcs.
			most := 8 * (len(a) + 1) * (len(b) + 1)
			if x.icase {
				most = 8 * (len(a) + 64*32) * (len(b) + 64*32)
			}
			if steps > most {
				t.Errorf("%.20q and %.20q took %d steps, more than %d", a, b, steps, most)
			}
			if back := y.meets(x, new(int)); back != got {
				t.Errorf("%.20q and %.20q: %v and back %v", a, b, got, back)
			}
		}
	}
}

func ExampleOverlap() {
	a, _ := ParsePattern("./src/**")
	b, _ := ParsePattern("**/*_test.go")
	fmt.Println(a, Overlap(a, b), Covers(a, b))
	// Output: src true false
}
