package transcript

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// outline is the structure that a Markdown parser finds.
type outline struct {
	headings []string // "3 text"
	quotes   []string
	links    []string
	rows     []string // of tables, the first included
	rules    int
	tables   int
	comments int
	foreign  []string // what nobody may write
}

// markdown is CommonMark with GitHub's extensions and footnotes. Raw HTML
// passes, as in a careless renderer.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

func read(src []byte) outline {
	var o outline
	pc := parser.NewContext()
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(pc))
	for _, r := range pc.References() {
		o.foreign = append(o.foreign, "definition of "+string(r.Label()))
	}
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			o.headings = append(o.headings, strings.Repeat("#", n.Level)+" "+words(n, src))
		case *ast.Blockquote:
			o.quotes = append(o.quotes, words(n, src))
		case *ast.ThematicBreak:
			o.rules++
		case *east.Table:
			o.tables++
		case *east.TableHeader, *east.TableRow:
			var cells []string
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				cells = append(cells, words(c, src))
			}
			o.rows = append(o.rows, strings.Join(cells, "|"))
		case *ast.HTMLBlock:
			var b bytes.Buffer
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(src))
			}
			s := strings.TrimSpace(b.String())
			inner, ok := strings.CutPrefix(s, "<!-- bureau:")
			inner, ok2 := strings.CutSuffix(inner, " -->")
			if n.HasClosure() || !ok || !ok2 || strings.ContainsAny(inner, "<>\n") || n.Parent().Kind() != ast.KindDocument {
				o.foreign = append(o.foreign, "HTML "+s)
			}
			o.comments++
		case *ast.RawHTML:
			o.foreign = append(o.foreign, "inline HTML")
		case *ast.Image:
			o.foreign = append(o.foreign, "picture of "+string(n.Destination))
		case *ast.Link:
			o.links = append(o.links, string(n.Destination))
		case *ast.AutoLink:
			o.links = append(o.links, string(n.URL(src)))
		}
		switch n.Kind() {
		case east.KindFootnote, east.KindFootnoteLink, east.KindFootnoteList:
			o.foreign = append(o.foreign, "footnote")
		}
		return ast.WalkContinue, nil
	})
	for _, l := range o.links {
		low := strings.ToLower(l)
		if strings.Contains(strings.SplitN(low, "/", 2)[0], ":") &&
			!strings.HasPrefix(low, "http:") && !strings.HasPrefix(low, "https:") && !strings.HasPrefix(low, "mailto:") {
			o.foreign = append(o.foreign, "link to "+l)
		}
	}
	return o
}

// words gives the text below a node as a reader sees it.
func words(n ast.Node, src []byte) string {
	var b strings.Builder
	ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.Write(unescapeText(c.Value(src)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func unescapeText(s []byte) []byte {
	var out bytes.Buffer
	w := html.DefaultWriter
	bw := &bufWriter{&out}
	w.Write(bw, s)
	r := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&")
	return []byte(r.Replace(out.String()))
}

// bufWriter makes a buffer what goldmark writes to.
type bufWriter struct{ *bytes.Buffer }

func (b *bufWriter) Available() int { return 1 << 20 }
func (b *bufWriter) Buffered() int  { return 0 }
func (b *bufWriter) Flush() error   { return nil }

type tester interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// checkStructure fails unless a parser finds our structure in src, for exactly
// these entries, and nothing else.
func checkStructure(t tester, src []byte, lang string, entries []Entry) outline {
	t.Helper()
	_, l, err := language(lang)
	if err != nil {
		t.Fatalf("%v", err)
	}
	o := read(src)
	want := []string{"# " + l.title, "## " + l.thread}
	notices := 0
	for _, e := range entries {
		if e.Kind == Notice {
			notices++
			continue
		}
		want = append(want, "### "+shown(l.heading(e)))
	}
	if got := strings.Join(o.headings, "\n"); got != strings.Join(want, "\n") {
		t.Fatalf("headings\n%s\nwant\n%s\nin\n%s", got, strings.Join(want, "\n"), src)
	}
	if len(o.quotes) != notices || o.rules != len(entries) || o.comments != len(entries)+1 || o.tables != 1 {
		t.Fatalf("%d quotes, %d rules, %d comments, %d tables for %d entries, %d of them notices, in\n%s",
			len(o.quotes), o.rules, o.comments, o.tables, len(entries), notices, src)
	}
	for _, q := range o.quotes {
		if !strings.HasPrefix(q, "🔔 "+l.system+l.colon) {
			t.Fatalf("a quote that is no notice: %q in\n%s", q, src)
		}
	}
	if len(o.foreign) > 0 {
		t.Fatalf("%s in\n%s", strings.Join(o.foreign, "; "), src)
	}
	return o
}

// shown is what a reader sees of a heading's Markdown.
func shown(s string) string {
	src := []byte("### " + s + "\n")
	doc := markdown.Parser().Parse(text.NewReader(src))
	return words(doc.FirstChild(), src)
}

// render gives a whole file for entries, as Update would write it.
func render(h Header, lang string, private bool, entries ...Entry) []byte {
	code, l, _ := language(lang)
	slots := l.slots(h, leastRows)
	w := fit(slots, nil)
	out := head(identity{Room: "r", Lang: code, Private: private}, extent{End: int64(w.size())}, slots, w)
	for _, e := range entries {
		out = append(out, l.entry(e)...)
	}
	return out
}

var _ tester = (*testing.T)(nil)
