package db

import (
	"strings"

	"bureau/internal/fault"
)

// A database in WAL mode needs two things of its file system that network and
// VM-shared ones do not give: memory that all processes see at once, and locks
// that hold between them. On those it seems to work and then loses data, so it
// is refused (https://www.sqlite.org/wal.html, "does not work over a network
// filesystem").

// checkFileSystem refuses a directory on a file system that is not local.
// Where the system does not say, the directory is accepted.
func checkFileSystem(dir string) error {
	kind, remote := fileSystemOf(dir)
	if !remote {
		return nil
	}
	return fault.New(fault.Unavailable, "%s is on a network or shared file system (%s), where several processes cannot share a store safely", dir, kind).
		WithHint("set BUREAU_HOME to a directory on a local disk; an office of several machines needs a hub")
}

// RemoteFileSystem names the file system that holds a directory and reports
// whether other machines, or a VM's host, reach it too. What the system does
// not say counts as local.
func RemoteFileSystem(dir string) (kind string, remote bool) { return fileSystemOf(dir) }

// remoteTypes are names of file systems that other machines or a VM's host
// reach too, as /proc/self/mountinfo (FUSE ones without "fuse.") and macOS
// statfs spell them. A text and not a map: a map would be built at every start
// of every program.
const remoteTypes = ` nfs nfs3 nfs4 cifs smb smbfs smb2 smb3 afpfs afs openafs auristorfs kafs coda ncp ncpfs webdav davfs davfs2 ftp ftpfs curlftpfs
 ceph ceph-fuse lustre gpfs ocfs2 gfs gfs2 beegfs beegfs_nodev orangefs pvfs2 glusterfs moosefs mfs lizardfs seaweedfs juicefs
 sshfs s3fs s3ql goofys gcsfuse geesefs blobfuse blobfuse2 mountpoint-s3 rclone rclonefs gvfsd-fuse google-drive-ocamlfuse onedriver
 macfuse_sshfs acfs xsan
 9p v9fs virtiofs applevirtiofs vboxsf vmhgfs vmhgfs-fuse hgfs prl_fs prlfs prlufs prl_fsd osxfs grpcfuse fakeowner drvfs `

// localFUSE are FUSE file systems that keep their files on this machine.
// Unknown ones are refused: most of them are somebody's cloud.
const localFUSE = ` fuseblk ntfs-3g ntfs exfat exfat-fuse fuse2fs ext2 ext4 apfs-fuse zfs-fuse squashfuse
 fuse-overlayfs unionfs unionfs-fuse mergerfs bindfs
 encfs gocryptfs cryfs securefs ecryptfs cppcryptfs veracrypt `

func listed(list, name string) bool {
	return name != "" && strings.Contains(strings.ReplaceAll(list, "\n", ""), " "+name+" ")
}

// remoteType classifies a file system by its type name. "fuse.x" is the FUSE
// file system x.
func remoteType(name string) bool {
	name = strings.ToLower(name)
	if sub, ok := strings.CutPrefix(name, "fuse."); ok {
		return !listed(localFUSE, sub)
	}
	switch name {
	case "fuse", "macfuse", "osxfuse", "fusefs":
		return true // whatever it is, it did not say
	}
	return listed(remoteTypes, name)
}
