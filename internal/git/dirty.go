package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"bureau/internal/fault"
)

// Pathspec names paths to git, relative to the folder it is used in. Make one
// with [Literal] or [Glob].
type Pathspec string

// Literal names one path and, if that is a folder, everything below it, with
// no character special. "" and "." are the folder itself.
func Literal(path string) Pathspec {
	if path == "" {
		path = "."
	}
	return Pathspec(":(literal)" + path)
}

// Glob names what a pattern matches: * and ? within one name, ** across
// folders, [a-z] a class.
func Glob(pattern string) Pathspec {
	if pattern == "" {
		return Literal("")
	}
	return Pathspec(":(glob)" + pattern)
}

// Dirty gives up to limit changes of the work tree at dir that are not
// committed: staged or not, untracked files too, ignored ones not. Without
// paths it looks at the whole work tree, else at what they name; a path inside
// of a submodule is found only by way of that submodule. A renamed file is
// deleted here and added there. Nothing is written. What this process inherited
// from a git hook does not count; dir does.
func Dirty(ctx context.Context, dir string, limit int, paths ...Pathspec) ([]Change, error) {
	changes, err := status(ctx, dir, limit, "all", paths)
	if err != nil {
		return nil, explain(err, "see the changes", dir)
	}
	return changes, nil
}

// status runs git status. untracked is its --untracked-files.
func status(ctx context.Context, dir string, limit int, untracked string, paths []Pathspec) ([]Change, error) {
	if limit < 1 {
		return nil, fault.New(fault.Invalid, "a limit of %d changes shows nothing", limit)
	}
	args := []string{"status", "--porcelain=v1", "-z", "--untracked-files=" + untracked, "--ignored=no", "--no-renames",
		"--ignore-submodules=none", "--"}
	for _, p := range paths {
		args = append(args, string(p))
	}
	var changes []Change
	var from bool // the word is a renamed file's earlier path
	err := stream(ctx, dir, Environ(os.Environ()), nil, func(word string) bool {
		if from || len(word) < 4 {
			from = false
			return true
		}
		from = word[0] == 'R' || word[0] == 'C'
		changes = append(changes, Change{Status: letter(word[0], word[1]), Path: word[3:]})
		return len(changes) < limit
	}, args...)
	return changes, err
}

// letter makes one of the two letters of git status: that of the index, and
// that of the work tree.
func letter(index, tree byte) byte {
	switch {
	case index == 'U' || tree == 'U' || index == tree && (index == 'A' || index == 'D'):
		return 'U'
	case tree != ' ':
		return tree
	}
	return index
}

// HasChanges gives the work trees of dir's repository that have changes which
// are not committed; with untracked also those with untracked files only. A
// work tree that is gone has none; one that cannot be read is an error, beside
// those that were found.
func HasChanges(ctx context.Context, dir string, untracked bool) ([]Worktree, error) {
	trees, err := Worktrees(ctx, dir)
	if err != nil {
		return nil, err
	}
	files := "no"
	if untracked {
		files = "normal"
	}
	var changed []Worktree
	var errs error
	for _, tree := range trees {
		if tree.Bare || tree.Prunable || !exists(filepath.Join(tree.Path, ".git")) {
			continue
		}
		changes, err := status(ctx, tree.Path, 1, files, nil)
		if err != nil {
			errs = errors.Join(errs, explain(err, "see the changes", tree.Path))
		} else if len(changes) > 0 {
			changed = append(changed, tree)
		}
	}
	return changed, errs
}
