package name

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"bureau/internal/fault"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"Alice", "Alice"},
		{"  Bob\t", "Bob"},
		{"\u3000李\u00a0", "李"},
		{"build-bot", "build-bot"},
		{"build.v2", "build.v2"},
		{"a", "a"},
		{"7", "7"},
		{"ana@bureau", "ana@bureau"},
		{"team-lead@alpha", "team-lead@alpha"},
		{"E\u0301ric", "Éric"},
		{"Ștefan", "Ștefan"},
		{"Иван", "Иван"},
		{"二〇二六", "二〇二六"},
		{"नमस्ते", "नमस्ते"},
		{"தமிழ்", "தமிழ்"},
		{"สวัสดี", "สวัสดี"},
		{"محمد", "محمد"},
		{"٣", "٣"},
		{"ａｌｉｃｅ", "ａｌｉｃｅ"},
		{"allstar", "allstar"},
		{strings.Repeat("é", 64), strings.Repeat("é", 64)},
		{strings.Repeat("e\u0301", 64), strings.Repeat("é", 64)},
	} {
		got, err := Parse(tc.in)
		if err != nil || string(got) != tc.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", tc.in, got, err, tc.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ in, says string }{
		{"", "empty"},
		{" \t\n", "empty"},
		{"@", "starts with @"},
		{"@bob", "starts with @"},
		{"a b", "a space"},
		{"a|b", "'|'"},
		{"a\nb", "U+000A"},
		{"a\x1b[31mb", "U+001B"},
		{"a/b", "'/'"},
		{".a", "starts with '.'"},
		{"a.", "ends with '.'"},
		{"a-", "ends with '-'"},
		{"_", "starts with '_'"},
		{"\u0301a", "starts with U+0301"},
		{"7\u0301", "without a letter"},
		{"a-\u0301b", "without a letter"},
		{"a\u200bb", "U+200B"},
		{"a\u202eb", "U+202E"},
		{"a\u3164b", "U+3164"},
		{"a\ufe0fb", "U+FE0F"},
		{"bob🙂", "'🙂'"},
		{"＠bob", "'＠'"},
		{"a\xff", "not valid UTF-8"},
		{strings.Repeat("a", 65), "too long (65 characters)"},
		{strings.Repeat("x", 10000), "too long (10000 characters)"},
		{"q" + strings.Repeat("\u0301", 9), "more than 8"},
		{"z" + strings.Repeat("\u0301", 60), "more than 8"},
		{"all", "reserved"},
		{"Everyone", "reserved"},
		{"SYSTEM", "reserved"},
		{"ｂｕｒｅａｕ", "reserved"},
		{" user ", "reserved"},
		{"*", "reserved"},
		{"team-lead", "every team"},
		{"Team-Lead", "every team"},
	} {
		got, err := Parse(tc.in)
		if !fault.Is(err, fault.Invalid) || got != "" {
			t.Errorf("Parse(%q) = %q, %v; want a refusal", tc.in, got, err)
			continue
		}
		if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("Parse(%q) says %q, not %q", tc.in, err, tc.says)
		}
		if fault.HintOf(err) == "" {
			t.Errorf("Parse(%q): %v has no hint", tc.in, err)
		}
		for _, r := range err.Error() {
			if unicode.IsControl(r) || Invisible(r) {
				t.Errorf("Parse(%q) echoes %U raw: %q", tc.in, r, err)
			}
		}
		if len(err.Error()) > 400 {
			t.Errorf("Parse of %d bytes has a message of %d bytes", len(tc.in), len(err.Error()))
		}
	}
}

func TestParseAnyAcceptsReserved(t *testing.T) {
	for _, s := range []string{"all", "everyone", "system", "bureau", "user", "*", "team-lead"} {
		n, err := ParseAny(s)
		if err != nil || string(n) != s || !Reserved(n.Key()) {
			t.Errorf("ParseAny(%q) = %q, %v; reserved %v", s, n, err, Reserved(n.Key()))
		}
	}
	if _, err := ParseAny("a b"); err == nil {
		t.Error("ParseAny accepts a space")
	}
	if Reserved(Fold("team-lead@alpha")) {
		t.Error("a team's own lead is reserved")
	}
}

func TestKey(t *testing.T) {
	for _, same := range [][]string{
		{"Alice", "alice", "ALICE", " alice ", "ａｌｉｃｅ", "Ａlice", "al\u200bice", "\u200b alice"},
		{"Éric", "éric", "E\u0301ric", "ÉRIC"},
		{"Straße", "STRASSE", "STRAẞE"},
		{"Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ"},
		{"ᾳ", "ᾼ", "αι"},
		{"ﬁx", "FIX"},
		{"Kelvin", "\u212Aelvin"},
		{"build-bot", "build‑bot", "build‐bot", "build－bot"},
		{"李", "李\ufe00"},
	} {
		for _, s := range same[1:] {
			if Fold(s) != Fold(same[0]) {
				t.Errorf("Fold(%q) = %q, Fold(%q) = %q", same[0], Fold(same[0]), s, Fold(s))
			}
		}
	}
	for _, pair := range [][2]string{{"alice", "аlice"}, {"ı", "i"}, {"build-bot", "build_bot"}, {"build–bot", "build-bot"}, {"björn", "bjorn"}} {
		if Fold(pair[0]) == Fold(pair[1]) {
			t.Errorf("Fold takes %q and %q for one name", pair[0], pair[1])
		}
	}
}

var fullFold = cases.Fold()

// standard is the NFKC case folding that x/text computes from Unicode's tables,
// with our one addition, the typographic hyphen.
func standard(s string) string {
	for range 4 {
		next := norm.NFKC.String(fullFold.String(norm.NFKD.String(s)))
		if next == s {
			break
		}
		s = next
	}
	return strings.ReplaceAll(s, "‐", "-")
}

