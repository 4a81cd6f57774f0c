// Package locks keeps mclaude's lock files beside the claims of a project, so
// that sessions of both respect each other, and speaks of claims in mclaude's
// words ([Work]).
//
// [Mirror] is what an office is opened with. In a project that has mclaude's
// lock folder (or by the setting "mirror: on") each claim on paths also is a
// lock file there, and the locks that others made are foreign claims; what edits
// claimed for an agent is one lock for all of it. The claim in the office is what
// counts between our own sessions; its file may be missing for a moment, and is
// made again at the next change of the claim. Where another program removed it
// to lock the same, the office ends the claim ([office.Mirror]).
//
// The name of a lock (slug) is that of the resource lock:SLUG, where the claim
// has one: what `bureau lock claim` made. Any other claim is named after its
// intent, or its first path, by mclaude's rule, with a number where that is
// taken.
package locks

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/git"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// Mirror gives the mirror that an office is opened with.
func Mirror() office.Mirror { return mirror{now: time.Now, looked: func() {}, read: func() {}} }

type mirror struct {
	now    func() time.Time
	looked func() // runs between the look at the locks and the writing of one
	read   func() // runs after the look of a decision at the locks
}

// ensure makes the lock folder of a project that shall have one by its settings.
func ensure(root string, r claim.Rules) error {
	if r.Mirror != "on" {
		return nil
	}
	_, err := mclaude.Create(root)
	return err
}

// Foreign implements office.Mirror. A lock without files is the name of some
// work, and covers nothing.
func (m mirror) Foreign(root, tree string, r claim.Rules) ([]claim.Foreign, error) {
	s := survey(root, tree, r)
	defer m.read()
	return s.foreign()
}

// Missing implements office.Mirror.
func (m mirror) Missing(root, tree string, r claim.Rules) ([]event.ID, error) {
	s := survey(root, tree, r)
	return s.missing()
}

// settling is how old a claim may be whose first lock file still had to be
// compared with everything that is there.
const settling = time.Minute

// Granted implements office.Mirror. After the files are written the folders are
// read again: a lock of others on the same files that was there before takes
// ours back. mclaude itself looks at names only, so it never refuses for files.
func (m mirror) Granted(root string, r claim.Rules, c office.MirroredClaim) (lost bool, err error) {
	if err := ensure(root, r); err != nil {
		return false, err
	}
	s := survey(root, c.Tree, r)
	folders := s.own(c.Tree)
	if len(folders) == 0 {
		return false, nil
	}
	first := c.Since
	known := false
	err = s.each(func(_ mclaude.Locks, entries []mclaude.Entry) error {
		known = known || find(entries, c.ID) != nil
		return nil
	})
	if err != nil {
		return false, err
	}
	if !known && m.now().Sub(c.Since) < settling {
		first = time.Time{} // until the file is there
	}
	m.looked()
	for i, l := range folders {
		lost, err := write(l, root, r, &c)
		if lost {
			for _, l := range folders[:i] {
				err = errors.Join(err, takeBack(l, c.ID, "another program had the name first"))
			}
		}
		if lost || err != nil {
			return lost, err
		}
	}
	if first.IsZero() {
		first = m.now()
	}
	after, err := s.foreign()
	if err != nil {
		return false, err
	}
	var own *claim.Foreign
	if i := slices.IndexFunc(after, func(f claim.Foreign) bool { return f.Claim == c.ID }); i >= 0 {
		own = &after[i]
	}
	for _, f := range after {
		if !inWay(&f, &c.Want, r) {
			continue
		}
		if f.Claim == "" {
			if f.Since.After(first) {
				continue
			}
		} else if wins, err := beats(own, &f, &c); err != nil {
			return false, err
		} else if wins {
			continue
		}
		for _, l := range folders {
			err = errors.Join(err, takeBack(l, c.ID, "taken back: the lock "+f.Name+" was there first"))
		}
		return true, err
	}
	return false, nil
}

// beats reports whether the lock of a claim, own, stands beside another that a
// bureau wrote: one of this office, where it was decided, or of another office that
// wrote it later. Locks are written one after the other and read again afterwards,
// so of two the later one always finds the earlier.
func beats(own, f *claim.Foreign, c *office.MirroredClaim) (bool, error) {
	if f.Claim == c.ID || c.Ours == nil {
		return true, nil
	}
	if ours, err := c.Ours(f.Claim); ours || err != nil {
		return ours, err
	}
	if own == nil { // somebody has removed it in this moment
		return true, nil
	}
	return cmp.Or(own.From(&c.Want).Compare(f.From(&c.Want)), cmp.Compare(own.Claim, f.Claim)) < 0, nil
}

