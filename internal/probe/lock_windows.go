package probe

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// peek opens a lock file for reading. A tool of this system that holds a lock
// has the file open without sharing it, or has locked a range of it.
func peek(path string) (glance, error) {
	f, err := os.Open(path)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return glance{locked: true}, nil
	}
	if err != nil {
		return glance{}, err
	}
	defer f.Close()
	var buf [maxGlance]byte
	n, err := io.ReadFull(f, buf[:])
	return glance{text: string(buf[:n]), locked: errors.Is(err, windows.ERROR_LOCK_VIOLATION)}, nil
}
