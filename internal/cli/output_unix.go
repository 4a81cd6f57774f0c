//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// closedOutput reports whether a standard file was closed when the program
// started (>&-). Go then puts the null device there, open for both directions;
// a shell's >/dev/null is open for writing only.
func closedOutput(f *os.File) bool {
	var at, null unix.Stat_t
	if unix.Fstat(int(f.Fd()), &at) != nil || unix.Stat(os.DevNull, &null) != nil || at.Rdev != null.Rdev || at.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
