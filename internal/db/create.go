package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"bureau/internal/fault"
)

const (
	fileMode = 0o600
	dirMode  = 0o700
)

// locate gives the real path of an existing database, or creates it.
func locate(path string, o Options) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return real, checkFileSystem(filepath.Dir(real))
	case !errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.Unavailable, "the store cannot be opened: %w", err)
	case !o.Create || o.ReadOnly:
		return "", missing(path)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSymlink == 0 {
			return locate(path, o) // another process has just created it
		}
		return "", fault.New(fault.Unavailable, "%s is a link to a file that does not exist; its volume may not be mounted", path)
	}
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fault.New(fault.Unavailable, "the store cannot be created: %w", err)
	}
	real = filepath.Join(dir, filepath.Base(path))
	if err := checkFileSystem(dir); err != nil {
		return "", err
	}
	return real, create(real, o.AppID)
}

// makeDir makes the last directory of a path, and no other.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if info, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return fault.New(fault.Unavailable, "there is no directory %s to create the store in; its volume may not be mounted", parent).
			WithHint("mount it, create the directory yourself, or choose another place with BUREAU_HOME")
	}
	// Whether a store may lie here is known from the parent; nothing is left
	// behind where it may not.
	if err := checkFileSystem(parent); err != nil {
		return err
	}
	err := os.Mkdir(dir, dirMode)
	switch {
	case err == nil:
		err = chmod(dir, dirMode)
		if err == nil {
			syncDir(parent)
		}
	case errors.Is(err, fs.ErrExist):
		// Another process was faster, or a file is in the way.
		if info, serr := os.Stat(dir); serr == nil && info.IsDir() {
			err = nil
		}
	}
	if err != nil {
		return fault.New(fault.Unavailable, "the directory of the store cannot be created: %w", err).
			WithHint("choose another place with BUREAU_HOME")
	}
	return nil
}

// create makes an empty database that appears under its name complete and
// synced, or not at all. If another process creates it first, that one counts.
func create(path string, appID int32) error {
	if err := refuseOrphanedLog(path); err != nil {
		return err
	}
	if err := writeNew(path, emptyDatabase(appID)); err != nil && !errors.Is(err, fs.ErrExist) {
		if isFull(err) {
			return fault.New(fault.Unavailable, "the disk is full, the store was not created: %w", err)
		}
		return fault.New(fault.Unavailable, "the store cannot be created: %w", err).
			WithHint("choose another place with BUREAU_HOME")
	}
	return nil
}

// writeNew writes a new file under another name and links it to its own.
func writeNew(path string, content []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp, content); err != nil {
		return err
	}
	err = os.Link(tmp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links: a process that looks in the moment
		// between creation and the one write takes the file for a damaged one
		// and says so, which hurts nobody.
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode); err == nil {
			err = fill(f, content)
		}
	}
	if err == nil {
		syncDir(dir)
	}
	return err
}

// fill writes, syncs and closes a file.
func fill(f *os.File, content []byte) error {
	_, err := f.Write(content)
	return errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close())
}

// refuseOrphanedLog keeps a new database from being created beside the log of
// one that was deleted: SQLite would copy the old log into it, and the log is
// what a rescue needs.
func refuseOrphanedLog(path string) error {
	if size(path+"-wal") <= 0 {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return nil // another process has just created it
	}
	return Damaged(path, fmt.Errorf("it is missing, but its log %s-wal is there with the newest entries", filepath.Base(path)))
}

// size gives the size of a file, -1 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// tighten gives the log and its index, which SQLite creates with the umask's
// mode, the mode and owner of the database. It is a second wall behind the
// directory's mode.
func tighten(path string) {
	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range []string{path + "-wal", path + "-shm"} {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			if info.Mode().Perm() != fileMode {
				os.Chmod(name, fileMode)
			}
			sameOwner(name, info, path)
		}
	}
}

// chmod sets the mode whatever the umask took away. On Windows the mode means
// nothing.
func chmod(path string, mode fs.FileMode) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return os.Chmod(path, mode)
}

// syncDir makes a new name in dir durable. Not every system can; there the
// name is as durable as its file system makes it.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Sync()
		f.Close()
	}
}
