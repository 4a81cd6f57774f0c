package transcript

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/paper"
)

// File is a transcript on disk. It holds nothing open and remembers nothing of
// the file, so any number of processes may each have one.
type File struct {
	place place
	spec  Spec
}

// Path is where the file lies, absolute.
func (f *File) Path() string { return f.place.path() }

// Create makes the transcript of a room, or continues the one that is there.
// Missing folders below the root are made. When it returns the file is on disk,
// whole and synced.
//
// It is a [fault.Conflict] when something else lies there: a file that bureau
// did not write, another room's transcript, or one that is (not) private
// against the spec. It is [fault.Denied] when the path leads through a link or
// out of the root.
func Create(s Spec, h Header) (*File, error) {
	f, err := resolve(s)
	if err != nil {
		return nil, err
	}
	root, err := f.place.folder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = f.adopt(root)
	if errors.Is(err, fs.ErrNotExist) {
		err = f.create(root, h)
	}
	if errors.Is(err, fs.ErrExist) {
		err = f.adopt(root) // another process was first
	}
	if err != nil && fault.CodeOf(err) == fault.Unavailable {
		err = fault.New(fault.Unavailable, "cannot make the transcript %s: %w", f.Path(), err)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open finds the transcript of a room that is there already. It is
// [fault.NotFound] when it is not; the other refusals are those of [Create].
func Open(s Spec) (*File, error) {
	f, err := resolve(s)
	if err != nil {
		return nil, err
	}
	root, err := f.place.folder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := f.adopt(root); err != nil {
		return nil, f.missing(err)
	}
	return f, nil
}

func resolve(s Spec) (*File, error) {
	code, _, err := language(s.Lang)
	if err != nil {
		return nil, err
	}
	s.Lang = code
	if s.Room == "" || len(s.Room) > mostRoom || strings.Trim(s.Room, roomLetters) != "" {
		return nil, fault.New(fault.Invalid, "%q is no id of a room", s.Room)
	}
	p, err := locate(s)
	return &File{p, s}, err
}

const roomLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func (f *File) missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "there is no transcript at %s", f.Path()).
			WithHint("bureau room transcript NAME --sync writes it anew")
	}
	return err
}

// adopt takes the file that is there, if it is this room's.
func (f *File) adopt(root *os.Root) error {
	file, err := f.place.open(root)
	if err != nil {
		return err
	}
	defer file.Close()
	first := make([]byte, firstRead)
	n, err := file.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	_, err = f.own(first[:n])
	return err
}

// Another is the detail of a refusal because a file is another room's.
type Another struct {
	Room string `json:"room"`
}

// own reads whose file it is and refuses all but this room's.
func (f *File) own(first []byte) (identity, error) {
	id, _, _, err := readMark(first)
	if err != nil {
		return id, f.about(err)
	}
	switch {
	case id.Room != f.spec.Room:
		return id, fault.New(fault.Conflict, "%s is the transcript of another room (%s)", f.Path(), id.Room).
			WithHint("choose another path").WithDetail(Another{id.Room})
	case id.Private != f.spec.Private:
		return id, fault.New(fault.Conflict, "%s was opened with private=%v, not %v", f.Path(), id.Private, f.spec.Private).
			WithHint("choose another path, or set the old transcript aside")
	}
	return id, nil
}

// about names the file in an error that does not.
func (f *File) about(err error) error {
	var e *fault.Error
	if errors.As(err, &e) {
		e.Message = f.Path() + ": " + e.Message
		if e.Code == fault.Conflict && e.Hint == "" {
			e.Hint = "choose another path, or move that file away"
		}
	}
	return err
}

// create writes a transcript without entries under its name.
func (f *File) create(root *os.Root, h Header) error {
	_, l, _ := language(f.spec.Lang)
	if err := makeFolder(root, filepath.Dir(f.place.rel)); err != nil {
		return err
	}
	slots := l.slots(h, leastRows)
	w := fit(slots, nil)
	end := int64(w.size())
	id := identity{Room: f.spec.Room, Lang: f.spec.Lang, Private: f.spec.Private}
	return f.place.write(root, f.mode(), func(name string) error { return settle(root, name, f.place.rel) },
		head(id, extent{Seq: h.Seq, End: end}, slots, w))
}

func (f *File) mode() fs.FileMode {
	if f.spec.Private {
		return 0o600
	}
	return 0o644
}

// write puts parts into a new file, synced, and lets name give it its name.
func (p place) write(root *os.Root, mode fs.FileMode, name func(string) error, parts ...any) error {
	file, temp, err := p.temporary(root, mode)
	if err != nil {
		return err
	}
	defer root.Remove(temp) // after a rename there is nothing to remove
	for _, part := range parts {
		if err == nil {
			switch part := part.(type) {
			case []byte:
				_, err = file.Write(part)
			case io.Reader:
				_, err = io.Copy(file, part)
			case fs.FileMode:
				err = file.Chmod(part)
			}
		}
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = name(temp); err == nil {
		paper.SyncDir(filepath.Dir(p.path()))
	}
	return err
}

// locked runs do with the file open and locked. Other processes wait, up to
// patience or the end of ctx.
func (f *File) locked(ctx context.Context, do func(root *os.Root, file *os.File) error) error {
	root, err := f.place.folder()
	if err != nil {
		return err
	}
	defer root.Close()
	end := time.Now().Add(patience)
	for wait := 100 * time.Microsecond; ; wait = min(2*wait, 5*time.Millisecond) {
		file, err := f.place.open(root)
		if err != nil {
			return f.missing(err)
		}
		got, err := paper.TryLock(file)
		if err != nil {
			file.Close()
			return fault.New(fault.Unavailable, "cannot lock the transcript %s: %w", f.Path(), err)
		}
		// Who waited may have the lock of a file that was replaced meanwhile.
		if got && f.place.is(root, file) {
			err := do(root, file)
			return errors.Join(err, file.Close())
		}
		file.Close()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		if time.Now().After(end) {
			return fault.New(fault.Unavailable, "another process keeps the transcript %s locked", f.Path()).
				WithHint("nothing is lost: the next post writes what is missing")
		}
	}
}

// patience is how long a post waits for others that write the same file.
const patience = 10 * time.Second
