package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/presence"
)

// TestTheOneAskedLeaves: who waits for an answer is told at once when the
// session that was asked ends, from another process too; the question stays.
func TestTheOneAskedLeaves(t *testing.T) {
	ctx := context.Background()
	for name, goOn := range map[string]bool{"waits on": true, "stops waiting": false} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t, Options{})
			ana, p := d.agent("ana"), d.project("app")
			bob := d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: presence.Self(), Folder: p.Root, Project: p})
			asked, left, done := make(chan event.ID, 1), make(chan RecipientView, 4), make(chan error, 1)
			var out Outcome
			go func() {
				var err error
				out, err = d.Ask(ctx, ana, Asking{
					Letter: Letter{To: []string{"bob"}, Body: []byte("ready?")}, Timeout: 2 * patience,
					Waiting: func(q Asked) { asked <- q.Question },
					Left:    func(r RecipientView) bool { left <- r; return goOn },
				})
				done <- err
			}()
			q := <-asked
			other := d.beside(Options{})
			if err := other.EndSession(ctx, bob.Agent.ID, bob.Process, "closed"); err != nil {
				t.Fatal(err)
			}
			select {
			case r := <-left:
				if r.Name != "bob" || r.Here || r.Wake != WakeNone {
					t.Errorf("%+v", r)
				}
			case <-time.After(patience):
				t.Fatal("nobody told the asker")
			}
			if !goOn {
				if err := <-done; !fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "bob has left") || !out.Timeout || out.To.Here {
					t.Errorf("%v, %+v", err, out)
				}
				return
			}
			// Whoever takes the seat has the question.
			bob = other.begin(Session{Client: "claude", ID: "B2", Declared: "bob", Process: presence.Self(), Folder: p.Root, Project: p})
			if _, err := other.Answer(ctx, bob, string(q), Letter{Body: []byte("yes")}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil || out.Answer == nil || out.Answer.Body != "yes" {
				t.Errorf("%v, %+v", err, out)
			}
			if len(left) > 0 {
				t.Errorf("told again: %+v", <-left)
			}
		})
	}
}