// own gives the folders that the lock of a claim in a work tree is written into.
func (s *ground) own(tree string) (out []mclaude.Locks) {
	for _, l := range s.folders {
		if l.Root() == s.trees[0] || l.Root() == tree {
			out = append(out, l)
		}
	}
	return out
}

// inWay reports whether a lock is in the way of a claim.
func inWay(f *claim.Foreign, w *claim.Want, r claim.Rules) bool {
	return f.Over(w) || r.Worktrees == claim.Deny && len(claim.MeetLocks([]claim.Foreign{*f}, w)) > 0
}

// write writes the lock of a claim into a folder. A lock that the claim has
// there already stays the same one: its session and identity are those of when
// it was made, whatever session or name its holder goes on under, and whoever
// changes the claim.
func write(l mclaude.Locks, root string, r claim.Rules, c *office.MirroredClaim) (lost bool, err error) {
	lock, exact := lockOf(root, l.Root(), c)
	lock.Claim.Ahead = max(c.TTL, r.Grace, r.QuietAfter)
	if c.Keep {
		lock.Claim.Ahead = claim.MaxKeep
	}
	do := l.WriteNear
	if exact {
		do = l.Write
	}
	entries, err := l.List()
	if err != nil {
		return false, err
	}
	old := written(entries, c.ID)
	if i := slices.IndexFunc(old, func(e mclaude.Entry) bool { return e.Slug == lock.Slug }); i > 0 {
		old[0], old[i] = old[i], old[0]
	}
	switch {
	case len(old) == 0:
	case old[0].Claim.Token == uint64(c.Token) && strings.HasPrefix(old[0].Session, old[0].Claim.Identity+"-") && old[0].Claim.Identity != "":
		lock.Session, lock.Claim.Identity = old[0].Session, old[0].Claim.Identity
	default: // the one who gave it, or what somebody made of it
		if err := takeBack(l, c.ID, "it is "+c.HolderName+"'s now"); err != nil {
			return false, err
		}
		old = nil
	}
	e, err := do(lock)
	if refusal, ok := mclaude.RefusalOf(err); ok && (refusal.Exit == mclaude.ExitHeld || refusal.Exit == mclaude.ExitStale) {
		if x := refusal.Lock; x != nil && len(written([]mclaude.Entry{*x}, c.ID)) > 0 {
			return false, nil // another process of ours wrote it in this moment
		}
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, x := range old {
		if x.Slug != e.Slug {
			_, rerr := l.Release(x.Slug, x.Session, "its lock is "+e.Slug)
			err = errors.Join(err, rerr)
		}
	}
	return false, err
}

// takeBack removes the lock of a claim from a folder.
func takeBack(l mclaude.Locks, id event.ID, why string) error {
	err := l.Unmark(string(id))
	entries, lerr := l.List()
	err = errors.Join(err, lerr)
	for _, e := range written(entries, id) {
		_, rerr := l.Release(e.Slug, e.Session, why)
		err = errors.Join(err, rerr)
	}
	return err
}

// lockOf makes the lock file of a claim, for the folder of a work tree. exact
// says that its slug is the name of the work, and no other one would do.
func lockOf(root, folder string, c *office.MirroredClaim) (l mclaude.Lock, exact bool) {
	slug, exact := Slug(c.Resources, c.Intent, c.Paths)
	identity := mclaude.Identity(c.HolderName)
	session := c.Session
	if said := saidSession(c.Task); said != "" {
		session = said
	}
	if session == "" {
		session = string(c.ID)
	}
	l = mclaude.Lock{
		Slug: slug, Session: sessionID(identity, session), Description: c.Intent, WorkingDirectory: root, ClaimedAt: c.Since, Until: c.Until,
		Claim: mclaude.Claim{
			ID: string(c.ID), Holder: c.HolderName, Identity: identity, Mode: string(c.Mode), PID: c.Process.PID, Host: c.Process.Host,
			TTL: c.TTL, Token: uint64(c.Token),
		},
	}
	if c.Tree != "" && c.Tree != root {
		l.WorkingDirectory, l.Worktree = c.Tree, c.Tree
	}
	l.Branch = git.Branch(l.WorkingDirectory)
	for _, p := range c.Paths {
		l.Claim.Patterns = append(l.Claim.Patterns, string(p))
		file := called(p)
		if l.Worktree != "" && l.Worktree != folder {
			file = filepath.ToSlash(filepath.Join(c.Tree, filepath.FromSlash(file)))
		}
		l.Files = append(l.Files, file)
	}
	return l, exact
}

// called gives what a pattern covers as people call it: a file or folder without
// the escapes of a pattern.
func called(p claim.Pattern) string {
	if plain := p.Prefix(); plain != "" {
		if lit, err := claim.Literal(plain); err == nil && lit == p {
			return plain
		}
	}
	return string(p)
}

// sessionID keeps a session id that begins with the identity already.
func sessionID(identity, session string) string {
	if rest, ok := strings.CutPrefix(session, identity+"-"); ok {
		if whole := mclaude.SessionID(identity, rest); whole == session {
			return session
		}
	}
	return mclaude.SessionID(identity, session)
}

// Slug gives the name of a claim's lock. exact says that the claim names it
// itself.
func Slug(resources []claim.Resource, intent string, paths []claim.Pattern) (slug string, exact bool) {
	for _, r := range resources {
		if r.Kind() == office.LockKind {
			if name := strings.TrimPrefix(string(r), office.LockKind+":"); mclaude.ValidSlug(name) {
				return name, true
			}
		}
	}
	if strings.TrimSpace(intent) == "" && len(paths) > 0 {
		intent = string(paths[0])
	}
	return mclaude.Slug(intent), false
}

func find(entries []mclaude.Entry, id event.ID) *mclaude.Entry {
	for i := range entries {
		if entries[i].Ours && entries[i].Claim.ID == string(id) {
			return &entries[i]
		}
	}
	return nil
}

// written lists the locks of a claim: one, but for what two of our processes
// wrote at once, and what earlier versions left.
func written(entries []mclaude.Entry, id event.ID) (out []mclaude.Entry) {
	for _, e := range entries {
		if e.Ours && e.Claim.ID == string(id) {
			out = append(out, e)
		}
	}
	return out
}

// Ended implements office.Mirror: the work's account goes where mclaude lists
// it.
func (m mirror) Ended(root string, r claim.Rules, c office.MirroredClaim, how claim.How, summary string) error {
	s := survey(root, c.Tree, r)
	for _, l := range s.folders {
		_ = l.Unmark(string(c.ID)) // what stays of it says nothing of a claim that ended
	}
	return s.each(func(l mclaude.Locks, entries []mclaude.Entry) error {
		var errs error
		for _, e := range written(entries, c.ID) {
			errs = errors.Join(errs, end(l, &e, how, summary))
		}
		return errs
	})
}

// end ends a lock of ours, with the account of the work.
func end(l mclaude.Locks, e *mclaude.Entry, how claim.How, summary string) (err error) {
	switch how {
	case claim.Released, claim.SessionEnded:
		_, err = l.Release(e.Slug, e.Session, summary)
	default:
		if strings.TrimSpace(summary) == "" {
			summary = "the claim " + strings.ReplaceAll(string(how), "_", " ")
		}
		_, err = l.Force(e.Slug, mclaude.Forcing{
			Reason: summary, Session: e.Session, Override: true, Note: "Decided in the office: " + strings.ReplaceAll(string(how), "_", " ") + ".",
		})
	}
	if refusal, ok := mclaude.RefusalOf(err); ok && (refusal.Exit == mclaude.ExitNone || refusal.Exit == mclaude.ExitWrongSession) {
		return nil // another process of ours was faster
	}
	return err
}

// Beat implements office.Mirror.
func (m mirror) Beat(root string, r claim.Rules, pulses func([]event.ID) (map[event.ID]office.Pulse, error)) (beaten int, err error) {
	s := survey(root, "", r)
	type file struct {
		l mclaude.Locks
		e mclaude.Entry
	}
	var files []file
	var ids []event.ID
	err = s.each(func(l mclaude.Locks, entries []mclaude.Entry) error {
		for i := range entries {
			if e := entries[i]; e.Ours {
				files = append(files, file{l, e})
				if id := event.ID(e.Claim.ID); !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
		return nil
	})
	if len(ids) == 0 {
		return 0, err
	}
	known, perr := pulses(ids)
	err = errors.Join(err, perr)
	alive := map[string]bool{}
	for _, x := range files {
		p, found := known[event.ID(x.e.Claim.ID)]
		switch {
		case !found:
			continue
		case p.Over:
			err = errors.Join(err, x.l.Unmark(x.e.Claim.ID), end(x.l, &x.e, p.How, p.Summary))
			continue
		case !p.Lives && x.e.HeartbeatAge >= 0:
			continue
		}
		until := p.Until
		if !p.Lives {
			until = time.Time{} // it is stale in three minutes, and not when its lease was to end
		}
		if _, terr := x.l.Touch(x.e.Slug, x.e.Session, until); terr != nil {
			err = errors.Join(err, terr)
		} else if p.Lives {
			alive[x.e.Claim.ID] = true
		}
	}
	return len(alive), err
}
