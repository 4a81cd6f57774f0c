// Package colleagues reads roster.yaml, the file in which people name the
// colleagues of an office: specialists that can be written to before they ever
// ran. The form is Escritório's (docs/compatibility.md says what differs), a
// mapping of names:
//
//	reviewer:
//	  brief: Reviews Go changes before they land   # needed, one line
//	  tier: advisor            # advisor (without a word), editor or worktree
//	  agent_file: agents/reviewer.md
//	  notebook: notes/reviewer.md                  # or caderno
//	  cwd: ~/src/api
//	  model: opus                                  # or modelo
//
// Three places are read, one after the other: the file that BUREAU_ROSTER, or
// else ESCRITORIO_ROSTER, names; roster.yaml in the office's folder; and
// .bureau/roster.yaml in the project. The first definition of a name counts.
//
// What is wrong with a file, or with one entry, is a problem that is shown; it
// hides no other entry and stops nothing. A file is anybody's text: reading it
// is bounded in time and memory, and waits for nothing.
package colleagues

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/roster"
)

// FileName is what a roster file is called in the places where none is named.
const FileName = "roster.yaml"

// Variables name a roster file anywhere; the first that is set counts.
var Variables = []string{"BUREAU_ROSTER", "ESCRITORIO_ROSTER"}

// The bounds of a file.
const (
	MaxFile       = 1 << 20 // bytes
	MaxColleagues = 1000
	MaxProblems   = 100     // of one file; what stands behind them is not read
	MaxEntry      = 4 << 10 // bytes of one colleague
	MaxBrief      = 500     // characters
)

// Reader reads the roster files whenever it is asked, and only those again that
// have changed. Its method may be called from several goroutines.
type Reader struct {
	env func(string) string

	mu   sync.Mutex
	kept map[string]kept // by path
}

// kept is a file as it was read.
type kept struct {
	info  os.FileInfo
	at    time.Time
	staff roster.Staff
}

// maxKept bounds how many files a long-lived process remembers.
const maxKept = 64

// settled is how old a file must be for its time to tell whether it changed:
// coarser clocks of file systems give two changes within it one time.
const settled = 3 * time.Second

// NewReader makes a reader with an environment: the variables that name files,
// HOME, and those that paths in the files use.
func NewReader(env func(string) string) *Reader {
	return &Reader{env: env, kept: map[string]kept{}}
}

// Staff gives the colleagues that the roster files of an office and a project
// name now; home or root may be "" for none. Missing files name nobody.
func (r *Reader) Staff(home, root string) roster.Staff {
	var out roster.Staff
	var places []string
	for _, v := range Variables {
		word := r.env(v)
		if word == "" {
			continue
		}
		path, err := expand(word, "", r.env)
		if err == nil && !filepath.IsAbs(path) {
			err = fault.New(fault.Invalid, "the path %s is relative", show(word)).WithHint("give an absolute one")
		}
		if err != nil {
			out.Problems = append(out.Problems, fault.New(fault.Invalid, "%s: %w", v, err).WithHint("%s", fault.HintOf(err)))
		} else {
			places = append(places, path)
		}
		break
	}
	if home != "" {
		places = append(places, filepath.Join(home, FileName))
	}
	if root != "" {
		places = append(places, filepath.Join(root, ".bureau", FileName))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var files []os.FileInfo
	first := map[name.Key]roster.Profile{}
	for _, path := range places {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			delete(r.kept, path)
			continue
		}
		if err == nil && slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
			continue // one file in two places
		}
		var staff roster.Staff
		if err == nil {
			files = append(files, info)
			staff = r.read(path, info)
		} else {
			staff = unreadable(path, err)
		}
		out.Problems = append(out.Problems, staff.Problems...)
		for _, p := range staff.Colleagues {
			if was, twice := first[p.Name.Key()]; twice {
				out.Problems = append(out.Problems, fault.New(fault.Conflict, "%s line %d: colleague %s is defined in %s line %d too; that one counts",
					p.File, p.Line, show(string(p.Name)), was.File, was.Line).WithHint("take one of them out, or rename it"))
				continue
			}
			first[p.Name.Key()] = p
			out.Colleagues = append(out.Colleagues, p)
		}
	}
	return out
}

// read gives what a file says, from memory if it has not changed.
func (r *Reader) read(path string, info os.FileInfo) roster.Staff {
	was, known := r.kept[path]
	if known && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) &&
		was.at.Sub(info.ModTime()) > settled {
		return was.staff
	}
	at := time.Now()
	content, info, err := load(path)
	if err != nil {
		return unreadable(path, err)
	}
	staff := Parse(content, path, r.env)
	if len(r.kept) >= maxKept {
		clear(r.kept)
	}
	r.kept[path] = kept{info, at, staff}
	return staff
}

// load reads a file whole. It waits for nobody at a pipe or a device, and
// gives no more than MaxFile.
func load(path string) ([]byte, os.FileInfo, error) {
	special := fault.New(fault.Invalid, "it is no regular file").WithHint("put a text file there")
	// Looked at before it is opened: opening alone does something to some devices.
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, special
	}
	f, err := os.OpenFile(path, os.O_RDONLY|quickly, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, special
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(content) > MaxFile {
		err = fault.New(fault.Invalid, "it is larger than %d bytes (1 MiB)", MaxFile).WithHint("make it smaller: personas belong into files of their own (agent_file)")
	}
	return content, info, err
}

// unreadable is what a file gives that cannot be read at all.
func unreadable(path string, err error) roster.Staff {
	var where *fs.PathError
	if errors.As(err, &where) {
		err = where.Err // the path is named already
	}
	hint := fault.HintOf(err)
	if hint == "" {
		hint = "make it readable, or take it away"
	}
	return roster.Staff{Problems: []error{fault.New(fault.Invalid, "%s cannot be read: %w", path, err).WithHint("%s", hint)}}
}
