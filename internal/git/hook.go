package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/paper"
)

// The hooks that can be installed. Git runs PreMergeCommit instead of
// PreCommit when `git merge` makes its commit by itself.
const (
	PreCommit      = "pre-commit"
	PreMergeCommit = "pre-merge-commit"
	PrePush        = "pre-push"
)

// HookOptions say what to install.
type HookOptions struct {
	Name    string   // PreCommit, PreMergeCommit or PrePush
	Program string   // bureau, absolute
	Args    []string // words for it before "guard run", like --home DIR
	// AllowGlobal is the person's consent to a hooks folder that other
	// repositories use too.
	AllowGlobal bool
}

func (o HookOptions) check() error {
	if err := checkHookName(o.Name); err != nil {
		return err
	}
	if !filepath.IsAbs(o.Program) {
		return fault.New(fault.Invalid, "the path of bureau is not absolute: %q", o.Program)
	}
	for _, word := range append([]string{o.Program}, o.Args...) {
		if strings.ContainsAny(word, "\x00\n\r") {
			return fault.New(fault.Invalid, "a line break cannot stand in a hook's command: %q", word)
		}
	}
	return nil
}

func checkHookName(name string) error {
	switch name {
	case PreCommit, PreMergeCommit, PrePush:
		return nil
	}
	return fault.New(fault.Invalid, "no guard for the hook %q", name).
		WithHint("%s, %s or %s", PreCommit, PreMergeCommit, PrePush)
}

// InstallHook makes git ask bureau before a commit or push of the repository
// that dir is in: it writes a small script where git looks for the hook
// (core.hooksPath, a linked work tree's shared folder, a submodule's own). A
// hook that was there is kept beside it as NAME.before-bureau, byte for byte
// with mode or link, and is still run, after ours, with the same arguments,
// input, environment and say.
//
// Done twice is done once. A hooks folder that is set for the whole machine or
// lies outside of the repository is refused without consent, and so is
// whatever cannot be kept: a hook of ours that was changed by hand, or another
// tool's new hook while the earlier one is still kept. When the call returns
// the hook is durable.
func InstallHook(ctx context.Context, dir string, o HookOptions) (Hook, error) {
	if err := o.check(); err != nil {
		return Hook{}, err
	}
	at, err := findHook(ctx, dir, o.Name)
	if err != nil {
		return Hook{}, err
	}
	if at.shared != "" && !o.AllowGlobal {
		return at.look().Hook, fault.New(fault.Conflict, "the hooks folder %s is not this repository's alone: %s", at.folder, at.shared).
			WithHint("allow it with --global to guard every repository that uses it; or give this one its own folder: " +
				`git config core.hooksPath "$(git rev-parse --git-common-dir)/hooks"`)
	}
	defer at.alone(ctx)()
	// Without locks two installs at once meet at the kept file, which only one
	// can make.
	for range 3 {
		if err = at.install(o); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	seen := at.look()
	seen.Changed = at.changed
	return seen.Hook, trouble(err, "install", at)
}

// RemoveHook takes our hook out of the repository that dir is in, and puts
// back what was there before, byte for byte with mode or link; where nothing
// was, nothing is left. Without a hook of ours it does nothing. A hook that
// others changed or put in the place of ours is not touched: that is an error
// which says what to do.
func RemoveHook(ctx context.Context, dir, name string) (Hook, error) {
	if err := checkHookName(name); err != nil {
		return Hook{}, err
	}
	at, err := findHook(ctx, dir, name)
	if err != nil {
		return Hook{}, err
	}
	defer at.alone(ctx)()
	err = at.remove()
	seen := at.look()
	seen.Changed = at.changed
	return seen.Hook, trouble(err, "remove", at)
}

// HookStatus looks at the hook of the repository that dir is in, and changes
// nothing.
func HookStatus(ctx context.Context, dir, name string) (Hook, error) {
	if err := checkHookName(name); err != nil {
		return Hook{}, err
	}
	at, err := findHook(ctx, dir, name)
	if err != nil {
		return Hook{}, err
	}
	return at.look().Hook, nil
}

func trouble(err error, verb string, at *hookPlace) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fault.New(fault.Unavailable, "cannot %s the hook %s: %w", verb, at.path, err)
}

// hookWait is how long a change of hooks waits for another one.
const hookWait = 10 * time.Second

