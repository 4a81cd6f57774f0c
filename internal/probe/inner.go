package probe

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxInner is how many repositories in a working tree are looked into. Each is
// two runs of git or a few more.
const maxInner = 16

// search is one look for changes through a working tree and the repositories
// in it.
type search struct {
	*looker
	root    string // the working tree, links resolved
	fold    bool
	changes *changes
	folders map[string]bool // those that are meant as a whole
	seen    map[string]bool // the repositories that were looked into
}

// in adds what has changed of some patterns in a repository, and in those within
// it. Busy means a command of git that is running; Free, that git could tell.
func (s *search) in(ctx context.Context, root string, patterns []string) finding {
	specs := map[string][]string{}
	for _, p := range patterns {
		at, ok := locate(root, p)
		if !ok {
			return unknown("git", "%s leads out of the working tree %s", p, root)
		}
		_, icase := written(p)
		add, ok := at.specs(s.fold || icase)
		if !ok {
			return unknown("git", "%s unfolds to more than %d patterns", p, maxBraces)
		}
		specs[at.dir] = append(specs[at.dir], add...)
		if root == s.root && (at.rest == "" || at.rest == "**") {
			s.folders[at.dir] = true
		}
	}
	s.changes.nested = nil
	commons := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(specs)) {
		if f := gitStatus(ctx, dir, specs[dir], s.changes); f.verdict != Free {
			return f
		}
		if top := filepath.FromSlash(s.changes.top); root != s.root && !below(root, top) && !same(root, top) {
			return unknown("git", "git cannot tell about %s: what makes it a repository is damaged", root)
		}
		commons[s.changes.common] = true
	}
	nested := s.changes.nested
	if s.Below == nil {
		for _, dir := range nested {
			s.changes.add(dir)
		}
		return finding{verdict: Free}
	}
	for _, dir := range s.Inner {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			nested = append(nested, real)
		}
	}
	slices.Sort(nested)
	var worst finding
	for _, dir := range slices.Compact(nested) {
		if f := s.inner(ctx, root, dir, patterns, commons); f.verdict == Busy {
			return f
		} else if f.verdict == Unknown {
			worst = f
		}
	}
	if worst.verdict != "" {
		return worst
	}
	return finding{verdict: Free}
}

// inner is in for a repository within another: what of the patterns lies there.
// A linked working tree is none: its files are other ones of the same repository,
// with claims of their own.
func (s *search) inner(ctx context.Context, root, dir string, patterns []string, commons map[string]bool) finding {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || s.seen[dir] || linkedTo(dir, commons) {
		return finding{verdict: Free}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return finding{verdict: Free} // a part of the repository around, or gone
	}
	var part []string
	for _, p := range patterns {
		for _, q := range s.Below(p, norm.NFC.String(filepath.ToSlash(rel))) {
			if !slices.Contains(part, q) {
				part = append(part, q)
			}
		}
	}
	if len(part) == 0 {
		return finding{verdict: Free}
	}
	if len(s.seen) == maxInner {
		return unknown("git", "more than %d repositories lie in %s; the rest were not looked at", maxInner, s.root)
	}
	s.seen[dir] = true
	prefix := s.changes.prefix
	defer func() { s.changes.prefix = prefix }()
	if whole, err := filepath.Rel(s.root, dir); err == nil {
		s.changes.prefix = filepath.ToSlash(whole) + "/"
	}
	return s.in(ctx, dir, part)
}

// linkedTo reports whether a folder is a linked working tree of one of some
// repositories.
func linkedTo(dir string, commons map[string]bool) bool {
	file := filepath.Join(dir, ".git")
	if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() || st.Size() > maxPath {
		return false
	}
	data, err := os.ReadFile(file)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	common := filepath.Dir(filepath.Dir(filepath.Clean(to)))
	if filepath.Base(filepath.Dir(to)) != "worktrees" {
		return false
	}
	for c := range commons {
		if same(c, common) {
			return true
		}
	}
	return false
}

// same reports whether two paths are one folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
