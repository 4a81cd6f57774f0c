package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// filled makes a journal of n records on three subjects, two of them chained.
func filled(t *testing.T, n int) *Engine {
	t.Helper()
	e := openAt(t, filepath.Join(t.TempDir(), "journal.db"))
	fill(t, e, n)
	return e
}

func fill(t *testing.T, e *Engine, n int) {
	t.Helper()
	for i := range n {
		s := event.Subject(fmt.Sprintf("s%d", i%3))
		entry := journal.Entry{ID: event.Derive("fill", fmt.Sprint(i)), Subject: s, Events: []event.Event{
			event.New("test.first", map[string]int{"n": i}), event.New("test.second", "text"),
		}}
		if i%3 > 0 {
			v, err := e.Version(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			entry.Expect = &v
		}
		if _, fresh, err := e.Append(t.Context(), entry); err != nil || !fresh {
			t.Fatal(fresh, err)
		}
	}
}

// edit changes the database behind the engine's back.
func edit(t *testing.T, e *Engine, sql string, args ...any) {
	t.Helper()
	if err := e.d.Update(t.Context(), func(tx *db.Tx) error { return tx.Exec(sql, args...) }); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, e *Engine) Report {
	t.Helper()
	r, err := e.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clean fails unless nothing is found.
func clean(t *testing.T, e *Engine) Report {
	t.Helper()
	r := verify(t, e)
	for _, f := range r.Findings {
		t.Errorf("%s at %d: %s", f.Problem, f.Seq, f)
	}
	return r
}

func TestVerifyClean(t *testing.T) {
	if r := clean(t, filled(t, 0)); r.Records != 0 || r.Head != 0 {
		t.Errorf("%+v", r)
	}
	e := filled(t, 2*verifyPage+30)
	var steps []int
	r, err := e.Verify(t.Context(), func(done, total int) {
		if total != 2*verifyPage+30 {
			t.Errorf("total %d", total)
		}
		steps = append(steps, done)
	})
	if err != nil || !r.OK() || r.Records != 2*verifyPage+30 || r.Events != 2*r.Records || r.Subjects != 3 || int(r.Head) != r.Records || len(r.Digest) != 64 {
		t.Errorf("%+v, %v", r, err)
	}
	if len(steps) != 3 || steps[2] != r.Records {
		t.Errorf("progress %v", steps)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Erased data is no damage.
	edit(t, e, `UPDATE journal_record SET body = json_remove(body, '$[0].data') WHERE seq = 7`)
	if r := clean(t, e); r.Erased != 1 {
		t.Errorf("%d erased", r.Erased)
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	const (
		total   = 20
		rewrite = `UPDATE journal_record SET body = replace(body, '"n":6}', '"n":9}') WHERE seq = 7`
	)
	// otherHash gives record 7 another content with sums and hash that fit.
	otherHash := func(t *testing.T, e *Engine) event.Record {
		page, err := e.Read(t.Context(), 6, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := page[0]
		r.Events[0].Data = []byte(`{"n":9}`)
		r.Seal()
		edit(t, e, `UPDATE journal_record SET body = ?, hash = ? WHERE seq = 7`, string(journal.AppendEvents(nil, r.Events)), raw(r.Hash))
		return r
	}
	type found struct {
		problem Problem
		seq     event.Seq
		words   string
	}
	for name, c := range map[string]struct {
		damage func(*testing.T, *Engine)
		want   []found
	}{
		"data": {func(t *testing.T, e *Engine) { edit(t, e, rewrite) }, []found{{Changed, 7, "record 7 (s0): event 1 (test.first) was changed"}}},
		"kind": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET body = replace(body, 'test.first', 'test.other') WHERE seq = 7`)
		}, []found{{Changed, 7, "does not match its hash"}}},
		"actor": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET actor = '{"name":"eve"}' WHERE seq = 7`)
		}, []found{{Changed, 7, "does not match its hash"}}},
		"time": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET time = time - 100000 WHERE seq = 8`)
		}, []found{{Changed, 8, "does not match its hash"}, {Chain, 8, "dated before"}}},
		"hash": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET hash = zeroblob(32) WHERE seq = 7`)
		}, []found{{Changed, 7, "hash"}, {Digest, 7, "digest"}}},
		"digest": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET digest = zeroblob(32) WHERE seq = 7`)
		}, []found{{Digest, 7, "digest"}, {Digest, 8, "digest"}}},
		"erased kind": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET body = json_remove(body, '$[0].kind') WHERE seq = 7`)
		}, []found{{Changed, 7, "hash"}}},
		"erased event": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET body = json_remove(body, '$[0]') WHERE seq = 7`)
		}, []found{{Changed, 7, "hash"}}},
		"exchanged": {func(t *testing.T, e *Engine) { otherHash(t, e) }, []found{{Digest, 7, "was exchanged"}}},
		"exchanged in a chain": {func(t *testing.T, e *Engine) {
			r := otherHash(t, e)
			edit(t, e, `UPDATE journal_record SET subject = 's1' WHERE seq = 7`)
			r.Subject = "s1"
			r.Seal()
			edit(t, e, `UPDATE journal_record SET hash = ? WHERE seq = 7`, raw(r.Hash))
		}, []found{{Digest, 7, "exchanged"}, {Chain, 8, "is at 7"}}},
		"one missing":       {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_record WHERE seq = 7`) }, []found{{Missing, 7, "record 7 is missing"}}},
		"some missing":      {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_record WHERE seq BETWEEN 7 AND 12`) }, []found{{Missing, 7, "records 7 to 12 are missing"}}},
		"the first missing": {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_record WHERE seq = 1`) }, []found{{Missing, 1, "record 1 is missing"}}},
		"the end missing":   {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_record WHERE seq > 15`) }, []found{{Missing, 16, "records 16 to 20 are missing at the end"}}},
		"all missing":       {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_record`) }, []found{{Missing, 1, "records 1 to 20 are missing"}}},
		"torn body": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_record SET body = substr(body, 1, 30) WHERE seq = 8`)
		}, []found{{Torn, 8, "record 8 (s1) cannot be read: its events are torn"}}},
		"empty body":     {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_record SET body = '[]' WHERE seq = 7`) }, []found{{Torn, 7, "no events"}}},
		"torn actor":     {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_record SET actor = '{' WHERE seq = 7`) }, []found{{Torn, 7, "its actor is torn"}}},
		"short hash":     {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_record SET hash = x'00' WHERE seq = 7`) }, []found{{Torn, 7, "its hash"}}},
		"negative":       {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_record SET seq = -7 WHERE seq = 7`) }, []found{{Missing, 7, "missing"}, {Index, 0, "below 1"}}},
		"renumbered end": {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_record SET seq = 25 WHERE seq = 20`) }, []found{{Missing, 20, "records 20 to 24"}, {Index, 20, "the head is said to be 20"}}},
		"no head":        {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_head`) }, []found{{Index, 0, "head is missing"}}},
		"wrong head":     {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_head SET seq = 18`) }, []found{{Index, 18, "the head is said to be 18"}}},
		"head's digest":  {func(t *testing.T, e *Engine) { edit(t, e, `UPDATE journal_head SET digest = zeroblob(32)`) }, []found{{Digest, 20, "digest of the head"}}},
		"subject's version": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_subject SET version = 4 WHERE subject = 's0'`)
		}, []found{{Index, 4, "s0 is said to be at 4, but its last record is 19"}}},
		"subject's hash": {func(t *testing.T, e *Engine) {
			edit(t, e, `UPDATE journal_subject SET hash = zeroblob(32) WHERE subject = 's0'`)
		}, []found{{Index, 19, "not that of its last record"}}},
		"no subject": {func(t *testing.T, e *Engine) { edit(t, e, `DELETE FROM journal_subject WHERE subject = 's0'`) }, []found{{Index, 19, "s0 has no state"}}},
		"extra subject": {func(t *testing.T, e *Engine) {
			edit(t, e, `INSERT INTO journal_subject VALUES('ghost', 3, zeroblob(32), 0)`)
		}, []found{{Index, 3, "ghost is said to be at 3, but has no records"}}},
		"no index":    {func(t *testing.T, e *Engine) { edit(t, e, `DROP INDEX journal_record_subject`) }, []found{{Index, 0, "journal_record_subject is missing"}}},
		"no subjects": {func(t *testing.T, e *Engine) { edit(t, e, `DROP TABLE journal_subject`) }, []found{{Index, 0, "journal_subject is missing"}, {Index, 0, "cannot be read"}}},
		"wrong types": {func(t *testing.T, e *Engine) {
			edit(t, e, `PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'journal_record'; PRAGMA writable_schema=RESET`)
			edit(t, e, `UPDATE journal_record SET time = 'noon', subject = x'00ff' WHERE seq = 7`)
		}, []found{{Index, 0, "journal_record was changed"}, {Torn, 7, "its subject is wrong"}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := filled(t, total)
			c.damage(t, e)
			r := verify(t, e)
			ok := len(r.Findings) == len(c.want)
			for i, f := range r.Findings {
				if ok {
					w := c.want[i]
					ok = f.Problem == w.problem && f.Seq == w.seq && strings.Contains(f.Text, w.words)
				}
			}
			if !ok {
				t.Errorf("found %+v\nwant  %+v", r.Findings, c.want)
			}
		})
	}
}

// TestVerifyFindsBadIndex changes a row, but not its entry in the index, as a
// damaged page does.
func TestVerifyFindsBadIndex(t *testing.T) {
	e := filled(t, 20)
	reopen := func() {
		t.Helper()
		if err := e.d.Close(); err != nil {
			t.Fatal(err)
		}
		e = openAt(t, e.d.Path())
	}
	edit(t, e, `CREATE TABLE hidden AS SELECT * FROM sqlite_schema WHERE name = 'journal_record_subject'`)
	edit(t, e, `PRAGMA writable_schema=ON; DELETE FROM sqlite_schema WHERE name = 'journal_record_subject'; PRAGMA writable_schema=RESET`)
	reopen()
	edit(t, e, `UPDATE journal_record SET subject = 's9' WHERE seq = 7`)
	edit(t, e, `PRAGMA writable_schema=ON; INSERT INTO sqlite_schema SELECT * FROM hidden; PRAGMA writable_schema=RESET`)
	reopen()
	r := verify(t, e)
	said := false
	for _, f := range r.Findings {
		said = said || f.Problem == File && strings.Contains(f.Text, "index journal_record_subject")
	}
	if !said {
		t.Errorf("found %v", r.Findings)
	}
}

// TestVerifyDamagedPages overwrites parts of the file.
func TestVerifyDamagedPages(t *testing.T) {
	e := filled(t, 300)
	path := e.d.Path()
	if err := e.d.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for page := 2; page < len(content)/4096; page += usually(1, 10) {
		copyOf := append([]byte{}, content...)
		for i := range 600 {
			copyOf[page*4096+8+i] ^= 0x5a
		}
		name := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(name, copyOf, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged++
		d, err := db.Open(t.Context(), name, db.Options{AppID: AppID})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Open(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if r := verify(t, e); r.OK() {
			t.Errorf("page %d of %d: nothing found", page+1, len(content)/4096)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if damaged < usually(20, 2) {
		t.Errorf("only %d pages were damaged", damaged)
	}
}

// TestAnyDamage damages the file at random. Whatever comes of it, looking at it
// and reading it end, without a panic, and every page goes on behind the last.
func TestAnyDamage(t *testing.T) {
	e := filled(t, 300)
	path := e.d.Path()
	if err := e.d.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	name := filepath.Join(t.TempDir(), "journal.db")
	for range usually(300, 60) {
		damaged := append([]byte{}, content...)
		page := 4096 * (1 + random.IntN(len(content)/4096-1))
		switch random.IntN(3) {
		case 0: // a part of a page
			mask := byte(1 + random.IntN(255))
			for i := range 600 {
				damaged[page+8+i] ^= mask
			}
		case 1: // single bytes
			for range 20 {
				damaged[4096+random.IntN(len(damaged)-4096)] ^= byte(1 + random.IntN(255))
			}
		case 2: // all of a page
			for i := random.IntN(100); i < 4096; i++ {
				damaged[page+i] = byte(random.Uint32())
			}
		}
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(name + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := db.Open(t.Context(), name, db.Options{AppID: AppID})
		if err != nil {
			continue // said at once
		}
		if e, err := Open(t.Context(), d); err == nil {
			verify(t, e)
			for at := event.Seq(0); ; {
				records, err := e.Read(t.Context(), at, 50)
				if err != nil || len(records) == 0 {
					break
				}
				for _, r := range records {
					if r.Seq <= at {
						t.Fatalf("record %d comes after %d", r.Seq, at)
					}
					at = r.Seq
				}
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOutOfOrder gives a row a position before the row in front of it, as a
// damaged page does.
func TestOutOfOrder(t *testing.T) {
	e := filled(t, 20)
	path := e.d.Path()
	if err := e.d.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A leaf of the table begins with 0x0d; each of its cells with the size of
	// the row as one or two bytes, and its position (as one, here).
	changed := 0
	for page := 4096; page < len(content); page += 4096 {
		if content[page] != 0x0d || !bytes.Contains(content[page:page+4096], []byte("test.first")) {
			continue
		}
		cells := int(content[page+3])<<8 | int(content[page+4])
		last := page + 8 + 2*(cells-1)
		at := page + (int(content[last])<<8 | int(content[last+1]))
		for content[at] >= 0x80 {
			at++
		}
		content[at+1] = 1
		changed++
	}
	if changed == 0 {
		t.Fatal("no page of the table was found")
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), path, db.Options{AppID: AppID})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if e, err = Open(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, e); r.OK() {
		t.Error("nothing found")
	}
	_, err = e.Read(t.Context(), 0, 100)
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("read: %v", err)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	e := filled(t, MaxFindings+10)
	edit(t, e, `UPDATE journal_record SET actor = '{"name":"eve"}'`)
	if r := verify(t, e); len(r.Findings) != MaxFindings || r.More != 10 {
		t.Errorf("%d listed, %d more", len(r.Findings), r.More)
	}
}
