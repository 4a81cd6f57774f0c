package office

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"bureau/internal/db/fts"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
)

// TestStrangersReadNothing: who takes no part in a conversation and knows all
// of its ids gets neither a word of it nor who talks there, from any verb.
func TestStrangersReadNothing(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{FullText: fts.Register})
	anabel, bobby, eve := d.agent("anabel"), d.agent("bobby"), d.agent("eve")
	secret := Letter{To: []string{"bobby"}, Subject: "plans for sunday", Body: []byte("the treasure lies below the oak"), Files: []File{{Name: "map.txt", Content: []byte("x")}}}
	note, err := d.Send(ctx, anabel, secret)
	if err != nil {
		t.Fatal(err)
	}
	secret.Kind, secret.Thread = mail.Question, string(note.Thread)
	question, err := d.Send(ctx, anabel, secret)
	if err != nil {
		t.Fatal(err)
	}
	own := d.send(eve, "eve", "a note to myself")
	m, q, th := string(note.ID), string(question.ID), string(note.Thread)
	before, err := d.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	letter := Letter{Body: []byte("x")}
	with := func(change func(*Letter)) Letter {
		l := letter
		change(&l)
		return l
	}
	silent := func(what string, result any, err error) {
		t.Helper()
		words := ""
		if err != nil {
			detail := any(nil)
			if f, ok := err.(*fault.Error); ok {
				detail = f.Detail
			}
			raw, _ := json.Marshal(detail)
			words = err.Error() + " " + fault.HintOf(err) + " " + string(raw)
		}
		raw, jerr := json.Marshal(result)
		if jerr != nil {
			t.Fatal(jerr)
		}
		words += string(raw)
		for _, leak := range []string{"plans", "sunday", "treasure", "oak", "map.txt", "anabel", "bobby"} {
			if strings.Contains(words, leak) {
				t.Errorf("%s tells %q: %s", what, leak, words)
			}
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Denied) && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
		silent(what, nil, err)
	}
	for _, id := range []string{m, m[20:], m[:12], q, q[20:], th, th[20:], strings.ToLower(m)} {
		_, err := d.Read(ctx, eve, []string{id})
		refused("read "+id, err)
		_, err = d.Thread(ctx, eve, id, Page{})
		refused("thread "+id, err)
		_, err = d.Ack(ctx, eve, []string{id})
		refused("ack "+id, err)
		_, err = d.AddToThread(ctx, eve, id, []string{"eve"})
		refused("add "+id, err)
		_, err = d.GrantHops(ctx, eve, id, 1)
		refused("grant "+id, err)
		_, err = d.CloseThread(ctx, eve, id, "")
		refused("close "+id, err)
		_, err = d.Withdraw(ctx, eve, id)
		refused("withdraw "+id, err)
		_, err = d.Answer(ctx, eve, id, letter)
		refused("answer "+id, err)
		_, err = d.Ask(ctx, eve, Asking{Question: id, Timeout: time.Millisecond})
		refused("ask "+id, err)
		for what, l := range map[string]Letter{
			"into":       with(func(l *Letter) { l.Thread = id }),
			"into, to":   with(func(l *Letter) { l.Thread, l.To = id, []string{"eve"} }),
			"re":         with(func(l *Letter) { l.Re = id }),
			"re, to":     with(func(l *Letter) { l.Re, l.To = id, []string{"eve"} }),
			"re, own":    with(func(l *Letter) { l.Re, l.Thread = id, string(own.Thread) }),
			"answers":    with(func(l *Letter) { l.Answers = id }),
			"asks there": with(func(l *Letter) { l.Thread, l.Kind = id, mail.Question }),
		} {
			_, err := d.Send(ctx, eve, l)
			refused(what+" "+id, err)
		}
		for _, kind := range []string{"message", "thread"} {
			got, err := d.Resolve(ctx, eve, id, kind)
			if err == nil && len(id) < 26 {
				t.Errorf("%s %q is part of %s", kind, id, got)
			}
			silent("resolve "+id, nil, err)
		}
	}
	// Parts that many ids have: only the own ones are candidates.
	for _, part := range []string{"0", "1", string(note.ID[:8]), "M"} {
		for _, kind := range []string{"message", "thread"} {
			id, err := d.Resolve(ctx, eve, part, kind)
			if err == nil && id != own.ID && id != own.Thread {
				t.Errorf("%s %q is %s", kind, part, id)
			}
			silent("resolve "+part, nil, err)
		}
	}
	if err := d.Seen(ctx, eve, []event.ID{note.ID, question.ID}, "test"); err != nil {
		t.Error(err)
	}
	lists := map[string]func() (any, error){
		"inbox":     func() (any, error) { return d.Inbox(ctx, eve, true, Page{}) },
		"sent":      func() (any, error) { return d.SentMail(ctx, eve, Page{}) },
		"threads":   func() (any, error) { return d.ThreadList(ctx, eve, false, false, Page{}) },
		"everybody": func() (any, error) { return d.ThreadList(ctx, eve, true, false, Page{}) },
		"questions": func() (any, error) { return d.OpenQuestions(ctx, eve) },
		"search":    func() (any, error) { return d.Find(ctx, eve, Search{Text: "treasure"}) },
		"search by": func() (any, error) { return d.Find(ctx, eve, Search{Text: "the*", Thread: th}) },
		"taken": func() (any, error) {
			list, more, err := d.Take(ctx, eve, 10, 0)
			if more != 0 || len(list) != 1 {
				t.Errorf("%d taken and %d more", len(list), more)
			}
			return list, err
		},
	}
	for what, list := range lists {
		got, err := list()
		silent(what, got, err)
	}
	// What happens in the thread is not told either. That somebody registered
	// is everybody's to know.
	events, _, err := d.Events(ctx, eve, Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.HasPrefix(string(e.Kind), "agent.") {
			continue
		}
		silent("events", e, nil)
	}
	standing, err := d.Standing(ctx, eve)
	standing.Here = nil
	silent("standing", standing, err)
	// And nothing that eve did changed anything there.
	if talk, err := d.Thread(ctx, bobby, th, Page{}); err != nil || len(talk.Participants) != 2 || len(talk.Log) != 2 || talk.Log[0].State != mail.Stored {
		t.Errorf("%+v, %v", talk, err)
	}
	if after, err := d.Head(ctx); err != nil || after != before {
		t.Errorf("the journal grew from %d to %d, %v", before, after, err)
	}

	// Control: the parties and the human read it.
	for _, who := range []Caller{anabel, bobby, d.user()} {
		list, err := d.Read(ctx, who, []string{m[20:]})
		if err != nil || len(list) != 1 || list[0].Body != string(secret.Body) {
			t.Errorf("%s: %+v, %v", who.Agent.Name, list, err)
		}
		if found, err := d.Find(ctx, who, Search{Text: "treasure"}); err != nil || found.Total != 2 {
			t.Errorf("%s finds %+v, %v", who.Agent.Name, found, err)
		}
	}
	if all, err := d.ThreadList(ctx, d.user(), true, false, Page{}); err != nil || all.Total != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	// Somebody who is let in reads it.
	if _, err := d.AddToThread(ctx, bobby, th, []string{"eve"}); err != nil {
		t.Fatal(err)
	}
	if list, err := d.Read(ctx, eve, []string{m[20:]}); err != nil || list[0].Body != string(secret.Body) {
		t.Errorf("%+v, %v", list, err)
	}
}
