package office

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/room"
)

// in names a room.
func in(name string) Sitting { return Sitting{Room: name} }

// opened opens a room of agents of these names.
func (d *desk) opened(by Caller, op Opening, members ...string) RoomView {
	d.t.Helper()
	for _, m := range members {
		op.Members = append(op.Members, Invitation{Handle: m})
	}
	r, err := d.RoomOpen(context.Background(), by, op)
	if err != nil {
		d.t.Fatal(err)
	}
	return r.Room
}

func (d *desk) joined(s Sitting, people ...Caller) {
	d.t.Helper()
	for _, c := range people {
		if _, err := d.RoomJoin(context.Background(), c, s, Joining{}); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *desk) said(c Caller, s Sitting, text string) RoomResult {
	d.t.Helper()
	r, err := d.RoomSay(context.Background(), c, s, Saying{Text: []byte(text)})
	if err != nil {
		d.t.Fatalf("%s says %q: %v", c.Agent.Name, text, err)
	}
	return r
}

func (d *desk) slice(c Caller, s Sitting) Slice {
	d.t.Helper()
	got, err := d.RoomSlice(context.Background(), c, s, Taking{})
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

// texts gives what members said in entries.
func texts(list []RoomEntry) (out []string) {
	for _, e := range list {
		if e.Message {
			out = append(out, e.Text)
		}
	}
	return out
}

func (d *desk) log(c Caller, s Sitting) RoomLog {
	d.t.Helper()
	var all RoomLog
	page := HistoryPage{Page: Page{Limit: 7}}
	for {
		l, err := d.RoomHistory(context.Background(), c, s, page)
		if err != nil {
			d.t.Fatal(err)
		}
		all.Entries, all.Total = append(all.Entries, l.Entries...), l.Total
		if page.From = l.Next; page.From == "" {
			break
		}
	}
	for i, e := range all.Entries {
		if e.Seq != int64(i+1) {
			d.t.Fatalf("%s: entry %d has the number %d", c.Agent.Name, i+1, e.Seq)
		}
	}
	if all.Total != int64(len(all.Entries)) {
		d.t.Fatalf("%s: %d listed, the total is %d", c.Agent.Name, len(all.Entries), all.Total)
	}
	return all
}

// TestADebate: the floor goes round by mentions, whoever comes out of turn is
// told who has it, and every step is as the queue says.
func TestADebate(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	v := d.opened(ana, Opening{Name: "debate", Topic: "tabs  or\nspaces"}, "ana", "bob", "carla")
	if v.Topic != "tabs or spaces" || v.Moderator != "ana" || v.Started || v.More != 2 || len(v.Missing) != 3 {
		t.Fatalf("%+v", v)
	}
	d.joined(in("debate"), ana)
	_, err := d.RoomSay(ctx, ana, in("debate"), Saying{Text: []byte("@bob hello")})
	d.want(fault.Conflict, err)
	d.joined(in("Debate"), bob, carla)
	steps := []struct {
		who   Caller
		text  string
		floor name.Name
		queue []name.Name
	}{
		{ana, "@bob @carla what do you think?", "bob", []name.Name{"carla"}},
		{bob, "@ana tabs", "carla", []name.Name{"ana"}},
		{carla, "@bob spaces", "ana", []name.Name{"bob"}},
	}
	for _, s := range steps {
		for _, other := range []Caller{ana, bob, carla} {
			if other.Agent.ID == s.who.Agent.ID {
				continue
			}
			_, err := d.RoomSay(ctx, other, in("debate"), Saying{Text: []byte("@all me!")})
			refused(t, err, fault.Conflict, "has the floor")
			if detail, ok := detailOf(err).(room.NotYourTurn); !ok || detail.Holder != s.who.Agent.Name {
				t.Errorf("%#v", detailOf(err))
			}
		}
		r := d.said(s.who, in(string(v.ID)), s.text)
		if r.Status != RoomSent || r.Room.Holder != s.floor || !slices.Equal(r.Room.Queue, s.queue) || r.Entry.Text != s.text {
			t.Errorf("%q: floor %s, queue %v, %+v", s.text, r.Room.Holder, r.Room.Queue, r.Entry)
		}
	}
	_, err = d.RoomSay(ctx, ana, in("debate"), Saying{Text: []byte("hm")})
	refused(t, err, fault.Invalid, "for nobody", "@bob")
	if got := texts(d.log(carla, in("debate")).Entries); !slices.Equal(got, []string{steps[0].text, steps[1].text, steps[2].text}) {
		t.Errorf("%q", got)
	}
	r, err := d.RoomClose(ctx, ana, in(v.Short), "spaces it is")
	if err != nil || r.Room.Status != room.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = d.RoomSay(ctx, ana, in("debate"), Saying{Text: []byte("@bob wait")})
	refused(t, err, fault.Conflict, "closed")
	d.sound()
}

// TestOnlyOneOpenRoomOfAName: a second one is refused with who is in the first;
// force closes that one and keeps what was said in it.
func TestOnlyOneOpenRoomOfAName(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, eve := d.agent("ana"), d.agent("eve")
	old := d.opened(ana, Opening{Name: "Plan"}, "ana", "bob")
	d.joined(in("plan"), ana)
	_, err := d.RoomOpen(ctx, ana, Opening{Name: "plan"})
	refused(t, err, fault.Conflict, "@ana", "--force")
	_, err = d.RoomOpen(ctx, eve, Opening{Name: "plan"})
	refused(t, err, fault.Conflict, "@ana", "choose another name")
	if x, ok := detailOf(err).(InRoom); !ok || x.Room != old.ID || !slices.Equal(x.Present, []string{"ana"}) {
		t.Errorf("%#v", detailOf(err))
	}
	if _, err := d.RoomOpen(ctx, eve, Opening{Name: "plan", Force: true}); !fault.Is(err, fault.Denied) {
		t.Errorf("a stranger closed the room: %v", err)
	}
	r, err := d.RoomOpen(ctx, ana, Opening{Name: "PLAN", Force: true})
	if err != nil || r.Room.ID == old.ID {
		t.Fatalf("%+v, %v", r, err)
	}
	was, err := d.RoomShow(ctx, ana, in(string(old.ID)))
	if err != nil || was.Status != room.Closed {
		t.Errorf("%+v, %v", was, err)
	}
	if now, err := d.RoomShow(ctx, ana, in("plan")); err != nil || now.ID != r.Room.ID {
		t.Errorf("%+v, %v", now, err)
	}
	list, err := d.RoomList(ctx, ana, RoomFilter{Closed: true})
	if err != nil || list.Total != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = d.RoomShow(ctx, ana, in("plam"))
	refused(t, err, fault.NotFound, "did you mean")
	// Of many that open one at once, one does.
	if n := atOnce(t, d.several(6), fault.Conflict, func(i int, d *desk) error {
		return ignore(d.RoomOpen(ctx, ana, Opening{Name: "race"}))
	}); n != 1 {
		t.Errorf("%d opened it", n)
	}
	d.sound()
}

// TestAllJoinAtOnce: eight processes join at the same moment and all are in.
func TestAllJoinAtOnce(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	var people []Caller
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("p", i))
		people = append(people, d.agent(names[i]))
	}
	desks := d.several(8)
	for round := range 20 {
		s := in(fmt.Sprint("round", round))
		v := d.opened(d.user(), Opening{Name: s.Room, Settings: room.Settings{Barrier: room.Barrier{Gate: room.GateDeclared}}}, names...)
		if n := atOnce(t, desks, "", func(i int, d *desk) error { return ignore(d.RoomJoin(ctx, people[i], s, Joining{})) }); n != 8 {
			t.Fatalf("%d joined", n)
		}
		v, err := d.RoomShow(ctx, people[0], s)
		if err != nil || len(v.Present) != 8 || !v.Started || v.Holder != "p0" {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	d.sound()
}

// TestManySpeakAtOnce: of a thousand posts of eight speakers none is lost or
// doubled, and everybody reads them in one order.
func TestManySpeakAtOnce(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	file := filepath.Join(t.TempDir(), "talk.md")
	var people []Caller
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("p", i))
		people = append(people, d.agent(names[i]))
	}
	d.opened(people[0], Opening{
		Name: "talk", Settings: room.Settings{Floor: room.OpenTalk}, Transcript: &TranscriptOptions{Root: filepath.Dir(file), Path: file},
	}, names...)
	d.joined(in("talk"), people...)
	desks := d.several(8)
	const each = 125
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			for n := range each {
				say := Saying{Text: fmt.Appendf(nil, "@p%d %d of %d", (i+1)%8, n, i), ClientID: fmt.Sprint(n)}
				r, err := desks[i].RoomSay(ctx, people[i], in("talk"), say)
				if err != nil || len(r.Notes) > 0 {
					t.Error(err, r.Notes)
				}
				if n%25 == 0 { // sent again, as a client does that lost the reply
					if again, err := desks[i].RoomSay(ctx, people[i], in("talk"), say); err != nil || !again.Repeated || again.Entry.ID != r.Entry.ID {
						t.Error(again, err)
					}
				}
			}
		})
	}
	wg.Wait()
	var order []string
	for i, p := range people {
		got := texts(d.log(p, in("talk")).Entries)
		if i == 0 {
			order = got
		}
		if !slices.Equal(got, order) {
			t.Errorf("%s reads another order", p.Agent.Name)
		}
	}
	seen := map[string]bool{}
	for _, x := range order {
		seen[x] = true
	}
	if len(order) != 8*each || len(seen) != 8*each {
		t.Errorf("%d posts, %d different", len(order), len(seen))
	}
	inFile(t, file, order)
	d.sound()
}

