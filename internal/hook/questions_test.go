package hook

import (
	"fmt"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// question is one from ana.
func (d *desk) question(to string, l office.Letter) office.Sent {
	d.t.Helper()
	l.To, l.Kind = []string{to}, mail.Question
	if l.Body == nil {
		l.Body = []byte("may I?")
	}
	return d.letter(l)
}

// TestStopWithAnOpenQuestion: one that came in the turn, at whatever event, and
// was not answered, makes the session go on once.
func TestStopWithAnOpenQuestion(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"UserPromptSubmit", "PostToolBatch", "PostToolUse", "tool"} {
		for _, active := range []any{false, true, nil} {
			d := newDesk(t)
			c := d.started("S1")
			if at != "UserPromptSubmit" {
				c.step("UserPromptSubmit").silent()
			}
			q := d.question(c.name(), office.Letter{Subject: "the subject", Body: []byte("may I merge?")})
			if at == "tool" {
				if _, err := d.o.Read(d.ctx, c.caller(), []string{q.Short}); err != nil {
					t.Fatal(err)
				}
				c.event("PostToolBatch", "tool_calls", []any{map[string]any{"tool_name": "mcp__bureau__read_message", "tool_response": string(q.ID)}})
			} else {
				c.step(at).has("may I merge?")
			}
			s := c.event("Stop", "stop_hook_active", active).has("1 question waits for your answer: "+q.Short+" from ana", "send tool (answers=ID), or `bureau answer ID TEXT`").lacks("merge", "subject")
			if want := "bureau: 1 question waits for your answer: " + q.Short + "; read what is in the context and go on."; s.Reason != want {
				t.Errorf("%s: %q", at, s.Reason)
			}
			if got, _ := d.o.Status(d.ctx, c.caller()); got != presence.Busy {
				t.Errorf("it goes on and is %s", got)
			}
			for range 3 {
				c.step("Stop").silent()
			}
			// It is none of the next turn's.
			c.step("UserPromptSubmit").silent()
			c.step("Stop").silent()
			d.want(q, mail.Seen)
		}
	}
}

// TestStopWithoutAReasonToGoOn: what was answered, ended or came before the turn
// is none, nor is a question that would wake nobody.
func TestStopWithoutAReasonToGoOn(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		l      office.Letter
		settle func(d *desk, c *client, q office.Sent)
	}{
		"answered": {settle: func(d *desk, c *client, q office.Sent) {
			_, err := d.o.Answer(d.ctx, c.caller(), string(q.ID), office.Letter{Body: []byte("yes")})
			d.must(err)
		}},
		"closed": {settle: func(d *desk, c *client, q office.Sent) {
			_, err := d.o.CloseThread(d.ctx, d.ana, string(q.Thread), "")
			d.must(err)
		}},
		"low":          {l: office.Letter{Importance: mail.Low}},
		"not to wake":  {l: office.Letter{NoWake: true}},
		"another turn": {settle: func(d *desk, c *client, q office.Sent) { c.own(); c.step("UserPromptSubmit").silent() }},
		"another session in the seat": {settle: func(d *desk, c *client, q office.Sent) {
			c.own()
			c.event("SessionEnd", "reason", "other").silent()
			c.session = "S2"
			c.event("SessionStart", "source", "startup").has("1 question waits for your answer")
			c.step("UserPromptSubmit").silent()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			c := d.started("S1")
			q := d.question(c.name(), x.l)
			c.step("UserPromptSubmit").has("may I?")
			if x.settle != nil {
				x.settle(d, c, q)
			}
			c.step("Stop").silent()
		})
	}
}

// TestStopWithQuestionsAndMail: each question has one stop, whether it came with
// a stop or before it, and all bounds hold: three in a row.
func TestStopWithQuestionsAndMail(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	one := d.question(c.name(), office.Letter{Body: []byte("one?")})
	c.step("PostToolBatch").has("one?")
	d.send(c.name(), strings.Repeat("x", 6000))
	two := d.question(c.name(), office.Letter{Body: []byte("two? " + strings.Repeat("x", 6000))})
	s := c.step("Stop").has("1 question waits for your answer: "+one.Short, "1 more wait").lacks("two?")
	if want := "bureau: 1 message came, 1 question waits for your answer: " + one.Short; !strings.HasPrefix(s.Reason, want) {
		t.Errorf("%q", s.Reason)
	}
	c.step("Stop").has("two?").lacks("waits for your answer")
	c.step("Stop").silent()
	three := d.question(c.name(), office.Letter{Body: []byte("three?")})
	c.step("PostToolBatch").has("three?")
	c.step("Stop").has(three.Short).lacks(one.Short, two.Short)
	// The fourth in a row is none, and what it would have been for is left.
	d.question(c.name(), office.Letter{Body: []byte("four?")})
	c.step("PostToolBatch").has("four?")
	c.step("Stop").silent()
	c.step("UserPromptSubmit").silent()
	c.step("Stop").silent()
	// Many are named by some.
	var ids []event.ID
	for i := range 7 {
		ids = append(ids, d.question(c.name(), office.Letter{Body: fmt.Appendf(nil, "many %d?", i)}).ID)
	}
	c.step("PostToolBatch").has("many 6?")
	if s := c.step("Stop").has("7 questions wait for your answer: ", " and 2 more"); strings.Contains(s.Reason, string(ids[6][20:])) {
		t.Errorf("%q", s.Reason)
	}
	c.step("Stop").silent()
}

// TestASubagentStopsWithAnOpenQuestion: its own, and not its session's.
func TestASubagentStopsWithAnOpenQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	sub := []any{"agent_id", "a0123456789abcdef", "agent_type", "Explore"}
	c.event("UserPromptSubmit", "prompt", "go").silent()
	c.own(sub...)
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a0123456789abcdef", "Explore")
	d.must(err)
	mine := d.question(c.name(), office.Letter{})
	its := d.question(string(who.Agent.Name), office.Letter{Body: []byte("and you?")})
	c.step("PostToolBatch").has("may I?")
	c.event("PostToolBatch", sub...).has("and you?")
	c.event("SubagentStop", sub...).has("1 question waits for your answer: "+its.Short).lacks(mine.Short, "bureau answer")
	c.event("SubagentStop", sub...).silent()
	// It has ended, and its question is its session's; each has one stop.
	c.event("Stop").has("1 question waits for your answer: "+mine.Short, "and you?")
	c.event("Stop").silent()
}
