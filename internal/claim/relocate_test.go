package claim

import (
	"testing"

	"bureau/internal/event"
)

// TestRelocate: what a moved work tree held goes along, what was lost there too;
// nothing is put where somebody else holds the same, and nothing that was not
// meant.
func TestRelocate(t *testing.T) {
	book := NewBook()
	now, seq := start, event.Seq(0)
	do := func(by By, c Command) {
		t.Helper()
		d, err := Decide(book, by, c, now, Evidence{})
		seq++
		for _, e := range d.Events {
			if _, err := Apply(book, e, now, seq); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	take := func(by, id, tree string, mode Mode, path Pattern) {
		t.Helper()
		do(By{Agent: event.ID(by)}, Take{ID: event.ID(id), Want: Want{Paths: []Pattern{path}, Mode: mode, Tree: tree}, Intent: "x"})
	}
	take("ana", "SRC", "/w2", Exclusive, "src")
	take("ana", "DOCS", "/w2", Exclusive, "docs")
	take("ana", "LIB", "/w2", Shared, "lib")
	take("ana", "OWN", "/w2", Exclusive, "own")
	take("ana", "REST", "/w2", Exclusive, "rest")
	take("ana", "LOST", "/w2", Exclusive, "lost")
	take("ana", "OTHER", "/w4", Exclusive, "other")
	do(By{Agent: "user", Human: true}, Release{Claims: []event.ID{"LOST"}})
	take("bob", "B1", "/w3", Exclusive, "src/a.go")
	take("bob", "B2", "/w3", Shared, "lib")
	take("ana", "A1", "/w3", Exclusive, "own/a.go")

	do(By{}, Relocate{Trees: map[string]string{"/w2": "/w3"}, Only: []event.ID{"SRC", "DOCS", "LIB", "OWN", "LOST"}})
	for id, tree := range map[event.ID]string{"SRC": "/w2", "DOCS": "/w3", "LIB": "/w3", "OWN": "/w3", "REST": "/w2", "OTHER": "/w4", "B1": "/w3"} {
		if c, found, _ := book.Claim(id); !found || c.Tree != tree {
			t.Errorf("%s is in %q, want %q", id, c.Tree, tree)
		}
	}
	do(By{}, Relocate{Trees: map[string]string{"/w2": "/w3"}})
	for id, tree := range map[event.ID]string{"SRC": "/w2", "REST": "/w3"} {
		if c, found, _ := book.Claim(id); !found || c.Tree != tree {
			t.Errorf("%s is in %q, want %q", id, c.Tree, tree)
		}
	}
	if lost, _ := book.Lost("ana"); len(lost) != 1 || lost[0].ID != "LOST" || lost[0].Tree != "/w3" {
		t.Errorf("lost: %+v", lost)
	}
}
