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
		mockapi.Rule{Name: "bob works", When: mockapi.When{Last: "BOB-WORK"}, Turn: bash("touch bob-is-here; until bureau inbox | grep -q 'Which port'; do sleep 0.2; done; echo bob-worked")},
		mockapi.Rule{Name: "bob answers", When: mockapi.When{Last: "Which port?"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			id := regexp.MustCompile(`bureau answer (\w+) TEXT`).FindStringSubmatch(r.Last())
			if id == nil {
				return []mockapi.Block{mockapi.Text("no question in " + r.Last())}
			}
			return bash(`bureau answer ` + id[1] + ` "port 8471"`).Reply
		}}},
		mockapi.Rule{Name: "ana asks", When: mockapi.When{Last: "ANA-WORK"}, Turn: bash(`bureau ask bob "Which port?" --timeout 60s`)},
		mockapi.Rule{Name: "ana hears", When: mockapi.When{Last: "port 8471", Session: ana}, Turn: mockapi.Say("it is 8471")},
	)
	d.Extra = []string{"BUREAU_NAME=bob"}
	bob := d.Background("BOB-WORK", "--allowedTools", "Bash")
	d.eventually("bob is here", func() bool { return exists(d.Project, "bob-is-here") })
	d.Extra = []string{"BUREAU_NAME=ana"}
	if got := d.Print("ANA-WORK", "--allowedTools", "Bash", "--session-id", ana); got != "it is 8471" {
		t.Errorf("ana said %q", got)
	}
	bob.Wait(t)
	if r := d.Request(has("port 8471")); r.Session != ana || !strings.Contains(r.Last(), "tool_result") {
		t.Errorf("the answer came to session %s with\n%s", r.Session, r.Last())
	}
}

// The same by the tools of our MCP server: ask waits, inbox waits, send
// answers.
func TestTwoSessionsTalkByTools(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "bob waits", When: mockapi.When{Last: "BOB-WORK"}, Turn: mockapi.Call("mcp__bureau__inbox", map[string]any{"wait_seconds": 40})},
		mockapi.Rule{Name: "bob answers", When: mockapi.When{Last: "Which port?"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			return answerTo(r, "Which port?", "port 8471")
		}}},
		mockapi.Rule{Name: "ana asks", When: mockapi.When{Last: "ANA-WORK"}, Turn: mockapi.Call("mcp__bureau__ask", map[string]any{"to": "bob", "text": "Which port?"})},
		mockapi.Rule{Name: "ana hears", When: mockapi.When{Last: "port 8471", Session: ana}, Turn: mockapi.Say("it is 8471")},
	)
	d.Extra = []string{"BUREAU_NAME=bob"}
	bob := d.Background("BOB-WORK")
	d.eventually("bob is here", func() bool { return d.agents()["bob"] != "" })
	d.Extra = []string{"BUREAU_NAME=ana"}
	if got := d.Print("ANA-WORK", "--session-id", ana); got != "it is 8471" {
		t.Errorf("ana said %q", got)
		d.Dump()
	}
	bob.Wait(t)
	for _, r := range d.API.Requests() {
		if strings.Contains(r.Last(), "tool_result error") {
			t.Errorf("a tool refused:\n%s", r.Last())
		}
	}
}

var quoted = regexp.MustCompile(`(?s)<bureau-message-\w+ id="(\w+)"[^>]*>\n([^<]*)`)

// answerTo answers the message with these words, by its id in the quotation
// or, in a tool's result, in its JSON.
func answerTo(r *mockapi.Request, words, text string) []mockapi.Block {
	id := ""
	for _, m := range quoted.FindAllStringSubmatch(r.Last(), -1) {
		if strings.Contains(m[2], words) {
			id = m[1]
		}
	}
	if m := regexp.MustCompile(`"id":"(\w+)"[^{}]*` + regexp.QuoteMeta(words)).FindStringSubmatch(r.Last()); id == "" && m != nil {
		id = m[1]
	}
	if id == "" {
		return []mockapi.Block{mockapi.Text("no message " + words)}
	}
	return mockapi.Call("mcp__bureau__send", map[string]any{"answers": id, "text": text}).Reply
}

// Two idle sessions in terminals, and not one key: a message wakes the first,
// its question the second, the answer the first again.
func TestIdleSessionsWakeEachOther(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "ana asks", When: mockapi.When{Last: "START-ANA"}, Turn: mockapi.Call("mcp__bureau__send", map[string]any{"to": "bob", "kind": "question", "text": "Which port?"})},
		mockapi.Rule{Name: "bob answers", When: mockapi.When{Last: "Which port?", NotLast: "tool_result"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			return answerTo(r, "Which port?", "port 8471")
		}}},
	)
	for _, name := range []string{"ana", "bob"} {
		d.Extra = []string{"BUREAU_NAME=" + name}
		d.Terminal(name, "")
	}
	d.Extra = nil
	d.eventually("both are here and can be woken", func() bool {
		all := d.agents()
		return all["ana"] != "" && all["bob"] != "" && len(d.Sessions()) == 2
	})
	slow := d.slowness()
	woken := func(after time.Time, limit time.Duration, what string, is func(*mockapi.Request) bool) *mockapi.Request {
		t.Helper()
		r := d.Request(is)
		took := r.At.Sub(after)
		t.Logf("%s after %v", what, took.Round(time.Millisecond))
		if took > limit*slow {
			slow = max(slow, d.slowness()) // the load may have come meanwhile
		}
		if took > limit*slow {
			t.Errorf("%s took %v, more than %v on a machine that is %d times slower than it could be", what, took, limit, slow)
		}
		return r
	}
	// Below what the next look of a server takes that nobody rang: 5 s.
	// A session that has just begun is left to its own hook for a moment.
	time.Sleep(3 * time.Second)
	now := time.Now()
	d.Run("bureau", "send", "ana", "START-ANA: find out the port")
	start := woken(now, 4*time.Second, "ana woken", has("START-ANA"))
	// From the request that was answered with the tool's call, so the client's
	// own part is in it.
	question := woken(start.At, 4*time.Second, "bob woken", func(r *mockapi.Request) bool { return r.Session != start.Session && has("Which port?")(r) })
	// Rings of one session are kept apart, so the second may have to wait.
	heard := woken(question.At, 10*time.Second, "ana woken again", func(r *mockapi.Request) bool { return r.Session == start.Session && has("port 8471")(r) })
	if who(heard) != "ana" || who(question) != "bob" {
		t.Errorf("heard by %q, answered by %q", who(heard), who(question))
	}
	d.eventually("all is seen", func() bool { return d.stateOf("START-ANA") == "seen" })
	// Nobody is woken for nothing: ana twice, bob once, and two calls of a tool.
	time.Sleep(3 * time.Second)
	if n := len(d.API.Requests()); n > 5 {
		t.Errorf("%d requests, want 5", n)
		d.Dump()
	}
}

// slowness gives how many times slower than an unloaded machine this one is
// now, by what a command of ours takes: at least 1.
func (d *Desk) slowness() time.Duration {
	d.T.Helper()
	const usual = 50 * time.Millisecond
	begun := time.Now()
	const runs = 3
	for range runs {
		d.Run("bureau", "agents")
	}
	return 1 + time.Since(begun)/(runs*usual)
}

// ana is the session that asks.
const ana = "aaaaaaaa-2222-4333-8444-555555555555"
