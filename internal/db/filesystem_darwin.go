package db

import "golang.org/x/sys/unix"

// fileSystemOf names the file system that holds dir and says whether it is a
// remote one. What cannot be found out counts as local.
func fileSystemOf(dir string) (kind string, remote bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", false
	}
	kind = unix.ByteSliceToString(s.Fstypename[:])
	return kind, s.Flags&unix.MNT_LOCAL == 0 || remoteType(kind)
}
