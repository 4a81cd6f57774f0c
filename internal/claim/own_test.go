package claim

import (
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// TestOwnSubagents: what a session's subagents claimed by their edits is in
// nobody's way who speaks for the session; of what they claimed on purpose it is
// said truly whose it is, and a command that may be theirs does not wait for
// itself.
func TestOwnSubagents(t *testing.T) {
	book := NewBook()
	now, seq := start, event.Seq(0)
	do := func(by By, c Command) (Decision, error) {
		t.Helper()
		d, err := Decide(book, by, c, now, Evidence{})
		seq++
		for _, e := range d.Events {
			if _, err := Apply(book, e, now, seq); err != nil {
				t.Fatal(err)
			}
		}
		return d, err
	}
	main := By{Agent: "ana", Conversations: []string{"c:A"}}
	shell := main
	shell.Shell = true
	sub := By{Agent: "ana.x", For: "ana", Conversations: []string{"c:A/1", "c:A"}}
	bob := By{Agent: "bob", Conversations: []string{"c:B"}}
	want := func(paths ...Pattern) Want { return Want{Paths: paths, Mode: Exclusive, Tree: "/p"} }
	must := func(_ Decision, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(do(sub, Edit{Paths: []string{"docs/d.md"}, IDs: []event.ID{"E1"}, Tree: "/p"}))
	must(do(shell, Take{ID: "C1", Want: want("docs"), Intent: "all"}))
	must(do(sub, Edit{Paths: []string{"docs/d.md", "docs/e.md"}, IDs: []event.ID{"E2", "E3"}, Tree: "/p"}))
	if _, found, _ := book.Claim("E1"); !found {
		t.Error("the subagent lost what it edits")
	}

	must(do(sub, Take{ID: "C2", Want: want("src"), Intent: "mine"}))
	wait := Take{ID: "C3", Want: want("src"), Intent: "all", Wait: "W1", Until: now.Add(time.Hour)}
	d, err := do(shell, wait)
	if !fault.Is(err, fault.Conflict) || d.Wait != nil || len(d.Events) > 0 || !d.Blocks[0].Own {
		t.Fatalf("%v, %+v", err, d)
	}
	if text := err.Error() + fault.HintOf(err); !strings.Contains(text, "your own subagent ana.x") || !strings.Contains(text, "bureau release C2") || strings.Contains(text, "--wait") || strings.Contains(text, "ask") {
		t.Errorf("%s", text)
	}
	// The main agent itself, which is known to ask, may wait for its subagent.
	if d, err := do(main, wait); err != nil || d.Wait == nil {
		t.Errorf("%v, %+v", err, d)
	}
	must(do(main, GiveUp{Wait: "W1"}))

	// Somebody else in the way is waited for; once only its own are left, no more.
	must(do(bob, Take{ID: "C4", Want: want("lib"), Intent: "bob's"}))
	wait = Take{ID: "C5", Want: want("lib", "src"), Intent: "all", Wait: "W2", Until: now.Add(time.Hour)}
	if d, err := do(shell, wait); err != nil || d.Wait == nil || d.Blocks[0].Name != "bob" || !d.Blocks[1].Own {
		t.Fatalf("%v, %+v", err, d)
	}
	must(do(bob, Release{Claims: []event.ID{"C4"}}))
	if d, err := do(shell, wait); !fault.Is(err, fault.Conflict) || d.Wait != nil {
		t.Fatalf("%v, %+v", err, d)
	}
	if waits, _ := book.Waits(); len(waits) > 0 {
		t.Errorf("%+v", waits)
	}
	must(do(shell, Release{Claims: []event.ID{"C2"}}))
	must(do(shell, wait))
}
