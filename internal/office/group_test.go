package office

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// member registers somebody in a project under a name.
func (d *desk) member(name string, p Project) Caller {
	d.t.Helper()
	by := d.user()
	by.Project = p
	done, err := d.Register(context.Background(), by, name, roster.Process{})
	if err != nil {
		d.t.Fatal(err)
	}
	return Caller{Agent: done.Agent, Process: self(), Project: p}
}

// texts lists what is in somebody's inbox, oldest first.
func (d *desk) texts(c Caller) string {
	d.t.Helper()
	var out []string
	for _, m := range d.walk(c, true, 100) {
		out = append([]string{m.Body}, out...)
	}
	return strings.Join(out, ", ")
}

func (d *desk) shout(from Caller, to, text string) Sent {
	d.t.Helper()
	sent, err := d.Send(context.Background(), from, Letter{To: []string{to}, Body: []byte(text)})
	if err != nil {
		d.t.Fatalf("to %s: %v", to, err)
	}
	return sent
}

// TestAProjectsMail reaches everybody of the project once, later ones too, and
// never its sender.
func TestAProjectsMail(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	p, other := d.project("app"), d.project("lib")
	ana, bob, far := d.member("ana", p), d.member("bob", p), d.member("far", other)
	sent := d.shout(ana, "*", "first")
	if sent.Kind != mail.Broadcast || sent.Thread != "" || len(sent.Recipients) != 1 || sent.Recipients[0].Name != "bob" {
		t.Fatalf("%+v", sent)
	}
	d.shout(far, "project:app", "from outside")
	carla := d.member("carla", p) // later
	check := func(c Caller, want string) {
		t.Helper()
		if got := d.texts(c); got != want {
			t.Errorf("%s has %q, want %q", c.Agent.Name, got, want)
		}
	}
	check(ana, "from outside")
	check(bob, "first, from outside")
	check(carla, "first, from outside")
	check(far, "")
	check(d.user(), "")
	// Again and under another name: nothing comes twice.
	d.member("carla", p)
	d.member("ana", p)
	if _, err := d.Rename(ctx, carla, "carla", "karla"); err != nil {
		t.Fatal(err)
	}
	d.member("karla", p)
	check(carla, "first, from outside")
	check(ana, "from outside")
	// Who comes over from another project gets it then.
	d.member("far", p)
	check(far, "first")
	// A new person under the name of a retired one is a new person.
	if _, err := d.Retire(ctx, d.user(), "bob", ""); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.unread(bob, 10) {
		t.Errorf("retired, and unread: %+v", m)
	}
	again := d.member("bob", p)
	check(again, "first, from outside")
	// A copy is a conversation of two.
	copied := sent.Recipients[0]
	talk, err := d.Thread(ctx, ana, string(copied.Thread), Page{})
	if err != nil || len(talk.Participants) != 2 || talk.Owner != "ana" {
		t.Fatalf("%+v, %v", talk, err)
	}
	if _, err := d.Thread(ctx, carla, string(copied.Thread), Page{}); !fault.Is(err, fault.Denied) {
		t.Errorf("carla reads bob's copy: %v", err)
	}
	if reply, err := d.Send(ctx, carla, Letter{Re: string(d.walk(carla, true, 10)[1].ID), Body: []byte("thanks")}); err != nil || len(reply.Recipients) != 1 || reply.Recipients[0].Name != "ana" {
		t.Errorf("%+v, %v", reply, err)
	}
	// It ends after 7 days: for those who come and for those who did not look.
	c.move(mail.DefaultBroadcastLife)
	check(d.member("late", p), "")
	if list := d.unread(again, 10); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if m := d.sentState(ana, copied.ID); m.State != mail.Undeliverable {
		t.Errorf("bob's copy is %s", m.State)
	}
	d.sound()
}

