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
	"bureau/internal/mail"
	"bureau/internal/presence"
)

// TestAskEndsWhenNoAnswerCanCome: at once, with the reason, and seen from
// another process.
func TestAskEndsWhenNoAnswerCanCome(t *testing.T) {
	ctx := context.Background()
	for reason, end := range map[string]func(d *desk, ana, bob Caller, q event.ID) error{
		"closed": func(d *desk, ana, bob Caller, q event.ID) error {
			return ignore(d.CloseThread(ctx, ana, string(q), "never mind"))
		},
		"bob was retired": func(d *desk, ana, bob Caller, q event.ID) error {
			return ignore(d.Retire(ctx, d.user(), "bob", "gone"))
		},
		"taken back": func(d *desk, ana, bob Caller, q event.ID) error {
			return ignore(d.Withdraw(ctx, ana, string(q)))
		},
	} {
		t.Run(reason, func(t *testing.T) {
			d := openDesk(t, Options{})
			ana, bob := d.agent("ana"), d.agent("bob")
			asked := d.waitFor(ana, "bob", "ready?")
			begun := time.Now()
			if err := end(d.beside(Options{}), ana, bob, asked.id); err != nil {
				t.Fatal(err)
			}
			err := asked.end(t)
			d.want(fault.Conflict, err)
			if !strings.Contains(err.Error(), reason) {
				t.Errorf("the reason is told as %q", err)
			}
			if took := time.Since(begun); took > patience {
				t.Errorf("told after %s: nobody rang", took)
			}
			if open, err := d.OpenQuestions(ctx, bob); err != nil || len(open) != 0 {
				t.Errorf("%+v, %v", open, err)
			}
			// Waiting for it again says the same.
			_, err = d.Ask(ctx, ana, Asking{Question: string(asked.id), Timeout: time.Second})
			d.want(fault.Conflict, err)
			d.sound()
		})
	}
}

func TestAskRunsOut(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	begun := time.Now()
	out, err := d.Ask(ctx, ana, Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("now?"), Expires: 300 * time.Millisecond}, Timeout: 2 * patience})
	d.want(fault.Conflict, err)
	if took := time.Since(begun); !strings.Contains(err.Error(), "expired") || took < 300*time.Millisecond || took > patience {
		t.Errorf("%v after %s", err, took)
	}
	// Both sides see it, written down.
	if m := d.sentState(ana, out.Question); m.State != mail.Expired {
		t.Errorf("%+v", m)
	}
	if list := d.unread(bob, 10); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	_, err = d.Answer(ctx, bob, string(out.Question), Letter{Body: []byte("late")})
	d.want(fault.Conflict, err)
	_, err = d.Answer(ctx, bob, "", Letter{Body: []byte("late")})
	d.want(fault.NotFound, err)
}

// TestAskSurvivesItsAsker: the question stays when its asker gives up, and the
// answer arrives in the inbox.
func TestAskSurvivesItsAsker(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	first := d.waitFor(ana, "bob", "ready?")
	first.stop()
	if err := first.end(t); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	open, err := d.OpenQuestions(ctx, bob)
	if err != nil || len(open) != 1 || open[0].ID != first.id || open[0].Waiting {
		t.Fatalf("%+v, %v", open, err)
	}
	// Two wait for the same question, one by its text and one by its id.
	second := d.waitFor(ana, "bob", "ready?")
	out := make(chan Outcome, 1)
	go func() {
		o, err := d.Ask(ctx, ana, Asking{Question: string(first.id), Timeout: patience})
		if err != nil {
			t.Error(err)
		}
		out <- o
	}()
	if second.id != first.id {
		t.Fatalf("asked again, and it is another question")
	}
	if open, err = d.OpenQuestions(ctx, bob); err != nil || len(open) != 1 || !open[0].Waiting {
		t.Fatalf("%+v, %v", open, err)
	}
	answer, err := d.beside(Options{}).Send(ctx, bob, Letter{Thread: string(open[0].Thread), Body: []byte("yes")})
	if err != nil || answer.Answers != first.id {
		t.Fatalf("%+v, %v", answer, err)
	}
	if err := second.end(t); err != nil {
		t.Fatal(err)
	}
	if o := <-out; o.Answer == nil || o.Answer.ID != answer.ID || o.Answer.Body != "yes" {
		t.Fatalf("%+v", o)
	}
	// It is in the inbox until it is proved, once.
	if list := d.unread(ana, 10); len(list) != 1 || list[0].ID != answer.ID || list[0].Answers != first.id {
		t.Fatalf("%+v", list)
	}
	if err := d.Seen(ctx, ana, []event.ID{answer.ID}, "ask"); err != nil {
		t.Fatal(err)
	}
	if list := d.unread(ana, 10); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	d.sound()
}

