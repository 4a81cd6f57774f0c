package office

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/room"
)

// TestTheHumanTakesPart: he speaks without having been named, is told when he
// is asked, and the moderator may post his words where the opener allowed it.
func TestTheHumanTakesPart(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{RelayUser: true}}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	_, err := d.RoomSay(ctx, bob, in("r"), Saying{Text: []byte("@ana x"), Relay: true})
	d.want(fault.Denied, err)
	r := d.said(ana, in("r"), "@user which one?")
	if r.Room.Holder != room.User || !slices.Equal(r.Absent, nil) {
		t.Errorf("%+v", r)
	}
	relayed, err := d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte("@bob the first"), Relay: true})
	if err != nil || relayed.Entry.From != room.User || relayed.Entry.Relayed != "ana" || relayed.Room.Holder != "bob" {
		t.Fatalf("%+v, %v", relayed, err)
	}
	if list, err := d.RoomsFor(ctx, bob.Agent.ID); err != nil || len(list) != 1 || list[0].From != room.User || list[0].Relayed != "ana" {
		t.Errorf("%+v, %v", list, err)
	}
	// An agent caused it, which bounds how often it can wake bob.
	if w, err := d.Ringable(ctx, bob.Agent.ID); err != nil || !slices.Contains(w.Causes, presence.Cause{Sender: ana.Agent.ID, Thread: r.Room.ID}) {
		t.Errorf("%+v, %v", w, err)
	}
	// Who typed them does not read them as news; the others see whose words
	// they are and who posted them.
	got := d.slice(bob, in("r"))
	last := got.Entries[len(got.Entries)-1]
	if last.From != room.User || last.Relayed != "ana" || !last.Addressed {
		t.Errorf("%+v", last)
	}
	user := d.user()
	if _, err := d.RoomSkip(ctx, user, in("r"), "user"); err != nil {
		t.Fatal(err)
	}
	d.said(user, in("r"), "@all thank you")
	v, err := d.RoomShow(ctx, user, in(""))
	if err != nil || v.You != room.User || v.Members[2].Agent != "user" || v.Entries != int64(len(d.log(user, in("r")).Entries)) {
		t.Errorf("%+v, %v", v, err)
	}
	_, err = d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("x"), To: []string{"bob"}, Relay: true})
	d.want(fault.Invalid, err)
	d.sound()
}

// TestAVote: the proposal is shown while it is open, who has still to vote is
// called, and the result is an entry.
func TestAVote(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, carla := d.agent("ana"), d.agent("bob"), d.agent("carla")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	p, err := d.RoomPropose(ctx, ana, in("r"), Motion{Text: "spaces", Time: time.Hour})
	if err != nil || p.Entry == nil || p.Entry.Text != "spaces" || p.Room.Proposals[0].Number != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	calls, err := d.RoomsFor(ctx, bob.Agent.ID)
	if err != nil || len(calls) != 1 || !slices.Contains(calls[0].Why, CallVote) {
		t.Errorf("%+v, %v", calls, err)
	}
	v, err := d.RoomShow(ctx, bob, in("r"))
	if err != nil || v.Proposals[0].Text != "spaces" || !slices.Equal(v.Undecided, []int{1}) {
		t.Errorf("%+v, %v", v, err)
	}
	_, err = d.RoomVote(ctx, bob, in("r"), 0, "maybe")
	d.want(fault.Invalid, err)
	for _, c := range []Caller{bob, carla} {
		if _, err := d.RoomVote(ctx, c, in("r"), 0, "Yes"); err != nil {
			t.Fatal(err)
		}
	}
	log := d.log(ana, in("r")).Entries
	last := log[len(log)-1]
	result, ok := last.Detail.(room.Decided)
	if last.Kind != room.KindDecided || !ok || result.Outcome != room.Accepted || result.Yes != 2 || result.Seq != 0 {
		t.Errorf("%+v", last)
	}
	d.sound()
}

