// Package proc says what a process is, so that "is it still there?" has one
// answer that survives reused process ids.
//
// A process is its id together with its start time ([ID]). Both mean something
// only inside one host domain ([Host]): one machine, one boot, one pid
// namespace. A verdict about a process of another domain is worth nothing, and
// it is the caller's duty to compare the domains first.
//
// Where the system cannot tell, the answer leans towards "alive": a wrong
// "dead" takes a seat or a claim away from somebody who is still working.
//
// The package does nothing before it is asked. It is linked into the program
// that clients run on every tool call.
package proc

import (
	"os"
	"sync"
)

// ID is one process, never mistaken for a later one with the same number.
type ID struct {
	PID int
	// Start is when the process started, in the system's own unit: clock ticks
	// since boot on Linux, microseconds since 1970 on macOS, 100 ns since 1601
	// on Windows. It is good for comparison only. 0 means unknown.
	Start int64
}

// info is what a system tells about one process.
type info struct {
	start  int64 // 0: the process exists, but its start cannot be read
	parent int   // 0: none, unknown, or not asked for
	dead   bool  // a zombie: it ran, and nobody has collected it yet
}

var self struct {
	once sync.Once
	id   ID
}

// Self is the calling process.
func Self() ID {
	self.once.Do(func() {
		pid := os.Getpid()
		i, _ := look(pid)
		self.id = ID{PID: pid, Start: i.start}
	})
	return self.id
}

// Of gives the process that has this id now. It reports false when there is
// none, or only a zombie.
func Of(pid int) (ID, bool) {
	if pid <= 0 {
		return ID{}, false
	}
	i, ok := look(pid)
	if !ok || i.dead {
		return ID{}, false
	}
	return ID{PID: pid, Start: i.start}, true
}

// Alive reports whether this very process still runs: the same id with the
// same start. A zombie is dead. A start that is unknown on either side cannot
// tell two processes apart and counts as equal.
func (id ID) Alive() bool {
	now, ok := Of(id.PID)
	return ok && (id.Start == now.Start || id.Start == 0 || now.Start == 0)
}

// Parent gives the id of a process's parent. It reports false when there is no
// such process, or when its parent is outside this pid namespace.
func Parent(pid int) (int, bool) {
	if pid <= 0 {
		return 0, false
	}
	i, ok := lineage()(pid)
	return i.parent, ok && i.parent > 0
}

// Ancestors lists the processes that this one descends from, its parent first,
// at most max of them. It ends where the line leaves the pid namespace or
// where an ancestor is gone.
func Ancestors(max int) []ID {
	return ancestors(os.Getpid(), max, lineage())
}

// ancestors walks upwards with a view of the process table that it is given.
func ancestors(pid, max int, look func(pid int) (info, bool)) []ID {
	var line []ID
	child, ok := look(pid)
	seen := map[int]bool{pid: true}
	for ok && len(line) < max && child.parent > 0 && !seen[child.parent] {
		pid = child.parent
		seen[pid] = true
		var parent info
		if parent, ok = look(pid); !ok || parent.dead || !older(parent, child) {
			break
		}
		line = append(line, ID{PID: pid, Start: parent.start})
		child = parent
	}
	return line
}

// older reports whether parent may be child's parent: it did not start later.
// A parent's id that Windows remembers may belong to another process by now.
func older(parent, child info) bool {
	return parent.start <= child.start || child.start == 0
}
