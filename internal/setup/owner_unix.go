//go:build unix

package setup

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bureau/internal/fault"
)

// keepOwner gives a new file the owner of the one it took the place of, where
// this process may do that.
func keepOwner(path string, was fs.FileInfo) {
	if sys, ok := was.Sys().(*syscall.Stat_t); ok && (int(sys.Uid) != os.Geteuid() || int(sys.Gid) != os.Getegid()) {
		_ = os.Chown(path, int(sys.Uid), int(sys.Gid))
	}
}

// lockFile keeps other set-ups of the same office out until release.
func lockFile(path string, wait time.Duration) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(err, f.Close())
		case time.Now().After(end):
			_ = f.Close()
			return nil, fault.New(fault.Timeout, "another bureau setup is running").WithHint("try again when it has ended")
		}
	}
}
