package projection

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/db"
	"bureau/internal/event"
)

// TestClaimTablesAreTheBook: the tables hold what the rules' own book holds
// after the same events, and the overlap index finds every claim that a want
// can meet.
func TestClaimTablesAreTheBook(t *testing.T) {
	s := newStore(t)
	s.advance(Batch)
	book := claim.NewBook()
	rnd := rand.New(rand.NewPCG(7, 11))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	want := func() claim.Want {
		w := claim.Want{Mode: claim.Mode(pick("exclusive", "exclusive", "shared")), Tree: pick("/p", "/p", "/w"), Fold: rnd.IntN(4) == 0}
		for range 1 + rnd.IntN(2) {
			p, err := claim.ParsePattern(pick("src", "src/a.go", "SRC/A.go", "src/**/*.go", "**/*.go", ".", "src2", "src/ü", "doc/[a-c]*.md", "doc"))
			if err != nil {
				t.Fatal(err)
			}
			w.Paths = append(w.Paths, p)
		}
		if rnd.IntN(4) == 0 {
			w.Resources = append(w.Resources, claim.Resource(pick("gpu:0", "port:8080")))
		}
		return w
	}
	text := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	people := []event.ID{"ana", "bob", "carla"}
	for i := range 400 {
		who := people[rnd.IntN(3)]
		id := event.ID(fmt.Sprintf("CLAIM%05d", i))
		var c claim.Command
		live := book.Live()
		switch n := rnd.IntN(10); {
		case n < 5 || len(live) == 0:
			c = claim.Take{ID: id, Want: want(), Intent: "x", Wait: event.ID(fmt.Sprintf("WAIT%05d", i)), Until: s.now.Add(time.Minute)}
		case n < 6:
			c = claim.EndSession{}
		case n < 7:
			w := want()
			c = claim.Change{Claim: live[rnd.IntN(len(live))].ID, Want: &w}
		case n < 8:
			c = claim.Takeover{Claim: live[rnd.IntN(len(live))].ID, ID: id, Break: true}
		case n < 9:
			r := claim.DefaultRules()
			r.Grace = time.Duration(1+rnd.IntN(60)) * time.Second
			c = claim.SetRules{Rules: r}
		default:
			c = claim.Release{Claims: []event.ID{live[rnd.IntN(len(live))].ID}}
		}
		s.now = s.now.Add(time.Duration(rnd.IntN(20)) * time.Second)
		by := claim.By{Agent: who, Human: rnd.IntN(2) == 0}
		d, _ := claim.Decide(book, by, c, s.now, claim.Evidence{})
		if len(d.Events) == 0 {
			continue
		}
		s.append(event.ClaimsSubject("P"), d.Events...)
		s.advance(Batch)
		s.view(func(tx *db.Tx) error {
			recs, err := s.j.In(tx).Read(0, 10000)
			if err != nil {
				return err
			}
			last := recs[len(recs)-1]
			for _, e := range d.Events {
				if known, err := claim.Apply(book, e, last.Time, last.Seq); err != nil || !known {
					t.Fatalf("%v %v", known, err)
				}
			}
			table := s.p.Claims(tx, "P")
			got, err := table.Live(true, LiveCursor{}, -1)
			if err != nil {
				return err
			}
			if g, w := text(got), text(book.Live()); g != w {
				t.Fatalf("step %d\n got %s\nwant %s", i, g, w)
			}
			var paged []claim.Claim
			for at := (LiveCursor{}); ; {
				page, err := table.Live(true, at, 3)
				if err != nil {
					return err
				}
				if len(page) == 0 {
					break
				}
				paged = append(paged, page...)
				at = LiveCursor{Token: page[len(page)-1].Token, ID: page[len(page)-1].ID}
			}
			if g, w := text(paged), text(book.Live()); g != w && len(paged) > 0 {
				t.Fatalf("step %d, by pages\n got %s\nwant %s", i, g, w)
			}
			if n, err := table.Count(true); err != nil || n != len(got) {
				t.Fatalf("step %d: %d counted, %v", i, n, err)
			}
			waits, err := table.Waits()
			if err != nil {
				return err
			}
			booked, _ := book.Waits()
			if g, w := text(waits), text(booked); g != w && len(waits)+len(booked) > 0 {
				t.Fatalf("step %d: waits\n got %s\nwant %s", i, g, w)
			}
			rules, err := table.Rules()
			if br, _ := book.Rules(); err != nil || rules != br {
				t.Fatalf("step %d: %v, %v", i, rules, err)
			}
			for _, p := range people {
				lost, err := table.Lost(p)
				if err != nil {
					return err
				}
				bl, _ := book.Lost(p)
				if len(lost) != len(bl) {
					t.Fatalf("step %d: %s lost %s, want %s", i, p, text(lost), text(bl))
				}
				held, err := table.Held(p)
				if err != nil {
					return err
				}
				bh, _ := book.Held(p)
				if g, w := text(held), text(bh); g != w && len(held)+len(bh) > 0 {
					t.Fatalf("step %d: %s holds %s, want %s", i, p, g, w)
				}
				if n, err := table.HeldCount(p); err != nil || n != len(bh) {
					t.Fatalf("step %d: %s holds %d, want %d, %v", i, p, n, len(bh), err)
				}
				// What a guard says does not depend on which claims it reads.
				file := pick("src/a.go", "SRC/A.go", "src", "src2", "doc/a.md", "doc/z.md", "new")
				few := claim.Edit{Paths: []string{file}, IDs: []event.ID{"AUTO"}, Tree: pick("/p", "/w"), Fold: rnd.IntN(4) == 0}
				many := few
				for range 9 {
					many.Paths, many.IDs = append(many.Paths, file), append(many.IDs, "AUTO")
				}
				sub := claim.By{Agent: p, For: people[rnd.IntN(3)]}
				one, err1 := claim.Decide(table, sub, few, s.now, claim.Evidence{})
				all, err2 := claim.Decide(book, sub, many, s.now, claim.Evidence{})
				if one.Known != all.Known || text(one.Shares) != text(all.Shares) || (err1 == nil) != (err2 == nil) {
					t.Fatalf("step %d: %s edits %s: %+v, %v\nas one of many: %+v, %v", i, p, file, one, err1, all, err2)
				}
			}
			asked := want()
			asked.Mode = claim.Exclusive
			near, err := table.Touching(&asked)
			if err != nil {
				return err
			}
			found := map[event.ID]bool{}
			for _, c := range near {
				found[c.ID] = true
			}
			for _, c := range got {
				if len(claim.Overlapping(&asked, &c.Want, false)) > 0 && !found[c.ID] {
					t.Fatalf("step %d: %v meets %v and was not found", i, asked, c.Want)
				}
			}
			others, err := s.p.Claims(tx, "other").Touching(&asked)
			for _, c := range others {
				if !c.Elsewhere || len(c.Resources) == 0 {
					t.Fatalf("step %d: another project's claim %v", i, c)
				}
			}
			if err != nil {
				return err
			}
			return nil
		})
	}
	if list := s.compare(); len(list) > 0 {
		t.Fatal(list)
	}
}
