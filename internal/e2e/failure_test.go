//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// A turn that an error of the model's API ends fires no Stop. The session is
// known to be idle all the same, also without its server, and the mail that was
// printed in that turn is there for the next.
func TestAFailedTurn(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob", "CLAUDE_CODE_MAX_RETRIES=0"}
	d.install(d.hook())
	d.API.Add(mockapi.Rule{Name: "good", When: mockapi.When{Last: "other words"}, Times: -1, Turn: mockapi.Say("all right")},
		mockapi.Rule{Name: "bad", When: mockapi.When{Last: "BAD"}, Times: -1, Turn: mockapi.Turn{Status: 400, Message: "no such thing"}})
	w := d.Terminal("bob", "")
	w.Say("first words")
	d.Request(has("first words"))
	d.idle()
	for _, pid := range serversOf(t, d.Sessions()[0].Process.PID) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	d.Run("bureau", "send", "bob", "BODY-28 for a turn that fails", "--no-wake")
	w.Say("BAD words")
	d.Request(has("BAD words", "BODY-28"))
	w.Wait("API Error")
	d.eventually("bob is shown as idle", func() bool { return d.status("bob") == "idle" })
	if got := d.stateOf("BODY-28"); got == "seen" {
		t.Error("seen, although no answer proves it")
	}
	w.Say("other words")
	d.Request(has("other words", "BODY-28"))
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-28") == "seen" })
	d.eventually("the doctor names a session without a server", func() bool {
		out, _ := d.Try("bureau", "doctor")
		return strings.Contains(out, "no MCP server of ours runs for bob")
	})
}

// status gives what an agent is at, as everybody is told.
func (d *Desk) status(name string) string {
	d.T.Helper()
	var out struct {
		Agents []struct{ Name, Status string }
	}
	if text := d.Run("bureau", "agents", "--json"); json.Unmarshal([]byte(text), &out) != nil {
		d.T.Fatalf("bureau agents: %s", text)
	}
	for _, a := range out.Agents {
		if a.Name == name {
			return a.Status
		}
	}
	return ""
}

// The turn that a ring began fails: the session is rung once more, a minute
// later, and gets what the ring was for.
func TestAFailedRing(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob", "CLAUDE_CODE_MAX_RETRIES=0"}
	d.install(d.hook())
	var back atomic.Bool
	down := func(*mockapi.Request) bool { return !back.Load() }
	d.API.Add(mockapi.Rule{Name: "down", When: mockapi.When{Last: "BODY-29", Is: down}, Times: -1, Turn: mockapi.Turn{Status: 400, Message: "no such thing"}},
		mockapi.Rule{Name: "up", When: mockapi.When{Last: "BODY-29"}, Times: -1, Turn: mockapi.Say("all right")})
	w := d.Terminal("bob", "")
	w.Say("first words")
	d.Request(has("first words"))
	d.idle()
	d.Run("bureau", "send", "bob", "BODY-29 for a ring that fails")
	w.Wait("API Error")
	back.Store(true)
	if got := d.stateOf("BODY-29"); got == "seen" {
		t.Error("seen, although no answer proves it")
	}
	d.Request(func(r *mockapi.Request) bool { return r.Rule == "up" })
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-29") == "seen" })
}
