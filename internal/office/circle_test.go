package office

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
)

// asking is a question that somebody waits for in the background.
type asking struct {
	id   event.ID
	done chan error
	stop context.CancelFunc
}

// waitFor lets somebody ask and returns once the question is stored.
func (d *desk) waitFor(from Caller, to, text string) *asking {
	d.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	a := &asking{done: make(chan error, 1), stop: stop}
	stored := make(chan event.ID, 1)
	go func() {
		_, err := d.Ask(ctx, from, Asking{Letter: Letter{To: []string{to}, Body: []byte(text)}, Timeout: 2 * patience, Waiting: func(q Asked) { stored <- q.Question }})
		a.done <- err
	}()
	d.t.Cleanup(stop)
	select {
	case a.id = <-stored:
	case err := <-a.done:
		d.t.Fatalf("%s asked %s: %v", from.Agent.Name, to, err)
	case <-time.After(patience):
		d.t.Fatalf("%s asked %s and nothing happened", from.Agent.Name, to)
	}
	return a
}

// end waits until the asking is over.
func (a *asking) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(patience):
		t.Fatal("the asker still waits")
		return nil
	}
}

func (d *desk) circle(n int) (people []Caller) {
	for i := range n {
		people = append(people, d.agent(fmt.Sprintf("p%d", i)))
	}
	return people
}

func called(c Caller) string { return string(c.Agent.Name) }

// TestCirclesAreRefused: who would close a circle of waiting is refused, is
// told the circle and what to answer first, and nothing is stored.
func TestCirclesAreRefused(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(n, " people"), func(t *testing.T) {
			d := openDesk(t, Options{})
			people := d.circle(n)
			var asks []*asking
			for i := range n - 1 {
				asks = append(asks, d.waitFor(people[i], called(people[i+1]), "well?"))
			}
			last := people[n-1]
			before := d.walk(people[0], true, 10)
			_, err := d.Ask(ctx, last, Asking{Letter: Letter{To: []string{called(people[0])}, Body: []byte("and?")}, Timeout: time.Second})
			d.want(fault.Conflict, err)
			words := make([]string, 0, n+1)
			for i := range n + 1 {
				words = append(words, called(people[(n-1+i)%n]))
			}
			if !strings.Contains(err.Error(), strings.Join(words, " waits for ")) {
				t.Errorf("the circle is told as: %v", err)
			}
			// The one that waits for the refused asker is to be answered first.
			if hint := fault.HintOf(err); !strings.Contains(hint, string(asks[n-2].id)) || !strings.Contains(hint, called(people[n-2])) {
				t.Errorf("the hint is %q, the question %s", hint, asks[n-2].id)
			}
			if after := d.walk(people[0], true, 10); len(after) != len(before) {
				t.Error("the refused question was sent")
			}
			// Asking somebody outside, or without waiting, closes no circle.
			outside := d.agent("outside")
			d.waitFor(last, "outside", "you?")
			if _, err := d.Send(ctx, outside, Letter{To: []string{called(people[0])}, Kind: "question", Body: []byte("by the way?")}); err != nil {
				t.Error(err)
			}
			// Once the link is answered the way is free.
			if _, err := d.Answer(ctx, last, string(asks[n-2].id), Letter{Body: []byte("so")}); err != nil {
				t.Fatal(err)
			}
			if err := asks[n-2].end(t); err != nil {
				t.Fatal(err)
			}
			d.waitFor(last, called(people[0]), "and now?")
		})
	}
}

// TestNoFalseCircles: a wait counts only while somebody waits and an answer can
// come.
func TestNoFalseCircles(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	for what, broken := range map[string]func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error{
		"answered while the asker has not noticed": func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error {
			return ignore(d.Answer(ctx, bob, string(q), Letter{Body: []byte("yes")}))
		},
		"taken back": func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error {
			return ignore(d.Withdraw(ctx, ana, string(q)))
		},
		"closed": func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error {
			return ignore(d.CloseThread(ctx, ana, string(q), ""))
		},
		"run out, and nobody wrote it down": func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error {
			c.move(time.Hour)
			return nil
		},
		"its process died": func(d *desk, live *presence.Store, q event.ID, ana, bob Caller) error {
			if err := live.End(ctx, q, self()); err != nil {
				return err
			}
			circle, err := live.Begin(ctx, presence.Wait{Question: q, Asker: ana.Agent.ID, Asked: bob.Agent.ID, Process: deadProcess(7)}, d.stillOpen(ctx))
			if len(circle) > 0 {
				d.t.Error("a circle of one")
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := openDesk(t, Options{Now: c.now})
			ana, bob := d.agent("ana"), d.agent("bob")
			sent, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Kind: "question", Body: []byte("ready?"), Expires: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			live, err := d.Live(ctx)
			if err != nil {
				t.Fatal(err)
			}
			wait := presence.Wait{Question: sent.ID, Asker: ana.Agent.ID, Asked: bob.Agent.ID, Process: self()}
			if circle, err := live.Begin(ctx, wait, d.stillOpen(ctx)); err != nil || len(circle) > 0 {
				t.Fatalf("%v, %v", circle, err)
			}
			back := Asking{Letter: Letter{To: []string{"ana"}, Body: []byte("are you?")}, Timeout: time.Millisecond}
			_, err = d.Ask(ctx, bob, back)
			d.want(fault.Conflict, err)
			if err := broken(d, live, sent.ID, ana, bob); err != nil {
				t.Fatal(err)
			}
			_, err = d.Ask(ctx, bob, back)
			d.want(fault.Timeout, err)
		})
	}
}

