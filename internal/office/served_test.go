package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/presence"
)

// TestCheckOfServers: a session whose server does not run is named, once, not
// while its client still starts it; its subagents need none of their own.
func TestCheckOfServers(t *testing.T) {
	ctx := context.Background()
	late := time.Duration(0)
	d := openDesk(t, Options{Now: func() time.Time { return time.Now().Add(late) }})
	p := d.project("app")
	client := livingProcess(t)
	ana, sub := d.session("A", client, p), d.agent("helper")
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(l presence.Life) {
		t.Helper()
		l.Client, l.Session = "claude", "A"
		if err := live.Enter(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	found := func() (out []string) {
		t.Helper()
		c, err := d.Check(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Findings {
			if strings.Contains(f.Text, "MCP server") {
				out = append(out, f.Text)
			}
		}
		return out
	}
	now := time.Now()
	enter(presence.Life{Agent: ana.Agent.ID, Process: client, Role: presence.Client, Since: now, StatusAt: now})
	enter(presence.Life{Agent: sub.Agent.ID, Process: client, Role: presence.Client, Since: now.Add(time.Second), StatusAt: now})
	if got := found(); len(got) != 0 {
		t.Errorf("while it starts: %q", got)
	}
	late = time.Minute
	if got := found(); len(got) != 1 || !strings.Contains(got[0], "for "+string(ana.Agent.Name)+":") {
		t.Errorf("without a server: %q", got)
	}
	enter(presence.Life{Agent: ana.Agent.ID, Process: self(), Role: presence.Server, Since: now})
	if got := found(); len(got) != 0 {
		t.Errorf("with one: %q", got)
	}
}
