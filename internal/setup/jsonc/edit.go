package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Set gives a member of the object at path a value: it replaces the value of
// that name, or adds a member at the end. path must lead to an object, or be
// empty for the root. A blank document becomes an object.
//
// value is marshalled; the style (indentation, line ends, one line or many) is
// that of what stands around it.
func (d *Doc) Set(path []any, key string, value any) error {
	if d.blank {
		if len(path) > 0 {
			return errors.New("the document is empty")
		}
		text, err := render(map[string]any{key: value}, "", "  ", d.newline())
		if err != nil {
			return err
		}
		return d.apply(edit{d.mark, d.mark, text + d.newline()})
	}
	at := d.Root().Get(path...)
	if at.Kind() != '{' {
		return fmt.Errorf("%s is no object", name(path))
	}
	if i, ok := at.index(key); ok {
		old := at.At(i)
		from, to := old.span()
		text, err := d.render(value, d.indentOf(from), d.oneLine(at))
		if err != nil {
			return err
		}
		return d.apply(edit{from, to, text})
	}
	quoted, err := render(key, "", "", "")
	if err != nil {
		return err
	}
	return d.insert(at, quoted, value)
}

// Append adds an element to the end of the array at path.
func (d *Doc) Append(path []any, value any) error {
	at := d.Root().Get(path...)
	if at.Kind() != '[' {
		return fmt.Errorf("%s is no array", name(path))
	}
	return d.insert(at, "", value)
}

// Replace gives the value at path, which must be there, another value.
func (d *Doc) Replace(path []any, value any) error {
	at := d.Root().Get(path...)
	if !at.Valid() || len(path) == 0 {
		return fmt.Errorf("there is no %s", name(path))
	}
	from, to := at.span()
	text, err := d.render(value, d.indentOf(from), d.oneLine(d.Root().Get(path[:len(path)-1]...)))
	if err != nil {
		return err
	}
	return d.apply(edit{from, to, text})
}

// insert adds a member (key is its quoted name) or an element (key is "") at
// the end of a container.
//
//	"last": 1 // why          "last": 1, // why
//	}                    →    "new": 2
//	                          }
//
// The comma goes right behind the last value, the new one behind the comments
// that follow it, and the white space before the closing bracket stays.
func (d *Doc) insert(at Node, key string, value any) error {
	c := d.container(at)
	inline := c.inline(d)
	indent := c.indent(d)
	text, err := d.render(value, indent, inline)
	if err != nil {
		return err
	}
	if key != "" {
		text = key + d.colon(inline) + text
	}
	head := c.rest(d)
	gap := ""
	switch {
	case !inline:
		gap = d.newline() + indent
	case c.last() >= 0:
		gap = d.separator(c)
	}
	switch end := c.last(); {
	case end < 0 && !inline && !bytes.Contains(d.text[head:c.close], []byte("\n")):
		// {} opens up over several lines.
		return d.apply(edit{head, c.close, gap + text + d.newline() + d.indentOf(c.open)})
	case end < 0:
		return d.apply(edit{head, head, gap + text})
	case c.trailing:
		return d.apply(edit{head, head, gap + text + ","})
	case head == c.ends[end]:
		return d.apply(edit{head, head, "," + gap + text})
	default:
		return d.apply(edit{c.ends[end], c.ends[end], ","}, edit{head, head, gap + text})
	}
}

// Delete removes the member or element at path with its comma, and the white
// space before it, so that it undoes [Doc.Set] and [Doc.Append]. Comments
// around it stay.
func (d *Doc) Delete(path ...any) error {
	at := d.Root().Get(path...)
	if !at.Valid() || len(path) == 0 {
		return fmt.Errorf("there is no %s", name(path))
	}
	parent := d.Root().Get(path[:len(path)-1]...)
	i, isElement := path[len(path)-1].(int)
	if !isElement {
		i, _ = parent.index(path[len(path)-1].(string))
	}
	c := d.container(parent)
	from, end := d.cutBefore(c.before[i], c.starts[i]), c.ends[i]
	comma := d.commaAfter(c, i)
	var edits []edit
	switch {
	case comma >= 0 && len(bytes.TrimSpace(d.text[end:comma])) == 0:
		end = comma + 1
	case comma >= 0: // a comment stands between the value and its comma
		edits = append(edits, edit{comma, comma + 1, ""})
	case i > 0: // the last one, without a comma: the one before it loses its own
		prev := d.commaAfter(c, i-1)
		edits = append(edits, edit{prev, prev + 1, ""})
	}
	if c.last() == 0 && d.onlySpace(c, from, end) {
		return d.apply(edit{c.open + 1, c.close, ""})
	}
	if endsInLineComment(d.text[c.before[i]:from]) && !beginsLine(d.text[end:]) {
		// A line comment that stays must not swallow what follows.
		if br := bytes.IndexByte(d.text[from:c.starts[i]], '\n'); br >= 0 {
			from += br + 1
		}
	}
	edits = append(edits, edit{from, end, ""})
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return d.apply(edits...)
}

