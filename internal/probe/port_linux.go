package probe

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// localPort reads the kernel's tables of this network namespace, which show
// the sockets of all users, and looks for the process that has the socket among
// those that this user may look into.
func localPort(ctx context.Context, number int) finding {
	var table bytes.Buffer
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if b, err := os.ReadFile(name); err == nil {
			table.Write(b)
		}
	}
	inodes, ok := listening(table.Bytes(), number)
	switch {
	case !ok:
		return tryPort(ctx, number)
	case len(inodes) == 0:
		return free("port", "nobody listens on port %d", number)
	}
	if pid := socketOwner(ctx, inodes); pid > 0 {
		return busy("port", "port %d is listened on by %s", number, who(pid))
	}
	return busy("port", "port %d is listened on, by a process that this user cannot see", number)
}

// socketOwner finds a process that has one of some sockets open, 0 for none.
func socketOwner(ctx context.Context, inodes []string) int {
	want := map[string]bool{}
	for _, i := range inodes {
		want["socket:["+i+"]"] = true
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || ctx.Err() != nil {
			continue
		}
		dir := filepath.Join("/proc", p.Name(), "fd")
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if target, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil &&
				strings.HasPrefix(target, "socket:") && want[target] {
				return pid
			}
		}
	}
	return 0
}
