package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// TestInTransaction does what the office does: read, decide, append and
// project in one transaction.
func TestInTransaction(t *testing.T) {
	e := filled(t, 10)
	edit(t, e, `CREATE TABLE projected(seq INTEGER, subject TEXT)`)
	boom := errors.New("boom")
	step := func(end error) error {
		return e.d.Update(t.Context(), func(tx *db.Tx) error {
			j := e.In(tx)
			v, err := j.Version("s1")
			if err != nil {
				return err
			}
			head, err := j.Head()
			if err != nil {
				return err
			}
			// A refusal inside leaves the transaction usable.
			stale := mail(event.Derive("tx", "stale"), "s1")
			stale.Expect = journal.Expect(v + 1)
			var conflict *journal.ErrConflict
			if _, _, err := j.Append(stale); !errors.As(err, &conflict) || conflict.Actual != v {
				t.Errorf("got %v", err)
			}
			for _, name := range []string{"a", "b"} {
				entry := mail(event.Derive("tx", name), "s1")
				entry.Expect = &v
				rec, fresh, err := j.Append(entry)
				if err != nil || !fresh {
					return errors.Join(err, errors.New("not fresh"))
				}
				if head++; rec.Seq != head {
					t.Errorf("position %d, want %d", rec.Seq, head)
				}
				v = rec.Seq
				if err := tx.Exec(`INSERT INTO projected VALUES(?, ?)`, rec.Seq, rec.Subject); err != nil {
					return err
				}
				if again, fresh, err := j.Append(entry); err != nil || fresh || again.Seq != rec.Seq {
					t.Errorf("again: %+v %v %v", again, fresh, err)
				}
			}
			page, err := j.ReadSubject("s1", head-2, 0)
			if err != nil || len(page) != 2 {
				t.Errorf("read inside: %v, %v", page, err)
			}
			return end
		})
	}
	if err := step(boom); err != boom {
		t.Fatal(err)
	}
	if head, err := e.Head(t.Context()); head != 10 || err != nil {
		t.Errorf("after a rollback the head is %d, %v", head, err)
	}
	rung := e.bell.Next()
	if err := step(nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-rung:
	default:
		t.Error("the commit rang nobody")
	}
	var projected []int64
	if err := e.d.View(t.Context(), func(tx *db.Tx) error {
		return tx.Each(`SELECT seq FROM projected`, nil, func(r db.Row) error {
			var n int64
			defer func() { projected = append(projected, n) }()
			return r.Scan(&n)
		})
	}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(projected, []int64{11, 12}) {
		t.Errorf("projected %v", projected)
	}
	clean(t, e)
}

// TestAppendNew appends under minted ids, several in one transaction. An id
// that is known after all stores nothing of the transaction.
func TestAppendNew(t *testing.T) {
	e := filled(t, 3)
	head, err := e.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add := func(ids ...string) error {
		return e.d.Update(t.Context(), func(tx *db.Tx) error {
			for _, id := range ids {
				if _, err := e.In(tx).AppendNew(mail(event.Derive("new", id), "s1")); err != nil {
					return nil // whoever goes on all the same commits nothing
				}
			}
			return nil
		})
	}
	if err := add("a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := add("c", "a"); err == nil {
		t.Error("a known id was taken for a new one")
	}
	if err := add("d"); err != nil {
		t.Fatal(err)
	}
	page, err := e.Read(t.Context(), head, 10)
	if err != nil || len(page) != 3 {
		t.Fatalf("%d records, %v", len(page), err)
	}
	for i, id := range []string{"a", "b", "d"} {
		if page[i].ID != event.Derive("new", id) || page[i].Seq != head+event.Seq(i)+1 {
			t.Errorf("record %d is %s", page[i].Seq, page[i].ID)
		}
	}
	if r, err := e.Verify(t.Context(), nil); err != nil || !r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestHalfAnAppendIsNotCommitted lets writing fail between the record and the
// state of its subject, and ignores the error.
func TestHalfAnAppendIsNotCommitted(t *testing.T) {
	e := filled(t, 3)
	edit(t, e, `CREATE TRIGGER no BEFORE UPDATE ON journal_head BEGIN SELECT raise(ABORT, 'no'); END`)
	err := e.d.Update(t.Context(), func(tx *db.Tx) error {
		e.In(tx).Append(mail(event.Derive("half"), "s"))
		return nil
	})
	if err == nil {
		t.Error("the transaction was committed")
	}
	edit(t, e, `DROP TRIGGER no`)
	if r := clean(t, e); r.Records != 3 {
		t.Errorf("%d records", r.Records)
	}
}

// TestWatchSeesOtherProcesses has no bell for what another connection appends.
func TestWatchSeesOtherProcesses(t *testing.T) {
	t.Parallel()
	e := filled(t, 1)
	other := openAt(t, e.d.Path())
	nudge := make(chan struct{}, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	seen, nudged, quick := 0, 0, false
	var appended time.Time
	for r, err := range e.Watch(ctx, 0, nudge) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; int(r.Seq) != seen {
			t.Fatalf("position %d is the %dth", r.Seq, seen)
		}
		took := time.Since(appended)
		if nudged > 0 && !quick {
			quick = took < journal.Sweep
		} else if quick {
			break // without a nudge the sweep found it
		}
		// A nudge is quicker than a sweep, though not always on a busy machine.
		ring := !quick && nudged < 20
		if ring {
			nudged++
		} else if !quick {
			t.Fatalf("the nudge took %v, and never less than a sweep", took)
		}
		appended = time.Now()
		id := event.Derive("nudge", strconv.Itoa(seen))
		time.AfterFunc(20*time.Millisecond, func() {
			if _, _, err := other.Append(ctx, mail(id, "x")); err != nil {
				t.Error(err)
			}
			if ring {
				nudge <- struct{}{}
			}
		})
	}
	if !quick || seen < 3 {
		t.Errorf("seen %d, nudged %d times", seen, nudged)
	}
}

func TestImportKeepsDigests(t *testing.T) {
	src := filled(t, 700)
	var file bytes.Buffer
	if _, err := journal.Export(t.Context(), src, &file, 0); err != nil {
		t.Fatal(err)
	}
	dst := openAt(t, filepath.Join(t.TempDir(), "journal.db"))
	if _, err := journal.Import(t.Context(), dst, &file, nil); err != nil {
		t.Fatal(err)
	}
	if a, b := clean(t, src), clean(t, dst); !reflect.DeepEqual(a, b) || a.Records != 700 {
		t.Errorf("%+v became %+v", a, b)
	}
}

func TestNewerFormat(t *testing.T) {
	e := filled(t, 3)
	isNewer := func(err error) {
		t.Helper()
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "written by a newer bureau") {
			t.Errorf("got %v", err)
		}
	}
	edit(t, e, `PRAGMA user_version=2`)
	d, err := db.Open(t.Context(), e.d.Path(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = Open(t.Context(), d)
	isNewer(err)
	// A process that has it open already notices with its next append.
	edit(t, e, `UPDATE journal_head SET format = 2`)
	_, _, err = e.Append(t.Context(), mail(event.Derive("x"), "s"))
	isNewer(err)
	if n := len(stored(t, e)); n != 3 {
		t.Errorf("%d records", n)
	}
}

func TestForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	d, err := db.Open(t.Context(), path, db.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Update(t.Context(), func(tx *db.Tx) error { return tx.Exec(`CREATE TABLE theirs(x)`) }); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), d); !fault.Is(err, fault.Unavailable) || !errors.Is(err, db.ErrForeign) {
		t.Errorf("got %v", err)
	}
	var tables int
	if err := d.View(t.Context(), func(tx *db.Tx) error {
		_, err := tx.One(`SELECT count(*) FROM sqlite_schema`, nil, &tables)
		return err
	}); err != nil || tables != 1 {
		t.Errorf("%d tables, %v", tables, err)
	}
}

// TestUnmarkedDatabase takes an empty database that was created without the
// application id, and marks it.
func TestUnmarkedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	d, err := db.Open(t.Context(), path, db.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, openAt(t, path))
}

