// Package place says what paths mean to claims: which project and work tree a
// file lies in, and what it is called there. It resolves links and spellings,
// so that the same file is the same name for whoever asks.
package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/office"
)

// Place is a folder and what it belongs to.
type Place struct {
	Dir string // the folder itself, canonical
	// Project is what git.Project found, not yet settled with an office
	// (office.SettleProject). A mere folder, neither of a repository nor with an
	// id or a lock folder of its own, belongs to none: nobody could say where one
	// begins, and two sessions in a folder and below it would not meet.
	Project office.Project
	// Tree is the root of the work tree: the project's root, or that of a linked
	// work tree. Outside of any project it is the root of the file system.
	Tree string
	Fold bool // the file system does not tell upper from lower case
}

// Of finds the place of a folder, which must exist, with the projects around
// it (office.Project.Around).
func Of(dir string) (Place, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return Place{}, fault.New(fault.Invalid, "cannot look at the folder %s: %w", dir, err)
	}
	p, err := find(at)
	if err != nil {
		return Place{}, err
	}
	p.Project.Around = around(p)
	p.Fold = folds(p.Tree)
	return p, nil
}

// find finds the project and work tree of a canonical folder.
func find(at string) (Place, error) {
	found, err := git.Project(at)
	if err != nil {
		return Place{}, err
	}
	if _, _, repository := git.Root(at); !repository && found.ID == "" && found.Root != "" {
		found.Root = lockRoot(at)
		found.Name = filepath.Base(found.Root)
	}
	p := Place{Dir: at, Project: office.Project{ID: found.ID, Name: found.Name, Root: found.Root, Repository: found.Repository}}
	if found.Root == "" {
		p.Project = office.Project{}
	}
	switch {
	case found.Root == "":
		p.Tree = filepath.VolumeName(at) + string(filepath.Separator)
	case inside(found.Root, at) && !nested(found.Root, at):
		p.Tree = found.Root
	default: // a linked work tree, whose project's root is the main one's
		if root, _, ok := git.Root(at); ok {
			p.Tree = root
		} else {
			p.Tree = found.Root
		}
	}
	return p, nil
}

// around finds the projects whose work trees a place's own lies in, the nearest
// first, and in the end what belongs to none. It reads what find reads, once
// for each of them.
func around(p Place) (list []office.Around) {
	if p.Project.Root == "" {
		return nil
	}
	seen := []office.Project{p.Project}
	for tree := p.Tree; ; {
		up := filepath.Dir(tree)
		if up == tree {
			// A repository at the root of the file system.
			return append(list, office.Around{Tree: tree})
		}
		q, err := find(up)
		if err != nil { // its project file holds no id: that is said to whoever works there
			tree = up
			continue
		}
		if q.Project.Root == "" {
			return append(list, office.Around{Tree: q.Tree})
		}
		// A linked work tree lies in its own project.
		if !slices.ContainsFunc(seen, func(s office.Project) bool { return s.ID == q.Project.ID && (s.ID != "" || s.Root == q.Project.Root) }) {
			seen = append(seen, q.Project)
			list = append(list, office.Around{Project: q.Project, Tree: q.Tree})
		}
		tree = q.Tree
	}
}

// lockRoot finds the nearest folder from at upwards that mclaude keeps its
// locks in, "" if there is none. The user's home folder is no project.
func lockRoot(at string) string {
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if st, err := os.Stat(filepath.Join(at, ".claude", "locks", "active-work")); err == nil && st.IsDir() {
			if found, err := git.Project(at); err == nil && found.Root != "" {
				return at
			}
		}
	}
	return ""
}

