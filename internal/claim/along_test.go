package claim

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// nextStep is a hint that a takeover is refused with, where it says what to run.
var nextStep = regexp.MustCompile(`: bureau takeover (\S+)( --break)?( --only)?$`)

// follow takes a claim over as somebody does who does what the refusals say, and
// after each step that worked tries again what was refused before it. It gives
// the refusal that says no further step.
func (n *nest) follow(t interface{ Fatalf(string, ...any) }, who string, goal event.ID) error {
	type step struct {
		id   event.ID
		only bool
	}
	steps := []step{{id: goal}}
	var way []string
	for range 30 {
		at := steps[len(steps)-1]
		tree := ""
		for x, b := range n.books {
			if c, found, _ := b.Claim(at.id); found && c.Holder != event.ID(who) { // else it went along
				tree = x
			}
		}
		if tree != "" {
			_, err := n.do(t, tree, who, Takeover{Claim: at.id, ID: n.id("taken"), Only: at.only})
			if err != nil {
				way = append(way, string(at.id)+": "+err.Error()+" / "+fault.HintOf(err))
				next := nextStep.FindStringSubmatch(fault.HintOf(err))
				if next == nil || next[2] != "" {
					return err
				}
				steps = append(steps, step{event.ID(next[1]), next[3] != ""})
				continue
			}
		}
		if steps = steps[:len(steps)-1]; len(steps) == 0 {
			return nil
		}
	}
	t.Fatalf("a takeover of %s goes in a circle: %s", goal, strings.Join(way, "\n"))
	return nil
}

func (n *nest) stands(id event.ID) bool {
	for _, b := range n.books {
		if _, found, _ := b.Claim(id); found {
			return true
		}
	}
	return false
}

// TestADeadFamilyIsTakenOver: whatever a session and its subagents held of the
// same, in whichever of the projects, once they are dead each claim can be had by
// doing what the refusals say, and afterwards no file has two holders.
func TestADeadFamilyIsTakenOver(t *testing.T) {
	paths := []Pattern{Root, "libs", "libs/foo", "libs/foo/in", "f", "x", "in", "in/f", "x/f", "*/f", "libs/*", "libs/*/x", "**/f"}
	rapid.Check(t, func(t *rapid.T) {
		n := newNest()
		var all []event.ID
		for range rapid.IntRange(2, 5).Draw(t, "claims") {
			w := Want{Mode: rapid.SampledFrom([]Mode{Exclusive, Exclusive, Shared}).Draw(t, "mode"), Tree: rapid.SampledFrom(nestTrees).Draw(t, "tree")}
			w.Paths = rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 1, 2, rapid.ID[Pattern]).Draw(t, "paths")
			if rapid.IntRange(0, 4).Draw(t, "thing") == 0 {
				w.Resources = []Resource{"deploy:live"}
			}
			k := Take{ID: n.id("claim"), Want: w, Intent: rapid.SampledFrom([]string{"x", "x", "x", "runs"}).Draw(t, "intent")}
			k.Keep = k.Intent == "runs"
			if _, err := n.do(t, w.Tree, rapid.SampledFrom([]string{"ana", "ana.1", "ana.2"}).Draw(t, "who"), k); err == nil && n.stands(k.ID) {
				all = append(all, k.ID)
			}
		}
		if rapid.Bool().Draw(t, "edit") {
			_, _ = n.edit(t, "/p/libs/foo", "ana.1", "x/f")
		}
		n.gone = "ana"
		if len(all) == 0 {
			t.Skip()
		}
		goal := rapid.SampledFrom(all).Draw(t, "goal")
		if err := n.follow(t, "bob", goal); err != nil {
			if !strings.Contains(fault.HintOf(err), "both run") {
				t.Fatalf("bob cannot have %s: %v / %s", goal, err, fault.HintOf(err))
			}
			return
		}
		var live []Claim
		for _, tree := range nestTrees {
			live = append(live, n.books[tree].Live()...)
		}
		if !slices.ContainsFunc(live, func(c Claim) bool { return c.Holder == "bob" }) {
			t.Fatalf("bob has nothing: %+v", live)
		}
		for i := range live {
			for j := range live[:i] {
				a, b := &live[i], &live[j]
				if (a.Holder == "bob") == (b.Holder == "bob") {
					continue
				}
				if len(shared(&a.Want, &b.Want)) > 0 || a.Tree == b.Tree && len(Overlapping(&a.Want, &b.Want, true)) > 0 {
					t.Fatalf("%s (%s %q) and %s (%s %q)", a.Holder, a.Tree, a.Paths, b.Holder, b.Tree, b.Paths)
				}
			}
		}
	})
}

