package mailflag

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bureau/internal/fault"
	"bureau/internal/runtimedir"
)

// Sweep removes the links and marks of sessions that did nothing since before,
// and then the flags that were not raised since and that no session is linked
// to any more. Choose days: a session that comes back is linked again by its
// next look. It gives the number of sessions and flags removed.
func Sweep(dir string, before time.Time) (removed int, err error) {
	folders, err := list(filepath.Join(dir, sessions))
	if err != nil {
		return 0, err
	}
	linked := map[string]bool{}
	for _, s := range folders {
		folder := filepath.Join(dir, sessions, s.Name())
		if lastChange(folder).Before(before) {
			if err := os.RemoveAll(folder); err != nil {
				return removed, fault.New(fault.Unavailable, "cannot remove an old session: %w", err)
			}
			removed++
			continue
		}
		linked[linkedTo(filepath.Join(folder, linkName))] = true
	}
	flags, err := list(dir)
	for _, f := range flags {
		if !f.Type().IsRegular() || !runtimedir.SafeName(f.Name()) || linked[f.Name()] {
			continue
		}
		if st, err := f.Info(); err == nil && st.ModTime().Before(before) {
			if os.Remove(filepath.Join(dir, f.Name())) == nil {
				removed++
			}
		}
	}
	return removed, err
}

// lastChange is the newest time in a session's folder. While the session works,
// its mark is renewed whenever it is [Stale].
func lastChange(folder string) time.Time {
	var newest time.Time
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.ModTime().After(newest) {
			newest = st.ModTime()
		}
	}
	if st, err := os.Lstat(folder); err == nil && st.ModTime().After(newest) {
		newest = st.ModTime()
	}
	return newest
}

// list reads a folder; one that does not exist is empty.
func list(folder string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Unavailable, "cannot look for old mail flags: %w", err)
	}
	return entries, nil
}
