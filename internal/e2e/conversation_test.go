//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/e2e/mockapi"
)

var serverSays = regexp.MustCompile(`"you":\{"name":"([^"]+)"`)

// asks is a rule that lets a session ask our server who it is.
func asks(word string) mockapi.Rule {
	return mockapi.Rule{Name: "who am I", When: mockapi.When{Last: word, NotLast: "tool_result"}, Turn: mockapi.Call("mcp__bureau__roster", nil)}
}

// told gives the name that the server's answer after a prompt holds.
func (d *Desk) told(word string) string {
	d.T.Helper()
	asked := d.Request(has(word))
	r := d.Request(func(r *mockapi.Request) bool { return r.N > asked.N && serverSays.MatchString(r.Last()) })
	m := serverSays.FindStringSubmatch(r.Last())
	if m == nil {
		d.T.Fatalf("the server does not say who asks:\n%s", r.Last())
	}
	return m[1]
}

// settledAs waits until the one session is idle in a conversation.
func (d *Desk) settledAs(session string) {
	d.T.Helper()
	d.eventually("the session is idle in conversation "+session, func() bool {
		all := d.Sessions()
		return len(all) == 1 && all[0].Status == claude.Idle && (session == "" || all[0].SessionID == session)
	})
}

// What /compact leaves of a conversation does not say who it is; the context of
// our hook does, with what waits for it. It is the same agent, also for its
// server, and nobody new.
func TestCompactKeepsTheAgent(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "summary", When: mockapi.When{Is: func(r *mockapi.Request) bool {
			return strings.Contains(r.Last(), "summary") && !strings.Contains(r.Last(), "SECOND")
		}}, Times: -1, Turn: mockapi.Say("<summary>They spoke of pears.</summary>")},
		asks("SECOND"),
	)
	w := d.Terminal("bob", "")
	w.Say("FIRST words")
	first := d.Request(has("FIRST"))
	d.idle()
	before := d.agents()
	// An open question that has been seen, and mail that has not.
	d.Run("bureau", "send", "bob", "Q-21: what colour?", "--kind", "question")
	d.eventually("the question is seen", func() bool { return d.stateOf("Q-21") == "seen" })
	d.idle()
	d.Run("bureau", "send", "bob", "BODY-21 may wait", "--no-wake")
	w.Say("/compact")
	w.Wait("Conversation compacted|Compacted")
	d.idle()
	w.Say("SECOND words")
	r := d.Request(has("SECOND"))
	if r.Session != first.Session || strings.Contains(r.Any(), "FIRST words") || !strings.Contains(r.Any(), "pears") {
		t.Errorf("the conversation was not compacted:\n%s", r.Any())
	}
	if who(r) != "bob" || strings.Count(r.Any(), "You are bob in bureau") != 1 {
		t.Errorf("after /compact the model is told %q:\n%s", who(r), r.Any())
	}
	for _, want := range []string{"1 question waits for your answer", "BODY-21"} {
		if !strings.Contains(r.Any(), want) {
			t.Errorf("after /compact the model is not told %q:\n%s", want, r.Any())
		}
	}
	if got := d.told("SECOND"); got != "bob" {
		t.Errorf("the server takes it for %q", got)
	}
	d.idle()
	if after := d.agents(); len(after) != 1 || after["bob"] != before["bob"] {
		t.Errorf("everybody was %v and is %v", before, after)
	}
	if got := d.stateOf("BODY-21"); got != "seen" {
		t.Errorf("the message is %s", got)
	}
}

// With /resume one process, and the server that lives on in it, goes on as the
// agent of the other conversation; the agent it leaves keeps its mail, and is
// itself again when its user comes back. A conversation that the office never
// heard of goes on as who the process was.
func TestResumeInTheSession(t *testing.T) {
	d := NewDesk(t)
	const (
		early = "eeeeeeee-2222-4333-8444-555555555555"
		carla = "cccccccc-2222-4333-8444-555555555555"
		bob   = "bbbbbbbb-2222-4333-8444-555555555555"
	)
	d.Print("EARLY words", "--session-id", early) // before there was an office
	d.install(d.hook())
	d.Extra = []string{"BUREAU_NAME=carla"}
	d.Print("CARLA words", "--session-id", carla)
	d.Extra = []string{"BUREAU_NAME=bob"}
	for _, word := range []string{"FIRST", "SECOND", "THIRD", "FOURTH"} {
		d.API.Add(asks(word))
	}
	w := d.Terminal("bob", "", "--session-id", bob)
	w.Say("FIRST words")
	if got := d.told("FIRST"); got != "bob" {
		t.Fatalf("the server takes bob for %q", got)
	}
	d.settledAs(bob)
	ids := d.agents()

	w.Say("/resume " + carla)
	d.settledAs(carla)
	d.Run("bureau", "send", "bob", "BODY-22 for the one who left", "--no-wake")
	w.Say("SECOND words")
	r := d.Request(has("SECOND"))
	if who(r) != "carla" || r.Session != carla || strings.Contains(r.Any(), "BODY-22") {
		t.Errorf("after /resume the model of %.8s is told that it is %q:\n%s", r.Session, who(r), r.Last())
	}
	if got := d.told("SECOND"); got != "carla" {
		t.Errorf("after /resume the server takes carla for %q", got)
	}
	d.settledAs(carla)
	// The server that lived through it rings for the conversation of now.
	d.Run("bureau", "send", "carla", "BODY-23 wakes")
	if r := d.Request(has("BODY-23")); r.Session != carla {
		t.Errorf("carla's mail came to %.8s", r.Session)
	}
	d.eventually("it is seen", func() bool { return d.stateOf("BODY-23") == "seen" })
	d.settledAs(carla)
	if got := d.stateOf("BODY-22"); got != "stored" {
		t.Errorf("the mail of the one who left is %s", got)
	}

	w.Say("/resume " + bob)
	d.settledAs(bob)
	w.Say("THIRD words")
	r = d.Request(has("THIRD"))
	if who(r) != "bob" || r.Session != bob || !strings.Contains(r.Any(), "BODY-22") {
		t.Errorf("back again the model of %.8s is told that it is %q:\n%s", r.Session, who(r), r.Last())
	}
	if got := d.told("THIRD"); got != "bob" {
		t.Errorf("back again the server takes bob for %q", got)
	}
	d.eventually("it is seen", func() bool { return d.stateOf("BODY-22") == "seen" })
	d.settledAs(bob)

	w.Say("/resume " + early)
	d.settledAs(early)
	w.Say("FOURTH words")
	r = d.Request(has("FOURTH"))
	if name, server := who(r), d.told("FOURTH"); name != "bob" || server != "bob" {
		t.Errorf("in a conversation from before, the model is told that it is %q, the server says %q", name, server)
	}
	if after := d.agents(); len(after) != 2 || after["bob"] != ids["bob"] || after["carla"] != ids["carla"] {
		t.Errorf("everybody was %v and is %v", ids, after)
	}
}
