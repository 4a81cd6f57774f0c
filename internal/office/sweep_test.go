package office

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
)

// TestSweepingDeadlines: what is due ends, wherever it is, and the next
// deadline is told, however many questions wait without one.
func TestSweepingDeadlines(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	err := d.change(ctx, ana.actor(), func(tx *Tx) error {
		for i := range maxSweep + 10 {
			l := Letter{To: []string{"bob"}, Kind: mail.Question, Body: fmt.Append(nil, i)}
			m, err := d.compose(&l)
			if err != nil {
				return err
			}
			if _, err := tx.send(ana, &l, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(life time.Duration) Sent {
		t.Helper()
		sent, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Kind: mail.Question, Body: []byte("in time?"), Expires: life})
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
	begun := d.Now()
	frozen, first, second := ask(30*time.Minute), ask(time.Hour), ask(2*time.Hour)
	d.strange(event.ThreadSubject(frozen.Thread), "thread.frozen", `{}`)
	sweep := func(want time.Duration) {
		t.Helper()
		next, err := d.SweepDue(ctx)
		if err != nil || want == 0 && !next.IsZero() || want > 0 && !next.Equal(begun.Add(want)) {
			t.Fatalf("the next deadline is %s, want %s after %s; %v", next, want, begun, err)
		}
	}
	ended := func(s Sent, want bool) {
		t.Helper()
		err := d.look(ctx, func(tx *Tx) error {
			list, err := d.tables.Question(tx.t, s.ID)
			if len(list) != 1 || (list[0].Status == "ended") != want {
				t.Errorf("%+v, want ended %v", list, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sweep(30 * time.Minute)
	ended(first, false)
	c.move(time.Hour)
	sweep(2 * time.Hour)
	ended(first, true)
	ended(second, false)
	c.move(time.Hour)
	sweep(0)
	ended(second, true)
	ended(frozen, false) // a newer bureau has the say there
	if open, err := d.OpenQuestions(ctx, bob); err != nil || len(open) == 0 {
		t.Errorf("%d open, %v", len(open), err)
	}
	head, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sweep(0)
	if again, err := d.Head(ctx); err != nil || again != head {
		t.Errorf("swept twice: %d, %d, %v", head, again, err)
	}
	d.sound()
}
