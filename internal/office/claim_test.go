package office

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// paths makes a want of paths in a project's main work tree.
func paths(p Project, list ...string) claim.Want {
	w := claim.Want{Mode: claim.Exclusive, Tree: p.Root}
	for _, x := range list {
		pat, err := claim.ParsePattern(x)
		if err != nil {
			panic(err)
		}
		w.Paths = append(w.Paths, pat)
	}
	return w
}

func (d *desk) claims(c Caller, p Project, list ...string) ClaimView {
	d.t.Helper()
	v, err := d.Claim(context.Background(), c, p, Claiming{Want: paths(p, list...), Intent: "work on " + list[0]})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// refused checks that an error is a refusal of a kind that says some words.
func refused(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
	text := err.Error() + " " + fault.HintOf(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}

// TestTwoSessionsCannotHoldTheSame: the second one is told who holds what, and
// why, and gets it once the first has released it.
func TestTwoSessionsCannotHoldTheSame(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	child := livingProcess(t)
	ana, bob := d.session("A", self(), p), d.session("B", child, p)
	v := d.claims(ana, p, "src/parser")
	if v.Token == 0 || v.Standing != claim.Active || !v.Mine || v.Deadline.Before(time.Now()) {
		t.Errorf("%+v", v)
	}
	_, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "src/**/*.go"), Intent: "rename"})
	refused(t, err, fault.Conflict, string(ana.Agent.Name), "work on src/parser", "--wait")
	if w, err := d.WhoHolds(ctx, bob, p, paths(p, "src/parser/a.go")); err != nil || w.Total != 1 || w.Claims[0].Holder != string(ana.Agent.Name) {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := d.Release(ctx, bob, p, []string{v.Short}, ""); !fault.Is(err, fault.Denied) {
		t.Errorf("bob released it: %v", err)
	}
	if _, err := d.Release(ctx, ana, p, []string{v.Short}, "done"); err != nil {
		t.Fatal(err)
	}
	if next := d.claims(bob, p, "src/**/*.go"); next.Token <= v.Token {
		t.Errorf("token %d after %d", next.Token, v.Token)
	}
	h, err := d.ClaimHistory(ctx, p, Page{})
	if err != nil || h.Total != 1 || h.Claims[0].Summary != "done" || h.Claims[0].How != claim.Released {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestAWaiterIsServedInTurn: who waits is woken when the claim ends, the first
// to come first.
func TestAWaiterIsServedInTurn(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, bob, carla := d.session("A", self(), p), d.session("B", livingProcess(t), p), d.session("C", livingProcess(t), p)
	v := d.claims(ana, p, "src")
	order := make(chan string, 2)
	wait := func(c Caller, name string, queued chan<- bool) {
		got, err := d.Claim(ctx, c, p, Claiming{Want: paths(p, "src/a.go"), Intent: name, Wait: time.Minute, Waiting: func([]claim.Block) { queued <- true }})
		if err != nil {
			t.Error(err)
		}
		order <- name
		if name == "bob" {
			if _, err := d.Release(ctx, c, p, []string{string(got.ID)}, ""); err != nil {
				t.Error(err)
			}
		}
	}
	queued := make(chan bool, 1)
	go wait(bob, "bob", queued)
	<-queued
	go wait(carla, "carla", queued)
	<-queued
	// Whoever comes without waiting is behind both.
	dan := d.session("D", livingProcess(t), p)
	if _, err := d.Release(ctx, ana, p, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	_, err := d.Claim(ctx, dan, p, Claiming{Want: paths(p, "src/a.go"), Intent: "dan"})
	if err == nil {
		t.Error("dan overtook the queue")
	}
	if a, b := <-order, <-order; a != "bob" || b != "carla" {
		t.Errorf("%s, then %s", a, b)
	}
}

// TestAnInterruptedTurnIsNoSignForEver: a turn is a sign of life while it goes
// on, but one that its user interrupted ends without a word.
func TestAnInterruptedTurnIsNoSignForEver(t *testing.T) {
	ctx := context.Background()
	begin := time.Now()
	now := begin
	d := openDesk(t, Options{Now: func() time.Time { return now }, Probe: func(_ context.Context, _ Project, list []HeldClaim) map[event.ID]claim.Probe {
		return map[event.ID]claim.Probe{list[0].ID: {Verdict: claim.ProbeFree, Saw: "nothing"}}
	}})
	p := d.project("app")
	ana, bob := d.session("A", livingProcess(t), p), d.session("B", self(), p)
	if err := d.SetStatus(ctx, ana, presence.Busy); err != nil {
		t.Fatal(err)
	}
	v := d.claims(ana, p, "src")
	for _, tc := range []struct {
		after time.Duration
		want  claim.Standing
	}{{45 * time.Minute, claim.Active}, {61 * time.Minute, claim.Quiet}, {5 * time.Hour, claim.Quiet}} {
		now = begin.Add(tc.after)
		if list, err := d.ClaimList(ctx, bob, ClaimQuery{Project: p}); err != nil || list.Total != 1 || list.Claims[0].Standing != tc.want {
			t.Errorf("after %s: %+v, %v; want %s", tc.after, list, err, tc.want)
		}
	}
	if _, err := d.TakeOver(ctx, bob, Takeover{Claim: v.Short}); err != nil {
		t.Errorf("nobody was at it for five hours: %v", err)
	}
}

// TestWhoLeftWaitsNoLonger: a session that ends leaves the queue at once, and
// what still waits in its name gets nothing any more.
func TestWhoLeftWaitsNoLonger(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	process := livingProcess(t)
	ana, bob := d.session("A", self(), p), d.session("B", process, p)
	v := d.claims(ana, p, "src")
	queued, done := make(chan bool, 1), make(chan error, 1)
	go func() {
		_, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "src"), Intent: "b", Wait: time.Minute, Waiting: func([]claim.Block) { queued <- true }})
		done <- err
	}()
	<-queued
	if err := d.EndSession(ctx, bob.Agent.ID, process, "exit"); err != nil {
		t.Fatal(err)
	}
	refused(t, <-done, fault.Denied, "has ended")
	if _, err := d.Release(ctx, ana, p, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	carla := d.session("C", livingProcess(t), p)
	d.claims(carla, p, "src")
}

// TestASeatPassesItsClaimsDoNot: the next session that takes a name is not the
// holder of what the one before claimed; the same conversation is.
func TestASeatPassesItsClaimsDoNot(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	first := livingProcess(t)
	ana := d.session("A", first, p)
	v := d.claims(ana, p, "src")
	if err := d.EndSession(ctx, ana.Agent.ID, first, "exit"); err != nil {
		t.Fatal(err)
	}
	next := d.session("N", self(), p)
	if next.Agent.ID != ana.Agent.ID {
		t.Fatalf("%s did not take the seat of %s", next.Agent.Name, ana.Agent.Name)
	}
	_, err := d.Claim(ctx, next, p, Claiming{Want: paths(p, "src/a.go"), Intent: "x"})
	refused(t, err, fault.Conflict, "earlier session", "takeover")
	if err := d.EndSession(ctx, next.Agent.ID, self(), "exit"); err != nil {
		t.Fatal(err)
	}
	back := d.begin(Session{Client: "claude", ID: "A", Process: self(), Folder: p.Root, Project: p, Continues: true})
	list, err := d.ClaimList(ctx, back, ClaimQuery{Project: p})
	if err != nil || list.Total != 1 || !list.Claims[0].Mine || list.Claims[0].Standing != claim.Active || list.Claims[0].ID != v.ID {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestADeadHolderIsOvertakenSafely: a takeover is verified, kills the old
// token, tells the old holder and is kept for the record.
func TestADeadHolderIsOvertakenSafely(t *testing.T) {
	ctx := context.Background()
	verdict := claim.ProbeBusy
	d := openDesk(t, Options{Probe: func(_ context.Context, _ Project, list []HeldClaim) map[event.ID]claim.Probe {
		return map[event.ID]claim.Probe{list[0].ID: {Verdict: verdict, Saw: "3 files changed"}}
	}})
	p := d.project("app")
	dead := livingProcess(t)
	ana, bob := d.session("A", dead, p), d.session("B", self(), p)
	v := d.claims(ana, p, "src")
	_, err := d.TakeOver(ctx, bob, Takeover{Claim: v.Short})
	refused(t, err, fault.Conflict, "is at it")
	kill(t, dead)
	_, err = d.Claim(ctx, bob, p, Claiming{Want: paths(p, "src/a.go"), Intent: "x"})
	refused(t, err, fault.Conflict, "stale", "bureau takeover")
	_, err = d.TakeOver(ctx, bob, Takeover{Claim: v.Short})
	refused(t, err, fault.Conflict, "in use", "3 files changed", "is not there to be asked")
	verdict = claim.ProbeUnknown
	_, err = d.TakeOver(ctx, bob, Takeover{Claim: v.Short})
	refused(t, err, fault.Conflict, "--reason")
	next, err := d.TakeOver(ctx, bob, Takeover{Claim: v.Short, Reason: "its window is closed"})
	if err != nil || next.Token <= v.Token || next.Paths[0] != "src" {
		t.Fatalf("%+v, %v", next, err)
	}
	// The old holder, back from the dead, passes no guard and is told why.
	back := d.begin(Session{Client: "claude", ID: "A", Process: livingProcess(t), Folder: p.Root, Project: p, Continues: true})
	_, err = d.MayEdit(ctx, back, p, Editing{Paths: []string{"src/a.go"}, Tree: p.Root})
	refused(t, err, fault.Conflict)
	if _, err := d.Release(ctx, bob, p, []string{string(next.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	_, err = d.MayEdit(ctx, back, p, Editing{Paths: []string{"src/a.go"}, Tree: p.Root})
	refused(t, err, fault.Conflict, "taken over by", "claim it anew")
	mail, err := d.Inbox(ctx, back, false, Page{})
	if err != nil || mail.Total != 1 || !strings.Contains(mail.Messages[0].Body, "its window is closed") {
		t.Errorf("%+v, %v", mail, err)
	}
	d.claims(back, p, "src/a.go")
	if _, err := d.MayEdit(ctx, back, p, Editing{Paths: []string{"src/a.go", "src/b.go"}, Tree: p.Root}); err == nil {
		t.Error("src/b.go was lost and not claimed anew")
	}
	// All of it or nothing: what is free beside that is not claimed on the way.
	if _, err := d.MayEdit(ctx, back, p, Editing{Paths: []string{"free.go", "src/b.go"}, Tree: p.Root}); err == nil {
		t.Error("src/b.go was lost and not claimed anew")
	}
	if w, err := d.WhoHolds(ctx, back, p, paths(p, "free.go")); err != nil || w.Total != 0 {
		t.Errorf("a refused edit claimed %+v, %v", w, err)
	}
	// Whoever holds it now is named before that is.
	d.claims(bob, p, "src/b.go")
	_, err = d.MayEdit(ctx, back, p, Editing{Paths: []string{"src/b.go"}, Tree: p.Root})
	refused(t, err, fault.Conflict, "src/b.go is held by "+string(bob.Agent.Name))
}

// TestTheProcessOfATerminalAgent: where a terminal agent named a process as its
// own, that process decides whether it is there, and no terminal.
func TestTheProcessOfATerminalAgent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Probe: func(_ context.Context, _ Project, list []HeldClaim) map[event.ID]claim.Probe {
		return map[event.ID]claim.Probe{list[0].ID: {Verdict: claim.ProbeFree, Saw: "nothing there"}}
	}})
	p := d.project("app")
	own := livingProcess(t)
	as := func(name string) Caller {
		t.Helper()
		c, err := d.Identify(ctx, Claim{As: name, Project: p, Ancestors: []proc.ID{}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	carla, bob := d.agent("carla"), d.agent("bob")
	if err := d.showTerminal(ctx, carla.Agent.ID, self()); err != nil { // it worked in a terminal before
		t.Fatal(err)
	}
	if _, err := d.Register(ctx, d.user(), "carla", own); err != nil {
		t.Fatal(err)
	}
	v := d.claims(as("carla"), p, "src")
	_, err := d.TakeOver(ctx, bob, Takeover{Claim: v.Short})
	refused(t, err, fault.Conflict, "is at it")
	var f *fault.Error
	if blocks := detailOf(err); !errors.As(err, &f) || blocks.([]claim.Block)[0].Probe != nil {
		t.Errorf("a look that nobody made is told of: %+v", blocks)
	}
	kill(t, own)
	if got, err := d.ClaimShow(ctx, v.Short); err != nil || got.Standing != claim.Stale || got.Lapsed {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.TakeOver(ctx, bob, Takeover{Claim: v.Short}); err != nil {
		t.Error(err)
	}
}

// TestEditsAreClaimedOnTheWay: an edit of what nobody holds is allowed and
// claimed once; of what somebody holds it is refused; all of it or nothing.
func TestEditsAreClaimedOnTheWay(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), p)
	edit := func(c Caller, list ...string) error {
		_, err := d.MayEdit(ctx, c, p, Editing{Paths: list, Tree: p.Root})
		return err
	}
	for range 3 {
		if err := edit(ana, "src/a.go"); err != nil {
			t.Fatal(err)
		}
	}
	list, err := d.ClaimList(ctx, ana, ClaimQuery{Project: p, Auto: true})
	if err != nil || list.Total != 1 || !list.Claims[0].Auto {
		t.Fatalf("%+v, %v", list, err)
	}
	refused(t, edit(bob, "src/b.go", "src/a.go"), fault.Conflict, string(ana.Agent.Name), "src/a.go")
	if who, err := d.WhoHolds(ctx, bob, p, paths(p, "src/b.go")); err != nil || who.Total != 0 {
		t.Errorf("half of it was claimed: %+v, %v", who, err)
	}
	// In another work tree of the repository it is allowed, and said.
	got, err := d.MayEdit(ctx, bob, p, Editing{Paths: []string{"src/a.go"}, Tree: "/other/tree"})
	if err != nil || len(got.Meets) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	user := d.user()
	r, err := d.ClaimRules(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	r.Guard, r.Worktrees = claim.Strict, claim.Deny
	if err := d.SetClaimRules(ctx, ana, p, r); !fault.Is(err, fault.Denied) {
		t.Errorf("a session changed the rules: %v", err)
	}
	if err := d.SetClaimRules(ctx, user, p, r); err != nil {
		t.Fatal(err)
	}
	refused(t, edit(bob, "src/new.go"), fault.Denied, "bureau claim "+p.Root+"/src/new.go")
	_, err = d.MayEdit(ctx, ana, p, Editing{Paths: []string{"src/a.go"}, Tree: "/other/tree"})
	refused(t, err, fault.Conflict, string(bob.Agent.Name))
	// The session's end frees what was claimed on the way.
	if err := d.EndSession(ctx, ana.Agent.ID, self(), "exit"); err != nil {
		t.Fatal(err)
	}
	d.claims(bob, p, "src/a.go")
	if err := edit(bob, "src/a.go"); err != nil {
		t.Error(err)
	}
}

// TestSubagentsOfOneSession: a session's claim covers its subagents; between
// each other and against their session they are apart.
func TestSubagentsOfOneSession(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	main := d.session("A", self(), p)
	sub := func(id string) Caller {
		c, err := d.Subagent(ctx, main, "claude", id, "worker")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a1, a2 := sub("a1"), sub("a2")
	edit := func(c Caller, path string) error {
		_, err := d.MayEdit(ctx, c, p, Editing{Paths: []string{path}, Tree: p.Root})
		return err
	}
	d.claims(main, p, "src")
	if err := edit(a1, "src/a.go"); err != nil {
		t.Fatal(err)
	}
	if err := edit(a1, "src/a.go"); err != nil {
		t.Fatal(err)
	}
	refused(t, edit(a2, "src/a.go"), fault.Conflict, string(a1.Agent.Name))
	if err := edit(a2, "src/b.go"); err != nil {
		t.Fatal(err)
	}
	if err := edit(main, "src/a.go"); err != nil {
		t.Error(err) // it holds all of src itself
	}
	if err := edit(a2, "doc/x.md"); err != nil {
		t.Fatal(err)
	}
	refused(t, edit(main, "doc/x.md"), fault.Conflict, string(a2.Agent.Name))
	if err := d.EndSubagent(ctx, a2); err != nil {
		t.Fatal(err)
	}
	refused(t, edit(sub("a3"), "src/a.go"), fault.Conflict, string(a1.Agent.Name)) // a2's end frees nothing of a1
	if err := d.EndSubagent(ctx, a1); err != nil {
		t.Fatal(err)
	}
	if err := edit(sub("a2"), "src/a.go"); err != nil {
		t.Error(err)
	}
	if err := edit(main, "doc/x.md"); err != nil {
		t.Error(err)
	}
}

// TestWaitingInACircleIsRefused: two holders who would wait for each other.
func TestWaitingInACircleIsRefused(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), p)
	d.claims(ana, p, "a")
	d.claims(bob, p, "b")
	queued, done := make(chan bool, 1), make(chan error, 1)
	wait, cancel := context.WithCancel(ctx)
	go func() {
		_, err := d.Claim(wait, ana, p, Claiming{Want: paths(p, "b"), Intent: "x", Wait: time.Minute, Waiting: func([]claim.Block) { queued <- true }})
		done <- err
	}()
	<-queued
	_, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "a"), Intent: "y", Wait: time.Minute})
	refused(t, err, fault.Conflict, "circle")
	cancel()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
	if _, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "c"), Intent: "y"}); err != nil {
		t.Error(err)
	}
}