// TestWhoWasNeverThereDoesNotLeave: nor does a command that only waits for mail.
func TestWhoWasNeverThereDoesNotLeave(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	bob := d.agent("bob")
	w := watched{o: d.Office}
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	look := func(step string, want bool) {
		t.Helper()
		if got := w.leaves(ctx, bob.Agent.ID); got != want {
			t.Errorf("%s: leaves = %v", step, got)
		}
	}
	in := func(role presence.Role) {
		t.Helper()
		if err := live.Enter(ctx, presence.Life{Agent: bob.Agent.ID, Process: presence.Self(), Role: role, Client: "x", Since: d.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	out := func(role presence.Role) {
		t.Helper()
		if err := live.Leave(ctx, bob.Agent.ID, presence.Self(), role); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []presence.Role{presence.Client, presence.Terminal, presence.Waiter} {
		out(role)
	}
	look("absent", false)
	look("absent still", false)
	in(presence.Waiter)
	look("a waiter came", false)
	out(presence.Waiter)
	look("and went", false)
	in(presence.Client)
	look("a session came", false)
	in(presence.Server)
	in(presence.Waiter)
	out(presence.Client)
	look("it ended, but a command waits", false)
	out(presence.Waiter)
	look("that went too", true)
	look("once", false)
	in(presence.Terminal)
	look("a terminal came", false)
	if w.leaves(ctx, "somebody else") {
		t.Error("another one leaves who was never looked at")
	}
}

// TestQuestionsThatEnd: an asker that does not wait is written to when its
// question ends without its doing, once; who ended it, and who waits, is not.
func TestQuestionsThatEnd(t *testing.T) {
	ctx := context.Background()
	ask := func(d *desk, from Caller) Sent {
		t.Helper()
		s, err := d.Send(ctx, from, Letter{To: []string{"bob"}, Kind: mail.Question, Body: []byte("May I merge?")})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, row := range []struct {
		name string
		end  func(d *desk, ana, bob Caller, s Sent) error
		want []string // words of the letter; none: there is none
	}{
		{"retired", func(d *desk, _, _ Caller, _ Sent) error { return ignore(d.Retire(ctx, d.user(), "bob", "gone")) }, []string{"bob was retired"}},
		{"retires itself", func(d *desk, _, bob Caller, _ Sent) error { return ignore(d.Retire(ctx, bob, "bob", "done")) }, []string{"bob was retired"}},
		{"closed by the person", func(d *desk, _, _ Caller, s Sent) error {
			return ignore(d.CloseThread(ctx, d.user(), string(s.Thread), "never mind"))
		}, []string{"the thread was closed (never mind)"}},
		{"closed by itself", func(d *desk, ana, _ Caller, s Sent) error {
			return ignore(d.CloseThread(ctx, ana, string(s.Thread), ""))
		}, nil},
		{"taken back", func(d *desk, ana, _ Caller, s Sent) error { return ignore(d.Withdraw(ctx, ana, string(s.ID))) }, nil},
		{"the asker is retired", func(d *desk, _, _ Caller, _ Sent) error { return ignore(d.Retire(ctx, d.user(), "ana", "gone")) }, nil},
		{"answered", func(d *desk, _, bob Caller, s Sent) error {
			if _, err := d.Answer(ctx, bob, string(s.ID), Letter{Body: []byte("yes")}); err != nil {
				return err
			}
			return ignore(d.Retire(ctx, d.user(), "bob", "gone"))
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := openDesk(t, Options{})
			ana, bob := d.agent("ana"), d.agent("bob")
			s := ask(d, ana)
			if err := row.end(d, ana, bob, s); err != nil {
				t.Fatal(err)
			}
			var letters []MessageView
			for _, m := range d.unread(ana, 50) {
				if m.Kind == mail.Update {
					letters = append(letters, m)
				}
			}
			if len(row.want) == 0 {
				if len(letters) != 0 {
					t.Errorf("%+v", letters)
				}
				d.sound()
				return
			}
			if len(letters) != 1 {
				t.Fatalf("%+v", letters)
			}
			if s, err := d.Ringable(ctx, ana.Agent.ID); err != nil || s.Newest != letters[0].ID {
				t.Errorf("it is not rung for: %+v, %v", s, err)
			}
			list, err := d.Read(ctx, ana, []string{string(letters[0].ID)})
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			for _, word := range append(row.want, s.Short+" to bob", "May I merge?") {
				if !strings.Contains(list[0].Body, word) {
					t.Errorf("%q is not in %q", word, list[0].Body)
				}
			}
			d.sound()
		})
	}
	// Who waits for the answer sees the end by itself.
	d := openDesk(t, Options{})
	ana, _ := d.agent("ana"), d.agent("bob")
	asked := d.waitFor(ana, "bob", "ready?")
	if err := ignore(d.beside(Options{}).Retire(ctx, d.user(), "bob", "gone")); err != nil {
		t.Fatal(err)
	}
	d.want(fault.Conflict, asked.end(t))
	if list := d.unread(ana, 50); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestQuestionsOfSubagentsThatEnd: who asked a subagent that ends without an
// answer and left it to nobody hears of it from its client, if it is its own
// lead; nobody is told of a question that it had put itself.
func TestQuestionsOfSubagentsThatEnd(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	lead := d.lead("S1", "lead")
	sub := d.worker(lead, "a1", "fixer")
	for _, q := range []struct {
		from Caller
		to   string
	}{{lead, "lead.fixer"}, {sub, "lead"}} {
		if _, err := d.Send(ctx, q.from, Letter{To: []string{q.to}, Kind: mail.Question, Body: []byte("ready?")}); err != nil {
			t.Fatal(err)
		}
	}
	d.stops(sub)
	for _, m := range d.unread(lead, 20) {
		if m.Kind == mail.Update {
			t.Errorf("%+v", m)
		}
	}
	// Both questions of one thread end for their asker at once; each is told.
	ana, bob := d.agent("ana"), d.agent("bob")
	first, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Kind: mail.Question, Body: []byte("one?")})
	if err == nil {
		_, err = d.Send(ctx, ana, Letter{To: []string{"bob"}, Thread: string(first.Thread), Kind: mail.Question, Body: []byte("two?")})
	}
	if err == nil {
		_, err = d.Retire(ctx, d.user(), string(bob.Agent.Name), "gone")
	}
	if err != nil {
		t.Fatal(err)
	}
	if list := d.unread(ana, 20); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	d.sound()
}