func TestAskTimesOut(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	out, err := d.Ask(ctx, ana, Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("ready?")}, Timeout: 10 * time.Millisecond})
	d.want(fault.Timeout, err)
	if !out.Timeout || out.Answer != nil || out.Question == "" || fault.HintOf(err) == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	talk, err := d.Thread(ctx, ana, string(out.Thread), Page{})
	if err != nil || talk.Status != mail.Open || len(talk.Questions) != 1 {
		t.Fatalf("%+v, %v", talk, err)
	}
	if _, err := d.Answer(ctx, bob, "", Letter{Body: []byte("yes")}); err != nil {
		t.Fatal(err)
	}
	if list := d.unread(ana, 10); len(list) != 1 || list[0].Body != "yes" {
		t.Fatalf("%+v", list)
	}
}

func TestAskRefusals(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana := d.agent("ana")
	d.agent("bob")
	d.agent("carla")
	count := func() int { return len(d.walk(d.agent("bob"), true, 100)) }
	for what, c := range map[string]struct {
		a    Asking
		code fault.Code
	}{
		"nobody":         {Asking{Letter: Letter{To: []string{"bbo"}, Body: []byte("x")}}, fault.NotFound},
		"two":            {Asking{Letter: Letter{To: []string{"bob", "carla"}, Body: []byte("x")}}, fault.Invalid},
		"a group":        {Asking{Letter: Letter{To: []string{"@all"}, Body: []byte("x")}}, fault.Invalid},
		"itself":         {Asking{Letter: Letter{To: []string{"ana"}, Body: []byte("x")}}, fault.Invalid},
		"nothing":        {Asking{Letter: Letter{To: []string{"bob"}}}, fault.Invalid},
		"too much":       {Asking{Letter: Letter{To: []string{"bob"}, Body: make([]byte, mail.MaxBody+1)}}, fault.Invalid},
		"only if live":   {Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("x")}, IfLive: true}, fault.Unavailable},
		"in no thread":   {Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("x"), Thread: "ZZZZZZZZ"}}, fault.NotFound},
		"no hop to have": {Asking{Letter: Letter{To: []string{"bob"}, Body: []byte("x"), Hops: 1}}, fault.Conflict},
		"a question":     {Asking{Question: "ZZZZZZZZ"}, fault.NotFound},
	} {
		c.a.Timeout = 10 * time.Millisecond
		_, err := d.Ask(ctx, ana, c.a)
		if !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", what, err, c.code)
		}
	}
	if n := count(); n != 0 {
		t.Errorf("refused, and bob has %d messages", n)
	}
	live, err := d.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if waits, err := live.Waits(ctx); err != nil || len(waits) != 0 {
		t.Errorf("refused, and these wait: %+v, %v", waits, err)
	}
	// With somebody there it is asked.
	bob := d.session("B", self(), d.project("bob"))
	_, err = d.Ask(ctx, ana, Asking{Letter: Letter{To: []string{string(bob.Agent.Name)}, Body: []byte("x")}, IfLive: true, Timeout: time.Millisecond})
	d.want(fault.Timeout, err)
}

