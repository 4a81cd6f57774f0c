// Package db opens SQLite databases and runs transactions on them. It is the
// only place that does, so that everything that decides about safety (how a
// file is created, when it is synced, who waits for whom, what an error means)
// is decided once. It knows no schema.
//
// A database is one file in WAL mode that many processes use at once, without
// a daemon. Every writing transaction takes the write lock at its beginning
// (BEGIN IMMEDIATE): a transaction that reads first and writes later would be
// refused at once, without waiting, when another process wrote in between.
//
//	d, err := db.Open(ctx, path, db.Options{Create: true})
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, d.Close()) }()
//	err = d.Update(ctx, func(tx *db.Tx) error {
//		return tx.Exec(`INSERT INTO note(text) VALUES(?)`, text)
//	})
//
// Close matters: a process that exits without it leaves the write-ahead log
// behind, which the next process has to recover, and the log grows with every
// such exit.
package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

// Sync says what survives when the machine, not only the process, stops.
type Sync int

const (
	// Full syncs every commit to the disk before Update returns: what was
	// committed survives a power failure. On macOS it asks the drive itself to
	// flush.
	Full Sync = iota
	// Off never syncs. A commit survives the end of the process, but a power
	// failure may lose it or damage the file: for what can be built again.
	Off
)

// The defaults of [Options].
const (
	DefaultBusyTimeout = 10 * time.Second
	DefaultCacheKB     = 2000
)

// Options say how a database is opened. The zero value opens an existing,
// durable one.
type Options struct {
	// Create makes the file if it is missing, and the last directory of its
	// path with mode 0700. It makes no more than that directory: when the rest
	// is missing too, a volume is probably not mounted.
	Create bool
	// ReadOnly refuses every Update.
	ReadOnly bool
	Sync     Sync
	// AppID marks the file as belonging to one program and purpose (SQLite's
	// application_id). It is written at creation; a file with another one is
	// refused before anything touches it. 0 neither writes nor checks.
	AppID int32
	// BusyTimeout bounds the wait for other processes. Default 10 s.
	BusyTimeout time.Duration
	// CacheKB is the page cache of the connection in KiB. Default 2000.
	CacheKB int
}

// DB is an open database: one connection, used by one goroutine at a time; the
// others wait. All methods may be called from several goroutines.
type DB struct {
	path string // absolute, symbolic links resolved: SQLite derives the -wal and -shm names from this
	opts Options

	// sem has one token; who holds it owns everything below. A channel and not
	// a mutex, because waiting for it has to end with a context.
	sem    chan struct{}
	closed bool
	conn   *sqlite3.Conn
	watch  *watcher
	gate   gate
	stmts  stmtCache
	extend []extension
	ro     *readOnly // not nil when the file is open for reading only
	renew  bool      // the connection ran out of memory: the next transaction gets another

	// reading says that ro is not nil, for those who do not hold the token.
	reading atomic.Bool
	version atomic.Int32
}

// Open opens the database at path. The errors are faults:
//
//   - not_found: the file is missing and Create is not set;
//   - unavailable: its directory is missing, it lies on a network or shared
//     file system, it is damaged or of another program ([ErrDamaged],
//     [ErrForeign]; the file is left as it is), or another process held it for
//     longer than the busy timeout.
//
// A file that this process may not write, or that has no room for a log on a
// full disk, is opened for reading only; see [DB.ReadOnly].
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = DefaultBusyTimeout
	}
	if o.CacheKB <= 0 {
		o.CacheKB = DefaultCacheKB
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "%s: %w", path, err)
	}
	if len(path) > maxPath {
		return nil, fault.New(fault.Invalid, "the path of the database is longer than %d bytes: %s", maxPath, path)
	}
	real, err := locate(path, o)
	if err != nil {
		return nil, err
	}
	d := &DB{path: real, opts: o, sem: make(chan struct{}, 1)}
	d.stmts.init()
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// maxPath leaves room for "-journal" in the driver's 1024 bytes.
const maxPath = 1000

// open makes the connection, for writing if possible.
func (d *DB) open(ctx context.Context) error {
	h, err := readHeader(d.path)
	if err != nil {
		return err
	}
	if err := h.check(d.path, d.opts.AppID); err != nil {
		return err
	}
	d.version.Store(h.ver)
	why := h.denied
	if why == nil {
		err := d.openToWrite(ctx, h)
		if err == nil || !mayBeReadable(err) {
			return d.fail(ctx, err)
		}
		why = d.withCause(err)
	}
	return d.fail(ctx, d.openReadOnly(ctx, why))
}

func (d *DB) openToWrite(ctx context.Context, h header) error {
	if err := d.connect(ctx, d.path, sqlite3.OPEN_READWRITE, ""); err != nil {
		return err
	}
	if !h.wal {
		// Ours by its application id, but somebody switched the mode.
		if err := d.conn.Exec(`PRAGMA journal_mode=WAL`); err != nil {
			return errors.Join(err, d.disconnect())
		}
	}
	tighten(d.path)
	return nil
}

