package locks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/git"
	"bureau/internal/mirror/mclaude"
)

// mclaude keeps its locks in the folder that its session works in. One that
// works in a linked work tree therefore has them there, and looks nowhere else.
// So the lock folders of all work trees of a project are read, and a claim is
// written into that of its own work tree as well, if there is one. None is made
// there: a folder that git does not know keeps it from removing the work tree.

// Folders lists the folders that a stored answer about files of a work tree
// watches: its own and the one of its project. They need not exist. What a lock in
// a third work tree means for these files is seen when the answer ends.
func Folders(root, tree string) []string {
	if root == "" {
		return nil
	}
	out := []string{mclaude.Folder(root)}
	if tree != "" && tree != root {
		out = append(out, mclaude.Folder(tree))
	}
	return out
}

// look gives the lock folder of a work tree that has one; none is made for that.
func look(root string, r claim.Rules) (l mclaude.Locks, found bool) {
	if r.Mirror == "on" || r.Mirror == "auto" {
		l, found = mclaude.Locate(root)
	}
	l.Rule = mclaude.Rule{Stale: r.ForeignStale}
	return l, found
}

// ground is the lock folders of a project.
type ground struct {
	trees   []string // the roots of all work trees, the project's first
	folders []mclaude.Locks
}

// survey gives the lock folders of a project that there are. tree is a work
// tree of it; git's own records say which others there are.
func survey(root, tree string, r claim.Rules) ground {
	s := ground{trees: []string{root}}
	if r.Mirror == "off" {
		return s
	}
	for _, t := range append(git.Trees(root), tree) {
		if t != "" && !slices.Contains(s.trees, t) {
			s.trees = append(s.trees, t)
		}
	}
	for _, t := range s.trees {
		if l, found := look(t, r); found {
			s.folders = append(s.folders, l)
		}
	}
	return s
}

// each does something with the locks of every folder, as far as they can be
// read.
func (s *ground) each(do func(l mclaude.Locks, entries []mclaude.Entry) error) error {
	var errs error
	for _, l := range s.folders {
		entries, err := l.List()
		errs = errors.Join(errs, err, do(l, entries))
	}
	return errs
}

// foreign gives the locks of all folders. One that was written into several is
// given once.
func (s *ground) foreign() ([]claim.Foreign, error) {
	var out []claim.Foreign
	seen := map[event.ID]bool{}
	err := s.each(func(l mclaude.Locks, entries []mclaude.Entry) error {
		var here []event.ID
		for i := range entries {
			e := &entries[i]
			if e.Ours && e.Claim.ID != "" {
				id := event.ID(e.Claim.ID)
				if seen[id] {
					continue
				}
				here = append(here, id)
			}
			out = append(out, s.locksOf(l.Root(), e)...)
		}
		for _, id := range here {
			seen[id] = true
		}
		return nil
	})
	return out, err
}

// missing lists the claims whose lock file is gone.
func (s *ground) missing() ([]event.ID, error) {
	var out []event.ID
	var errs error
	for _, l := range s.folders {
		list, err := l.Missing()
		errs = errors.Join(errs, err)
		for _, id := range list {
			if !slices.Contains(out, event.ID(id)) {
				out = append(out, event.ID(id))
			}
		}
	}
	return out, errs
}

// locksOf makes of a lock in the folder of a work tree one for each work tree
// that it is on files of.
func (s *ground) locksOf(tree string, e *mclaude.Entry) []claim.Foreign {
	f := claim.Foreign{
		Name: e.Slug, Holder: e.Session, Intent: e.Description, Since: e.ClaimedAt, Last: e.Heartbeat, Stale: e.Status == mclaude.Stale, Tree: tree,
	}
	if e.Ours {
		f.Holder, f.Claim = e.Claim.Holder, event.ID(e.Claim.ID)
	}
	if e.HeartbeatAge < 0 && e.Claim.Ahead > 0 {
		f.Last = e.ClaimedAt // the heartbeat says when its lease ends
	}
	if e.Ours && len(e.Claim.Patterns) > 0 {
		if e.Worktree != "" {
			f.Tree = e.Worktree
		}
		for _, text := range e.Claim.Patterns {
			if p, err := claim.ParsePattern(text); err == nil && !slices.Contains(f.Paths, p) {
				f.Paths = append(f.Paths, p)
			}
		}
		return []claim.Foreign{f}
	}
	// What edits claimed is named as it is, and each file has its own time.
	var since map[string]time.Time
	if e.Ours && len(e.Claim.FilesSince) == len(e.Files) {
		since = map[string]time.Time{}
		for i, file := range e.Files {
			since[filepath.Clean(filepath.FromSlash(file))] = e.Claim.FilesSince[i]
		}
	}
	out := []claim.Foreign{f}
	add := func(tree, path, file string) {
		i := slices.IndexFunc(out, func(f claim.Foreign) bool { return f.Tree == tree })
		if i < 0 {
			i = len(out)
			next := f
			next.Tree, next.Paths = tree, nil
			out = append(out, next)
		}
		for _, p := range meant(tree, path, e.Ours) {
			if slices.Contains(out[i].Paths, p) {
				continue
			}
			out[i].Paths = append(out[i].Paths, p)
			if since != nil {
				at, known := since[file]
				if !known {
					at = e.ClaimedAt
				}
				out[i].Times = append(out[i].Times, at)
			}
		}
	}
	for _, path := range e.Paths { // those below the folder's own work tree
		whole, file := filepath.Join(tree, filepath.FromSlash(path)), filepath.FromSlash(path)
		if _, known := since[whole]; known {
			file = whole // it was named by its whole path
		}
		if in, rel, ok := s.within(whole); ok && in != tree && below(tree, in) {
			add(in, rel, file) // another one lies in it
		} else {
			add(tree, path, file)
		}
	}
	for _, file := range e.Files {
		if path := filepath.FromSlash(file); filepath.IsAbs(path) && !below(tree, path) {
			if in, rel, ok := s.within(filepath.Clean(path)); ok {
				add(in, rel, filepath.Clean(path))
			}
		}
	}
	if len(out) > 1 && len(out[0].Paths) == 0 {
		out = out[1:]
	}
	return out
}

// within gives the innermost work tree that a path lies in, and its name there.
func (s *ground) within(path string) (tree, rel string, ok bool) {
	for _, t := range s.trees {
		if len(t) > len(tree) && below(t, path) {
			tree = t
		}
	}
	if tree == "" {
		return "", "", false
	}
	rel, err := filepath.Rel(tree, path)
	return tree, filepath.ToSlash(rel), err == nil
}

// below reports whether a path is a folder or lies in it.
func below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// meant gives what a name in a lock is on. mclaude compares names; a name with
// pattern characters of which there is no file is meant as a pattern all the
// same, except in a lock of ours, which names files.
func meant(tree, path string, ours bool) (out []claim.Pattern) {
	if !ours && strings.ContainsAny(path, "*?[{") {
		if _, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(path))); err != nil {
			if list, err := claim.Expand(path); err == nil {
				for _, text := range list {
					if p, err := claim.ParsePattern(text); err == nil {
						out = append(out, p)
					}
				}
				return out
			}
		}
	}
	if p, err := claim.Literal(path); err == nil {
		out = append(out, p)
	}
	return out
}
