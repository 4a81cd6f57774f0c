package mclaude

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Lock is a lock to be written.
type Lock struct {
	Slug             string    // see [Slug]
	Session          string    // see [SessionID]: at least 8 characters, begins with Claim.Identity and a hyphen
	Description      string    // line ends and control characters become spaces
	Files            []string  // as mclaude compares them: files, relative to the root or absolute
	WorkingDirectory string    // absolute; "" is the project's root
	Worktree, Branch string    // "" is none
	ClaimedAt        time.Time // zero is now, or for a lock that is there already, since then
	// Until is when others may take the holder for dead if it gives no other
	// sign. The heartbeat is set for that ([DefaultStale] earlier, but never
	// before now); zero: it is set to now.
	Until time.Time
	Claim Claim
}

func (l Lock) check() error {
	if !ValidSlug(l.Slug) {
		return invalidSlug(l.Slug)
	}
	if !validSession(l.Session) || !strings.HasPrefix(l.Session, l.Claim.Identity+"-") || l.Claim.Identity == "" {
		return usage("%q is not a session id for a lock of identity %q", l.Session, l.Claim.Identity).
			WithHint("it begins with the identity and a hyphen and has 8 to 200 letters, digits, dots, hyphens and underscores")
	}
	return nil
}

// Write makes the lock, with metadata and heartbeat. When it returns without
// an error the lock is there under the session's id and was read again; it is
// not synced, since a lock need not survive the machine.
//
// A lock that the same session holds already for the same claim is brought up
// to date and gets a heartbeat, and what was missing of it is made: a mirror
// may be written as often as one likes. Anything else by that slug is refused
// ([ExitHeld], [ExitStale]) and not touched. On a full disk what was made is
// removed again.
func (l Locks) Write(lock Lock) (Entry, error) {
	return l.write(lock, func(f *folder) (Entry, error) { return f.write(lock) })
}

// maxNumber is the last suffix that [Locks.WriteNear] tries.
const maxNumber = 99

// WriteNear is [Locks.Write] for a lock whose slug is only a name: if the
// claim has a lock already, that one is kept whatever its slug; if something
// else has the slug, "-2", "-3" and so on are tried. The entry says which it
// became.
func (l Locks) WriteNear(lock Lock) (Entry, error) {
	return l.write(lock, func(f *folder) (Entry, error) {
		entries, _, err := f.list()
		if err != nil {
			return Entry{}, err
		}
		for _, e := range entries {
			if lock.Claim.ID != "" && e.Ours && e.is(lock) {
				lock.Slug = e.Slug
				return f.write(lock)
			}
		}
		base := lock.Slug
		for n := 1; ; n++ {
			lock.Slug = Numbered(base, n)
			e, err := f.write(lock)
			if r, ok := RefusalOf(err); !ok || r.Exit != ExitHeld && r.Exit != ExitStale || n == maxNumber {
				return e, err
			}
		}
	})
}

func (l Locks) write(lock Lock, do func(*folder) (Entry, error)) (Entry, error) {
	if err := lock.check(); err != nil {
		return Entry{}, err
	}
	f, err := l.enter()
	if err != nil {
		return Entry{}, err
	}
	defer f.close()
	err = f.repair()
	var e Entry
	if err == nil {
		e, err = do(f)
	}
	if err != nil {
		return Entry{}, trouble("write", lock.Slug, err)
	}
	lock.Slug = e.Slug
	f.mark(lock)
	return e, nil
}

// is reports whether an entry is the given lock already: the same session,
// and the same claim as far as the metadata can be read.
func (e Entry) is(l Lock) bool {
	return string(e.lock) == l.Session && (!e.described || e.Claim.ID == l.Claim.ID)
}

// errVanished says that a lock that was in the way is gone again.
var errVanished = errors.New("the lock comes and goes")

func (f *folder) write(lock Lock) (Entry, error) {
	if lock.WorkingDirectory == "" {
		lock.WorkingDirectory = f.root
	}
	err := errVanished
	for tries := 0; tries < 3 && err == errVanished; tries++ {
		e, there := f.entry(lock.Slug, nil)
		switch {
		case !there:
			err = f.make(lock)
		case e.is(lock):
			err = f.renew(lock, e)
		default:
			err = held(f.named(e))
		}
	}
	if err != nil {
		return Entry{}, err
	}
	e, there := f.entry(lock.Slug, roots(f.root))
	if !there {
		return Entry{}, none(lock.Slug) // somebody forced it within this very moment
	}
	return e, nil
}

// named reads an entry again with its paths.
func (f *folder) named(e Entry) Entry {
	if again, there := f.entry(e.Slug, roots(f.root)); there {
		return again
	}
	return e
}

