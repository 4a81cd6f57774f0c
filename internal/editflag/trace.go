package editflag

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
)

const (
	traces = "w"
	// maxTrace is the size from which a trace begins anew, in bytes.
	maxTrace = 16 << 10
)

// Change is somebody's change of a file.
type Change struct {
	Path string
	By   string // the key of who made it
	At   time.Time
}

// Trace writes down that a session has changed files, and gives the newest
// change of each by every other key since a moment. Of two that change one file
// at the same time at least one sees the other: each writes before it reads.
// It costs the opening of one small file for each path and no database. What it
// gives is what a guard may act on, no record: older changes are dropped, and a
// broken trace is begun anew.
//
// The file is w/<hash of the path>, a line for each change:
//
//	<milliseconds since 1970> <key, quoted as in Go>
func Trace(dir, key string, paths []string, now, since time.Time) ([]Change, error) {
	var out []Change
	var errs error
	for _, path := range paths {
		text, err := note(dir, path, strconv.FormatInt(now.UnixMilli(), 10)+" "+strconv.Quote(key)+"\n", since)
		if err != nil {
			errs = errors.Join(errs, fault.New(fault.Unavailable, "cannot note who changed a file: %w", err))
			continue
		}
		newest := map[string]time.Time{}
		var order []string
		for line := range strings.SplitSeq(text, "\n") {
			ms, quoted, _ := strings.Cut(line, " ")
			at, err1 := strconv.ParseInt(ms, 10, 64)
			by, err2 := strconv.Unquote(quoted)
			moment := time.UnixMilli(at)
			if err1 != nil || err2 != nil || by == key || moment.Before(since) || moment.After(now.Add(time.Minute)) {
				continue
			}
			if _, known := newest[by]; !known {
				order = append(order, by)
			}
			newest[by] = moment
		}
		for _, by := range order {
			out = append(out, Change{Path: path, By: by, At: newest[by].UTC()})
		}
	}
	return out, errs
}

// note adds a line to a path's trace and gives all of it.
func note(dir, path, line string, since time.Time) (string, error) {
	name := filepath.Join(dir, traces, hash(path))
	flags := os.O_RDWR | os.O_APPEND | os.O_CREATE
	if st, err := os.Stat(name); err == nil && (st.ModTime().Before(since) || st.Size() > maxTrace) {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolders(dir, filepath.Join(dir, traces)); err != nil {
			return "", err
		}
		f, err = os.OpenFile(name, flags, 0o600)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*maxTrace))
	return string(text), err
}
