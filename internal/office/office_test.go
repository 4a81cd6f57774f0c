package office

import (
	"context"
	"path/filepath"
	"testing"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// desk is an office in a temporary folder, for tests.
type desk struct {
	t *testing.T
	*Office
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	o, err := Open(context.Background(), Options{Home: filepath.Join(t.TempDir(), "office"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{t, o}
}

// agent registers a terminal agent and gives it as a caller.
func (d *desk) agent(name string) Caller {
	d.t.Helper()
	user := d.user()
	if _, err := d.Register(context.Background(), user, name, roster.Process{}); err != nil {
		d.t.Fatal(err)
	}
	c, err := d.Identify(context.Background(), Claim{As: name})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) user() Caller {
	d.t.Helper()
	c, err := d.Identify(context.Background(), Claim{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) send(from Caller, to, text string) Sent {
	d.t.Helper()
	s, err := d.Send(context.Background(), from, Letter{To: []string{to}, Body: []byte(text)})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func TestMailArrives(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	ana, bob := d.agent("ana"), d.agent("bob")
	sent := d.send(ana, "bob", "hello")
	if sent.State != mail.Stored || sent.Thread == "" {
		t.Fatalf("sent %+v", sent)
	}
	box, err := d.Inbox(ctx, bob, false, Page{})
	if err != nil || len(box.Messages) != 1 || box.Messages[0].Body != "hello" || box.Messages[0].From != "ana" {
		t.Fatalf("inbox %+v, %v", box, err)
	}
	if err := d.Seen(ctx, bob, []event.ID{sent.ID}, "terminal"); err != nil {
		t.Fatal(err)
	}
	box, err = d.Inbox(ctx, bob, false, Page{})
	if err != nil || len(box.Messages) != 0 || box.Unread != 0 {
		t.Fatalf("inbox after read %+v, %v", box, err)
	}
	list, err := d.SentMail(ctx, ana, Page{})
	if err != nil || len(list.Messages) != 1 || list.Messages[0].State != mail.Seen {
		t.Fatalf("sent %+v, %v", list, err)
	}
}

func TestAskIsAnswered(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	ana, bob := d.agent("ana"), d.agent("bob")
	other, err := Open(ctx, Options{Home: d.Home()})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	out, err := d.Ask(ctx, ana, Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("ready?")}, Timeout: patience, Waiting: func(a Asked) {
		go func() {
			if _, err := other.Answer(ctx, bob, "", Letter{Body: []byte("yes")}); err != nil {
				t.Error(err)
			}
		}()
	}})
	if err != nil || out.Answer == nil || out.Answer.Body != "yes" {
		t.Fatalf("%+v, %v", out, err)
	}
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waits, err := live.Waits(ctx)
	if err != nil || len(waits) != 0 {
		t.Fatalf("waits left: %v, %v", waits, err)
	}
}
