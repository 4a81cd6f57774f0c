package mcpserver

import "golang.org/x/sys/unix"

// The states of a socket that say something here (tcp_states.h of Linux).
const (
	tcpEstablished = 1
	tcpClose       = 7
	tcpCloseWait   = 8
)

// socketState asks the kernel, which knows of a reset before anybody reads.
func socketState(fd uintptr) linkState {
	info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return linkUnknown
	}
	switch info.State {
	case tcpEstablished:
		return linkOpen
	case tcpCloseWait:
		return linkLeft
	case tcpClose:
		return linkBroken
	}
	return linkUnknown
}
