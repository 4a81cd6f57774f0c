package journaltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// varied fills a journal with records of every shape.
func varied(t *testing.T, j journal.Journal, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		s := event.Subject(fmt.Sprintf("s%d", n%3))
		e := entry(n, s)
		switch n % 5 {
		case 1:
			e.Events = append(e.Events, event.Event{Kind: "from the year 3000", Data: json.RawMessage(`{"z":1.50,"a":[1e3, "<&>\u00e4"]}`)})
			e.Actor = event.Actor{Agent: id(7), Name: "ä<b>", PID: 9, Start: 1 << 50}
		case 2:
			e.Events = append(e.Events, event.Event{Kind: "pretty", Data: json.RawMessage("{\n  \"a\": 1\n}\n")}, event.Event{Kind: "empty"})
		case 3:
			v, err := j.Version(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			e.Expect, e.Project = &v, "p"
		case 4:
			e.Events[0].Data = json.RawMessage(`{"k":"` + "\xff\xfe" + `"}`)
		}
		add(t, j, e)
	}
}

func export(t *testing.T, j journal.Journal, after event.Seq) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := journal.Export(t.Context(), j, &b, after); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func load(t *testing.T, j journal.Restorer, file string) (journal.Imported, error) {
	t.Helper()
	return journal.Import(t.Context(), j, strings.NewReader(file), nil)
}

// sameJournal compares two journals record by record.
func sameJournal(t *testing.T, got, want journal.Journal) {
	t.Helper()
	g, w := all(t, got, 0, 0), all(t, want, 0, 0)
	if len(g) != len(w) {
		t.Fatalf("%d records, want %d", len(g), len(w))
	}
	for i := range w {
		same(t, g[i], w[i])
	}
}

