package claim

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBelow: what a pattern means in a folder is what it matches there, whole
// name by whole name.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		p      Pattern
		folder string
		want   []Pattern
	}{
		{Root, "a/b", []Pattern{Root}},
		{"a", "a", []Pattern{Root}},
		{"a", "a/b", []Pattern{Root}},
		{"a", "ab", nil},
		{"a/b", "a", []Pattern{"b"}},
		{"a/b", "b", nil},
		{"libs/*", "libs/foo", []Pattern{Root}},
		{"libs/*/x", "libs/foo", []Pattern{"x"}},
		{"*.go", "libs", nil},
		{"libs/**/*.go", "libs/foo", []Pattern{"**/*.go"}},
		{"**/in/f", "a/in", []Pattern{"**/in/f", "f"}},
		{":(icase)libs/*.go", "LIBS", []Pattern{":(icase)*.go"}},
		{`a\*b/c`, "a*b", []Pattern{"c"}},
		{"a/b", ".", []Pattern{"a/b"}},
		{"a", "../a", nil},
		{"", "a", nil},
	} {
		got := c.p.Below(c.folder)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %s: %q, want %q", c.p, c.folder, got, c.want)
		}
	}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "aba", "A"}), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "**", "*", "a*", "?", "*b", "[ab]", "A"}), 1, 4).Draw(t, "pattern"), "/"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "fold") {
			p = p.Fold()
		}
		folder, path := strings.Join(names.Draw(t, "folder"), "/"), strings.Join(names.Draw(t, "path"), "/")
		list := p.Below(folder)
		for _, q := range list {
			if again, err := ParsePattern(string(q)); err != nil || again != q {
				t.Fatalf("%q in %s: %q is no pattern (%q, %v)", p, folder, q, again, err)
			}
		}
		if got := slices.ContainsFunc(list, func(q Pattern) bool { return q.Match(path) }); got != p.Match(folder+"/"+path) {
			t.Fatalf("%q in %s: %q, and %s matches: %v", p, folder, list, path, got)
		}
	})
}
