package mclaude

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const quickly = 0 // files that wait for somebody have no names in folders here

// tryLock takes the lock that belongs to an open file and vanishes with it, or
// says errTaken. Any other error means that there are no such locks here.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errTaken
	}
	return err
}