// OfFile finds the place of a file, which need not exist, nor its folder.
func OfFile(path string) (Place, error) {
	dir := filepath.Dir(path)
	for {
		st, err := os.Stat(dir)
		if err == nil && st.IsDir() {
			return Of(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return Place{}, fault.New(fault.Invalid, "cannot look at the folder of %s: %w", path, err)
		}
		dir = up
	}
}

// nested reports whether a linked work tree of the project lies below the
// project's own root and holds dir.
func nested(root, dir string) bool {
	tree, common, ok := git.Root(dir)
	return ok && tree != root && inside(root, tree) && sameRepository(root, common)
}

// sameRepository reports whether the work tree that root lies in, or root as a
// repository without one, is of the repository with this shared folder. A
// submodule, or whatever other repository lies below, has one of its own: its
// files are others than those of the same names above, and meet them at no
// merge.
func sameRepository(root, common string) bool {
	_, own, ok := git.Root(root)
	return ok && git.SameFolder(own, common) || git.SameFolder(root, common)
}

// inside reports whether path is root or lies below it.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// File gives the name of a file in the work tree, with slashes, as
// claim.Normal gives it. ok is false for a file outside of it.
func (p Place) File(path string) (name string, ok bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	real := Resolve(path)
	if !inside(p.Tree, real) {
		return "", false
	}
	rel, err := filepath.Rel(p.Tree, real)
	if err != nil {
		return "", false
	}
	return claim.Normal(filepath.ToSlash(rel)), true
}

// Resolve gives an absolute path with links followed as far as it exists; the
// rest stays as written.
func Resolve(path string) string {
	path = filepath.Clean(path)
	missing := ""
	for at, hops := path, 0; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing)
		}
		// A link to nothing is followed too: an edit would create its target.
		if target, lerr := os.Readlink(at); lerr == nil && hops < 40 {
			hops++
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			at = filepath.Clean(target)
			continue
		}
		// Not errors.Is, which costs a guard's short run more than all of the above;
		// nothing is wrapped here.
		if !os.IsNotExist(err) || at == filepath.Dir(at) {
			return path
		}
		missing = filepath.Join(filepath.Base(at), missing)
		at = filepath.Dir(at)
	}
}

// Want makes a want of what somebody wrote: paths and patterns relative to the
// place's folder, or absolute, and things by name. The longest beginning of a path
// that is there as it is written is meant literally, whatever characters it has;
// only what follows may be a pattern.
func (p Place) Want(texts, resources []string, mode claim.Mode) (claim.Want, error) {
	w := claim.Want{Mode: mode, Tree: p.Tree, Fold: p.Fold}
	for _, text := range texts {
		list, err := p.patterns(text)
		if err != nil {
			return w, err
		}
		w.Paths = append(w.Paths, list...)
	}
	for _, text := range resources {
		r, err := Thing(text)
		if err != nil {
			return w, err
		}
		w.Resources = append(w.Resources, r)
	}
	return w, nil
}

// Thing reads a resource: one that names this machine is the same as one that
// names none.
func Thing(text string) (claim.Resource, error) {
	r, err := claim.ParseResource(text)
	if err != nil {
		return r, err
	}
	own, err := os.Hostname()
	if err != nil {
		return r, nil // a machine without a name is nobody's host
	}
	short, _, _ := strings.Cut(own, ".")
	return r.On(own).On(short), nil
}

func (p Place) patterns(text string) ([]claim.Pattern, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fault.New(fault.Invalid, "a path is empty").WithHint("name a file, a folder or a pattern such as 'src/**/*.go'")
	}
	parts, err := p.read(text)
	if err != nil {
		return nil, err
	}
	out := make([]claim.Pattern, 0, len(parts))
	for _, one := range parts {
		pat, err := p.pattern(one, text)
		if err != nil {
			return nil, err
		}
		out = append(out, pat)
	}
	return out, nil
}

// pattern makes the pattern of a part of a text.
func (p Place) pattern(one part, text string) (claim.Pattern, error) {
	head := one.head
	if head == "" {
		head = "."
	}
	name, ok := p.File(filepath.FromSlash(head))
	if !ok {
		return "", p.outside(text)
	}
	lit, err := claim.Literal(name)
	if err != nil || one.tail == "" {
		return lit, err
	}
	if lit == claim.Root {
		return claim.ParsePattern(one.tail)
	}
	return claim.ParsePattern(string(lit) + "/" + one.tail)
}

func (p Place) outside(text string) error {
	return fault.New(fault.Invalid, "%q lies outside of %s", text, p.Tree).
		WithHint("claims cover paths of one project; go to the other project's folder, or say --project DIR")
}

// folds reports whether the file system at a folder takes names that differ in
// case for the same.
func folds(dir string) bool {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		base := filepath.Base(at)
		other := strings.Map(func(r rune) rune {
			if unicode.IsUpper(r) {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, base)
		if other == base {
			continue // no letters to try with
		}
		a, err := os.Lstat(at)
		if err != nil {
			return false
		}
		b, err := os.Lstat(filepath.Join(filepath.Dir(at), other))
		return err == nil && os.SameFile(a, b)
	}
	return false
}
