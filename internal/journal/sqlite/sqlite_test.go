package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"bureau/internal/db"
	"bureau/internal/journal"
	"bureau/internal/journal/journaltest"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Journal {
		return openAt(t, filepath.Join(t.TempDir(), "journal.db"))
	})
}

// openAt opens the journal in a file until the test ends.
func openAt(t testing.TB, path string) *Engine {
	t.Helper()
	d, err := db.Open(context.Background(), path, db.Options{Create: true, AppID: AppID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	e, err := Open(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
