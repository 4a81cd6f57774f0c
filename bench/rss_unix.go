//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak gives the peak memory of a process that has ended, in KiB.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) / 1024 // bytes there, KiB elsewhere
	}
	return int64(usage.Maxrss)
}
