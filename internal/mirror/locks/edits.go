package locks

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"bureau/internal/claim"
	"bureau/internal/git"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

const (
	// editsWait is how long an edit waits for other processes that change the
	// locks. What it leaves out, the next one brings.
	editsWait = 100 * time.Millisecond
	// editsListed is how many files the lock of a session's edits names.
	editsListed = 500
)

// Edited implements office.Mirror: what edits claimed for a session is one lock,
// with all the files. Its claim is the agent, and so it stays the same lock.
func (m mirror) Edited(root string, r claim.Rules, of func() (office.MirroredEdits, error)) error {
	if err := ensure(root, r); err != nil {
		return err
	}
	s := survey(root, "", r)
	if len(s.folders) == 0 {
		return nil
	}
	edits, err := of()
	if err != nil {
		return err
	}
	m.looked()
	return s.each(func(l mclaude.Locks, entries []mclaude.Entry) error {
		l.Patience = editsWait
		old := find(entries, edits.Agent)
		lock := editsLock(root, l.Root(), &edits)
		if len(lock.Files) == 0 {
			err := l.Unmark(string(edits.Agent))
			if old != nil {
				_, rerr := l.Release(old.Slug, old.Session, "its edits are done")
				err = errors.Join(err, rerr)
			}
			return err
		}
		if old != nil && old.Claim.Identity != "" { // it may have had another name then
			lock.Session, lock.Claim.Identity = old.Session, old.Claim.Identity
		}
		lock.Claim.Ahead = edits.TTL
		_, err := l.WriteNear(lock)
		return err
	})
}

// EditsSlug is the name of the lock for what edits claimed for somebody.
func EditsSlug(holder string) string { return mclaude.Slug("edits of " + holder) }

// editsLock makes the lock for the folder of a work tree: in that of the project
// it names the files of all, elsewhere its own.
func editsLock(root, folder string, e *office.MirroredEdits) mclaude.Lock {
	identity := mclaude.Identity(e.HolderName)
	l := mclaude.Lock{
		Slug: EditsSlug(e.HolderName), Session: mclaude.SessionID(identity, string(e.Agent)), Description: "edits of " + e.HolderName,
		WorkingDirectory: folder, ClaimedAt: e.Since, Until: e.Until, Branch: git.Branch(folder),
		Claim: mclaude.Claim{
			ID: string(e.Agent), Holder: e.HolderName, Identity: identity, Mode: string(claim.Exclusive), PID: e.Process.PID, Host: e.Process.Host, TTL: e.TTL,
		},
	}
	if folder != root {
		l.Worktree = folder
	}
	for _, p := range slices.Backward(e.Files) { // the newest, if there are too many
		name := p.Path
		switch {
		case p.Tree == folder:
		case folder == root:
			name = filepath.ToSlash(filepath.Join(p.Tree, filepath.FromSlash(p.Path)))
		default:
			continue
		}
		l.Files, l.Claim.FilesSince = append(l.Files, name), append(l.Claim.FilesSince, p.Since)
		if len(l.Files) == editsListed {
			break
		}
	}
	slices.Reverse(l.Files)
	slices.Reverse(l.Claim.FilesSince)
	return l
}
