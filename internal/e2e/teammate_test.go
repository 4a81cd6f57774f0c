//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// seenAs is how bureau agents shows somebody.
type seenAs struct {
	Here   bool
	Status string
	Wake   string
	Ended  bool
	Heir   string
	Unread int
}

func (d *Desk) shown(name string) (v seenAs) {
	d.T.Helper()
	if out, err := d.Try("bureau", "agents", "show", name, "--json"); err == nil {
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			d.T.Fatalf("%v: %s", err, out)
		}
	}
	return v
}

// A teammate in its lead's process stops after each turn and sits idle. It has
// not ended: mail for it wakes its lead, whose word lets it read. Stopped by its
// lead it has, and what is unread then comes to the lead.
func TestTeammates(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=lead", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"}
	d.install(d.hook())
	mate := func(last string) mockapi.When {
		return mockapi.When{Last: last, Is: func(r *mockapi.Request) bool { return strings.HasPrefix(r.Agent, "worker1") }}
	}
	d.API.Add(
		mockapi.Rule{Name: "load", When: mockapi.When{Last: "LOAD"}, Turn: mockapi.Call("ToolSearch", map[string]any{"query": "select:SendMessage,TaskStop"})},
		mockapi.Rule{Name: "spawn", When: mockapi.When{Last: "SPAWN", Agent: "-"}, Turn: mockapi.Call("Agent", map[string]any{
			"description": "w", "prompt": "MATE begin", "name": "worker1", "subagent_type": "general-purpose"})},
		mockapi.Rule{Name: "begins", When: mate("MATE begin"), Turn: mockapi.Call("mcp__bureau__send", map[string]any{"to": "user", "text": "Q-mate", "kind": "question"})},
		mockapi.Rule{Name: "tells", When: mockapi.When{Last: "waits for your teammate", Agent: "-"}, Turn: mockapi.Call("SendMessage", map[string]any{
			"to": "worker1", "message": "MATE read your inbox", "summary": "read"})},
		mockapi.Rule{Name: "reads", When: mate("MATE read"), Turn: mockapi.Call("mcp__bureau__inbox", map[string]any{})},
		mockapi.Rule{Name: "stop it", When: mockapi.When{Last: "STOP-IT", Agent: "-"}, Turn: mockapi.Call("TaskStop", map[string]any{"task_id": "worker1"})},
	)
	w := d.Terminal("lead", "", "--allowedTools", "Agent", "SendMessage", "TaskStop")
	w.Say("LOAD")
	d.Request(has("Tool loaded"))
	d.idle()
	w.Say("SPAWN")
	d.eventually("the teammate sits idle", func() bool { v := d.shown("lead.worker1"); return v.Here && v.Status == "idle" })
	if v := d.shown("lead.worker1"); v.Ended || v.Wake != "its lead" {
		t.Errorf("%+v", v)
	}
	question := ""
	d.eventually("the question is there", func() bool {
		var box struct {
			Messages []struct{ Short, Body string }
		}
		out, _ := d.Try("bureau", "inbox", "--json")
		if json.Unmarshal([]byte(out), &box) == nil && len(box.Messages) > 0 {
			question = box.Messages[0].Short
		}
		return question != ""
	})
	d.idle()
	d.Run("bureau", "answer", question, "A-user for the teammate")
	r := d.Request(func(r *mockapi.Request) bool {
		return strings.HasPrefix(r.Agent, "worker1") && strings.Contains(r.Last(), "A-user")
	})
	if r == nil {
		t.Fatal("the teammate has not got its answer")
	}
	d.eventually("the answer is seen", func() bool { return d.stateOf("A-user") == "seen" })
	d.eventually("the teammate sits idle again", func() bool { return d.shown("lead.worker1").Status == "idle" })
	d.idle()
	w.Say("STOP-IT")
	d.eventually("the teammate has ended", func() bool { v := d.shown("lead.worker1"); return v.Ended && !v.Here && v.Heir == "lead" })
	if out, err := d.Try("bureau", "send", "lead.worker1", "too late"); err == nil || !strings.Contains(out+err.Error(), "write to lead") {
		t.Errorf("%s, %v", out, err)
	}
}

// A subagent that asks and ends: the answer comes to its session, which is woken
// for it when it sits idle.
func TestTheAnswerToAnEndedSubagent(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=boss"}
	d.install(d.hook())
	d.Run("bureau", "register", "ana")
	d.API.Add(
		mockapi.Rule{Name: "delegate", When: mockapi.When{Last: "DELEGATE", Agent: "-"}, Turn: mockapi.Call("Agent", map[string]any{
			"description": "s", "prompt": "SUB go", "subagent_type": "general-purpose"})},
		mockapi.Rule{Name: "asks", When: mockapi.When{Last: "SUB go", Is: func(r *mockapi.Request) bool { return r.Agent != "" }},
			Turn: mockapi.Call("mcp__bureau__send", map[string]any{"to": "ana", "text": "Q-sub", "kind": "question"})},
	)
	w := d.Terminal("boss", "", "--allowedTools", "Agent")
	w.Say("DELEGATE")
	d.eventually("the subagent has ended", func() bool { v := d.shown("boss.general-purpose"); return v.Ended && v.Heir == "boss" })
	d.idle()
	var box struct{ Messages []struct{ Short string } }
	if err := json.Unmarshal([]byte(d.Run("bureau", "--as", "ana", "inbox", "--json")), &box); err != nil || len(box.Messages) != 1 {
		t.Fatalf("%+v, %v", box, err)
	}
	if out := d.Run("bureau", "--as", "ana", "answer", box.Messages[0].Short, "A-ana"); !strings.Contains(out, "boss") {
		t.Errorf("ana reads %s", out)
	}
	d.Request(func(r *mockapi.Request) bool { return r.Agent == "" && strings.Contains(r.Last(), "A-ana") })
	d.eventually("the answer is seen", func() bool {
		for _, m := range d.sentBy("ana") {
			if len(m.Receipts) > 0 && m.State == "seen" {
				return true
			}
		}
		return false
	})
}
