package memory

import (
	"testing"

	"go.uber.org/goleak"

	"bureau/internal/journal"
	"bureau/internal/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Journal { return New() })
}
