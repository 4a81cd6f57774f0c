package mclaude

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// badSlugs are refused everywhere.
var badSlugs = []string{
	"", "ab", "-abc", "Abc", "a_b", "a.b", "abc\n", "\nabc", "abc ", "новый", "../../x", "a/b", `a\b`, "..", "abc\x00",
	strings.Repeat("a", 81), "ａｂｃ", "c:abc",
}

func TestValidSlug(t *testing.T) {
	for _, s := range badSlugs {
		if ValidSlug(s) {
			t.Errorf("%q is taken for a slug", s)
		}
	}
	for _, s := range []string{"abc", "0-1", "fix-auth-bug-42", "a--b", "abc-", strings.Repeat("a", 80)} {
		if !ValidSlug(s) {
			t.Errorf("%q is not taken for a slug", s)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Fix the login bug":                     "fix-the-login-bug",
		"src/auth/Session.go":                   "src-auth-session-go",
		"./src/**":                              "src",
		"  --x11--  ":                           "x11",
		"новый auth дизайн":                     "auth",
		"":                                      "work-e3b0c442",
		"новый дизайн":                          "work-" + shortHash("новый дизайн"),
		"x":                                     "x-" + shortHash("x"),
		"gpu:host-a/2":                          "gpu-host-a-2",
		strings.Repeat("a", 99):                 strings.Repeat("a", 60),
		"word " + strings.Repeat("longer ", 20): "word-longer-longer-longer-longer-longer-longer-longer-longer",
	} {
		if got := Slug(in); got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbered(t *testing.T) {
	long := strings.Repeat("a", 78) + "-b"
	for n, want := range map[int]string{1: long, 2: strings.Repeat("a", 78) + "-2", 10: strings.Repeat("a", 77) + "-10"} {
		if got := Numbered(long, n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := Numbered("abc", 2); got != "abc-2" {
		t.Error(got)
	}
}

func TestIdentityAndSession(t *testing.T) {
	for in, want := range map[string]string{
		"anna": "anna", "Anna.B@home": "anna-b-home", "Анна": "agent-" + shortHash("Анна"), "a": "a-" + shortHash("a"),
	} {
		if got := Identity(in); got != want {
			t.Errorf("Identity(%q) = %q, want %q", in, got, want)
		}
	}
	if got := SessionID("anna", "01J0SESSION"); got != "anna-01J0SESSION" {
		t.Error(got)
	}
	for _, odd := range []string{"", "x", "a b\nc", strings.Repeat("x", 100)} {
		if got := SessionID("an", odd); got != "an-"+shortHash(odd) || !validSession(got) {
			t.Errorf("%q gives %q", odd, got)
		}
	}
}

func TestSlugProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		s := Slug(text)
		if !ValidSlug(s) {
			t.Fatalf("Slug(%q) = %q", text, s)
		}
		if other := Slug(norm.NFD.String(text)); norm.NFC.String(norm.NFD.String(text)) == norm.NFC.String(text) && other != s {
			t.Fatalf("%q: %q in one form, %q in another", text, s, other)
		}
		n := rapid.IntRange(1, maxNumber).Draw(t, "n")
		if numbered := Numbered(s, n); !ValidSlug(numbered) || n > 1 && numbered == s {
			t.Fatalf("Numbered(%q, %d) = %q", s, n, numbered)
		}
		id := Identity(text)
		if len(id) < 2 || len(id) > 32 || id[0] == '-' || !slugChars(id) {
			t.Fatalf("Identity(%q) = %q", text, id)
		}
		if session := SessionID(id, text); !validSession(session) || !strings.HasPrefix(session, id+"-") {
			t.Fatalf("SessionID(%q, %q) = %q", id, text, session)
		}
	})
}
