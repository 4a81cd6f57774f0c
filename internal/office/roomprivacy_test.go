package office

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/db/fts"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/paper/transcript"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// inFile checks that a transcript holds these messages in this order, and its
// numbers have no gap.
func inFile(t *testing.T, path string, want []string) {
	t.Helper()
	doc, err := transcript.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	last := int64(0)
	for _, e := range doc.Entries {
		if e.Seq != last+1 {
			t.Errorf("entry %d after %d", e.Seq, last)
		}
		last = e.Seq
		if e.Kind == transcript.Message || e.Kind == transcript.Whisper {
			got = append(got, e.Body)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the transcript holds %d messages, want %d\n%.2000q", len(got), len(want), got)
	}
}

// TestWhispersLeaveNoTrace: who is no party to a whisper finds neither its
// words nor that there was one on any face, and no number tells of it.
func TestWhispersLeaveNoTrace(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{FullText: fts.Register})
	dir := t.TempDir()
	public := filepath.Join(dir, "public.md")
	ana, bob, carla, eve := d.agent("ana"), d.agent("bob"), d.agent("carla"), d.agent("eve")
	op := Opening{Name: "r", Settings: room.Settings{Floor: room.OpenTalk}, Transcript: &TranscriptOptions{Root: dir, Path: "public.md"}}
	v := d.opened(ana, op, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	d.said(ana, in("r"), "@all welcome treasure hunters")
	before := d.log(carla, in("r"))
	var whispered RoomResult
	for range 3 {
		var err error
		whispered, err = d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("the treasure lies below the oak"), To: []string{"bob"}, ClientID: ""})
		if err != nil {
			t.Fatal(err)
		}
	}
	d.said(carla, in("r"), "@ana I see nothing")
	waited, err := d.RoomWait(ctx, carla, in("r"), Waiting{For: ForMessage, Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	show := func(c Caller) RoomView {
		t.Helper()
		v, err := d.RoomShow(ctx, c, in("r"))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	seen := map[string]any{"wait": waited, "show": show(carla), "log": d.log(carla, in("r"))}
	list, err := d.RoomList(ctx, carla, RoomFilter{Mine: true})
	d.fine("list", err)
	seen["list"] = list
	seen["calls"], err = d.RoomsFor(ctx, carla.Agent.ID)
	d.fine("calls", err)
	seen["events"], _, err = d.Events(ctx, carla, Filter{}, 0, 1000)
	d.fine("events", err)
	hits, err := d.FindInRooms(ctx, carla, RoomSearch{Text: "treasure"})
	d.fine("find", err)
	seen["find"] = hits
	mails, err := d.Find(ctx, carla, Search{Text: "treasure"})
	d.fine("find mail", err)
	seen["find mail"] = mails
	for what, x := range seen {
		raw, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, leak := range []string{"oak", "below", string(whispered.Entry.ID), string(room.KindWhispered)} {
			if strings.Contains(string(raw), leak) {
				t.Errorf("%s tells %q: %s", what, leak, raw)
			}
		}
	}
	// The numbers: carla's run on as if nothing had been said.
	after := d.log(carla, in("r"))
	if after.Total != before.Total+1 || hits.Total != 1 || mails.Total != 0 {
		t.Errorf("%d entries, before %d, %d hits, %d mails", after.Total, before.Total, hits.Total, mails.Total)
	}
	if c := show(carla); c.Entries != after.Total || c.Messages != 2 || c.Unread != 0 || c.Read != after.Total {
		t.Errorf("%+v", c)
	}
	if x := show(eve); x.Entries != after.Total || x.Messages != 2 || x.Read != 0 {
		t.Errorf("%+v", x)
	}
	if list.Rooms[0].Entries != after.Total {
		t.Errorf("%+v", list.Rooms[0])
	}
	for n := int64(0); n <= after.Total; n++ {
		page, err := d.RoomHistory(ctx, carla, in("r"), HistoryPage{Since: n})
		if err != nil || int64(len(page.Entries)) != after.Total-n {
			t.Errorf("since %d: %d entries, %v", n, len(page.Entries), err)
		}
		body, err := d.RoomBody(ctx, carla, in("r"), n)
		if err == nil && strings.Contains(string(body), "oak") {
			t.Errorf("body %d: %s", n, body)
		}
	}
	inFile(t, public, []string{"@all welcome treasure hunters", "@ana I see nothing"})
	raw, err := os.ReadFile(public)
	if err != nil || strings.Contains(string(raw), "oak") {
		t.Errorf("%s, %v", raw, err)
	}
	// Others' cursors, in carla's numbers.
	if err := d.RoomShown(ctx, bob, d.slice(bob, in("r")).Receipt); err != nil {
		t.Fatal(err)
	}
	if m := show(carla).Members[1]; m.Read != after.Total {
		t.Errorf("%+v", m)
	}

	// A stranger reads nothing of the room at all.
	for what, do := range map[string]func() (any, error){
		"history": func() (any, error) { return d.RoomHistory(ctx, eve, in("r"), HistoryPage{}) },
		"slice":   func() (any, error) { return d.RoomSlice(ctx, eve, in("r"), Taking{}) },
		"wait":    func() (any, error) { return d.RoomWait(ctx, eve, in("r"), Waiting{Timeout: -1}) },
		"body":    func() (any, error) { return d.RoomBody(ctx, eve, in("r"), 5) },
		"sync":    func() (any, error) { return d.RoomTranscriptSync(ctx, eve, in("r")) },
		"follow": func() (any, error) {
			return nil, d.RoomFollow(ctx, eve, in("r"), 0, func(RoomView, []RoomEntry) error { t.Error("shown"); return nil })
		},
		"as bob": func() (any, error) {
			return d.RoomSay(ctx, eve, Sitting{Room: "r", As: "bob"}, Saying{Text: []byte("@ana x")})
		},
	} {
		if got, err := do(); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if h, err := d.FindInRooms(ctx, eve, RoomSearch{Text: "treasure", Room: "r"}); err != nil || h.Total != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	events, _, err := d.Events(ctx, eve, Filter{Kind: "room."}, 0, 1000)
	for _, e := range events {
		if e.Kind != room.KindOpened {
			t.Errorf("%+v, %v", e, err)
		}
	}

	// Control: the parties and the human have it.
	for _, c := range []Caller{ana, bob, d.user()} {
		log := d.log(c, in("r"))
		if log.Total != after.Total+3 {
			t.Errorf("%s sees %d entries", c.Agent.Name, log.Total)
		}
		if h, err := d.FindInRooms(ctx, c, RoomSearch{Text: "oak"}); err != nil || h.Total != 3 || h.Hits[0].Room != "r" {
			t.Errorf("%s finds %+v, %v", c.Agent.Name, h, err)
		}
		events, _, err := d.Events(ctx, c, Filter{Kind: string(room.KindWhispered)}, 0, 1000)
		if err != nil || len(events) != 3 || !slices.Equal(events[0].To, []string{"bob"}) {
			t.Errorf("%s: %+v, %v", c.Agent.Name, events, err)
		}
	}
	var shared [][]event.ID
	for _, c := range []Caller{ana, carla} {
		var ids []event.ID
		for _, e := range d.log(c, in("r")).Entries {
			if !e.Private && e.Message {
				ids = append(ids, e.ID)
			}
		}
		shared = append(shared, ids)
	}
	if !slices.Equal(shared[0], shared[1]) {
		t.Error("the order is not the same for everyone")
	}
	_ = v
	d.sound()
}

// TestAWhisperToThePerson: one who was no member yet is brought in by it, and no
// entry tells of that.
func TestAWhisperToThePerson(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	before := d.log(bob, in("r"))
	if _, err := d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("may I?"), To: []string{"user"}}); err != nil {
		t.Fatal(err)
	}
	if after := d.log(bob, in("r")); after.Total != before.Total {
		t.Errorf("%+v", after.Entries)
	}
	if list, err := d.RoomsFor(ctx, d.user().Agent.ID); err != nil || len(list) != 1 || list[0].From != "ana" || !slices.Contains(list[0].Why, CallTurn) {
		t.Errorf("%+v, %v", list, err)
	}
	d.said(d.user(), in("r"), "@bob go on")
	d.sound()
}

// TestSeatsInOneSession: several members in one session are told apart by their
// seats, and none speaks or reads for another.
func TestSeatsInOneSession(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	host := d.agent("host")
	d.opened(host, Opening{Name: "r", Loose: true, Settings: room.Settings{Floor: room.OpenTalk}}, "a", "b", "c")
	join := func(h string) Sitting {
		t.Helper()
		r, err := d.RoomJoin(ctx, host, Sitting{Room: "r", As: h}, Joining{NewSeat: true})
		if err != nil || r.Seat == "" || string(r.Room.You) != h {
			t.Fatalf("%+v, %v", r, err)
		}
		return Sitting{Room: "r", Seat: r.Seat}
	}
	a, b, c := join("a"), join("b"), join("c")
	if _, err := d.RoomWhisper(ctx, host, a, Saying{Text: []byte("between us"), To: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	forged := a
	forged.As = "b"
	if _, err := d.RoomSay(ctx, host, forged, Saying{Text: []byte("@c I am b")}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	if _, err := d.RoomJoin(ctx, host, Sitting{Room: "r", As: "b"}, Joining{}); !fault.Is(err, fault.Denied) {
		t.Errorf("b was taken without its token: %v", err)
	}
	if got := texts(d.slice(host, b).Entries); !slices.Equal(got, []string{"between us"}) {
		t.Errorf("%q", got)
	}
	if got := texts(d.log(host, c).Entries); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := texts(d.log(host, in("r")).Entries); len(got) != 0 {
		t.Errorf("the session itself reads %q", got)
	}
	if list, err := d.RoomsFor(ctx, host.Agent.ID); err != nil || len(list) != 1 || list[0].Handle != "b" {
		t.Errorf("%+v, %v", list, err)
	}
	if raw, err := json.Marshal(d.journalText()); err != nil || strings.Contains(string(raw), a.Seat) {
		t.Error("a token stands in the journal")
	}
	d.sound()
}

// journalText gives all data of the journal.
func (d *desk) journalText() (out []string) {
	recs, err := d.journal.Read(context.Background(), 0, 1000)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range recs {
		for _, e := range r.Events {
			out = append(out, string(e.Data))
		}
	}
	return out
}

// TestRoomReadIsTheReadersOwn: cursors stand in the reader's subject and are
// nobody else's to see.
func TestRoomReadIsTheReadersOwn(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	version, err := d.journal.Version(ctx, event.RoomSubject(d.log(ana, in("r")).Room))
	d.fine("version", err)
	d.said(ana, in("r"), "@bob x")
	if err := d.RoomShown(ctx, bob, d.slice(bob, in("r")).Receipt); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Caller{ana, bob} {
		events, _, err := d.Events(ctx, c, Filter{Kind: string(projection.KindRoomRead)}, 0, 1000)
		if want := map[string]int{"bob": 1}[called(c)]; err != nil || len(events) != want {
			t.Errorf("%s: %+v, %v", called(c), events, err)
		}
	}
	_ = version
	d.sound()
}

// TestWhispersAreNotCounted: figures of the journal tell nobody but the parties
// and the person that somebody whispered, or how often.
func TestWhispersAreNotCounted(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla, eve := d.agent("ana"), d.agent("bob"), d.agent("carla"), d.agent("eve")
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{Floor: room.OpenTalk}}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	counts := func(c Caller) map[string]int {
		t.Helper()
		s, err := d.Stats(ctx, c)
		d.fine("stats", err)
		out := map[string]int{}
		for _, k := range s.Kinds {
			if k.Kind != string(room.KindTurn) { // who has the floor is for all to see
				out[k.Kind] = k.Count
			}
		}
		return out
	}
	others := []Caller{carla, eve}
	var before []map[string]int
	for _, c := range others {
		before = append(before, counts(c))
	}
	for range 3 {
		if _, err := d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("psst"), To: []string{"bob"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.RoomShown(ctx, bob, d.slice(bob, in("r")).Receipt); err != nil {
		t.Fatal(err)
	}
	for i, c := range others {
		if after := counts(c); !maps.Equal(after, before[i]) {
			t.Errorf("%s counts %v, before the whispers %v", c.Agent.Name, after, before[i])
		}
	}
	for _, c := range []Caller{ana, bob, d.user()} {
		if n := counts(c)[string(room.KindWhispered)]; n != 3 {
			t.Errorf("%s counts %d whispers", c.Agent.Name, n)
		}
	}
	d.said(carla, in("r"), "@ana and?")
	if n := counts(carla)[string(room.KindSaid)]; n != 1 {
		t.Errorf("carla counts %d messages", n)
	}
}
