//go:build unix

package runtimedir

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

func base() string { return "/tmp/bureau-" + strconv.Itoa(os.Geteuid()) }

// checkOwner refuses a folder that another user made or can reach into.
func checkOwner(folder string, st fs.FileInfo) error {
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok {
		return refuse(folder, "has no known owner")
	} else if int(sys.Uid) != os.Geteuid() {
		return refuse(folder, fmt.Sprintf("belongs to user id %d, not to %d", sys.Uid, os.Geteuid()))
	}
	if open := st.Mode().Perm() & 0o077; open != 0 {
		return refuse(folder, fmt.Sprintf("is open to others (mode %04o, wanted 0700)", st.Mode().Perm())).
			WithHint("if you trust what is in it: chmod 700 %s", folder)
	}
	return nil
}
