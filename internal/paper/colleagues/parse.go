package colleagues

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/roster"
)

// file is one file on its way to a staff.
type file struct {
	path  string
	env   func(string) string
	lines map[name.Key]int // where a name was defined
	wrong int              // bytes of entries with problems that the parser was given
	full  bool             // no more is read of it
	out   roster.Staff
}

// Parse reads a roster file's content; path is where it stands, for relative
// paths and problems. It never fails: what cannot be used is a problem.
func Parse(content []byte, path string, env func(string) string) roster.Staff {
	f := &file{path: path, env: env, lines: map[name.Key]int{}}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if at := bytes.IndexByte(content, 0); at >= 0 || !utf8.Valid(content) {
		f.problem(0, "", "it is no text in UTF-8", "save it as UTF-8, without any NUL")
		return f.out
	}
	for _, e := range split(content) {
		if f.full {
			break
		}
		before := len(f.out.Problems)
		f.entry(e)
		if len(f.out.Problems) > before && len(e.text) <= MaxEntry {
			f.wrong += len(e.text)
		}
		if f.wrong > maxWrong && !f.full {
			f.stop(e.line)
		}
	}
	return f.out
}

// maxWrong bounds the text with problems that is looked at: 4 KiB of it can
// take the parser some hundredths of a second.
const maxWrong = 32 << 10

// stop ends the reading of a file that is more wrong than right.
func (f *file) stop(line int) {
	f.full = true
	f.out.Problems = append(f.out.Problems, fault.New(fault.Invalid, "%s line %d: too many problems; from here on it is not read", f.path, line).
		WithHint("mend the first ones"))
}

// problem adds what is wrong with a line (0 for the whole file) and a colleague
// ("" for none).
func (f *file) problem(line int, who, text, hint string) {
	where := f.path
	if line > 0 {
		where += fmt.Sprintf(" line %d", line)
	}
	if who != "" {
		where += ": colleague " + show(who)
	}
	switch {
	case f.full:
	case len(f.out.Problems) == MaxProblems-1:
		f.stop(line)
	default:
		f.out.Problems = append(f.out.Problems, fault.New(fault.Invalid, "%s: %s", where, text).WithHint("%s", hint))
	}
}

// piece is the text of one entry and the line on which it begins.
type piece struct {
	line int
	text []byte
}

// split cuts a file into its entries: each begins on a line that is not
// indented further than the first one. They are given to the YAML parser one
// by one, for two reasons: an entry with a mistake in it hides no other one,
// and the parser, which takes minutes for some files of 1 MiB (of quotes, or of
// a name again and again), sees little at a time. A file that begins with a
// bracket is one piece.
func split(content []byte) (out []piece) {
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	content = bytes.ReplaceAll(content, []byte("\r"), []byte("\n"))
	base, whole := -1, false
	n, skipped := 0, 0 // lines in all, and those left out since the piece's last
	for line := range bytes.Lines(content) {
		n++
		bare := bytes.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		rest := bytes.TrimSpace(bare)
		begins := false
		switch {
		case len(rest) == 0, rest[0] == '#' && indent <= max(base, 0), indent == 0 && (line[0] == '%' || marker(rest)):
			skipped++
			continue
		case base < 0 && rest[0] == '#':
			continue
		case base < 0:
			base, whole, begins = indent, rest[0] == '{' || rest[0] == '[', true
		default:
			begins = indent <= base && bare[0] != '\t' && !whole // a tab: meant to be indented
		}
		if begins {
			out = append(out, piece{line: n})
			skipped = 0
		}
		last := &out[len(out)-1]
		for ; skipped > 0; skipped-- { // a text of several lines may hold them
			last.text = append(last.text, '\n')
		}
		last.text = append(last.text, line...)
	}
	return out
}

// marker recognises the lines that begin and end a document.
func marker(line []byte) bool {
	for _, m := range []string{"---", "..."} {
		if rest, ok := bytes.CutPrefix(line, []byte(m)); ok {
			rest = bytes.TrimSpace(rest)
			return len(rest) == 0 || rest[0] == '#'
		}
	}
	return false
}

