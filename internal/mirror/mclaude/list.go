package mclaude

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"bureau/internal/fault"
)

// maxLocks is the number of locks that [Locks.List] reads; each costs three
// small files.
const maxLocks = 10_000

// Entry is one lock as it lies in the folder, whoever made it. What it says
// comes from another program: it is quoted wherever it is shown.
type Entry struct {
	Slug             string        `json:"slug"`
	Session          string        `json:"session_id"`
	Status           Status        `json:"status"` // Active or Stale, by [Rule]
	Description      string        `json:"description"`
	Files            []string      `json:"files"` // as they were given
	Paths            []string      `json:"paths"` // of them, those in the project, relative to its root
	WorkingDirectory string        `json:"working_directory"`
	Worktree         string        `json:"worktree,omitempty"`
	Branch           string        `json:"branch,omitempty"`
	ClaimedAt        time.Time     `json:"-"`
	ClaimedAtText    string        `json:"claimed_at"` // as it was written
	Heartbeat        time.Time     `json:"-"`          // zero without a heartbeat
	HeartbeatAge     time.Duration `json:"-"`          // may be negative; 0 without a heartbeat
	Ours             bool          `json:"ours"`       // written by bureau, for this very session
	Claim            Claim         `json:"-"`          // set if Ours
	Trouble          string        `json:"trouble,omitempty"`

	lock, metadata []byte // the files' content, to know them again
	described      bool   // the metadata is of this session
}

// List gives all locks, in the order of their slugs. Broken metadata leaves
// fields empty and is told in Trouble; the lock counts all the same. Names that
// are no slugs are passed over, as no command can mean them.
//
// It waits for nobody. What one of our processes left half done when it died
// is put in order first, if no other one is at work.
func (l Locks) List() ([]Entry, error) {
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	defer f.close()
	entries, debris, err := f.list()
	if err != nil || !debris {
		return entries, err
	}
	alone, err := l.enterWithin(0)
	if err != nil {
		return entries, nil // busy, or for reading only: what was read is true
	}
	defer alone.close()
	if err := alone.repair(); err != nil {
		return entries, nil
	}
	entries, _, err = alone.list()
	return entries, err
}

// Get gives one lock; it reports false if the work is free.
func (l Locks) Get(slug string) (Entry, bool, error) {
	if !ValidSlug(slug) {
		return Entry{}, false, invalidSlug(slug)
	}
	f, err := l.open()
	if err != nil {
		return Entry{}, false, err
	}
	defer f.close()
	e, there := f.entry(slug, roots(l.root))
	return e, there, nil
}

// list reads the locks and says whether there is something to repair.
func (f *folder) list() (entries []Entry, debris bool, err error) {
	names, err := f.names()
	if err != nil {
		return nil, false, unusable(f.root, err)
	}
	slices.Sort(names)
	rootNames := roots(f.root)
	tooMany := false
	for _, name := range names {
		if slug, ok := slugOf(name, lockExt); ok {
			if len(entries) == maxLocks {
				tooMany = true
				continue
			}
			if e, there := f.entry(slug, rootNames); there {
				entries = append(entries, e)
				debris = debris || e.Ours && e.Heartbeat.IsZero()
			}
			continue
		}
		if slug, ok := slugOf(name, metadataExt); ok {
			debris = debris || f.orphaned(slug)
			continue
		}
		debris = debris || strings.Contains(name, tempMark)
	}
	if tooMany {
		return entries, debris, fault.New(fault.Unavailable, "%s has more than %d locks; the rest was not read", f.Dir(), maxLocks).
			WithHint("release the stale ones")
	}
	return entries, debris, nil
}

// entry reads one lock. It reports false if there is none.
func (f *folder) entry(slug string, rootNames []string) (Entry, bool) {
	e := Entry{Slug: slug}
	lock, st, err := f.read(slug+lockExt, maxLock)
	if st == nil && errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false
	}
	made := f.now() // what cannot be looked at counts as held
	if st != nil {
		made = st.ModTime()
	}
	e.lock = lock
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist):
		return Entry{}, false // gone between two looks
	case err != nil:
		e.note("lock cannot be read: " + err.Error())
	default:
		e.Session = string(bytes.TrimSpace(lock))
	}

	var described time.Time
	data, st, err := f.read(slug+metadataExt, maxMetadata)
	if st != nil {
		described = st.ModTime()
	}
	e.metadata = data
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.note("no metadata")
	case err != nil && err != errTooLarge:
		e.note("metadata cannot be read: " + err.Error())
	default:
		e.describe(data, rootNames)
	}

	now := f.now()
	if st, err := f.active.Lstat(slug + heartbeatExt); err == nil {
		e.Heartbeat = st.ModTime()
		e.HeartbeatAge = now.Sub(e.Heartbeat)
	}
	e.Status = f.Rule.Judge(now, made, e.Heartbeat, described, e.Claim.Ahead)
	return e, true
}

// describe adds what the metadata says, unless it is what another session left.
func (e *Entry) describe(data []byte, rootNames []string) {
	m, wrong := parseMetadata(data)
	if wrong != "" {
		e.note(wrong)
	}
	if e.Session == "" {
		e.Session = m.session
	}
	if m.session != "" && m.session != e.Session {
		e.note("metadata is of another session, " + m.session)
		return
	}
	e.described = m.session != ""
	e.Description, e.Files = m.description, m.files
	e.WorkingDirectory, e.Worktree, e.Branch = m.workdir, m.worktree, m.branch
	e.ClaimedAt, e.ClaimedAtText = m.at, m.claimedAt
	if m.ours && e.described {
		e.Ours, e.Claim = true, m.claim
	}
	for _, file := range m.files {
		if p, ok := relative(rootNames, m.workdir, file); ok && !slices.Contains(e.Paths, p) {
			e.Paths = append(e.Paths, p)
		}
	}
}

func (e *Entry) note(trouble string) {
	if e.Trouble != "" {
		e.Trouble += "; "
	}
	e.Trouble += trouble
}