// alone keeps other processes of ours from changing the repository's hooks
// until it is released. Where a folder cannot be locked they are not kept out.
func (at *hookPlace) alone(ctx context.Context) (release func()) {
	f, err := os.Open(at.common)
	if err != nil {
		return func() {}
	}
	_ = paper.LockOpen(ctx, f, hookWait)
	return func() { _ = f.Close() }
}

// install is one try. fs.ErrExist says that another process was faster.
func (at *hookPlace) install(o HookOptions) error {
	seen := at.look()
	made := seen.script.foldersMade
	kept := false
	switch {
	case seen.State == HookEdited:
		return fault.New(fault.Conflict, "%s was changed since bureau wrote it", at.path).
			WithHint("move it away or take your lines out of it, then install again; what it keeps is %s", at.kept)
	case seen.present == nil:
		if !exists(at.folder) {
			for folder := at.folder; !exists(folder) && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
				made++
			}
			if err := os.MkdirAll(at.folder, 0o755); err != nil {
				return err
			}
		}
	case !seen.ours():
		if seen.kept != nil {
			if !seen.superseded() {
				return at.two(seen)
			}
			// What is kept is the same tool's earlier hook, or the same bytes.
			if err := os.Remove(at.kept); err != nil {
				return err
			}
		}
		if err := keep(at.path, at.kept); err != nil {
			return err
		}
		kept = true
	}
	script := renderHook(o, inspectKept(at.kept), made)
	if seen.ours() && bytes.Equal(seen.content, script) && executable(at.path) {
		return at.dropAside(seen)
	}
	if err := paper.WriteFile(at.path, script, hookMode); err != nil {
		if kept { // one hook by one name, as it was
			_ = os.Rename(at.kept, at.path)
			if exists(at.path) {
				_ = os.Remove(at.kept) // two names of one file are not renamed
			}
		}
		return err
	}
	at.changed = true
	return at.dropAside(seen)
}

// dropAside removes copies of our own script that another tool moved aside:
// that tool may run them, and the guard would run twice.
func (at *hookPlace) dropAside(seen hookLook) error {
	for _, path := range seen.aside {
		if err := os.Remove(path); err != nil {
			return err
		}
		at.changed = true
	}
	return nil
}

func (at *hookPlace) remove() error {
	seen := at.look()
	switch seen.State {
	case HookAbsent:
		return nil
	case HookEdited:
		return fault.New(fault.Conflict, "%s was changed since bureau wrote it, so it is not removed", at.path).
			WithHint("take bureau's lines out of it, or delete it; the hook that was there before is kept in %s", at.kept)
	case HookInstalled, HookOff:
		at.changed = true
		if seen.kept != nil {
			return os.Rename(at.kept, at.path)
		}
		if err := os.Remove(at.path); err != nil {
			return err
		}
		for folder := at.folder; seen.script.foldersMade > 0; folder = filepath.Dir(folder) {
			if os.Remove(folder) != nil { // something else came into it
				break
			}
			seen.script.foldersMade--
		}
		return nil
	}
	// Another tool has put its hook in our place, or somebody deleted ours.
	if seen.present == nil && seen.kept != nil {
		at.changed = true
		if err := os.Rename(at.kept, at.path); err != nil {
			return err
		}
		return at.dropAside(seen)
	}
	if seen.kept != nil && !seen.superseded() {
		if len(seen.aside) == 0 {
			return at.two(seen)
		}
		// Without us that tool would have moved the kept hook there.
		at.changed = true
		return os.Rename(at.kept, seen.aside[0])
	}
	if seen.kept != nil {
		at.changed = true
		if err := os.Remove(at.kept); err != nil {
			return err
		}
	}
	return at.dropAside(seen)
}

// two is the refusal to choose between two hooks of others.
func (at *hookPlace) two(seen hookLook) error {
	by := "another tool"
	if seen.Manager != "" {
		by = seen.Manager
	}
	return fault.New(fault.Conflict, "%s has put its own hook at %s, and the hook from before bureau is still kept in %s", by, at.path, at.kept).
		WithHint("look at both; delete or rename the one that is no longer wanted, then do this again")
}

// keep gives a hook a second name, so that there is no moment without it. The
// new name must be free.
func keep(path, kept string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, kept)
	case !st.Mode().IsRegular():
		return fault.New(fault.Conflict, "%s is neither a file nor a link, so it cannot be kept", path).WithHint("move it away, then install again")
	}
	err = os.Link(path, kept)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links.
	if exists(kept) {
		return fs.ErrExist
	}
	return os.Rename(path, kept)
}
