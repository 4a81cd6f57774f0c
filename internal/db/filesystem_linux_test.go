package db

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClassifyMagic(t *testing.T) {
	for _, c := range []struct {
		magic      uint32
		fuse, kind string
		remote     bool
	}{
		{0xef53, "", "0xef53", false},         // ext4
		{0x9123683e, "", "0x9123683e", false}, // btrfs
		{0x01021994, "", "0x1021994", false},  // tmpfs
		{0x794c7630, "", "0x794c7630", false}, // overlayfs
		{0x6969, "", "nfs", true},
		{0xff534d42, "", "cifs", true},
		{0xfe534d42, "", "smb2", true},
		{0x01021997, "", "9p", true},
		{0x786f4256, "", "vboxsf", true},
		{0x7c7c6673, "", "prl_fs", true},
		{fuseMagic, "fuse.sshfs", "fuse.sshfs", true},
		{fuseMagic, "virtiofs", "virtiofs", true},
		{fuseMagic, "fuseblk", "fuseblk", false},
		{fuseMagic, "fuse.bindfs", "fuse.bindfs", false},
		{fuseMagic, "", "fuse", true},
	} {
		kind, remote := classifyMagic(c.magic, func() string { return c.fuse })
		if kind != c.kind || remote != c.remote {
			t.Errorf("%#x %q: %q %v", c.magic, c.fuse, kind, remote)
		}
	}
}

func TestParseMount(t *testing.T) {
	for line, want := range map[string][2]string{
		`36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`: {"98:0", "ext3"},
		`40 35 0:45 / /home/x/a\040-\040b rw shared:7 master:1 - fuse.sshfs host:/ rw`:   {"0:45", "fuse.sshfs"},
		`40 35 0:45 / /mnt rw - virtiofs share rw`:                                       {"0:45", "virtiofs"},
		`garbage`: {"", ""}, ``: {"", ""}, `1 2 - x`: {"", ""}, `1 2 3:4 a b -`: {"", ""},
	} {
		device, kind := parseMount(line)
		if got := [2]string{device, kind}; got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestMountTypeOfThisMachine(t *testing.T) {
	if kind := mountType("/proc"); kind != "proc" {
		t.Errorf("/proc is %q", kind)
	}
	if kind := mountType(filepath.Join(os.TempDir(), "nothing here")); kind != "" {
		t.Errorf("a missing directory is %q", kind)
	}
}
