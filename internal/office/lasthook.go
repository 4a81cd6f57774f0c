package office

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"bureau/internal/fault"
)

// NoteHook keeps that a hook of a client runs, one that came with the client's
// plugin or one of its settings. It costs one system call, or two, and a hook that
// has nothing to do need not call it.
func (o *Office) NoteHook(plugin bool) error {
	marks := []string{o.run.HookMark()}
	if plugin {
		marks = append(marks, o.run.PluginMark())
	}
	now := o.Now()
	for _, path := range marks {
		err := os.Chtimes(path, now, now)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.WriteFile(path, nil, 0o600); err == nil {
				err = os.Chtimes(path, now, now)
			}
		}
		if err != nil {
			return fault.New(fault.Unavailable, "cannot keep that a hook ran: %w", err)
		}
	}
	return nil
}

// LastHook is when a hook of a client last ran on this machine, since it was
// started, and when one did that came with a plugin; zero for never. What servers
// and commands do does not count.
func (o *Office) LastHook() (last, plugin time.Time, err error) {
	for _, m := range []struct {
		path string
		at   *time.Time
	}{{o.run.HookMark(), &last}, {o.run.PluginMark(), &plugin}} {
		st, err := os.Stat(m.path)
		switch {
		case err == nil:
			*m.at = st.ModTime()
		case !errors.Is(err, fs.ErrNotExist):
			return last, plugin, fault.New(fault.Unavailable, "cannot see when a hook last ran: %w", err)
		}
	}
	return last, plugin, nil
}
