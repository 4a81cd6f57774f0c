//go:build unix

package mclaude

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// quickly keeps an open from waiting for the other end of a named pipe.
const quickly = syscall.O_NONBLOCK

// tryLock takes the lock that belongs to an open file and vanishes with it, or
// says errTaken. Any other error means that there are no such locks here.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errTaken
		}
		return err
	}
}
