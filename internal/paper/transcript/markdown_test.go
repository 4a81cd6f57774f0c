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
	"github.com/yuin/goldmark/util"
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

// renderers are ways to read a transcript: as the standard says, and with bare
// addresses linked. Those that do that differ in what they take into an address;
// goldmark's own stops at a backslash, which others do not.
var renderers = []struct {
	name string
	goldmark.Markdown
}{
	{"GitHub's extensions", markdown},
	{"addresses up to a blank", linking(" \t\n<")},
	{"addresses up to a backtick", linking(" \t\n<`")},
	{"addresses up to a bracket", linking(" \t\n<`[]()!")},
}

func linking(ends string) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithRendererOptions(html.WithUnsafe()),
		goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(bare{ends}, 1))),
	)
}

// bare takes a bare address for what it is, before anything else is looked for
// in it: of www.… and of whatever stands before ://, all up to one of ends.
type bare struct{ ends string }

func (bare) Trigger() []byte { return []byte{':', '.'} }

func (b bare) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	before := block.Source()[:segment.Start]
	switch {
	case parent.Kind() == ast.KindLink:
		return nil
	case bytes.HasPrefix(line, []byte("://")) && len(before) > 0 && alphanumeric(before[len(before)-1]):
	case line[0] == '.' && len(before) >= 3 && bytes.EqualFold(before[len(before)-3:], []byte("www")):
	default:
		return nil
	}
	n := bytes.IndexAny(line, b.ends)
	if n < 0 {
		n = len(line)
	}
	if n < 2 {
		return nil
	}
	block.Advance(n)
	link := ast.NewAutoLink(ast.AutoLinkURL, ast.NewTextSegment(segment.WithStop(segment.Start+n)))
	link.Protocol = []byte("http:")
	return link
}

func read(markdown goldmark.Markdown, src []byte) outline {
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
			if n.AutoLinkType == ast.AutoLinkURL && n.Protocol == nil {
				o.links = append(o.links, string(n.URL(src)))
			}
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
	var first outline
	for i, r := range renderers {
		o := checkOutline(t, r.Markdown, r.name, src, l, entries)
		if i == 0 {
			first = o
		}
	}
	return first
}

func checkOutline(t tester, markdown goldmark.Markdown, name string, src []byte, l *labels, entries []Entry) outline {
	t.Helper()
	o := read(markdown, src)
	want := []string{"# " + l.title, "## " + l.thread}
	notices := 0
	for _, e := range entries {
		if e.Kind == Notice {
			notices++
			continue
		}
		want = append(want, "### "+shown(markdown, l.heading(e)))
	}
	if got := strings.Join(o.headings, "\n"); got != strings.Join(want, "\n") {
		t.Fatalf("%s: headings\n%s\nwant\n%s\nin\n%s", name, got, strings.Join(want, "\n"), src)
	}
	if len(o.quotes) != notices || o.rules != len(entries) || o.comments != len(entries)+1 || o.tables != 1 {
		t.Fatalf("%s: %d quotes, %d rules, %d comments, %d tables for %d entries, %d of them notices, in\n%s",
			name, len(o.quotes), o.rules, o.comments, o.tables, len(entries), notices, src)
	}
	for _, q := range o.quotes {
		if !strings.HasPrefix(q, "🔔 "+l.system+l.colon) {
			t.Fatalf("%s: a quote that is no notice: %q in\n%s", name, q, src)
		}
	}
	if len(o.foreign) > 0 {
		t.Fatalf("%s: %s in\n%s", name, strings.Join(o.foreign, "; "), src)
	}
	return o
}

// shown is what a reader sees of a heading's Markdown.
func shown(markdown goldmark.Markdown, s string) string {
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
