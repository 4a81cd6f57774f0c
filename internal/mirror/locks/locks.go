// Package locks keeps mclaude's lock files beside the claims of a project, so
// that sessions of both respect each other, and speaks of claims in mclaude's
// words ([Work]).
//
// [Mirror] is what an office is opened with. In a project that has mclaude's
// lock folder (or by the setting "mirror: on") each claim on paths also is a
// lock file there, and the locks that others made are foreign claims. The claim
// in the office is what counts between our own sessions; its file may be
// missing for a moment, and is made again at the next change of the claim.
//
// The name of a lock (slug) is that of the resource lock:SLUG, where the claim
// has one: what `bureau lock claim` made. Any other claim is named after its
// intent, or its first path, by mclaude's rule, with a number where that is
// taken.
package locks

import (
	"errors"
	"os"
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
func Mirror() office.Mirror { return mirror{now: time.Now, looked: func() {}} }

type mirror struct {
	now    func() time.Time
	looked func() // runs between the look at the locks and the writing of one
}

// at gives the lock folder of a project, if it keeps one.
func at(root string, r claim.Rules) (l mclaude.Locks, found bool, err error) {
	switch r.Mirror {
	case "on":
		l, err = mclaude.Create(root)
		found = err == nil
	case "auto":
		l, found = mclaude.Locate(root)
	}
	l.Rule = mclaude.Rule{Stale: r.ForeignStale}
	return l, found, err
}

// Foreign implements office.Mirror. A lock without files is the name of some
// work, and covers nothing.
func (m mirror) Foreign(root string, r claim.Rules) ([]claim.Foreign, error) {
	l, found, err := look(root, r)
	if err != nil || !found {
		return nil, err
	}
	entries, err := l.List()
	return foreign(l.Root(), entries), err
}

// look gives the lock folder for reading; none is made for that.
func look(root string, r claim.Rules) (mclaude.Locks, bool, error) {
	if r.Mirror == "on" {
		r.Mirror = "auto"
	}
	return at(root, r)
}

func foreign(root string, entries []mclaude.Entry) []claim.Foreign {
	var out []claim.Foreign
	for i := range entries {
		e := &entries[i]
		f := claim.Foreign{
			Name: e.Slug, Holder: e.Session, Intent: e.Description, Since: e.ClaimedAt, Last: e.Heartbeat, Stale: e.Status == mclaude.Stale,
			Paths: covers(root, e),
		}
		if e.Ours {
			f.Holder, f.Claim = e.Claim.Holder, event.ID(e.Claim.ID)
		}
		if e.HeartbeatAge < 0 && e.Claim.Ahead > 0 {
			f.Last = e.ClaimedAt // the heartbeat says when its lease ends
		}
		out = append(out, f)
	}
	return out
}

// covers gives what a lock is on. mclaude compares names; a name with pattern
// characters of which there is no file is meant as a pattern all the same.
func covers(root string, e *mclaude.Entry) []claim.Pattern {
	var out []claim.Pattern
	add := func(p claim.Pattern, err error) {
		if err == nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if e.Ours && e.Worktree == "" {
		for _, text := range e.Claim.Patterns {
			add(claim.ParsePattern(text))
		}
		if len(out) > 0 {
			return out
		}
	}
	for _, path := range e.Paths {
		if strings.ContainsAny(path, "*?[{") {
			if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				if list, err := claim.Expand(path); err == nil {
					for _, text := range list {
						add(claim.ParsePattern(text))
					}
					continue
				}
			}
		}
		add(claim.Literal(path))
	}
	return out
}

// settling is how old a claim may be whose first lock file still had to be
// compared with everything that is there.
const settling = time.Minute

// Granted implements office.Mirror. After the file is written the folder is
// read again: a lock of others on the same files that was there before takes
// ours back. mclaude itself looks at names only, so it never refuses for files.
func (m mirror) Granted(root string, r claim.Rules, c office.MirroredClaim) (lost bool, err error) {
	l, found, err := at(root, r)
	if err != nil || !found {
		return false, err
	}
	before, err := l.List()
	if err != nil {
		return false, err
	}
	first := c.Since
	if find(before, c.ID) == nil && m.now().Sub(c.Since) < settling {
		first = time.Time{} // until the file is there
	}
	m.looked()
	lock, exact := lockOf(root, &c)
	lock.Claim.Ahead = max(c.TTL, r.Grace, r.QuietAfter)
	if c.Keep {
		lock.Claim.Ahead = claim.MaxKeep
	}
	write := l.WriteNear
	if exact {
		write = l.Write
	}
	e, err := write(lock)
	if refusal, ok := mclaude.RefusalOf(err); ok && (refusal.Exit == mclaude.ExitHeld || refusal.Exit == mclaude.ExitStale) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if first.IsZero() {
		first = m.now()
	}
	after, err := l.List()
	if err != nil {
		return false, err
	}
	for _, f := range foreign(l.Root(), after) {
		if f.Claim == c.ID || f.Stale || f.Since.After(first) {
			continue
		}
		other := claim.Want{Paths: f.Paths, Mode: claim.Exclusive, Tree: c.Tree}
		// What another claim of ours holds was decided in the office.
		if f.Claim == "" && len(claim.Overlapping(&c.Want, &other, true)) > 0 {
			_, err := l.Release(e.Slug, e.Session, "taken back: the lock "+f.Name+" was there first")
			return true, err
		}
	}
	return false, nil
}

// lockOf makes the lock file of a claim. exact says that its slug is the name
// of the work, and no other one would do.
func lockOf(root string, c *office.MirroredClaim) (l mclaude.Lock, exact bool) {
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
		file := string(p)
		if plain := p.Prefix(); plain != "" {
			if lit, err := claim.Literal(plain); err == nil && lit == p {
				file = plain // as it is called, without the escapes of a pattern
			}
		}
		if l.Worktree != "" {
			file = filepath.ToSlash(filepath.Join(c.Tree, filepath.FromSlash(file)))
		}
		l.Files = append(l.Files, file)
	}
	return l, exact
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

// Ended implements office.Mirror: the work's account goes where mclaude lists
// it.
func (m mirror) Ended(root string, r claim.Rules, c office.MirroredClaim, how claim.How, summary string) error {
	l, found, err := look(root, r)
	if err != nil || !found {
		return err
	}
	entries, err := l.List()
	e := find(entries, c.ID)
	if e == nil {
		return err
	}
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
	return err
}

// Beat implements office.Mirror.
func (m mirror) Beat(root string, r claim.Rules, pulses func([]event.ID) (map[event.ID]office.Pulse, error)) (beaten int, err error) {
	l, found, err := look(root, r)
	if err != nil || !found {
		return 0, err
	}
	entries, err := l.List()
	var ids []event.ID
	for i := range entries {
		if entries[i].Ours {
			ids = append(ids, event.ID(entries[i].Claim.ID))
		}
	}
	if len(ids) == 0 {
		return 0, err
	}
	known, perr := pulses(ids)
	err = errors.Join(err, perr)
	for i := range entries {
		e := &entries[i]
		p, found := known[event.ID(e.Claim.ID)]
		if !e.Ours || !found || !p.Lives && e.HeartbeatAge >= 0 {
			continue
		}
		until := p.Until
		if !p.Lives {
			until = time.Time{} // it is stale in three minutes, and not when its lease was to end
		}
		if _, terr := l.Touch(e.Slug, e.Session, until); terr != nil {
			err = errors.Join(err, terr)
		} else if p.Lives {
			beaten++
		}
	}
	return beaten, err
}
