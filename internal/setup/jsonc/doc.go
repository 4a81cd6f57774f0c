// Package jsonc edits JSON files that people write by hand, byte for byte.
//
// A change touches the bytes that it is about and no others: comments,
// trailing commas, the order of keys, the spelling of numbers and strings, a
// byte order mark, line ends and indentation stay as they are. Every change is
// also kept as a list of splices, by which it can be taken back exactly.
//
// The grammar is JSON with line and block comments and trailing commas, read
// by hujson; [Doc.Strict] tells whether a file needs that. Of a key that stands
// twice in an object the last one counts, as for every client.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// Limit bounds a document; what is larger is refused.
const Limit = 32 << 20

// depthLimit bounds nesting, since the parser recurses.
const depthLimit = 10_000

var bom = []byte("\ufeff")

// Doc is a document that is being edited. A text without any value (empty, or
// white space only) is a document whose root is missing; [Doc.Root] is then
// not valid, and the first [Doc.Set] makes an object.
type Doc struct {
	text    []byte // all of it, with the mark
	mark    int    // length of the byte order mark
	root    hujson.Value
	blank   bool
	splices []Splice
}

// Splice is one change of a text: at Offset, Removed was replaced by Inserted.
// Splices are in the order in which they were made; each offset is in the text
// that the one before it left.
type Splice struct {
	Offset   int    `json:"offset"`
	Removed  string `json:"removed"`
	Inserted string `json:"inserted"`
}

// Parse reads a document. The error says where it is broken.
func Parse(text []byte) (*Doc, error) {
	if len(text) > Limit {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", len(text), Limit)
	}
	d := &Doc{text: bytes.Clone(text)}
	return d, d.parse()
}

func (d *Doc) parse() error {
	d.mark = 0
	if bytes.HasPrefix(d.text, bom) {
		d.mark = len(bom)
	}
	body := d.text[d.mark:]
	d.blank = len(bytes.TrimLeft(body, " \t\r\n")) == 0
	if d.blank {
		d.root = hujson.Value{}
		return nil
	}
	if err := checkDepth(body); err != nil {
		return err
	}
	root, err := hujson.Parse(body)
	if err != nil && body[len(body)-1] != '\n' {
		// The parser wants a line end behind a comment, which the end of a file
		// is, too. Nothing is ever written there.
		if closed, again := hujson.Parse(append(bytes.Clone(body), '\n')); again == nil {
			root, err = closed, nil
		}
	}
	if err != nil {
		return errors.New(trimPrefix(err.Error()))
	}
	d.root = root
	return nil
}

func trimPrefix(s string) string {
	const p = "hujson: "
	if len(s) > len(p) && s[:len(p)] == p {
		return s[len(p):]
	}
	return s
}

