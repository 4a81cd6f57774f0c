package office

import (
	"context"
	"strings"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/mail"
)

// TestMailOfADeadSession is case D5: what was never delivered outlives the
// session, every clean-up, and waits for who takes the seat.
func TestMailOfADeadSession(t *testing.T) {
	ctx := context.Background()
	for _, sentBefore := range []bool{true, false} {
		d := openDesk(t, Options{Now: newClock().now})
		p := d.project("app")
		ana := d.agent("ana")
		start := func(id string, pid int) Caller {
			return d.begin(Session{Client: "claude", ID: id, Declared: "bob", Process: deadProcess(pid), Folder: p.Root, Project: p})
		}
		bob := start("S1", 1)
		if sentBefore {
			d.send(ana, "bob", "hello")
			// It was offered to the session, and the session died.
			if list, _, err := d.Take(ctx, bob, 10, 0); err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
		}
		live, err := d.Live(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := live.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if err := d.EndSession(ctx, bob.Agent.ID, bob.Process, "other"); err != nil {
			t.Fatal(err)
		}
		if !sentBefore {
			d.send(ana, "bob", "hello")
		}
		// Control: the session is not there any more.
		if lives, err := live.Lives(ctx, bob.Agent.ID); err != nil || len(lives) != 0 {
			t.Errorf("%+v, %v", lives, err)
		}
		next := start("S2", 2)
		if next.Agent.ID != bob.Agent.ID {
			t.Fatalf("the seat was not taken: %+v", next.Agent)
		}
		list, _, err := d.Take(ctx, next, 10, 0)
		if err != nil || len(list) != 1 || list[0].Body != "hello" {
			t.Fatalf("%+v, %v", list, err)
		}
		// Retired for good, the sender sees it.
		if _, err := d.Retire(ctx, d.user(), "bob", "gone"); err != nil {
			t.Fatal(err)
		}
		if m := d.sentState(ana, list[0].ID); m.State != mail.Undeliverable {
			t.Errorf("%+v", m)
		}
	}
}

// TestMailFollowsTheAgent is case I6: after a rename the mail, the threads and
// the questions are still the agent's, and a newcomer under the old name has
// none of them.
func TestMailFollowsTheAgent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	bob, alice := d.agent("bob"), d.agent("alice")
	talk := d.send(bob, "alice", "one")
	d.send(bob, "alice", "two")
	if _, err := d.Send(ctx, bob, Letter{To: []string{"alice"}, Kind: mail.Question, Body: []byte("three?")}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rename(ctx, bob, "alice", "anna"); !fault.Is(err, fault.Denied) {
		t.Fatalf("bob renamed alice: %v", err)
	}
	if a, err := d.Rename(ctx, alice, "alice", "anna"); err != nil || a.Name != "anna" || a.ID != alice.Agent.ID {
		t.Fatalf("%+v, %v", a, err)
	}
	if list := d.unread(alice, 10); len(list) != 3 || list[0].To[0] != "anna" {
		t.Fatalf("%+v", list)
	}
	d.send(bob, "Alice", "four, to the old name")
	d.send(bob, "anna", "five")
	if list := d.unread(alice, 10); len(list) != 5 {
		t.Fatalf("%d unread", len(list))
	}
	if open, err := d.OpenQuestions(ctx, alice); err != nil || len(open) != 1 || open[0].Asked != "anna" {
		t.Fatalf("%+v, %v", open, err)
	}
	if _, err := d.Rename(ctx, bob, "bob", "ANNA"); !fault.Is(err, fault.Conflict) {
		t.Fatalf("bob became anna: %v", err)
	}
	// Control: the thread can be read, under the new name.
	if v, err := d.Thread(ctx, alice, string(talk.Thread), Page{}); err != nil || strings.Join(v.Participants, " ") != "bob anna" {
		t.Fatalf("%+v, %v", v, err)
	}
	second := d.agent("alice")
	if second.Agent.ID == alice.Agent.ID || len(d.walk(second, true, 10)) != 0 {
		t.Fatalf("the new alice is the old one, or has her mail")
	}
	d.send(bob, "alice", "to the new one")
	if got := d.texts(second); got != "to the new one" {
		t.Errorf("the new alice has %q", got)
	}
	if list := d.unread(alice, 10); len(list) != 5 {
		t.Errorf("%d unread", len(list))
	}
	// The notes of a retired agent lead nowhere.
	if _, err := d.Rename(ctx, bob, "bob", "rob"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Retire(ctx, d.user(), "rob", ""); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"bob", "rob"} {
		if a, err := d.Who(ctx, word); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s is %+v, %v", word, a, err)
		}
	}
	if a, err := d.Who(ctx, string(bob.Agent.ID)); err != nil || !a.Retired {
		t.Errorf("%+v, %v", a, err)
	}
	d.sound()
}

// TestUnknownRecipients: the whole letter is refused, the nearest names are
// offered, nothing is stored.
func TestUnknownRecipients(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.agent("reviewer")
	before, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range [][]string{{"revewer"}, {"bob", "revewer"}, {"constructor"}, {"__proto__"}, {"bob\nFrom: ana"}, {""}, {"  "}, {"team-lead"}} {
		_, err := d.Send(ctx, ana, Letter{To: to, Body: []byte("x")})
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
			t.Errorf("%q: %v", to, err)
		}
		if to[len(to)-1] == "revewer" && !strings.Contains(fault.HintOf(err), "reviewer") {
			t.Errorf("%q: the hint is %q", to, fault.HintOf(err))
		}
	}
	if after, err := d.Head(ctx); err != nil || after != before || len(d.walk(bob, true, 10)) != 0 {
		t.Errorf("the journal grew from %d to %d, %v", before, after, err)
	}
}
