package claim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// nest is a project with two others within it, one of them in the other.
type nest struct {
	books map[string]*Book // by work tree
	now   time.Time
	seq   event.Seq
	next  int
	gone  string // whoever is this one, or works for it, has died
}

var nestTrees = []string{"/p", "/p/libs/foo", "/p/libs/foo/in"}

func newNest() *nest {
	n := &nest{books: map[string]*Book{}, now: start}
	for _, tree := range nestTrees {
		n.books[tree] = NewBook()
	}
	return n
}

// do decides a command on the claims of a work tree, by what the others hold.
func (n *nest) do(t interface{ Fatalf(string, ...any) }, tree, who string, c Command) (Decision, error) {
	ev := Evidence{Waiting: func(*Wait) bool { return true }, Probes: map[event.ID]Probe{}}
	ev.Sign = func(c *Claim) Sign {
		if main, _, _ := strings.Cut(string(c.Holder), "."); main == n.gone {
			return Sign{Process: Gone}
		}
		return Sign{Process: Alive}
	}
	for _, b := range n.books {
		for _, c := range b.Live() {
			if n.gone != "" {
				ev.Probes[c.ID] = Probe{Verdict: ProbeFree, Saw: "nothing", At: n.now}
				if strings.HasPrefix(c.Intent, "runs") {
					ev.Probes[c.ID] = Probe{Verdict: ProbeBusy, Saw: "it runs", At: n.now}
				}
			}
		}
	}
	for _, other := range slices.Backward(nestTrees) { // the nearest first
		o := Other{Scope: other, Name: other, View: n.books[other], Tree: other}
		o.Around = strings.HasPrefix(tree, other+"/")
		if o.Around || !guards(c) && strings.HasPrefix(other, tree+"/") {
			ev.Others = append(ev.Others, o)
		}
	}
	ev.Elsewhere = func(event.ID) (views []View, err error) {
		for _, other := range nestTrees {
			if other != tree {
				views = append(views, n.books[other])
			}
		}
		return views, nil
	}
	d, err := Decide(n.books[tree], n.by(who), c, n.now, ev)
	n.seq++
	fold := func(tree string, e event.Event) {
		if known, aerr := Apply(n.books[tree], e, n.now, n.seq); aerr != nil || !known {
			t.Fatalf("%s: %v, %v", e.Kind, known, aerr)
		}
	}
	for _, e := range d.Ends {
		fold(e.Scope, event.New(KindEnded, e.EndedClaim))
	}
	for _, m := range d.Moves {
		fold(m.Scope, event.New(KindMoved, m.MovedClaim))
	}
	for _, e := range d.Events {
		fold(tree, e)
	}
	return d, err
}

// guards reports whether a command is a guard's, which asks no projects within.
func guards(c Command) bool {
	switch c.(type) {
	case Edit, Check:
		return true
	}
	return false
}

// by is who acts; ana.sub is a subagent of ana.
func (n *nest) by(who string) By {
	main, _, sub := strings.Cut(who, ".")
	b := By{Agent: event.ID(who), Conversations: []string{"claude:" + main}}
	if sub {
		b.For, b.Conversations = event.ID(main), []string{"claude:" + main + "/1", "claude:" + main}
	}
	return b
}

func (n *nest) id(what string) event.ID {
	n.next++
	return event.ID(fmt.Sprintf("%s%04d", what, n.next))
}

func (n *nest) take(t interface{ Fatalf(string, ...any) }, tree, who string, paths ...Pattern) (Decision, error) {
	return n.do(t, tree, who, Take{ID: n.id("claim"), Want: Want{Paths: paths, Mode: Exclusive, Tree: tree}, Intent: "x"})
}

func (n *nest) edit(t interface{ Fatalf(string, ...any) }, tree, who, path string) (Decision, error) {
	return n.do(t, tree, who, Edit{Paths: []string{path}, IDs: []event.ID{n.id("auto")}, Tree: tree})
}

// covers reports whether a want means a file, by its whole path.
func coversWhole(w *Want, file string) bool {
	rest, ok := strings.CutPrefix(file, w.Tree+"/")
	return ok && w.Holds(rest, w.Tree)
}

// home gives the work tree that a file lies in.
func home(file string) (tree, path string) {
	for _, tree := range slices.Backward(nestTrees) {
		if rest, ok := strings.CutPrefix(file, tree+"/"); ok {
			return tree, rest
		}
	}
	return "", ""
}

