package place

import (
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/fault"
)

// For finds the place that somebody in a folder means with some paths and
// patterns: that of the folder, or, where they lie in another work tree or
// project (beside it, or below it as linked work trees may), that one.
// Relative texts stay relative to the folder. It refuses (invalid) texts of
// more than one work tree, since a claim is of one.
func For(dir string, texts []string) (Place, error) {
	p, err := Of(dir)
	if err != nil {
		return p, err
	}
	at := p.Dir
	for i, text := range texts {
		q, err := p.of(text)
		if err != nil {
			return p, err
		}
		if p.Project.Root != "" && q.plain() {
			// Below, a folder that is no repository is a part of this one;
			// elsewhere nobody says where its project begins.
			if inside(p.Tree, q.Dir) {
				continue
			}
			return p, p.outside(text)
		}
		switch q.Dir = at; {
		case q.Tree == p.Tree:
		case i == 0:
			p = q
		default:
			return p, fault.New(fault.Invalid, "%q lies in %s, and %q in %s", text, q.Tree, texts[0], p.Tree).
				WithHint("a claim covers paths of one work tree; make one for each")
		}
	}
	return p, nil
}

// of finds the place of what one text means.
func (p Place) of(text string) (Place, error) {
	if strings.TrimSpace(text) == "" {
		return p, nil // Want says what is wrong with it
	}
	parts, err := p.read(text)
	if err != nil {
		return p, err
	}
	path := Resolve(p.absolute(parts[0].head))
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return Of(path)
	}
	return OfFile(path)
}

// plain reports whether a place is a mere folder, neither of a repository nor
// with an id of its own.
func (p Place) plain() bool { return p.Project.Root == "" }

// absolute gives a text's path; relative ones are meant from the folder.
func (p Place) absolute(text string) string {
	path := filepath.FromSlash(text)
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	return path
}

func isPattern(text string) bool { return strings.ContainsAny(text, pattern) }

// pattern are the characters that may mean something in a pattern.
const pattern = `*?[{\`

// part is how a text is read: a path that is meant literally, and behind it a
// pattern, "" for none.
type part struct{ head, tail string }

// read tells, name by name, what of a text is meant literally: the longest
// beginning that is there as it is written, whatever characters it has, and
// what follows without a pattern character. Only the rest is a pattern, so
// app/[id]/new.tsx names a new file in a folder app/[id] that is there. Braces
// in the rest stand for several.
func (p Place) read(text string) ([]part, error) {
	if !isPattern(text) {
		return []part{{head: text}}, nil
	}
	head, tail := p.cutThere(filepath.ToSlash(text))
	if !isPattern(tail) {
		return []part{{head: text}}, nil
	}
	expanded, err := claim.Expand(tail)
	if err != nil {
		return nil, err
	}
	parts := make([]part, 0, len(expanded))
	for _, one := range expanded {
		more, rest := cutPattern(one)
		parts = append(parts, part{head: head + more, tail: rest})
	}
	return parts, nil
}

// cutThere cuts a text behind the longest beginning that is there as it is
// written; a head that does not end the text ends with a slash.
func (p Place) cutThere(text string) (head, tail string) {
	for at := 0; ; {
		end, last := len(text), true
		if i := strings.IndexByte(text[at:], '/'); i >= 0 {
			end, last = at+i, false
		}
		// What has no pattern character is literal anyway. A later name that is
		// there can only be so in folders that are.
		if name := text[at:end]; name != "" && isPattern(name) {
			if _, err := os.Lstat(p.absolute(text[:end])); err != nil {
				return text[:at], text[at:]
			}
		}
		if last {
			return text, ""
		}
		at = end + 1
	}
}

// cutPattern cuts a pattern behind the folders that hold no pattern character.
func cutPattern(text string) (head, tail string) {
	i := strings.IndexAny(text, `*?[\`)
	if i < 0 {
		return text, ""
	}
	cut := strings.LastIndexByte(text[:i], '/') + 1
	return text[:cut], text[cut:]
}
