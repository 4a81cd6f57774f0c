package office

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"bureau/internal/event"
)

// A monitor that follows while many write shows every message once, in the
// journal's order, also those that were there when it began.
func TestFollowMissesNothing(t *testing.T) {
	d := newDesk(t)
	ana, user := d.agent("ana"), d.user()
	d.agent("bob")
	const before, writers, each = 5, 4, 25
	for i := range before {
		d.send(ana, "bob", fmt.Sprintf("before %d", i))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	var wg sync.WaitGroup
	for w := range writers {
		o, err := Open(ctx, Options{Home: d.Home()})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer o.Close()
			for i := range each {
				if _, err := o.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte(fmt.Sprintf("writer %d, %d", w, i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := errors.New("all seen")
	seen := map[event.ID]int{}
	last := event.Seq(0)
	err := d.Follow(ctx, user, Filter{Kind: "message"}, 0, func(v EventView) error {
		if v.Seq <= last {
			t.Errorf("event %d came after %d", v.Seq, last)
		}
		last = v.Seq
		seen[v.Message]++
		if len(seen) == before+writers*each {
			return done
		}
		return nil
	})
	wg.Wait()
	if err != done {
		t.Fatalf("%v after %d messages", err, len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %s was shown %d times", id, n)
		}
	}
}

// An empty office has a standing too.
func TestStandingOfAnEmptyOffice(t *testing.T) {
	d := newDesk(t)
	s, err := d.Standing(context.Background(), d.user())
	if err != nil || len(s.Here) != 0 || s.Total != 0 || len(s.Questions) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
