//go:build unix

package runtimedir

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Head reads the beginning of a small local file into buf and gives how much
// there was. It leaves Go's poller alone, which a program that runs for a
// millisecond would set up for nothing. Opening a named pipe does not wait.
func Head(path string, buf []byte) (n int, err error) {
	var fd int
	for {
		if fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	for n < len(buf) {
		var got int
		if got, err = unix.Read(fd, buf[n:]); err == unix.EINTR {
			continue
		} else if err != nil || got == 0 {
			break
		}
		n += got
	}
	return n, errors.Join(err, unix.Close(fd))
}