// TestNestedProjectsKeepApart: whatever is claimed, edited and given up in a
// project and in those within it, no file is held by two, an edit goes through
// only where nobody else holds the file, and nothing is refused for nothing.
func TestNestedProjectsKeepApart(t *testing.T) {
	files := []string{"/p/top", "/p/libs/l", "/p/libs/foo/f", "/p/libs/foo/x/f", "/p/libs/foo/in/f", "/p/libs/foo/in/x/g", "/p/libsy/foo/f"}
	plain := []Pattern{Root, "libs", "libs/l", "libs/foo", "libs/foo/in", "libs/foo/x/f", "libsy", "top", "f", "x", "x/f", "in", "in/f", "x/g"}
	globs := []Pattern{"**/f", "libs/*/x", "*/l", "libs/**/g", "l*", "in/*"}
	rapid.Check(t, func(t *rapid.T) {
		n := newNest()
		live := func() (all []Claim) {
			for _, tree := range nestTrees {
				all = append(all, n.books[tree].Live()...)
			}
			return all
		}
		// A file that is edited might be a folder for all that its name says, so a
		// pattern that means something below it is in the way too.
		exactly := func() bool {
			return !slices.ContainsFunc(live(), func(c Claim) bool {
				return slices.ContainsFunc(c.Paths, func(p Pattern) bool { _, ok := p.plain(); return !ok && p != Root })
			})
		}
		over := func(c *Claim) bool { return c.Auto && n.now.Sub(c.Renewed) >= c.TTL }
		// inTheWay gives those who keep somebody out of a file, and the claims that
		// are shared like all of its own there.
		inTheWay := func(file, agent string) (by []string, beside []event.ID) {
			holds, whole := false, false
			for _, c := range live() {
				if coversWhole(&c.Want, file) && string(c.Holder) == agent {
					holds, whole = true, whole || c.Mode == Exclusive
				}
			}
			for _, c := range live() {
				switch {
				case !coversWhole(&c.Want, file) || string(c.Holder) == agent || over(&c):
				case holds && !whole && c.Mode == Shared:
					beside = append(beside, c.ID)
				default:
					by = append(by, string(c.Holder))
				}
			}
			return by, beside
		}
		named := func(t *rapid.T, agent, file string, d Decision, err error, beside []event.ID) {
			var got []event.ID
			for _, b := range d.Shares {
				got = append(got, b.Claim)
			}
			slices.Sort(got)
			slices.Sort(beside)
			if err == nil && !slices.Equal(got, beside) {
				t.Fatalf("%s changes %s beside %q, and is told of %q", agent, file, beside, got)
			}
		}
		lost := func(err error) bool { return strings.Contains(err.Error(), "passes no more") } // a dead token
		who := func(t *rapid.T) string { return rapid.SampledFrom([]string{"ana", "bob", "tim"}).Draw(t, "who") }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				all := live()
				for i := range all {
					for j := range all[:i] {
						a, b := &all[i], &all[j]
						if a.Holder == b.Holder || a.Mode == Shared && b.Mode == Shared {
							continue
						}
						for _, f := range files {
							if coversWhole(&a.Want, f) && coversWhole(&b.Want, f) {
								t.Fatalf("%s (%s %q) and %s (%s %q) both hold %s", a.Holder, a.Tree, a.Paths, b.Holder, b.Tree, b.Paths, f)
							}
						}
					}
				}
			},
			"take": func(t *rapid.T) {
				w := Want{Mode: rapid.SampledFrom([]Mode{Exclusive, Exclusive, Shared}).Draw(t, "mode"), Tree: rapid.SampledFrom(nestTrees).Draw(t, "tree")}
				from := plain
				exact := rapid.IntRange(0, 2).Draw(t, "exact") > 0
				if !exact {
					from = globs
				}
				w.Paths = rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, 2, rapid.ID[Pattern]).Draw(t, "paths")
				agent := who(t)
				var meets []string
				for _, c := range live() {
					if string(c.Holder) == agent || over(&c) || c.Mode == Shared && w.Mode == Shared {
						continue
					}
					for _, x := range c.Paths {
						for _, y := range w.Paths {
							a, b := strings.TrimSuffix(c.Tree+"/"+string(x), "/."), strings.TrimSuffix(w.Tree+"/"+string(y), "/.")
							if below(a, b) || below(b, a) {
								meets = append(meets, a)
							}
						}
					}
				}
				plainly := exact && exactly()
				d, err := n.do(t, w.Tree, agent, Take{ID: n.id("claim"), Want: w, Intent: "x"})
				if plainly && (err != nil) != (len(meets) > 0) {
					t.Fatalf("%s takes %s %q: %v, and it meets %q", agent, w.Tree, w.Paths, err, meets)
				}
				for _, b := range d.Blocks {
					if (b.Project == "") != slices.ContainsFunc(n.books[w.Tree].Live(), func(c Claim) bool { return c.ID == b.Claim }) {
						t.Fatalf("the block says project %q: %+v", b.Project, b)
					}
				}
			},
			"edit": func(t *rapid.T) {
				file, agent := rapid.SampledFrom(files).Draw(t, "file"), who(t)
				tree, path := home(file)
				held := false
				for _, c := range live() {
					if coversWhole(&c.Want, file) && string(c.Holder) == agent {
						held = held || c.Tree == tree || !c.Auto
					}
				}
				by, beside := inTheWay(file, agent)
				exact := exactly()
				d, err := n.edit(t, tree, agent, path)
				named(t, agent, file, d, err, beside)
				if held && err == nil && !d.Known && len(d.Events)+len(d.Ends) == 0 {
					t.Fatalf("%s holds %s and it is not known", agent, file)
				}
				if mine := slices.ContainsFunc(live(), func(c Claim) bool {
					return string(c.Holder) == agent && c.Tree == tree && coversWhole(&c.Want, file)
				}); err == nil && len(by) > 0 && !mine || err != nil && exact && !lost(err) && (len(by) == 0 || mine) {
					t.Fatalf("%s edits %s: %v, held by %q", agent, file, err, by)
				}
			},
			"check": func(t *rapid.T) {
				file, agent := rapid.SampledFrom(files).Draw(t, "file"), who(t)
				tree, path := home(file)
				by, beside := inTheWay(file, agent)
				mine := slices.ContainsFunc(n.books[tree].Live(), func(c Claim) bool { return string(c.Holder) == agent && coversWhole(&c.Want, file) })
				d, err := n.do(t, tree, agent, Check{Paths: []string{path}, Tree: tree})
				named(t, agent, file, d, err, beside)
				if err == nil && len(by) > 0 && !mine || err != nil && exactly() && !lost(err) && (len(by) == 0 || mine) || len(d.Events)+len(d.Ends) > 0 {
					t.Fatalf("%s commits %s: %v, held by %q", agent, file, err, by)
				}
			},
			"release": func(t *rapid.T) {
				all := live()
				if len(all) == 0 {
					t.Skip()
				}
				c := rapid.SampledFrom(all).Draw(t, "claim")
				if _, err := n.do(t, c.Tree, string(c.Holder), Release{Claims: []event.ID{c.ID}}); err != nil {
					t.Fatal(err)
				}
			},
			"give": func(t *rapid.T) {
				all := live()
				if len(all) == 0 {
					t.Skip()
				}
				c := rapid.SampledFrom(all).Draw(t, "claim")
				_, _ = n.do(t, c.Tree, string(c.Holder), Transfer{Claims: []event.ID{c.ID}, To: By{Agent: event.ID(who(t))}})
			},
			"change": func(t *rapid.T) {
				all := live()
				if len(all) == 0 {
					t.Skip()
				}
				c := rapid.SampledFrom(all).Draw(t, "claim")
				w := Want{Mode: Exclusive, Tree: c.Tree, Paths: []Pattern{rapid.SampledFrom(slices.Concat(plain, globs)).Draw(t, "path")}}
				_, _ = n.do(t, c.Tree, string(c.Holder), Change{Claim: c.ID, Want: &w})
			},
			"time": func(t *rapid.T) { n.now = n.now.Add(11 * time.Minute) },
		})
	})
}

