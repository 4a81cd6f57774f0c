package office

import (
	"context"
	"sync"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// within is a project in the folder of another one.
func (d *desk) within(p Project, name string) Project {
	q := d.project(p.Name + "/" + name)
	q.Name = name
	q.Around = []Around{{Project: p, Tree: p.Root}, {Tree: "/"}}
	return q
}

// TestWhatIsOverInAnotherProjectEnds: what somebody edited a while ago, or held
// when its session died, is in the way of a claim around it no longer than it
// would be in its own project. It ends there, with a look at it first.
func TestWhatIsOverInAnotherProjectEnds(t *testing.T) {
	ctx := context.Background()
	verdict, looked := claim.ProbeBusy, ""
	late := time.Duration(0)
	d := openDesk(t, Options{
		Now: func() time.Time { return time.Now().Add(late) },
		Probe: func(_ context.Context, p Project, list []HeldClaim) map[event.ID]claim.Probe {
			looked = p.Name
			return map[event.ID]claim.Probe{list[0].ID: {Verdict: verdict, Saw: "3 files changed"}}
		},
	})
	p := d.project("app")
	foo := d.within(p, "foo")
	dead := livingProcess(t)
	ana, bob := d.session("A", self(), p), d.session("B", dead, p)
	if _, err := d.MayEdit(ctx, bob, foo, Editing{Paths: []string{"x"}, Tree: foo.Root}); err != nil {
		t.Fatal(err)
	}
	_, err := d.Claim(ctx, ana, p, Claiming{Want: paths(p, "foo"), Intent: "all of it"})
	refused(t, err, fault.Conflict, "foo/x (in project foo)", string(bob.Agent.Name))
	late = 11 * time.Minute
	v := d.claims(ana, p, "foo")
	if all, err := d.ClaimList(ctx, ana, ClaimQuery{Every: true, Auto: true}); err != nil || all.Total != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	_, err = d.MayEdit(ctx, bob, foo, Editing{Paths: []string{"x"}, Tree: foo.Root})
	refused(t, err, fault.Conflict, "foo is held by "+string(ana.Agent.Name))
	if _, err := d.Release(ctx, ana, p, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	_, err = d.MayEdit(ctx, bob, foo, Editing{Paths: []string{"x"}, Tree: foo.Root})
	refused(t, err, fault.Conflict, "ran out")

	old := d.claims(bob, foo, "y")
	kill(t, dead)
	late += time.Hour
	_, err = d.Claim(ctx, ana, p, Claiming{Want: paths(p, "foo/y"), Intent: "x"})
	refused(t, err, fault.Conflict, "it is in use: 3 files changed")
	if looked != "foo" {
		t.Errorf("the probes of %q were asked", looked)
	}
	verdict = claim.ProbeFree
	v = d.claims(ana, p, "foo/y")
	if ended, err := d.ClaimShow(ctx, string(old.ID)); err != nil || ended.How != claim.Expired || ended.NoticedBy != string(ana.Agent.Name) || ended.Project != "foo" {
		t.Errorf("%+v, %v", ended, err)
	}
	if v.Token <= old.Token {
		t.Errorf("token %d after %d", v.Token, old.Token)
	}
	d.sound()
}

// TestAClaimFoundByItsIDKnowsWhatIsAround: changes and handovers name no path,
// so no place is looked at; the projects around are known by their roots.
func TestAClaimFoundByItsIDKnowsWhatIsAround(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	foo := d.within(p, "foo")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), p)
	d.claims(ana, p, "foo/x", "top")
	v := d.claims(bob, foo, "y")
	wider := paths(foo, ".")
	_, err := d.ChangeClaim(ctx, bob, string(v.ID), ClaimChange{Want: &wider})
	refused(t, err, fault.Conflict, "foo/x", string(ana.Agent.Name))
	w := d.claims(ana, p, "other")
	wider = paths(p, "**/y")
	_, err = d.ChangeClaim(ctx, ana, string(w.ID), ClaimChange{Want: &wider})
	refused(t, err, fault.Conflict, "foo/y (in project foo)", string(bob.Agent.Name))

	// One's own claim around is in nobody's way but a receiver's.
	u := d.claims(ana, foo, "x/f")
	_, err = d.TransferClaims(ctx, ana, []string{string(u.ID)}, string(bob.Agent.Name), "")
	refused(t, err, fault.Conflict, "foo/x")
	if list, n, err := d.ClaimsAround(ctx, bob, foo, foo.Root, 10); err != nil || n != 1 || list[0].Paths[0] != "foo/x" || list[0].Mine {
		t.Errorf("%+v, %v", list, err)
	}
	d.sound()
}

