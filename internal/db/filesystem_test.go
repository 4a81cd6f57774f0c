package db

import (
	"testing"
)

func TestRemoteTypes(t *testing.T) {
	for name, want := range map[string]bool{
		"ext4": false, "xfs": false, "btrfs": false, "zfs": false, "overlay": false, "tmpfs": false, "apfs": false, "hfs": false,
		"fuseblk": false, "fuse.gocryptfs": false, "fuse.fuse-overlayfs": false, "": false, "f": false, "exfat": false,
		"nfs": true, "nfs4": true, "cifs": true, "smbfs": true, "smb3": true, "9p": true, "vboxsf": true, "virtiofs": true, "prl_fs": true,
		"afpfs": true, "webdav": true, "fuse.sshfs": true, "fuse.rclone": true, "fuse.vmhgfs-fuse": true, "fuse.grpcfuse": true, "NFS": true,
		"fuse": true, "fuse.": true, "fuse.of.somebody": true, "macfuse": true, "AppleVirtIOFS": true,
	} {
		if got := remoteType(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
