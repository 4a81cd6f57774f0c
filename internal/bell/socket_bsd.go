//go:build unix && !linux && !bell_udp

package bell

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// datagramSocket marks the socket in a second step; the lock keeps a child
// process from being started in between. A child that inherits a bell would
// keep it alive after our death.
func datagramSocket() (int, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