// checkDepth counts brackets outside of strings. One in a comment counts too;
// that can only refuse what nobody writes.
func checkDepth(text []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"' || inString && c == '\n': // a string ends with its line at the latest
			inString = !inString && c == '"'
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > depthLimit {
				return fmt.Errorf("nested more than %d deep", depthLimit)
			}
		case c == '}' || c == ']':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// Bytes is the document's text as it is now.
func (d *Doc) Bytes() []byte { return bytes.Clone(d.text) }

// Splices are the changes since [Parse].
func (d *Doc) Splices() []Splice { return append([]Splice(nil), d.splices...) }

// Changed reports whether anything was changed since [Parse].
func (d *Doc) Changed() bool { return len(d.splices) > 0 }

// Strict reports whether the document is plain JSON: without comments and
// trailing commas. A blank one is taken for strict.
func (d *Doc) Strict() bool { return d.blank || d.root.IsStandard() }

// Revert takes splices back. It fails, and gives nothing, unless text holds at
// each place what was inserted there.
func Revert(text []byte, splices []Splice) ([]byte, error) {
	text = bytes.Clone(text)
	for i := len(splices) - 1; i >= 0; i-- {
		s := splices[i]
		end := s.Offset + len(s.Inserted)
		if s.Offset < 0 || end > len(text) || string(text[s.Offset:end]) != s.Inserted {
			return nil, errors.New("the text is not what the changes left")
		}
		text = splice(text, s)
	}
	return text, nil
}

// splice is s backwards: what was inserted goes, what was removed comes.
func splice(text []byte, s Splice) []byte {
	out := make([]byte, 0, len(text)-len(s.Inserted)+len(s.Removed))
	out = append(out, text[:s.Offset]...)
	out = append(out, s.Removed...)
	return append(out, text[s.Offset+len(s.Inserted):]...)
}

// edit is a change that is being put together: offsets are in the text as it
// is, and edits of one change do not overlap.
type edit struct {
	from, to int
	insert   string
}

// apply makes the edits, which are in order, and reads the outcome.
func (d *Doc) apply(edits ...edit) error {
	before := *d
	d.splices = append([]Splice(nil), before.splices...)
	// Backwards, so that offsets hold.
	for i := len(edits) - 1; i >= 0; i-- {
		e := edits[i]
		s := Splice{Offset: e.from, Removed: string(d.text[e.from:e.to]), Inserted: e.insert}
		if s.Removed == s.Inserted {
			continue
		}
		d.splices = append(d.splices, s)
		d.text = splice(d.text, Splice{Offset: s.Offset, Removed: s.Inserted, Inserted: s.Removed})
	}
	if err := d.parse(); err != nil {
		*d = before
		return fmt.Errorf("the change would break the file: %w", err)
	}
	return nil
}

// Node is a value of the document. It is good until the next change.
type Node struct {
	doc *Doc
	v   *hujson.Value
}

// Root is the document's value; not valid for a blank document.
func (d *Doc) Root() Node {
	if d.blank {
		return Node{doc: d}
	}
	return Node{doc: d, v: &d.root}
}

// Kind is the value's first character: { [ " t f n, 0 for a number. It is 0
// byte for a node that is not there.
func (n Node) Kind() byte {
	if n.v == nil {
		return 0
	}
	return byte(n.v.Value.Kind())
}

// Valid reports whether the value is there.
func (n Node) Valid() bool { return n.v != nil }

// Raw is the value's text as it stands in the document.
func (n Node) Raw() []byte {
	if n.v == nil {
		return nil
	}
	from, to := n.span()
	return bytes.Clone(n.doc.text[from:to])
}

// span is the value's place in the text.
func (n Node) span() (from, to int) {
	return n.doc.mark + n.v.StartOffset, n.doc.mark + n.v.EndOffset
}

// Decode unmarshals the value. Numbers keep their digits if to is a
// json.Number or a json.RawMessage.
func (n Node) Decode(to any) error {
	if n.v == nil {
		return errors.New("no value")
	}
	plain := n.v.Clone()
	plain.Minimize()
	return json.Unmarshal(plain.Pack(), to)
}

// Len is the number of members or elements; 0 for other values.
func (n Node) Len() int {
	switch v := n.value().(type) {
	case *hujson.Object:
		return len(v.Members)
	case *hujson.Array:
		return len(v.Elements)
	}
	return 0
}

func (n Node) value() hujson.ValueTrimmed {
	if n.v == nil {
		return nil
	}
	return n.v.Value
}

// Key is the name of the i-th member of an object.
func (n Node) Key(i int) string {
	return literal(n.value().(*hujson.Object).Members[i].Name.Value)
}

// At is the i-th member's value or element.
func (n Node) At(i int) Node {
	switch v := n.value().(type) {
	case *hujson.Object:
		return Node{n.doc, &v.Members[i].Value}
	case *hujson.Array:
		return Node{n.doc, &v.Elements[i]}
	}
	return Node{doc: n.doc}
}

// index finds the member of that name that counts: the last one.
func (n Node) index(key string) (int, bool) {
	o, ok := n.value().(*hujson.Object)
	if !ok {
		return 0, false
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if literal(o.Members[i].Name.Value) == key {
			return i, true
		}
	}
	return 0, false
}

// Get follows a path of member names (string) and element numbers (int). The
// node is not valid where the path ends early.
func (n Node) Get(path ...any) Node {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			i, ok := n.index(s)
			if !ok {
				return Node{doc: n.doc}
			}
			n = n.At(i)
		case int:
			if n.Kind() != '[' || s < 0 || s >= n.Len() {
				return Node{doc: n.doc}
			}
			n = n.At(s)
		default:
			panic(fmt.Sprintf("a path of names and numbers has a %T", step))
		}
	}
	return n
}

// Text is the value of a string; "" for other values.
func (n Node) Text() string {
	if n.Kind() != '"' {
		return ""
	}
	return literal(n.value())
}

// literal decodes a string literal.
func literal(v hujson.ValueTrimmed) string {
	l, ok := v.(hujson.Literal)
	if !ok {
		return ""
	}
	var s string
	_ = json.Unmarshal(l, &s)
	return s
}