// TestTwoCloseACircleAtOnce: of two that ask each other at the same instant
// exactly one is refused.
func TestTwoCloseACircleAtOnce(t *testing.T) {
	d := openDesk(t, Options{})
	people := d.circle(2)
	desks := []*desk{d.beside(Options{}), d.beside(Options{})}
	for round := range 50 {
		var errs [2]error
		var start, wg sync.WaitGroup
		start.Add(1)
		ctx, stop := context.WithCancel(context.Background())
		over := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		for i := range people {
			wg.Go(func() {
				defer close(over[i])
				start.Wait()
				_, errs[i] = desks[i].Ask(ctx, people[i], Asking{Letter: Letter{To: []string{called(people[1-i])}, Body: fmt.Append(nil, "round ", round)}, Timeout: time.Minute,
					// Only one gets here, and waits until the other was refused.
					Waiting: func(Asked) { <-over[1-i]; stop() }})
			})
		}
		start.Done()
		wg.Wait()
		stop()
		refused := 0
		for _, err := range errs {
			if fault.Is(err, fault.Conflict) {
				refused++
			} else if !errors.Is(err, context.Canceled) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if refused != 1 {
			t.Fatalf("round %d: %d of two were refused: %v", round, refused, errs)
		}
	}
	d.sound()
}

// TestWaitingStopsNobody: in one process somebody asks while others look at
// what is waited for; none keeps the other from going on.
func TestWaitingStopsNobody(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	d := openDesk(t, Options{})
	people := d.circle(4)
	d.waitFor(people[1], called(people[2]), "a wait for others to look at")
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := range 15 {
				_, err := d.Ask(ctx, people[0], Asking{Letter: Letter{To: []string{called(people[1])}, Body: fmt.Append(nil, i, n)}, Timeout: time.Millisecond})
				if !fault.Is(err, fault.Timeout) || ctx.Err() != nil {
					t.Errorf("ask: %v", err)
					return
				}
			}
		})
		wg.Go(func() {
			for range 30 {
				if _, err := d.SentMail(ctx, people[0], Page{}); err != nil {
					t.Errorf("sent: %v", err)
					return
				}
				if _, err := d.Send(ctx, people[3], Letter{To: []string{"@all"}, Body: []byte("hello")}); err != nil && !fault.Is(err, fault.NotFound) {
					t.Errorf("send: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestTwoWaitsOfOneAgent: an agent that waits for two answers at once still
// waits when the first has come.
func TestTwoWaitsOfOneAgent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.agent("carla")
	one, two := d.waitFor(ana, "bob", "one?"), d.waitFor(ana, "carla", "two?")
	again := d.waitFor(ana, "carla", "two?")
	if again.id != two.id {
		t.Fatal("asked again, and it is another question")
	}
	if _, err := d.Answer(ctx, bob, string(one.id), Letter{Body: []byte("so")}); err != nil {
		t.Fatal(err)
	}
	if err := one.end(t); err != nil {
		t.Fatal(err)
	}
	again.stop()
	again.end(t)
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lives, err := live.Lives(ctx, ana.Agent.ID)
	if err != nil || len(lives) != 1 || lives[0].Role != presence.Waiter {
		t.Errorf("ana still waits, and lives as %+v, %v", lives, err)
	}
	if waits, err := live.Waits(ctx); err != nil || len(waits) != 1 || waits[0].Question != two.id {
		t.Errorf("ana still waits for %s, and the waits are %+v, %v", two.id, waits, err)
	}
	two.stop()
	two.end(t)
	if lives, err := live.Lives(ctx, ana.Agent.ID); err != nil || len(lives) != 0 {
		t.Errorf("nobody waits, and ana lives as %+v, %v", lives, err)
	}
	if _, err := live.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
}
