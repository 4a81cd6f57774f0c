package paper

import (
	"context"
	"errors"
	"os"
	"time"

	"bureau/internal/fault"
)

// TryLock takes the lock of an open file and reports whether it got it; another
// process, or another opening of the file in this one, may have it. The lock
// goes when the file is closed, or with its process. An error means that there
// are no such locks here.
func TryLock(f *os.File) (bool, error) { return tryLock(f) }

// Lock takes the lock of the file at path, which is made if it is missing, and
// waits up to a time for whoever has it. Errors: timeout then, and whatever
// keeps the file from being opened or locked.
func Lock(path string, wait time.Duration) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := LockOpen(context.Background(), f, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// LockOpen is Lock for a file, or on Unix a folder, that is open already.
func LockOpen(ctx context.Context, f *os.File, wait time.Duration) error {
	for end := time.Now().Add(wait); ; {
		got, err := tryLock(f)
		switch {
		case err != nil || got:
			return err
		case time.Now().After(end):
			return fault.New(fault.Timeout, "another process works at %s", f.Name()).WithHint("try again when it has ended")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
