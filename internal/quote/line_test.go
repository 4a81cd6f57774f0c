package quote

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		in   string
		max  int
		want string
	}{
		{"hello", 10, "hello"},
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"hello", 1, "…"},
		{"hello", 0, ""},
		{"hello", -1, ""},
		{"", 5, ""},
		{"  a \n\t b\r\n\r\nc  ", 10, "a b c"},
		{"a\u00a0\u3000b\u2028c", 10, "a b c"},
		{"\x1b[31mred", 10, "␛[31mred"},
		{"李小龍", 6, "李小龍"},
		{"李小龍", 5, "李小…"},
		{"李小龍", 4, "李…"},
		{"李", 1, "…"},
		{"👩🏽\u200d💻👩🏽\u200d💻", 4, "👩🏽\u200d💻👩🏽\u200d💻"},
		{"👩🏽\u200d💻👩🏽\u200d💻", 3, "👩🏽\u200d💻…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"see </system-reminder> now", 40, "see ‹/system-reminder> now"},
		{"a <channelling> b", 11, "a ‹channel…"},
		{"a <channelling> b", 12, "a <channell…"},
		{"\u202eabc", 20, `\u202eabc`},
		{strings.Repeat("word ", 100000), 8, "word wo…"},
		{strings.Repeat("\u0301", 100000), 8, strings.Repeat("\u0301", 384) + "…"},
		{strings.Repeat(" ", 100000) + "x", 8, "x"},
	} {
		if got := Line(tc.in, tc.max); got != tc.want {
			t.Errorf("Line(%.40q, %d) = %q, want %q", tc.in, tc.max, got, tc.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "李": 2, "é": 1, "e\u0301": 1, "👩🏽\u200d💻": 2, "␛": 1, "…": 1, "‹": 1} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCutUTF16(t *testing.T) {
	for _, tc := range []struct {
		in   string
		max  int
		want string
		cut  bool
	}{
		{"hello", 5, "hello", false},
		{"hello", 4, "hell", true},
		{"hello", 0, "", true},
		{"hello", -1, "", true},
		{"", 0, "", false},
		{"a😀b", 4, "a😀b", false},
		{"a😀b", 3, "a😀", true},
		{"a😀b", 2, "a", true},
		{"e\u0301x", 1, "e", true}, // one character alone is longer than that
		{"xe\u0301x", 2, "x", true},
		{"ab\r\nc", 3, "ab", true},
		{"hi 👩🏽\u200d💻!", 8, "hi ", true},
		{"hi 👩🏽\u200d💻!", 10, "hi 👩🏽\u200d💻", true},
		{"a\xff\xffb", 3, "a\xff\xff", true},
		{"z" + strings.Repeat("\u0301", 500), 400, "z" + strings.Repeat("\u0301", 399), true},
	} {
		got, cut := CutUTF16(tc.in, tc.max)
		if got != tc.want || cut != tc.cut {
			t.Errorf("CutUTF16(%.20q, %d) = %q, %v; want %q, %v", tc.in, tc.max, got, cut, tc.want, tc.cut)
		}
	}
}

func checkLine(t interface{ Fatalf(string, ...any) }, s string, max int) {
	line := Line(s, max)
	checkText(t, line)
	if strings.ContainsAny(line, "\n\t") || Width(line) > max {
		t.Fatalf("Line(%q, %d) = %q, %d wide", s, max, line, Width(line))
	}
	if anyWrapper.MatchString(reduced(line)) {
		t.Fatalf("Line(%q, %d) = %q holds a tag", s, max, line)
	}
}

func checkCut(t interface{ Fatalf(string, ...any) }, s string, max int) {
	if got, want := UTF16Len(s), len(utf16.Encode([]rune(s))); got != want {
		t.Fatalf("UTF16Len(%q) = %d, want %d", s, got, want)
	}
	head, cut := CutUTF16(s, max)
	if !strings.HasPrefix(s, head) || UTF16Len(head) > max || cut != (len(head) < len(s)) {
		t.Fatalf("CutUTF16(%q, %d) = %q, %v", s, max, head, cut)
	}
	if utf8.ValidString(s) && !utf8.ValidString(head) {
		t.Fatalf("CutUTF16(%q, %d) splits a character: %q", s, max, head)
	}
}

func TestLineProperties(t *testing.T) {
	text := hostile()
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		max := rapid.IntRange(0, 60).Draw(t, "max")
		checkLine(t, s, max)
		checkCut(t, s, max)
	})
}

func FuzzLine(f *testing.F) {
	f.Add("hello 👩🏽\u200d💻 \x1b[0m", 4)
	f.Add("e\u0301\r\n\xff李", 3)
	f.Add("🇩🇪🇫🇷", 5)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = max & 1023
		checkLine(t, s, max)
		checkCut(t, s, max)
		checkText(t, Terminal(s))
	})
}
