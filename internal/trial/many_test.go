package trial

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
)

// everyoneStored fails unless each acknowledged message stands in the journal
// exactly once, and no other does more than once.
func everyoneStored(t *testing.T, p *place, acked []event.ID) {
	t.Helper()
	stored := p.stored()
	for _, id := range acked {
		if stored[id] != 1 {
			t.Errorf("acknowledged message %s stands %d times in the journal", id, stored[id])
		}
	}
	for id, n := range stored {
		if n != 1 {
			t.Errorf("message %s stands %d times in the journal", id, n)
		}
	}
}

func ids(lines [][]string) (out []event.ID) {
	for _, l := range lines {
		out = append(out, event.ID(l[0]))
	}
	return out
}

func TestManySendersAtOnce(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	n := long(250, 60)
	var list []*child
	for range 8 {
		list = append(list, p.child(fmt.Sprintf("send ana bob %d 0", n)))
	}
	for _, c := range list {
		c.begin()
	}
	var acked []event.ID
	for _, c := range list {
		c.end(t)
		acked = append(acked, ids(c.said("sent"))...)
	}
	if len(acked) != 8*n {
		t.Fatalf("%d messages acknowledged, want %d", len(acked), 8*n)
	}
	everyoneStored(t, p, acked)
	p.sound()
	box, err := p.Inbox(context.Background(), p.as("bob"), false, office.Page{Limit: 1})
	if err != nil || box.Total != len(acked) {
		t.Fatalf("bob has %d unread messages (%v), want %d", box.Total, err, len(acked))
	}
}

func TestManyPacedSenders(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	processes, n := long(50, 12), long(200, 15)
	var list []*child
	for range processes {
		list = append(list, p.child(fmt.Sprintf("send ana bob %d 100", n)))
	}
	for _, c := range list {
		c.begin()
	}
	var acked []event.ID
	var took []int
	for _, c := range list {
		c.end(t)
		acked = append(acked, ids(c.said("sent"))...)
		for _, l := range c.said("sent") {
			us, _ := strconv.Atoi(l[1])
			took = append(took, us)
		}
	}
	if len(acked) != processes*n {
		t.Fatalf("%d messages acknowledged, want %d", len(acked), processes*n)
	}
	everyoneStored(t, p, acked)
	p.sound()
	sort.Ints(took)
	t.Logf("%d processes: a send took %d µs at the median, %d µs at p99, %d µs at most",
		processes, took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}

func TestTwoReadersOfOneInbox(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	n := long(1000, 200)
	for range n {
		if _, err := p.Send(context.Background(), p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte("text")}); err != nil {
			t.Fatal(err)
		}
	}
	job := fmt.Sprintf("take bob %d", n)
	a, b := p.child(job), p.child(job)
	a.begin()
	b.begin()
	a.end(t)
	b.end(t)
	got := map[event.ID]int{}
	for _, id := range append(ids(a.said("got")), ids(b.said("got"))...) {
		got[id]++
	}
	for id, times := range got {
		if times != 1 {
			t.Errorf("message %s was offered %d times while its lease ran", id, times)
		}
	}
	if len(got) != n {
		t.Errorf("%d of %d messages were offered", len(got), n)
	}
	if len(a.said("got")) == 0 || len(b.said("got")) == 0 {
		t.Logf("one reader did all the work (%d, %d)", len(a.said("got")), len(b.said("got")))
	}
	box, err := p.Inbox(context.Background(), p.as("bob"), false, office.Page{})
	if err != nil || box.Unread != 0 {
		t.Errorf("%d messages are left unread, %v", box.Unread, err)
	}
}

func TestOneAnswerOfFour(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	n := long(50, 10)
	asker := p.child(fmt.Sprintf("ask ana bob %d", n))
	var answerers []*child
	for range 4 {
		answerers = append(answerers, p.child(fmt.Sprintf("answer bob %d", n)))
	}
	for _, c := range answerers {
		c.begin()
	}
	asker.begin()
	asker.end(t)
	// The asker may hear of an answer before its author does.
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		gave := 0
		for _, c := range answerers {
			gave += len(c.said("gave"))
		}
		if gave >= n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d answers were stored, want %d", gave, n)
		}
	}
	for _, c := range answerers {
		c.kill()
	}
	given := map[string]string{}
	for _, c := range answerers {
		for _, l := range c.said("gave") {
			if other, ok := given[l[0]]; ok {
				t.Errorf("question %s has two answers: %s and %s", l[0], other, l[1])
			}
			given[l[0]] = l[1]
		}
	}
	answered := asker.said("answered")
	if len(answered) != n {
		t.Fatalf("%d questions were answered, want %d", len(answered), n)
	}
	for _, l := range answered {
		if given[l[0]] != l[1] {
			t.Errorf("the asker of %s got %s, but %q was given", l[0], l[1], given[l[0]])
		}
	}
}

// Programs of two versions share a store: each keeps its own tables, and every
// decision is made on the newest state.
func TestTwoGenerationsAtWork(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	n := long(200, 40)
	job := fmt.Sprintf("send ana bob %d 0", n)
	var list []*child
	for i := range 4 {
		list = append(list, p.child(job, fmt.Sprintf("BUREAU_TRIAL_GENERATION=%d", 1+i%2*6)))
	}
	for _, c := range list {
		c.begin()
	}
	var acked []event.ID
	for _, c := range list {
		c.end(t)
		acked = append(acked, ids(c.said("sent"))...)
	}
	if len(acked) != 4*n {
		t.Fatalf("%d messages acknowledged, want %d", len(acked), 4*n)
	}
	everyoneStored(t, p, acked)
	p.sound()
	other, err := office.Open(context.Background(), office.Options{Home: p.Home(), Generation: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, o := range map[string]*office.Office{"this": p.Office, "the other": other} {
		box, err := o.Inbox(context.Background(), p.as("bob"), false, office.Page{Limit: 1})
		if err != nil || box.Total != len(acked) {
			t.Errorf("%s version sees %d messages (%v), want %d", name, box.Total, err, len(acked))
		}
	}
}

// A thousand programs that each send one message leave flat times and a small
// log behind.
func TestSendersOneAfterTheOther(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	home := p.Home()
	if err := p.Office.Close(); err != nil { // so that each sender is alone
		t.Fatal(err)
	}
	n := long(1000, 40)
	var took []time.Duration
	for range n {
		c := p.child("send ana bob 1 0")
		begin := time.Now()
		c.begin()
		c.end(t)
		took = append(took, time.Since(begin))
		if len(c.said("sent")) != 1 {
			t.Fatal("a message was not acknowledged")
		}
	}
	if st, err := os.Stat(home + "/office.db-wal"); err == nil && st.Size() > 256<<10 {
		t.Errorf("the log has grown to %d bytes", st.Size())
	}
	sort.Slice(took[:n/4], func(i, j int) bool { return took[i] < took[j] })
	last := took[n-n/4:]
	sort.Slice(last, func(i, j int) bool { return last[i] < last[j] })
	t.Logf("a send took %s at the median of the first quarter, %s of the last", took[n/8], last[len(last)/2])
}
