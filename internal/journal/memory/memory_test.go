package memory

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bureau/internal/event"
	"bureau/internal/journal"
	"bureau/internal/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Journal { return New() })
}

// FuzzImport feeds anything to an import. Whatever it accepts is sound, and its
// export is accepted again.
func FuzzImport(f *testing.F) {
	src := New()
	for n, data := range []string{`{"a":1}`, "{\n}", `null`, ``, "\"\xff\""} {
		e := journal.Entry{ID: event.Derive(string(rune('a' + n))), Subject: "s", Events: []event.Event{{Kind: "k", Data: []byte(data)}}}
		if n%2 == 0 {
			e.Expect = journal.Expect(event.Seq(n))
		}
		if _, _, err := src.Append(f.Context(), e); err != nil {
			f.Fatal(err)
		}
	}
	var file bytes.Buffer
	if _, err := journal.Export(f.Context(), src, &file, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Add(file.String()[:file.Len()/2])
	f.Add(`{"bureau_journal":1,"after":-5}` + "\n")
	f.Fuzz(func(t *testing.T, file string) {
		dst := New()
		got, _ := journal.Import(t.Context(), dst, strings.NewReader(file), nil)
		page, err := dst.Read(t.Context(), 0, 0)
		if err != nil || len(page) != got.Stored {
			t.Fatalf("%d stored, %d there, %v", got.Stored, len(page), err)
		}
		for i := range page {
			if err := journal.CheckRecord(&page[i]); err != nil {
				t.Error(err)
			}
		}
		var again bytes.Buffer
		if _, err := journal.Export(t.Context(), dst, &again, 0); err != nil {
			t.Fatal(err)
		}
		if back, err := journal.Import(t.Context(), New(), &again, nil); err != nil || back.Stored != got.Stored {
			t.Errorf("back %+v, %v", back, err)
		}
	})
}
