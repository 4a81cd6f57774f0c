//go:build linux || darwin

package db

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The locks here belong to the open file description: unlike the older ones of
// POSIX they do not vanish when the process closes another descriptor of the
// file. The driver uses them too.

// lockByte takes the lock, or says errTaken at once.
func lockByte(f *os.File, at int64) error {
	err := setLock(f, ofdSetlk, unix.F_WRLCK, at)
	if err == unix.EAGAIN || err == unix.EACCES {
		return errTaken
	}
	return err
}

// awaitByte takes the lock as soon as it is free.
func awaitByte(f *os.File, at int64) error { return setLock(f, ofdSetlkw, unix.F_WRLCK, at) }

func unlockByte(f *os.File, at int64) error { return setLock(f, ofdSetlk, unix.F_UNLCK, at) }

func setLock(f *os.File, command int, kind int16, at int64) error {
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
	for {
		if err := unix.FcntlFlock(f.Fd(), command, &lock); err != unix.EINTR {
			return err
		}
	}
}