// entry reads one piece: a mapping of a name, or of several in brackets.
func (f *file) entry(p piece) {
	who := ""
	if key, _, ok := bytes.Cut(p.text, []byte(":")); ok && !bytes.ContainsAny(key, "\n{[") {
		who = strings.Trim(strings.TrimSpace(string(key)), `"'`)
	}
	// The text is anybody's, and what is wrong with it must not end the program.
	defer func() {
		if r := recover(); r != nil {
			f.problem(p.line, who, "it cannot be read as YAML", "write NAME: and below it, indented, brief: TEXT")
		}
	}()
	if len(p.text) > MaxEntry {
		f.problem(p.line, who, fmt.Sprintf("the entry has %d bytes; the limit is %d", len(p.text), MaxEntry), "put what is long into the agent_file")
		return
	}
	if nested(p.text) {
		f.problem(p.line, who, fmt.Sprintf("the entry has more than %d brackets, dashes and other marks of YAML", maxNested), "an entry is NAME: and below it FIELD: TEXT; put texts with such marks in quotes")
		return
	}
	doc, err := parser.ParseBytes(p.text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, text := p.line, err.Error()
		var e yaml.Error
		if errors.As(err, &e) {
			text = e.GetMessage()
			if t := e.GetToken(); t != nil && t.Position != nil {
				line += max(t.Position.Line-1, 0)
			}
		}
		f.problem(line, who, "it is no YAML: "+strings.Join(strings.Fields(text), " "), "write NAME: and below it, indented with spaces, brief: TEXT")
		return
	}
	for _, d := range doc.Docs {
		pairs, ok := mapping(d.Body)
		if !ok {
			f.problem(p.line, "", "the file is a mapping of names, and this is none: "+show(firstLine(p.text)), "write NAME: and below it, indented, brief: TEXT")
			continue
		}
		for _, kv := range pairs {
			if f.full {
				return
			}
			f.colleague(kv, p)
		}
	}
}

// maxNested bounds what can nest in an entry. The parser needs a fifth of a
// second for 4 KiB of brackets, and there may be many such entries.
const maxNested = 64

// nested reports whether an entry has more marks at the beginning of words than
// any needs. It does not know what is quoted.
func nested(text []byte) bool {
	marks, begins := 0, true
	for i, c := range text {
		switch c {
		case '[', '{', '!', '&', '*':
			if begins {
				marks++
			}
		case '-', '?':
			if begins && (i+1 == len(text) || strings.IndexByte(" \t\n", text[i+1]) >= 0) {
				marks++
			}
		}
		begins = strings.IndexByte(" \t\n[]{},:\"'", c) >= 0
	}
	return marks > maxNested
}

// mapping gives the pairs of a mapping; nothing is an empty one.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, true
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// scalar gives the text of a value that is one: "" for nothing.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.NullNode, nil:
		return "", true
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true // as it was written
	}
	return "", false // also what stands for something else: anchors, aliases, tags
}

// fields are the words of an entry; two of them have the Portuguese ones that
// Escritório's files use.
var fields = map[string]string{
	"brief": "brief", "tier": "tier", "agent_file": "agent_file", "caderno": "notebook", "notebook": "notebook",
	"cwd": "cwd", "modelo": "model", "model": "model",
}

var fieldWords = []string{"brief", "tier", "agent_file", "notebook", "caderno", "cwd", "model", "modelo"}

