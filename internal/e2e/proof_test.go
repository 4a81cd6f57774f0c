//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// What a tool of ours gave out is in a result, not yet before the model: the
// calls beside it and a slow tool after it prove nothing, and neither does the
// request that carries it. The model's next move does.
func TestAToolsResultIsNoProof(t *testing.T) {
	for _, tt := range []struct{ toolset, tool string }{{"", "read_message"}, {"", "inbox"}, {"escritorio", "inbox"}} {
		name := strings.TrimSpace(tt.toolset + " " + tt.tool)
		call := mockapi.Tool("mcp__bureau__"+tt.tool, nil)
		t.Run(name+" and a slow tool in one round", func(t *testing.T) {
			d := readingDesk(t, work(), call)
			run := d.Background("WORK", d.toolset(tt.toolset)...)
			d.sendOnce()
			d.eventually("the slow tool runs", func() bool { return exists(d.Project, "started") })
			d.unseen("while the slow tool runs")
			touch(t, d.Project, "go")
			r := d.Request(has("tool-ran"))
			if !strings.Contains(r.Last(), "BODY-20") {
				t.Errorf("after the round came\n%s", r.Last())
			}
			d.unseen("while the model has made no move")
			touch(t, d.Project, "thought")
			run.Wait(t)
			d.seen()
			if n := len(d.API.Requests()); n != 2 {
				t.Errorf("%d requests, want 2: the turn went on for what it had", n)
				d.Dump()
			}
		})
		t.Run(name+" and a slow tool in the next round", func(t *testing.T) {
			d := readingDesk(t, mockapi.Block{}, call)
			d.API.Add(mockapi.Rule{Name: "end", When: mockapi.When{Last: "tool-ran"}, Turn: d.after("end", mockapi.Text("done"))})
			run := d.Background("WORK", d.toolset(tt.toolset)...)
			d.sendOnce()
			d.Request(has("tool_result", "BODY-20"))
			d.unseen("while the model has made no move")
			touch(t, d.Project, "thought")
			d.eventually("the slow tool runs", func() bool { return exists(d.Project, "started") })
			touch(t, d.Project, "go")
			// The end of the slow tool's round is a move that follows.
			d.Request(has("tool-ran"))
			d.seen()
			touch(t, d.Project, "end")
			run.Wait(t)
			if n := len(d.API.Requests()); n != 3 {
				t.Errorf("%d requests, want 3", n)
				d.Dump()
			}
		})
	}
}

// readingDesk is a desk whose model, once a message was sent, makes some calls
// and another one in a round with beside, or in the round before work. The
// calls come with another one of ours behind, which proves nothing either.
func readingDesk(t *testing.T, beside mockapi.Block, calls ...mockapi.Block) *Desk {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	round, then := append(calls, mockapi.Tool("mcp__bureau__roster", nil)), mockapi.Text("done")
	if beside.Tool != "" {
		round = append(round, beside)
	} else {
		then = work()
	}
	d.API.Add(
		// The message comes while the model thinks: at the prompt there was
		// none, and no round has ended since.
		mockapi.Rule{Name: "reads", When: mockapi.When{Last: "WORK"}, Turn: d.after("sent", round...)},
		mockapi.Rule{Name: "thinks", When: mockapi.When{Last: "BODY-20"}, Turn: d.after("thought", then)},
	)
	return d
}

// toolset gives the client's arguments for a session with other tools of ours;
// "" is what setup registered.
func (d *Desk) toolset(name string) []string {
	if name == "" {
		return []string{"--allowedTools", "Bash"}
	}
	config := filepath.Join(d.Dir, "servers.json")
	d.WriteJSON(config, map[string]any{"mcpServers": map[string]any{"bureau": map[string]any{
		"type": "stdio", "command": filepath.Join(d.Bin, "bureau"), "args": []string{"mcp", "--home", d.Office, "--tools", name}}}})
	return []string{"--strict-mcp-config", "--mcp-config", config, "--allowedTools", "Bash"}
}

