// Package runtimedir finds the runtime folder of an office: the place on this
// machine for what need not survive a restart (live.db, bells, mail flags).
//
// The folder is /tmp/bureau-<uid>/<hash of the office's path>. It is short,
// since socket paths end at 104 bytes, and it does not depend on the
// environment, since clients scrub TMPDIR and XDG_RUNTIME_DIR differently and
// two answers would mean two offices that do not hear each other. On Windows,
// which has no such place, it lies under the user's temporary folder.
//
// /tmp belongs to everybody, so a folder there is used only after a look: it
// must be a real folder, ours, and closed to others.
package runtimedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"bureau/internal/fault"
)

// Dir is the runtime folder of one office.
type Dir struct{ path string }

// Path is the folder itself, absolute.
func (d Dir) Path() string { return d.path }

// LiveDB is the database of live state.
func (d Dir) LiveDB() string { return filepath.Join(d.path, "live.db") }

// BellDir is the folder that package bell works in. It need not exist.
func (d Dir) BellDir() string { return filepath.Join(d.path, "b") }

// FlagDir is the folder that package mailflag works in. It need not exist.
func (d Dir) FlagDir() string { return filepath.Join(d.path, "f") }

// EditDir is the folder that package editflag works in. It need not exist.
func (d Dir) EditDir() string { return filepath.Join(d.path, "e") }

// HookMark is an empty file whose time says when a hook of a client last ran.
func (d Dir) HookMark() string { return filepath.Join(d.path, "hook") }

// PluginMark is the same for hooks that came with a client's plugin.
func (d Dir) PluginMark() string { return filepath.Join(d.path, "hook-plugin") }

// Open gives the runtime folder of the office at officePath, which need not
// exist yet, and creates it where it is missing. It costs a few system calls,
// so a process that lives for days may call it again to heal a folder that a
// cleaner of /tmp took away. Errors are [fault.Unavailable] and name the
// folder and what is wrong with it.
func Open(officePath string) (Dir, error) {
	return open(base(), officePath, true)
}

// Look is Open without creating anything: [fault.NotFound] when the folder is
// not there, which means that nobody waits in this office.
func Look(officePath string) (Dir, error) {
	return open(base(), officePath, false)
}

func open(base, officePath string, create bool) (Dir, error) {
	canonical, err := Canonical(officePath)
	if err != nil {
		return Dir{}, err
	}
	sum := sha256.Sum256([]byte(canonical))
	d := Dir{filepath.Join(base, hex.EncodeToString(sum[:8]))}
	for _, folder := range []string{base, d.path} {
		if err := ensure(folder, create); err != nil {
			return Dir{}, err
		}
	}
	return d, nil
}

// ensure checks one folder, after creating it if that is wanted.
func ensure(folder string, create bool) error {
	st, err := os.Lstat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return fault.New(fault.NotFound, "no runtime folder %s: %w", folder, err)
		}
		// Another process may be creating it now; then its work is checked.
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fault.New(fault.Unavailable, "cannot create the runtime folder: %w", err)
		}
		st, err = os.Lstat(folder)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot look at the runtime folder: %w", err)
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return refuse(folder, "is a symbolic link")
	case !st.IsDir():
		return refuse(folder, "is not a folder")
	}
	return checkOwner(folder, st)
}

func refuse(folder, wrong string) *fault.Error {
	return fault.New(fault.Unavailable, "the runtime folder %s %s", folder, wrong).
		WithHint("look who made it; when nothing uses it, remove it and bureau makes a new one")
}

// Canonical gives the one spelling of an office's path that its runtime folder
// is named after: absolute, with symbolic links resolved, as far as the path
// exists. What does not exist yet is taken as written, so the answer stays the
// same when the office is created.
func Canonical(officePath string) (string, error) {
	if officePath == "" {
		return "", fault.New(fault.Invalid, "the office's path is empty")
	}
	abs, err := filepath.Abs(officePath)
	if err != nil {
		return "", fault.New(fault.Unavailable, "cannot make %s absolute: %w", officePath, err)
	}
	missing := ""
	for at := abs; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", fault.New(fault.Unavailable, "cannot resolve the office's path: %w", err)
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// SafeName reports whether s may name an entry of a runtime folder as it is:
// 1 to 32 letters, digits, dashes and underscores of ASCII. Ids of agents and
// topics of bells are of this form; other strings are encoded first.
func SafeName(s string) bool {
	if len(s) == 0 || len(s) > 32 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
