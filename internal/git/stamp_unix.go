//go:build unix

package git

import (
	"io/fs"
	"syscall"
)

// numbers gives those of a file system and of a file in it.
func numbers(st fs.FileInfo) (device, file uint64, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(sys.Dev), uint64(sys.Ino), true // their types differ between systems
}