func (d *Desk) sendOnce() {
	d.T.Helper()
	d.Request(has("WORK"))
	d.Run("bureau", "send", "bob", "BODY-20 while you think")
	touch(d.T, d.Project, "sent")
}

// unseen fails if the message has been seen.
func (d *Desk) unseen(when string) {
	d.T.Helper()
	if got := d.stateOf("BODY-20"); got == "seen" || got == "(not sent)" {
		d.T.Errorf("%s the message is %s", when, got)
	}
}

func (d *Desk) seen() {
	d.T.Helper()
	if got := d.stateOf("BODY-20"); got != "seen" {
		d.T.Errorf("after the model's move the message is %s", got)
	}
}

// A subagent that works in the background fires hooks under the session's id
// while the session itself is idle. They neither carry the session's mail nor
// prove it, and they do not make the session look busy: it is rung.
func TestABackgroundSubagentIsNotTheSession(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	sub := func(r *mockapi.Request) bool { return r.Agent != "" }
	step := func(n string) mockapi.Turn {
		return bash("touch started-" + n + "; while [ ! -e go-" + n + " ]; do sleep 0.1; done; echo step-" + n)
	}
	d.API.Add(
		mockapi.Rule{Name: "delegate", When: mockapi.When{Last: "DELEGATE", Agent: "-"}, Turn: mockapi.Call("Agent", map[string]any{
			"description": "work", "prompt": "SUB-WORK go", "subagent_type": "general-purpose", "run_in_background": true})},
		mockapi.Rule{Name: "one", When: mockapi.When{Last: "SUB-WORK", Is: sub}, Turn: step("one")},
		mockapi.Rule{Name: "two", When: mockapi.When{Last: "step-one", Is: sub}, Turn: step("two")},
		mockapi.Rule{Name: "three", When: mockapi.When{Last: "step-two", Is: sub}, Turn: mockapi.Say("sub is done")},
		// Held, so that the subagent works on while the session is about to move.
		mockapi.Rule{Name: "woken", When: mockapi.When{Last: "BODY-20", Agent: "-"}, Turn: d.after("thought", mockapi.Text("read"))},
	)
	w := d.Terminal("bob", "", "--allowedTools", "Agent,Bash")
	w.Say("DELEGATE this")
	begun := func(n string) {
		t.Helper()
		d.eventually("the subagent is at step "+n, func() bool { return exists(d.Project, "started-"+n) })
	}
	begun("one")
	// The client's own record says busy until the subagent is done; the screen
	// tells that the turn has ended.
	w.Wait("Waiting for 1 background agent")
	d.eventually("the session is idle", func() bool { return strings.Contains(d.Run("bureau", "agents"), "here, idle") })
	// Nothing wakes for the first message, so that only the subagent's hooks
	// could have carried it.
	d.Run("bureau", "send", "bob", "BODY-19 may wait", "--no-wake")
	touch(t, d.Project, "go-one")
	begun("two")
	if got := d.stateOf("BODY-19"); got != "stored" {
		t.Errorf("after a round of the subagent's the session's mail is %s", got)
	}
	d.Run("bureau", "send", "bob", "BODY-20 for the session")
	r := d.Request(has("BODY-20"))
	if r.Agent != "" || !strings.Contains(r.Last(), "BODY-19") || !strings.Contains(r.Last(), "cross-session-message") {
		t.Errorf("the mail came to %q with\n%s", r.Agent, r.Last())
	}
	touch(t, d.Project, "go-two")
	d.Request(func(r *mockapi.Request) bool { return r.Rule == "three" })
	d.unseen("while only the subagent has made a move")
	touch(t, d.Project, "thought")
	d.eventually("all is seen", func() bool { return d.stateOf("BODY-19") == "seen" && d.stateOf("BODY-20") == "seen" })
	for _, r := range d.API.Requests() {
		if r.Agent != "" && strings.Contains(r.Any(), "BODY-") {
			t.Errorf("the subagent was given\n%s", r.Any())
		}
	}
}
