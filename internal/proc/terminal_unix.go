//go:build linux || darwin

package proc

import "golang.org/x/sys/unix"

// Terminal gives the session leader of the terminal that the process talks to,
// usually the shell of one window or pane. It reports false when neither
// standard input nor output nor error is a terminal, or when the leader is
// gone or outside this pid namespace.
func Terminal() (ID, bool) {
	if !isTerminal(0) && !isTerminal(1) && !isTerminal(2) {
		return ID{}, false
	}
	leader, err := unix.Getsid(0)
	if err != nil {
		return ID{}, false
	}
	return Of(leader)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil
}
