package presence

import (
	"context"
	"time"

	"bureau/internal/db"
)

// folderOf is the id under which the folder of a conversation stands among the
// calls; no client's id of a call has a space.
func folderOf(key Key) string { return "folder of " + key.Session + " " + key.Sub }

// NoteFolder remembers where somebody works from a moment on: the folder that a
// client reported without a call, until it reports another.
func (s *Store) NoteFolder(ctx context.Context, key Key, folder string, at time.Time) error {
	return s.NoteCall(ctx, Call{ID: folderOf(key), Process: key.Process, Session: key.Session, Sub: key.Sub, Folder: folder, At: at})
}

// FindFolder gives the folder that a client reported last for a key, with a call
// or without; "" if it reported none within the last day. What another process
// of the same conversation reported does not count.
func (s *Store) FindFolder(ctx context.Context, key Key) (folder string, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		_, err := tx.One(`SELECT folder FROM call WHERE session = ? AND sub = ? AND host = ? AND pid = ? AND start = ? AND folder != '' ORDER BY at DESC LIMIT 1`,
			[]any{key.Session, key.Sub, key.Process.Host, key.Process.PID, key.Process.Start}, &folder)
		return err
	})
	return folder, err
}