func exportImport(t *testing.T, open opener) {
	src, dst := open(t), open(t)
	if got, err := load(t, dst, export(t, src, 0)); err != nil || got != (journal.Imported{}) {
		t.Errorf("an empty journal: %+v, %v", got, err)
	}
	const count = 1234
	varied(t, src, 0, count)
	file := export(t, src, 0)
	if lines := strings.Count(file, "\n"); lines != count+2 {
		t.Errorf("%d lines for %d records", lines, count)
	}
	var steps []int
	got, err := journal.Import(t.Context(), dst, strings.NewReader(file), func(n int) { steps = append(steps, n) })
	if err != nil || got.Stored != count || got.Skipped != 0 || got.Head != count {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(steps) == 0 || steps[len(steps)-1] != count {
		t.Errorf("progress %v", steps)
	}
	sameJournal(t, dst, src)
	if again := export(t, dst, 0); again != file {
		t.Error("the export of the import is another file")
	}
	// The copy goes on as the original would.
	for _, j := range []journal.Journal{src, dst} {
		v, err := j.Version(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		e := entry(count, "s1")
		e.Expect, e.Time = &v, all(t, j, count-1, 1)[0].Time
		add(t, j, e)
	}
	sameJournal(t, dst, src)
}

func importContinues(t *testing.T, open opener) {
	src, dst := open(t), open(t)
	varied(t, src, 0, 20)
	first := export(t, src, 0)
	varied(t, src, 20, 50)
	whole, rest := export(t, src, 0), export(t, src, 15)
	for _, step := range []struct {
		file            string
		stored, skipped int
	}{{first, 20, 0}, {first, 0, 20}, {rest, 30, 5}, {whole, 0, 50}, {rest, 0, 35}} {
		got, err := load(t, dst, step.file)
		if err != nil || got.Stored != step.stored || got.Skipped != step.skipped {
			t.Errorf("%+v, %v; want %d stored, %d skipped", got, err, step.stored, step.skipped)
		}
	}
	sameJournal(t, dst, src)
	if got, err := load(t, src, whole); err != nil || got.Stored != 0 || got.Skipped != 50 {
		t.Errorf("into itself: %+v, %v", got, err)
	}
	if _, err := journal.Export(t.Context(), src, &bytes.Buffer{}, 51); !fault.Is(err, fault.Invalid) {
		t.Errorf("export after the head: %v", err)
	}
	// A part needs what is before it.
	if _, err := load(t, open(t), rest); !fault.Is(err, fault.Conflict) {
		t.Errorf("a part alone: %v", err)
	}
}

func importRefusesOther(t *testing.T, open opener) {
	src, dst := open(t), open(t)
	varied(t, src, 0, 20)
	add(t, dst, entry(1000, "s0"))
	for name, file := range map[string]string{"whole": export(t, src, 0), "part": export(t, src, 1)} {
		got, err := load(t, dst, file)
		if !fault.Is(err, fault.Conflict) || got.Stored != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got := all(t, dst, 0, 0); len(got) != 1 {
		t.Errorf("%d records, want 1", len(got))
	}
}

func importRefusesTorn(t *testing.T, open opener) {
	src := open(t)
	varied(t, src, 0, 20)
	file := export(t, src, 0)
	lines := strings.SplitAfter(file, "\n")
	without := func(n int) string { return strings.Join(append(append([]string{}, lines[:n]...), lines[n+1:]...), "") }
	replace := func(n int, old, with string) string {
		changed := append([]string{}, lines...)
		changed[n] = strings.Replace(changed[n], old, with, 1)
		if changed[n] == lines[n] {
			t.Fatalf("nothing to replace in %s", lines[n])
		}
		return strings.Join(changed, "")
	}
	for name, c := range map[string]struct {
		file   string
		words  string
		stored int
	}{
		"nothing":            {"", "empty", 0},
		"something else":     {"hello\n", "not an exported journal", 0},
		"JSON":               {"{}\n", "not an exported journal", 0},
		"a record first":     {without(0), "not an exported journal", 0},
		"cut in a line":      {file[:len(lines[0])+len(lines[1])+40], "line 3: ", 1},
		"cut after a line":   {strings.Join(lines[:11], ""), "line 12: the file ends before its last line; the records up to 10 are stored", 10},
		"cut in the last":    {strings.TrimSuffix(file, lines[21]) + lines[21][:20], "line 22: ", 20},
		"a line missing":     {without(5), "line 6: the record at position 5 is missing", 4},
		"a line twice":       {strings.Join(append(append([]string{}, lines[:6]...), lines[5:]...), ""), "line 7: ", 5},
		"wrong count":        {replace(21, "20", "21"), "line 22: the file should hold 21", 20},
		"data changed":       {replace(1, `"n":0`, `"n":1`), "line 2: event 1 (test.happened)", 0},
		"kind changed":       {replace(1, `test.happened`, `test.other`), "line 2: ", 0},
		"subject changed":    {replace(2, `"s1"`, `"s2"`), "line 3: ", 1},
		"position changed":   {replace(3, `"seq":3`, `"seq":4`), "line 4: the record at position 3", 2},
		"NUL bytes":          {lines[0] + lines[1] + strings.Repeat("\x00", 500) + "\n", "line 3: ", 1},
		"a very long line":   {lines[0] + strings.Repeat("x", 9<<20), "line 2: ", 0},
		"events are missing": {replace(1, `"events":[`, `"others":[`), "line 2: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dst := open(t)
			got, err := load(t, dst, c.file)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, want %q", err, c.words)
			}
			if n := len(all(t, dst, 0, 0)); got.Stored != c.stored || n != c.stored {
				t.Errorf("%d stored, %d there, want %d", got.Stored, n, c.stored)
			}
			// What is there is sound, and the whole file completes it.
			if _, err := load(t, dst, file); err != nil {
				t.Error(err)
			}
			sameJournal(t, dst, src)
		})
	}
	newer := strings.Replace(file, `"bureau_journal":1`, `"bureau_journal":2`, 1)
	if _, err := load(t, open(t), newer); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "newer bureau") {
		t.Errorf("a newer format: %v", err)
	}
	// Data that was erased is missing from the file, and that is in order.
	records := all(t, src, 0, 0)
	records[0].Events[0].Data = nil
	lines[1] = string(journal.AppendRecord(nil, &records[0])) + "\n"
	dst := open(t)
	if _, err := load(t, dst, strings.Join(lines, "")); err != nil {
		t.Fatal(err)
	}
	if got := all(t, dst, 0, 1)[0]; !journal.Erased(got.Events[0]) || got.Hash != records[0].Hash {
		t.Errorf("the erased event came back as %+v", got)
	}
}

func restoreAtomic(t *testing.T, open opener) {
	src, dst := open(t), open(t)
	varied(t, src, 0, 10)
	records := all(t, src, 0, 0)
	bad := append([]event.Record{}, records...)
	bad[9].Project = "changed"
	for name, batch := range map[string][]event.Record{
		"a changed record": bad, "a gap": append(append([]event.Record{}, records[:3]...), records[4:]...), "from the middle": records[2:],
		"twice": append(append([]event.Record{}, records...), records[9]),
	} {
		if err := dst.Restore(t.Context(), batch); err == nil {
			t.Errorf("%s was restored", name)
		}
		if got := all(t, dst, 0, 0); len(got) != 0 {
			t.Fatalf("%s left %d records", name, len(got))
		}
	}
	if err := dst.Restore(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	sameJournal(t, dst, src)
}
