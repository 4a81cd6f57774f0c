package db

import (
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// watcher stands between SQLite and the driver's file system. Every connection
// has its own. It does two things that the driver does not:
//
//   - It keeps the system's error. The driver forgets it when a later call
//     succeeds, and reports a full disk as any other failed write.
//   - It opens the log of a database that may only be read for reading only.
//     SQLite's own unix file system falls back to that.
type watcher struct {
	vfs.VFSFilename
	name    string
	reading bool
	last    error // the system's last error since it was cleared
}

var watchers atomic.Int64

// watch makes a watcher that SQLite finds by its name, until forget.
func watch(reading bool) *watcher {
	w := &watcher{
		VFSFilename: vfs.Find("").(vfs.VFSFilename),
		name:        "bureau-" + strconv.FormatInt(watchers.Add(1), 10),
		reading:     reading,
	}
	vfs.Register(w.name, w)
	return w
}

func (w *watcher) forget() { vfs.Unregister(w.name) }

// uri names a file for SQLite, to be opened through the watcher.
func (w *watcher) uri(path, more string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "vfs=" + w.name + more}).String()
}

// saw keeps an error and gives SQLite the code for a full disk where it is one.
func (w *watcher) saw(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	w.last = err
	if isFull(err) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

func (w *watcher) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if w.reading && flags&vfs.OPEN_WAL != 0 {
		flags = flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE) | vfs.OPEN_READONLY
	}
	file, flags, err := w.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, w.saw(err)
	}
	if whole, ok := file.(osFile); ok {
		return &watched{whole, w}, flags, nil
	}
	return file, flags, nil // a driver that can more or less than this one's
}

// osFile is everything that the driver's files offer to SQLite.
type osFile interface {
	vfs.FileLockState
	vfs.FileHasMoved
	vfs.FileSizeHint
	vfs.FilePersistWAL
	vfs.FilePowersafeOverwrite
	vfs.FileSharedMemory
	vfs.FileMemoryMapper
}

// watched is a file whose errors are seen.
type watched struct {
	osFile
	w *watcher
}

func (f *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.osFile.ReadAt(p, off)
	return n, f.w.saw(err)
}

func (f *watched) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.osFile.WriteAt(p, off)
	return n, f.w.saw(err)
}

func (f *watched) Sync(flags vfs.SyncFlag) error { return f.w.saw(f.osFile.Sync(flags)) }

func (f *watched) Truncate(size int64) error { return f.w.saw(f.osFile.Truncate(size)) }

func (f *watched) SizeHint(size int64) error { return f.w.saw(f.osFile.SizeHint(size)) }
