package hook

import (
	"testing"
	"time"

	"bureau/internal/mail"
)

// Each row is the event that prints a message and those that come before its
// proof; the last one proves it.
func TestWhatProves(t *testing.T) {
	t.Parallel()
	own := []string{"PreToolUse"}
	for _, row := range []struct {
		name   string
		prints string
		not    []string // prove nothing, and may print it again
		proof  []string
	}{
		{"prompt, then one of our tools", "UserPromptSubmit", nil, own},
		{"prompt, then a round", "UserPromptSubmit", nil, []string{"PostToolBatch"}},
		{"prompt, then the end", "UserPromptSubmit", nil, []string{"Stop"}},
		{"blocked prompts", "UserPromptSubmit", []string{"UserPromptSubmit", "UserPromptSubmit"}, []string{"Stop"}},
		{"a start, then a prompt", "SessionStart", []string{"UserPromptSubmit"}, []string{"Stop"}},
		{"compaction", "UserPromptSubmit", []string{"SessionStart"}, []string{"PostToolBatch"}},
		{"a round", "PostToolBatch", nil, own},
		{"two rounds", "PostToolBatch", nil, []string{"PostToolBatch"}},
		{"a round and the end", "PostToolBatch", nil, []string{"Stop"}},
		{"notices", "UserPromptSubmit", []string{"Notification", "CwdChanged", "PostToolUse", "SubagentStop"}, []string{"Stop"}},
		{"a turn that failed", "UserPromptSubmit", []string{"StopFailure", "UserPromptSubmit"}, []string{"Stop"}},
		{"inside a round", "PostToolUse", []string{"PreToolUse", "PostToolUse"}, []string{"Stop"}},
		{"inside a round, then its end", "PostToolUse", []string{"PreToolUse", "PostToolBatch"}, own},
		{"the end of a turn", "Stop", nil, []string{"Stop"}},
		{"the end, then a round", "Stop", nil, []string{"PostToolBatch"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			c := d.started("S1")
			c.event("UserPromptSubmit", "prompt", "begin").silent()
			m := d.send(c.name(), "hello there")
			d.want(m, mail.Stored)
			c.step(row.prints).has("hello there", m.Short)
			d.want(m, mail.Offered)
			for _, e := range row.not {
				s := c.step(e)
				if again := e == "UserPromptSubmit" || e == "SessionStart"; again {
					s.has("hello there")
				} else {
					s.lacks("hello there")
				}
				if got := d.state(m.ID); got != mail.Offered {
					t.Fatalf("after %s it is %s", e, got)
				}
			}
			for _, e := range row.proof {
				c.step(e).lacks("hello there")
			}
			d.want(m, mail.Seen)
			c.event("UserPromptSubmit", "prompt", "go on").silent()
		})
	}
}

// step sends an event with what the client usually gives along.
func (c *client) step(event string, pairs ...any) said {
	c.d.t.Helper()
	switch event {
	case "SessionStart":
		pairs = append([]any{"source", "compact"}, pairs...)
	case "UserPromptSubmit":
		pairs = append([]any{"prompt", "please"}, pairs...)
	case "PreToolUse":
		return c.own(pairs...)
	case "PostToolBatch":
		pairs = append([]any{"tool_calls", []any{map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "true"}, "tool_response": "ok"}}}, pairs...)
	case "PostToolUse":
		pairs = append([]any{"tool_name", "Bash", "tool_response", map[string]any{"stdout": "ok"}}, pairs...)
	case "Stop":
		pairs = append([]any{"stop_hook_active", false}, pairs...)
	case "SubagentStop":
		// of a subagent that the office does not know
		pairs = append([]any{"agent_id", "a1", "agent_type", "Explore"}, pairs...)
	case "Notification":
		pairs = append([]any{"notification_type", "elicitation_response", "message", "x"}, pairs...)
	}
	return c.event(event, pairs...)
}

func TestAnOfferOfAGoneProcessIsMadeAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	m := d.send(c.name(), "hello")
	c.step("UserPromptSubmit").has("hello")
	c.stop()
	next := d.client("S1")
	next.event("SessionStart", "source", "resume").has("hello")
	if got := next.offers(); len(got) != 1 || got[0].Key.Process.PID != next.pid {
		t.Fatalf("%+v", got)
	}
	d.want(m, mail.Offered)
	next.step("Stop")
	d.want(m, mail.Seen)
}

// TestLeasesRunWhileIdleOnly: in a turn that takes an hour nobody else is given
// the mail; a session that sits idle with it for longer than the lease can be
// rung for it, and is given it again.
func TestLeasesRunWhileIdleOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	m := d.send(c.name(), "hello")
	c.step("UserPromptSubmit").has("hello")
	me := c.caller()
	ringable := func() int {
		t.Helper()
		w, err := d.o.Ringable(d.ctx, me.Agent.ID)
		n := w.Count
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	d.late += time.Hour
	if ringable() != 0 {
		t.Fatal("rung for what a busy session has been given")
	}
	// Esc before the first words: no Stop, and a minute later this.
	c.event("Notification", "notification_type", "permission_prompt")
	d.late += time.Hour
	if ringable() != 0 {
		t.Fatal("rung for what a session that waits for its user has been given")
	}
	c.event("Notification", "notification_type", "idle_prompt")
	if ringable() != 0 {
		t.Fatal("the lease ended with the turn")
	}
	d.late += 50 * time.Second
	c.event("Notification", "notification_type", "idle_prompt") // moves nothing
	d.late += 20 * time.Second
	if ringable() != 1 {
		t.Fatal("the lease did not run while the session was idle")
	}
	c.step("UserPromptSubmit").has("hello")
	d.want(m, mail.Offered)
	c.step("Stop")
	d.want(m, mail.Seen)
}
