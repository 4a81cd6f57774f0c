package db

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

// tooMuch asks for more memory than a connection has.
const tooMuch = `SELECT hex(zeroblob(400000000))`

// TestOutOfMemory lets SQLite run out of memory in every way of running a
// statement: an error, nothing stored, and the next transaction works.
func TestOutOfMemory(t *testing.T) {
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Update(t.Context(), func(tx *Tx) error { return tx.Exec(`CREATE TABLE a(b)`) }); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(*Tx) error{
		"Each": func(tx *Tx) error { return tx.Each(tooMuch, nil, func(Row) error { return nil }) },
		"One": func(tx *Tx) error {
			var s string
			_, err := tx.One(tooMuch, nil, &s)
			return err
		},
		"within a row": func(tx *Tx) error {
			return tx.Each(`SELECT 1`, nil, func(Row) error { return tx.Each(tooMuch, nil, func(Row) error { return nil }) })
		},
		"Exec":   func(tx *Tx) error { return tx.Exec(tooMuch) },
		"script": func(tx *Tx) error { return tx.Exec(`SELECT 1; ` + tooMuch) },
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				if fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, sqlite3.NOMEM) {
					t.Errorf("%v", err)
				}
			}
			check(d.View(t.Context(), run))
			check(d.Update(t.Context(), func(tx *Tx) error {
				if err := tx.Exec(`INSERT INTO a VALUES(1)`); err != nil {
					t.Error(err)
				}
				run(tx) // and nobody looks at the error
				return nil
			}))
			for _, tx := range []func() error{
				func() error {
					return d.Update(t.Context(), func(tx *Tx) error { return tx.Exec(`INSERT INTO a VALUES(2)`) })
				},
				func() error {
					return d.View(t.Context(), func(tx *Tx) error {
						var ones, twos int64
						if _, err := tx.One(`SELECT count(*) FILTER (WHERE b = 1), count(*) FILTER (WHERE b = 2) FROM a`, nil, &ones, &twos); err != nil {
							return err
						}
						if ones != 0 || twos < 1 {
							t.Errorf("%d and %d rows", ones, twos)
						}
						return nil
					})
				},
			} {
				if err := tx(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	// What fn throws itself is its own.
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("thrown %v", p)
		}
	}()
	d.View(t.Context(), func(tx *Tx) error {
		return tx.Each(`SELECT 1`, nil, func(Row) error { panic("mine") })
	})
}
