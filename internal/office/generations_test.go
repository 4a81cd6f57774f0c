package office

import (
	"context"
	"sync"
	"testing"

	"bureau/internal/db"
	"bureau/internal/fault"
)

// mark puts a row into the tables that a rebuild would lose.
func (d *desk) mark() {
	d.t.Helper()
	err := d.store.Update(context.Background(), func(tx *db.Tx) error {
		return tx.Exec(`INSERT INTO "` + d.tables.Prefix() + `meta" (key, value) VALUES ('mark', 1)`)
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// marked reports whether the tables are still the ones that were marked.
func (d *desk) marked() (found bool) {
	d.t.Helper()
	err := d.store.View(context.Background(), func(tx *db.Tx) (err error) {
		found, err = tx.One(`SELECT 1 FROM "`+d.tables.Prefix()+`meta" WHERE key = 'mark'`, nil, new(int))
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return found
}

// TestTwoGenerationsOnOneStore: processes of two versions take turns on one
// store. Each reads its own tables, so each decides on all that the other did.
func TestTwoGenerationsOnOneStore(t *testing.T) {
	schedules(t, func(t *testing.T, seed uint64) {
		c := newClock()
		old := openDesk(t, Options{Now: c.now, Generation: 1})
		young := old.beside(Options{Generation: 2})
		old.mark()
		young.mark()
		s := newSchedule(t, seed, c, false, old, young)
		for range 2 {
			s.run(100)
			s.check()
		}
		if !old.marked() || !young.marked() {
			t.Error("a generation was built again")
		}
	})
}

// TestTwoGenerationsAtOnce is the same with both at work at the same moment.
func TestTwoGenerationsAtOnce(t *testing.T) {
	c := newClock()
	first := openDesk(t, Options{Now: c.now, Generation: 1})
	first.user() // registers the projects' people before the two part
	var desks []*desk
	for i := range 4 {
		desks = append(desks, first.beside(Options{Generation: 1 + i%2}))
	}
	first.mark()
	desks[1].mark()
	var wg sync.WaitGroup
	for i, d := range desks {
		s := newSchedule(t, uint64(100+i), c, false, d)
		wg.Go(func() {
			for range 60 {
				what, err := s.step()
				if err != nil && fault.Is(err, fault.Unavailable) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	wg.Wait()
	for _, d := range desks {
		d.sound()
	}
	if !first.marked() || !desks[1].marked() {
		t.Error("a generation was built again")
	}
}

// TestTablesVanish drops tables, one at a time and all, while the office is
// open in two processes: what comes next, a look or a change, repairs them.
func TestTablesVanish(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	s := newSchedule(t, 3, c, false, d)
	s.run(60)
	ana, bob := d.agent("ana"), d.agent("bob")
	first := d.send(ana, "bob", "the first")
	other := d.beside(Options{})
	var tables []string
	err := d.store.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '`+d.tables.Prefix()+`*'`, nil, func(r db.Row) error {
			var name string
			err := r.Scan(&name)
			tables = append(tables, name)
			return err
		})
	})
	if err != nil || len(tables) < 10 {
		t.Fatalf("%v, %v", tables, err)
	}
	drop := func(names ...string) {
		t.Helper()
		err := other.store.Update(ctx, func(tx *db.Tx) error {
			for _, n := range names {
				if err := tx.Exec(`DROP TABLE "` + n + `"`); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	acts := []func(d *desk) error{
		func(d *desk) error {
			return ignore(d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("hello")}))
		},
		func(d *desk) error { return ignore(d.Inbox(ctx, bob, true, Page{})) },
		func(d *desk) error { return ignore(d.Ack(ctx, bob, []string{string(first.ID)})) },
		func(d *desk) error { return ignore(d.BoardSet(ctx, ana, "office", "k", "v", nil)) },
		func(d *desk) error { return ignore(d.Who(ctx, "ana")) },
	}
	try := func(what string, act int) {
		t.Helper()
		if err := acts[act](d); err != nil {
			t.Errorf("%s gone, then act %d: %v", what, act, err)
		}
		if err := acts[0](other); err != nil {
			t.Errorf("%s gone, then a change elsewhere: %v", what, err)
		}
		d.sound()
	}
	for i, table := range tables {
		drop(table)
		try(table, i%len(acts))
	}
	for i := range acts {
		drop(tables...)
		try("all tables", i)
	}
	for _, thing := range []string{"INDEX " + d.tables.Prefix() + "message_thread", "TRIGGER " + d.tables.Prefix() + "receipt_update"} {
		if err := other.store.Update(ctx, func(tx *db.Tx) error { return tx.Exec("DROP " + thing) }); err != nil {
			t.Fatal(err)
		}
		try(thing, 2)
	}
	// Tables without their position say nothing.
	if err := other.store.Update(ctx, func(tx *db.Tx) error { return tx.Exec(`DELETE FROM ` + d.tables.Prefix() + `meta`) }); err != nil {
		t.Fatal(err)
	}
	try("the position", 1)
}

func ignore[T any](_ T, err error) error { return err }
