package db

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// remoteMagic names the file systems of remoteTypes by their f_type numbers in
// statfs(2) (linux/magic.h and the file systems' own sources).
func remoteMagic(magic uint32) string {
	switch magic {
	case 0x00006969:
		return "nfs"
	case 0x0000517b:
		return "smb"
	case 0xff534d42:
		return "cifs"
	case 0xfe534d42:
		return "smb2"
	case 0x01021997:
		return "9p"
	case 0x786f4256:
		return "vboxsf"
	case 0xbacbacbc:
		return "vmhgfs"
	case 0x7c7c6673:
		return "prl_fs"
	case 0x5346414f:
		return "afs"
	case 0x6b414653:
		return "kafs"
	case 0x73757245:
		return "coda"
	case 0x0000564c:
		return "ncp"
	case 0x00c36400:
		return "ceph"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	case 0x7461636f:
		return "ocfs2"
	case 0x01161970:
		return "gfs2"
	case 0x19830326:
		return "beegfs"
	case 0x20030528:
		return "orangefs"
	}
	return ""
}

const fuseMagic = 0x65735546

// fileSystemOf names the file system that holds dir and says whether it is a
// remote one. What cannot be found out counts as local.
func fileSystemOf(dir string) (kind string, remote bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", false
	}
	return classifyMagic(uint32(s.Type), func() string { return mountType(dir) })
}

// classifyMagic tells a file system by its number. All of FUSE, virtiofs
// among it, has one number; fuseType finds the name.
func classifyMagic(magic uint32, fuseType func() string) (kind string, remote bool) {
	if name := remoteMagic(magic); name != "" {
		return name, true
	}
	if magic != fuseMagic {
		return fmt.Sprintf("%#x", magic), false
	}
	name := fuseType()
	if name == "" {
		name = "fuse"
	}
	return name, remoteType(name)
}

// mountType finds the type of the mount that holds dir by its device number.
func mountType(dir string) string {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	want := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	kind := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if device, name := parseMount(lines.Text()); device == want {
			kind = name
		}
	}
	return kind
}

// parseMount reads the device and the type from a line of
// /proc/self/mountinfo (proc_pid_mountinfo(5)):
//
//	36 35 98:0 /root /point rw,noatime master:1 - fuse.sshfs host:/dir rw
func parseMount(line string) (device, kind string) {
	before, after, ok := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if !ok || len(fields) < 3 || len(rest) < 1 {
		return "", ""
	}
	return fields[2], rest[0]
}