func TestReadOnly(t *testing.T) {
	path := filled(t, 5).d.Path()
	d, err := db.Open(t.Context(), path, db.Options{ReadOnly: true, AppID: AppID})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e, err := Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(stored(t, e)); n != 5 {
		t.Errorf("%d records", n)
	}
	if _, _, err := e.Append(t.Context(), mail(event.Derive("x"), "s")); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	clean(t, e)
	// With nothing in it there is nothing to read.
	empty := filepath.Join(t.TempDir(), "empty.db")
	if d, err := db.Open(t.Context(), empty, options); err != nil || d.Close() != nil {
		t.Fatal(err)
	}
	d2, err := db.Open(t.Context(), empty, db.Options{ReadOnly: true, AppID: AppID})
	if err != nil {
		t.Fatal(err)
	}
	defer d2.Close()
	if _, err := Open(t.Context(), d2); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

// TestDamagedRow reads a journal with a torn record: the error says what to do.
func TestDamagedRow(t *testing.T) {
	e := filled(t, 5)
	edit(t, e, `UPDATE journal_record SET body = '[{' WHERE seq = 3`)
	_, err := e.Read(t.Context(), 0, 0)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "record 3") || !strings.Contains(fault.HintOf(err), "bureau doctor") {
		t.Errorf("got %v", err)
	}
	if page, err := e.Read(t.Context(), 3, 0); err != nil || len(page) != 2 {
		t.Errorf("what is after it: %v, %v", page, err)
	}
}

// TestQueriesUseIndexes keeps the cost of reading from growing with history.
func TestQueriesUseIndexes(t *testing.T) {
	e := filled(t, 5)
	err := e.d.View(t.Context(), func(tx *db.Tx) error {
		for where, want := range map[string]string{
			`seq > ?`:                 "USING INTEGER PRIMARY KEY (rowid>?)",
			`subject = ? AND seq > ?`: "USING INDEX journal_record_subject (subject=? AND rowid>?)",
			`id = ?`:                  "(id=?)",
		} {
			args := make([]any, strings.Count(where, "?"), 3)
			var plan []string
			err := tx.Each(`EXPLAIN QUERY PLAN SELECT `+columns+` FROM journal_record WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, 1), func(r db.Row) error {
				var id, parent, x int
				var detail string
				err := r.Scan(&id, &parent, &x, &detail)
				plan = append(plan, detail)
				return err
			})
			if err != nil {
				return err
			}
			if got := strings.Join(plan, "; "); !strings.Contains(got, want) || strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP B-TREE") {
				t.Errorf("%s: %s", where, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestModesOfTheFiles(t *testing.T) {
	e := filled(t, 1)
	for _, rest := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(e.d.Path() + rest)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", rest, info.Mode(), err)
		}
	}
}
