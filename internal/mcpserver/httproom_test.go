package mcpserver

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A meeting over HTTP, each tool once on two sessions, that goes on over a
// server that is killed in the middle of it.
func TestHTTPRoom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_TOOLS=multiagent")
	first, view := b.token("ana", 0)
	second, _ := b.token("bob", 0)
	ana, bob := s.connect(first), s.connect(second)

	turn := func(c *caller, tool string, in args) turnResult {
		t.Helper()
		return told[turnResult](t, c.tool(tool, in))
	}
	told[json.RawMessage](t, ana.tool("init_conversation", args{
		"filepath": filepath.Join(view.Folder, "talk.md"), "topic": "Tabs?", "participants": []string{"@A", "@B"},
	}))
	turn(ana, "join_conversation", args{"handle": "@A", "timeout_seconds": 0})
	if got := turn(bob, "join_conversation", args{"handle": "@B", "timeout_seconds": 50}); got.Error != nil {
		t.Fatalf("bob joins: %+v", got)
	}
	said := args{"sender": "@A", "content": "@B tabs?", "block": false, "client_msg_id": "m-1"}
	one := turn(ana, "send_message", said)
	if one.Sent.EventID == "" {
		t.Fatalf("%+v", one)
	}

	s.kill()
	s.start()
	if a := ana.tool("send_message", said); a.status != http.StatusNotFound {
		t.Fatalf("an id of before: %+v", a)
	}
	if again := turn(ana.begin(), "send_message", said); again.Sent.EventID != one.Sent.EventID {
		t.Errorf("said again: %+v, first %+v", again.Sent, one.Sent)
	}
	got := turn(bob.begin(), "wait_for_turn", args{"handle": "@B", "timeout_seconds": 50})
	if got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@B tabs?"}) {
		t.Fatalf("bob after the restart: %+v", got)
	}

	// One waits while the other whispers, over a server that goes again.
	waits := make(chan turnResult, 1)
	go func() {
		a, err := ana.attempt(ana.request(http.MethodPost, PathMCP, ana.rpc("tools/call", map[string]any{
			"name": "wait_for_message", "arguments": args{"handle": "@A", "timeout_seconds": 50},
		})))
		if err != nil {
			t.Error(err)
			waits <- turnResult{}
			return
		}
		waits <- told[turnResult](t, a)
	}()
	time.Sleep(200 * time.Millisecond)
	turn(bob, "whisper_message", args{"sender": "@B", "target": []string{"@A"}, "content": "spaces", "block": false, "receipt": got.Receipt})
	if got := <-waits; !slices.Contains(got.texts(), "spaces") {
		t.Errorf("ana hears %+v", got)
	}
	turn(ana, "broadcast_message", args{"sender": "@A", "content": "so be it", "block": false})
	list := told[oldListOut](t, bob.tool("list_participants", nil))
	if len(list.Active) != 2 || *list.You != "@B" {
		t.Errorf("%+v", list)
	}
	s.interrupt()
	s.start()
	after := told[oldListOut](t, bob.begin().tool("list_participants", nil))
	if after.Conversation != list.Conversation || *after.ActiveTurn != *list.ActiveTurn || *after.You != "@B" {
		t.Errorf("%+v, then %+v", list, after)
	}
}
