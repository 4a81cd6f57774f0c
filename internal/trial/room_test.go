package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bureau/internal/office"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// debate ROOM NEXT N: joins and, whenever it is its turn, says a sentence to
// NEXT, until N were said in the room. It prints "said NUMBER" for every
// message that is acknowledged, "read NUMBER" for every one before it proves
// that it has read it.
func (w *worker) debate() error {
	s := office.Sitting{Room: w.args[0]}
	if _, err := w.o.RoomJoin(w.ctx, w.me, s, office.Joining{}); err != nil {
		return err
	}
	for {
		got, err := w.o.RoomWait(w.ctx, w.me, s, office.Waiting{Timeout: patience})
		if err != nil {
			return err
		}
		for _, e := range got.Entries {
			fmt.Printf("read %d\n", e.Seq)
		}
		if err := w.o.RoomShown(w.ctx, w.me, got.Receipt); err != nil {
			return err
		}
		switch {
		case got.Status == office.RoomIsClosed:
			return nil
		case got.Status != office.RoomYourTurn:
			continue
		case got.Room.Messages >= int64(w.int(2)):
			_, err := w.o.RoomClose(w.ctx, w.me, s, "enough was said")
			return err
		}
		text := fmt.Sprintf("@%s %d", w.args[1], got.Room.Messages)
		r, err := w.o.RoomSay(w.ctx, w.me, s, office.Saying{Text: []byte(text), ClientID: text})
		if err != nil {
			return err
		}
		fmt.Printf("said %d\n", r.Entry.Seq)
	}
}

// TestADebateSurvivesKills: three processes hold a debate, one of them is killed
// at a random moment again and again and begun anew. The debate comes to its
// end; what was acknowledged is there, once; everybody has read all of the
// others in order, and the transcript is what was said.
func TestADebateSurvivesKills(t *testing.T) {
	p := newPlace(t, "ana", "bob", "carla")
	ctx := context.Background()
	names := []string{"ana", "bob", "carla"}
	messages := long(3000, 450)
	file := filepath.Join(p.dir, "debate.md")
	op := office.Opening{Name: "debate", Moderator: "ana", Transcript: &office.TranscriptOptions{Root: p.dir, Path: file}, Settings: room.Settings{Barrier: room.Barrier{Gate: room.GateDeclared}}}
	for _, n := range names {
		op.Members = append(op.Members, office.Invitation{Handle: n})
	}
	if _, err := p.RoomOpen(ctx, p.as("ana"), op); err != nil {
		t.Fatal(err)
	}
	lives := map[string][]*child{}
	var took time.Duration // what the newest process needed to be there
	begin := func(i int) {
		begun := time.Now()
		c := p.child(fmt.Sprintf("debate %s debate %s %d", names[i], names[(i+1)%3], messages))
		c.begin()
		lives[names[i]] = append(lives[names[i]], c)
		took = time.Since(begun)
	}
	for i := range names {
		begin(i)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	kills := 0
	view := func() office.RoomView {
		t.Helper()
		v, err := p.RoomShow(ctx, p.user(), office.Sitting{Room: "debate"})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	said, deadline := int64(0), time.Now().Add(patience)
	for v := view(); v.Status == room.Open; v = view() {
		if v.Messages > said {
			said, deadline = v.Messages, time.Now().Add(patience)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the debate has stopped: %+v", v)
		}
		// Long enough to say something, also where a process is slow.
		time.Sleep(took + time.Duration(20+rnd.IntN(60))*time.Millisecond)
		i := rnd.IntN(3)
		list := lives[names[i]]
		list[len(list)-1].kill()
		kills++
		if view().Status == room.Open {
			begin(i)
		}
	}
	for _, n := range names {
		list := lives[n]
		select {
		case <-list[len(list)-1].wait:
		case <-time.After(patience):
			t.Fatalf("%s still waits in a closed room", n)
		}
	}
	log := map[int64]office.RoomEntry{}
	var texts []string
	page := office.HistoryPage{Page: office.Page{Limit: office.MaxPage}}
	for {
		l, err := p.RoomHistory(ctx, p.user(), office.Sitting{Room: "debate"}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries {
			log[e.Seq] = e
			if e.Message {
				texts = append(texts, e.Text)
			}
		}
		if page.From = l.Next; page.From == "" {
			break
		}
	}
	if len(texts) != messages {
		t.Errorf("%d messages, want %d", len(texts), messages)
	}
	for i, x := range texts {
		if want := fmt.Sprintf("@%s %d", names[(i+1)%3], i); x != want {
			t.Errorf("message %d is %q, want %q", i, x, want)
		}
	}
	acked := 0
	for _, n := range names {
		var read []int64
		for _, c := range lives[n] {
			for _, l := range c.said("said") {
				acked++
				if e := log[number(l)]; !e.Message || string(e.From) != n {
					t.Errorf("%s was told that %s is stored, and it is %+v", n, l[0], e)
				}
			}
			for _, l := range c.said("read") {
				// Again only what was not proved when the one before was killed.
				if k := number(l); len(read) == 0 || k > read[len(read)-1] {
					read = append(read, k)
				}
			}
		}
		for k, e := range log {
			if e.Message && string(e.From) != n && k <= read[len(read)-1] && !slices.Contains(read, k) {
				t.Errorf("%s was never given message %d", n, k)
			}
		}
	}
	if kills == 0 || acked == 0 {
		t.Fatalf("%d kills, %d acknowledged: the test tried nothing", kills, acked)
	}
	if _, err := p.RoomTranscriptSync(ctx, p.user(), office.Sitting{Room: "debate"}); err != nil {
		t.Fatal(err)
	}
	doc, err := transcript.Parse(file)
	if err != nil || doc.Torn {
		t.Fatalf("%+v, %v", doc, err)
	}
	var written []string
	for _, e := range doc.Entries {
		if e.Kind == transcript.Message {
			written = append(written, e.Body)
		}
	}
	if !slices.Equal(written, texts) {
		t.Errorf("the transcript holds %d messages, %d were said", len(written), len(texts))
	}
	p.sound()
	t.Logf("%d kills", kills)
}

func number(words []string) (n int64) {
	_, _ = fmt.Sscan(words[0], &n)
	return n
}
