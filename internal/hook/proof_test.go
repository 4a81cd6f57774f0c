package hook

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// batchOf makes a PostToolBatch of one call of ours and one of another tool.
func batchOf(input, response any) []any {
	return []any{"tool_calls", []any{
		map[string]any{"tool_name": "mcp__bureau__read_message", "tool_input": input, "tool_use_id": "toolu_1", "tool_response": response},
		map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "true"}, "tool_use_id": "toolu_2", "tool_response": ""},
	}}
}

func textBlocks(s string) any { return []any{map[string]any{"type": "text", "text": s}} }

// TestWhatAToolHandsOut: a result counts once a round's end shows it, and the
// next move proves it. Ids in what the model asked for, or in errors, show
// nothing.
func TestWhatAToolHandsOut(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		response func(id string) any
		arrives  bool
	}{
		"a text":           {func(id string) any { return textBlocks(`<bureau-message-x id="` + id + `">`) }, true},
		"a string":         {func(id string) any { return "message " + id }, true},
		"an object":        {func(id string) any { return map[string]any{"stdout": "message " + id, "stderr": ""} }, true},
		"nothing":          {func(string) any { return nil }, false},
		"another":          {func(string) any { return textBlocks(`<bureau-message-x id="ZZZZZZ">`) }, false},
		"an error":         {func(id string) any { return "<tool_use_error>Error: no message " + id + "</tool_use_error>" }, false},
		"a plain error":    {func(id string) any { return "Error: timeout while reading " + id }, false},
		"a failed command": {func(id string) any { return "Exit code 3\nmessage " + id }, true},
		"our own error":    {func(id string) any { return `{"error":{"code":"not_found","message":"no message \"` + id + `\""}}` }, false},
		"an error block":   {func(id string) any { return textBlocks("Error: " + id) }, false},
		"a marked error":   {func(id string) any { return map[string]any{"isError": true, "content": textBlocks(id)} }, false},
		"a marked error_":  {func(id string) any { return map[string]any{"is_error": true, "content": id} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.started("S1")
			c.step("UserPromptSubmit").silent()
			m := d.send(c.name(), "hello")
			c.own()
			// As the server does it, and another call of the same round.
			if _, err := d.o.Read(d.ctx, c.caller(), []string{m.Short}); err != nil {
				t.Fatal(err)
			}
			c.own()
			c.step("PostToolUse")
			d.want(m, mail.Offered)
			c.event("PostToolBatch", batchOf(map[string]any{"id": m.Short}, row.response(m.Short))...).silent()
			d.want(m, mail.Offered)
			c.own()
			if row.arrives {
				d.want(m, mail.Seen)
				c.step("Stop").silent()
				return
			}
			d.want(m, mail.Offered)
			c.step("PostToolBatch").silent()
			d.want(m, mail.Offered)
			// The turn ends, and the model never got it.
			c.step("Stop").has("hello")
			d.want(m, mail.Offered)
			c.step("Stop").silent()
			d.want(m, mail.Seen)
		})
	}
}

// Versions without PostToolBatch: a result that one PostToolUse shows is not
// proved by another call of the same round, only by the end of the turn.
func TestAToolWithoutBatches(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	m := d.send(c.name(), "hello")
	c.own()
	if _, err := d.o.Read(d.ctx, c.caller(), []string{m.Short}); err != nil {
		t.Fatal(err)
	}
	c.event("PostToolUse", "tool_name", "mcp__bureau__read_message", "tool_input", map[string]any{}, "tool_response", textBlocks("message "+m.Short)).silent()
	c.own()
	c.event("PostToolUse", "tool_name", "mcp__bureau__read_message", "tool_response", textBlocks("nothing")).silent()
	d.want(m, mail.Offered)
	c.step("Stop").silent()
	d.want(m, mail.Seen)
}

