package office

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// atOnce lets every desk do something at the same moment, and counts how often
// it was granted. A refusal has to carry the code.
func atOnce(t *testing.T, desks []*desk, refusal fault.Code, do func(i int, d *desk) error) (granted int) {
	t.Helper()
	var n atomic.Int32
	var start, wg sync.WaitGroup
	start.Add(1)
	for i, d := range desks {
		wg.Go(func() {
			start.Wait()
			switch err := do(i, d); {
			case err == nil:
				n.Add(1)
			case !fault.Is(err, refusal):
				t.Error(err)
			}
		})
	}
	start.Done()
	wg.Wait()
	return int(n.Load())
}

func (d *desk) several(n int) (desks []*desk) {
	for range n {
		desks = append(desks, d.beside(Options{}))
	}
	return desks
}

// TestHopsAreNotOverspent: of many that write at once as many are granted as
// there are hops, and questions keep theirs for the answers.
func TestHopsAreNotOverspent(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	desks := d.several(6)
	for round := range 5 {
		talk, err := d.OpenThread(ctx, ana, fmt.Sprint("round ", round), []string{"bob"}, 4)
		if err != nil {
			t.Fatal(err)
		}
		notes := atOnce(t, desks, fault.Conflict, func(i int, d *desk) error {
			from, kind := ana, mail.Note
			if i%2 == 0 {
				from, kind = bob, mail.Question
			}
			return ignore(d.Send(ctx, from, Letter{Thread: string(talk.ID), Kind: kind, Body: fmt.Append(nil, i)}))
		})
		v, err := d.Thread(ctx, ana, string(talk.ID), Page{})
		if err != nil || v.HopsLeft < len(v.Questions) || len(v.Log) != 4-v.HopsLeft || len(v.Log) != notes {
			t.Fatalf("%d granted, %d messages, %d hops left, %d questions; %v", notes, len(v.Log), v.HopsLeft, len(v.Questions), err)
		}
		for _, q := range v.Questions {
			if _, err := d.Answer(ctx, ana, string(q.ID), Letter{Body: []byte("yes")}); err != nil {
				t.Errorf("an open question could not be answered: %v", err)
			}
		}
	}
	d.sound()
}

// TestOneHolderOfAName: sessions that start at the same moment under one name,
// or are renamed to one, are different agents with different names.
func TestOneHolderOfAName(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	desks := d.several(6)
	var mu sync.Mutex
	names, ids := map[string]bool{}, map[event.ID]bool{}
	var agents [6]roster.Agent
	atOnce(t, desks, "", func(i int, d *desk) error {
		done, err := d.StartSession(ctx, Session{Client: "claude", ID: fmt.Sprint("S", i), Declared: "reviewer", Process: self(), Folder: p.Root, Project: p})
		mu.Lock()
		defer mu.Unlock()
		names[string(done.Agent.Name)], ids[done.Agent.ID], agents[i] = true, true, done.Agent
		return err
	})
	if len(names) != 6 || len(ids) != 6 || !names["reviewer"] || !names["reviewer-6"] {
		t.Fatalf("%v, %v", names, ids)
	}
	renamed := atOnce(t, desks, fault.Conflict, func(i int, d *desk) error {
		return ignore(d.Rename(ctx, d.user(), string(agents[i].ID), "chief"))
	})
	if renamed != 1 {
		t.Errorf("%d became chief", renamed)
	}
	registered := atOnce(t, desks, fault.Conflict, func(i int, d *desk) error {
		done, err := d.Register(ctx, d.user(), "terminal", roster.Process{})
		mu.Lock()
		defer mu.Unlock()
		ids[done.Agent.ID] = true
		return err
	})
	if registered != 6 || len(ids) != 7 {
		t.Errorf("a terminal's name: %d registered, %d agents in all", registered, len(ids))
	}
	d.sound()
}

// TestCompareAndSet: of many that write one version exactly one does.
func TestCompareAndSet(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana := d.agent("ana")
	desks := d.several(6)
	version := event.Seq(0)
	for round := range 5 {
		won := atOnce(t, desks, fault.Conflict, func(i int, d *desk) error {
			return ignore(d.BoardSet(ctx, ana, "office", "leader", fmt.Sprint(round, " ", i), &version))
		})
		e, err := d.BoardGet(ctx, "office", "leader")
		if err != nil || won != 1 || e.Version <= version {
			t.Fatalf("%d wrote; %+v after %d, %v", won, e, version, err)
		}
		version = e.Version
	}
	if h, err := d.BoardHistory(ctx, "office", "leader", Page{}); err != nil || h.Total != 5 {
		t.Fatalf("%+v, %v", h, err)
	}
}
