//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the one it took the place of, where
// this process may do that.
func keepOwner(path string, was fs.FileInfo) {
	if sys, ok := was.Sys().(*syscall.Stat_t); ok && (int(sys.Uid) != os.Geteuid() || int(sys.Gid) != os.Getegid()) {
		_ = os.Chown(path, int(sys.Uid), int(sys.Gid))
	}
}
