package mclaude

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/paper"
)

// The files of one lock are named after its slug.
const (
	lockExt      = ".lock"
	metadataExt  = ".metadata.json"
	heartbeatExt = ".heartbeat"
	// tempMark and 8 hex digits follow the name of a file that one of our
	// processes is about to put in place or to remove. mclaude, whose own ones
	// look alike but for the word, does not see such names.
	tempMark = ".tmp.bureau-"
)

// maxLock is the most that is read of a S.lock.
const maxLock = 4096

// folder is the lock folder, open for one call.
type folder struct {
	Locks
	top, active *os.Root
	gate        *os.File
	alone       bool // no other process of ours changes anything meanwhile
}

func (l Locks) open() (*folder, error) {
	top, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, unusable(l.root, err)
	}
	active, err := top.OpenRoot(activeDir)
	if err != nil {
		top.Close()
		return nil, unusable(l.root, err)
	}
	return &folder{Locks: l, top: top, active: active}, nil
}

// errTaken says that another process of ours is inside.
var errTaken = errors.New("another process changes the locks")

const defaultPatience = 5 * time.Second

// enter opens the folder for a change, when no other process of ours makes one.
func (l Locks) enter() (*folder, error) {
	wait := l.Patience
	if wait <= 0 {
		wait = defaultPatience
	}
	f, err := l.enterWithin(wait)
	if errors.Is(err, errTaken) {
		return nil, fault.New(fault.Timeout, "other processes kept the locks of %s busy for %v", l.root, wait).
			WithHint("try again")
	}
	return f, err
}

func (l Locks) enterWithin(wait time.Duration) (*folder, error) {
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	err = f.top.MkdirAll(ownDir, 0o777)
	if err == nil {
		f.gate, err = f.top.OpenFile(gateFile, os.O_RDWR|os.O_CREATE|quickly, 0o666)
	}
	if err != nil {
		f.close()
		return nil, fault.New(fault.Unavailable, "cannot open %s in %s: %w", gateFile, l.root, err).
			WithHint("%s must be a folder inside of the project that this user may write", ownDir)
	}
	pause := time.Millisecond
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		got, err := paper.TryLock(f.gate)
		if got || err != nil {
			f.alone = got // without such locks the exclusive creation still holds
			return f, nil
		}
		if !time.Now().Before(end) {
			f.close()
			return nil, errTaken
		}
		pause = min(2*pause, 16*time.Millisecond)
	}
}

func (f *folder) close() {
	if f.gate != nil {
		f.gate.Close()
	}
	if f.active != nil {
		f.active.Close()
	}
	f.top.Close()
}

var (
	errIrregular = errors.New("not a regular file")
	errTooLarge  = errors.New("file is too large")
)

// read gives at most the given number of bytes of a regular file; of a larger
// one these and errTooLarge. What the file is, is given whenever there is
// something by that name.
func (f *folder) read(name string, most int64) ([]byte, fs.FileInfo, error) {
	st, err := f.active.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, st, errIrregular
	}
	file, err := f.active.OpenFile(name, os.O_RDONLY|quickly, 0)
	if err != nil {
		return nil, st, err
	}
	defer file.Close()
	if now, err := file.Stat(); err != nil || !now.Mode().IsRegular() {
		return nil, st, errIrregular
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, st, err
}

// names lists the folder.
func (f *folder) names() ([]string, error) {
	dir, err := f.active.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func tempName(name string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return name + tempMark + hex.EncodeToString(b[:])
}

// prepare writes a file under a temporary name.
func (f *folder) prepare(name string, data []byte) (temp string, err error) {
	temp = tempName(name)
	file, err := f.active.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = f.active.Remove(temp)
		return "", err
	}
	return temp, nil
}

// take removes a file if it is what the caller believes. It is taken aside
// first, so that the look and the removal cannot see different files, and put
// back if it is another one. It reports whether it removed the file.
func (f *folder) take(name string, same func(data []byte, st fs.FileInfo) bool) (bool, error) {
	aside := tempName(name)
	if err := f.active.Rename(name, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	if err := f.step("aside"); err != nil {
		return false, errors.Join(err, f.putBack(aside, name))
	}
	data, st, err := f.read(aside, maxMetadata)
	if (err == nil || err == errTooLarge) && same(data, st) {
		return true, f.active.Remove(aside)
	}
	return false, f.putBack(aside, name)
}

// putBack gives a file its name back, unless somebody has made a new one.
func (f *folder) putBack(aside, name string) error {
	err := f.active.Link(aside, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return f.active.Remove(aside)
	}
	if _, there := f.active.Lstat(name); errors.Is(there, fs.ErrNotExist) { // a file system without hard links
		return f.active.Rename(aside, name)
	}
	return f.active.Remove(aside)
}

// heartbeat gives the time of a heartbeat that makes mclaude take the lock for
// stale at a moment, and never earlier than it would by a heartbeat of now.
func (f *folder) heartbeat(until time.Time) time.Time {
	at := f.now()
	if ahead := until.Add(-DefaultStale); !until.IsZero() && ahead.After(at) {
		at = ahead
	}
	return at
}

// beat sets the heartbeat of a lock to a time.
func (f *folder) beat(slug string, at time.Time) error {
	name := slug + heartbeatExt
	st, err := f.active.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		file, err := f.active.OpenFile(name, os.O_WRONLY|os.O_CREATE|quickly, 0o666)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return errIrregular
	}
	return f.active.Chtimes(name, at, at)
}

// slugOf gives the slug of a file of a lock, by the extension.
func slugOf(name, ext string) (string, bool) {
	slug, ok := strings.CutSuffix(name, ext)
	return slug, ok && ValidSlug(slug)
}
