package db

import "syscall"

// The numbers of winerror.h that package syscall does not name.
var (
	fullErrnos = []syscall.Errno{
		39,  // ERROR_HANDLE_DISK_FULL
		112, // ERROR_DISK_FULL
	}
	deniedErrnos = []syscall.Errno{
		syscall.ERROR_ACCESS_DENIED,
		19, // ERROR_WRITE_PROTECT
	}
)
