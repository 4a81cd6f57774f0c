package office

import (
	"context"
	"testing"

	"bureau/internal/mail"
	"bureau/internal/presence"
)

// TestQuietWord: only where a ring would have been the way something else is
// said, and only of what may ring nobody.
func TestQuietWord(t *testing.T) {
	low, silent, loud := &mail.Message{Importance: mail.Low}, &mail.Message{NoWake: true}, &mail.Message{}
	for _, row := range []struct {
		word string
		m    *mail.Message
		how  string
		held string
	}{
		{"inbox", loud, "inbox", ""},
		{"inbox", low, WakePrompt, "not rung: low importance"},
		{"inbox", silent, WakePrompt, "not rung: sent to wake nobody"},
		{"inbox", &mail.Message{Kind: mail.Ack}, WakePrompt, "not rung: an acknowledgement"},
		{"inbox", &mail.Message{Kind: mail.Broadcast, Group: mail.GroupProject}, WakePrompt, "not rung: a broadcast to a project"},
		{"inbox", &mail.Message{Kind: mail.Broadcast, Group: mail.GroupLive}, "inbox", ""},
		{WakeLead, low, WakePrompt, "not rung: low importance"},
		// A turn that runs brings everything but what is of low importance.
		{WakeBusy, silent, WakeBusy, ""},
		{WakeBusy, low, WakePrompt, "not rung: low importance"},
		// Nothing rings there anyway.
		{WakeWaiting, low, WakeWaiting, ""}, {WakeTerminal, silent, WakeTerminal, ""}, {WakeNone, low, WakeNone, ""},
	} {
		if how, held := quietWord(row.word, row.m); how != row.how || held != row.held {
			t.Errorf("%s, %+v: %q, %q", row.word, *row.m, how, held)
		}
	}
}

// TestQuietMailIsSaidToBe: to its sender, at once and later; louder mail of the
// same sender is not.
func TestQuietMailIsSaidToBe(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, p := d.agent("ana"), d.project("app")
	bob := d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: presence.Self(), Folder: p.Root, Project: p})
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := live.Enter(ctx, presence.Life{Agent: bob.Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "claude", Wake: "inbox", Since: d.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := d.SetStatus(ctx, bob, presence.Idle); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		l          Letter
		wake, held string
	}{
		{Letter{Importance: mail.Low}, WakePrompt, "not rung: low importance"},
		{Letter{NoWake: true}, WakePrompt, "not rung: sent to wake nobody"},
		{Letter{}, "inbox", ""},
	} {
		row.l.To, row.l.Body = []string{"bob"}, []byte("x")
		sent, err := d.Send(ctx, ana, row.l)
		if err != nil {
			t.Fatal(err)
		}
		if r := &sent.Recipients[0]; !r.Here || r.Wake != row.wake || r.Held != row.held || r.Quiet() != (row.held != "") {
			t.Errorf("%+v", r)
		}
		list, err := d.SentMail(ctx, ana, Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := row.wake
		if row.held != "" {
			want += ", " + row.held
		}
		if got := list.Messages[0].Receipts[0].Woken; got != want {
			t.Errorf("sent says %q, want %q", got, want)
		}
	}
}
