// Package paper writes the files that people and other programs read: whole,
// or not at all.
package paper

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile writes a file so that a reader finds either what was there before
// or all of content, also after a crash or a power failure: under a temporary
// name in the same folder, synced, renamed, the folder synced. The folder must
// exist. A symbolic link at path is replaced, not followed.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	SyncDir(dir)
	return nil
}

// SyncDir makes the entries of a folder durable, where the system can do that.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