// TestWhatGoesAlong: what lies within a claim that is taken over is looked at on
// its own, and is over with it; the rest is named with what has to go first.
func TestWhatGoesAlong(t *testing.T) {
	want := func(paths ...Pattern) Want { return Want{Paths: paths, Mode: Exclusive, Tree: "/p"} }
	book := func(tim Verdict) (*Book, Evidence) {
		b := NewBook()
		for i, c := range []Claim{
			{ID: "FILE", Holder: "tim", Want: want("src/a.go")}, {ID: "DIR", Holder: "tim", Want: want("src"), Intent: "all of it"},
			{ID: "SUB", Holder: "tim.1", For: "tim", Want: want("src/b.go")}, {ID: "PART", Holder: "tim.1", For: "tim", Want: want("lib/a", "doc/a")},
			{ID: "LIB", Holder: "tim", Want: want("lib/*", "top")},
		} {
			c.Token, c.Since, c.Renewed, c.TTL = event.Seq(i+1), start, start, time.Hour
			if err := b.Put(c); err != nil {
				t.Fatal(err)
			}
		}
		ev := Evidence{Sign: func(*Claim) Sign { return Sign{Process: tim, At: start} }, Probes: map[event.ID]Probe{}}
		for _, c := range b.Live() {
			ev.Probes[c.ID] = Probe{Verdict: ProbeFree, Saw: "nothing"}
		}
		return b, ev
	}
	bob, user := By{Agent: "bob"}, By{Agent: "user", Human: true}
	for name, c := range map[string]struct {
		by    By
		do    Takeover
		tim   Verdict
		saw   map[event.ID]ProbeVerdict
		with  []event.ID
		how   How
		error string
		hint  string
	}{
		"what lies within":   {by: bob, do: Takeover{Claim: "DIR"}, with: []event.ID{"FILE", "SUB"}, how: Taken},
		"the one around it":  {by: bob, do: Takeover{Claim: "FILE"}, error: "src is held by tim", hint: "claim FILE goes along with it: bureau takeover DIR"},
		"a part":             {by: bob, do: Takeover{Claim: "LIB"}, error: "lib/a is held by tim.1", hint: "end that first: bureau takeover PART --only"},
		"nothing taken":      {by: bob, do: Takeover{Claim: "FILE", Only: true}},
		"in use":             {by: bob, do: Takeover{Claim: "DIR"}, saw: map[event.ID]ProbeVerdict{"SUB": ProbeBusy}, error: "what claim SUB covers is in use", hint: "bureau takeover SUB --break"},
		"nobody can tell":    {by: bob, do: Takeover{Claim: "DIR"}, saw: map[event.ID]ProbeVerdict{"SUB": ProbeUnknown}, error: "what claim SUB covers is still in use", hint: "bureau takeover DIR --reason TEXT"},
		"with a reason":      {by: bob, do: Takeover{Claim: "DIR", Reason: "closed"}, saw: map[event.ID]ProbeVerdict{"SUB": ProbeUnknown}, with: []event.ID{"FILE", "SUB"}, how: Taken},
		"still at it":        {by: bob, do: Takeover{Claim: "DIR"}, tim: Alive, error: "tim is at it"},
		"broken":             {by: user, do: Takeover{Claim: "DIR", Break: true}, tim: Alive, with: []event.ID{"FILE", "SUB"}, how: Broken},
		"broken within":      {by: user, do: Takeover{Claim: "FILE", Break: true}, tim: Alive, error: "src is held by tim", hint: "bureau takeover DIR --break"},
		"broken next to it":  {by: user, do: Takeover{Claim: "LIB", Break: true}, tim: Alive, error: "lib/a is held by tim.1", hint: "end that first: bureau takeover PART --break --only"},
		"elsewhere, no look": {by: bob, do: Takeover{Claim: "DIR", Tree: "/w"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.tim == "" {
				c.tim = Gone
			}
			b, ev := book(c.tim)
			for id, v := range c.saw {
				ev.Probes[id] = Probe{Verdict: v, Saw: "a look"}
			}
			c.do.ID = "NEW"
			d, err := Decide(b, c.by, c.do, start.Add(time.Minute), ev)
			if (err != nil) != (c.error != "") || err != nil && (!strings.Contains(err.Error(), c.error) || !strings.Contains(fault.HintOf(err), c.hint)) {
				t.Fatalf("%v / %s", err, fault.HintOf(err))
			}
			if err != nil && (len(d.Events) > 0 || len(d.With) > 0) {
				t.Fatalf("refused, and yet %+v", d)
			}
			var with []event.ID
			for _, x := range d.With {
				with = append(with, x.ID)
			}
			if slices.Sort(with); !slices.Equal(with, c.with) {
				t.Fatalf("with it went %q", with)
			}
			for i := range c.with {
				var e EndedClaim
				if err := d.Events[1+i].Decode(&e); err != nil || e.How != c.how || e.By != c.by.Agent {
					t.Errorf("%+v, %v", e, err)
				}
			}
			for _, e := range d.Events {
				if _, err := Apply(b, e, start.Add(time.Minute), 9); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.with) > 0 {
				if live := b.Live(); len(live) != 3 || live[2].ID != "NEW" {
					t.Errorf("%+v", live)
				}
				_, err := Decide(b, By{Agent: "tim"}, Edit{Paths: []string{"src/a.go"}, IDs: []event.ID{"X"}, Tree: "/p"}, start.Add(time.Minute), ev)
				if c.how == Taken && err == nil {
					t.Error("the old holder goes on")
				}
			}
		})
	}
}

