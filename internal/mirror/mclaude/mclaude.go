// Package mclaude reads and writes the lock files of mclaude, so that its
// sessions and ours respect each other's claims in one project.
//
// For a piece of work with the slug S there are three files in
// .claude/locks/active-work of a project:
//
//	S.lock            the session id; that it exists means the work is taken
//	S.metadata.json   who, since when, what for, which files
//	S.heartbeat       empty; its modification time is the last sign of life
//
// and .claude/locks/completed holds a Markdown file for each lock that ended.
// The formats are those of mclaude 0.6.0; our own metadata has more keys, which
// it ignores.
//
// # What is promised
//
// A lock is made with O_CREAT|O_EXCL and read again afterwards, since a network
// file system may tell two of them that they made it. What is removed is first
// taken aside and looked at, and put back if it is no longer what was meant.
// Several of our processes wait for each other at one file outside of
// mclaude's folders, so between them exactly one gets a lock or takes over a
// stale one. mclaude does not wait at that file: against it the promise is the
// exclusive creation, and that a loss is noticed ([Locks.Touch], [Locks.Write]).
//
// Nothing outside of .claude/locks is written but that one file, and beside it a
// note of each lock that was written ([Locks.Missing]). Every access stays below
// the project's root, whatever symbolic links say.
package mclaude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bureau/internal/fault"
)

// Places below the root of a project.
const (
	activeDir    = ".claude/locks/active-work"
	completedDir = ".claude/locks/completed"
	ownDir       = ".claude/bureau"
	gateFile     = ownDir + "/locks.flock"
)

// Status is what mclaude calls the state of a piece of work.
type Status string

// The words that mclaude prints.
const (
	Free   Status = "FREE"   // no lock
	Active Status = "ACTIVE" // held
	Stale  Status = "STALE"  // held by somebody who gives no sign of life
)

// The defaults of [Rule].
const (
	DefaultStale = 180 * time.Second // mclaude's own
	DefaultGrace = 2 * time.Minute   // mclaude makes the heartbeat within 0.1 s
	DefaultSkew  = 5 * time.Minute
)

// Rule says when a lock is stale. A zero field has its default.
//
//   - With a heartbeat: when that is older than Stale.
//   - Without one (mclaude: never stale): when S.lock is older than Grace, since
//     its maker died before it made the heartbeat.
//   - With a heartbeat more than Skew in the future (mclaude: never stale) some
//     clock is wrong and the heartbeat says nothing: when S.lock and
//     S.metadata.json, where it is there, are both older than Stale. A lock
//     whose files all are from the future counts as held; a person can force it.
//     A lock of an office may say that nobody is there to touch its heartbeat,
//     which then lies at the end of the lease ([Claim].Ahead).
type Rule struct {
	Stale time.Duration
	Grace time.Duration
	Skew  time.Duration
}

func (r Rule) filled() Rule {
	if r.Stale <= 0 {
		r.Stale = DefaultStale
	}
	if r.Grace <= 0 {
		r.Grace = DefaultGrace
	}
	if r.Skew <= 0 {
		r.Skew = DefaultSkew
	}
	return r
}

// Judge tells the state of a lock that exists, by the modification times of
// its files. The zero time stands for a file that is not there. ahead is how
// far in the future its maker may have set the heartbeat.
func (r Rule) Judge(now, lock, heartbeat, metadata time.Time, ahead time.Duration) Status {
	r = r.filled()
	skew := max(r.Skew, ahead)
	old := func(t time.Time, limit time.Duration) bool { return now.Sub(t) > limit }
	var stale bool
	switch {
	case heartbeat.IsZero():
		stale = old(lock, r.Grace) || lock.Sub(now) > r.Skew && !metadata.IsZero() && old(metadata, r.Stale)
	case heartbeat.Sub(now) > skew:
		stale = old(lock, r.Stale) && (metadata.IsZero() || old(metadata, r.Stale))
	default:
		stale = old(heartbeat, r.Stale)
	}
	if stale {
		return Stale
	}
	return Active
}

// Locks is the lock folder of one project. The zero value is of no use; get
// one from [Locate] or [Create]. It holds nothing open and may be copied and
// used by several goroutines.
type Locks struct {
	Rule     Rule
	Patience time.Duration // how long a change waits for other processes of ours; 0 means 5 s

	root string
	now  func() time.Time
	step func(at string) error // for tests: called between the steps of a change
}

func at(root string) Locks {
	return Locks{root: root, now: time.Now, step: func(string) error { return nil }}
}

// Locate gives the lock folder of a project that has one. A folder that a
// symbolic link leads to outside of the root is none.
func Locate(root string) (Locks, bool) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Locks{}, false
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return Locks{}, false
	}
	defer r.Close()
	st, err := r.Stat(activeDir)
	if err != nil || !st.IsDir() {
		return Locks{}, false
	}
	return at(root), true
}

// Create makes the lock folder of a project that shall have one by a setting,
// and gives it. One that is there already is fine. The root must exist.
func Create(root string) (Locks, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Locks{}, fault.New(fault.Invalid, "%q is not a folder: %w", root, err)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return Locks{}, unusable(root, err)
	}
	defer r.Close()
	for _, dir := range []string{activeDir, completedDir} {
		if err := r.MkdirAll(dir, 0o777); err != nil {
			return Locks{}, unusable(root, err)
		}
		if st, err := r.Stat(dir); err != nil || !st.IsDir() {
			return Locks{}, unusable(root, errors.Join(err, fs.ErrInvalid))
		}
	}
	return at(root), nil
}

// Root is the project's root, absolute.
func (l Locks) Root() string { return l.root }

// Dir is the folder with the locks, absolute.
func (l Locks) Dir() string { return Folder(l.root) }

// Folder is where the locks of a project with this root are, if it keeps any.
func Folder(root string) string { return filepath.Join(root, filepath.FromSlash(activeDir)) }

func unusable(root string, err error) *fault.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "%s has no folder %s: %w", root, activeDir, err).
			WithHint("make it, or turn the mirror of claims for mclaude off")
	}
	return fault.New(fault.Unavailable, "the lock folder of %s cannot be used: %w", root, err).
		WithHint("%s must be a folder inside of the project that this user may write", activeDir)
}
