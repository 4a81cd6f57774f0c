package fts

import (
	"path/filepath"
	"testing"

	"bureau/internal/db"
)

func TestRegister(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), db.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	const schema = `CREATE VIRTUAL TABLE doc USING fts5(body)`
	if err := d.Update(t.Context(), func(tx *db.Tx) error { return tx.Exec(schema) }); err == nil {
		t.Error("full-text search is there without Register")
	}
	for range 2 {
		if err := Register(d); err != nil {
			t.Fatal(err)
		}
	}
	err = d.Update(t.Context(), func(tx *db.Tx) error {
		if err := tx.Exec(schema); err != nil {
			return err
		}
		if err := tx.Exec(`INSERT INTO doc VALUES(?), (?)`, "the quick brown fox", "nothing of interest"); err != nil {
			return err
		}
		var body string
		found, err := tx.One(`SELECT body FROM doc WHERE doc MATCH ?`, []any{"fox"}, &body)
		if !found || body != "the quick brown fox" {
			t.Errorf("found %v %q", found, body)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