// Every character folds as the full case folding of Unicode says, although no
// table of it is linked in.
func TestFoldAgreesWithCaseFolding(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || Invisible(r) {
			continue
		}
		s := string(r)
		key := Fold(s)
		if Fold(standard(s)) != key {
			t.Fatalf("%U %q folds to %q, its case folding %q to %q", r, s, key, standard(s), Fold(standard(s)))
		}
		// What the case folding tells apart stays apart.
		if unicode.Is(unicode.Cherokee, r) {
			continue // x/text folds small to capital and capital to small
		}
		if k := string(key); strings.TrimSpace(standard(s)) != standard(k) {
			t.Fatalf("%U %q folds to %q, which is not the like of %q", r, s, key, standard(s))
		}
		if Fold(string(key)) != key {
			t.Fatalf("%U: Fold is not stable on %q", r, key)
		}
	}
}

func TestNumbered(t *testing.T) {
	long := Name(strings.Repeat("b", 64))
	for _, tc := range []struct {
		n    Name
		i    int
		want Name
	}{
		{"reviewer", 2, "reviewer-2"},
		{"reviewer", 1, "reviewer"},
		{"reviewer", -3, "reviewer"},
		{"ana@bureau", 12, "ana@bureau-12"},
		{long, 2, long[:62] + "-2"},
		{long[:61] + "--b", 2, long[:61] + "-2"},
		{Name(strings.Repeat("b", 60) + "a\u0324\u0324\u0324"), 2, Name(strings.Repeat("b", 60) + "-2")},
	} {
		if got := Numbered(tc.n, tc.i); got != tc.want {
			t.Errorf("Numbered(%q, %d) = %q, want %q", tc.n, tc.i, got, tc.want)
		}
	}
}

func TestFromFolder(t *testing.T) {
	for _, tc := range []struct{ user, folder, want string }{
		{"ana", "bureau", "ana@bureau"},
		{"ana", "My Project (v2)", "ana@My-Project-v2"},
		{"ana", "/", "ana@root"},
		{"ana", "", "ana@root"},
		{"ana", ".", "ana@root"},
		{"ana", ".config", "ana@config"},
		{"ana", "@scope", "ana@scope"},
		{"ana", "c++", "ana@c"},
		{"", "bureau", "someone@bureau"},
		{`CORP\ana`, "x", "CORP-ana@x"},
		{"ana@corp.com", "x", "ana-corp.com@x"},
		{"team-lead", "alpha", "user-team-lead@alpha"},
		{"team-lead" + strings.Repeat("-", 30) + "x", strings.Repeat("y", 64), "user-team-lead@" + strings.Repeat("y", 49)},
		{"ana", "日本/ファイル", "ana@日本-ファイル"},
		{"ana", "e\u0301t\u200be\u0301", "ana@été"},
		{"ana", "a\x00\x1b[0mb", "ana@a-0mb"},
		{"ana", "\xff\xfe", "ana@root"},
		{strings.Repeat("u", 70), strings.Repeat("f", 70), strings.Repeat("u", 24) + "@" + strings.Repeat("f", 39)},
	} {
		if got := FromFolder(tc.user, tc.folder); string(got) != tc.want {
			t.Errorf("FromFolder(%q, %q) = %q, want %q", tc.user, tc.folder, got, tc.want)
		}
	}
}

// anyText draws strings that are rich in what names stumble over.
func anyText() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]rune("aAzZ09._-@ /\\\x00\n\x1béÉßẞıİσςΣǅﬁ李王한ｱＡ＠－‐‑\u0301\u0324\u0345\u200b\u200d\u202e\u3164\ufe0f🙂ǰΐᾳ\u1100\u1161\u11a8नि"))
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringOfN(rapid.OneOf(odd, rapid.Rune()), 0, 80, -1).Draw(t, "text")
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			s += "\xff" + s
		}
		return s
	})
}

func TestNameProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		n, err := Parse(s)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !utf8.ValidString(err.Error()) {
				t.Fatalf("Parse(%q): %q", s, err)
			}
		} else {
			checkName(t, n)
			if Fold(s) != n.Key() {
				t.Fatalf("Fold(%q) = %q, but its name's key is %q", s, Fold(s), n.Key())
			}
			i := rapid.IntRange(2, 1<<40).Draw(t, "i")
			checkName(t, Numbered(n, i))
		}
		if k := Fold(s); Fold(string(k)) != k {
			t.Fatalf("Fold(%q) = %q, folded again %q", s, k, Fold(string(k)))
		}
		up := strings.ToUpper(s)
		if utf8.ValidString(s) && standard(up) == standard(s) && Fold(up) != Fold(s) {
			t.Fatalf("%q and its upper case differ: %q, %q", s, Fold(s), Fold(up))
		}
		checkName(t, FromFolder(s, anyText().Draw(t, "folder")))
	})
}

func checkName(t interface{ Fatalf(string, ...any) }, n Name) {
	got, err := Parse(string(n))
	if err != nil || got != n {
		t.Fatalf("%q is not a name in normal form: %q, %v", n, got, err)
	}
	if Reserved(n.Key()) {
		t.Fatalf("%q is reserved", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"Alice", "e\u0301", "a\u200bb", "team-lead@x", "\xff", "李@bureau"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, folder string) {
		if n, err := Parse(s); err == nil {
			checkName(t, n)
			checkName(t, Numbered(n, 2+len(folder)))
		}
		checkName(t, FromFolder(s, folder))
		if k := Fold(s); Fold(string(k)) != k {
			t.Fatalf("Fold(%q) = %q is not stable", s, k)
		}
	})
}
