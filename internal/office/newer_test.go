package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/board"
	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
	"bureau/internal/mail"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// strange appends an event of a kind that this version does not know.
func (d *desk) strange(s event.Subject, kind event.Kind, data string) {
	d.t.Helper()
	_, _, err := d.journal.Append(context.Background(), journal.Entry{
		ID: event.NewID(d.now()), Subject: s, Time: d.now(), Events: []event.Event{{Kind: kind, Data: []byte(data)}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// newer fails the test unless the error says that a newer bureau was here.
func (d *desk) newer(what string, err error) {
	d.t.Helper()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "written by a newer bureau") || fault.HintOf(err) == "" {
		d.t.Errorf("%s: %v", what, err)
	}
}

// fine fails the test if there is an error.
func (d *desk) fine(what string, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Errorf("%s: %v", what, err)
	}
}

// TestANewerBureauWroteHere: of what a newer version wrote the known part can
// be read; where it wrote something unknown, nothing is decided.
func TestANewerBureauWroteHere(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	ana, bob := d.agent("ana"), d.agent("bob")
	session := d.session("S1", self(), p)
	old := d.send(ana, "bob", "before")
	question, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Kind: mail.Question, Body: []byte("ready?")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.BoardSet(ctx, ana, "office", "k", "v", nil); err != nil {
		t.Fatal(err)
	}
	shout, err := d.Send(ctx, session, Letter{To: []string{"*"}, Body: []byte("all")})
	if err != nil {
		t.Fatal(err)
	}
	unknown := event.ID("00000000000000000000000001")
	d.strange(event.ThreadSubject(question.Thread), "thread.frozen", `{"by":"x"}`)
	d.strange(event.ThreadSubject(unknown), "thread.imagined", `{}`)
	d.strange(event.AgentSubject(bob.Agent.ID), "mail.snoozed", `{"messages":["x"]}`)
	d.strange(event.BoardSubject("office"), "board.locked", `[]`)
	d.strange(event.BroadcastSubject(shout.ID), "broadcast.ended", `{}`)
	d.strange("room.x", "room.opened", `{}`)
	d.strange("something else", "x", ``)

	// The thread that it wrote to.
	th, q := string(question.Thread), string(question.ID)
	_, err = d.Answer(ctx, bob, q, Letter{Body: []byte("yes")})
	d.newer("answer", err)
	_, err = d.Send(ctx, ana, Letter{Thread: th, Body: []byte("x")})
	d.newer("send", err)
	_, err = d.AddToThread(ctx, ana, th, []string{"bob"})
	d.newer("add", err)
	_, err = d.GrantHops(ctx, ana, th, 1)
	d.newer("grant", err)
	_, err = d.CloseThread(ctx, ana, th, "")
	d.newer("close", err)
	_, err = d.Withdraw(ctx, ana, q)
	d.newer("withdraw", err)
	_, err = d.Retire(ctx, d.user(), "bob", "")
	d.newer("retire somebody with a question there", err)
	// The mailbox, the board.
	d.newer("seen", d.Seen(ctx, bob, []event.ID{old.ID}, "test"))
	_, err = d.Ack(ctx, bob, []string{string(old.ID)})
	d.newer("ack", err)
	_, err = d.BoardSet(ctx, ana, "office", "other", "v", nil)
	d.newer("board set", err)
	_, err = d.BoardDelete(ctx, ana, "office", "k", nil)
	d.newer("board delete", err)
	// Everything else goes on.
	d.fine("elsewhere on the board", ignore(d.BoardSet(ctx, ana, "project-x", "k", "v", nil)))
	d.fine("another thread", ignore(d.Send(ctx, bob, Letter{Thread: string(old.Thread), Body: []byte("x")})))
	d.fine("another mailbox", d.Seen(ctx, ana, []event.ID{d.unread(ana, 10)[0].ID}, "test"))
	d.fine("a new thread", ignore(d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("x")})))
	d.member("newcomer", p)

	// And all of it can be read.
	read := func() {
		t.Helper()
		if list := d.walk(bob, true, 10); len(list) != 3 {
			t.Errorf("bob has %d messages", len(list))
		}
		d.fine("read", ignore(d.Read(ctx, bob, []string{q})))
		list, _, err := d.Take(ctx, bob, 10, 0)
		if err != nil || len(list) != 3 {
			t.Errorf("%d taken, %v", len(list), err)
		}
		talk, err := d.Thread(ctx, ana, th, Page{})
		if err != nil || len(talk.Log) != 1 || len(talk.Questions) != 1 {
			t.Errorf("%+v, %v", talk, err)
		}
		all, err := d.ThreadList(ctx, d.user(), true, false, Page{})
		if err != nil {
			t.Error(err)
		}
		for _, v := range all.Threads {
			if v.ID == "" || v.Short == "" {
				t.Errorf("a thread without an id: %+v", v)
			}
		}
		d.fine("sent", ignore(d.SentMail(ctx, ana, Page{})))
		d.fine("board", ignore(d.BoardGet(ctx, "office", "k")))
		d.fine("history", ignore(d.BoardHistory(ctx, "office", "k", Page{})))
		events, _, err := d.Events(ctx, d.user(), Filter{}, 0, 1000)
		found := map[event.Kind]bool{}
		for _, e := range events {
			found[e.Kind] = true
		}
		for _, k := range []event.Kind{"thread.frozen", "mail.snoozed", "board.locked", "room.opened", "x"} {
			if !found[k] {
				t.Errorf("%s is not shown, %v", k, err)
			}
		}
		d.fine("standing", ignore(d.Standing(ctx, d.user())))
		d.sound()
	}
	read()

	// The names: then nobody is registered, renamed or retired any more.
	d.strange(event.Names, "agent.promoted", `{"agent":"x"}`)
	by := d.user()
	d.newer("register", ignore(d.Register(ctx, by, "carla", roster.Process{})))
	d.newer("a session", ignore(d.StartSession(ctx, Session{Client: "claude", ID: "S2", Process: self(), Folder: p.Root, Project: p})))
	d.newer("rename", ignore(d.Rename(ctx, ana, "ana", "anna")))
	d.newer("retire", ignore(d.Retire(ctx, by, "ana", "")))
	d.newer("end", d.EndSession(ctx, session.Agent.ID, session.Process, "other"))
	d.fine("who", ignore(d.Who(ctx, "ana")))
	d.fine("identify", ignore(d.Identify(ctx, Claim{As: "ana"})))
	d.fine("mail", ignore(d.Send(ctx, bob, Letter{To: []string{"ana"}, Body: []byte("x")})))
	read()
	if err := d.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	read()
}

