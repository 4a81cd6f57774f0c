package office

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"bureau/internal/fault"
)

// NoteHook keeps that a hook of a client runs. It costs one system call, and a
// hook that has nothing to do need not call it.
func (o *Office) NoteHook() error {
	now, path := o.Now(), o.run.HookMark()
	err := os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.WriteFile(path, nil, 0o600); err == nil {
			err = os.Chtimes(path, now, now)
		}
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot keep that a hook ran: %w", err)
	}
	return nil
}

// LastHook is when a hook of a client last ran on this machine, since it was
// started; zero for never. What servers and commands do does not count.
func (o *Office) LastHook() (time.Time, error) {
	at, err := os.Stat(o.run.HookMark())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fault.New(fault.Unavailable, "cannot see when a hook last ran: %w", err)
	}
	return at.ModTime(), nil
}
