//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/e2e/mockapi"
)

var welcome = regexp.MustCompile(`You are (\S+) in bureau`)

// who gives the name that the newest welcome in a request tells the session.
func who(r *mockapi.Request) string {
	all := welcome.FindAllStringSubmatch(r.Any(), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// agents lists the ids of everybody by name, without the person.
func (d *Desk) agents() map[string]string {
	d.T.Helper()
	var out struct {
		Agents []struct{ ID, Name, Kind string }
	}
	if text := d.Run("bureau", "agents", "--json"); json.Unmarshal([]byte(text), &out) != nil {
		d.T.Fatalf("bureau agents: %s", text)
	}
	m := map[string]string{}
	for _, a := range out.Agents {
		if a.Name != "user" {
			m[a.Name] = a.ID
		}
	}
	return m
}

// One conversation is one agent, whatever process holds it; a fork is another;
// a session that starts where one was closed takes its seat and its mail.
func TestWhoAConversationIs(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	const id = "11111111-2222-4333-8444-555555555555"
	asked := 0
	session := func(args ...string) string {
		t.Helper()
		d.Print("hello", args...)
		all := d.API.Requests()
		r := all[len(all)-1]
		if len(all) <= asked {
			t.Fatal("no request")
		}
		asked = len(all)
		return who(r)
	}
	first := session("--session-id", id)
	if first == "" || len(d.agents()) != 1 {
		t.Fatalf("the first session is %q of %v", first, d.agents())
	}
	if again := session("--resume", id); again != first || len(d.agents()) != 1 {
		t.Errorf("resumed, %s is %s; everybody: %v", first, again, d.agents())
	}
	// The original lives on in a terminal; its copy is somebody else.
	w := d.Terminal("original", "", "--resume", id)
	w.Say("still here")
	if name := who(d.Request(has("still here"))); name != first {
		t.Errorf("in a terminal %s is %s", first, name)
	}
	if fork := session("--resume", id, "--fork-session"); fork == first || len(d.agents()) != 2 {
		t.Errorf("forked from %s: %s; everybody: %v", first, fork, d.agents())
	}
	w.Say("/exit")
	d.eventually("the terminal's session ends", func() bool { return len(d.Sessions()) == 0 })
	d.Run("bureau", "send", first, "BODY-9 for the seat")
	if next := session(); next != first {
		t.Errorf("who starts here next is %s, not %s", next, first)
	}
	all := d.API.Requests()
	if r := all[len(all)-1]; !strings.Contains(r.Any(), "BODY-9") {
		t.Errorf("the seat's mail was not handed on:\n%s", r.Any())
	}
	if got := d.stateOf("BODY-9"); got != "seen" {
		t.Errorf("the message is %s", got)
	}
}

// In a terminal /clear, /compact and /resume keep the agent; two sessions in
// one folder are two, and neither sees the other's mail.
func TestTwoInOneFolder(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.API.Add(mockapi.Rule{When: mockapi.When{Any: "summary of the conversation"}, Times: -1, Turn: mockapi.Say("<summary>compacted</summary>")})
	newest := func(word string) *mockapi.Request { return d.Request(has(word)) }
	a := d.Terminal("a", "")
	a.Say("FIRST-A words")
	nameA := who(newest("FIRST-A"))
	b := d.Terminal("b", "")
	b.Say("FIRST-B words")
	nameB := who(newest("FIRST-B"))
	if nameA == "" || nameB == "" || nameA == nameB {
		t.Fatalf("the two are %q and %q", nameA, nameB)
	}
	d.quiet()
	d.Run("bureau", "send", nameA, "BODY-10 for a", "--no-wake")
	b.Say("SECOND-B words")
	if r := newest("SECOND-B"); strings.Contains(r.Any(), "BODY-10") {
		t.Errorf("%s was given the mail of %s:\n%s", nameB, nameA, r.Last())
	}
	a.Say("SECOND-A words")
	if r := newest("SECOND-A"); !strings.Contains(r.Last(), "BODY-10") {
		t.Errorf("%s was not given its mail:\n%s", nameA, r.Last())
	}
	sessionA := newest("SECOND-A").Session
	a.Say("/clear")
	d.eventually("the conversation is another", func() bool {
		return !slices.ContainsFunc(d.Sessions(), func(r claude.Record) bool { return r.SessionID == sessionA })
	})
	a.Wait(prompt)
	a.Say("THIRD-A words")
	r := newest("THIRD-A")
	if r.Session == sessionA || who(r) != nameA {
		t.Errorf("after /clear %s is %q (session %.8s, was %.8s)", nameA, who(r), r.Session, sessionA)
	}
	if all := d.agents(); len(all) != 2 {
		t.Errorf("everybody: %v", all)
	}
}

// Two terminals hold one conversation: the one that began last is the agent,
// the other is told and gets no mail.
func TestOneConversationInTwoTerminals(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	const id = "11111111-2222-4333-8444-555555555555"
	a := d.Terminal("a", "", "--session-id", id)
	a.Say("FIRST words")
	d.Request(has("FIRST"))
	d.idle()
	b := d.Terminal("b", "", "--resume", id)
	b.Say("SECOND words")
	if name := who(d.Request(has("SECOND"))); name != "bob" {
		t.Errorf("the newer terminal is %q", name)
	}
	d.quiet()
	d.Run("bureau", "send", "bob", "BODY-17 for one of them", "--no-wake")
	a.Say("THIRD words")
	if r := d.Request(has("THIRD")); strings.Contains(r.Last(), "BODY-17") || !strings.Contains(r.Last(), "another process") {
		t.Errorf("the older terminal was given\n%s", r.Last())
	}
	d.quiet()
	b.Say("FOURTH words")
	if r := d.Request(has("FOURTH")); !strings.Contains(r.Last(), "BODY-17") {
		t.Errorf("the newer terminal was given\n%s", r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-17") == "seen" })
	if all := d.agents(); len(all) != 1 {
		t.Errorf("everybody: %v", all)
	}
}

// A session of one account takes up what one of another account left in its
// folder.
func TestSeatAcrossAccounts(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	work := filepath.Join(d.Dir, "work account")
	d.Run("bureau", "setup", "claude", "--allow", "--config-dir", work)
	d.Print("ONE")
	first := who(d.Request(has("ONE")))
	d.Run("bureau", "send", first, "BODY-16 for whoever comes")
	d.Extra = []string{claude.EnvConfigDir + "=" + work}
	d.Print("TWO")
	r := d.Request(has("TWO"))
	if first == "" || who(r) != first || !strings.Contains(r.Any(), "BODY-16") {
		t.Errorf("after %q of one account came %q of another, with\n%s", first, who(r), r.Last())
	}
	if got := d.stateOf("BODY-16"); got != "seen" {
		t.Errorf("the message is %s", got)
	}
}
