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
	path := p.absolute(text)
	if _, err := os.Lstat(path); err != nil && isPattern(text) {
		// The folders in front of the first pattern character are real ones.
		expanded, err := claim.Expand(filepath.ToSlash(text))
		if err != nil {
			return p, err
		}
		head, _ := cutPattern(expanded[0])
		path = p.absolute(head)
	}
	path = Resolve(path)
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

func isPattern(text string) bool { return strings.ContainsAny(text, `*?[{\`) }

// cutPattern cuts a pattern behind the folders that hold no pattern character;
// head is "." where there are none.
func cutPattern(text string) (head, tail string) {
	i := strings.IndexAny(text, `*?[\`)
	if i < 0 {
		return text, ""
	}
	cut := strings.LastIndexByte(text[:i], '/') + 1
	if head = text[:cut]; head == "" {
		head = "."
	}
	return head, text[cut:]
}
