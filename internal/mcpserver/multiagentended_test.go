package mcpserver

import (
	"testing"
)

// TestMultiagentEnded: who waits in a conversation that was closed meanwhile
// learns so, with its result, also where others go on; then the newest is meant.
func TestMultiagentEnded(t *testing.T) {
	d := meet(t, nil, "A", "B")
	first := d.list("A").Conversation
	d.look("A")
	other := do[oldInitOut](d.of("host"), "init_conversation", args{"filepath": "other.md", "participants": []string{"A", "C"}})
	do[roomOut](d.of("host"), "room_do", args{"room": first, "action": "close", "text": "tabs it is"})
	out := d.look("A")
	if out.Status != "closed" || out.Conversation != first || len(out.NewMessages) == 0 || !has(out.NewMessages[len(out.NewMessages)-1].Content, "tabs it is") {
		t.Fatalf("%+v", out)
	}
	if out = do[turnResult](d.of("A"), "wait_for_turn", args{"handle": "A", "timeout_seconds": 0, "receipt": out.Receipt}); out.Status != "closed" || len(out.NewMessages) > 0 {
		t.Fatalf("%+v", out)
	}
	d.join("A")
	if out = d.look("A"); out.Conversation != other.Conversation || out.Status != "timeout" {
		t.Fatalf("%+v", out)
	}
	// One that is begun anew says so to who waits on in the old one.
	d.join("C")
	do[oldInitOut](d.of("host"), "init_conversation", args{"filepath": "other.md", "participants": []string{"A", "C"}, "force": true})
	if out = d.look("A"); out.Status != "closed" || len(out.NewMessages) == 0 || !has(out.NewMessages[len(out.NewMessages)-1].Content, "to make place for a new one") {
		t.Fatalf("%+v", out)
	}
	d.join("A")
	if out = d.look("A"); out.Status != "timeout" {
		t.Fatalf("%+v", out)
	}
}
