package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// hookNames are the hooks that can be installed.
var hookNames = []string{PreCommit, PreMergeCommit, PrePush}

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
	if slices.Contains(hookNames, name) {
		return nil
	}
	return fault.New(fault.Invalid, "no guard for the hook %q", name).
		WithHint("%s, %s or %s", PreCommit, PreMergeCommit, PrePush)
}

// InstallHook makes git ask bureau before a commit or push of the repository
// that dir is in: it writes a small script where git looks for the hook
// (a linked work tree's shared folder, a submodule's own, core.hooksPath). A
// hook that was there is kept under its own name in the folder
// hooks.before-bureau beside, byte for byte with mode or link, and is still
// run, after ours, with the same arguments, input, environment and say.
//
// Where the repository's own core.hooksPath names a folder of the work tree
// (husky's, or one that is committed) nothing is written there: git is led to a
// folder in the repository, whose hooks go on to those of core.hooksPath. That
// stays when husky sets core.hooksPath and writes its hooks anew.
//
// The repository's configuration (bureau.guard) remembers that the guard was
// asked for, see [Lapsed]. What format 1 had kept as NAME.before-bureau is kept
// as by now.
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
	if at.chain != nil {
		err = at.installChain(ctx, o)
	} else {
		// Without locks two installs at once meet at the kept file, which only
		// one can make.
		for range 3 {
			if err = at.install(o); !errors.Is(err, fs.ErrExist) {
				break
			}
		}
	}
	if err == nil {
		err = at.remember(ctx, true)
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
	if at != nil && err != nil {
		_ = at.remember(ctx, false)
	}
	if err != nil {
		return Hook{}, err
	}
	defer at.alone(ctx)()
	if at.chain != nil {
		err = at.removeChain(ctx)
	}
	if err == nil {
		err = at.removePlain()
	}
	seen := at.look()
	if err == nil || !seen.Runs {
		// Whoever does not want the guard is not told that it is gone.
		if forgot := at.remember(ctx, false); err == nil {
			err = forgot
		}
		seen = at.look()
	}
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

// removePlain takes ours out of the hooks folder itself, and out of the one that
// git looked into before core.hooksPath was set.
func (at *hookPlace) removePlain() error {
	plain := *at
	plain.chain, plain.asked = nil, false
	err := plain.remove()
	if usual := filepath.Join(at.common, "hooks"); err == nil && usual != at.folder {
		plain.settle(usual)
		if seen := plain.look(); seen.ours() && seen.State != HookEdited {
			err = plain.remove()
		}
	}
	at.changed = plain.changed
	return err
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
		return at.edited(seen)
	case seen.twoKept:
		return at.keptTwice()
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
			if err := os.Remove(seen.Kept); err != nil {
				return err
			}
			seen.Kept = ""
		}
		if err := at.makeKept(at.path); err != nil {
			return err
		}
		kept = true
	}
	if seen.Kept == at.keptOld {
		if err := at.makeKept(at.keptOld); err != nil {
			return err
		}
	}
	at.linkNeighbours()
	_, before := readHook(at.kept)
	what := fmt.Sprintf("%s/%s beside this folder", filepath.Base(at.keptFolder()), at.name)
	script := renderHook(o, printable(what), at.findKept(), hookManager(before), made)
	if seen.ours() && bytes.Equal(seen.content, script) && executable(at.path) {
		return at.dropAside(seen)
	}
	if err := paper.WriteFile(at.path, script, hookMode); err != nil {
		if kept { // one hook by one name, as it was
			_ = os.Rename(at.kept, at.path)
			if exists(at.path) {
				_ = os.Remove(at.kept) // two names of one file are not renamed
			}
			at.tidy()
		}
		return err
	}
	at.changed = true
	if seen.Kept == at.keptOld && exists(at.kept) { // without hard links it was moved
		if err := os.Remove(at.keptOld); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return at.dropAside(seen)
}

// makeKept keeps what is at path.
func (at *hookPlace) makeKept(path string) error {
	if err := os.MkdirAll(at.keptFolder(), 0o755); err != nil {
		return err
	}
	err := keep(path, at.kept)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		at.tidy()
	}
	return err
}

// printable is for a comment of a script.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
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
	defer at.tidy()
	switch {
	case seen.State == HookEdited:
		return at.edited(seen)
	case seen.twoKept:
		return at.keptTwice()
	}
	switch seen.State {
	case HookAbsent:
		return nil
	case HookInstalled, HookOff:
		at.changed = true
		if seen.kept != nil {
			if err := os.Rename(seen.Kept, at.path); err != nil {
				return err
			}
			return at.dropAside(seen)
		}
		if err := os.Remove(at.path); err != nil {
			return err
		}
		if err := at.dropAside(seen); err != nil {
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
		if err := os.Rename(seen.Kept, at.path); err != nil {
			return err
		}
		return at.dropAside(seen)
	}
	if seen.kept != nil && !seen.superseded() {
		if len(seen.aside) == 0 || seen.aside[0] == at.keptOld {
			return at.two(seen)
		}
		// Without us that tool would have moved the kept hook there.
		at.changed = true
		if err := os.Rename(seen.Kept, seen.aside[0]); err != nil {
			return err
		}
		seen.aside = seen.aside[1:]
		return at.dropAside(seen)
	}
	if seen.kept != nil {
		at.changed = true
		if err := os.Remove(seen.Kept); err != nil {
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
	return fault.New(fault.Conflict, "%s has put its own hook at %s, and the hook from before bureau is still kept in %s", by, at.path, seen.Kept).
		WithHint("look at both; delete or rename the one that is no longer wanted, then do this again")
}

// edited is the refusal to touch a script of ours that somebody changed.
func (at *hookPlace) edited(seen hookLook) error {
	hint := "take your lines out of it, or move it away, then do this again"
	if seen.Kept != "" {
		hint += "; the hook from before it is kept in " + seen.Kept
	}
	return fault.New(fault.Conflict, "%s was changed since bureau wrote it, so it is left alone", at.path).WithHint("%s", hint)
}

// keptTwice is the refusal to choose between what two versions of ours kept.
func (at *hookPlace) keptTwice() error {
	return fault.New(fault.Conflict, "two hooks from before bureau are kept: %s and %s", at.kept, at.keptOld).
		WithHint("look at both; delete or rename the one that is no longer wanted, then do this again")
}
