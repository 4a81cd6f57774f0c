package setup

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"bureau/internal/fault"
)

// keepOwner: a new file inherits its folder's access list here.
func keepOwner(string, fs.FileInfo) {}

// lockFile keeps other set-ups of the same office out until release.
func lockFile(path string, wait time.Duration) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING):
			return nil, errors.Join(err, f.Close())
		case time.Now().After(end):
			_ = f.Close()
			return nil, fault.New(fault.Timeout, "another bureau setup is running").WithHint("try again when it has ended")
		}
	}
}
