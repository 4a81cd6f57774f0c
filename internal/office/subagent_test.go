package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
)

// worker makes a subagent of a session.
func (d *desk) worker(main Caller, id, kind string) Caller {
	d.t.Helper()
	c, err := d.Subagent(context.Background(), main, "claude", id, kind)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) stops(c Caller) {
	d.t.Helper()
	if err := d.EndSubagent(context.Background(), c); err != nil {
		d.t.Fatal(err)
	}
}

// lead is a session of the test's own process.
func (d *desk) lead(id, name string) Caller {
	p := d.project("app")
	return d.begin(Session{Client: "claude", ID: id, Declared: name, Process: self(), Folder: p.Root, Project: p})
}

// bodies are the texts of what is unread for somebody.
func (d *desk) bodies(c Caller) string {
	d.t.Helper()
	var all []string
	for _, m := range d.unread(c, 10) {
		all = append(all, m.Body)
	}
	return strings.Join(all, ",")
}

// TestWhatASubagentLeaves: what is unread for one that ends is its session's
// main agent's, and the sender sees both.
func TestWhatASubagentLeaves(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bert, anna := d.agent("bert"), d.lead("S1", "anna")
	sub := d.worker(anna, "a1", "Explore")
	if sub.Agent.Name != "anna.Explore" {
		t.Fatalf("%+v", sub.Agent)
	}
	read := d.send(bert, "anna.Explore", "read")
	if err := d.Seen(ctx, sub, []event.ID{read.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	note := d.send(bert, "anna.Explore", "unread")
	d.send(anna, "anna.Explore", "of its own lead")
	both, err := d.Send(ctx, bert, Letter{To: []string{"anna", "anna.Explore"}, Body: []byte("to both")})
	if err != nil {
		t.Fatal(err)
	}
	d.shout(bert, "@all", "to everybody")
	before, err := d.Ringable(ctx, anna.Agent.ID)
	if err != nil || before.Count != 2 { // both, and the shout
		t.Fatalf("%+v, %v", before, err)
	}
	d.stops(sub)
	if got := d.bodies(anna); got != "to everybody,to both,unread" {
		t.Errorf("anna has %q", got)
	}
	if got := d.bodies(sub); got != "" {
		t.Errorf("the subagent has %q", got)
	}
	// It is newer than all that anna was rung for before.
	after, err := d.Ringable(ctx, anna.Agent.ID)
	if err != nil || after.Count != 3 || after.Position <= before.Position || after.Newest != note.ID {
		t.Errorf("%+v after %+v, %v", after, before, err)
	}
	list, _, err := d.Pending(ctx, anna, 0, Waking, 10)
	if err != nil || len(list) != 3 || list[0].Body != "unread" || list[0].For != "anna.Explore" || list[0].Position() <= before.Position || list[1].For != "" {
		t.Errorf("%+v, %v", list, err)
	}
	m := d.sentState(bert, note.ID)
	words := map[string]ReceiptView{}
	for _, r := range m.Receipts {
		words[r.Name] = r
	}
	if r := words["anna.Explore"]; r.State != mail.Undeliverable || r.Reason != "it has ended; anna has it now" || r.Woken != "" {
		t.Errorf("%+v", r)
	}
	if r := words["anna"]; r.State != mail.Stored || r.For != "anna.Explore" || m.State != mail.Stored {
		t.Errorf("%+v", m)
	}
	if m := d.sentState(bert, read.ID); m.State != mail.Seen || len(m.Receipts) != 1 {
		t.Errorf("what it had read: %+v", m)
	}
	if m := d.sentState(bert, both.ID); len(m.Receipts) != 2 {
		t.Errorf("%+v", m)
	}
	// Its lead may take part where it did.
	if err := d.Seen(ctx, anna, []event.ID{note.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	if m := d.sentState(bert, note.ID); m.State != mail.Seen {
		t.Errorf("%+v", m)
	}
	if _, err := d.Send(ctx, anna, Letter{Thread: string(note.Thread), To: []string{"bert"}, Body: []byte("I read it")}); err != nil {
		t.Error(err)
	}
	v, err := d.Agent(ctx, "anna.Explore")
	if err != nil || !v.Ended || v.Heir != "anna" || v.Unread != 0 || v.Here {
		t.Errorf("%+v, %v", v, err)
	}
	d.sound()
	if err := d.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	if got := d.bodies(anna); got != "to everybody,to both" {
		t.Errorf("after a rebuild anna has %q", got)
	}
	// Continued, it is itself again.
	again := d.worker(anna, "a1", "Explore")
	if again.Agent.ID != sub.Agent.ID {
		t.Errorf("%+v", again.Agent)
	}
	d.send(bert, "anna.Explore", "welcome back")
	if got := d.bodies(again); got != "welcome back" {
		t.Errorf("it has %q", got)
	}
}

// TestWritingToAnEndedSubagent names who can be written to, or forwards with a
// word.
func TestWritingToAnEndedSubagent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bert, anna := d.agent("bert"), d.lead("S1", "anna")
	sub := d.worker(anna, "a1", "Explore")
	hello := d.send(sub, "bert", "hello")
	mine := d.send(anna, "anna.Explore", "look at it")
	d.stops(sub)
	for what, l := range map[string]Letter{
		"a note": {To: []string{"anna.Explore"}}, "a question": {To: []string{"anna.Explore"}, Kind: mail.Question},
		"one of two": {To: []string{"anna", "anna.Explore"}}, "its answers": {To: []string{"anna"}, Kind: mail.Question, AnswerTo: "anna.Explore"},
	} {
		l.Body = []byte("x")
		if _, err := d.Send(ctx, bert, l); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.HintOf(err), "write to anna,") {
			t.Errorf("%s: %v (%s)", what, err, fault.HintOf(err))
		}
	}
	if _, err := d.Ask(ctx, bert, Asking{Letter: Letter{To: []string{"anna.Explore"}, Body: []byte("x")}}); !fault.Is(err, fault.NotFound) {
		t.Errorf("ask: %v", err)
	}
	// A reply goes to whoever has its mail.
	s, err := d.Send(ctx, bert, Letter{Re: string(hello.ID), Body: []byte("a reply")})
	if err != nil || len(s.Recipients) != 1 || s.Recipients[0].Name != "anna" || s.Recipients[0].For != "anna.Explore" {
		t.Fatalf("%+v, %v", s, err)
	}
	if got := d.bodies(anna); got != "a reply" {
		t.Errorf("anna has %q", got)
	}
	// Its lead cannot write to it by replying to itself.
	if _, err := d.Send(ctx, anna, Letter{Thread: string(mine.Thread), Body: []byte("and?")}); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	d.shout(bert, "project:app", "to the project")
	if got := d.bodies(sub); got != "" {
		t.Errorf("the subagent has %q", got)
	}
	d.sound()
}

// TestQuestionsOfAnEndedSubagent: the questions that it was asked and asked are
// its session's main agent's; who waits learns of it at once.
func TestQuestionsOfAnEndedSubagent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bert, carla, anna := d.agent("bert"), d.agent("carla"), d.lead("S1", "anna")
	sub := d.worker(anna, "a1", "Explore")
	ask := func(from Caller, to string) Sent {
		s, err := d.Send(ctx, from, Letter{To: []string{to}, Kind: mail.Question, Body: []byte("of " + string(from.Agent.Name))})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	own, toBert, toLead := ask(anna, "anna.Explore"), ask(sub, "bert"), ask(sub, "anna")
	type passing struct {
		from string
		to   RecipientView
	}
	stored, passed, done := make(chan Asked, 1), make(chan passing, 1), make(chan error, 1)
	var out Outcome
	go func() {
		var err error
		out, err = d.Ask(ctx, carla, Asking{
			Letter: Letter{To: []string{"anna.Explore"}, Body: []byte("and you?")}, Timeout: time.Minute,
			Waiting: func(a Asked) { stored <- a }, Passed: func(from string, to RecipientView) bool { passed <- passing{from, to}; return true },
		})
		done <- err
	}()
	asked := <-stored
	d.stops(sub)
	if p := <-passed; p.from != "anna.Explore" || p.to.Name != "anna" || p.to.For != "anna.Explore" {
		t.Fatalf("%+v", p)
	}
	v, err := d.Agent(ctx, "carla")
	if err != nil || len(v.WaitingFor) != 1 || v.WaitingFor[0].Asked != "anna" {
		t.Errorf("%+v, %v", v.WaitingFor, err)
	}
	open, err := d.OpenQuestions(ctx, anna)
	if err != nil || len(open) != 1 || open[0].ID != asked.Question {
		t.Fatalf("%+v, %v", open, err)
	}
	if _, err := d.Answer(ctx, anna, string(asked.Question), Letter{Body: []byte("for it")}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || out.Answer == nil || out.Answer.Body != "for it" || out.Answer.From != "anna" {
		t.Fatalf("%+v, %v", out, err)
	}
	// An answer to it comes to its lead, who can wait for it too.
	go func() {
		var err error
		out, err = d.Ask(ctx, anna, Asking{Question: string(toBert.ID), Timeout: time.Minute, Waiting: func(a Asked) { stored <- a }})
		done <- err
	}()
	<-stored
	s, err := d.Answer(ctx, bert, string(toBert.ID), Letter{Body: []byte("of bert")})
	if err != nil || len(s.Recipients) != 1 || s.Recipients[0].Name != "anna" {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := <-done; err != nil || out.Answer == nil || out.Answer.Body != "of bert" {
		t.Fatalf("%+v, %v", out, err)
	}
	// What was between the two of them is over.
	for _, q := range []event.ID{own.ID, toLead.ID} {
		var list []projection.Question
		err := d.look(ctx, func(tx *Tx) (err error) {
			list, err = d.tables.Question(tx.t, q)
			return err
		})
		if err != nil || len(list) != 1 || list[0].Status != "ended" || list[0].Reason != mail.Gone {
			t.Errorf("%+v, %v", list, err)
		}
	}
	d.sound()
	if err := d.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSubagentsOfADeadSession: nobody said that they ended, and their mail waits
// for the next session in the seat all the same.
func TestSubagentsOfADeadSession(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	bert := d.agent("bert")
	start := func(id string, pid int) Caller {
		return d.begin(Session{Client: "claude", ID: id, Declared: "anna", Process: deadProcess(pid), Folder: p.Root, Project: p})
	}
	anna := start("S1", 1)
	// The processes are dead from the beginning, so it is written to by a reply
	// in its own thread: forwarded at once.
	sub := d.worker(anna, "a1", "Explore")
	asked, err := d.Send(ctx, sub, Letter{To: []string{"bert"}, Kind: mail.Question, Body: []byte("?")})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := d.Answer(ctx, bert, string(asked.ID), Letter{Body: []byte("!")}); err != nil || s.Recipients[0].For != "anna.Explore" {
		t.Fatalf("%+v, %v", s, err)
	}
	again, err := d.Send(ctx, sub, Letter{To: []string{"bert"}, Kind: mail.Question, Body: []byte("and?")})
	if err != nil {
		t.Fatal(err)
	}
	next := start("S2", 2)
	if next.Agent.ID != anna.Agent.ID {
		t.Fatalf("%+v", next.Agent)
	}
	if got := d.bodies(next); got != "!" {
		t.Errorf("anna has %q", got)
	}
	if s, err := d.Answer(ctx, bert, string(again.ID), Letter{Body: []byte("!!")}); err != nil || s.Recipients[0].Name != "anna" || s.Recipients[0].For != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	// Nobody has it: its session's agent is retired.
	sub = d.worker(next, "a2", "Plan")
	if _, err := d.Retire(ctx, d.user(), "anna", ""); err != nil {
		t.Fatal(err)
	}
	if err := d.EndStray(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Send(ctx, bert, Letter{To: []string{string(sub.Agent.Name)}, Body: []byte("x")}); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	d.sound()
}

// TestOwnLettersToAnEndedSubagent: what the office itself tells it reaches its
// session, and undoes nothing.
func TestOwnLettersToAnEndedSubagent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bert, anna := d.agent("bert"), d.lead("S1", "anna")
	sub := d.worker(anna, "a1", "Explore")
	d.stops(sub)
	err := d.change(ctx, bert.actor(), func(tx *Tx) error {
		return tx.note(claim.By{Agent: bert.Agent.ID}, sub.Agent.ID, "you lost a claim", "it was taken over", event.NewID(tx.now))
	})
	if err != nil {
		t.Fatal(err)
	}
	if list := d.unread(anna, 10); len(list) != 1 || list[0].Subject != "you lost a claim" {
		t.Errorf("%+v", list)
	}
	if err := d.change(ctx, bert.actor(), func(tx *Tx) error {
		lost := claim.Claim{ID: event.NewID(tx.now), Holder: sub.Agent.ID, Want: claim.Want{Paths: []claim.Pattern{"x"}}}
		return tx.tellOvertaken(sub.Agent.ID, []gone{{claim: lost}})
	}); err != nil {
		t.Fatal(err)
	}
	if list := d.unread(anna, 10); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}

// TestAQuestionToBothIsAnsweredOnce: what a session's main agent has answered
// does not come back to it from its subagent, unseen, to be answered again.
func TestAQuestionToBothIsAnsweredOnce(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bert, anna := d.agent("bert"), d.lead("S1", "anna")
	sub := d.worker(anna, "a1", "Explore")
	q, err := d.Send(ctx, bert, Letter{To: []string{"anna", "anna.Explore"}, Kind: mail.Question, Body: []byte("which port?")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Answer(ctx, anna, string(q.ID), Letter{Body: []byte("8080")}); err != nil {
		t.Fatal(err)
	}
	d.stops(sub)
	if open, err := d.OpenQuestions(ctx, anna); err != nil || len(open) != 0 {
		t.Errorf("%+v, %v", open, err)
	}
	note, err := d.Send(ctx, anna, Letter{To: []string{"bert"}, Thread: string(q.Thread), Body: []byte("by the way")})
	if err != nil || note.Answers != "" {
		t.Errorf("a note is the answer to %q, %v", note.Answers, err)
	}
	d.sound()
}
