package transcript

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
)

// place is where a file lies: below a folder that nothing leads out of.
type place struct {
	dir string // absolute
	rel string // below dir
}

func (p place) path() string { return filepath.Join(p.dir, p.rel) }

// locate finds the place that a spec means, without touching the disk more
// than needed to compare folders.
func locate(s Spec) (place, error) {
	if s.Path == "" || strings.ContainsRune(s.Path, 0) {
		return place{}, fault.New(fault.Invalid, "%q is no path for a transcript", s.Path).WithHint("name a file below %s", s.Root)
	}
	if !filepath.IsAbs(s.Root) {
		return place{}, fault.New(fault.Invalid, "the folder for transcripts must be an absolute path, not %q", s.Root)
	}
	path := s.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Root, path)
	}
	path = filepath.Clean(path)
	roots := []string{filepath.Clean(s.Root)}
	if real, err := filepath.EvalSymlinks(s.Root); err == nil {
		roots = append(roots, real) // people give either
	}
	for _, root := range roots {
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if rel == "." {
			return place{}, fault.New(fault.Invalid, "%q is a folder, not a file for a transcript", s.Path).WithHint("name a file in it")
		}
		for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			if strings.EqualFold(part, ".git") {
				return place{}, fault.New(fault.Denied, "%q lies among git's own files", s.Path).WithHint("choose a path outside of .git")
			}
		}
		return place{root, rel}, nil
	}
	if !s.Force {
		return place{}, fault.New(fault.Denied, "%q lies outside %s", s.Path, s.Root).
			WithHint("choose a path below that folder, or allow this one with --force-path")
	}
	return place{filepath.Dir(path), filepath.Base(path)}, nil
}

// folder opens the folder. Nothing that is done through it leaves it, whatever
// links somebody makes meanwhile.
func (p place) folder() (*os.Root, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, fault.New(fault.NotFound, "cannot open the folder for transcripts: %w", err)
	}
	return root, nil
}

// look reports whether the file is there. It refuses a way through links, and
// anything but a regular file.
func (p place) look(root *os.Root) (fs.FileInfo, error) {
	parts := strings.Split(filepath.ToSlash(p.rel), "/")
	for i := range parts {
		at := filepath.Join(parts[:i+1]...)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fault.New(fault.Unavailable, "cannot look at the transcript: %w", err)
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return nil, fault.New(fault.Denied, "%s is a link; a transcript is not written through links", filepath.Join(p.dir, at)).
				WithHint("give the path that the link leads to")
		case i < len(parts)-1 && !info.IsDir():
			return nil, fault.New(fault.Conflict, "%s is not a folder", filepath.Join(p.dir, at)).WithHint("choose another path")
		case i == len(parts)-1 && !info.Mode().IsRegular():
			return nil, fault.New(fault.Conflict, "%s is not a regular file", p.path()).WithHint("choose another path")
		case i == len(parts)-1:
			return info, nil
		}
	}
	return nil, nil
}

// open opens the file for reading and writing. It gives fs.ErrNotExist when it
// is not there.
func (p place) open(root *os.Root) (*os.File, error) {
	// A file whose header has outgrown its place is replaced by whoever posts.
	// Being overtaken by that again and again means something else.
	for attempt := 0; ; attempt++ {
		f, err := p.openOnce(root)
		if err != errReplaced {
			return f, err
		}
		if attempt == 100 {
			return nil, fault.New(fault.Conflict, "%s is being replaced by another program", p.path()).WithHint("try again")
		}
		time.Sleep(time.Millisecond)
	}
}

// errReplaced: another file of the name came between the look and the opening.
var errReplaced = errors.New("the file was replaced")

func (p place) openOnce(root *os.Root) (*os.File, error) {
	info, err := p.look(root)
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, fs.ErrNotExist
	}
	f, err := root.OpenFile(p.rel, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot open the transcript: %w", err)
	}
	if !p.is(root, f) {
		f.Close()
		return nil, errReplaced
	}
	return f, nil
}

// is reports whether f is still what lies there.
func (p place) is(root *os.Root, f *os.File) bool {
	there, err := p.look(root)
	if err != nil || there == nil {
		return false
	}
	have, err := f.Stat()
	return err == nil && os.SameFile(there, have)
}

// temporary makes a new file beside the place.
func (p place) temporary(root *os.Root, mode fs.FileMode) (*os.File, string, error) {
	name := filepath.Join(filepath.Dir(p.rel), ".new-"+strconv.FormatUint(rand.Uint64(), 36))
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	return f, name, err
}

// settle gives a finished file its name, unless there is one of that name. It
// says fs.ErrExist then.
func settle(root *os.Root, from, to string) error {
	err := root.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// No hard links here. The name is taken first, so that nobody else's file
	// can come in between.
	f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := root.Rename(from, to); err != nil {
		return errors.Join(err, root.Remove(to))
	}
	return nil
}
