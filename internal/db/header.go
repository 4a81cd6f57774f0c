package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"bureau/internal/fault"
)

// The parts of SQLite's file header that matter here
// (https://www.sqlite.org/fileformat.html, section 1.3). They are the same in
// every page image that a database of ours ever had, so they can be read from
// the file whatever the log holds.
const (
	headerSize = 100
	offWrite   = 18 // 2 in WAL mode, 1 otherwise
	offRead    = 19
	offVersion = 60
	offAppID   = 68
)

var magic = []byte("SQLite format 3\x00")

// header is what a look at the file tells before SQLite touches it.
type header struct {
	head   []byte // the first bytes, up to headerSize
	size   int64
	wal    bool
	appID  int32
	ver    int32 // user_version
	denied error // why it may only be read; nil if it may be written
}

// readHeader looks at the file. (Opening it beside SQLite is safe: the driver
// uses locks that belong to the open file, not to the process.)
func readHeader(path string) (h header, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if denied(err) {
		h.denied = err
		f, err = os.Open(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, missing(path)
	case err != nil:
		return h, fault.New(fault.Unavailable, "the store cannot be opened: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return h, fault.New(fault.Unavailable, "%s is not a file (%s)", path, info.Mode().Type())
	}
	if err == nil {
		h.head = make([]byte, headerSize)
		var n int
		n, err = io.ReadFull(f, h.head)
		h.head = h.head[:n]
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return h, fault.New(fault.Unavailable, "the store cannot be read: %s: %w", path, err).WithHint(doctorHint)
	}
	h.size = info.Size()
	if len(h.head) == headerSize {
		h.wal = h.head[offWrite] == 2 && h.head[offRead] == 2
		h.appID = int32(binary.BigEndian.Uint32(h.head[offAppID:]))
		h.ver = int32(binary.BigEndian.Uint32(h.head[offVersion:]))
	}
	return h, nil
}

// check refuses what is not a database of ours, before SQLite could change it
// or take an empty file for a new database.
func (h header) check(path string, appID int32) error {
	switch {
	case h.size == 0:
		return Damaged(path, errors.New("it is empty (0 bytes)"))
	case len(bytes.Trim(h.head, "\x00")) == 0:
		return Damaged(path, errors.New("it begins with zero bytes only"))
	case !bytes.HasPrefix(h.head, magic[:min(len(magic), len(h.head))]):
		return foreign(path, "it is not an SQLite database")
	case len(h.head) < headerSize:
		return Damaged(path, errors.New("it is cut off within its first 100 bytes"))
	case appID != 0 && h.appID != appID:
		return foreign(path, "its application id is %#x, not %#x", uint32(h.appID), uint32(appID))
	case !h.wal && appID == 0:
		return foreign(path, "it is an SQLite database, but not in the mode that bureau creates (WAL)")
	}
	return nil
}

func missing(path string) error {
	return fault.New(fault.NotFound, "there is no store at %s", path).
		WithHint("`bureau setup` creates one; BUREAU_HOME says where it is looked for")
}

// emptyDatabase is the first page of an empty database in WAL mode. Made here,
// a new file can be completed under another name and then appear whole: no
// process ever finds an empty one and has to guess what it means.
func emptyDatabase(appID int32) []byte {
	const pageSize = 4096
	p := make([]byte, pageSize)
	copy(p, magic)
	be := binary.BigEndian
	be.PutUint16(p[16:], pageSize)
	p[offWrite], p[offRead] = 2, 2
	p[21], p[22], p[23] = 64, 32, 32 // payload fractions, fixed by the format
	be.PutUint32(p[24:], 1)          // change counter
	be.PutUint32(p[28:], 1)          // pages in the database
	be.PutUint32(p[44:], 4)          // schema format
	be.PutUint32(p[56:], 1)          // text encoding: UTF-8
	be.PutUint32(p[offAppID:], uint32(appID))
	be.PutUint32(p[92:], 1)       // change counter that the next field belongs to
	be.PutUint32(p[96:], 3054001) // version of SQLite that wrote it
	p[100] = 0x0d                 // sqlite_schema: a leaf of a table, without cells
	be.PutUint16(p[105:], pageSize)
	return p
}