// TestGivingWhatMeets: claims of one holder that mean the same are given
// together; alone each is refused, and it is said why.
func TestGivingWhatMeets(t *testing.T) {
	const in = "/p/libs/foo"
	n := newNest()
	take := func(tree, who string, path Pattern) event.ID {
		t.Helper()
		d, err := n.take(t, tree, who, path)
		if err != nil {
			t.Fatal(err)
		}
		return d.Claim.ID
	}
	file, dir := take("/p", "ana", "src/a.go"), take("/p", "ana", "src")
	for _, one := range [][2]event.ID{{file, dir}, {dir, file}} {
		_, err := n.do(t, "/p", "ana", Transfer{Claims: one[:1], To: n.by("bob")})
		if err == nil || !strings.Contains(err.Error(), "you hold src") || !strings.Contains(err.Error(), "by claim "+string(one[1])) ||
			!strings.Contains(fault.HintOf(err), "bureau claims give "+string(one[0])+" "+string(one[1])+" bob") || strings.Contains(fault.HintOf(err), "ask") {
			t.Errorf("%v / %s", err, fault.HintOf(err))
		}
	}
	if _, err := n.do(t, "/p", "ana", Transfer{Claims: []event.ID{file, dir}, To: n.by("bob")}); err != nil {
		t.Fatal(err)
	}
	// In the project within it too.
	outer, inner := take("/p", "tim", "libs"), take(in, "tim", "f")
	if _, err := n.do(t, "/p", "tim", Transfer{Claims: []event.ID{outer}, To: n.by("bob")}); err == nil || !strings.Contains(err.Error(), "you hold libs/foo/f (in project /p/libs/foo) too") {
		t.Errorf("%v", err)
	}
	both := []event.ID{outer, inner}
	for tree, id := range map[string]event.ID{"/p": outer, in: inner} {
		if _, err := n.do(t, tree, "tim", Transfer{Claims: []event.ID{id}, With: both, To: n.by("bob")}); err != nil {
			t.Errorf("%v", err)
		}
	}
	// What its edits claimed within it is over; a subagent's is not.
	if _, err := n.edit(t, "/p", "tim", "doc/a"); err != nil {
		t.Fatal(err)
	}
	doc := take("/p", "tim", "doc/b")
	wider := Want{Paths: []Pattern{"doc"}, Mode: Exclusive, Tree: "/p"}
	if _, err := n.do(t, "/p", "tim", Change{Claim: doc, Want: &wider}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.edit(t, "/p", "tim.sub", "doc/c"); err != nil {
		t.Fatal(err)
	}
	give := Transfer{Claims: []event.ID{doc}, To: n.by("bob")}
	if _, err := n.do(t, "/p", "tim", give); err == nil || !strings.Contains(err.Error(), "doc/c is held by your own subagent tim.sub") {
		t.Errorf("%v", err)
	}
	if _, err := n.do(t, "/p", "tim.sub", EndSession{Final: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.do(t, "/p", "tim", give); err != nil {
		t.Error(err)
	}
	if held, _ := n.books["/p"].Held("tim"); len(held) > 0 {
		t.Errorf("%+v", held)
	}
}
