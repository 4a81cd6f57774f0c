package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// withColleagues is an office whose roster files name rev and the other names.
func withColleagues(t *testing.T, names ...string) (*desk, *roster.Staff) {
	staff := &roster.Staff{}
	for _, n := range append([]string{"rev"}, names...) {
		staff.Colleagues = append(staff.Colleagues, roster.Profile{Name: name.Name(n), Brief: "B", Tier: roster.Advisor})
	}
	d := openDesk(t, Options{Now: newClock().now, Colleagues: func(_, root string) roster.Staff {
		if strings.Contains(root, "elsewhere") {
			return roster.Staff{}
		}
		return *staff
	}})
	return d, staff
}

// TestMailForAColleague: it can be written to before it ever ran, nothing is
// claimed about its waking, and whoever declares the name finds the mail.
func TestMailForAColleague(t *testing.T) {
	ctx := context.Background()
	d, staff := withColleagues(t, "tess")
	ana := d.agent("ana")
	// Nobody has a seat before it is written to.
	if found, err := d.Directory(ctx, DirectoryQuery{}); err != nil || found.Total != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	sent, err := d.Send(ctx, ana, Letter{To: []string{"@Rev"}, Body: []byte("hello")})
	if err != nil || len(sent.Recipients) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	if r := sent.Recipients[0]; r.Name != "rev" || r.Here || r.Wake != WakeNone || r.Hint != "start a session with BUREAU_NAME=rev" {
		t.Errorf("%+v", r)
	}
	a, err := d.Who(ctx, "rev")
	if err != nil || a.Kind != roster.Colleague || a.Life != nil || a.Project != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	// A letter that is refused gives nobody a seat.
	head, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range [][]string{{"tess", "nobody"}, {"constructor"}, {"__proto__"}, {"toString"}} {
		_, err := d.Send(ctx, ana, Letter{To: to, Body: []byte("x")})
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", to, err)
		}
	}
	_, err = d.Send(ctx, ana, Letter{To: []string{"nobody"}, Body: []byte("x")})
	if hint := fault.HintOf(err); !strings.Contains(hint, "there are rev, tess, user (") {
		t.Errorf("the hint is %q", hint)
	}
	if _, err := d.Send(ctx, ana, Letter{To: []string{"tes"}, Body: []byte("x")}); !strings.Contains(fault.HintOf(err), "did you mean tess?") {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if now, err := d.Head(ctx); err != nil || now != head {
		t.Errorf("the journal grew from %d to %d, %v", head, now, err)
	}
	// In another project it is not known, until it has a seat.
	far := ana
	far.Project.Root = "/elsewhere"
	if _, err := d.Send(ctx, far, Letter{To: []string{"tess"}, Body: []byte("x")}); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	// The next session under the name takes the seat with what waits.
	p := d.project("app")
	rev := d.begin(Session{Client: "claude", ID: "S1", Declared: "rev", Process: deadProcess(1), Folder: p.Root, Project: p})
	if rev.Agent.ID != a.ID || rev.Agent.Kind != roster.Session {
		t.Fatalf("%+v", rev.Agent)
	}
	if list, _, err := d.Take(ctx, rev, 10, 0); err != nil || len(list) != 1 || list[0].Body != "hello" {
		t.Fatalf("%+v, %v", list, err)
	}
	// The seat stays, whatever becomes of the file; the hint only for colleagues.
	if err := d.EndSession(ctx, rev.Agent.ID, rev.Process, "other"); err != nil {
		t.Fatal(err)
	}
	if again := d.send(ana, "rev", "more"); again.Recipients[0].Hint == "" {
		t.Errorf("%+v", again.Recipients)
	}
	staff.Colleagues = nil
	if again := d.send(ana, "rev", "more"); again.Recipients[0].Hint != "" {
		t.Errorf("%+v", again.Recipients)
	}
	d.sound()
}

