//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// Two subagents of one session edit one file (L5): the second is denied, with
// the first named, until the first has stopped.
func TestTwoSubagentsEditOneFile(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=boss"}
	d.install(d.hook())
	d.repository()
	spawn := func(prompt string) mockapi.Block {
		return mockapi.Tool("Agent", map[string]any{"description": prompt, "prompt": prompt, "subagent_type": "general-purpose"})
	}
	sub := func(word, last string) mockapi.When {
		return mockapi.When{Any: word, Last: last, Is: func(r *mockapi.Request) bool { return r.Agent != "" }}
	}
	edit := func(word string) mockapi.Block { return d.edits(word).Reply[0] }
	d.API.Add(
		mockapi.Rule{Name: "delegate", When: mockapi.When{Last: "DELEGATE", Agent: "-"}, Turn: mockapi.Turn{Reply: []mockapi.Block{spawn("SUB-ONE go"), spawn("SUB-TWO go")}}},
		mockapi.Rule{Name: "one reads", When: sub("SUB-ONE", "SUB-ONE go"), Turn: d.reads()},
		mockapi.Rule{Name: "one edits", When: sub("SUB-ONE", "package old"), Turn: d.edits("old one")},
		mockapi.Rule{Name: "one ends", When: sub("SUB-ONE", "has been updated"), Turn: d.after("one-may-end", mockapi.Text("one is done"))},
		mockapi.Rule{Name: "two reads", When: sub("SUB-TWO", "SUB-TWO go"), Turn: d.after("one-has-edited", d.reads().Reply...)},
		mockapi.Rule{Name: "two edits", When: sub("SUB-TWO", "package old one"), Turn: d.edits("new")},
		mockapi.Rule{Name: "two is denied", When: sub("SUB-TWO", "somebody else holds"), Turn: d.after("one-has-ended", edit("new"))},
		mockapi.Rule{Name: "two is done", When: sub("SUB-TWO", "has been updated"), Turn: mockapi.Say("two is done")},
	)
	by := func(rule string) *mockapi.Request {
		t.Helper()
		return d.Request(func(r *mockapi.Request) bool { return r.Rule == rule })
	}
	run := d.Background("DELEGATE", "--allowedTools", "Agent,Read,Edit")
	by("one ends")
	touch(t, d.Project, "one-has-edited")
	denied := by("two is denied")
	for _, w := range []string{"tool_result error", parser + ": boss.general-purpose since", "active", `Ask: the ask tool with to "boss.general-purpose"`} {
		if !strings.Contains(denied.Last(), w) {
			t.Errorf("the second is not told %q:\n%s", w, denied.Last())
		}
	}
	if got := d.file(); got != "package old one\n" {
		t.Errorf("after the denial the file says %q", got)
	}
	if held := d.claims("--auto"); len(held) != 1 || held[0].Holder != "boss.general-purpose" || !held[0].Auto {
		t.Errorf("claims: %+v", held)
	}
	touch(t, d.Project, "one-may-end")
	d.eventually("the first one's claim has ended with it", func() bool { return len(d.claims("--auto")) == 0 })
	touch(t, d.Project, "one-has-ended")
	by("two is done")
	run.Wait(t)
	if got := d.file(); got != "package new one\n" {
		t.Errorf("at the end the file says %q", got)
	}
	if all := d.claims("--auto"); len(all) != 0 {
		t.Errorf("after the session stands %+v", all)
	}
}

