package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

// A database that this process may only read (a read-only mount, a sandbox,
// another owner) is read in one of three ways. SQLite's own way of reading a
// log wants to create files beside the database, so the driver alone cannot.
//
//   - live: log and index are there, because somebody works with the database
//     or did not close it. Both are opened for reading only, and the read locks
//     that keep others from overwriting what is being read are taken as usual.
//   - still: there is no log, so the file is complete and nobody writes. It is
//     read without locks ("immutable"); the fingerprint is compared before and
//     after every View, because whoever may write could have begun.
//   - copied: there is a log but no index, as after a crash. File and log are
//     copied into a private temporary directory and recovered there; a changed
//     fingerprint makes a new copy.
type readOnly struct {
	why   error // what forbade writing
	way   way
	print fingerprint
	temp  string // directory of the copy
}

type way int

const (
	live way = iota
	still
	copied
)

// fingerprint tells whether the database or its log were changed.
type fingerprint struct{ db, wal fileID }

type fileID struct {
	size  int64 // -1: there is no such file
	mtime time.Time
}

func fingerprintOf(path string) fingerprint {
	return fingerprint{fileIDOf(path), fileIDOf(path + "-wal")}
}

func fileIDOf(path string) fileID {
	info, err := os.Stat(path)
	if err != nil {
		return fileID{size: -1}
	}
	return fileID{info.Size(), info.ModTime()}
}

// openReadOnly makes a connection that only reads.
func (d *DB) openReadOnly(ctx context.Context, why error) error {
	ro := &readOnly{why: why, print: fingerprintOf(d.path)}
	var err error
	hasIndex := fileIDOf(d.path+"-shm").size >= 0
	switch {
	case ro.print.wal.size >= 0 && hasIndex:
		err = d.connect(ctx, d.path, sqlite3.OPEN_READONLY, "")
		if err != nil && mayBeReadable(err) {
			// The index needs a repair that takes the right to write.
			ro.way = copied
			err = d.connectCopy(ctx, ro)
		}
	case ro.print.wal.size <= 0:
		ro.way = still
		err = d.connect(ctx, d.path, sqlite3.OPEN_READONLY, "&immutable=1")
	default:
		ro.way = copied
		err = d.connectCopy(ctx, ro)
	}
	if err != nil {
		return errors.Join(err, ro.cleanUp())
	}
	d.ro = ro
	d.reading.Store(true)
	return nil
}

// refresh opens the database again if it changed in a way that the connection
// does not see.
func (d *DB) refresh(ctx context.Context) error {
	if d.ro.way == live || d.ro.print == fingerprintOf(d.path) {
		return nil
	}
	why := d.ro.why
	if err := d.disconnect(); err != nil {
		return err
	}
	return d.openReadOnly(ctx, why)
}

// reopenToWrite tries whether the database can be written by now. If not, it
// stays open for reading, and the error says why.
func (d *DB) reopenToWrite(ctx context.Context) error {
	if err := d.disconnect(); err != nil {
		return err
	}
	if err := d.open(ctx); err != nil {
		return err
	}
	if d.ro != nil {
		return d.fail(ctx, d.ro.why)
	}
	return nil
}

// stillValid says whether what was read without locks may be trusted.
func (ro *readOnly) stillValid(path string) error {
	if ro.way != still || ro.print == fingerprintOf(path) {
		return nil
	}
	return fault.New(fault.Unavailable, "%s was changed while it was being read", path).WithHint("try again")
}

// cleanUp removes the copy.
func (ro *readOnly) cleanUp() error {
	if ro.temp == "" {
		return nil
	}
	return os.RemoveAll(ro.temp)
}

// copyTries bounds how often a copy is begun again because the original
// changed meanwhile.
const copyTries = 5

// connectCopy copies database and log and opens the copy.
func (d *DB) connectCopy(ctx context.Context, ro *readOnly) error {
	temp, err := os.MkdirTemp("", "bureau-read-*") // mode 0700
	if err != nil {
		return fmt.Errorf("a copy to read from cannot be made: %w", err)
	}
	ro.temp = temp
	name := filepath.Join(temp, "copy.db")
	for range copyTries {
		ro.print = fingerprintOf(d.path)
		if err := copyFile(ctx, d.path, name); err != nil {
			return err
		}
		if err := copyFile(ctx, d.path+"-wal", name+"-wal"); err != nil {
			return err
		}
		if ro.print == fingerprintOf(d.path) {
			return d.connect(ctx, name, sqlite3.OPEN_READWRITE, "")
		}
	}
	return fault.New(fault.Unavailable, "%s changes too fast to be copied, and it may only be read here", d.path).WithHint("try again")
}

func copyFile(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
