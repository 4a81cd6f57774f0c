package proc

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// look opens the process for its times; the parent takes a snapshot of all
// processes, so only lineage tells it. An ended process stays openable while
// somebody holds a handle; its handle is signalled, which makes it a zombie.
func look(pid int) (info, bool) {
	const access = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	h, err := windows.OpenProcess(access, false, uint32(pid))
	if err == windows.ERROR_INVALID_PARAMETER {
		return info{}, false
	}
	if err != nil {
		return info{}, true // it exists, but is not ours to look at
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return info{}, true
	}
	state, err := windows.WaitForSingleObject(h, 0)
	return info{
		start: int64(created.HighDateTime)<<32 | int64(created.LowDateTime),
		dead:  err == nil && state == windows.WAIT_OBJECT_0,
	}, true
}

// lineage is look with the parent, from one snapshot for a whole walk.
func lineage() func(int) (info, bool) {
	parents := processTable()
	return func(pid int) (info, bool) {
		i, ok := look(pid)
		i.parent = parents[pid]
		return i, ok
	}
}

// processTable maps every process to its parent's id.
func processTable() map[int]int {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snapshot)
	parents := map[int]int{}
	var entry windows.ProcessEntry32
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		parents[int(entry.ProcessID)] = int(entry.ParentProcessID)
	}
	return parents
}

// Terminal reports false: a console of Windows has no session leader.
func Terminal() (ID, bool) { return ID{}, false }

// hostParts gives the machine's names. Start times are dates here, so they
// tell two boots apart by themselves.
func hostParts() []string {
	name, err := windows.ComputerName()
	if err != nil {
		name, _ = os.Hostname()
	}
	const path = `SOFTWARE\Microsoft\Cryptography`
	guid := ""
	if key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE|registry.WOW64_64KEY); err == nil {
		guid, _, _ = key.GetStringValue("MachineGuid")
		key.Close()
	}
	return []string{"windows", name, guid}
}
