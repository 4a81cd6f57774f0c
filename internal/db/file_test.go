package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "office", "test.db")
	for _, o := range []Options{{}, {Create: true, ReadOnly: true}} {
		_, err := Open(t.Context(), path, o)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// Only the last directory is made.
	_, err := Open(t.Context(), filepath.Join(dir, "volume", "office", "test.db"), creating)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), filepath.Join(dir, "volume")) || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("missing parent: %v", err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere.db"), filepath.Join(dir, "link.db")); err == nil {
		if _, err := Open(t.Context(), filepath.Join(dir, "link.db"), creating); !fault.Is(err, fault.Unavailable) {
			t.Errorf("dangling link: %v", err)
		}
		os.Remove(filepath.Join(dir, "link.db"))
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOrphanedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path+"-wal", []byte("the newest entries"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, creating)
	if !fault.Is(err, fault.Unavailable) || !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if size(path) >= 0 || size(path+"-wal") != 18 {
		t.Error("the files were touched")
	}
}

// TestEmptyDatabase holds the hand-made first page against what SQLite thinks
// of it, and against what SQLite itself would have written.
func TestEmptyDatabase(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "test.db"), creating)
	content, err := os.ReadFile(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "reference.db")
	c, err := sqlite3.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(`PRAGMA journal_mode=WAL`); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	be := binary.BigEndian
	be.PutUint32(want[offAppID:], testApp)
	// What may differ: the change counter and where it is repeated, the schema
	// format and the encoding (0 until the first table), the version of SQLite.
	for _, off := range []int{24, 44, 56, 92, 96} {
		copy(want[off:off+4], content[off:off+4])
	}
	if !bytes.Equal(content, want) {
		for i := range want {
			if content[i] != want[i] {
				t.Errorf("byte %d is %#x, SQLite writes %#x", i, content[i], want[i])
			}
		}
	}
	update(t, d, `CREATE TABLE note(n); INSERT INTO note VALUES(1)`)
	check(t, d)
}

