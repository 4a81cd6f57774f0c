package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// look reads /proc/PID/stat. When that cannot be read for a reason other than
// "no such process" (no /proc, no file descriptors left), a signal 0 tells
// whether the process exists, and its start stays unknown.
func look(pid int) (info, bool) {
	if procIsOurs() {
		var buf [1024]byte // a line is some 350 bytes, at most about 900
		n, err := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
		if err == nil {
			if i, ok := parseStat(buf[:n]); ok {
				return i, true
			}
		}
		if err == unix.ENOENT || err == unix.ESRCH {
			return info{}, false
		}
	}
	if err := unix.Kill(pid, 0); err != nil && err != unix.EPERM {
		return info{}, false
	}
	i := info{}
	if pid == os.Getpid() {
		i.parent = os.Getppid()
	}
	return i, true
}

// lineage is look with the parent, which comes for free here.
func lineage() func(int) (info, bool) { return look }

// parseStat reads the fields of /proc/PID/stat (proc_pid_stat(5)). The second
// field is the program's name in parentheses, and may itself contain spaces,
// newlines and parentheses, so counting starts after the last closing one.
func parseStat(line []byte) (info, bool) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return info{}, false
	}
	// fields[0] is field 3 of the manual, the state.
	fields := bytes.Fields(line[end+1:])
	if len(fields) < 20 {
		return info{}, false
	}
	parent, err := strconv.Atoi(string(fields[4-3]))
	if err != nil {
		return info{}, false
	}
	start, err := strconv.ParseInt(string(fields[22-3]), 10, 64)
	if err != nil {
		return info{}, false
	}
	state := fields[0][0]
	return info{start: start, parent: parent, dead: state == 'Z' || state == 'X' || state == 'x'}, true
}

var procfs struct {
	once sync.Once
	ours bool
}

// procIsOurs reports whether /proc shows our own pid namespace. In a sandbox
// with new pids and the old /proc, its numbers are other processes.
func procIsOurs() bool {
	procfs.once.Do(func() {
		target, err := os.Readlink("/proc/self")
		procfs.ours = err == nil && target == strconv.Itoa(os.Getpid())
	})
	return procfs.ours
}

// readInto reads the start of a small file without the run-time's poller,
// which os.Open would set up first.
func readInto(path string, buf []byte) (int, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	return retry(func() (int, error) { return unix.Read(fd, buf) })
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// hostParts gives machine id, boot id and pid namespace. The machine id alone
// is not enough, since containers share one that came with their image, and
// neither is the boot id, since machines restored from one snapshot share it.
func hostParts() []string {
	machine := firstLine("/etc/machine-id")
	if machine == "" {
		machine = firstLine("/var/lib/dbus/machine-id")
	}
	boot := firstLine("/proc/sys/kernel/random/boot_id")
	if machine == "" && boot == "" {
		machine, _ = os.Hostname()
	}
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return []string{"linux", machine, boot, namespace}
}

func firstLine(path string) string {
	var buf [128]byte
	n, err := readInto(path, buf[:])
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.TrimSpace(line)
}
