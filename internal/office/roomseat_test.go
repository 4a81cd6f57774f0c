package office

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// running starts a process that stands for a client, and gives what ends it.
func running(t *testing.T) (p roster.Process, end func()) {
	t.Helper()
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Skip("no program sleep here")
	}
	end = func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(end)
	id, ok := proc.Of(cmd.Process.Pid)
	if !ok {
		t.Fatal("the process is gone")
	}
	return roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}, end
}

// A member is there as long as the session that came as it: another session of
// the same agent is not, until it acts. A conversation that was cleared or went
// on in another process is the same.
func TestAMemberIsItsSession(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, work := d.agent("ana"), d.project("web")
	d.opened(ana, Opening{Name: "plan"}, "ana", "bob")
	one, end := running(t)
	first := Session{Client: "claude", ID: "s1", Declared: "bob", Process: one, Folder: work.Root, Project: work}
	bob := d.begin(first)
	d.joined(in("plan"), ana, bob)
	d.said(ana, in("plan"), "@bob?")
	presenceOf := func() (p room.Presence, holder string) {
		v, err := d.RoomShow(ctx, ana, in("plan"))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(v.Members, func(m RoomMember) bool { return m.Handle == "bob" })
		return v.Members[i].Presence, string(v.Holder)
	}
	entries := func() int64 { return d.log(ana, in("plan")).Total }

	before := entries()
	cleared := first
	cleared.ID, cleared.Continues = "s2", true
	d.begin(cleared)
	if p, holder := presenceOf(); p != room.Present || holder != "bob" {
		t.Errorf("after a clear: %s, %s has the floor", p, holder)
	}
	end()
	two, endTwo := running(t)
	cleared.Process, cleared.Continues = two, false
	bob = d.begin(cleared)
	d.said(bob, in("plan"), "@ana yes")
	if p, _ := presenceOf(); p != room.Present || entries() != before+1 {
		t.Errorf("after a resume: %s, %d entries more", p, entries()-before)
	}

	// Another conversation of the same name, that has not come.
	d.said(ana, in("plan"), "@bob and?")
	endTwo()
	three, endThree := running(t)
	again := first
	again.ID, again.Process = "s3", three
	bob = d.begin(again)
	if p, holder := presenceOf(); p != room.Gone || holder == "bob" {
		t.Errorf("another session: %s, %s has the floor", p, holder)
	}
	// It is told of what is said to it, and is there when it acts.
	if calls, err := d.RoomNews(ctx, bob, presence.Everything); err != nil || len(calls) != 1 || !slices.Contains(calls[0].Why, CallAddressed) {
		t.Errorf("%+v, %v", calls, err)
	}
	if w, err := d.RoomWait(ctx, bob, in("plan"), Waiting{Timeout: -1}); err != nil || w.Status != RoomReceived {
		t.Errorf("%+v, %v", w, err)
	}
	d.said(ana, in("plan"), "@bob so?")
	// One that is back before anybody notices has its turn still.
	endThree()
	four, _ := running(t)
	again.ID, again.Process = "s4", four
	bob = d.begin(again)
	d.said(bob, in("plan"), "@ana here I am")
	if p, holder := presenceOf(); p != room.Present || holder != "ana" {
		t.Errorf("%s, %s has the floor", p, holder)
	}
	d.sound()
}

// In a loose room a session without a name comes back to its handle in whatever
// seat, and reads on; a token of a seat, and a name, stay with their agents.
func TestALooseRoom(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, work := d.agent("ana"), d.project("web")
	d.opened(ana, Opening{Name: "plan", Loose: true, Settings: room.Settings{Floor: room.OpenTalk}}, "A", "B", "C")
	n := 0
	start := func() (Caller, func()) {
		p, end := running(t)
		n++
		return d.begin(Session{Client: "mcp", ID: string(rune('a' + n)), Process: p, Folder: work.Root, Project: work}), end
	}
	as := func(h string) Sitting { return Sitting{Room: "plan", As: h, Hooked: true} }
	one, endOne := start()
	two, endTwo := start()
	d.joined(as("A"), one)
	d.joined(as("B"), two)
	seat := as("C")
	seat.Seat = "secret"
	d.joined(seat, two)
	d.said(one, as("A"), "@B first")
	got := d.slice(two, as("B"))
	if err := d.RoomProve(ctx, two, got.Receipt); err != nil || !slices.Equal(texts(got.Entries), []string{"@B first"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	d.said(one, as("A"), "@B @C second")
	endOne()
	endTwo()
	// Who gets the seat that A had asks for B.
	three, _ := start()
	if three.Agent.ID != one.Agent.ID {
		t.Fatalf("%s is not in the seat of %s", three.Agent.Name, one.Agent.Name)
	}
	if calls, err := d.RoomsFor(ctx, three.Agent.ID); err != nil || len(calls) > 0 {
		t.Errorf("%+v, %v", calls, err)
	}
	if _, err := d.RoomSlice(ctx, three, as(""), Taking{}); !fault.Is(err, fault.Denied) {
		t.Errorf("it reads as A: %v", err)
	}
	for _, s := range []Sitting{as("C"), {Room: "plan", As: "C", Seat: "other"}} {
		_, err := d.RoomJoin(ctx, three, s, Joining{})
		d.want(fault.Denied, err) // its seat had a secret
	}
	d.joined(as("B"), three)
	if got := d.slice(three, as("B")); !slices.Equal(texts(got.Entries), []string{"@B @C second"}) {
		t.Errorf("%+v", got.Entries)
	}
	_, err := d.RoomJoin(ctx, d.begin(Session{Client: "mcp", ID: "x", Declared: "dora", Process: presence.Self(), Folder: work.Root, Project: work}), as("A"), Joining{})
	d.want(fault.Denied, err)
	d.sound()
}

// A name that the folder gave is none.
func TestNameless(t *testing.T) {
	d := openDesk(t, Options{})
	work := d.project("web")
	var seen []string
	for i, s := range []Session{{}, {}, {Declared: "bob"}, {}} {
		s.Client, s.ID, s.Folder, s.Project = "claude", string(rune('a'+i)), work.Root, work
		s.Process, _ = running(t)
		c := d.begin(s)
		seen = append(seen, string(c.Agent.Name))
		if nameless(&c.Agent) != (s.Declared == "") {
			t.Errorf("%s: %v", c.Agent.Name, nameless(&c.Agent))
		}
		sub, err := d.Subagent(context.Background(), c, "claude", "sub", "critic")
		if err != nil {
			t.Fatal(err)
		}
		if nameless(&sub.Agent) != (s.Declared == "") {
			t.Errorf("%s: %v", sub.Agent.Name, nameless(&sub.Agent))
		}
		if i == 3 {
			a, err := d.Rename(context.Background(), c, string(c.Agent.Name), "carla")
			if err != nil || nameless(&a) {
				t.Errorf("%+v, %v", a, err)
			}
		}
	}
	if a := d.agent("dora").Agent; nameless(&a) {
		t.Error("dora is nobody")
	}
	if t.Failed() {
		t.Log(seen)
	}
}
