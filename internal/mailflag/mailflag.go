// Package mailflag tells the hook of a frequent event, for the price of two
// file stats, that there is no new mail.
//
// Every agent has a flag: a file that whoever wrote to the agent lengthens by
// one byte, after the commit ([Raise]). A session reaches its agent's flag by
// a link named after the session ([Link]), so the hook need not know who it
// is. When the hook has looked into the database and found nothing left to do,
// it stores the flag's size as its mark ([Mark]). As long as flag and mark
// agree and the mark is young, there is nothing new ([Idle]):
//
//	if mailflag.Idle(dir, session, key, time.Now()) {
//		return
//	}
//	size, known := mailflag.Size(dir, session) // before the look
//	// look into the database; if !known: find the agent, then Link
//	if nothing is outstanding && known {
//		mailflag.Mark(dir, session, key, size) // that size, not a newer one
//	} else {
//		mailflag.Invalidate(dir, session, key)
//	}
//
// The size is read before the look and that same size is stored: mail that is
// committed during the look raises the flag beyond it. An offer that is not
// proved yet needs another look, whatever the flag says, so it leaves no mark.
//
// A flag is a hint like a bell. A sender that dies between commit and flag is
// made up for by the age of the mark: after [Stale] the hook looks anyway, as
// it always does in the events where a session starts, stops or is spoken to.
//
// # Why flags only grow
//
// Equality of sizes is safe only while a flag never returns to a size that a
// mark may hold. So a flag is never cut or replaced. It costs one byte per
// message to an agent until the machine restarts: a million messages are a
// megabyte. [Sweep] removes a flag only when no session is linked to it; marks
// lie beside the link and go with it, so none is left that could agree with a
// new flag by accident. If somebody else empties the folder under a running
// session, mail can hide for at most [Stale], and only while exactly as many
// messages come as the lost flag had counted.
//
// The folder given everywhere is [runtimedir.Dir.FlagDir]:
//
//	<agent>                  the flag; its size counts messages
//	.sessions/<hash>/agent   link to the flag (on Windows a file that names it)
//	.sessions/<hash>/mark*   one mark per key
package mailflag

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/runtimedir"
)

// Stale is the age from which a mark no longer counts.
const Stale = 30 * time.Second

const (
	sessions   = ".sessions" // no agent can have this name
	linkName   = "agent"
	markPrefix = "mark"
)

// Raise announces one message to each of the agents, after its commit. All
// are tried; the error is the first trouble met.
func Raise(dir string, agents ...string) error {
	var first error
	for _, agent := range agents {
		if err := raise(dir, agent); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func raise(dir, agent string) error {
	f, err := openFlag(dir, agent)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{'.'})
	if err := errors.Join(err, f.Close()); err != nil {
		return fault.New(fault.Unavailable, "cannot raise a mail flag: %w", err)
	}
	return nil
}

// openFlag opens an agent's flag, which is made if it is missing. The system
// appends each write whole and in one place, whoever else writes.
func openFlag(dir, agent string) (*os.File, error) {
	if !runtimedir.SafeName(agent) {
		return nil, fault.New(fault.Invalid, "%q is not an agent's id", agent)
	}
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	path := filepath.Join(dir, agent)
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolders(dir); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot open a mail flag: %w", err)
	}
	return f, nil
}

// Link says whose mail a session looks for. It replaces an earlier link in one
// step; marks that were made with another agent's flag are removed. Linking to
// the same agent again changes nothing and is cheap.
func Link(dir, session, agent string) error {
	if session == "" {
		return fault.New(fault.Invalid, "a session without an id cannot be linked to agent %q", agent)
	}
	f, err := openFlag(dir, agent) // so that "no mail yet" is a size, 0
	if err != nil {
		return err
	}
	f.Close()
	folder := sessionFolder(dir, session)
	link := filepath.Join(folder, linkName)
	if linkedTo(link) == agent {
		return nil
	}
	if err := makeFolders(dir, filepath.Dir(folder), folder); err != nil {
		return err
	}
	temp := filepath.Join(folder, "."+strconv.FormatUint(rand.Uint64(), 36))
	if err = makeLink(temp, agent); err == nil {
		err = os.Rename(temp, link)
	}
	if err != nil {
		os.Remove(temp)
		return fault.New(fault.Unavailable, "cannot link a session to its mail flag: %w", err)
	}
	return removeMarks(folder)
}

