//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
)

// Two headless sessions talk by the command line: one asks and waits, the
// other, at work meanwhile, answers; the asker's model sees the answer.
func TestTwoSessionsTalkByCommand(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "bob works", When: mockapi.When{Last: "BOB-WORK"}, Turn: bash("touch bob-is-here; while [ ! -e asked ]; do sleep 0.1; done; echo bob-worked")},
		mockapi.Rule{Name: "bob answers", When: mockapi.When{Last: "Which port?"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			id := regexp.MustCompile(`bureau answer (\w+) TEXT`).FindStringSubmatch(r.Last())
			if id == nil {
				return []mockapi.Block{mockapi.Text("no question in " + r.Last())}
			}
			return bash(`bureau answer ` + id[1] + ` "port 8471"`).Reply
		}}},
		mockapi.Rule{Name: "ana asks", When: mockapi.When{Last: "ANA-WORK"}, Turn: bash(`(sleep 1; touch asked) & bureau ask bob "Which port?" --timeout 60s`)},
		mockapi.Rule{Name: "ana hears", When: mockapi.When{Last: "port 8471", Session: ana}, Turn: mockapi.Say("it is 8471")},
	)
	d.Extra = []string{"BUREAU_NAME=bob"}
	bob := d.Background("BOB-WORK", "--allowedTools", "Bash")
	d.eventually("bob is here", 60*time.Second, func() bool { return exists(d.Project, "bob-is-here") })
	d.Extra = []string{"BUREAU_NAME=ana"}
	if got := d.Print("ANA-WORK", "--allowedTools", "Bash", "--session-id", ana); got != "it is 8471" {
		t.Errorf("ana said %q", got)
	}
	bob.Wait(t, 60*time.Second)
	if r := d.Request(time.Second, has("port 8471")); r.Session != ana || !strings.Contains(r.Last(), "tool_result") {
		t.Errorf("the answer came to session %s with\n%s", r.Session, r.Last())
	}
}

// ana is the session that asks.
const ana = "aaaaaaaa-2222-4333-8444-555555555555"
