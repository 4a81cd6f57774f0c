package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
)

type (
	named    string
	position int64
	rawBytes []byte
)

func TestValues(t *testing.T) {
	d := notes(t)
	seven, none := position(7), (*position)(nil)
	err := d.Update(t.Context(), func(tx *Tx) error {
		if err := tx.Exec(`CREATE TABLE v(s, n, i, big, b, f, raw, empty, null1, null2, p, u)`); err != nil {
			return err
		}
		err := tx.Exec(`INSERT INTO v VALUES(?,?,?,?,?,?,?,?,?,?,?,?)`,
			"s\x00ä", named("n"), -5, int64(math.MinInt64), true, 1.5, rawBytes{0, 255}, []byte{}, nil, none, &seven, uint16(9))
		if err != nil {
			return err
		}
		var (
			s      string
			n      named
			i      int
			big    int64
			b      bool
			f      float64
			raw    rawBytes
			empty  []byte
			null1  any = "x"
			null2      = &seven
			p      *position
			u      uint8
			all    = []any{&s, &n, &i, &big, &b, &f, &raw, &empty, &null1, &null2, &p, &u}
			column any
		)
		found, err := tx.One(`SELECT * FROM v`, nil, all...)
		if !found || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		if s != "s\x00ä" || n != "n" || i != -5 || big != math.MinInt64 || !b || f != 1.5 || string(raw) != "\x00\xff" ||
			empty == nil || len(empty) != 0 || null1 != nil || null2 != nil || p == nil || *p != 7 || u != 9 {
			t.Errorf("got %q %q %d %d %v %v %q %v %v %v %v %d", s, n, i, big, b, f, raw, empty, null1, null2, p, u)
		}
		for sql, want := range map[string]any{
			`SELECT 1`: int64(1), `SELECT 1.5`: 1.5, `SELECT 'a'`: "a", `SELECT x'00'`: []byte{0}, `SELECT NULL`: nil,
		} {
			if _, err := tx.One(sql, nil, &column); err != nil || !reflect.DeepEqual(column, want) {
				t.Errorf("%s: %#v, %v", sql, column, err)
			}
		}
		// NULL clears, and no value is converted into something it is not.
		s, i, b = "x", 1, true
		if _, err := tx.One(`SELECT NULL, NULL, NULL`, nil, &s, &i, &b); err != nil || s != "" || i != 0 || b {
			t.Errorf("NULL gave %q %d %v, %v", s, i, b, err)
		}
		var small int8
		for sql, to := range map[string]any{
			`SELECT 'a'`: &i, `SELECT 1`: &s, `SELECT 1.5`: &big, `SELECT x'01'`: &b, `SELECT 'f'`: &f,
			`SELECT 2`: &raw, `SELECT 300`: &small, `SELECT -1`: &u, `SELECT 1 `: s, `SELECT 1, 2`: &i,
		} {
			if _, err := tx.One(sql, nil, to); err == nil {
				t.Errorf("%s went into %T", sql, to)
			}
		}
		when := time.Date(2031, 2, 3, 4, 5, 6, 7_999_999, time.FixedZone("x", 3600))
		var back, zero time.Time
		var maybe *time.Time
		if _, err := tx.One(`SELECT ?, ?, ?`, []any{when, time.Time{}, &when}, &back, &zero, &maybe); err != nil {
			t.Error(err)
		} else if want := when.UTC().Truncate(time.Millisecond); back != want || !zero.IsZero() || maybe == nil || *maybe != want {
			t.Errorf("times %v %v %v", back, zero, maybe)
		}
		for _, args := range [][]any{{}, {1, 2}, {uint64(math.MaxUint64)}, {struct{}{}}} {
			if err := tx.Exec(`INSERT INTO note(text) VALUES(?)`, args...); err == nil {
				t.Errorf("%v was stored", args)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStatements(t *testing.T) {
	d := notes(t)
	err := d.Update(t.Context(), func(tx *Tx) error {
		if err := tx.Exec(`
			CREATE TABLE a(x); -- one
			CREATE TRIGGER tr AFTER INSERT ON a BEGIN INSERT INTO note(text) VALUES('by trigger; ' || new.x); END;
			INSERT INTO a VALUES('1;2');
			-- the end`); err != nil {
			return err
		}
		if tx.Changes() != 1 {
			t.Errorf("%d changes", tx.Changes())
		}
		if err := tx.Exec(`INSERT INTO a VALUES('x'); BAD`); err == nil || !strings.Contains(err.Error(), "BAD") {
			t.Errorf("an error names its statement: %v", err)
		}
		if err := tx.Exec(`INSERT INTO a VALUES(?); INSERT INTO a VALUES(2)`, 1); err == nil {
			t.Error("several statements with arguments")
		}
		if err := tx.Exec(``); err == nil {
			t.Error("no statement")
		}
		// More statements than the cache keeps.
		for i := range 3 * maxStmts {
			var got int
			if _, err := tx.One(fmt.Sprintf(`SELECT %d`, i), nil, &got); err != nil || got != i {
				return fmt.Errorf("%d: %d, %w", i, got, err)
			}
		}
		if n := len(d.stmts.byText); n > maxStmts {
			t.Errorf("%d statements are kept", n)
		}
		return tx.Exec(`UPDATE note SET text = 'x'`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, d); n != 2 {
		t.Errorf("%d notes, want 2", n)
	}
}

func TestEachMayRunOtherStatements(t *testing.T) {
	d := notes(t)
	err := d.Update(t.Context(), func(tx *Tx) error {
		for n := range 3 {
			if err := tx.Exec(`INSERT INTO note(n, text) VALUES(?, 'a')`, n+1); err != nil {
				return err
			}
		}
		const q = `SELECT n FROM note WHERE n > ? ORDER BY n`
		var seen []int
		var descend func(after int) error
		descend = func(after int) error {
			return tx.Each(q, []any{after}, func(r Row) error {
				var n int
				if err := r.Scan(&n); err != nil {
					return err
				}
				seen = append(seen, n)
				if err := tx.Exec(`UPDATE note SET text = text || 'b' WHERE n = ?`, n); err != nil {
					return err
				}
				return descend(n)
			})
		}
		if err := descend(0); err != nil {
			return err
		}
		if want := []int{1, 2, 3, 3, 2, 3, 3}; !reflect.DeepEqual(seen, want) {
			t.Errorf("seen %v, want %v", seen, want)
		}
		stop := errors.New("stop")
		if err := tx.Each(q, []any{0}, func(Row) error { return stop }); err != stop {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	d := notes(t)
	boom := errors.New("boom")
	insert := func(tx *Tx) {
		if err := tx.Exec(`INSERT INTO note(text) VALUES('x')`); err != nil {
			t.Error(err)
		}
	}
	committed := 0
	if err := d.Update(t.Context(), func(tx *Tx) error {
		insert(tx)
		tx.OnCommit(func() { committed++ })
		return boom
	}); err != boom {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() {
			if recover() != boom {
				t.Error("the panic was swallowed")
			}
		}()
		d.Update(t.Context(), func(tx *Tx) error { insert(tx); panic(boom) })
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if err := d.Update(ctx, func(tx *Tx) error { insert(tx); cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if err := d.Update(t.Context(), func(tx *Tx) error {
		insert(tx)
		return tx.Exec(`ROLLBACK`)
	}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a transaction that ended early: %v", err)
	}
	if err := d.Update(t.Context(), func(tx *Tx) error {
		insert(tx)
		tx.Abort(boom)
		tx.Abort(errors.New("later"))
		return nil
	}); err != boom {
		t.Errorf("aborted: %v", err)
	}
	if n := count(t, d); n != 0 || committed != 0 {
		t.Errorf("%d notes, %d calls", n, committed)
	}
	var kept *Tx
	if err := d.Update(t.Context(), func(tx *Tx) error {
		insert(tx)
		tx.OnCommit(func() { committed++ })
		kept = tx
		return nil
	}); err != nil || committed != 1 {
		t.Fatalf("%v, %d calls", err, committed)
	}
	if err := kept.Exec(`DELETE FROM note`); err == nil {
		t.Error("a transaction works after its end")
	}
	if err := d.View(t.Context(), func(tx *Tx) error { return tx.Exec(`DELETE FROM note`) }); err == nil {
		t.Error("a View writes")
	}
	if n := count(t, d); n != 1 {
		t.Errorf("%d notes", n)
	}
}

func TestViewIsASnapshot(t *testing.T) {
	d := notes(t)
	other := open(t, d.Path(), Options{AppID: testApp})
	err := d.View(t.Context(), func(tx *Tx) error {
		var before, after int
		if _, err := tx.One(`SELECT count(*) FROM note`, nil, &before); err != nil {
			return err
		}
		update(t, other, `INSERT INTO note(text) VALUES('x')`)
		if _, err := tx.One(`SELECT count(*) FROM note`, nil, &after); err != nil {
			return err
		}
		if before != after {
			t.Errorf("%d became %d inside a View", before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, d); n != 1 {
		t.Errorf("%d notes", n)
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]Options{
		"2": {Create: true},
		"0": {Create: true, Sync: Off},
	} {
		d := open(t, filepath.Join(dir, name), o)
		err := d.Update(t.Context(), func(tx *Tx) error {
			var sync, cache, auto, limit int64
			var mode string
			for sql, to := range map[string]any{
				`PRAGMA synchronous`: &sync, `PRAGMA journal_mode`: &mode, `PRAGMA cache_size`: &cache,
				`PRAGMA wal_autocheckpoint`: &auto, `PRAGMA journal_size_limit`: &limit,
			} {
				if _, err := tx.One(sql, nil, to); err != nil {
					return err
				}
			}
			if fmt.Sprint(sync) != name || mode != "wal" || cache != -DefaultCacheKB || auto != walPages || limit != walKeep {
				t.Errorf("synchronous %d, journal_mode %s, cache_size %d, wal_autocheckpoint %d, journal_size_limit %d", sync, mode, cache, auto, limit)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestVersion: what the header of the file says when it is opened.
func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	d := open(t, path, creating)
	if d.Version() != 0 {
		t.Errorf("a new file has version %d", d.Version())
	}
	update(t, d, `PRAGMA user_version=7`)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if v := open(t, path, creating).Version(); v != 7 {
		t.Errorf("version %d", v)
	}
	if v := open(t, path, Options{}).Version(); v != 0 {
		t.Errorf("version %d of a file that may be anybody's", v)
	}
}

func TestLastID(t *testing.T) {
	d := notes(t)
	err := d.Update(t.Context(), func(tx *Tx) error {
		for want := int64(1); want <= 3; want++ {
			if err := tx.Exec(`INSERT INTO note(text) VALUES('x')`); err != nil {
				return err
			}
			if id := tx.LastID(); id != want {
				t.Errorf("row %d, want %d", id, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
