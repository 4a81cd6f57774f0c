//go:build !bell_udp

package bell

import "golang.org/x/sys/unix"

func datagramSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}