// The round in which a tool hands out mail that the hook had left alone is
// looked at, although nothing new came since the hook had nothing to do.
func TestHandingOutEndsIdleness(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	m := d.letter(office.Letter{To: []string{c.name()}, Importance: mail.Low, Body: []byte("by the way")})
	c.step("PostToolBatch").silent()
	if _, _, err := d.o.Take(d.ctx, c.caller(), 10, office.DefaultLease); err != nil {
		t.Fatal(err)
	}
	c.event("PostToolBatch", batchOf(nil, textBlocks(m.Short))...).silent()
	c.step("Stop").silent()
	d.want(m, mail.Seen)
}

// TestSubagents: hooks with an agent_id neither carry nor prove the main
// agent's mail, and the other way round.
func TestSubagents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	sub := []any{"agent_id", "a66ca", "agent_type", "Explore"}
	m := d.send(c.name(), "for the main agent")
	for _, e := range []string{"PostToolBatch", "PostToolUse", "SubagentStop", "Stop"} {
		c.step(e, sub...).silent()
	}
	d.want(m, mail.Stored)
	c.step("UserPromptSubmit").has("for the main agent")
	for _, e := range []string{"PreToolUse", "PostToolBatch", "SubagentStop", "Stop"} {
		c.step(e, sub...).silent()
	}
	c.event("SubagentStop").silent() // of whom, it does not say
	d.want(m, mail.Offered)

	// The subagent calls one of our tools, and is somebody from then on.
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a66ca", "Explore")
	if err != nil {
		t.Fatal(err)
	}
	n := d.send(string(who.Agent.Name), "for the subagent")
	c.step("PostToolBatch").silent() // proves the main agent's
	d.want(m, mail.Seen)
	c.step("Stop").silent()
	d.want(n, mail.Stored)
	c.step("PostToolBatch", sub...).has("for the subagent").lacks("for the main agent")
	c.own()
	c.step("PostToolBatch")
	c.step("Stop", "agent_id", "another")
	d.want(n, mail.Offered)
	c.own(sub...)
	d.want(n, mail.Seen)

	// It stops; what it was not given keeps it going once.
	n = d.send(string(who.Agent.Name), "one thing more")
	c.step("SubagentStop", sub...).has("one thing more")
	c.step("SubagentStop", sub...).silent()
	d.want(n, mail.Seen)

	// And it may be continued later.
	if who, err = d.o.Subagent(d.ctx, c.caller(), clientName, "a66ca", "Explore"); err != nil || who.Adrift {
		t.Fatalf("%+v, %v", who, err)
	}
	d.send(string(who.Agent.Name), "and again")
	c.step("PostToolBatch", sub...).has("and again")
	// Its shell acts as the session, so it is shown tools and no commands.
	d.letter(office.Letter{To: []string{string(who.Agent.Name)}, Kind: mail.Question, Body: bytes.Repeat([]byte("ready? "), 3000)})
	c.step("PostToolBatch", sub...).has("answer=\"wanted: send tool with answers=", "the rest: read_message ").lacks("bureau answer", "bureau read", "bureau inbox")
}

// TestTwoProcessesOfOneConversation: the newer one has it; the older one is
// told at each prompt, gets nothing and proves nothing.
func TestTwoProcessesOfOneConversation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	old := d.started("S1")
	m := d.send(old.name(), "hello")
	old.step("UserPromptSubmit").has("hello")
	next := d.client("S1")
	next.event("SessionStart", "source", "resume").has("hello") // taken over at once, although the other is in a turn
	for _, e := range []string{"PostToolBatch", "PreToolUse", "PostToolUse", "Notification", "Stop", "SubagentStop"} {
		old.step(e).silent()
	}
	d.want(m, mail.Offered)
	n := d.send(old.name(), "second")
	for range 2 {
		old.step("UserPromptSubmit").has("goes on in another process", "may only read").lacks("second", "hello")
	}
	// Reading there takes nothing from the newer one.
	stale := old.caller()
	if !stale.Stale {
		t.Fatal("the older process is not told apart")
	}
	if list, _, err := d.o.Take(d.ctx, stale, 5, time.Hour); err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := d.o.Read(d.ctx, stale, []string{n.Short}); err != nil {
		t.Fatal(err)
	}
	next.step("PostToolBatch").has("second")
	next.step("Stop").silent()
	d.want(m, mail.Seen)
	d.want(n, mail.Seen)
	// The older one closes: the newer one goes on.
	old.event("SessionEnd", "reason", "other").silent()
	if a := next.caller().Agent; a.Life == nil || a.Life.Process.PID != next.pid {
		t.Fatalf("%+v", a)
	}
	// The newer one is killed: the older one is itself again.
	next.stop()
	d.send(old.name(), "third")
	old.step("UserPromptSubmit").has("third")
}

