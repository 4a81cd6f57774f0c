package jsonc

import "bytes"

// newline is the document's line end: that of its first line.
func (d *Doc) newline() string {
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// line is the text from the start of the line that holds offset up to it.
func (d *Doc) line(offset int) []byte {
	return d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
}

// indentOf is the white space that the line of offset begins with.
func (d *Doc) indentOf(offset int) string {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	if start == 0 {
		start = d.mark
	}
	end := start
	for end < len(d.text) && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:min(end, offset)])
}

// unit is one step of indentation: that of the root's first member that
// begins a line, two spaces where none does.
func (d *Doc) unit() string {
	if d.blank {
		return "  "
	}
	c := d.container(d.Root())
	base := d.indentOf(c.open)
	for _, start := range c.starts {
		if indent, ok := d.begins(start); ok && len(indent) > len(base) && indent[:len(base)] == base {
			return indent[len(base):]
		}
	}
	return "  "
}

// begins gives the indentation of what begins a line.
func (d *Doc) begins(offset int) (string, bool) {
	line := d.line(offset)
	if bytes.LastIndexByte(d.text[:offset], '\n') < 0 || len(bytes.TrimLeft(line, " \t")) > 0 {
		return "", false
	}
	return string(line), true
}

// oneLine reports whether a container with something in it stands on one line.
func (d *Doc) oneLine(n Node) bool {
	from, to := n.span()
	return n.Len() > 0 && !bytes.Contains(d.text[from:to], []byte("\n"))
}

// inline reports whether what is added to a container belongs on its line: it
// has something in it and no line end, or the whole document has none.
func (c container) inline(d *Doc) bool {
	if bytes.Contains(d.text[c.open:c.close], []byte("\n")) {
		return false
	}
	return c.last() >= 0 || d.oneLine(d.Root())
}

// indent is the indentation of a container's members: that of its last one
// that begins a line, or one step more than the container's own line.
func (c container) indent(d *Doc) string {
	for i := c.last(); i >= 0; i-- {
		if indent, ok := d.begins(c.starts[i]); ok {
			return indent
		}
	}
	return d.indentOf(c.open) + d.unit()
}

// separator is what follows a comma on one line: as before the last member,
// or, with one member only, as behind colons.
func (d *Doc) separator(c container) string {
	if i := c.last(); i > 0 {
		return string(d.text[d.cutBefore(c.before[i], c.starts[i]):c.starts[i]])
	}
	if d.spaced() {
		return " "
	}
	return ""
}

// colon is what stands between a name and its value.
func (d *Doc) colon(inline bool) string {
	if inline && !d.spaced() {
		return ":"
	}
	return ": "
}

// spaced reports whether the document puts a space behind its first colon or,
// without one, its first comma.
func (d *Doc) spaced() bool {
	for _, sign := range []string{`":`, `,`} {
		if i := bytes.Index(d.text, []byte(sign)); i >= 0 {
			rest := d.text[i+len(sign):]
			return len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
		}
	}
	return false
}

// render marshals a value for the place that indent tells.
func (d *Doc) render(value any, indent string, inline bool) (string, error) {
	if inline {
		return render(value, "", "", "")
	}
	return render(value, indent, d.unit(), d.newline())
}