// TestProjectsAroundHaveTheirOwnSettings: a guard that is off says nothing about
// the claims of the project around, which has its own; a claim around is enough
// for a strict one within.
func TestProjectsAroundHaveTheirOwnSettings(t *testing.T) {
	n := newNest()
	const in = "/p/libs/foo"
	if _, err := n.take(t, "/p", "ana", "libs"); err != nil {
		t.Fatal(err)
	}
	n.books[in].rules.Guard = Off
	if d, err := n.edit(t, in, "bob", "x"); err == nil || len(d.Blocks) != 1 || d.Blocks[0].Project != "/p" || d.Blocks[0].Overlap[0] != "libs" {
		t.Errorf("%+v, %v", d.Blocks, err)
	}
	if d, err := n.edit(t, in, "ana", "x"); err != nil || !d.Known || len(d.Events) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	n.books["/p"].rules.Guard = Off
	if d, err := n.edit(t, in, "bob", "x"); err != nil || !d.Known {
		t.Errorf("%+v, %v", d, err)
	}
	n.books["/p"].rules.Guard = Auto
	n.books[in].rules.Guard = Strict
	if d, err := n.edit(t, in, "ana", "x"); err != nil || !d.Known {
		t.Errorf("%+v, %v", d, err)
	}
	for _, c := range n.books["/p"].Live() {
		if _, err := n.do(t, "/p", "ana", Release{Claims: []event.ID{c.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.edit(t, in, "ana", "x"); err == nil || !strings.Contains(err.Error(), "wants a claim") {
		t.Error(err)
	}
}

// TestALostClaimAroundIsLostWithin: whoever was overtaken in the project around
// edits nothing in those within either, until it claims it anew.
func TestALostClaimAroundIsLostWithin(t *testing.T) {
	n := newNest()
	const in = "/p/libs/foo"
	d, err := n.take(t, "/p", "ana", "libs")
	if err != nil {
		t.Fatal(err)
	}
	broken, err := n.do(t, "/p", "bob", Release{})
	if err != nil || len(broken.Events) > 0 {
		t.Fatal(err)
	}
	ended := EndedClaim{Claim: d.Claim.ID, Holder: "ana", How: Taken, By: "bob"}
	n.seq++
	if _, err := Apply(n.books["/p"], event.New(KindEnded, ended), n.now, n.seq); err != nil {
		t.Fatal(err)
	}
	if _, err := n.edit(t, in, "ana", "x"); err == nil || !strings.Contains(err.Error(), "taken over") {
		t.Errorf("%v", err)
	}
	if _, err := n.do(t, in, "ana", Check{Paths: []string{"x"}, Tree: in}); err == nil {
		t.Error("a commit passed with a dead token")
	}
	if _, err := n.take(t, in, "ana", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.edit(t, in, "ana", "x"); err != nil {
		t.Error(err)
	}
}

// TestWaitersOfOtherProjectsComeFirst: whoever waits for a folder is before
// newcomers in the projects within it, except those that it waits for.
func TestWaitersOfOtherProjectsComeFirst(t *testing.T) {
	n := newNest()
	const in = "/p/libs/foo"
	if _, err := n.take(t, in, "tim", "x"); err != nil {
		t.Fatal(err)
	}
	libs := Want{Paths: []Pattern{"libs"}, Mode: Exclusive, Tree: "/p"}
	d, err := n.do(t, "/p", "ana", Take{ID: n.id("claim"), Want: libs, Intent: "x", Wait: n.id("wait"), Until: n.now.Add(time.Hour)})
	if err != nil || d.Wait == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := n.take(t, in, "bob", "y"); err == nil || d.Blocks[0].Waiting == "" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := n.take(t, in, "tim", "y"); err != nil {
		t.Error(err)
	}
	// So may its edits get more of it, whichever of the projects that is in, and
	// those of its subagents. A newcomer's may not.
	for tree, path := range map[string]string{in: "e", "/p": "libs/e", "/p/libs/foo/in": "e"} {
		if d, err := n.edit(t, tree, "bob", path); err == nil || d.Blocks[0].Waiting == "" {
			t.Errorf("%s: %+v, %v", tree, d, err)
		}
		for _, who := range []string{"tim.sub", "tim"} {
			d, err := n.edit(t, tree, who, path)
			if err != nil {
				t.Errorf("%s in %s: %v", who, tree, err)
			}
			if _, err := n.do(t, tree, who, Release{Claims: []event.ID{d.Claim.ID}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What it holds only since then lets it pass no more.
	if _, err := n.do(t, in, "tim", Release{Claims: []event.ID{n.books[in].Live()[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if d, err := n.take(t, in, "tim", "z"); err == nil || d.Blocks[0].Waiting == "" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := n.take(t, "/p", "bob", "top"); err != nil {
		t.Error(err)
	}
}

// TestWorkTreesWithinOthers: what lies in what, by whole names only.
func TestWorkTreesWithinOthers(t *testing.T) {
	for _, c := range []struct{ outer, inner, below string }{
		{"/p", "/p", "."}, {"/p", "/p/a/b", "a/b"}, {"/", "/p", "p"}, {"/", "/", "."}, {`C:\p`, `C:\p\a`, "a"}, {`C:\`, `C:\p`, "p"},
		{"/p", "/pq", ""}, {"/p/a", "/p", ""}, {"", "/p", ""}, {"/p", "", ""},
	} {
		if got, ok := within(c.outer, c.inner); got != c.below || ok != (c.below != "") {
			t.Errorf("%q in %q: %q, %v", c.inner, c.outer, got, ok)
		}
	}
	for _, c := range []struct{ head, tail, is Pattern }{
		{"a", "b", "a/b"}, {Root, "b", "b"}, {"a", Root, "a"}, {"a", "**/b", "a/**/b"}, {`a\[x]`, "*.go", `a\[x]/*.go`}, {"Ab", ":(icase)c", ":(icase)ab/c"},
	} {
		if got := c.head.join(c.tail); got != c.is {
			t.Errorf("%q and %q: %q", c.head, c.tail, got)
		}
	}
}

// TestAHolderAroundWorksOn: who holds a folder works in the projects within it,
// whoever waits there or around, and its subagents do; so does who was given it.
func TestAHolderAroundWorksOn(t *testing.T) {
	const in = "/p/libs/foo"
	fine := func(d Decision, err error) {
		t.Helper()
		if err != nil || len(d.Blocks) > 0 {
			t.Errorf("%+v, %v", d.Blocks, err)
		}
	}
	wait := func(n *nest, tree string, path Pattern) {
		t.Helper()
		w := Want{Paths: []Pattern{path}, Mode: Exclusive, Tree: tree}
		if d, err := n.do(t, tree, "bob", Take{ID: n.id("claim"), Want: w, Intent: "x", Wait: n.id("wait"), Until: n.now.Add(time.Hour)}); err != nil || d.Wait == nil {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	for tree, path := range map[string]Pattern{in: "x", "/p": "libs"} {
		n := newNest()
		fine(n.take(t, "/p", "ana", "libs"))
		wait(n, tree, path)
		fine(n.edit(t, in, "ana", "x/f"))
		fine(n.edit(t, in, "ana.sub", "x/g"))
		fine(n.take(t, in, "ana", "x"))
		if d, err := n.edit(t, in, "tim", "x/f"); err == nil {
			t.Errorf("somebody else edits it: %+v", d)
		}
	}
	// Given on while bob waits.
	n := newNest()
	fine(n.take(t, "/p", "ana", "libs"))
	wait(n, "/p", "libs")
	fine(n.do(t, "/p", "ana", Transfer{Claims: []event.ID{n.books["/p"].Live()[0].ID}, To: n.by("tim")}))
	fine(n.edit(t, in, "tim", "x/f"))
}

// TestAGuardAroundThatIsOff says nothing: neither by its line nor by what was lost.
func TestAGuardAroundThatIsOff(t *testing.T) {
	const in = "/p/libs/foo"
	n := newNest()
	d, err := n.take(t, "/p", "ana", "libs")
	if err != nil {
		t.Fatal(err)
	}
	n.seq++
	if _, err := Apply(n.books["/p"], event.New(KindEnded, EndedClaim{Claim: d.Claim.ID, Holder: "ana", How: Taken, By: "bob"}), n.now, n.seq); err != nil {
		t.Fatal(err)
	}
	if d, err := n.edit(t, in, "ana", "x/f"); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a lost claim passes: %+v, %v", d, err)
	}
	// With the inner guard off the outer one is asked all the same, as by the commit.
	n.books[in].rules.Guard = Off
	for what, c := range map[string]Command{
		"edit": Edit{Paths: []string{"x/f"}, IDs: []event.ID{n.id("auto")}, Tree: in}, "commit": Check{Paths: []string{"x/f"}, Tree: in},
	} {
		if _, err := n.do(t, in, "ana", c); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	n.books[in].rules.Guard, n.books["/p"].rules.Guard = Auto, Off
	w := Want{Paths: []Pattern{"libs"}, Mode: Exclusive, Tree: "/p"}
	if _, err := n.take(t, in, "tim", "y"); err != nil {
		t.Fatal(err)
	}
	if d, err := n.do(t, "/p", "bob", Take{ID: n.id("claim"), Want: w, Intent: "x", Wait: n.id("wait"), Until: n.now.Add(time.Hour)}); err != nil || d.Wait == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := n.edit(t, in, "ana", "x/f"); err != nil {
		t.Errorf("%+v, %v", d, err)
	}
}