// livingProcess starts a process that lives until the test ends.
func livingProcess(t *testing.T) roster.Process {
	t.Helper()
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	id, ok := proc.Of(c.Process.Pid)
	if !ok {
		t.Fatal("it does not live")
	}
	return roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
}

// kill ends a process and waits until nobody takes it for living.
func kill(t *testing.T, p roster.Process) {
	t.Helper()
	c, err := os.FindProcess(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	for presence.Verdict(p) == roster.Alive {
		time.Sleep(time.Millisecond)
	}
}

// TestAPlaceIsKeptBetweenCalls: a wait that is over keeps its place for another
// call, also before somebody who came in between; given up, it is lost.
func TestAPlaceIsKeptBetweenCalls(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, bob, carla := d.session("A", self(), p), d.session("B", livingProcess(t), p), d.session("C", livingProcess(t), p)
	v := d.claims(ana, p, "src")
	ask := func(c Caller, wait, stay time.Duration) error {
		_, err := d.Claim(ctx, c, p, Claiming{Want: paths(p, "src/a.go"), Intent: "mine", Wait: wait, Stay: stay})
		return err
	}
	for range 2 {
		if err := ask(bob, time.Millisecond, time.Minute); !fault.Is(err, fault.Timeout) {
			t.Fatal(err)
		}
	}
	if err := ask(carla, time.Millisecond, time.Minute); !fault.Is(err, fault.Timeout) {
		t.Fatal(err)
	}
	waits := func() (list []claim.Wait) {
		t.Helper()
		err := d.look(ctx, func(tx *Tx) (err error) {
			list, err = d.tables.Claims(tx.t, ClaimScope(p)).Waits()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if w := waits(); len(w) != 2 || w[0].Agent != bob.Agent.ID {
		t.Fatalf("%+v", w)
	}
	if _, err := d.Release(ctx, ana, p, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	// Carla came later, whether she waits or not.
	for _, wait := range []time.Duration{0, time.Millisecond} {
		if err := ask(carla, wait, time.Minute); err == nil {
			t.Fatal("carla overtook bob")
		}
	}
	if err := ask(bob, 0, time.Minute); err != nil {
		t.Fatalf("bob's place was lost: %v", err)
	}
	if w := waits(); len(w) != 1 || w[0].Agent != carla.Agent.ID {
		t.Fatalf("%+v", w)
	}
	// A cancelled wait keeps nothing.
	cancelled, cancel := context.WithCancel(ctx)
	_, err := d.Claim(cancelled, carla, p, Claiming{
		Want: paths(p, "src/a.go"), Intent: "mine", Wait: time.Minute, Stay: time.Minute, Waiting: func([]claim.Block) { cancel() },
	})
	if err == nil || len(waits()) != 0 {
		t.Fatalf("%v, %+v", err, waits())
	}
}

// TestDirectoryShowsClaims: what somebody holds on purpose stands beside its
// name, with what for.
func TestDirectoryShowsClaims(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana := d.session("A", self(), p)
	for i := range MaxClaimBriefs + 2 {
		d.claims(ana, p, "src/"+string(rune('a'+i)), "doc/"+string(rune('a'+i)))
	}
	v, err := d.Agent(ctx, string(ana.Agent.ID))
	if err != nil || len(v.Claims) != MaxClaimBriefs {
		t.Fatalf("%+v, %v", v.Claims, err)
	}
	if b := v.Claims[0]; b.What != "doc/a and 1 more" || b.Intent != "work on src/a" || b.ID == "" {
		t.Errorf("%+v", b)
	}
}

// TestTheMachinesThingsAreOneInAllProjects: a GPU or a port is the same for
// every project, a deployment is each project's own.
func TestTheMachinesThingsAreOneInAllProjects(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p, q := d.project("app"), d.project("lib")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), q)
	take := func(c Caller, p Project, w claim.Want) (ClaimView, error) {
		return d.Claim(ctx, c, p, Claiming{Want: w, Intent: "train"})
	}
	w := paths(p, "src")
	w.Resources = []claim.Resource{"gpu:0", "deploy:staging"}
	v, err := take(ana, p, w)
	if err != nil {
		t.Fatal(err)
	}
	other := paths(q, "src")
	other.Resources = []claim.Resource{"deploy:staging"}
	if _, err := take(bob, q, other); err != nil {
		t.Errorf("another project's paths and deployment: %v", err)
	}
	_, err = take(bob, q, claim.Want{Resources: []claim.Resource{"gpu:0"}, Tree: q.Root})
	refused(t, err, fault.Conflict, string(ana.Agent.Name), "gpu:0")
	if err := d.EndSession(ctx, ana.Agent.ID, self(), "exit"); err != nil {
		t.Fatal(err)
	}
	// Its session has ended; another project's claim is taken over, not ended on the way.
	_, err = take(bob, q, claim.Want{Resources: []claim.Resource{"gpu:0"}, Tree: q.Root})
	refused(t, err, fault.Conflict, "bureau takeover "+string(v.ID))
	if _, err := d.TakeOver(ctx, bob, Takeover{Claim: string(v.ID), Reason: "its window is closed"}); err != nil {
		t.Error(err)
	}
	d.sound()
}
