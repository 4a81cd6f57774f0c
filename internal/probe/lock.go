package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"bureau/internal/proc"
)

// settled is the age from which a lock file that says nothing by itself may be
// left over from a crash. Until then whoever made it counts as at work.
const settled = 10 * time.Minute

// lockFile looks at a claimed lock file.
func (l *looker) lockFile(s Subject) finding {
	path := l.absolute(s.Name)
	// Closing a file ends the locks that this very process has on it, so the
	// office's own files are not opened here.
	if l.Home != "" {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			if home, err := filepath.EvalSymlinks(l.Home); err == nil && below(home, real) {
				return unknown("lockfile", "%s is a file of the office itself", s.Name)
			}
		}
	}
	return lockAt(path)
}

// lockAt tells about a lock file by what can be seen, in this order: it is not
// there; somebody has locked it; its tool is known to leave the file lying
// there unlocked; it names a process; its age.
func lockAt(path string) finding {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return free("lockfile", "there is no %s", path)
	case err != nil:
		return unknown("lockfile", "%v", err)
	}
	tool := toolOf(path)
	written := st.ModTime()
	age := time.Since(written)
	text := ""
	link := st.Mode()&fs.ModeSymlink != 0
	if link {
		text, _ = os.Readlink(path)
		if target, err := os.Stat(path); err == nil {
			st = target
		}
	}
	unlocked := false
	if st.Mode().IsRegular() {
		seen, err := peek(path)
		switch {
		case err != nil:
			return unknown("lockfile", "%v", err)
		case seen.locked && seen.pid > 0:
			return busy("lockfile", "%s is locked by %s", tool.say(path), who(seen.pid))
		case seen.locked:
			return busy("lockfile", "%s is locked", tool.say(path))
		}
		unlocked, text = seen.asked, seen.text
	}
	if tool.advisory && unlocked {
		return free("lockfile", "%s is there, and nobody has locked it", tool.say(path))
	}
	if pid, ok := pidIn(text, link); ok {
		return named(path, tool, pid, written)
	}
	switch {
	case age < settled:
		return busy("lockfile", "%s is %s old", tool.say(path), max(age, 0).Round(time.Second))
	}
	return unknown("lockfile", "%s is %s old: in use, or left over from a crash", tool.say(path), age.Round(time.Minute))
}

// named tells about a lock file that names a process. The number may be of a
// container that shares the folder, so a process that is gone here decides
// nothing; neither does one that started after the file was written.
func named(path string, tool tool, pid int, written time.Time) finding {
	id, ok := proc.Of(pid)
	if !ok {
		return unknown("lockfile", "%s names process %d, which does not run on this machine", tool.say(path), pid)
	}
	if later(id, written) {
		return unknown("lockfile", "%s names process %d, a number that %s has had only since later", tool.say(path), pid, who(pid))
	}
	return busy("lockfile", "%s names %s, which runs", tool.say(path), who(pid))
}

// glance is what an open lock file shows.
type glance struct {
	text   string // its first bytes
	locked bool
	pid    int  // who locked it, where the system says
	asked  bool // whether it could be asked at all
}

// maxGlance is what is read of a lock file.
const maxGlance = 512

var jsonPID = regexp.MustCompile(`"pid"\s*:\s*"?([0-9]{1,10})\b`)

// pidIn finds the process that a lock file names: a number alone on its first
// line (the habit of daemons), as "pid" in JSON, or after the host in links that
// lead nowhere, as Mercurial and Emacs make them (host:pid, user@host.pid).
func pidIn(text string, link bool) (int, bool) {
	if m := jsonPID.FindStringSubmatch(text); m != nil {
		return validPID(m[1])
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if at := strings.LastIndexAny(line, ":."); link && at > 0 {
		line = line[at+1:]
	}
	return validPID(line)
}

func validPID(s string) (int, bool) {
	n, err := digits(s, 10)
	return int(n), err == nil && n > 0 && n < 1<<31
}