// TestClearedContexts: what was given before a /clear and not proved is given
// again after it.
func TestClearedContexts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	m := d.send(c.name(), "hello")
	c.step("UserPromptSubmit").has("hello")
	c.event("SessionEnd", "reason", "clear").silent()
	next := c.in("S2")
	next.event("SessionStart", "source", "clear").has("hello", "You are "+c.name())
	next.step("UserPromptSubmit").has("hello")
	next.own()
	d.want(m, mail.Seen)
}

// TestHooksAtOnce: hooks of one event that run at the same time, as when they
// are registered twice or several tools end together, give a message once.
func TestHooksAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	d.send(c.name(), "hello")
	var all sync.WaitGroup
	var mu sync.Mutex
	given := 0
	for range 8 {
		all.Go(func() {
			var out, errOut bytes.Buffer
			c.runTo(&out, &errOut, strings.NewReader(c.usual("PostToolUse")))
			mu.Lock()
			defer mu.Unlock()
			given += strings.Count(out.String(), "hello")
			if errOut.Len() > 0 {
				t.Error(errOut.String())
			}
		})
	}
	all.Wait()
	if given != 1 {
		t.Errorf("it was given %d times", given)
	}
}

type broken struct{ after func() }

func (b broken) Write([]byte) (int, error) {
	if b.after != nil {
		b.after()
		return 0, nil
	}
	return 0, errors.New("broken pipe")
}

// TestHooksThatDieHalfway: between reserving and printing, and between printing
// and noting it.
func TestHooksThatDieHalfway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	m := d.send(c.name(), "hello")
	var errOut bytes.Buffer
	c.runTo(broken{}, &errOut, strings.NewReader(c.input("PostToolBatch")))
	if !strings.Contains(errOut.String(), "broken pipe") {
		t.Errorf("said %q", errOut.String())
	}
	reserved := func() {
		t.Helper()
		if got := c.offers(); len(got) != 1 || got[0].Stage != presence.Reserved {
			t.Fatalf("%+v", got)
		}
		c.own()
		c.step("PostToolBatch").silent() // another hook may be about to print it
		d.late += printLeaseOver
		d.want(m, mail.Stored)
	}
	reserved()
	// It printed, and died before it could note that: the same once more.
	if ids, err := d.o.Reserve(d.ctx, c.caller(), []event.ID{m.ID}, presence.Never); err != nil || len(ids) != 1 {
		t.Fatalf("%v, %v", ids, err)
	}
	reserved()
	c.step("PostToolBatch").has("hello")
	c.step("Stop").silent()
	d.want(m, mail.Seen)

	// A prompt waits for no reservation to end.
	m = d.send(c.name(), "second")
	c.runTo(broken{}, &errOut, strings.NewReader(c.input("PostToolBatch")))
	c.step("UserPromptSubmit").has("second")
	c.own()
	d.want(m, mail.Seen)

	// What was printed after somebody else took it over proves nothing here.
	m = d.send(c.name(), "third")
	next := d.client("S1")
	c.runTo(broken{after: func() { next.event("SessionStart", "source", "resume").has("third") }}, &errOut, strings.NewReader(c.input("PostToolBatch")))
	next.stop()
	c.own()
	d.want(m, mail.Stored)
}

// printLeaseOver is longer than a hook's reservation lasts.
const printLeaseOver = 6 * time.Second
