package office

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
)

// fill sends n messages with different importance.
func (d *desk) fill(from Caller, to string, n int) map[event.ID]bool {
	d.t.Helper()
	ids := map[event.ID]bool{}
	// One transaction, which is faster than n.
	err := d.change(context.Background(), from.actor(), func(tx *Tx) error {
		for i := range n {
			l := Letter{To: []string{to}, Body: fmt.Append(nil, i), Importance: mail.Importance(i%3 - 1)}
			m, err := d.compose(&l)
			if err != nil {
				return err
			}
			sent, err := tx.send(from, &l, m)
			if err != nil {
				return err
			}
			ids[sent.ID] = true
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return ids
}

// TestWalkingTheInbox pages through 1,000 messages while 50 new ones arrive
// and some are read: every one of the 1,000 is shown exactly once.
func TestWalkingTheInbox(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	want := d.fill(ana, "bob", 1000)
	for _, all := range []bool{true, false} {
		shown := map[event.ID]int{}
		last := MessageView{Importance: "high"}
		page := Page{Limit: 20}
		for pages := 0; ; pages++ {
			box, err := d.Inbox(ctx, bob, all, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range box.Messages {
				shown[m.ID]++
				rank := map[string]int{"high": 2, "normal": 1, "low": 0}
				if rank[m.Importance] > rank[last.Importance] {
					t.Fatalf("%s mail after %s", m.Importance, last.Importance)
				}
				last = m
			}
			// New mail arrives, and something that was shown is read.
			d.fill(ana, "bob", 1)
			if len(box.Messages) > 0 {
				if err := d.Seen(ctx, bob, []event.ID{box.Messages[0].ID}, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if box.Next == "" {
				if pages < 49 {
					t.Fatalf("the walk ended after %d pages", pages)
				}
				break
			}
			page.From = box.Next
		}
		for id, n := range shown {
			if n != 1 {
				t.Errorf("%s was shown %d times", id, n)
			}
		}
		if all {
			for id := range want {
				if shown[id] != 1 {
					t.Errorf("%s was shown %d times", id, shown[id])
				}
			}
			if len(shown) != len(want) {
				t.Errorf("%d were shown, %d were there when the walk began", len(shown), len(want))
			}
		}
		// For the second walk: what waits now.
		want = map[event.ID]bool{}
		for _, m := range d.unread(bob, 500) {
			want[m.ID] = true
		}
	}
	if _, err := d.Inbox(ctx, bob, true, Page{From: "nonsense"}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	for _, n := range []int{-1, MaxPage + 1} {
		if _, err := d.Inbox(ctx, bob, true, Page{Limit: n}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a page of %d: %v", n, err)
		}
	}
}

// TestListsEndWhereTheyEnd: a list that fits its page has no cursor.
func TestListsEndWhereTheyEnd(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.fill(ana, "bob", 3)
	inbox, err1 := d.Inbox(ctx, bob, false, Page{Limit: 3})
	sent, err2 := d.SentMail(ctx, ana, Page{Limit: 3})
	threads, err3 := d.ThreadList(ctx, ana, false, false, Page{Limit: 3})
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if inbox.Next != "" || sent.Next != "" || threads.Next != "" || len(inbox.Messages) != 3 || len(sent.Messages) != 3 || len(threads.Threads) != 3 {
		t.Errorf("cursors %q, %q, %q", inbox.Next, sent.Next, threads.Next)
	}
}

// TestListingConsumesNothing is case D1.
func TestListingConsumesNothing(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.fill(ana, "bob", 3)
	for range 3 {
		d.unread(bob, 2)
		d.walk(bob, true, 2)
		for _, m := range d.unread(bob, 10) {
			if _, err := d.Thread(ctx, bob, string(m.Thread), Page{}); err != nil {
				t.Fatal(err)
			}
			// On a person's terminal the face proves what was read; reading does not.
			if _, err := d.Read(ctx, bob, []string{string(m.ID)}); err != nil {
				t.Fatal(err)
			}
		}
		if list := d.unread(bob, 10); len(list) != 3 || list[0].State != mail.Stored {
			t.Fatalf("%+v", list)
		}
	}
	first := d.unread(bob, 10)[0]
	if err := d.Seen(ctx, bob, []event.ID{first.ID}, "terminal"); err != nil {
		t.Fatal(err)
	}
	if list := d.unread(bob, 10); len(list) != 2 {
		t.Fatalf("%d unread", len(list))
	}
}

// TestOneDefinitionOfUnread is case D8: at every step the count is the list.
func TestOneDefinitionOfUnread(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	step := func(what string, want int) {
		t.Helper()
		list := d.unread(bob, 1) // the total is the list's length, whatever the page
		whole := d.unread(bob, 100)
		taken, more, err := d.Take(ctx, bob, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := d.Inbox(ctx, bob, true, Page{})
		if err != nil || len(list) != want || len(whole) != want || counts.Unread != want || len(taken)+more != want {
			t.Fatalf("%s: %d, %d, %d unread, %d taken and %d more, want %d; %v", what, len(list), len(whole), counts.Unread, len(taken), more, want, err)
		}
		for _, m := range list {
			if _, err := d.Read(ctx, bob, []string{string(m.ID)}); err != nil {
				t.Fatalf("%s: counted and not to be read: %v", what, err)
			}
		}
	}
	send := func(l Letter) event.ID {
		t.Helper()
		l.Body = []byte("x")
		if l.Thread == "" {
			l.To = []string{"bob"}
		}
		sent, err := d.Send(ctx, ana, l)
		if err != nil {
			t.Fatal(err)
		}
		return sent.ID
	}
	seen := func(ids ...event.ID) {
		t.Helper()
		if err := d.Seen(ctx, bob, ids, "test"); err != nil {
			t.Fatal(err)
		}
	}
	step("nothing", 0)
	one, wanted, third := send(Letter{}), send(Letter{AckWanted: true}), send(Letter{})
	step("three sent", 3)
	seen(one, wanted, third)
	step("all seen, one wants an acknowledgement", 1)
	seen(wanted)
	step("seen again", 1)
	if _, err := d.Ack(ctx, bob, []string{string(wanted)}); err != nil {
		t.Fatal(err)
	}
	step("acknowledged", 0)
	talk := d.send(bob, "ana", "a talk")
	reply := send(Letter{Thread: string(talk.Thread)})
	step("a reply in a thread", 1)
	seen(reply)
	step("read", 0)
	send(Letter{Expires: time.Hour})
	late := send(Letter{Expires: time.Hour, AckWanted: true})
	step("two that run out", 2)
	seen(late)
	step("one is seen and wants an acknowledgement", 2)
	c.move(time.Hour)
	step("they ran out", 0)
	send(Letter{})
	step("one more", 1)
	// What is due is written down by the next command in its thread.
	m := d.sentState(ana, late)
	if _, err := d.Send(ctx, ana, Letter{Thread: string(m.Thread), Body: []byte("x"), To: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}
	step("written down", 2)
	if _, err := d.Ack(ctx, bob, []string{string(late)}); err != nil {
		t.Fatal(err)
	}
	step("acknowledged late", 2)
	d.sound()
}

// TestMarkingSomethingElseToo: an id that means nothing, or another's message,
// does not keep the others from being marked.
func TestMarkingSomethingElseToo(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	first, second, others := d.send(ana, "bob", "one"), d.send(ana, "bob", "two"), d.send(bob, "ana", "three")
	if err := d.Seen(ctx, bob, []event.ID{first.ID, "01AAAAAAAAAAAAAAAAAAAAAAAA", others.ID, second.ID, first.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	if list := d.unread(bob, 10); len(list) != 0 {
		t.Errorf("%d unread", len(list))
	}
	if list := d.unread(ana, 10); len(list) != 1 {
		t.Errorf("bob marked ana's mail")
	}
	d.sound()
}

// TestReceipts shows every state as its sender sees it.
func TestReceipts(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	send := func(l Letter) Sent {
		t.Helper()
		if l.Body == nil {
			l.Body = []byte("x")
		}
		sent, err := d.Send(ctx, ana, l)
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
	states := func(id event.ID) map[string]ReceiptView {
		t.Helper()
		out := map[string]ReceiptView{}
		for _, r := range d.sentState(ana, id).Receipts {
			out[r.Name] = r
		}
		return out
	}
	both := send(Letter{To: []string{"bob", "carla"}})
	if s := d.sentState(ana, both.ID); s.State != mail.Stored || len(s.Receipts) != 2 {
		t.Fatalf("%+v", s)
	}
	if err := d.Seen(ctx, bob, []event.ID{both.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	if got := states(both.ID); got["bob"].State != mail.Seen || got["carla"].State != mail.Stored {
		t.Fatalf("%+v", got)
	}
	if s := d.sentState(ana, both.ID); s.State != mail.Stored {
		t.Fatalf("the least of both is %s", s.State)
	}
	question := send(Letter{To: []string{"bob"}, Kind: mail.Question})
	if _, err := d.Answer(ctx, bob, "", Letter{Body: []byte("yes")}); err != nil {
		t.Fatal(err)
	}
	if s := d.sentState(ana, question.ID); s.State != mail.Answered {
		t.Fatalf("%s", s.State)
	}
	acked := send(Letter{To: []string{"bob"}})
	if _, err := d.Ack(ctx, bob, []string{string(acked.ID)}); err != nil {
		t.Fatal(err)
	}
	short := send(Letter{To: []string{"carla"}, Expires: time.Minute})
	for _, id := range []event.ID{acked.ID, short.ID} {
		if _, err := d.Ack(ctx, ana, []string{string(id)}); !fault.Is(err, fault.Denied) {
			t.Fatalf("the sender acknowledged for the recipient: %v", err)
		}
	}
	c.move(time.Minute)
	if s := d.sentState(ana, short.ID); s.State != mail.Expired {
		t.Fatalf("%s", s.State)
	}
	if box := d.walk(carla, true, 10); box[0].ID != short.ID || box[0].State != mail.Expired {
		t.Fatalf("the recipient sees %+v", box[0])
	}
	// Too late is too late, also when it is said to be seen.
	if err := d.Seen(ctx, carla, []event.ID{short.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	waits := send(Letter{To: []string{"carla"}})
	if _, err := d.Retire(ctx, d.user(), "carla", "gone"); err != nil {
		t.Fatal(err)
	}
	if s := d.sentState(ana, waits.ID); s.State != mail.Undeliverable || s.Receipts[0].Reason != "retired" {
		t.Fatalf("%+v", s)
	}
	for id, want := range map[event.ID]mail.State{short.ID: mail.Expired, acked.ID: mail.Acked, question.ID: mail.Answered} {
		if s := d.sentState(ana, id); s.State != want {
			t.Errorf("%s, want %s", s.State, want)
		}
	}
	// The name is free: who takes it is somebody else and has none of the mail.
	if again := d.agent("carla"); again.Agent.ID == carla.Agent.ID || len(d.walk(again, true, 10)) != 0 {
		t.Fatal("the new carla has the old one's mail")
	}
	_, err := d.Send(ctx, ana, Letter{To: []string{string(carla.Agent.ID)}, Body: []byte("x")})
	d.want(fault.NotFound, err)
	d.sound()
}