// endsInLineComment reports whether the last of the comments in a text of
// comments and white space goes up to the line's end.
func endsInLineComment(text []byte) bool {
	for {
		open := bytes.IndexByte(text, '/')
		if open < 0 {
			return false
		}
		text = text[open:]
		end := bytes.IndexByte(text, '\n')
		if bytes.HasPrefix(text, []byte("/*")) {
			if end = bytes.Index(text, []byte("*/")); end >= 0 {
				end++
			}
		}
		if end < 0 {
			return bytes.HasPrefix(text, []byte("//"))
		}
		text = text[end+1:]
	}
}

// beginsLine reports whether only blanks stand before the next line end.
func beginsLine(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r")
	return len(text) > 0 && text[0] == '\n'
}

// onlySpace reports whether a container holds nothing but white space outside
// of a range of it.
func (d *Doc) onlySpace(c container, from, to int) bool {
	return len(bytes.TrimSpace(d.text[c.open+1:from])) == 0 && len(bytes.TrimSpace(d.text[to:c.close])) == 0
}

// cutBefore gives the place behind the last comment between from and to: what
// follows is white space that came with the value at to. The line end that
// ends a line comment belongs to that space.
func (d *Doc) cutBefore(from, to int) int {
	gap := d.text[from:to]
	return from + len(bytes.TrimRight(gap, " \t\r\n"))
}

// commaAfter gives the place of the comma behind the i-th value, or -1.
func (d *Doc) commaAfter(c container, i int) int {
	if i == c.last() && !c.trailing {
		return -1
	}
	return c.afters[i]
}

// container is the layout of an object or an array, in offsets of the text.
type container struct {
	open, close int   // of the brackets
	before      []int // where the space and comments before a member begin
	starts      []int // of the member's name, or of the element
	ends        []int // of the value
	afters      []int // behind the space and comments that follow the value
	trailing    bool  // the last value has a comma
}

func (c container) last() int { return len(c.starts) - 1 }

func (d *Doc) container(n Node) container {
	from, to := n.span()
	c := container{open: from, close: to - 1}
	add := func(first, value *hujson.Value) {
		start := d.mark + first.StartOffset
		c.before = append(c.before, start-len(first.BeforeExtra))
		c.starts = append(c.starts, start)
		end := d.mark + value.EndOffset
		c.ends = append(c.ends, end)
		c.afters = append(c.afters, end+len(value.AfterExtra))
		c.trailing = value.AfterExtra != nil // hujson's mark on the last one
	}
	switch v := n.value().(type) {
	case *hujson.Object:
		for i := range v.Members {
			add(&v.Members[i].Name, &v.Members[i].Value)
		}
	case *hujson.Array:
		for i := range v.Elements {
			add(&v.Elements[i], &v.Elements[i])
		}
	}
	return c
}

// rest gives the place behind the last thing in a container, value, comma or
// comment: only white space follows up to the closing bracket.
func (c container) rest(d *Doc) int {
	from := c.open + 1
	if last := c.last(); last >= 0 {
		if from = c.ends[last]; c.trailing {
			from = c.afters[last] + 1
		}
	}
	return d.cutBefore(from, c.close)
}

func name(path []any) string {
	if len(path) == 0 {
		return "the document"
	}
	var b strings.Builder
	for i, step := range path {
		switch s := step.(type) {
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		default:
			fmt.Fprintf(&b, "[%v]", s)
		}
	}
	return b.String()
}

// render marshals a value in a layout: indent is that of the line it begins
// on, unit one step more. An empty newline makes one line.
func render(value any, indent, unit, newline string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if newline != "" {
		e.SetIndent(indent, unit)
	}
	if err := e.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if newline != "" && newline != "\n" {
		text = strings.ReplaceAll(text, "\n", newline)
	}
	return text, nil
}
