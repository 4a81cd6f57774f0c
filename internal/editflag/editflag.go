// Package editflag lets a guard pass an edit that it has allowed before, for
// the price of reading one small file and one stat.
//
// The claims of a project (a scope) have a flag: a file that whoever changes
// one of them lengthens by one byte, after the commit ([Raise]). When a guard
// has allowed a session to change a file, it stores that together with the size
// that the flag had before it looked ([Allow]). As long as the flag has that
// size, no claim of the project has changed and the answer stands, up to a
// moment that the guard chose ([Allowed]).
//
// Flags only grow, for the reason that package mailflag gives, and the same
// holds for a process that dies between commit and flag: an answer is never
// kept for long.
//
// The folder given everywhere is [runtimedir.Dir.EditDir]:
//
//	<hash of the scope>            the flag
//	s/<hash of the session>/<hash> what a session may do, one file for each path
//	w/<hash of the path>           who changed a file lately; see [Trace]
package editflag

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/runtimedir"
)

const sessions = "s"

// Raise announces a change of a scope's claims, after its commit.
func Raise(dir, scope string) error {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	f, err := os.OpenFile(flagPath(dir, scope), flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolders(dir); err != nil {
			return err
		}
		f, err = os.OpenFile(flagPath(dir, scope), flags, 0o600)
	}
	if err == nil {
		_, err = f.Write([]byte{'.'})
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot raise the flag of a project's claims: %w", err)
	}
	return nil
}

// Size gives the size of a scope's flag, 0 if it was never raised. A guard
// reads it before it looks.
func Size(dir, scope string) int64 {
	st, err := os.Stat(flagPath(dir, scope))
	if err != nil {
		return 0
	}
	return st.Size()
}

// Allow stores that a session may change a file until a moment, as long as the
// scope's flag keeps a size. key tells sessions and their subagents apart.
func Allow(dir, key, path, scope string, size int64, until time.Time) error {
	file := markPath(dir, key, path)
	text := fmt.Sprintf("%s %d %d\n", hash(scope), size, until.UnixMilli())
	err := os.WriteFile(file, []byte(text), 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolders(dir, filepath.Join(dir, sessions), filepath.Dir(file)); err != nil {
			return err
		}
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot keep what a guard allowed: %w", err)
	}
	return nil
}

// Allowed reports whether what Allow stored still stands. A moment that is
// further away than most, after a clock was set back, does not count.
func Allowed(dir, key, path string, now time.Time, most time.Duration) bool {
	var buf [128]byte
	n, err := runtimedir.Head(markPath(dir, key, path), buf[:])
	if err != nil {
		return false
	}
	raw := buf[:n]
	f := strings.Fields(string(raw))
	if len(f) != 3 || !strings.HasSuffix(string(raw), "\n") {
		return false // written at this very moment
	}
	size, err1 := strconv.ParseInt(f[1], 10, 64)
	until, err2 := strconv.ParseInt(f[2], 10, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	left := time.UnixMilli(until).Sub(now)
	if left <= 0 || left > most {
		return false
	}
	st, err := os.Stat(filepath.Join(dir, f[0]))
	return err == nil && st.Size() == size
}

// Forget removes what is stored for a session that has ended.
func Forget(dir, key string) error {
	if err := os.RemoveAll(filepath.Dir(markPath(dir, key, ""))); err != nil {
		return fault.New(fault.Unavailable, "cannot remove what a guard allowed a session: %w", err)
	}
	return nil
}

// Sweep removes what is stored for sessions that have not been allowed
// anything new since a moment, and the traces that are older.
func Sweep(dir string, before time.Time) error {
	var errs error
	for _, part := range []string{sessions, traces} {
		all := filepath.Join(dir, part)
		entries, err := os.ReadDir(all)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
		for _, e := range entries {
			if st, err := e.Info(); err == nil && st.ModTime().Before(before) {
				errs = errors.Join(errs, os.RemoveAll(filepath.Join(all, e.Name())))
			}
		}
	}
	return errs
}

func flagPath(dir, scope string) string { return filepath.Join(dir, hash(scope)) }

func markPath(dir, key, path string) string {
	return filepath.Join(dir, sessions, hash(key), hash(path))
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func makeFolders(folders ...string) error {
	for _, f := range folders {
		if err := os.Mkdir(f, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fault.New(fault.Unavailable, "cannot make a folder for what guards allow: %w", err)
		}
	}
	return nil
}