// TestComingAndGoing: joining twice tells nobody again and moves no cursor; who
// left comes back; who is not invited stays out until a member invites it.
func TestComingAndGoing(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, eve := d.agent("ana"), d.agent("bob"), d.agent("eve")
	talk := d.send(ana, "bob", "let us meet")
	r, err := d.RoomOpen(ctx, ana, Opening{Name: "r", Members: []Invitation{{Handle: "ana"}, {Handle: "bob", Aliases: []string{"b"}}}, Links: []room.Link{{Kind: "thread", ID: string(talk.Thread[20:])}}})
	if err != nil || r.Room.Links[0].ID != string(talk.Thread) {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = d.RoomOpen(ctx, eve, Opening{Name: "other", Links: []room.Link{{Kind: "thread", ID: string(talk.Thread)}}})
	d.want(fault.Denied, err)
	d.joined(in("r"), ana, bob)
	before := d.log(ana, in("r")).Total
	d.joined(in("r"), ana, bob)
	if after := d.log(ana, in("r")).Total; after != before {
		t.Errorf("%d entries, %d before joining again", after, before)
	}
	_, err = d.RoomJoin(ctx, eve, in("r"), Joining{})
	refused(t, err, fault.Denied, "invite")
	_, err = d.RoomJoin(ctx, eve, Sitting{Room: "r", As: "bob"}, Joining{})
	d.want(fault.Denied, err)
	if _, err := d.RoomInvite(ctx, bob, in("r"), Invitation{Handle: "eve"}); err != nil {
		t.Fatal(err)
	}
	if calls, err := d.RoomsFor(ctx, eve.Agent.ID); err != nil || len(calls) != 1 || !slices.Contains(calls[0].Why, CallInvited) {
		t.Errorf("%+v, %v", calls, err)
	}
	// Waiting brings her in.
	if w, err := d.RoomWait(ctx, eve, in("r"), Waiting{Timeout: -1}); err != nil || len(w.Room.Present) != 3 {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := d.RoomLeave(ctx, bob, in("r"), "lunch"); err != nil {
		t.Fatal(err)
	}
	_, err = d.RoomSay(ctx, bob, in("r"), Saying{Text: []byte("@ana x")})
	refused(t, err, fault.Conflict, "left")
	_, err = d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte("@b x")})
	refused(t, err, fault.Conflict, "@bob")
	d.joined(in("r"), bob)
	if v, err := d.RoomShow(ctx, bob, in("r")); err != nil || v.Members[1].Returned == nil {
		t.Errorf("%+v, %v", v, err)
	}
	if r, err := d.RoomPass(ctx, ana, in("r")); err != nil || r.Room.Holder != "" {
		t.Errorf("%+v, %v", r, err)
	}
	d.sound()
}

// TestASessionEnds: its floor goes to the next at once, before anybody looks.
func TestASessionEnds(t *testing.T) {
	never(t)
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, carla := d.agent("ana"), d.agent("carla")
	bob := d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: self(), Folder: p.Root, Project: p})
	d.opened(ana, Opening{Name: "r"}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob, carla)
	d.said(ana, in("r"), "@bob @carla go")
	waiting := d.beside(Options{}).waiting(ctx, carla, in("r"), Waiting{For: ForTurn, Timeout: time.Minute})
	if err := d.EndSession(ctx, bob.Agent.ID, bob.Process, "exit"); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, waiting); got.Status != RoomYourTurn {
		t.Errorf("%+v", got)
	}
	d.sound()
}

// TestANewerBureauWroteInARoom: it can be read, and nothing is decided in it.
func TestANewerBureauWroteInARoom(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana := d.agent("ana")
	bob := d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: self(), Folder: p.Root, Project: p})
	v := d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob hello")
	d.strange(event.RoomSubject(v.ID), "room.sung", `{"by":"bob"}`)
	_, err := d.RoomSay(ctx, bob, in("r"), Saying{Text: []byte("@ana x")})
	d.newer("say", err)
	if _, err := d.SweepRooms(ctx); err != nil {
		t.Error(err)
	}
	if got := texts(d.slice(bob, in("r")).Entries); !slices.Equal(got, []string{"@bob hello"}) {
		t.Errorf("%q", got)
	}
	d.fine("wait", ignore(d.RoomWait(ctx, bob, in("r"), Waiting{Timeout: -1})))
	d.fine("end", d.EndSession(ctx, bob.Agent.ID, bob.Process, "exit"))
	d.sound()
}

// TestARoomIsTransferred: an export holds a room with its long messages, and
// the office that it is imported into shows the same room.
func TestARoomIsTransferred(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	long := "@bob " + strings.Repeat("long ", 20_000)
	said := d.said(ana, in("r"), long)
	var file bytes.Buffer
	if out, err := d.Export(ctx, d.user(), &file, 0); err != nil || out.Blobs != 1 || len(out.Missing) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	other := openDesk(t, Options{Home: filepath.Join(t.TempDir(), "other"), Create: true, Bare: true})
	if _, err := other.Import(ctx, Caller{Human: true}, &file, nil); err != nil {
		t.Fatal(err)
	}
	if body, err := other.RoomBody(ctx, bob, in("r"), said.Entry.Seq); err != nil || string(body) != long {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if v, err := other.RoomShow(ctx, bob, in("r")); err != nil || v.Holder != "bob" {
		t.Errorf("%+v, %v", v, err)
	}
	other.sound()
}
