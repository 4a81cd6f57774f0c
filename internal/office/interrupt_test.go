package office

import (
	"context"
	"errors"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/room"
)

// cutAtCommit gives a context that ends as soon as something is stored after
// now, while whoever stored it still makes its report.
func (d *desk) cutAtCommit() context.Context {
	d.t.Helper()
	b, err := d.beside(Options{}).listen("all")
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		_, _ = b.Wait(ctx, time.Minute)
	}()
	d.t.Cleanup(func() { cancel(); <-done; b.Close() })
	return ctx
}

// TestWhatIsStoredIsReported: whoever is interrupted right after something was
// stored hears of it, or would do it again.
func TestWhatIsStoredIsReported(t *testing.T) {
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	p := d.project("interrupted")
	d.opened(ana, Opening{Name: "talk", Settings: room.Settings{Floor: room.OpenTalk}}, "ana", "bob")
	here := in("talk")
	d.joined(here, ana, bob)
	for i := range 20 {
		told := ""
		out, err := d.Ask(d.cutAtCommit(), ana, Asking{
			Letter: Letter{To: []string{"bob"}, Body: []byte{byte('a' + i)}}, Timeout: time.Minute,
			Waiting: func(a Asked) { told = a.Short },
		})
		if err == nil || out.Question == "" || told == "" {
			t.Fatalf("question %d: %v, %+v, told %q", i, err, out, told)
		}

		said, err := d.RoomSay(d.cutAtCommit(), ana, here, Saying{Text: []byte("@bob and so on")})
		if err != nil || said.Entry == nil {
			t.Fatalf("message %d in a room: %v, %+v", i, err, said)
		}

		v, err := d.Claim(d.cutAtCommit(), ana, p, Claiming{Want: paths(p, string(rune('a'+i))+".go"), Intent: "work", Wait: time.Minute})
		if err != nil || v.ID == "" {
			t.Fatalf("claim %d: %v, %+v", i, err, v)
		}

		queued := false
		if _, err := d.Claim(d.cutAtCommit(), bob, p, Claiming{
			Want: paths(p, string(rune('a'+i))+".go"), Intent: "work", Wait: time.Minute, Waiting: func([]claim.Block) { queued = true },
		}); !errors.Is(err, context.Canceled) || !queued {
			t.Fatalf("wait %d: %v, told %v", i, err, queued)
		}
	}
}

// TestWhomItConcernsIsRoused: that the speaker gave up right after speaking
// keeps nobody asleep.
func TestWhomItConcernsIsRoused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var roused []event.ID
	speaking := false
	d := openDesk(t, Options{Rouse: func(ctx context.Context, _ *Office, agents []event.ID) {
		if !speaking {
			return
		}
		cancel()
		if err := ctx.Err(); err != nil {
			t.Errorf("nobody can be rung: %v", err)
		}
		roused = append(roused, agents...)
	}})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "talk", Settings: room.Settings{Floor: room.OpenTalk}}, "ana", "bob")
	here := in("talk")
	d.joined(here, ana, bob)
	speaking = true
	said, err := d.RoomSay(ctx, ana, here, Saying{Text: []byte("@bob are you there?")})
	if err != nil || said.Entry == nil || ctx.Err() == nil || len(roused) != 1 || roused[0] != bob.Agent.ID {
		t.Fatalf("%v, %+v, %v", err, said, roused)
	}
}
