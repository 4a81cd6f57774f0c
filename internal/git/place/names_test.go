package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewFilesInFoldersWithBrackets: what is there as it is written is a name,
// also in front of what is not there yet.
func TestNewFilesInFoldersWithBrackets(t *testing.T) {
	l := newLayout(t)
	app := filepath.Join(l.root, "app")
	for _, d := range []string{"[id]/(tabs)", "{x}", "i", "why?", "[id]/[...rest]"} {
		if err := os.MkdirAll(filepath.Join(app, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir, text  string
		is, is2    string // what it covers
		not        string // what it does not
		misread    bool
		sayLiteral string
	}{
		{dir: "", text: "app/[id]/new.tsx", is: "app/[id]/new.tsx", not: "app/i/new.tsx"},
		{dir: "app", text: "[id]/new.tsx", is: "app/[id]/new.tsx", not: "app/i/new.tsx"},
		{dir: "app/[id]", text: "new.tsx", is: "app/[id]/new.tsx", not: "app/i/new.tsx"},
		{dir: "", text: "./app//[id]/a/b.tsx", is: "app/[id]/a/b.tsx", not: "app/d/a/b.tsx"},
		{dir: "", text: "app/[id]/../[id]/new.tsx", is: "app/[id]/new.tsx", not: "app/i/new.tsx"},
		{dir: "", text: "app/[id]/*.tsx", is: "app/[id]/q.tsx", not: "app/i/q.tsx"},
		{dir: "", text: "app/[id]/**/new.tsx", is: "app/[id]/u/v/new.tsx", not: "app/i/new.tsx"},
		{dir: "", text: "app/[id]/{a,b}.tsx", is: "app/[id]/a.tsx", is2: "app/[id]/b.tsx", not: "app/i/a.tsx"},
		{dir: "", text: "app/{x}/new.tsx", is: "app/{x}/new.tsx", not: "app/x/new.tsx"},
		{dir: "", text: "app/why?/new.tsx", is: "app/why?/new.tsx", not: "app/whys/new.tsx"},
		{dir: "", text: "app/[id]/[...rest]/new.tsx", is: "app/[id]/[...rest]/new.tsx", not: "app/[id]/r/new.tsx"},
		{dir: "", text: "app/*/new.tsx", is: "app/i/new.tsx", is2: "app/[id]/new.tsx", not: "app/i/x.tsx"},
		{dir: "", text: "**/new.tsx", is: "app/[id]/new.tsx", not: "app/i/x.tsx"},
		{dir: "", text: "src/[ab].go", is: "src/a.go", not: "src/c.go"},
		{dir: "", text: "app/[ij]/x", is: "app/i/x", not: "app/[ij]/x"},
		{dir: "", text: "**/[ab].go", is: "src/a.go", not: "src/c.go"},
		{dir: "", text: `app/\[id\]/new.tsx`, is: "app/[id]/new.tsx", not: "app/i/new.tsx"},
		{dir: "", text: "doc/*.md", is: "doc/a.md", not: "doc/a"},

		// Nothing is there: it is a pattern, and that is said.
		{text: "app/[slug]/page.tsx", is: "app/s/page.tsx", not: "app/[slug]/page.tsx", misread: true, sayLiteral: `app/\[slug\]/page.tsx`},
		{text: "app/[id]/[slug]/page.tsx", is: "app/[id]/s/page.tsx", not: "app/i/s/page.tsx", misread: true, sayLiteral: `app/[id]/\[slug\]/page.tsx`},
		{text: "new/[id].tsx", is: "new/i.tsx", not: "new/[id].tsx", misread: true, sayLiteral: `new/\[id\].tsx`},
		{text: "src/what?.go", is: "src/whats.go", not: "src/what.go", misread: true, sayLiteral: `src/what\?.go`},
		{text: "**/[slug]/page.tsx", is: "app/s/page.tsx", not: "app/t/page.tsx", misread: true, sayLiteral: `**/\[slug\]/page.tsx`},
	} {
		p, w := want(t, filepath.Join(l.root, filepath.FromSlash(c.dir)), c.text)
		covers := func(path string) bool { return path == "" || w.Holds(path, l.root) }
		if !covers(c.is) || !covers(c.is2) || covers(c.not) {
			t.Errorf("%s is %q", c.text, w.Paths)
		}
		said := p.Misread([]string{"src", c.text})
		if (said != "") != c.misread || !strings.Contains(said, c.sayLiteral) {
			t.Errorf("%s: %q", c.text, said)
		}
		if c.misread {
			// The name as it is told to be written is the name.
			if _, w := want(t, l.root, c.sayLiteral); !strings.Contains(c.sayLiteral, "*") && !w.Holds(c.not, l.root) && c.not == c.text || w.Holds(c.is, l.root) {
				t.Errorf("%s is %q", c.sayLiteral, w.Paths)
			}
		}
	}
}
