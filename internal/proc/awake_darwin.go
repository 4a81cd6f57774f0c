package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockUptimeRaw is CLOCK_UPTIME_RAW of macOS's <time.h>, the clock that stands
// still while the machine sleeps.
const clockUptimeRaw = 8

func awake() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clockUptimeRaw, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