// What a session claimed is its own after /clear and when it is resumed; a
// session that takes the seat of a closed one does not hold it, but may take
// it over.
func TestClaimsFollowTheConversation(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.repository()
	lists := func(word string) mockapi.Rule {
		return mockapi.Rule{When: mockapi.When{Last: word, NotLast: "tool_result"}, Turn: mockapi.Call("mcp__bureau__claim", map[string]any{"action": "list", "agent": "me"})}
	}
	d.API.Add(
		mockapi.Rule{When: mockapi.When{Last: "HOLD-IT"}, Turn: holds()},
		lists("AFTER-CLEAR"), lists("AFTER-RESUME"), lists("IN-THE-SEAT"),
		mockapi.Rule{When: mockapi.When{Last: "TAKE-IT"}, Turn: mockapi.Turn{From: func(*mockapi.Request) []mockapi.Block {
			return mockapi.Call("mcp__bureau__claim", map[string]any{"action": "takeover", "ids": []string{d.onlyClaim().ID}, "text": "I go on from there"}).Reply
		}}},
		mockapi.Rule{Name: "taken", When: mockapi.When{Any: "TAKE-IT", Last: "tool_result"}, Turn: mockapi.Say("over")},
	)
	for _, word := range []string{"ANA-EDITS", "BOB-EDITS", "SEAT-EDITS", "SEAT-AGAIN"} {
		d.API.Add(
			mockapi.Rule{When: mockapi.When{Last: word}, Turn: d.reads()},
			mockapi.Rule{When: mockapi.When{Any: word, Last: "[tool_result] 1\tpackage"}, Turn: d.edits("old " + strings.ToLower(word[:4]))},
			mockapi.Rule{Name: word, When: mockapi.When{Any: word, Last: "tool_result"}, Turn: mockapi.Say("over")},
		)
	}
	// edited gives what the model of a session was told of its edit.
	edited := func(word string) string {
		t.Helper()
		return d.Request(func(r *mockapi.Request) bool { return r.Rule == word }).Last()
	}
	// mine gives what the tool tells a session that it holds, and the request
	// before it.
	mine := func(word string) (list string, first *mockapi.Request) {
		t.Helper()
		first = d.Request(has(word))
		return d.Request(func(r *mockapi.Request) bool { return r.N > first.N && r.Session == first.Session }).Last(), first
	}
	bob := func(word string) string {
		t.Helper()
		d.Extra = []string{"BUREAU_NAME=bob"}
		d.Print(word, "--allowedTools", "Read,Edit")
		return edited(word)
	}
	d.Extra = []string{"BUREAU_NAME=ana"}
	w := d.Terminal("ana", "", "--session-id", ana, "--allowedTools", "Read,Edit")
	w.Say("HOLD-IT please")
	d.Request(has(`"status":"claimed"`))
	d.settledAs(ana)
	held := d.onlyClaim()

	w.Say("/clear")
	d.eventually("the conversation is another", func() bool { all := d.Sessions(); return len(all) == 1 && all[0].SessionID != ana })
	w.Wait(prompt)
	w.Say("AFTER-CLEAR please")
	list, first := mine("AFTER-CLEAR")
	if first.Session == ana || who(first) != "ana" || !strings.Contains(first.Any(), "You hold") || !strings.Contains(first.Any(), "rename the parser") {
		t.Errorf("after /clear the model of %.8s is told\n%s", first.Session, first.Any())
	}
	if !strings.Contains(list, held.ID) || !strings.Contains(list, `"mine":true`) {
		t.Errorf("after /clear the tool lists\n%s", list)
	}
	if got := d.onlyClaim(); got.ID != held.ID || got.Token != held.Token || got.Standing != "active" {
		t.Errorf("after /clear the claim is %+v, was %+v", got, held)
	}
	d.settledAs(first.Session)
	if got := bob("BOB-EDITS"); !strings.Contains(got, "src: ana since") {
		t.Errorf("after /clear bob is told\n%s", got)
	}
	d.settledAs(first.Session)
	w.Say("ANA-EDITS please")
	if got := edited("ANA-EDITS"); !strings.Contains(got, "has been updated") {
		t.Errorf("after /clear ana's own edit is answered with\n%s", got)
	}
	d.settledAs(first.Session)

	w.Say("/exit")
	d.eventually("the session has ended", func() bool { return len(d.Sessions()) == 0 })
	d.eventually("the claim is parked", func() bool { return d.onlyClaim().Standing == "parked" })
	d.Extra = []string{"BUREAU_NAME=ana"}
	w = d.Terminal("resumed", "", "--resume", first.Session, "--allowedTools", "Read,Edit")
	w.Say("AFTER-RESUME please")
	list, first = mine("AFTER-RESUME")
	if who(first) != "ana" || !strings.Contains(list, held.ID) || !strings.Contains(list, `"mine":true`) {
		t.Errorf("resumed as %q the tool lists\n%s", who(first), list)
	}
	if got := d.onlyClaim(); got.ID != held.ID || got.Token != held.Token || got.Standing != "active" {
		t.Errorf("resumed, the claim is %+v, was %+v", got, held)
	}
	d.settledAs(first.Session)
	w.Say("/exit")
	d.eventually("the session has ended", func() bool { return len(d.Sessions()) == 0 })

	// The next one has ana's seat and mail, but began from nothing.
	w = d.Terminal("seat", "", "--allowedTools", "Read,Edit")
	w.Say("IN-THE-SEAT please")
	list, next := mine("IN-THE-SEAT")
	if who(next) != "ana" || next.Session == first.Session || strings.Contains(next.Any(), "You hold") {
		t.Errorf("in the seat the model of %.8s is told\n%s", next.Session, next.Any())
	}
	if strings.Contains(list, `"mine":true`) {
		t.Errorf("in the seat the tool lists\n%s", list)
	}
	d.settledAs(next.Session)
	w.Say("SEAT-EDITS please")
	got := edited("SEAT-EDITS")
	for _, words := range []string{"was not made", "src: ana (an earlier session) since", "parked", "bureau takeover " + held.ID, "rename the parser"} {
		if !strings.Contains(got, words) {
			t.Errorf("in the seat an edit is answered without %q:\n%s", words, got)
		}
	}
	if got := d.file(); !strings.Contains(got, "old ana-") || strings.Contains(got, "seat") {
		t.Errorf("the file says %q", got)
	}
	if n := len(slices.DeleteFunc(d.claims("--auto"), func(c heldClaim) bool { return c.ID == held.ID })); n != 0 {
		t.Errorf("an edit that was denied left claims: %+v", d.claims("--auto"))
	}
	d.settledAs(next.Session)

	// It goes on from there on purpose only: once nothing lies uncommitted.
	d.git("commit", "-q", "-a", "-m", "what ana did")
	w.Say("TAKE-IT please")
	if got := d.Request(func(r *mockapi.Request) bool { return r.Rule == "taken" }).Last(); !strings.Contains(got, `"status":"claimed"`) {
		t.Errorf("the takeover is answered with\n%s", got)
	}
	d.settledAs(next.Session)
	w.Say("SEAT-AGAIN please")
	if got := edited("SEAT-AGAIN"); !strings.Contains(got, "has been updated") {
		t.Errorf("after the takeover an edit is answered with\n%s", got)
	}
	if got := d.onlyClaim(); got.Holder != "ana" || got.Standing != "active" || got.Token <= held.Token {
		t.Errorf("after the takeover the claim is %+v, was %+v", got, held)
	}
}
