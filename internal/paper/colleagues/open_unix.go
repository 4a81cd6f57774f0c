//go:build unix

package colleagues

import "syscall"

// quickly keeps an open from waiting for the other end of a named pipe.
const quickly = syscall.O_NONBLOCK