// TestAskAColleague: a question waits for it as for anybody who is not here.
func TestAskAColleague(t *testing.T) {
	ctx := context.Background()
	d, _ := withColleagues(t, "tess", "tom")
	ana := d.agent("ana")
	ask := func(to string, live bool) (Outcome, error) {
		return d.Ask(ctx, ana, Asking{Letter: Letter{To: []string{to}, Body: []byte("ready?")}, IfLive: live, Timeout: 20 * time.Millisecond})
	}
	before, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask("rev", true); !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.HintOf(err), "BUREAU_NAME=rev") {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if _, err := ask("nobody", false); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.HintOf(err), "rev, tess, tom, user") {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if now, err := d.Head(ctx); err != nil || now != before {
		t.Errorf("the journal grew from %d to %d, %v", before, now, err)
	}
	out, err := ask("rev", false)
	if !fault.Is(err, fault.Timeout) || !out.Timeout {
		t.Fatalf("%+v, %v", out, err)
	}
	if again, err := ask("REV", false); !fault.Is(err, fault.Timeout) || again.Question != out.Question {
		t.Errorf("%+v, %v", again, err)
	}
	p := d.project("app")
	rev := d.begin(Session{Client: "claude", ID: "S1", Declared: "rev", Process: deadProcess(1), Folder: p.Root, Project: p})
	if open, err := d.OpenQuestions(ctx, rev); err != nil || len(open) != 1 || open[0].ID != out.Question {
		t.Fatalf("%+v, %v", open, err)
	}
	// Threads take colleagues in as well.
	th, err := d.OpenThread(ctx, ana, "plans", []string{"tess"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if th, err = d.AddToThread(ctx, ana, string(th.ID), []string{"tom"}); err != nil || strings.Join(th.Participants, " ") != "ana tess tom" {
		t.Errorf("%+v, %v", th, err)
	}
	d.sound()
}

// TestColleaguesList: who is named, and whether its seat is taken.
func TestColleaguesList(t *testing.T) {
	ctx := context.Background()
	d, staff := withColleagues(t, "tess")
	staff.Problems = []error{fault.New(fault.Invalid, "f line 1: wrong").WithHint("mend it")}
	p := d.project("app")
	d.begin(Session{Client: "claude", ID: "S1", Declared: "tess", Process: presence.Self(), Folder: p.Root, Project: p})
	got, err := d.Colleagues(ctx, p.Root)
	if err != nil || len(got.Colleagues) != 2 || len(got.Problems) != 1 || got.Problems[0] != "f line 1: wrong (mend it)" {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := got.Colleagues[0]; c.Name != "rev" || c.Brief != "B" || c.Tier != roster.Advisor || c.Here {
		t.Errorf("%+v", c)
	}
	if c := got.Colleagues[1]; c.Name != "tess" || !c.Here || c.Status != "idle" {
		t.Errorf("%+v", c)
	}
	if f := d.RosterProblems(p.Root); len(f) != 1 || f[0].Text != "f line 1: wrong" || f[0].Fix != "mend it" || f[0].Severity != Hint {
		t.Errorf("%+v", f)
	}
	// Mail to a colleague who is here has no hint.
	if sent := d.send(d.user(), "tess", "hello"); sent.Recipients[0].Hint != "" || sent.State != mail.Stored {
		t.Errorf("%+v", sent)
	}
	none := openDesk(t, Options{})
	if got, err := none.Colleagues(ctx, ""); err != nil || got.Colleagues == nil || got.Problems == nil || len(got.Colleagues) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Who is alone in the office is not shown an empty list of names.
func TestNobodyElseIsThere(t *testing.T) {
	d := newDesk(t)
	_, err := d.Send(context.Background(), d.user(), Letter{To: []string{"bob"}, Body: []byte("hello")})
	if hint := fault.HintOf(err); !fault.Is(err, fault.NotFound) || !strings.Contains(hint, "nobody else") || !strings.Contains(hint, "bureau register") {
		t.Errorf("%v (%s)", err, hint)
	}
}