// Size gives the size of the flag of a session's agent. It reports false when
// the session is not linked or its flag is gone; then only the database knows,
// and [Link] mends it.
func Size(dir, session string) (size int64, known bool) {
	return flagSize(dir, filepath.Join(sessionFolder(dir, session), linkName))
}

// Mark stores that a look found everything done up to a size of the flag, the
// one that was read before the look. A session has one mark for each key: ""
// for itself, an agent_id for a subagent of its client.
//
// A mark is an empty file, one byte longer than the flag was, with the time of
// the look as its own: one stat reads all of it, and there is no moment at
// which it is half written.
func Mark(dir, session, key string, size int64) error {
	path := markPath(dir, session, key)
	err := writeMark(path, size)
	if errors.Is(err, fs.ErrNotExist) {
		folder := filepath.Dir(path)
		if err := makeFolders(dir, filepath.Dir(folder), folder); err != nil {
			return err
		}
		err = writeMark(path, size)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot store the mark of a mail flag: %w", err)
	}
	return nil
}

func writeMark(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size+1), f.Close()); err != nil {
		return err
	}
	// Not every system counts cutting a file to the size it has as a change.
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// Marked gives what the last [Mark] stored and when. It reports false when
// there is no valid mark.
func Marked(dir, session, key string) (size int64, at time.Time, ok bool) {
	st, err := os.Stat(markPath(dir, session, key))
	if err != nil || st.Size() == 0 {
		return 0, time.Time{}, false
	}
	return st.Size() - 1, st.ModTime(), true
}

// Invalidate removes a mark, so that the next event looks whatever the flag
// says. A mark that is not there is fine.
func Invalidate(dir, session, key string) error {
	if err := os.Remove(markPath(dir, session, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "cannot remove the mark of a mail flag: %w", err)
	}
	return nil
}

// Idle reports whether a frequent event may pass without a look: the mark is
// there, younger than [Stale], and agrees with the flag. It costs two stats. A
// mark from the future, after a clock was set back, does not count.
func Idle(dir, session, key string, now time.Time) bool {
	marked, at, ok := Marked(dir, session, key)
	if !ok || at.After(now) || now.Sub(at) >= Stale {
		return false
	}
	size, known := Size(dir, session)
	return known && size == marked
}

// Forget removes what is stored for a session that has ended.
func Forget(dir, session string) error {
	if err := os.RemoveAll(sessionFolder(dir, session)); err != nil {
		return fault.New(fault.Unavailable, "cannot remove the marks of a session: %w", err)
	}
	return nil
}

// sessionFolder hashes the session's id, which is a foreign string of any
// length and content.
func sessionFolder(dir, session string) string {
	return filepath.Join(dir, sessions, hash(session))
}

func markPath(dir, session, key string) string {
	name := markPrefix
	if key != "" {
		name += "-" + hash(key)
	}
	return filepath.Join(sessionFolder(dir, session), name)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func removeMarks(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), markPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "cannot remove the marks of another mail flag: %w", err)
	}
	return nil
}

// makeFolders makes folders from the outer to the inner, but not the runtime
// folder, which must be made and checked by package runtimedir.
func makeFolders(folders ...string) error {
	for _, f := range folders {
		if err := os.Mkdir(f, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fault.New(fault.Unavailable, "cannot make a folder for mail flags: %w", err)
		}
	}
	return nil
}