// make makes a lock where there is none.
//
// The metadata is written first, under a temporary name: a full disk is found
// before anything can be seen, the moment in which mclaude would find a lock
// without metadata is short, and if this process dies there is somebody's
// notice of what it was about ([folder.repair]).
func (f *folder) make(lock Lock) error {
	// As with files ([folder.since]): who writes later finds the other's.
	if now := f.now(); lock.ClaimedAt.IsZero() || now.After(lock.ClaimedAt) && now.Sub(lock.ClaimedAt) < settled {
		lock.ClaimedAt = now
	}
	lock.Claim.FilesSince = f.since(&lock, nil)
	data, err := lock.encode()
	if err != nil {
		return err
	}
	temp, err := f.prepare(lock.Slug+metadataExt, data)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed {
			_ = f.active.Remove(temp)
		}
	}()
	if err := f.step("prepared"); err != nil {
		return err
	}
	if err := f.sign(lock); err != nil {
		return err
	}
	if err := f.mineStill(lock); err != nil {
		return err
	}
	err = f.active.Rename(temp, lock.Slug+metadataExt)
	placed = err == nil
	if err == nil {
		err = f.step("described")
	}
	if err == nil {
		err = f.beat(lock.Slug, f.heartbeat(lock.Until))
	}
	if err == nil {
		err = f.step("beating")
	}
	if err != nil {
		return errors.Join(err, f.undo(lock, data))
	}
	if err := f.mineStill(lock); err != nil {
		_, _ = f.take(lock.Slug+metadataExt, sameAs(data)) // not theirs, they write their own
		return err
	}
	return nil
}

// sign creates S.lock with the session's id in it.
func (f *folder) sign(lock Lock) error {
	name := lock.Slug + lockExt
	file, err := f.active.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errVanished // look who it is
	}
	if err != nil {
		return err
	}
	err = f.step("locked")
	if err == nil {
		_, err = file.WriteString(lock.Session)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.step("signed")
	}
	if err != nil {
		return errors.Join(err, f.undo(lock, nil))
	}
	return nil
}

// mineStill reads the lock again.
func (f *folder) mineStill(lock Lock) error {
	e, there := f.entry(lock.Slug, nil)
	if !there {
		return errVanished
	}
	if string(e.lock) != lock.Session {
		return lost(f.named(e))
	}
	return nil
}

// undo removes what was made of a lock, also if its id is written in part only.
func (f *folder) undo(lock Lock, metadata []byte) error {
	gone, err := f.take(lock.Slug+lockExt, func(data []byte, _ fs.FileInfo) bool {
		return strings.HasPrefix(lock.Session, string(data))
	})
	if gone {
		if e := f.active.Remove(lock.Slug + heartbeatExt); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if metadata != nil {
		_, e := f.take(lock.Slug+metadataExt, sameAs(metadata))
		err = errors.Join(err, e)
	}
	return err
}

// renew brings a lock that is ours up to date.
func (f *folder) renew(lock Lock, e Entry) error {
	if lock.ClaimedAt.IsZero() {
		if lock.ClaimedAt = e.ClaimedAt; lock.ClaimedAt.IsZero() {
			lock.ClaimedAt = f.now()
		}
	}
	lock.Claim.FilesSince = f.since(&lock, &e)
	data, err := lock.encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(data, e.metadata) {
		temp, err := f.prepare(lock.Slug+metadataExt, data)
		if err != nil {
			return err
		}
		if err = f.mineStill(lock); err == nil {
			err = f.active.Rename(temp, lock.Slug+metadataExt)
		}
		if err != nil {
			_ = f.active.Remove(temp)
			return err
		}
	}
	return f.beat(lock.Slug, f.heartbeat(lock.Until))
}

// settled is how old the claim of a file is that counts from its own beginning,
// also where its lock file is new: the folder may have been made since.
const settled = time.Minute

// since gives since when each file of a lock is locked. A new one counts from the
// moment that it is written, when no other process of ours writes: of several
// offices whose sessions begin with a file in one moment, the one that has written
// it later finds the other's.
func (f *folder) since(lock *Lock, old *Entry) []time.Time {
	if len(lock.Claim.FilesSince) != len(lock.Files) {
		return nil
	}
	before := map[string]time.Time{}
	if old != nil && len(old.Claim.FilesSince) == len(old.Files) {
		for i, file := range old.Files {
			before[file] = old.Claim.FilesSince[i]
		}
	}
	now := f.now()
	out := make([]time.Time, len(lock.Files))
	for i, file := range lock.Files {
		out[i] = lock.Claim.FilesSince[i]
		if at, known := before[file]; known && !at.Before(out[i]) {
			out[i] = at
		} else if now.After(out[i]) && now.Sub(out[i]) < settled {
			out[i] = now
		}
	}
	return out
}

func sameAs(want []byte) func([]byte, fs.FileInfo) bool {
	return func(data []byte, _ fs.FileInfo) bool { return bytes.Equal(data, want) }
}
