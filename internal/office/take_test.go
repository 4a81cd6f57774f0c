package office

import (
	"context"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
)

// TestTwoReadersOfOneInbox: each of 1,000 messages is given to one of them, as
// long as its lease runs; in the end all are seen.
func TestTwoReadersOfOneInbox(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	want := d.fill(ana, "bob", 1000)
	var mu sync.Mutex
	given := map[event.ID]int{}
	var start, wg sync.WaitGroup
	start.Add(1)
	for _, id := range []string{"one", "other"} {
		reader, desk := bob, d.beside(Options{})
		reader.Session = id
		wg.Go(func() {
			start.Wait()
			for {
				list, _, err := desk.Take(ctx, reader, 40, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if len(list) == 0 {
					return
				}
				var ids []event.ID
				mu.Lock()
				for _, m := range list {
					given[m.ID]++
					ids = append(ids, m.ID)
				}
				mu.Unlock()
				if err := desk.Seen(ctx, reader, ids, "test"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	start.Done()
	wg.Wait()
	for id := range want {
		if given[id] != 1 {
			t.Errorf("%s was given %d times", id, given[id])
		}
	}
	if len(given) != len(want) || len(d.unread(bob, 100)) != 0 {
		t.Errorf("%d of %d were given, %d are unread", len(given), len(want), len(d.unread(bob, 100)))
	}
	d.sound()
}

// TestLeases: what is not proved is given again, to anybody once its lease is
// over or its reader's process is gone, to the same reader at any time.
func TestLeases(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	sent := d.send(ana, "bob", "hello")
	reader := func(session string) Caller {
		x := bob
		x.Session = session
		return x
	}
	take := func(who Caller, want int) {
		t.Helper()
		list, more, err := d.Take(ctx, who, 10, time.Minute)
		if err != nil || len(list) != want || len(list)+more != 1 {
			t.Fatalf("%d given and %d more, want %d; %v", len(list), more, want, err)
		}
		if want > 0 && (list[0].State != mail.Offered || list[0].Body != "hello") {
			t.Fatalf("%+v", list[0])
		}
	}
	take(reader("one"), 1)
	take(reader("other"), 0)
	take(reader("one"), 1)
	c.move(time.Minute)
	take(reader("other"), 1)
	dead := reader("dead")
	dead.Process = deadProcess(1)
	c.move(time.Minute)
	take(dead, 1)
	take(reader("one"), 1)
	// Listing says that it was offered, to both sides, and takes nothing.
	if list := d.unread(bob, 10); len(list) != 1 || list[0].State != mail.Offered {
		t.Fatalf("%+v", list)
	}
	if m := d.sentState(ana, sent.ID); m.State != mail.Offered {
		t.Fatalf("%s", m.State)
	}
	// The other reader proves it: then it is over for everybody.
	if err := d.Seen(ctx, reader("other"), []event.ID{sent.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	list, more, err := d.Take(ctx, reader("one"), 10, time.Minute)
	if err != nil || len(list) != 0 || more != 0 {
		t.Fatalf("%+v, %d, %v", list, more, err)
	}
	if m := d.sentState(ana, sent.ID); m.State != mail.Seen {
		t.Fatalf("%s", m.State)
	}
	// A process that was overtaken may look and prove nothing.
	stale := reader("one")
	stale.Stale = true
	d.send(ana, "bob", "more")
	if err := d.Seen(ctx, stale, []event.ID{sent.ID}, "test"); err == nil {
		t.Error("an overtaken process marked mail")
	}
}