// colleague reads one entry of a piece.
func (f *file) colleague(kv *ast.MappingValueNode, e piece) {
	at := func(n ast.Node) int {
		line, _ := position(n)
		return e.line - 1 + line
	}
	line := at(kv.Key)
	word, ok := scalar(kv.Key)
	if !ok {
		f.problem(line, "", "a name is a plain word, and this is none: "+show(e.source(kv.Key)), name.Rule)
		return
	}
	called, err := name.Parse(word)
	if err != nil {
		f.problem(line, "", err.Error(), fault.HintOf(err))
		return
	}
	p := roster.Profile{Name: called, Tier: roster.Advisor, File: f.path, Line: line}
	if was, twice := f.lines[called.Key()]; twice {
		f.problem(line, word, fmt.Sprintf("it is defined on line %d already; that one counts", was), "take one of them out, or rename it")
		return
	}
	f.lines[called.Key()] = line
	pairs, ok := mapping(kv.Value)
	if !ok {
		f.problem(line, word, "fields are wanted, not "+show(e.source(kv.Value)), "write below it, indented: brief: TEXT")
		return
	}
	given, bad := map[string]int{}, false
	for _, field := range pairs {
		key, _ := scalar(field.Key)
		what, known := fields[key]
		if !known {
			hint := "the fields are " + strings.Join(fieldWords, ", ")
			if near := name.Suggest(key, fieldWords, 1); len(near) > 0 {
				hint = "did you mean " + near[0] + "? " + hint
			}
			f.problem(at(field.Key), word, "the field "+show(key)+" is not known and has no effect", hint)
			continue
		}
		text, hint := "", ""
		value, plain := scalar(field.Value)
		switch was, twice := given[what]; {
		case twice:
			text, hint = fmt.Sprintf("%s is given on line %d already", key, was), "take one of them out"
		case !plain:
			text, hint = key+" is no plain text: "+show(e.source(field.Value)), "write "+key+": TEXT, in quotes if need be"
		default:
			text, hint = f.set(&p, what, value)
		}
		if given[what] = at(field.Key); text != "" {
			f.problem(at(field.Key), word, text, hint)
			bad = true
		}
	}
	if r := []rune(p.Brief); len(r) > MaxBrief {
		p.Brief = strings.TrimSpace(string(r[:MaxBrief-1])) + "…"
		f.problem(given["brief"], word, fmt.Sprintf("the brief has %d characters and is cut to %d", len(r), MaxBrief), "say it in one line; the agent_file has room for more")
	}
	switch {
	case bad || f.full:
	case p.Brief == "":
		f.problem(line, word, "the brief is missing", "say in one line what to turn to it for: brief: TEXT")
	case len(f.out.Colleagues) == MaxColleagues:
		f.problem(line, word, fmt.Sprintf("it is one more than the %d colleagues that a file may have; the rest is not read", MaxColleagues), "take some out")
		f.full = true
	default:
		f.out.Colleagues = append(f.out.Colleagues, p)
	}
}

// set takes one field over, or says what is wrong with it.
func (f *file) set(p *roster.Profile, what, value string) (text, hint string) {
	path := func(to *string) {
		if value == "" {
			return
		}
		var err error
		if *to, err = expand(value, filepath.Dir(f.path), f.env); err != nil {
			text, hint = what+": "+err.Error(), fault.HintOf(err)
		}
	}
	switch what {
	case "brief":
		p.Brief = strings.Join(strings.Fields(value), " ")
	case "tier":
		var ok bool
		if p.Tier, ok = roster.ParseTier(value); !ok {
			return "the tier " + show(value) + " is not known", "advisor, editor or worktree"
		}
	case "agent_file":
		path(&p.AgentFile)
	case "notebook":
		path(&p.Notebook)
	case "cwd":
		path(&p.Folder)
	case "model":
		if p.Model = value; len(value) > 200 || strings.HasPrefix(value, "-") || strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return "the model " + show(value) + " is no model's name", "give one word as the client knows it, such as opus"
		}
	}
	return text, hint
}

// position gives the line and the column of a node, both from 1.
func position(n ast.Node) (line, column int) {
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			return max(t.Position.Line, 1), max(t.Position.Column, 1)
		}
	}
	return 1, 1
}

// source gives what stands at a node, up to the end of its line. What the
// parser makes of a node again as text takes minutes for some.
func (e piece) source(n ast.Node) string {
	line, column := position(n)
	for l := range bytes.Lines(e.text) {
		if line--; line == 0 {
			r := []rune(string(l))
			return firstLine([]byte(string(r[min(column-1, len(r)):])))
		}
	}
	return ""
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return string(line)
}

// show quotes a bad value for a problem: in one line, and not a long one.
func show(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:59]) + "…"
	}
	return strconv.Quote(s)
}