// connect opens path and sets the connection up; more are further parameters
// of the URI. Its error is the driver's.
func (d *DB) connect(ctx context.Context, path string, flags sqlite3.OpenFlag, more string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	growStack("")
	d.watch = watch(flags&sqlite3.OPEN_READONLY != 0)
	c, err := sqlite3.OpenFlags(d.watch.uri(path, more), flags|sqlite3.OPEN_URI)
	defer func() {
		if err != nil {
			c.Close()
			d.watch.forget()
		}
	}()
	defer d.caught(&err)
	if err != nil {
		return err
	}
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())
	if err := c.BusyTimeout(d.opts.BusyTimeout); err != nil {
		return err
	}
	if err := c.Exec(pragmas(d.opts)); err != nil {
		return err
	}
	// Plans do not depend on bound values. Without this every statement with
	// LIMIT ? is compiled anew each time it is bound, a tenth of a send's work.
	if _, err := c.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return err
	}
	for _, e := range d.extend {
		if err := e.register(c); err != nil {
			return err
		}
	}
	d.conn = c
	return nil
}

// walPages is the size at which a commit copies the log back into the
// database, in pages of 4 KiB: small enough that opening after a crash and
// reading through the log stay cheap, large enough that few commits pay for it.
// It is what the driver is built with, as is DefaultCacheKB.
const walPages = 1000

// walKeep bounds the log's file between uses, in bytes; without it one large
// transaction would leave a large file for ever.
const walKeep = 8 << 20

// pragmas gives the settings of a connection. The first one reads the schema
// and with it opens the log, so a file that cannot be read fails here.
func pragmas(o Options) string {
	sync := "FULL"
	if o.Sync == Off {
		sync = "OFF"
	}
	// The driver is built with NORMAL as its default in WAL mode.
	s := fmt.Sprintf(`PRAGMA synchronous=%s; PRAGMA journal_size_limit=%d; PRAGMA temp_store=MEMORY;`, sync, walKeep)
	if o.CacheKB != DefaultCacheKB {
		s += fmt.Sprintf(`PRAGMA cache_size=-%d;`, o.CacheKB)
	}
	if runtime.GOOS == "darwin" && o.Sync == Full {
		// fsync on macOS does not flush the drive's cache.
		s += `PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON;`
	}
	if o.ReadOnly {
		s += `PRAGMA query_only=ON;`
	}
	return s
}

// extension is a library that a connection needs, such as full-text search.
type extension struct {
	name     string
	register func(*sqlite3.Conn) error
}

// Extend registers an SQLite extension on the connection, once per name. It is
// for packages such as db/fts, which link an extension that most programs do
// not need. It must not be called inside a transaction.
func (d *DB) Extend(name string, register func(*sqlite3.Conn) error) error {
	if err := d.lock(context.Background()); err != nil {
		return err
	}
	defer d.unlock()
	for _, e := range d.extend {
		if e.name == name {
			return nil
		}
	}
	if err := register(d.conn); err != nil {
		return fmt.Errorf("sqlite extension %s: %w", name, err)
	}
	d.extend = append(d.extend, extension{name, register})
	return nil
}

// Path gives the file that is open: absolute, with symbolic links resolved.
func (d *DB) Path() string { return d.path }

// Version gives SQLite's user_version as the file had it when it was opened.
// What a transaction set since then, or one whose pages are still in the log,
// does not show: 0 means only that the file does not know yet. A file that was
// opened without an AppID may be anybody's, so there it is 0 too.
func (d *DB) Version() int {
	if d.opts.AppID == 0 {
		return 0
	}
	return int(d.version.Load())
}

// ReadOnly reports whether the database was opened for reading only: because
// that was asked for, or because it could not be written. In the latter case
// Update tries again.
func (d *DB) ReadOnly() bool { return d.opts.ReadOnly || d.reading.Load() }

// Close ends the connection. It waits for a running transaction, so it must
// not be called from inside one. The last process to close the database copies
// the log back and removes it. A second Close does nothing.
func (d *DB) Close() error {
	d.sem <- struct{}{}
	defer d.unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return d.disconnect()
}

// disconnect closes statements, connection and what belongs to it.
func (d *DB) disconnect() error {
	if d.conn == nil {
		return nil
	}
	err := errors.Join(d.stmts.close(), d.gate.close())
	if cerr := d.conn.Close(); cerr != nil {
		err = errors.Join(err, fmt.Errorf("closing %s: %w", d.path, cerr))
	}
	d.conn, d.renew = nil, false
	d.watch.forget()
	if d.ro != nil {
		err = errors.Join(err, d.ro.cleanUp())
		d.ro = nil
		d.reading.Store(false)
	}
	return err
}

// lock waits for the connection, and makes it again if reading a changed file
// anew had failed or memory had run out.
func (d *DB) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return d.ended(ctx)
	}
	select {
	case d.sem <- struct{}{}:
	case <-ctx.Done():
		return d.ended(ctx)
	}
	if d.renew && !d.closed {
		anyway(d.disconnect)
	}
	var err error
	if d.closed {
		err = fault.New(fault.Unavailable, "%s is closed", d.path)
	} else if d.conn == nil {
		err = d.open(ctx)
	}
	if err != nil {
		d.unlock()
	}
	return err
}

func (d *DB) unlock() { <-d.sem }
