package office

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
)

// TestSendingAgain: with a client id the same letter is one message, however
// often and from wherever it is sent; another letter under it is refused.
func TestSendingAgain(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.agent("carla")
	letter := Letter{To: []string{"bob"}, Body: []byte("hello"), ClientID: "one", Expires: time.Hour, Hops: 3, AckWanted: true}
	first, err := d.Send(ctx, ana, letter)
	if err != nil || first.Repeated {
		t.Fatalf("%+v, %v", first, err)
	}
	c.move(10 * time.Minute)
	// Many processes try again at once.
	var wg sync.WaitGroup
	for range 4 {
		other := d.beside(Options{})
		wg.Go(func() {
			again, err := other.Send(ctx, ana, letter)
			if err != nil || !again.Repeated || again.ID != first.ID || again.Thread != first.Thread || len(again.Recipients) != 1 || again.Recipients[0].Name != "bob" {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
	wg.Wait()
	if list := d.walk(bob, true, 10); len(list) != 1 {
		t.Fatalf("bob has %d messages", len(list))
	}
	for what, change := range map[string]func(*Letter){
		"text":        func(l *Letter) { l.Body = []byte("hello!") },
		"recipient":   func(l *Letter) { l.To = []string{"carla"} },
		"recipients":  func(l *Letter) { l.To = []string{"bob", "carla"} },
		"subject":     func(l *Letter) { l.Subject = "x" },
		"kind":        func(l *Letter) { l.Kind = mail.Request },
		"group":       func(l *Letter) { l.To = []string{"@all"} },
		"thread":      func(l *Letter) { l.Thread = string(first.Thread) },
		"importance":  func(l *Letter) { l.Importance = mail.High },
		"file":        func(l *Letter) { l.Files = []File{{Name: "a", Content: []byte("x")}} },
		"life":        func(l *Letter) { l.Expires = 2 * time.Hour },
		"no life":     func(l *Letter) { l.Expires = 0 },
		"hops":        func(l *Letter) { l.Hops = 4 },
		"no receipt":  func(l *Letter) { l.AckWanted = false },
		"quiet":       func(l *Letter) { l.NoWake = true },
		"not answer":  func(l *Letter) { l.NotAnswer = true },
		"answers to":  func(l *Letter) { l.AnswerTo = "carla" },
		"same in all": nil,
	} {
		l := letter
		if change != nil {
			change(&l)
		}
		_, err := d.Send(ctx, ana, l)
		if (change == nil) != (err == nil) || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	// The id is the sender's own.
	if other, err := d.Send(ctx, bob, Letter{To: []string{"ana"}, Body: []byte("hello"), ClientID: "one"}); err != nil || other.Repeated || other.ID == first.ID {
		t.Fatalf("%+v, %v", other, err)
	}
	// What was refused was not sent, and may be tried again under its id.
	full := Letter{To: []string{"bob"}, Thread: string(first.Thread), Body: []byte("more"), ClientID: "two"}
	for i := 0; ; i++ {
		if _, err := d.Send(ctx, ana, Letter{Thread: string(first.Thread), Body: fmt.Append(nil, i)}); err != nil {
			break
		}
	}
	_, err = d.Send(ctx, ana, full)
	d.want(fault.Conflict, err)
	if _, err := d.GrantHops(ctx, ana, string(first.Thread), 1); err != nil {
		t.Fatal(err)
	}
	if sent, err := d.Send(ctx, ana, full); err != nil || sent.Repeated {
		t.Fatalf("%+v, %v", sent, err)
	}
	if sent, err := d.Send(ctx, ana, full); err != nil || !sent.Repeated {
		t.Fatalf("%+v, %v", sent, err)
	}
	d.sound()
}

// TestBroadcastingAgain is the same for a group: the copies are there once.
func TestBroadcastingAgain(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	p := d.project("app")
	ana, bob := d.session("A", deadProcess(1), p), d.begin(Session{Client: "claude", ID: "B", Fork: true, Declared: "bob", Process: deadProcess(2), Folder: p.Root, Project: p})
	letter := Letter{To: []string{"*"}, Body: []byte("hello all"), ClientID: "one"}
	first, err := d.Send(ctx, ana, letter)
	if err != nil || len(first.Recipients) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := d.Send(ctx, ana, letter)
	if err != nil || !again.Repeated || again.ID != first.ID || again.Group != first.Group {
		t.Fatalf("%+v, %v", again, err)
	}
	if len(again.Recipients) != 1 || again.Recipients[0].Name != "bob" || again.Recipients[0].ID != first.Recipients[0].ID || again.Recipients[0].Thread != first.Recipients[0].Thread {
		t.Errorf("the copies are said to be %+v, were %+v", again.Recipients, first.Recipients)
	}
	if list := d.walk(bob, true, 10); len(list) != 1 {
		t.Fatalf("bob has %d messages", len(list))
	}
	letter.Body = []byte("hello others")
	_, err = d.Send(ctx, ana, letter)
	d.want(fault.Conflict, err)
	letter.To = []string{"bob"}
	_, err = d.Send(ctx, ana, letter)
	d.want(fault.Conflict, err)
}

// TestAskingAgain: an ask that was repeated with its client id, its text or
// its question's id is the same question.
func TestAskingAgain(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	var question event.ID
	ask := func(a Asking) Outcome {
		t.Helper()
		a.Timeout = 20 * time.Millisecond
		out, err := d.Ask(ctx, ana, a)
		d.want(fault.Timeout, err)
		if !out.Timeout || question != "" && out.Question != question {
			t.Fatalf("%+v, want question %s", out, question)
		}
		return out
	}
	text := Letter{To: []string{"bob"}, Body: []byte("ready?"), ClientID: "one"}
	question = ask(Asking{Letter: text}).Question
	ask(Asking{Letter: text})
	ask(Asking{Letter: Letter{To: []string{"bob"}, Body: []byte(" ready?\n")}})
	ask(Asking{Question: string(question)})
	ask(Asking{Question: string(question[20:])})
	if open, err := d.OpenQuestions(ctx, bob); err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	if _, err := d.Answer(ctx, bob, "", Letter{Body: []byte("yes")}); err != nil {
		t.Fatal(err)
	}
	// Its answer is found by the id, and by the client id; the text alone is a
	// new question now.
	for _, a := range []Asking{{Letter: text}, {Question: string(question)}} {
		out, err := d.Ask(ctx, ana, a)
		if err != nil || out.Answer == nil || out.Answer.Body != "yes" || out.Question != question {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	answered := question
	text.ClientID, question = "", ""
	if out := ask(Asking{Letter: text}); out.Question == answered {
		t.Fatalf("asked anew, and it is the answered question: %+v", out)
	}
	text.ClientID, text.Body = "one", []byte("other?")
	_, err := d.Ask(ctx, ana, Asking{Letter: text, Timeout: time.Millisecond})
	d.want(fault.Conflict, err)
	d.sound()
}
