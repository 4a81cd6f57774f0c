package trial

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
)

// Processes are killed at a random moment while they send, ask, answer and
// read. What was acknowledged is there, once; nothing that is marked as seen
// was never given to a reader; the office goes on.
func TestKilledAtAnyMoment(t *testing.T) {
	p := newPlace(t, "ana", "bob", "carla")
	rounds := long(200, 12)
	rnd := rand.New(rand.NewPCG(1, uint64(rounds)))
	var acked []event.ID
	got := map[event.ID]bool{}
	answers := map[string]string{}
	for round := 0; round < rounds || len(acked) == 0 && round < 20*rounds; round++ {
		list := []*child{
			p.child("send ana bob 1000 0"),
			p.child("send carla bob 1000 0"),
			p.child("take bob 1000"),
			p.child("ask ana carla 1000"),
			p.child("answer carla 1000"),
		}
		for _, c := range list {
			c.begin()
		}
		time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond)
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, c := range list {
			c.kill()
			time.Sleep(time.Duration(rnd.IntN(4)) * time.Millisecond)
		}
		for _, c := range list {
			acked = append(acked, ids(c.said("sent"))...)
			acked = append(acked, ids(c.said("asked"))...)
			for _, id := range ids(c.said("got")) {
				got[id] = true
			}
			for _, l := range append(c.said("gave"), c.said("answered")...) {
				if other, ok := answers[l[0]]; ok && other != l[1] {
					t.Errorf("round %d: question %s has two answers, %s and %s", round, l[0], other, l[1])
				}
				answers[l[0]] = l[1]
				acked = append(acked, event.ID(l[1]))
			}
		}
	}
	if len(acked) == 0 {
		t.Fatal("nothing was ever acknowledged: the test tried nothing")
	}
	everyoneStored(t, p, acked)
	p.sound()
	bob := p.as("bob")
	seen := 0
	for page := (office.Page{Limit: office.MaxPage}); ; {
		box, err := p.Inbox(context.Background(), bob, true, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range box.Messages {
			if m.State == mail.Seen {
				seen++
				if !got[m.ID] {
					t.Errorf("message %s is marked as seen, but no reader ever got it", m.ID)
				}
			}
		}
		if box.Next == "" {
			break
		}
		page.From = box.Next
	}
	t.Logf("%d rounds: %d acknowledged, %d seen, %d answers", rounds, len(acked), seen, len(answers))
	// The office goes on, and what was left unread is read in the end.
	reader := p.child("take bob 100000")
	reader.begin()
	time.Sleep(10 * time.Millisecond)
	reader.end(t)
	box, err := p.Inbox(context.Background(), bob, false, office.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if box.Unread > 0 {
		t.Errorf("%d messages could not be read after the killed readers' offers", box.Unread)
	}
}