// TestDeadAndBack: a holder whose process is gone loses the floor to the next,
// by whoever looks; when it is back it goes on.
func TestDeadAndBack(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	begin := func(name string, n int) Caller {
		return d.begin(Session{Client: "claude", ID: name, Declared: name, Process: deadProcess(n), Folder: p.Root, Project: p})
	}
	ana, carla := d.agent("ana"), d.agent("carla")
	bob := d.begin(Session{Client: "claude", ID: "bob", Declared: "bob", Process: self(), Folder: p.Root, Project: p})
	d.opened(ana, Opening{Name: "r"}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	d.said(ana, in("r"), "@bob @carla go")
	begin("bob", 1) // the conversation goes on in a process that is gone at once
	w, err := d.RoomWait(ctx, carla, in("r"), Waiting{For: ForTurn, Timeout: patience})
	if err != nil || w.Status != RoomYourTurn || w.Room.Holder != "carla" {
		t.Fatalf("%+v, %v", w, err)
	}
	kinds := []event.Kind{}
	for _, e := range w.Entries {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Contains(kinds, room.KindGone) || !slices.Contains(kinds, room.KindLost) {
		t.Errorf("%v", kinds)
	}
	d.said(carla, in("r"), "@ana where is bob?")
	bob = d.begin(Session{Client: "claude", ID: "bob", Declared: "bob", Process: self(), Folder: p.Root, Project: p})
	if w, err = d.RoomWait(ctx, bob, in("r"), Waiting{Timeout: -1}); err != nil || w.Status != RoomReceived {
		t.Errorf("%+v, %v", w, err)
	}
	if v, err := d.RoomShow(ctx, bob, in("r")); err != nil || len(v.Present) != 3 || !slices.Equal(v.Queue, []name.Name{"bob"}) {
		t.Errorf("%+v, %v", v, err)
	}
	d.sound()
}

// TestARoomSurvives: after all processes are gone floor, queue and cursors are
// as they were, and a rebuild of the tables gives the same.
func TestARoomSurvives(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob one")
	got := d.slice(bob, in("r"))
	if err := d.RoomShown(ctx, bob, got.Receipt); err != nil {
		t.Fatal(err)
	}
	before, err := d.RoomShow(ctx, bob, in("r"))
	if err != nil || before.Unread != 0 || before.Read != before.Entries || !before.YourTurn {
		t.Fatalf("%+v, %v", before, err)
	}
	again := d.beside(Options{})
	for _, x := range []*desk{again, d} {
		after, err := x.RoomShow(ctx, bob, in("r"))
		if err != nil || fmt.Sprint(after.Members, after.Holder, after.Queue, after.Read, after.Unread) != fmt.Sprint(before.Members, before.Holder, before.Queue, before.Read, before.Unread) {
			t.Errorf("%+v, before %+v, %v", after, before, err)
		}
		if err := x.Rebuild(ctx); err != nil {
			t.Fatal(err)
		}
	}
	d.said(bob, in("r"), "@ana two")
	d.sound()
}

// TestSayingAgain: the client id makes it harmless, also when the floor is
// somebody else's by then, and in another process.
func TestSayingAgain(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	say := Saying{Text: []byte("@bob one"), ClientID: "c1"}
	first, err := d.RoomSay(ctx, ana, in("r"), say)
	if err != nil || first.Room.Holder != "bob" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := d.beside(Options{}).RoomSay(ctx, ana, in("r"), say)
	if err != nil || !again.Repeated || again.Entry.ID != first.Entry.ID || again.Entry.Seq != first.Entry.Seq {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte("@bob two"), ClientID: "c1"})
	refused(t, err, fault.Conflict, "c1", "nothing was sent")
	_, err = d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("@bob one"), To: []string{"bob"}, ClientID: "c1"})
	d.want(fault.Conflict, err)
	// The same id of somebody else is another message.
	if r, err := d.RoomSay(ctx, bob, in("r"), Saying{Text: []byte("@ana one"), ClientID: "c1"}); err != nil || r.Repeated {
		t.Errorf("%+v, %v", r, err)
	}
	if got := texts(d.log(ana, in("r")).Entries); len(got) != 2 {
		t.Errorf("%q", got)
	}
	// Long and strange bodies come back byte by byte.
	for _, body := range []string{"@bob " + strings.Repeat("long ", 20_000), "@bob \xff\xfe"} {
		d.joined(in("r"), ana)
		v, _ := d.RoomShow(ctx, ana, in("r"))
		if !v.YourTurn {
			d.said(bob, in("r"), "@ana go on")
		}
		r, err := d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		if back, err := d.RoomBody(ctx, bob, in("r"), r.Entry.Seq); err != nil || string(back) != body || r.Entry.Bytes != int64(len(body)) {
			t.Errorf("%d bytes back of %d, %v", len(back), len(body), err)
		}
	}
	d.sound()
}
