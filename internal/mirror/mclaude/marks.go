package mclaude

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"bureau/internal/fault"
)

// marksDir holds a file for each claim that has a lock, named after the claim:
//
//	<slug> <session id>
//
// It is made after the lock and removed by whoever ends the claim, so that one
// without its lock says that another program removed that. It lies outside of
// what mclaude reads.
const marksDir = ownDir + "/written"

// maxMark is the most that is read of a mark: a slug and a session id.
const maxMark = 512

// markable reports whether an id can be the name of a file.
func markable(id string) bool {
	return id != "" && len(id) <= 64 && strings.IndexFunc(id, func(r rune) bool { return !sessionChar(r) || r == '.' }) < 0
}

// mark notes that a claim has a lock. What cannot be noted only goes unnoticed
// when it is lost.
func (f *folder) mark(l Lock) {
	if !markable(l.Claim.ID) {
		return
	}
	name := path.Join(marksDir, l.Claim.ID)
	text := []byte(l.Slug + " " + l.Session + "\n")
	if old, err := f.top.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return
	}
	if f.top.MkdirAll(marksDir, 0o777) == nil {
		temp := tempName(name)
		if err := f.top.WriteFile(temp, text, 0o666); err != nil || f.top.Rename(temp, name) != nil {
			_ = f.top.Remove(temp)
		}
	}
}

// Unmark forgets that a claim has a lock. It is called before the lock of a
// claim that ended is removed.
func (l Locks) Unmark(claim string) error {
	if !markable(claim) {
		return nil
	}
	r, err := os.OpenRoot(l.root)
	if err != nil {
		return unusable(l.root, err)
	}
	defer r.Close()
	if err := r.Remove(path.Join(marksDir, claim)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "cannot forget the lock of claim %s: %w", claim, err)
	}
	return nil
}

// Missing lists the claims that a lock was written for which is not there any
// more, or is another session's now. It waits for nobody.
func (l Locks) Missing() ([]string, error) {
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	defer f.close()
	dir, err := f.top.Open(marksDir)
	if err != nil {
		return nil, nil // none was ever written
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return nil, unusable(l.root, err)
	}
	var out []string
	for _, id := range names {
		if !markable(id) {
			continue
		}
		file, err := f.top.OpenFile(path.Join(marksDir, id), os.O_RDONLY|quickly, 0)
		if err != nil {
			continue // gone meanwhile
		}
		text, err := io.ReadAll(io.LimitReader(file, maxMark))
		file.Close()
		slug, session, ok := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
		if err != nil || !ok || !ValidSlug(slug) {
			continue
		}
		if e, there := f.entry(slug, nil); !there || !e.of(id, session) {
			out = append(out, id)
		}
	}
	return out, nil
}

// of reports whether a lock is the one that was written for a claim. What
// cannot be read counts as that.
func (e *Entry) of(claim, session string) bool {
	return e.Ours && e.Claim.ID == claim || e.Session == session || e.Session == ""
}
