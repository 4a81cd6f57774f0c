package probe

import (
	"os"
	"strconv"
	"strings"
	"time"

	"bureau/internal/proc"
)

// ticks is the unit of start times in /proc: USER_HZ, 100 on every
// architecture that Go runs on (proc_pid_stat(5)).
const ticks = 100

// startOf gives when a process started, by the clock as it is set now.
func startOf(id proc.ID) (time.Time, bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil || id.Start == 0 {
		return time.Time{}, false
	}
	_, rest, ok := strings.Cut(string(stat), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	boot, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if !ok || err != nil {
		return time.Time{}, false
	}
	return time.Unix(boot, 0).Add(time.Duration(id.Start) * (time.Second / ticks)), true
}