// TestNobodyAnswersForTheRetired: a question that reaches nobody is refused,
// also where its recipient was not named.
func TestNobodyAnswersForTheRetired(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	talk := d.send(ana, "bob", "hello")
	if _, err := d.Retire(ctx, d.user(), "bob", ""); err != nil {
		t.Fatal(err)
	}
	_, err := d.Send(ctx, ana, Letter{Thread: string(talk.Thread), Kind: mail.Question, Body: []byte("ready?")})
	d.want(fault.NotFound, err)
	_, err = d.Send(ctx, ana, Letter{Re: string(talk.ID), Kind: mail.Question, Body: []byte("ready?")})
	d.want(fault.NotFound, err)
	// A note finds nobody either, and says so at once.
	sent, err := d.Send(ctx, ana, Letter{Thread: string(talk.Thread), Body: []byte("bye")})
	if err == nil && sent.State != mail.Undeliverable {
		t.Errorf("a note to the retired is %s", sent.State)
	}
	// Who had asked is not waited for, and its question cannot be answered.
	carla := d.agent("carla")
	asked, err := d.Send(ctx, carla, Letter{To: []string{"ana"}, Kind: mail.Question, Body: []byte("well?")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Retire(ctx, d.user(), "carla", ""); err != nil {
		t.Fatal(err)
	}
	_, err = d.Answer(ctx, ana, string(asked.ID), Letter{Body: []byte("so")})
	d.want(fault.Conflict, err)
	_ = bob
	d.sound()
}

// TestOneAnswer: of eight that answer at once, each in a process of its own,
// exactly one does.
func TestOneAnswer(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	var desks []*desk
	for range 8 {
		desks = append(desks, d.beside(Options{}))
	}
	for round := range 5 {
		asked := d.waitFor(ana, "bob", fmt.Sprint("round ", round))
		var mu sync.Mutex
		var answers []event.ID
		var start, wg sync.WaitGroup
		start.Add(1)
		for i, other := range desks {
			wg.Go(func() {
				start.Wait()
				var sent Sent
				var err error
				if i%2 == 0 {
					sent, err = other.Answer(ctx, bob, string(asked.id), Letter{Body: fmt.Append(nil, i)})
				} else {
					sent, err = other.Send(ctx, bob, Letter{Answers: string(asked.id), Body: fmt.Append(nil, i)})
				}
				if err == nil {
					mu.Lock()
					answers = append(answers, sent.ID)
					mu.Unlock()
				} else if !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			})
		}
		start.Done()
		wg.Wait()
		if err := asked.end(t); err != nil {
			t.Fatal(err)
		}
		if len(answers) != 1 {
			t.Fatalf("%d answers", len(answers))
		}
		if list := d.unread(ana, 10); len(list) != 1 || list[0].ID != answers[0] {
			t.Fatalf("%+v", list)
		}
		if err := d.Seen(ctx, ana, answers, "test"); err != nil {
			t.Fatal(err)
		}
	}
	d.sound()
}

// TestTheAskerIsSeenWaiting: whoever sees a question sees that its asker is
// there and waits for the answer.
func TestTheAskerIsSeenWaiting(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	other := d.beside(Options{})
	live, err := other.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		asking, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() {
			_, err := d.Ask(asking, ana, Asking{Letter: Letter{To: []string{"bob"}, Body: fmt.Append(nil, "question ", i)}, Timeout: 2 * patience})
			done <- err
		}()
		if _, err := other.WaitMail(ctx, bob); err != nil {
			t.Fatal(err)
		}
		lives, err := live.Lives(ctx, ana.Agent.ID)
		if err != nil || len(lives) != 1 || lives[0].Role != presence.Waiter {
			t.Errorf("the asker of question %d lives as %+v, %v", i, lives, err)
		}
		if waits, err := live.Waits(ctx); err != nil || len(waits) != 1 || waits[0].Asked != bob.Agent.ID {
			t.Errorf("question %d is waited for by %+v, %v", i, waits, err)
		}
		stop()
		<-done
		for _, m := range d.unread(bob, 10) {
			if err := d.Seen(ctx, bob, []event.ID{m.ID}, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