// TestUnreadableData: an event of a known kind whose data makes no sense stops
// nothing but decisions on what it belongs to.
func TestUnreadableData(t *testing.T) {
	ctx := context.Background()
	kinds := map[event.Kind]event.Subject{
		mail.KindOpened: "thread.X", mail.KindJoined: "thread.X", mail.KindGranted: "thread.X", mail.KindExhausted: "thread.X", mail.KindClosed: "thread.X",
		mail.KindSent: "thread.X", mail.KindExpired: "thread.X", mail.KindEnded: "thread.X", mail.KindPassed: "thread.X", mail.KindSeen: "agent.X", mail.KindAcked: "agent.X",
		mail.KindBroadcasted: "broadcast.X", board.KindSet: "board.X", board.KindDeleted: "board.X", projection.KindProject: event.Names,
		roster.KindRegistered: event.Names, roster.KindAttached: event.Names, roster.KindDetached: event.Names, roster.KindRenamed: event.Names, roster.KindRetired: event.Names,
	}
	d := openDesk(t, Options{Now: newClock().now})
	ana := d.agent("ana")
	d.agent("bob")
	for kind, subject := range kinds {
		for _, data := range []string{"", "null", "[]", `"x"`, "{}", `{"agent":5}`, `{"thread":"X","members":[],"messages":7}`, `{"message":{"to":[""]}}`} {
			d.strange(subject, kind, data)
		}
		d.fine(string(kind), ignore(d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("x")})))
	}
	shown := map[event.Kind]int{}
	events, _, err := d.Events(ctx, d.user(), Filter{}, 0, 1000)
	for _, e := range events {
		shown[e.Kind]++
	}
	for kind := range kinds {
		if shown[kind] < 8 {
			t.Errorf("%s: %d of 8 are shown, %v", kind, shown[kind], err)
		}
	}
	d.fine("threads", ignore(d.ThreadList(ctx, d.user(), true, false, Page{})))
	d.fine("standing", ignore(d.Standing(ctx, d.user())))
	d.fine("inbox", ignore(d.walk(d.user(), true, 10), nil))
	d.sound()
}

// TestErasedData: the data of any event may be erased. Every event of an
// office, each in its turn: the fold goes on, reading works, and what stands on
// the erased event is refused, not guessed.
func TestErasedData(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	ana, bob := d.member("ana", p), d.member("bob", p)
	d.shout(ana, "*", "all")
	asked, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Kind: mail.Question, Body: []byte("ready?"), Expires: time.Hour, Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	d.fine("answer", ignore(d.Answer(ctx, bob, "", Letter{Body: []byte("yes")})))
	d.fine("grant", ignore(d.GrantHops(ctx, ana, string(asked.Thread), 1)))
	d.fine("board", ignore(d.BoardSet(ctx, ana, "office", "k", "v", nil)))
	d.fine("board", ignore(d.BoardDelete(ctx, ana, "office", "k", nil)))
	d.fine("seen", ignore(d.Ack(ctx, ana, []string{string(d.unread(ana, 10)[0].ID)})))
	d.fine("rename", ignore(d.Rename(ctx, bob, "bob", "bobby")))
	head, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	empty := string(journal.AppendEvents(nil, nil))
	for seq := event.Seq(1); seq <= head; seq++ {
		recs, err := d.journal.Read(ctx, seq-1, 1)
		if err != nil || len(recs) != 1 {
			t.Fatal(err)
		}
		erased := recs[0].Events
		whole := string(journal.AppendEvents(nil, erased))
		set := func(body string) {
			t.Helper()
			if body == empty {
				t.Fatal("nothing to store")
			}
			err := d.store.Update(ctx, func(tx *db.Tx) error {
				return tx.Exec(`UPDATE journal_record SET body = ? WHERE seq = ?`, body, seq)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range erased {
			kept := erased[i].Data
			erased[i].Data = nil
			set(string(journal.AppendEvents(nil, erased)))
			erased[i].Data = kept
			if err := d.Rebuild(ctx); err != nil {
				t.Errorf("%s is erased: %v", erased[i].Kind, err)
				set(whole)
				continue
			}
			d.sound()
			for _, who := range []Caller{ana, bob} {
				_, err := d.Inbox(ctx, who, true, Page{})
				d.fine("inbox", err)
				_, _, err = d.Take(ctx, who, 10, 0)
				d.fine("take", err)
			}
			_, _, err := d.Events(ctx, ana, Filter{}, 0, 1000)
			d.fine("events", err)
			set(whole)
		}
	}
	if err := d.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	d.sound()
}
