package office

import (
	"fmt"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// rows counts what the store reads from now on.
func (d *desk) rows() *int {
	d.t.Helper()
	n := new(int)
	err := d.store.Extend("trace", func(c *sqlite3.Conn) error {
		return c.Trace(sqlite3.TRACE_ROW, func(sqlite3.TraceEvent, any, any) error {
			*n++
			return nil
		})
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// TestAnEditCostsTheSameHoweverManyWereMade: what a session was allowed to edit
// before, and so holds, is not read again for each further file.
func TestAnEditCostsTheSameHoweverManyWereMade(t *testing.T) {
	ctx := t.Context()
	d := openDesk(t, Options{})
	ana := d.agent("ana")
	p := Project{ID: "P", Name: "p", Root: "/p"}
	n := 0
	edit := func() {
		t.Helper()
		n++
		a, err := d.MayEdit(ctx, ana, p, Editing{Paths: []string{fmt.Sprintf("src/f%d.go", n)}, Tree: "/p"})
		if err != nil || len(a.Made) != 1 {
			t.Fatalf("edit %d: %+v, %v", n, a, err)
		}
	}
	rows := d.rows()
	measure := func() int {
		*rows = 0
		edit()
		return *rows
	}
	edit()
	edit()
	few := measure()
	for n < 200 {
		edit()
	}
	if many := measure(); few == 0 || many > few {
		t.Errorf("the edit of one more file reads %d rows after 200 others, %d after 2", many, few)
	}
}

// TestAnEditCostsTheSameAmongManyProjects: projects in which nobody holds
// anything are not looked at.
func TestAnEditCostsTheSameAmongManyProjects(t *testing.T) {
	ctx := t.Context()
	d := openDesk(t, Options{})
	ana := d.agent("ana")
	rows := d.rows()
	edit := func(p Project, file string) Allowed {
		t.Helper()
		p, err := d.SettleProject(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.MayEdit(ctx, ana, p, Editing{Paths: []string{file}, Tree: p.Root})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	n := 0
	measure := func() int {
		n++
		*rows = 0
		edit(Project{Name: "p", Root: "/p"}, fmt.Sprintf("f%d.go", n))
		return *rows
	}
	measure()
	few := measure()
	for i := range 100 {
		p := Project{Name: fmt.Sprint("p", i), Root: fmt.Sprintf("/x/p%d", i)}
		if i%2 == 0 {
			p.ID = fmt.Sprint("named", i) // as a file in it says
		}
		if err := d.GiveBack(ctx, ana, edit(p, "a").Made); err != nil {
			t.Fatal(err)
		}
	}
	if many := measure(); few == 0 || many > few {
		t.Errorf("an edit reads %d rows with 100 other projects, %d with none", many, few)
	}
}
