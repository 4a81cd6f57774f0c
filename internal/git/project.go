package git

import (
	"os"
	"path/filepath"

	"bureau/internal/fault"
)

// IDFile names a project whatever its path: a file with an id in it, in the
// project's root folder.
const IDFile = ".bureau/project"

// validID reports whether an id is 1 to 64 letters, digits, dots, dashes and
// underscores, and begins with a letter or digit.
func validID(id string) bool {
	for i, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// Found is the project of a folder.
type Found struct {
	ID   string // from IDFile; "" if there is none
	Name string // the root's own name
	Root string // canonical: absolute, links resolved
	// Repository is what Root would be without the IDFile, where Root is the root
	// of a work tree; "" for another folder and where there is no IDFile.
	Repository string
}

// Project finds the project that dir belongs to: the nearest folder above it
// with an IDFile, else its repository (all worktrees of one are one project),
// else the folder itself. The user's home folder and the root of the file
// system are no projects; Root is then empty.
func Project(dir string) (Found, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return Found{}, fault.New(fault.Unavailable, "cannot find the project of %s: %w", dir, err)
	}
	for folder := at; ; folder = filepath.Dir(folder) {
		if id := firstLine(filepath.Join(folder, IDFile)); id != "" {
			if !validID(id) {
				return Found{}, fault.New(fault.Invalid, "%s holds no project id: %q", filepath.Join(folder, IDFile), id).
					WithHint("an id is up to 64 letters, digits, dots, dashes and underscores")
			}
			return Found{ID: id, Name: filepath.Base(folder), Root: folder, Repository: treeOf(folder)}, nil
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	root := repository(at)
	if root == "" {
		if nowhere(at) {
			return Found{}, nil
		}
		root = at
	}
	return Found{Name: filepath.Base(root), Root: root}, nil
}

// treeOf gives the folder that stands for all worktrees of the repository that
// a canonical folder is a work tree of, "" where it is none.
func treeOf(folder string) string {
	if tree, _, ok := Root(folder); !ok || tree != folder {
		return ""
	}
	return repository(folder)
}

// repository gives the folder that stands for all worktrees of the repository
// that a canonical folder lies in, "" outside of any.
func repository(at string) string {
	tree, common, ok := Root(at)
	if !ok {
		return ""
	}
	if main := mainTree(tree, common); main != "" {
		return main
	}
	return tree
}

// mainTree gives the folder that stands for all worktrees of a repository:
// the main working tree, or the bare repository itself.
func mainTree(tree, common string) string {
	if common == filepath.Join(tree, ".git") {
		return tree
	}
	if entry, err := os.Stat(filepath.Join(tree, ".git")); err != nil || entry.IsDir() {
		return tree
	}
	dir, err := filepath.EvalSymlinks(common)
	if err != nil {
		return ""
	}
	if filepath.Base(dir) == ".git" {
		return filepath.Dir(dir)
	}
	if !isWorktree(tree) {
		return tree // a submodule, or a tree whose repository lies elsewhere
	}
	return dir
}

// isWorktree tells a linked worktree from a submodule: both have a .git file,
// only the worktree's repository folder points back to a shared one.
func isWorktree(tree string) bool {
	dir, ok := gitDir(tree)
	return ok && exists(filepath.Join(dir, "commondir"))
}

// nowhere reports whether a folder is too general to be a project.
func nowhere(dir string) bool {
	if dir == filepath.Dir(dir) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return dir == home
}
