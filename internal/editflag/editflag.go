// Package editflag lets a guard pass an edit that it has allowed before, for
// the price of reading one small file and one stat for each project that has a
// say in it: the file's own and those around it.
//
// The claims of a project (a scope) have a flag: a file that whoever changes
// one of them lengthens by one byte, after the commit ([Raise]). When a guard
// has allowed a session to change a file, it stores that together with the
// sizes that the flags had before it looked ([Allow]). As long as the flags have
// those sizes, no claim of the projects has changed and the answer stands, up to
// a moment that the guard chose ([Allowed]).
//
// Flags only grow, for the reason that package mailflag gives, and the same
// holds for a process that dies between commit and flag: an answer is never
// kept for long.
//
// An answer may also depend on folders that others change, such as those of
// other programs' locks ([Watch]). It stands as long as their modification times
// do, which costs a stat for each.
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
	"net/url"
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

// Size gives the size of a scope's flag, 0 if it was never raised and -1 if that
// cannot be told. A guard reads it before it looks.
func Size(dir, scope string) int64 {
	return sizeOf(flagPath(dir, scope))
}

// sizeOf gives a flag's size; one that was never raised is as good as an empty
// one, and one that cannot be looked at is of no size.
func sizeOf(flag string) int64 {
	st, err := os.Stat(flag)
	switch {
	case err == nil:
		return st.Size()
	case errors.Is(err, fs.ErrNotExist):
		return 0
	}
	return -1
}

// Seen is a scope and the size that its flag had before a guard looked.
type Seen struct {
	Scope string
	Size  int64
}

// Watched is a folder as it was before a guard looked at what is in it.
type Watched struct {
	folder string
	at     int64 // its modification time in nanoseconds; 0 where there is none
	moving bool  // it changed so lately that it may once more without a new time
}

// settled is how old a change must be so that the next one has another time, on
// file systems with the coarsest clock (FAT: two seconds).
const settled = 2 * time.Second

// Watch looks at folders that an answer depends on. A guard does so before it
// looks at what is in them.
func Watch(folders ...string) []Watched {
	out := make([]Watched, 0, len(folders))
	for _, f := range folders {
		w := Watched{folder: f, at: modified(f)}
		w.moving = w.at != 0 && time.Since(time.Unix(0, w.at)) < settled
		out = append(out, w)
	}
	return out
}

func modified(folder string) int64 {
	st, err := os.Stat(folder)
	if err != nil {
		return 0
	}
	return st.ModTime().UnixNano()
}

// mostScopes is how many scopes a file's answer can depend on; one of more is
// not stored, and asked for each time.
const mostScopes = 8

// maxMark bounds what is stored for an answer; one that needs more is not kept.
const maxMark = 4096

// folderMark is in front of the name of a folder, where else a flag's is.
const folderMark = "@"

// Allow stores that a session may change a file until a moment, as long as the
// flags of all scopes that decide on it keep their sizes, and the watched
// folders stay as they were. key tells sessions and their subagents apart. Where
// a folder is changing right now nothing is stored, and the guard looks again
// the next time.
func Allow(dir, key, path string, scopes []Seen, until time.Time, watched ...Watched) error {
	if len(scopes) > mostScopes {
		return nil
	}
	file := markPath(dir, key, path)
	var b strings.Builder
	for _, s := range scopes {
		fmt.Fprintf(&b, "%s %d ", hash(s.Scope), s.Size)
	}
	for _, w := range watched {
		if w.moving {
			return nil
		}
		fmt.Fprintf(&b, "%s%s %d ", folderMark, url.PathEscape(w.folder), w.at)
	}
	text := fmt.Sprintf("%s%d\n", b.String(), until.UnixMilli())
	if len(text) > maxMark {
		return nil
	}
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
	raw := read(markPath(dir, key, path))
	f := strings.Fields(raw)
	if len(f) < 3 || len(f)%2 == 0 || !strings.HasSuffix(raw, "\n") {
		return false // written at this very moment
	}
	until, err := strconv.ParseInt(f[len(f)-1], 10, 64)
	if err != nil {
		return false
	}
	if left := time.UnixMilli(until).Sub(now); left <= 0 || left > most {
		return false
	}
	for ; len(f) > 2; f = f[2:] {
		want, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil || want < 0 {
			return false
		}
		if escaped, ok := strings.CutPrefix(f[0], folderMark); ok {
			if folder, err := url.PathUnescape(escaped); err != nil || want != modified(folder) {
				return false
			}
		} else if want != sizeOf(filepath.Join(dir, f[0])) {
			return false
		}
	}
	return true
}

// read gives what Allow stored, "" for nothing.
func read(mark string) string {
	var most [512]byte // nearly all have no more; what is larger makes the stack grow
	buf := most[:]
	for {
		n, err := runtimedir.Head(mark, buf)
		switch {
		case err != nil:
			return ""
		case n < len(buf) || n == maxMark:
			return string(buf[:n])
		}
		buf = make([]byte, maxMark)
	}
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
