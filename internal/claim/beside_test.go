package claim

import (
	"slices"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// TestSharedClaims: whoever has a shared claim may change what it covers, is told
// who else may, and stands in nobody's way who has one too; so do the subagents
// of those who have one. Whoever has none is kept out. It is the same in a
// project within.
func TestSharedClaims(t *testing.T) {
	const in = "/p/libs/foo"
	for _, c := range []struct {
		name, tree, path string
		within           bool // the claims are of the project around
	}{
		{"in the project", "/p", "libs/l", false},
		{"in a project within", in, "f", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNest()
			share := func(who string) {
				t.Helper()
				if _, err := n.do(t, "/p", who, Take{ID: n.id("claim"), Want: Want{Paths: []Pattern{"libs"}, Mode: Shared, Tree: "/p"}, Intent: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			names := func(d Decision) (out []string) {
				for _, b := range d.Shares {
					out = append(out, string(b.Holder)+" "+strings.Join(b.Overlap, ","))
				}
				return out
			}
			share("ana")
			if d, err := n.edit(t, c.tree, "ana", c.path); err != nil || !d.Known || len(d.Shares)+len(d.Events) > 0 {
				t.Errorf("alone: %+v, %v", d, err)
			}
			share("bob")
			for _, who := range []string{"ana", "bob", "ana.sub"} {
				other := "bob"
				if who == "bob" {
					other = "ana"
				}
				d, err := n.edit(t, c.tree, who, c.path)
				if err != nil || len(d.Events) > 0 || !slices.Equal(names(d), []string{other + " libs"}) {
					t.Errorf("%s edits: %q, %+v, %v", who, names(d), d.Events, err)
				}
				d, err = n.do(t, c.tree, who, Check{Paths: []string{c.path}, Tree: c.tree})
				if err != nil || !slices.Equal(names(d), []string{other + " " + c.path}) {
					t.Errorf("%s commits: %q, %v", who, names(d), err)
				}
			}
			if _, err := n.edit(t, c.tree, "tim", c.path); !fault.Is(err, fault.Conflict) {
				t.Errorf("tim edits without a claim: %v", err)
			}
			if d, err := n.do(t, c.tree, "tim", Check{Paths: []string{c.path}, Tree: c.tree}); !fault.Is(err, fault.Conflict) || len(d.Blocks) != 2 {
				t.Errorf("tim commits without a claim: %+v, %v", d.Blocks, err)
			}
			// What a subagent claimed is its session's, too, when the session commits.
			n = newNest()
			share("ana.sub")
			share("bob")
			d, err := n.do(t, c.tree, "ana", Check{Paths: []string{c.path}, Tree: c.tree})
			if err != nil || !slices.Equal(names(d), []string{"bob " + c.path}) {
				t.Errorf("the session of a subagent commits: %q, %v", names(d), err)
			}
		})
	}
}

// TestSharedClaimsOfBoth: one has the folder and the other the file, in the
// project within; the guard there is off, or it is not.
func TestSharedClaimsOfBoth(t *testing.T) {
	const in = "/p/libs/foo"
	for _, guard := range []Guard{Auto, Off} {
		n := newNest()
		n.books[in].rules.Guard = guard
		for who, w := range map[string]Want{"ana": {Paths: []Pattern{"libs"}, Tree: "/p"}, "bob": {Paths: []Pattern{"f"}, Tree: in}} {
			w.Mode = Shared
			if _, err := n.do(t, w.Tree, who, Take{ID: event.ID(who), Want: w, Intent: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		for who, want := range map[string]event.ID{"ana": "bob", "bob": "ana"} {
			if guard == Off && who == "ana" {
				want = "" // that guard says nothing
			}
			for _, c := range []Command{Edit{Paths: []string{"f"}, IDs: []event.ID{n.id("auto")}, Tree: in}, Check{Paths: []string{"f"}, Tree: in}} {
				d, err := n.do(t, in, who, c)
				if err != nil || len(d.Events) > 0 || (want == "") != (len(d.Shares) == 0) || want != "" && d.Shares[0].Claim != want {
					t.Errorf("guard %s, %s, %T: %+v, %v", guard, who, c, d.Shares, err)
				}
			}
		}
	}
}