// TestAProjectsMailForATime ends when its sender said.
func TestAProjectsMailForATime(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	p := d.project("app")
	ana := d.member("ana", p)
	// To nobody yet.
	sent, err := d.Send(ctx, ana, Letter{To: []string{"*"}, Body: []byte("soon over"), Expires: time.Hour})
	if err != nil || len(sent.Recipients) != 0 {
		t.Fatalf("%+v, %v", sent, err)
	}
	c.move(59 * time.Minute)
	bob := d.member("bob", p)
	if got := d.unread(bob, 10); len(got) != 1 || got[0].ExpiresAt == nil || got[0].ExpiresAt.Sub(d.Now()) != time.Minute {
		t.Fatalf("%+v", got)
	}
	c.move(time.Minute)
	if got := d.texts(d.member("carla", p)); got != "" {
		t.Errorf("carla has %q", got)
	}
	if got := d.unread(bob, 10); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestAllWhoAreLive reaches who is there now and nobody who comes later.
func TestAllWhoAreLive(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	ana := d.begin(Session{Client: "claude", ID: "A", Declared: "ana", Process: self(), Folder: p.Root, Project: p})
	if _, err := d.Send(ctx, ana, Letter{To: []string{"@all"}, Body: []byte("anybody?")}); !fault.Is(err, fault.NotFound) {
		t.Fatalf("nobody is there: %v", err)
	}
	bob := d.begin(Session{Client: "claude", ID: "B", Fork: true, Declared: "bob", Process: self(), Folder: p.Root, Project: p})
	dead := d.begin(Session{Client: "claude", ID: "D", Fork: true, Declared: "dead", Process: deadProcess(1), Folder: p.Root, Project: p})
	asleep := d.member("asleep", p)
	for _, word := range []string{"@all", "all", "@everyone", "EVERYONE"} {
		if sent := d.shout(ana, word, word); len(sent.Recipients) != 1 || sent.Recipients[0].Name != "bob" || !sent.Recipients[0].Here {
			t.Fatalf("%+v", sent)
		}
	}
	later := d.begin(Session{Client: "claude", ID: "L", Fork: true, Declared: "later", Process: self(), Folder: p.Root, Project: p})
	for who, want := range map[*Caller]string{&ana: "", &bob: "@all, all, @everyone, EVERYONE", &dead: "", &asleep: "", &later: ""} {
		if got := d.texts(*who); got != want {
			t.Errorf("%s has %q, want %q", who.Agent.Name, got, want)
		}
	}
	d.sound()
}

// TestGroupRefusals: what no recipient could be given is refused when it is
// sent, not when somebody comes who should get it.
func TestGroupRefusals(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p, empty := d.project("app"), d.project("empty")
	ana := d.member("ana", p)
	d.member("bob", p)
	e := d.member("eve", empty)
	hello := d.send(ana, "bob", "hello")
	for _, from := range []Caller{ana, e} {
		for what, c := range map[string]struct {
			l    Letter
			code fault.Code
		}{
			"an answer":           {Letter{Kind: mail.Answer}, fault.Invalid},
			"a question":          {Letter{Kind: mail.Question}, fault.Invalid},
			"too many hops":       {Letter{Hops: mail.MaxHops + 1}, fault.Invalid},
			"negative hops":       {Letter{Hops: -1}, fault.Invalid},
			"nothing":             {Letter{Body: []byte{}}, fault.Invalid},
			"a long subject":      {Letter{Subject: strings.Repeat("x", mail.MaxSubject+1)}, fault.Invalid},
			"too many files":      {Letter{Files: make([]File, mail.MaxAttachments+1)}, fault.Invalid},
			"in a thread":         {Letter{Thread: string(hello.Thread)}, fault.Invalid},
			"in response":         {Letter{Re: string(hello.ID)}, fault.Invalid},
			"and a name":          {Letter{To: []string{"*", "bob"}}, fault.Invalid},
			"two groups":          {Letter{To: []string{"*", "@all"}}, fault.Invalid},
			"a team":              {Letter{To: []string{"team:x"}}, fault.NotFound},
			"an unknown project":  {Letter{To: []string{"project:nonsense"}}, fault.NotFound},
			"a negative lifetime": {Letter{Expires: -time.Hour}, fault.Invalid},
		} {
			if c.l.To == nil {
				c.l.To = []string{"*"}
			}
			if c.l.Body == nil {
				c.l.Body = []byte("x")
			}
			if _, err := d.Send(ctx, from, c.l); !fault.Is(err, c.code) {
				t.Errorf("%s from %s: %v, want %s", what, from.Agent.Name, err, c.code)
			}
		}
		// And whoever comes can come.
		d.member(fmt.Sprint("newcomer-of-", from.Project.Name), from.Project)
	}
	nowhere := ana
	nowhere.Project = Project{}
	_, err := d.Send(ctx, nowhere, Letter{To: []string{"*"}, Body: []byte("x")})
	d.want(fault.Invalid, err)
	// Two projects of one name are told apart by their paths.
	twin := d.project(filepath.Join("elsewhere", "app"))
	twin.Name = "app"
	d.member("twin", twin)
	_, err = d.Send(ctx, ana, Letter{To: []string{"project:app"}, Body: []byte("x")})
	d.want(fault.Conflict, err)
	if sent := d.shout(ana, "project:"+twin.Root, "x"); len(sent.Recipients) != 1 || sent.Recipients[0].Name != "twin" {
		t.Errorf("%+v", sent)
	}
}

// TestAnOldBroadcastStopsNobody: one that cannot be given any more, whoever
// wrote it, does not keep newcomers out.
func TestAnOldBroadcastStopsNobody(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	ana := d.member("ana", p)
	d.shout(ana, "*", "before")
	err := d.change(ctx, ana.actor(), func(tx *Tx) error {
		id := event.NewID(tx.now)
		posted := mail.Posted{Message: mail.Message{ID: id, From: ana.Agent.ID, Kind: mail.Answer, Body: "broken", Group: "*", Expires: tx.now.Add(time.Hour)}, Audience: "project:" + p.ID}
		_, err := tx.append("", event.BroadcastSubject(id), nil, []event.Event{event.New(mail.KindBroadcasted, posted)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.shout(ana, "*", "after")
	if got := d.texts(d.member("bob", p)); got != "before, after" {
		t.Errorf("bob has %q", got)
	}
}
