// Package git is what bureau knows of git: the repository and the project that
// a folder belongs to ([Root], [Project]; these read files only), what a commit
// or a push would change ([Staged], [Pushed]), what is not committed yet
// ([Dirty], [HasChanges]), and the hooks that ask us first ([InstallHook]).
//
// Paths are git's own bytes, never quoted. Runs of git are bounded in time and
// output, never ask at the terminal and never write to the index. It takes git
// 2.31 or newer.
package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Root finds the repository that holds dir: the root of its working tree, and
// the folder that all its working trees share (.git of the main one). A linked
// worktree so shares common with its main tree; a submodule has its own. ok is
// false outside of any repository. dir is taken as it is: links in it are for
// the caller to resolve.
func Root(dir string) (root, common string, ok bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if common, ok := commonDir(filepath.Join(at, ".git")); ok {
			return at, common, true
		}
		if at == filepath.Dir(at) {
			return "", "", false
		}
	}
}

// commonDir says where the repository of a .git entry is: the folder itself,
// or where its file points to.
func commonDir(entry string) (string, bool) {
	st, err := os.Stat(entry)
	switch {
	case err != nil:
		return "", false
	case st.IsDir():
		// A folder of this name that holds no repository is just a folder.
		return entry, exists(filepath.Join(entry, "HEAD"))
	case !st.Mode().IsRegular():
		return "", false
	}
	dir, ok := gitDir(filepath.Dir(entry))
	if !ok {
		return "", false
	}
	if shared := firstLine(filepath.Join(dir, "commondir")); shared != "" {
		dir = relativeTo(dir, shared)
	}
	return dir, exists(filepath.Join(dir, "HEAD"))
}

// gitDir gives where the .git file of a working tree points to.
func gitDir(tree string) (string, bool) {
	dir, ok := strings.CutPrefix(firstLine(filepath.Join(tree, ".git")), "gitdir:")
	return relativeTo(tree, strings.TrimSpace(dir)), ok
}

// Branch gives the branch that the work tree of dir is on; "" on none (a
// detached head) and outside of git. It reads small files and runs nothing.
func Branch(dir string) string {
	tree, _, ok := Root(dir)
	if !ok {
		return ""
	}
	if linked, ok := gitDir(tree); ok {
		dir = linked
	} else {
		dir = filepath.Join(tree, ".git")
	}
	name, on := strings.CutPrefix(firstLine(filepath.Join(dir, "HEAD")), "ref: refs/heads/")
	if !on {
		return "" // a commit
	}
	return name
}

func relativeTo(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// maxLine bounds what is read of a file that should hold one short line.
const maxLine = 4096

// firstLine gives a small file's first line, "" if there is none.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, maxLine)
	n, _ := f.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.TrimSpace(line)
}
