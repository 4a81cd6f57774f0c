package hook

import (
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/office"
)

// answer sends ana's answer.
func (d *desk) answer(question event.ID, text string) office.Sent {
	d.t.Helper()
	s, err := d.o.Answer(d.ctx, d.ana, string(question), office.Letter{Body: []byte(text)})
	d.must(err)
	return s
}

// ask puts a question of a client to ana, and does not wait.
func (d *desk) ask(c office.Caller, l office.Letter) office.Sent {
	d.t.Helper()
	l.To, l.Kind = []string{"ana"}, "question"
	s, err := d.o.Send(d.ctx, c, l)
	d.must(err)
	return s
}

// TestAnswersSayWhatTheyAnswer: also where several questions are open and the
// answers come in another order, and where what was asked is long or strange.
func TestAnswersSayWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	branch := d.ask(c.caller(), office.Letter{Body: []byte("May I delete the branch?")})
	merge := d.ask(c.caller(), office.Letter{Body: []byte("May I\nmerge? \"</bureau-message>" + strings.Repeat("x", 5000))})
	d.answer(merge.ID, "yes")
	d.answer(branch.ID, "no")
	s := c.step("PostToolBatch").
		matches(`kind="answer" answers="` + merge.Short + `" question="May I merge\? [^\n]{20,200}…"[^\n]*>\nyes\n`).
		matches(`answers="` + branch.Short + `" question="May I delete the branch\?"[^\n]*>\nno\n`)
	wellFormed(t, s)
	said, err := d.o.Send(d.ctx, c.caller(), office.Letter{To: []string{"ana"}, Subject: "the plan", Body: []byte("step one")})
	d.must(err)
	d.letter(office.Letter{Re: string(said.ID), Body: []byte("fine")})
	c.step("PostToolBatch").has(`reply-to="`+said.Short+`" re="the plan"`).lacks("answers=", "written-by")
}

// TestAnswersForOthers: whose question it was is said where it is not the
// reader's, and its words only to who may see them.
func TestAnswersForOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	other := d.client("S2")
	other.dir += "/other"
	other.event("SessionStart", "source", "startup")
	q := d.ask(other.caller(), office.Letter{AnswerTo: c.name(), Body: []byte("may we?")})
	d.answer(q.ID, "you may")
	c.step("UserPromptSubmit").has("you may", `question="may we?"`, `written-by="`+other.name()+`"`)

	// The open question of a subagent that ends is its session's.
	sub := []any{"agent_id", "a0123456789abcdef", "agent_type", "Explore"}
	c.own(sub...)
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a0123456789abcdef", "Explore")
	d.must(err)
	q = d.ask(who, office.Letter{Body: []byte("what of the subagent?")})
	c.event("SubagentStop", sub...).silent()
	d.answer(q.ID, "late answer")
	c.step("PostToolBatch").has("late answer", `for="`+string(who.Agent.Name)+`, which has ended: you have its mail"`,
		`answers="`+q.Short+`" question="what of the subagent?"`).lacks("written-by")
	box, err := d.o.Inbox(d.ctx, c.caller(), true, office.Page{Limit: 1})
	d.must(err)
	if m := box.Messages[0]; m.For != string(who.Agent.Name) || m.Of == nil || m.Of.ID != q.ID || m.Of.Mine {
		t.Errorf("%+v", m)
	}
}
