package hook

import (
	"testing"
	"time"

	"bureau/internal/office"
	"bureau/internal/presence"
)

// TestTheServerOfALeftConversation: who was left is gone at once, and its server
// is no way to it, whether or not the client said that it was leaving. The
// subagents that the process still has are there.
func TestTheServerOfALeftConversation(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"fork", "resume", "startup"} {
		for _, said := range []bool{true, false} {
			d := newDesk(t)
			def := string(office.DefaultName(d.dir))
			other := d.client("S0")
			other.env["BUREAU_NAME"] = "zoe"
			other.event("SessionStart", "source", "startup")
			other.event("SessionEnd", "reason", "other")
			first := d.started("S1")
			who := first.caller()
			first.own("agent_id", "a1", "agent_type", "Explore")
			sub, err := d.o.Subagent(d.ctx, who, clientName, "a1", "Explore")
			d.must(err)
			live, err := d.o.Live(d.ctx)
			d.must(err)
			server := presence.Life{Agent: who.Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "bureau", Session: "S1", Wake: "inbox", Since: d.now()}
			d.must(live.Enter(d.ctx, server))
			bell, err := d.o.Listen(who.Agent.ID)
			d.must(err)
			defer bell.Close()
			if said {
				first.event("SessionEnd", "reason", "resume").silent()
			}
			next := first.in("S0")
			next.event("SessionStart", "source", source).has("Here now: "+def+".Explore (busy) (the roster tool", "You are ").lacks("You are " + def + " in")
			s := d.send(def, "for the one that was left")
			if r := s.Recipients[0]; r.Here || r.Wake != office.WakeNone {
				t.Errorf("%s, said %v: %+v", source, said, r)
			}
			select {
			case <-bell.C():
			case <-time.After(patience):
				t.Errorf("%s, said %v: its server was not rung", source, said)
			}
			if got, err := d.o.SessionCaller(d.ctx, clientName, "S1", "a1", sub.Process); err != nil || got.Adrift || got.Stale {
				t.Errorf("%s, said %v: the subagent is %+v, %v", source, said, got, err)
			}
			// The conversation that goes on in a newer process keeps its server there.
			moved := d.client("S0")
			moved.event("SessionStart", "source", "resume")
			server.Agent, server.Session = moved.caller().Agent.ID, "S0"
			d.must(live.Enter(d.ctx, server))
			next.in("S9").event("SessionStart", "source", "fork")
			if l, err := live.Lives(d.ctx, server.Agent); err != nil || len(l) != 2 {
				t.Errorf("%s, said %v: %+v, %v", source, said, l, err)
			}
		}
	}
}
