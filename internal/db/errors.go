package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

// What is wrong with a file, for errors.Is. Both come as unavailable faults.
var (
	ErrDamaged = errors.New("the file is damaged")
	ErrForeign = errors.New("the file belongs to another program")
)

// errMemory is what running out of memory means: nothing that is stored comes
// near what SQLite may use (256 MB).
const errMemory = rowError("a value takes more memory than there is, so probably the file is damaged")

// doctorHint is the way out of damage.
const doctorHint = "the file was left as it is; `bureau doctor` looks at it and says what can be saved"

// sqlError is an error with the statement that met it.
type sqlError struct {
	sql string
	err error
}

func (e *sqlError) Error() string { return e.err.Error() + " in: " + e.sql }
func (e *sqlError) Unwrap() error { return e.err }

// brief is the beginning of a statement on one line.
func brief(sql string) string {
	s := strings.Join(strings.Fields(sql), " ")
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}

// because is a cause of two parts: what kind of trouble it is, and the error
// behind it.
type because struct{ kind, err error }

func (b because) Error() string   { return b.kind.Error() + ": " + b.err.Error() }
func (b because) Unwrap() []error { return []error{b.kind, b.err} }

// rowError is a value that its column never holds: [ErrDamaged], in words of
// its own.
type rowError string

func (e rowError) Error() string      { return string(e) }
func (rowError) Is(target error) bool { return target == ErrDamaged }

// Damaged is the fault for a file that is not a whole database any more, also
// where only those who read its rows can tell.
func Damaged(path string, err error) error {
	return fault.New(fault.Unavailable, "%s: %w", path, because{ErrDamaged, err}).WithHint(doctorHint)
}

// foreign is the fault for a file that somebody else's program made.
func foreign(path string, format string, args ...any) error {
	return fault.New(fault.Unavailable, "%s: %w", path, because{ErrForeign, fmt.Errorf(format, args...)}).
		WithHint("the file was left as it is; choose another place with BUREAU_HOME, or move that file away")
}

// fail turns an error of the driver into a fault. Errors that are faults
// already, and errors that only a defect can cause (wrong SQL), stay.
func (d *DB) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	if ctx.Err() != nil && interrupted(err) {
		return d.ended(ctx)
	}
	err = d.withCause(err)
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.PROTOCOL):
		return fault.New(fault.Unavailable, "the store is busy (another process has held it for %s): %s", d.opts.BusyTimeout, d.path).
			WithHint("try again")
	case isFull(err):
		return fault.New(fault.Unavailable, "the disk is full, nothing was stored: %s: %w", d.path, err).
			WithHint("free some space or raise the quota, then repeat the command")
	case looksReadOnly(err):
		return fault.New(fault.Unavailable, "%s cannot be written: %w", d.path, err).
			WithHint("give yourself write permission on the file and its directory, or choose another place with BUREAU_HOME")
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return Damaged(d.path, err)
	case errors.Is(err, sqlite3.CANTOPEN):
		return fault.New(fault.Unavailable, "%s cannot be opened: %w", d.path, err)
	case errors.Is(err, sqlite3.IOERR):
		return fault.New(fault.Unavailable, "the disk under %s failed: %w", d.path, err).WithHint(doctorHint)
	case errors.Is(err, sqlite3.NOMEM):
		return fault.New(fault.Unavailable, "%s: %w", d.path, because{errMemory, err}).WithHint(doctorHint)
	case errors.Is(err, sqlite3.TOOBIG):
		return fault.New(fault.Invalid, "a value is too large for the store: %w", err)
	}
	return fmt.Errorf("%s: %w", d.path, err)
}

// withCause adds what the system said, where the driver lost it.
func (d *DB) withCause(err error) error {
	var code sqlite3.ErrorCode
	if d.watch == nil || d.watch.last == nil || !errors.As(err, &code) || errors.Is(err, d.watch.last) {
		return err
	}
	switch code {
	case sqlite3.FULL, sqlite3.IOERR, sqlite3.CANTOPEN, sqlite3.READONLY:
		return because{err, d.watch.last}
	}
	return err
}

// interrupted reports whether err is what an ended context looks like. A wait
// for the lock that the context cuts short comes back as BUSY.
func interrupted(err error) bool {
	return errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sqlite3.BUSY) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ended is the error for a context that ended before a commit began.
func (d *DB) ended(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "the store did not answer in time, nothing was changed: %w", err).
			WithHint("try again")
	}
	return fmt.Errorf("%s: nothing was changed: %w", d.path, err)
}

// isFull recognises a full disk, a quota and a limit on file sizes.
func isFull(err error) bool {
	if errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR_SHMSIZE) {
		return true // the latter when there is no room for the log's index
	}
	for _, no := range fullErrnos {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// looksReadOnly recognises a file, directory or file system that may only be
// read.
func looksReadOnly(err error) bool {
	return errors.Is(err, sqlite3.READONLY) || errors.Is(err, sqlite3.PERM) || denied(err)
}

// mayBeReadable reports whether a database that could not be opened for writing
// is worth an attempt to read it: writing is forbidden, or there is no room for
// the log. The driver often does not say why it could not open something.
func mayBeReadable(err error) bool {
	return looksReadOnly(err) || isFull(err) || errors.Is(err, sqlite3.CANTOPEN)
}

// denied recognises the system's own refusals.
func denied(err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		return true
	}
	for _, no := range deniedErrnos {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
