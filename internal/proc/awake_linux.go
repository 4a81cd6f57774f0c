package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// awake reads the clock that stands still while the machine sleeps.
func awake() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
