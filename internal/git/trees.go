package git

import (
	"os"
	"path/filepath"
)

// mostTrees bounds how many linked work trees are looked for.
const mostTrees = 1000

// Trees lists the folders that a folder has its like in, one in each other work
// tree of the repository that it lies in, as far as they exist: for the root of
// a work tree the roots of the others. It reads git's own records of linked
// work trees and runs nothing; a record whose work tree is gone is passed over.
// The folder is canonical, and so is what is given.
func Trees(folder string) []string {
	if st, err := os.Lstat(filepath.Join(folder, ".git")); err == nil && st.IsDir() && !exists(filepath.Join(folder, ".git", "worktrees")) {
		return nil // a repository that never had another work tree, which is the usual one
	}
	top, common, ok := Root(folder)
	if !ok {
		// A bare repository stands for its work trees itself.
		top, common = folder, folder
		if !exists(filepath.Join(common, "HEAD")) {
			return nil
		}
	}
	below, err := filepath.Rel(top, folder)
	if err != nil {
		return nil
	}
	var out []string
	add := func(tree string) {
		tree, err := filepath.EvalSymlinks(tree)
		if err != nil || tree == top {
			return
		}
		if at := filepath.Join(tree, below); exists(at) {
			out = append(out, at)
		}
	}
	if ok {
		if main := mainTree(top, common); main != top && main != "" && exists(filepath.Join(main, ".git")) {
			add(main)
		}
	}
	records, err := os.Open(filepath.Join(common, "worktrees"))
	if err != nil {
		return out // mostly there is none
	}
	defer records.Close()
	names, _ := records.Readdirnames(mostTrees)
	for _, name := range names {
		record := filepath.Join(common, "worktrees", name)
		if entry := firstLine(filepath.Join(record, "gitdir")); entry != "" {
			add(filepath.Dir(relativeTo(record, entry)))
		}
	}
	return out
}
