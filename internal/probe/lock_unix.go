//go:build linux || darwin

package probe

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// peek opens a lock file for reading and asks for locks of both families.
// POSIX locks are only asked for. The system has no such question for flock, so
// a shared one is taken and given back at once; a tool that tries for its own
// in that instant sees the file locked once.
func peek(path string) (glance, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return glance{}, err
	}
	defer f.Close()
	var buf [maxGlance]byte
	n, _ := io.ReadFull(f, buf[:])
	g := glance{text: string(buf[:n])}
	fd := int(f.Fd())
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &lock); err == nil {
		g.asked = true
		if lock.Type != unix.F_UNLCK {
			g.locked, g.pid = true, int(lock.Pid) // -1 for a lock of an open file
			return g, nil
		}
	}
	switch err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); err {
	case nil:
		_ = unix.Flock(fd, unix.LOCK_UN)
	case unix.EWOULDBLOCK:
		g.locked = true
	default:
		g.asked = false
	}
	return g, nil
}
