package mcpserver

import (
	"testing"
	"time"
)

// TestMultiagentPersonAway: no tool of multiagent-mcp hands on a turn, so the
// person who is in no conversation has the floor for a time only, and everybody
// is told until when. With the person there it is his for as long as he wants.
func TestMultiagentPersonAway(t *testing.T) {
	for _, column := range []string{"", "code"} {
		d := meet(t, args{"column": column}, "A", "B")
		out := d.say("A", "@user which one? @B then")
		if out.ActiveTurn == nil || *out.ActiveTurn != "@user" {
			t.Fatalf("%+v", out)
		}
		if n := out.SystemNotice; column == "" && (n == nil || !has(*n, "@user has the floor", "loses it at")) {
			t.Errorf("%v", n)
		}
		v := do[roomOut](d.of("A"), "room_wait", args{"room": "debate", "wait_seconds": 0})
		if until := v.Room.Until; until == nil || time.Until(*until) > 10*time.Minute {
			t.Fatalf("column %q: he has the floor until %v", column, until)
		}
		out = d.say("B", "@A go on")
		if out.Status != "not_your_turn" || out.Error == nil || !has(*out.Error, "@user is not in the room and loses the floor in", "wait_for_turn") {
			t.Fatalf("column %q: %+v", column, out)
		}
	}
}
