package proc

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var queryUnbiased = windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime")

// awake reads the interrupt time without what was spent asleep, in units of
// 100 ns.
func awake() time.Duration {
	var ticks uint64
	if ok, _, _ := queryUnbiased.Call(uintptr(unsafe.Pointer(&ticks))); ok == 0 {
		return 0
	}
	return time.Duration(ticks) * 100
}