// TestARaceAcrossProjects: of those who claim a folder, and a file of the project
// in it, at one moment, exactly one gets it.
func TestARaceAcrossProjects(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	foo := d.within(p, "foo")
	var callers []Caller
	for _, id := range []string{"A", "B", "C", "D"} {
		callers = append(callers, d.session(id, livingProcess(t), p))
	}
	for range 10 {
		won := make(chan ClaimView, len(callers))
		by := make(chan Caller, len(callers))
		var all sync.WaitGroup
		for i, c := range callers {
			all.Go(func() {
				q, w := p, paths(p, "foo")
				if i%2 == 1 {
					q, w = foo, paths(foo, "x/f")
				}
				v, err := d.Claim(ctx, c, q, Claiming{Want: w, Intent: "x"})
				switch {
				case err == nil:
					won <- v
					by <- c
				case !fault.Is(err, fault.Conflict):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d have it", len(won))
		}
		v := <-won
		if _, err := d.Release(ctx, <-by, p, []string{string(v.ID)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	d.sound()
}

// TestAWaiterIsWokenFromAnotherProject: a wait for a folder ends when what is
// held in a project below it is given up.
func TestAWaiterIsWokenFromAnotherProject(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	foo := d.within(p, "foo")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), foo)
	v := d.claims(bob, foo, "x")
	topics, err := d.claimTopics(ctx, ana, p, &claim.Want{Paths: []claim.Pattern{"foo"}, Tree: p.Root})
	if err != nil || len(topics) != 2 { // its own and that of foo
		t.Errorf("%q, %v", topics, err)
	}
	queued, got := make(chan bool, 1), make(chan error, 1)
	go func() {
		_, err := d.Claim(ctx, ana, p, Claiming{Want: paths(p, "foo"), Intent: "x", Wait: time.Minute, Waiting: func(b []claim.Block) { queued <- b[0].Project == "foo" }})
		got <- err
	}()
	if !<-queued {
		t.Error("the block does not say its project")
	}
	// Whoever comes to the project below is behind it.
	carla := d.session("C", livingProcess(t), foo)
	_, err = d.Claim(ctx, carla, foo, Claiming{Want: paths(foo, "y"), Intent: "x"})
	refused(t, err, fault.Conflict, "has waited for foo (in project app)")
	if _, err := d.Release(ctx, bob, foo, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	d.sound()
}

// TestAnEditIsNotBehindWhoWaitsForIt: who holds a part of what somebody waits
// for, in a project below, edits more of it as it may claim more of it.
func TestAnEditIsNotBehindWhoWaitsForIt(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	d := openDesk(t, Options{})
	p := d.project("app")
	foo, bar := d.within(p, "libs/foo"), d.within(p, "libs/bar")
	ana, bob, carla := d.session("A", self(), p), d.session("B", livingProcess(t), p), d.session("C", livingProcess(t), p)
	d.claims(ana, foo, "f")
	queued, done := make(chan bool, 1), make(chan error, 1)
	go func() {
		_, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "libs"), Intent: "all", Wait: time.Minute, Waiting: func([]claim.Block) { queued <- true }})
		done <- err
	}()
	<-queued
	for _, x := range []struct {
		p    Project
		path string
	}{{p, "libs/zz"}, {foo, "g"}, {bar, "g"}} {
		edit := Editing{Paths: []string{x.path}, Tree: x.p.Root}
		_, err := d.MayEdit(ctx, carla, x.p, edit)
		refused(t, err, fault.Conflict, "waited for libs")
		if _, err := d.MayEdit(ctx, ana, x.p, edit); err != nil {
			t.Errorf("%s in %s: %v", x.path, x.p.Name, err)
		}
		if _, err := d.Claim(ctx, ana, x.p, Claiming{Want: paths(x.p, x.path), Intent: "more"}); err != nil {
			t.Errorf("a claim of %s in %s: %v", x.path, x.p.Name, err)
		}
	}
	end()
	<-done
	d.sound()
}

// TestALookKnowsTheProjectsWithin: whoever looks at a claim is told of the
// projects in its work tree, also of one that was only changed under the claim.
func TestALookKnowsTheProjectsWithin(t *testing.T) {
	ctx := context.Background()
	var got []string
	d := openDesk(t, Options{Probe: func(_ context.Context, _ Project, list []HeldClaim) map[event.ID]claim.Probe {
		got = list[0].Within
		return nil
	}})
	p := d.project("app")
	foo := d.within(p, "libs/foo")
	d.project("app-2")
	dead := livingProcess(t)
	ana, bob := d.session("A", self(), p), d.session("B", dead, p)
	v := d.claims(bob, p, "libs")
	before, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if done, err := d.MayEdit(ctx, bob, foo, Editing{Paths: []string{"f"}, Tree: foo.Root}); err != nil || !done.Known {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	if now, err := d.Head(ctx); err != nil || now != before+1 {
		t.Errorf("%d records of it, %v", now-before, err)
	}
	kill(t, dead)
	_, err = d.TakeOver(ctx, ana, Takeover{Claim: string(v.ID)})
	refused(t, err, fault.Conflict, "nothing can tell")
	if len(got) != 1 || got[0] != foo.Root {
		t.Errorf("within: %q", got)
	}
	d.sound()
}
