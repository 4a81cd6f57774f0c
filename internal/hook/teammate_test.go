package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"bureau/internal/office"
	"bureau/internal/presence"
)

// TestMailOfASubagentThatEnds comes to its session, whose next hook tells of it.
func TestMailOfASubagentThatEnds(t *testing.T) {
	d := newDesk(t)
	c := d.started("S1")
	sub := []any{"agent_id", "a0123456789abcdef", "agent_type", "Explore"}
	c.event("UserPromptSubmit", "prompt", "go")
	c.own(sub...)
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a0123456789abcdef", "Explore")
	d.must(err)
	c.event("PostToolBatch", sub...).silent()
	c.event("PostToolBatch").silent()
	// It stops before anything comes, so nothing keeps it.
	q := d.letter(office.Letter{To: []string{string(who.Agent.Name)}, Kind: "question", Importance: -1, Body: []byte("are you there?")})
	c.event("PostToolBatch").silent()
	c.event("SubagentStop", sub...).silent()
	c.event("PostToolBatch").silent() // of low importance: it waits for the next turn
	c.event("Stop").silent()
	c.event("UserPromptSubmit", "prompt", "and now?").has("are you there?", `for="`+string(who.Agent.Name)+`, which has ended: you have its mail"`, "answers="+q.Short)
	if _, err := d.o.Answer(d.ctx, c.caller(), string(q.ID), office.Letter{Body: []byte("yes")}); err != nil {
		t.Fatal(err)
	}
	// Three times in a row is the most that a stopping one goes on for mail; what
	// comes then is its session's at once.
	c.own(sub...)
	_, err = d.o.Subagent(d.ctx, c.caller(), clientName, "a0123456789abcdef", "Explore")
	d.must(err)
	for range maxRow {
		d.send(string(who.Agent.Name), "more")
		if s := c.event("SubagentStop", sub...).has("more"); s.Decision != "block" {
			t.Fatalf("%+v", s)
		}
	}
	last := d.send(string(who.Agent.Name), "the last word")
	c.event("SubagentStop", sub...).silent()
	if s := c.event("Stop").has("the last word"); s.Decision != "block" {
		t.Errorf("%+v", s)
	}
	c.event("Stop").silent()
	d.want(last, "seen")
}

// TestTeammates: one that sits idle has not ended; one that was stopped has, also
// while it sat idle.
func TestTeammates(t *testing.T) {
	d := newDesk(t)
	c := d.started("S1")
	home := filepath.Join(filepath.Dir(d.home), "claude")
	c.env["CLAUDE_CONFIG_DIR"] = home
	team := func(names ...string) {
		t.Helper()
		type member struct {
			Name    string `json:"name"`
			Backend string `json:"backendType"`
		}
		config := map[string]any{"leadSessionId": "S1"}
		members := []member{{"team-lead", "in-process"}}
		for _, n := range names {
			members = append(members, member{n, "in-process"})
		}
		config["members"] = members
		raw, err := json.Marshal(config)
		d.must(err)
		d.must(os.MkdirAll(filepath.Join(home, "teams", "session-S1"), 0o700))
		d.must(os.WriteFile(filepath.Join(home, "teams", "session-S1", "config.json"), raw, 0o600))
	}
	running := []any{"background_tasks", []map[string]string{{"id": "t1", "type": "teammate", "status": "running"}}}
	nobody := []any{"background_tasks", []map[string]string{}}
	mate := func(name string) []any {
		return []any{"agent_id", "a" + name + "-0123456789abcdef", "agent_type", name}
	}
	with := func(lists ...[]any) (all []any) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for _, n := range []string{"w1", "w2"} {
		c.own(mate(n)...)
		_, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a"+n+"-0123456789abcdef", n)
		d.must(err)
	}
	look := func(n string) office.AgentView {
		t.Helper()
		v, err := d.o.Agent(d.ctx, c.name()+"."+n)
		d.must(err)
		return v
	}
	live, err := d.o.Live(d.ctx)
	d.must(err)
	// A server that can ring the session.
	d.must(live.Enter(d.ctx, presence.Life{Agent: c.caller().Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "bureau", Session: "S1", Wake: "inbox", Since: d.now()}))
	team("w1", "w2")
	c.event("SubagentStop", with(mate("w1"), running)...).silent()
	c.event("SubagentStop", with(mate("w2"), running)...).silent()
	c.event("Stop", running...).silent()
	for _, n := range []string{"w1", "w2"} {
		if v := look(n); !v.Here || v.Ended || v.Status != "idle" || v.Wake != office.WakeLead {
			t.Fatalf("%+v", v)
		}
	}
	// Its mail waits, and its session is woken for it.
	s := d.send(c.name()+".w1", "for the first")
	if r := s.Recipients[0]; !r.Here || r.Wake != office.WakeLead || r.Lead() != c.caller().Agent.ID {
		t.Errorf("%+v", r)
	}
	w, err := d.o.Ringable(d.ctx, c.caller().Agent.ID)
	d.must(err)
	if w.Count != 0 || len(w.Mates) != 1 || string(w.Mates[0].Name) != c.name()+".w1" || w.Mates[0].Count != 1 || w.Newest != s.ID || len(w.Causes) != 1 {
		t.Fatalf("%+v", w)
	}
	// Its next turn brings it; meanwhile it is busy.
	c.own(mate("w1")...)
	c.event("PostToolBatch", mate("w1")...).has("for the first")
	if v := look("w1"); v.Status != "busy" || v.Wake != office.WakeBusy {
		t.Errorf("%+v", v)
	}
	c.event("SubagentStop", with(mate("w1"), running)...).silent()
	d.want(s, "seen")
	// Stopped while it sat idle: no event of its own tells.
	late := d.send(c.name()+".w1", "too late")
	team("w2")
	if got := c.event("Stop", running...).has("too late"); got.Decision != "block" {
		t.Errorf("%+v", got)
	}
	if v := look("w1"); !v.Ended || v.Here || v.Heir != c.name() {
		t.Errorf("%+v", v)
	}
	if v := look("w2"); v.Ended {
		t.Errorf("%+v", v)
	}
	c.event("Stop", nobody...).silent()
	d.want(late, "seen")
	if v := look("w2"); !v.Ended {
		t.Errorf("%+v", v)
	}
}

// TestSubagentsEndWithTheirSession, which says so as it ends.
func TestSubagentsEndWithTheirSession(t *testing.T) {
	d := newDesk(t)
	c := d.started("S1")
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a1", "Explore")
	d.must(err)
	name := c.name()
	d.send(string(who.Agent.Name), "who reads this?")
	c.event("SessionEnd", "reason", "other").silent()
	v, err := d.o.Agent(d.ctx, string(who.Agent.Name))
	d.must(err)
	if !v.Ended || v.Here || v.Unread != 0 {
		t.Errorf("%+v", v)
	}
	c.stop()
	next := d.client("S2")
	next.event("SessionStart", "source", "startup").has("You are "+name, "who reads this?")
}
