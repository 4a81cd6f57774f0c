package place

import (
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/quote"
)

// maxLooked bounds how many entries of folders are looked at to find something
// that a pattern matches; where there are more, nobody is told anything.
const maxLooked = 5000

// Misread says, in a line, that one of some texts was read as a pattern because
// of its brackets or question marks, though nothing here matches it, and how
// the name is written if it was meant as one; "" for nothing. A name such as
// app/[id]/page.tsx is no pattern once app/[id] is there, but may be typed
// before.
func (p Place) Misread(texts []string) string {
	for _, text := range texts {
		parts, err := p.read(text)
		if err != nil {
			continue
		}
		for _, one := range parts {
			if names := strings.Split(one.tail, "/"); marked(one.tail) && !p.there(one.head, names) {
				return quote.Line(text, 200) + " is read as a pattern, in which [ab] is one of the characters a and b and ? is any one; " +
					"nothing here matches it. The name itself is written " + quote.Shell(quote.Line(escaped(one), 200))
			}
		}
	}
	return ""
}

// marked reports whether a pattern has a bracket or question mark that means
// something.
func marked(pattern string) bool { return mark(pattern) < len(pattern) }

// mark gives where in a pattern the first such character is, its length if
// there is none.
func mark(pattern string) int {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[', '?':
			return i
		}
	}
	return len(pattern)
}

// escaped writes a part so that its brackets and question marks are meant as
// they are.
func escaped(one part) string {
	var b strings.Builder
	b.WriteString(one.head) // it is there as it is written
	for i := 0; i < len(one.tail); i++ {
		switch c := one.tail[i]; c {
		case '\\':
			b.WriteByte(c)
			if i++; i == len(one.tail) {
				return b.String()
			}
		case '[', ']', '?':
			b.WriteByte('\\')
		}
		b.WriteByte(one.tail[i])
	}
	return b.String()
}

// there reports whether something matches the names of a pattern below a
// folder, up to the last name with a bracket or question mark: what stands
// behind it may well be made only now.
func (p Place) there(head string, names []string) bool {
	for len(names) > 0 && !marked(names[len(names)-1]) {
		names = names[:len(names)-1]
	}
	looked := 0
	var match func(dir string, names []string) bool
	match = func(dir string, names []string) bool {
		for len(names) > 0 && (names[0] == "" || names[0] == ".") {
			names = names[1:]
		}
		if len(names) == 0 {
			return true
		}
		deep := names[0] == "**"
		if deep && match(dir, names[1:]) {
			return true
		}
		pat, err := claim.ParsePattern(names[0])
		if err != nil {
			return true // it is refused for what it is
		}
		for _, e := range entries(dir) {
			if looked++; looked > maxLooked {
				return true
			}
			below := filepath.Join(dir, e.Name())
			switch {
			case deep:
				if e.IsDir() && match(below, names) {
					return true
				}
			case pat.Match(e.Name()) && match(below, names[1:]):
				return true
			}
		}
		return false
	}
	return match(Resolve(p.absolute(filepath.FromSlash(head))), names)
}

// entries lists a folder, none where it cannot be read.
func entries(dir string) []os.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(maxLooked + 1) // as far as it goes
	return list
}
