package probe

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxChanged is how many changed files are told apart; maxSpecs how many
// pathspecs go on one command line.
const (
	maxChanged = 10_000
	maxSpecs   = 100
)

// paths looks at all patterns of a subject: those that the project has a
// command for by that command, the others in each working tree.
func (l *looker) paths(ctx context.Context, s Subject) finding {
	var all []finding
	var own finding // of the first path whose own command was not run
	rest := s
	rest.Paths = nil
	for _, p := range s.Paths {
		f, ok := l.ask(ctx, Subject{Kind: KindPath, Paths: []string{p}, Fold: s.Fold})
		if !ok {
			rest.Paths = append(rest.Paths, p)
			if own.verdict == "" {
				own = f
			}
			continue
		}
		all = append(all, f)
	}
	if len(rest.Paths) > 0 {
		for _, tree := range l.Trees {
			f := l.workTree(ctx, tree, rest)
			if f.verdict == Busy && len(l.Trees) > 1 {
				f.saw += " in " + tree
			}
			all = append(all, withOwn(own, f))
		}
	}
	return gravest(all)
}

// workTree looks for uncommitted changes and for locks of tools.
func (l *looker) workTree(ctx context.Context, tree string, s Subject) finding {
	named := s.Paths[0]
	if n := len(s.Paths) - 1; n > 0 {
		named += fmt.Sprintf(" and %d more", n)
	}
	root, err := filepath.Abs(tree)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil || tree == "" {
		return unknown("git", "the working tree %q cannot be looked at: %v", tree, err)
	}
	look := search{
		looker: l, root: root, fold: s.Fold || runtime.GOOS == "darwin" || runtime.GOOS == "windows",
		changes: &changes{seen: map[string]bool{}}, folders: map[string]bool{}, seen: map[string]bool{},
	}
	f := look.in(ctx, root, s.Paths)
	if f.verdict == Busy {
		return f
	}
	switch n := len(look.changes.seen); {
	case n == 1:
		return busy("git", "1 file under %s has uncommitted changes (%s)", named, look.changes.first)
	case n >= maxChanged:
		return busy("git", "more than %d files under %s have uncommitted changes (%s, …)", maxChanged-1, named, look.changes.first)
	case n > 1:
		return busy("git", "%d files under %s have uncommitted changes (%s, …)", n, named, look.changes.first)
	}
	if f.verdict != Free {
		return f
	}
	for _, dir := range slices.Sorted(maps.Keys(look.folders)) {
		if f := toolLocks(ctx, dir); f.verdict != Free {
			return f
		}
	}
	return free("git", "no uncommitted changes under %s", named)
}

// gitStatus adds what git calls changed at some pathspecs: modified, staged,
// deleted, conflicting and untracked files, not ignored ones. Free means that
// git could tell, whatever it told.
func gitStatus(ctx context.Context, dir string, specs []string, changed *changes) finding {
	o := git(ctx, dir, nil, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
	lines := strings.Split(strings.TrimRight(string(o.out), "\r\n"), "\n")
	if o.err != nil || o.code != 0 || len(lines) != 3 {
		return unknown("git", "git cannot tell about %s: %s", dir, strings.Replace(o.why("git"), "fatal: ", "", 1))
	}
	// A command of git that writes the index holds this file meanwhile, and
	// what status says now is not what it says afterwards.
	if f := lockAt(filepath.Join(filepath.FromSlash(strings.TrimSpace(lines[1])), "index.lock")); f.verdict != Free {
		return f
	}
	changed.top = strings.TrimSpace(lines[0])
	if changed.common = filepath.FromSlash(strings.TrimSpace(lines[2])); !filepath.IsAbs(changed.common) {
		changed.common = filepath.Join(dir, changed.common)
	}
	for some := range slices.Chunk(specs, maxSpecs) {
		args := append([]string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
			"--ignored=no", "--ignore-submodules=none", "--"}, some...)
		o := git(ctx, dir, changed, args...)
		if o.err != nil || o.code != 0 {
			return unknown("git", "git cannot tell about %s: %s", dir, strings.Replace(o.why("git"), "fatal: ", "", 1))
		}
	}
	return finding{verdict: Free}
}

// git runs git for reading: it refreshes no index, and starts no monitor that
// the repository's configuration names.
func git(ctx context.Context, dir string, out *changes, args ...string) outcome {
	c := child{
		argv: append([]string{"git", "-c", "core.fsmonitor=false"}, args...),
		dir:  dir, env: []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, max: Each,
	}
	if out != nil {
		out.line = out.line[:0]
		c.out = out
	}
	return run(ctx, c)
}

// changes reads the records of git status -z: two letters, a space, a path
// from the top of the working tree, NUL. It keeps the paths of the first ten
// thousand.
type changes struct {
	top    string // of the working tree that is read
	common string // its repository, which all its linked working trees share
	prefix string // what first begins with
	line   []byte
	seen   map[string]bool
	first  string
	nested []string // working trees of other repositories that are not tracked
}

// Write takes the next part of the output.
func (c *changes) Write(p []byte) (int, error) {
	n := len(p)
	for {
		at := bytes.IndexByte(p, 0)
		if at < 0 {
			break
		}
		c.record(append(c.line, p[:at]...))
		c.line, p = c.line[:0], p[at+1:]
	}
	if len(c.line)+len(p) <= 2*maxPath {
		c.line = append(c.line, p...)
	}
	return n, nil
}

func (c *changes) record(line []byte) {
	if len(line) < 4 || len(c.seen) >= maxChanged {
		return
	}
	path := string(line[3:])
	if inner, ok := strings.CutSuffix(path, "/"); ok && len(c.nested) < maxChanged {
		c.nested = append(c.nested, c.top+"/"+inner)
		return
	}
	c.add(path)
}

func (c *changes) add(path string) {
	if c.first == "" {
		c.first = c.prefix + path
	}
	c.seen[c.top+"/"+path] = true
}
