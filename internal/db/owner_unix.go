//go:build unix

package db

import (
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file that root created beside somebody else's database to
// that person, who could not open the database any more otherwise.
func sameOwner(name string, info fs.FileInfo, database string) {
	if os.Geteuid() != 0 {
		return
	}
	db, err := os.Stat(database)
	if err != nil {
		return
	}
	want, ok1 := db.Sys().(*syscall.Stat_t)
	have, ok2 := info.Sys().(*syscall.Stat_t)
	if ok1 && ok2 && (want.Uid != have.Uid || want.Gid != have.Gid) {
		os.Lchown(name, int(want.Uid), int(want.Gid))
	}
}
