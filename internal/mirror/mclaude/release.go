package mclaude

import (
	"bytes"
	"io/fs"
	"time"

	"bureau/internal/fault"
)

// Released is a lock that has ended.
type Released struct {
	Lock    Entry  // as it was
	Archive string // the file that was written about it, relative to the project's root, with slashes
}

// Touch gives a lock a heartbeat, if the session holds it; then it is held and
// fresh at the moment of the call. until is that of [Lock]. A lock that is gone
// is [ExitNone], one that another session has now is [ExitWrongSession], and
// both leave everything as it is. mclaude counts a lock as stale after 180 s, so
// once a minute is right. A lock that mclaude released and the session made anew
// in one moment may have lost its metadata; then Ours is false, and
// [Locks.Write] completes it.
func (l Locks) Touch(slug, session string, until time.Time) (Entry, error) {
	f, e, err := l.enterHeld(slug, session)
	if err != nil {
		return Entry{}, err
	}
	defer f.close()
	if err := f.beat(slug, f.heartbeat(until)); err != nil {
		return Entry{}, trouble("touch", slug, err)
	}
	if e = f.named(e); e.Session != session {
		return Entry{}, wrongSession(e, session)
	}
	return e, nil
}

// Release ends a lock of the session: it writes the archive, which is never
// put in another one's place, and then removes lock, heartbeat and metadata,
// in this order, as mclaude does. If the archive cannot be written, nothing is
// removed. A process that dies in between leaves a release that the next one
// finishes, or a lock that still is held.
//
// A session must be given: other than with mclaude nobody releases the lock of
// another without forcing it.
func (l Locks) Release(slug, session, summary string) (Released, error) {
	f, e, err := l.enterHeld(slug, session)
	if err != nil {
		return Released{}, err
	}
	defer f.close()
	return f.end(e, func(now stamp) (string, string) { return "", releaseText(e, now, summary) }, "release")
}

// Forcing says how and why a lock is ended that is another session's.
type Forcing struct {
	Reason   string // required
	Session  string // if given, only a lock of this session is meant
	Override bool   // also if it is not stale: a person's decision
	Note     string // what the archive says under "Note"; "" has a default
}

// Force ends a stale lock of another session, with an archive that says so.
// Whether it is stale is decided when no other process of ours can change it:
// of two that both saw a stale lock, one forces it and the other finds none or
// a fresh one. What the holder left in the tree is not looked at here.
func (l Locks) Force(slug string, how Forcing) (Released, error) {
	if !ValidSlug(slug) {
		return Released{}, invalidSlug(slug)
	}
	if how.Reason = oneLine(how.Reason); how.Reason == "" {
		return Released{}, usage("a lock is forced only with a reason").WithHint("say why its holder does not need it any more")
	}
	f, err := l.enter()
	if err != nil {
		return Released{}, err
	}
	defer f.close()
	e, there := f.entry(slug, roots(l.root))
	switch {
	case !there:
		return Released{}, none(slug)
	case how.Session != "" && how.Session != e.Session:
		return Released{}, wrongSession(e, how.Session)
	case e.Status != Stale && !how.Override:
		return Released{}, fault.New(fault.Conflict, "the lock %q of session %q is not stale", slug, e.Session).
			WithHint("ask its holder; a person can force it all the same").
			WithDetail(Refusal{Exit: ExitHeld, Lock: &e})
	}
	return f.end(e, func(now stamp) (string, string) { return forceMark, forceText(e, now, how) }, "force")
}

// enterHeld opens the folder for a change of a lock that the session holds.
func (l Locks) enterHeld(slug, session string) (*folder, Entry, error) {
	if !ValidSlug(slug) {
		return nil, Entry{}, invalidSlug(slug)
	}
	f, err := l.enter()
	if err != nil {
		return nil, Entry{}, err
	}
	e, there := f.entry(slug, roots(l.root))
	switch {
	case !there:
		err = none(slug)
	case session == "" || session != e.Session:
		err = wrongSession(e, session)
	default:
		return f, e, nil
	}
	f.close()
	return nil, Entry{}, err
}

// end archives a lock and removes it, if it still is the one that was read.
func (f *folder) end(e Entry, text func(now stamp) (mark, body string), doing string) (Released, error) {
	if _, st, err := f.read(e.Slug+lockExt, maxLock); st == nil || err != nil && err != errTooLarge {
		return Released{}, trouble(doing, e.Slug, err)
	}
	heartbeat := f.heartbeatOf(e.Slug)
	now := stamp(f.now().Local())
	mark, body := text(now)
	name, err := f.archive(e.Slug, now, mark, body)
	if err != nil {
		return Released{}, trouble(doing, e.Slug, err)
	}
	if err := f.step("archived"); err != nil {
		return Released{}, trouble(doing, e.Slug, err)
	}
	gone, err := f.take(e.Slug+lockExt, func(data []byte, _ fs.FileInfo) bool {
		return bytes.Equal(data[:min(len(data), maxLock+1)], e.lock)
	})
	if err != nil || !gone {
		_ = f.top.Remove(name)
		if err != nil {
			return Released{}, trouble(doing, e.Slug, err)
		}
		if now, there := f.entry(e.Slug, roots(f.root)); there {
			return Released{}, wrongSession(now, e.Session)
		}
		return Released{}, none(e.Slug)
	}
	if err := f.step("unlocked"); err != nil {
		return Released{}, trouble(doing, e.Slug, err)
	}
	if err := f.removeRest(e.Slug, heartbeat, e.metadata); err != nil {
		return Released{}, trouble(doing, e.Slug, err)
	}
	return Released{Lock: e, Archive: name}, nil
}
