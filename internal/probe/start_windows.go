package probe

import (
	"time"

	"golang.org/x/sys/windows"

	"bureau/internal/proc"
)

// startOf gives when a process started: package proc counts as a FILETIME.
func startOf(id proc.ID) (time.Time, bool) {
	ft := windows.Filetime{LowDateTime: uint32(id.Start), HighDateTime: uint32(id.Start >> 32)}
	return time.Unix(0, ft.Nanoseconds()), id.Start != 0
}
