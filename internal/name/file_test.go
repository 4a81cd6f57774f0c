package name

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFileName(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"alice", "alice"},
		{"Alice", "+alice"},
		{"ana@bureau-2", "ana@bureau-2"},
		{"build.v2", "build.v2"},
		{"李", "李"},
		{"Éric", "+éric"},
		{"E\u0301ric", "%45%cc%81ric"},
		{"नमस्ते", "नमस्ते"},
		{"", "%"},
		{".", "%2e"},
		{"..", "%2e%2e"},
		{".git", "%2egit"},
		{"a.", "a%2e"},
		{"a ", "a%20"},
		{"-rf", "%2drf"},
		{"a/b\\c", "a%2fb%5cc"},
		{"a\x00b", "a%00b"},
		{"con", "%63on"},
		{"con.txt", "%63on.txt"},
		{"CON", "+c+o+n"},
		{"console", "console"},
		{"lpt9", "%6cpt9"},
		{"com10", "com10"},
		{"nul.", "nul%2e"},
		{"*", "%2a"},
		{"a+b%c", "a%2bb%25c"},
		{"straße", "stra%c3%9fe"},
		{"\u0301a", "%cc%81a"},
		{".\u0301", "%2e%cc%81"},
		{"\xff", "%ff"},
	} {
		got := FileName(tc.in)
		if got != tc.want {
			t.Errorf("FileName(%q) = %q, want %q", tc.in, got, tc.want)
		}
		if back, ok := FromFileName(got); !ok || back != tc.in {
			t.Errorf("FromFileName(%q) = %q, %v; want %q", got, back, ok, tc.in)
		}
	}
}

func TestFileNameLong(t *testing.T) {
	seen := make(map[string]string)
	for _, s := range []string{
		strings.Repeat("a", 225), strings.Repeat("a", 226), strings.Repeat("A", 200),
		strings.Repeat("李", 300), strings.Repeat("\x00", 5000), strings.Repeat("a", 189) + "\x01" + strings.Repeat("b", 99),
	} {
		got := FileName(s)
		if len(got) > MaxFileName || !utf8.ValidString(got) || string(Fold(got)) != got {
			t.Errorf("FileName of %d bytes is %q (%d bytes)", len(s), got, len(got))
		}
		if back, ok := FromFileName(got); ok {
			t.Errorf("FromFileName(%q) = %q", got, back)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%q and %q share %q", s, other, got)
		}
		seen[got] = s
	}
	if full := strings.Repeat("a", MaxFileName); FileName(full) != full {
		t.Error("a name that just fits is shortened")
	}
}

func TestFromFileNameRefuses(t *testing.T) {
	for _, f := range []string{"", "A", "%4", "%zz", "%41", "%E9", "a%2Fb", "%%", "+", "+1", "++a", "a/b", "..", ".x", "con", "é\u0301\x00", "a b"} {
		if n, ok := FromFileName(f); ok && FileName(n) != f {
			t.Errorf("FromFileName(%q) = %q", f, n)
		} else if ok {
			t.Errorf("FromFileName(%q) accepts %q", f, n)
		}
	}
	if n, ok := FromFileName(norm.NFD.String("+éric")); !ok || n != "Éric" {
		t.Errorf("the decomposed form reads %q, %v", n, ok)
	}
}

func checkFileName(t interface{ Fatalf(string, ...any) }, s string) {
	f := FileName(s)
	if f == "" || len(f) > MaxFileName || !utf8.ValidString(f) {
		t.Fatalf("FileName(%q) = %q", s, f)
	}
	if strings.ContainsAny(f, "/\\:*?\"<>|\x00 ") || f[0] == '.' || f[0] == '-' || f[len(f)-1] == '.' {
		t.Fatalf("FileName(%q) = %q is not safe", s, f)
	}
	// With this, equal in any case and any normal form means equal.
	if string(Fold(f)) != f || strings.ToLower(f) != f {
		t.Fatalf("FileName(%q) = %q folds to %q", s, f, Fold(f))
	}
	if device(f) {
		t.Fatalf("FileName(%q) = %q is a device", s, f)
	}
	back, ok := FromFileName(f)
	if !ok && !strings.Contains(f, "%-") || ok && back != s {
		t.Fatalf("FileName(%q) = %q reads back as %q, %v", s, f, back, ok)
	}
	if back, ok := FromFileName(norm.NFD.String(f)); ok && back != s {
		t.Fatalf("FileName(%q) in NFD reads back as %q", s, back)
	}
}

func TestFileNameProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFileName(t, anyText().Draw(t, "s"))
		f := rapid.StringOfN(rapid.SampledFrom([]rune("ab+%-.0123456789cdefoéÉ")), 0, 12, -1).Draw(t, "f")
		if n, ok := FromFileName(f); ok && FileName(n) != norm.NFC.String(f) {
			t.Fatalf("FromFileName(%q) = %q, which encodes as %q", f, n, FileName(n))
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"", "Alice", "con.x", "..", "e\u0301", "\xff\xfe", "+%-", "ﬁ", strings.Repeat("Ж", 90)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkFileName(t, s)
		if n, ok := FromFileName(s); ok && FileName(n) != norm.NFC.String(s) {
			t.Fatalf("FromFileName(%q) = %q, which encodes as %q", s, n, FileName(n))
		}
	})
}

func TestSuggest(t *testing.T) {
	roster := []string{"reviewer", "Reviewer", "builder", "build", "build-bot", "ana@bureau", "李", "Éric", "x"}
	for _, tc := range []struct {
		target string
		most   int
		want   []string
	}{
		{"revewer", 3, []string{"reviewer"}},
		{"REVIEWRE", 3, []string{"reviewer"}},
		{"buidler", 3, []string{"builder"}},
		{"biuld", 3, []string{"build"}},
		{"build", 3, []string{"build", "build-bot", "builder"}},
		{"build", 1, []string{"build"}},
		{"bureau", 3, []string{"ana@bureau"}},
		{"eric", 3, []string{"Éric"}},
		{"rev", 3, []string{"reviewer"}},
		{"y", 3, nil},
		{"", 3, nil},
		{"build", 0, nil},
		{strings.Repeat("build", 1000), 3, nil},
		{"zebra", 3, nil},
	} {
		if got := Suggest(tc.target, roster, tc.most); !slices.Equal(got, tc.want) {
			t.Errorf("Suggest(%q, %d) = %q, want %q", tc.target, tc.most, got, tc.want)
		}
	}
}

func TestSuggestProperties(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abcé-")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		target := word.Draw(t, "target")
		names := rapid.SliceOf(word).Draw(t, "names")
		most := rapid.IntRange(0, 5).Draw(t, "most")
		got := Suggest(target, names, most)
		if len(got) > most {
			t.Fatalf("%d suggestions, at most %d asked", len(got), most)
		}
		for _, g := range got {
			if !slices.Contains(names, g) {
				t.Fatalf("%q is no candidate", g)
			}
		}
		shuffled := rapid.Permutation(names).Draw(t, "shuffled")
		again := Suggest(target, shuffled, most)
		if len(again) != len(got) {
			t.Fatalf("order of candidates matters: %q, %q", got, again)
		}
		for i := range got {
			if Fold(got[i]) != Fold(again[i]) {
				t.Fatalf("order of candidates matters: %q, %q", got, again)
			}
		}
		if most > 0 && target != "" && slices.Contains(names, target) && (len(got) == 0 || Fold(got[0]) != Fold(target)) {
			t.Fatalf("the target itself is not first: %q", got)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if n, err := Parse("ana@bureau-2"); err != nil || n.Key() == "" {
			b.Fatal(n, err)
		}
	}
}
