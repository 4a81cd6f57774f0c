package probe

import (
	"time"

	"bureau/internal/proc"
)

// startOf gives when a process started: package proc counts in microseconds.
func startOf(id proc.ID) (time.Time, bool) { return time.UnixMicro(id.Start), id.Start != 0 }
