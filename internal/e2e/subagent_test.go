//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
)

// Two subagents of one session are told apart, although their calls come from
// one client through one server, and ask and answer each other.
func TestTwoSubagentsTalk(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=boss"}
	d.install(d.hook())
	spawn := func(prompt string) mockapi.Block {
		return mockapi.Tool("Agent", map[string]any{"description": prompt, "prompt": prompt, "subagent_type": "general-purpose"})
	}
	// sub is a request of the subagent that was begun with a word, whose
	// newest part holds another.
	sub := func(word, last string) mockapi.When {
		return mockapi.When{Any: word, Last: last, Is: func(r *mockapi.Request) bool { return r.Agent != "" }}
	}
	d.API.Add(
		mockapi.Rule{Name: "delegate", When: mockapi.When{Last: "DELEGATE", Agent: "-"}, Turn: mockapi.Turn{Reply: []mockapi.Block{spawn("SUB-ONE go"), spawn("SUB-TWO go")}}},
		mockapi.Rule{Name: "one waits", When: sub("SUB-ONE", "SUB-ONE go"), Turn: mockapi.Call("mcp__bureau__inbox", map[string]any{"wait_seconds": 40})},
		mockapi.Rule{Name: "one answers", When: sub("SUB-ONE", "Q-sub"), Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block { return answerTo(r, "Q-sub", "A-sub") }}},
		mockapi.Rule{Name: "two asks", When: sub("SUB-TWO", "SUB-TWO go"), Turn: mockapi.Turn{From: func(*mockapi.Request) []mockapi.Block {
			// The first to come has the name without a number.
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if out, _ := d.Try("bureau", "agents"); strings.Contains(out, "boss.general-purpose") {
					break
				}
			}
			return mockapi.Call("mcp__bureau__ask", map[string]any{"to": "boss.general-purpose", "text": "Q-sub: which?"}).Reply
		}}},
		mockapi.Rule{Name: "two hears", When: sub("SUB-TWO", "A-sub"), Turn: mockapi.Say("two has heard")},
	)
	run := d.Background("DELEGATE", "--allowedTools", "Agent")
	heard := d.Request(func(r *mockapi.Request) bool { return r.Rule == "two hears" })
	if !strings.Contains(heard.Last(), "tool_result") {
		t.Errorf("the answer came with\n%s", heard.Last())
	}
	run.Wait(t)
	all := d.agents()
	if len(all) < 2 || all["boss"] == "" {
		t.Errorf("everybody: %v", all)
	}
}

// Two servers of one session, from setup and from the plugin, ring it once.
func TestTwoServersRingOnce(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	w := d.Terminal("bob", "", "--plugin-dir", d.plugin())
	d.eventually("bob is here", func() bool { return d.agents()["bob"] != "" && len(d.Sessions()) == 1 })
	d.Run("bureau", "send", "bob", "BODY-13 wakes once")
	d.Request(has("BODY-13"))
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-13") == "seen" })
	time.Sleep(3 * time.Second)
	if n := len(d.API.Requests()); n != 1 {
		t.Errorf("%d requests for one message", n)
		d.Dump()
	}
	if screen := w.Screen(); strings.Contains(screen, "Dropped a peer message") || strings.Count(screen, "Message from @bureau") != 1 {
		t.Errorf("the person saw\n%s", screen)
	}
}

// A busy session is not rung: its hooks bring the mail.
func TestBusySessionIsNotRung(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	d.API.Add(mockapi.Rule{Name: "work", When: mockapi.When{Last: "WORK"}, Turn: bash("touch started; while [ ! -e go ]; do sleep 0.1; done; echo tool-ran")})
	w := d.Terminal("bob", "", "--allowedTools", "Bash")
	w.Say("WORK now")
	d.eventually("the tool runs", func() bool { return exists(d.Project, "started") })
	d.Run("bureau", "send", "bob", "BODY-14 while you work")
	time.Sleep(2 * time.Second)
	touch(t, d.Project, "go")
	r := d.Request(has("tool-ran"))
	if !strings.Contains(r.Last(), "BODY-14") || strings.Contains(r.Last(), "cross-session-message") {
		t.Errorf("after the tool came\n%s", r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-14") == "seen" })
	time.Sleep(2 * time.Second)
	if n := len(d.API.Requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
		d.Dump()
	}
}
