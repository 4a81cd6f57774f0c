package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// look asks the kernel for the process's kinfo_proc. EIO is how x/sys reports
// an empty answer, which means that there is no such process.
func look(pid int) (info, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		if err := unix.Kill(pid, 0); err != nil && err != unix.EPERM {
			return info{}, false
		}
		i := info{}
		if pid == os.Getpid() {
			i.parent = os.Getppid()
		}
		return i, true
	}
	if int(k.Proc.P_pid) != pid {
		return info{}, false
	}
	start := k.Proc.P_starttime
	return info{
		start:  int64(start.Sec)*1e6 + int64(start.Usec),
		parent: int(k.Eproc.Ppid),
		dead:   k.Proc.P_stat == zombie,
	}, true
}

// lineage is look with the parent, which comes for free here.
func lineage() func(int) (info, bool) { return look }

// hostParts gives the ids of the machine and of the boot. There are no pid
// namespaces. The hostname changes with the network and is only a last resort.
func hostParts() []string {
	machine, _ := unix.Sysctl("kern.uuid")
	boot, _ := unix.Sysctl("kern.bootsessionuuid")
	if machine == "" && boot == "" {
		machine, _ = os.Hostname()
	}
	return []string{"darwin", machine, boot}
}