// check runs SQLite's own check of the file.
func check(t *testing.T, d *DB) {
	t.Helper()
	err := d.View(t.Context(), func(tx *Tx) error {
		return tx.Each(`PRAGMA integrity_check`, nil, func(r Row) error {
			var s string
			if err := r.Scan(&s); err != nil || s != "ok" {
				t.Errorf("integrity: %s %v", s, err)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestConcurrentCreation(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "office", "test.db")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				d, err := Open(t.Context(), path, creating)
				if err != nil {
					t.Error(err)
					return
				}
				err = d.Update(t.Context(), func(tx *Tx) error {
					return tx.Exec(`CREATE TABLE IF NOT EXISTS note(n); INSERT INTO note VALUES(1)`)
				})
				if err = errors.Join(err, d.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := count(t, open(t, path, Options{AppID: testApp})); n != 8 {
			t.Errorf("%d of 8 entries", n)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestDamagedFiles opens what a crash, a full disk or a mistake may leave in
// the place of a database. Every one is refused with a reason, and stays byte
// for byte.
func TestDamagedFiles(t *testing.T) {
	sound := func(t *testing.T, o Options) []byte {
		path := filepath.Join(t.TempDir(), "sound.db")
		d, err := Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		update(t, d, `CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`)
		for range 50 {
			update(t, d, `INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", 2000))
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	whole := sound(t, creating)
	rollbackMode := bytes.Clone(sound(t, Options{Create: true}))
	rollbackMode[offWrite], rollbackMode[offRead] = 1, 1
	scrambled := bytes.Clone(whole)
	for i := 100; i < 4096; i++ {
		scrambled[i] = byte(i * 7)
	}
	for what, c := range map[string]struct {
		content []byte
		kind    error
		opts    Options
	}{
		"empty":                 {nil, ErrDamaged, creating},
		"zero bytes":            {make([]byte, len(whole)), ErrDamaged, creating},
		"a few zero bytes":      {make([]byte, 7), ErrDamaged, creating},
		"half":                  {whole[:len(whole)/2], ErrDamaged, creating},
		"one page":              {whole[:4096], ErrDamaged, creating},
		"half a header":         {whole[:50], ErrDamaged, creating},
		"a scrambled schema":    {scrambled, ErrDamaged, creating},
		"JSON":                  {[]byte(`[]`), ErrForeign, creating},
		"a text":                {bytes.Repeat([]byte("hello\n"), 1000), ErrForeign, creating},
		"another program's":     {sound(t, Options{Create: true, AppID: 99}), ErrForeign, creating},
		"nobody's":              {sound(t, Options{Create: true}), ErrForeign, creating},
		"not in the right mode": {rollbackMode, ErrForeign, Options{Create: true}},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "test.db")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Open(t.Context(), path, c.opts)
			if err == nil {
				d.Close()
			}
			if !fault.Is(err, fault.Unavailable) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), path) || fault.HintOf(err) == "" {
				t.Errorf("got %v, hint %q; want %v", err, fault.HintOf(err), c.kind)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.content) {
				t.Errorf("the file was changed, %v", err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestDamageInside damages a page that opening does not read.
func TestDamageInside(t *testing.T) {
	d := notes(t)
	for range 50 {
		update(t, d, `INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", 2000))
	}
	path := d.Path()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[4*4096:])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d = open(t, path, creating)
	err = d.View(t.Context(), func(tx *Tx) error {
		return tx.Each(`SELECT text FROM note`, nil, func(Row) error { return nil })
	})
	if !fault.Is(err, fault.Unavailable) || !errors.Is(err, ErrDamaged) || !strings.Contains(fault.HintOf(err), "bureau doctor") {
		t.Errorf("got %v", err)
	}
}

// TestSwitchedMode has the journal mode changed by hand; the application id
// says that the file is ours, so it is put right.
func TestSwitchedMode(t *testing.T) {
	d := notes(t)
	path := d.Path()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Exec(`PRAGMA journal_mode=DELETE`), c.Close()); err != nil {
		t.Fatal(err)
	}
	if h, err := readHeader(path); err != nil || h.wal {
		t.Fatalf("%+v, %v", h, err)
	}
	d = open(t, path, creating)
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	if h, err := readHeader(path); err != nil || !h.wal {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(t.Context(), dir, creating); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a directory: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(file, "test.db"), creating); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a file as directory: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, strings.Repeat("x", 2000)), creating); !fault.Is(err, fault.Invalid) {
		t.Errorf("a long path: %v", err)
	}
}

// TestOddNames opens databases whose names mean something in a URI.
func TestOddNames(t *testing.T) {
	for _, name := range []string{"a b?c#d%41&e.db", "file:x.db", "ä\u2028.db", "immutable=1"} {
		dir := filepath.Join(t.TempDir(), name)
		d := open(t, filepath.Join(dir, name), creating)
		update(t, d, `CREATE TABLE note(n)`)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != name {
			t.Errorf("%q: %v", name, left)
		}
	}
}

// TestLogStaysSmall opens, writes and closes many times, alone and beside
// somebody who keeps the database open.
func TestLogStaysSmall(t *testing.T) {
	d := notes(t)
	path := d.Path()
	cycles := func(n int) {
		for range n {
			d, err := Open(t.Context(), path, creating)
			if err != nil {
				t.Fatal(err)
			}
			err = d.Update(t.Context(), func(tx *Tx) error {
				return tx.Exec(`INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", 400))
			})
			if err := errors.Join(err, d.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	cycles(700)
	// The log is copied back at walPages pages; what comes until somebody
	// notices may be added.
	if n := size(path + "-wal"); n > walPages*4200*3/2 {
		t.Errorf("beside another process the log has %d bytes", n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	cycles(300)
	if n := size(path + "-wal"); n >= 0 {
		t.Errorf("alone, a log of %d bytes stays", n)
	}
	d = open(t, path, creating)
	if n := count(t, d); n != 1000 {
		t.Errorf("%d notes", n)
	}
	check(t, d)
}

// TestLargeTransaction lets the log grow beyond its bound; it must shrink again.
func TestLargeTransaction(t *testing.T) {
	d := notes(t)
	if err := d.Update(t.Context(), func(tx *Tx) error {
		for range 5000 {
			if err := tx.Exec(`INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", 4000)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		update(t, d, `INSERT INTO note(text) VALUES('small')`)
	}
	if n := size(d.Path() + "-wal"); n > walKeep {
		t.Errorf("the log keeps %d bytes", n)
	}
}
