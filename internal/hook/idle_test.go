package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/mail"
	"bureau/internal/mailflag"
	"bureau/internal/office"
)

// blind makes both databases unreadable until the function it gives is called:
// whoever opens one says so on the error output.
func (d *desk) blind() (see func()) {
	d.t.Helper()
	d.must(d.o.Close())
	files := []string{filepath.Join(d.home, "office.db"), d.o.RuntimeDir().LiveDB()}
	for _, f := range files {
		d.must(os.Rename(f, f+".away"))
		d.must(os.Mkdir(f, 0o700))
	}
	return func() {
		d.t.Helper()
		for _, f := range files {
			d.must(os.Remove(f))
			d.must(os.Rename(f+".away", f))
		}
		o, err := office.Open(d.ctx, office.Options{Home: d.home, Now: d.now})
		d.must(err)
		d.o = o
	}
}

// looks reports whether an event opens a database.
func (c *client) looks(event string, pairs ...any) bool {
	c.d.t.Helper()
	begun := time.Now()
	s := c.run(strings.NewReader(c.input(event, pairs...)))
	s.event = event
	s.check()
	s.silent()
	if s.errOut == "" && time.Since(begun) > patience {
		c.d.t.Errorf("doing nothing took %s", time.Since(begun))
	}
	return s.errOut != ""
}

func TestTheIdlePathOpensNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	c.step("PostToolBatch").silent()
	c.step("PostToolBatch", "agent_id", "a1").silent()
	agent := string(c.caller().Agent.ID)
	flags := d.o.RuntimeDir().FlagDir()
	see := d.blind()
	big := strings.Repeat(`"hook_event_name":"Stop",`, 1200)
	for range 20 {
		if c.looks("PostToolBatch", "x", big) || c.looks("PostToolUse", "tool_response", big) || c.looks("PostToolBatch", "agent_id", "a1") {
			t.Fatal("a database was opened for nothing")
		}
	}
	for _, e := range []string{"Stop", "UserPromptSubmit", "SessionStart", "SubagentStop"} {
		if !c.looks(e, "agent_id", map[bool]any{true: "a1", false: nil}[e == "SubagentStop"]) {
			t.Errorf("%s did not look", e)
		}
	}
	if c.looks("PreToolUse", "tool_name", "Bash") || c.looks("MessageDisplay") {
		t.Error("an event that is none of ours opened a database")
	}
	if !c.looks("PostToolBatch", "session_id", "S2") || !c.looks("PostToolBatch", "agent_id", "a2") {
		t.Error("somebody else's mark was taken for this one's")
	}
	d.late = mailflag.Stale + time.Second
	if !c.looks("PostToolBatch") || !c.looks("PostToolBatch", "agent_id", "a1") {
		t.Error("the mark has no age")
	}
	d.late = 0
	if c.looks("PostToolBatch") {
		t.Error("a look that failed took the mark away")
	}
	d.must(mailflag.Raise(flags, agent))
	if !c.looks("PostToolBatch") {
		t.Error("mail was passed by")
	}
	see()
	c.step("PostToolBatch").silent()
	d.blind()
	if c.looks("PostToolBatch") {
		t.Error("the flag was not marked")
	}
}

// TestMailEndsIdleness: the flag that Send raises, and the offers that are not
// proved, make every round look.
func TestMailEndsIdleness(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	c.step("PostToolBatch").silent()
	m := d.send(c.name(), "hello")
	c.step("PostToolBatch", "agent_id", "a1").silent() // looks, and leaves the main agent's mail alone
	c.step("PostToolBatch").has("hello")
	// Not proved yet: the next round has to look, to prove it.
	c.step("PostToolBatch").silent()
	d.want(m, mail.Seen)
	see := d.blind()
	if c.looks("PostToolBatch") {
		t.Error("all is done, and it looked")
	}
	see()
	// A subagent that begins to use the office is looked after at once.
	sub := []any{"agent_id", "a1", "agent_type", "Explore"}
	c.step("PostToolBatch", sub...).silent()
	c.own(sub...)
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a1", "Explore")
	d.must(err)
	d.send(string(who.Agent.Name), "for the subagent")
	c.step("PostToolBatch", sub...).has("for the subagent")
	c.step("PostToolBatch", sub...).silent()
	c.step("PostToolBatch").silent()
	see = d.blind()
	for range 5 {
		if c.looks("PostToolBatch") || c.looks("PostToolBatch", sub...) {
			t.Fatal("a database was opened for nothing")
		}
	}
	see()
	d.send(string(who.Agent.Name), "second")
	see = d.blind()
	if c.looks("PostToolBatch") {
		t.Error("a subagent's mail is the session's")
	}
	see()
	c.step("PostToolBatch", sub...).has("second")
	if _, _, err := d.o.Take(d.ctx, who, 5, office.DefaultLease); err != nil {
		t.Fatal(err)
	}
	c.step("SubagentStop", sub...)
	c.step("SubagentStop", sub...).silent()
	see = d.blind()
	if !c.looks("PostToolBatch", sub...) {
		t.Error("it stopped, and its mark is still there")
	}
	see()
}

// TestALostFlag: a sender died between the commit and the flag, or a cleaner
// of /tmp was there. The events that always look find the mail; so does any
// round after a while.
func TestALostFlag(t *testing.T) {
	t.Parallel()
	for name, heal := range map[string]func(*desk, *client) said{
		"a stop":   func(d *desk, c *client) said { return c.step("Stop") },
		"a prompt": func(d *desk, c *client) said { return c.step("UserPromptSubmit") },
		"a start":  func(d *desk, c *client) said { return c.step("SessionStart") },
		"time":     func(d *desk, c *client) said { d.late += mailflag.Stale; return c.step("PostToolBatch") },
		"no flag": func(d *desk, c *client) said {
			d.must(os.RemoveAll(d.o.RuntimeDir().FlagDir()))
			return c.step("PostToolBatch")
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.started("S1")
			c.step("UserPromptSubmit").silent()
			c.step("PostToolBatch").silent()
			flag := filepath.Join(d.o.RuntimeDir().FlagDir(), string(c.caller().Agent.ID))
			d.send(c.name(), "hello")
			d.must(os.Truncate(flag, 0))
			c.step("PostToolBatch").silent()
			heal(d, c).has("hello")
			c.step("PostToolBatch")
			c.step("PostToolBatch").silent()
			d.send(c.name(), "second")
			c.step("PostToolBatch").has("second")
		})
	}
}

// TestMailDuringTheLook: mail that comes at any moment of a look that finds
// nothing is delivered by it or by the next one.
func TestMailDuringTheLook(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	me := c.name()
	for at := 1; ; at++ {
		calls, sent := 0, false
		word := fmt.Sprintf("message %d.", at)
		var out, errOut bytes.Buffer
		in := strings.NewReader(c.input("PostToolBatch"))
		Run(IO{In: in, Out: &out, Err: &errOut, Env: c.getenv, Exit: func(int) {}, patience: patience, Now: func() time.Time {
			if calls++; calls == at {
				sent = true
				d.send(me, word)
			}
			return d.now()
		}}, []string{"claude", "--home", d.home})
		if errOut.Len() > 0 {
			t.Fatal(errOut.String())
		}
		if !sent {
			if at < 5 {
				t.Fatalf("only %d moments were tried", at)
			}
			return
		}
		if !strings.Contains(out.String(), word) {
			c.step("PostToolBatch").has(word)
		}
		c.step("PostToolBatch").silent()
		c.event("Notification", "notification_type", "permission_prompt") // the next round looks
	}
}
