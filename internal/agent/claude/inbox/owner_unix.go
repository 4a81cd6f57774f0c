//go:build unix

package inbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses what another user made.
func checkOwner(st fs.FileInfo) error {
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}
