package room

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// nameless is a session that was given no name: its agent is the seat that it
// happened to get.
func nameless(agent, session, as string) Caller {
	return Caller{Agent: event.ID(agent), Session: event.ID(session), Loose: true, As: as, Name: agent}
}

// loose opens a room of these handles, which are for whoever comes as them.
func loose(t testing.TB, members ...string) *meeting {
	t.Helper()
	m := &meeting{t: t, now: noon}
	c := OpenRoom{By: Caller{Agent: "host"}, Room: "R", Name: "plan", Loose: true}
	for _, w := range members {
		c.Members = append(c.Members, Invitee{Handle: name.Name(w)})
	}
	return m.do(c)
}

// All die, and come back as other agents in another order: each takes up its
// handle, with its points, and none takes one that somebody lives as.
func TestHandlesOutliveTheirSeats(t *testing.T) {
	m := loose(t, "A", "B", "C")
	for i, h := range []string{"A", "B", "C"} {
		m.do(Join{By: nameless(fmt.Sprint("seat", i+1), "old"+h, h)})
	}
	m.say2(nameless("seat1", "oldA", "A"), "@B @C").floor("B [C]")
	gone := []Absence{{"A", "its session ended"}, {"B", "its process ended"}, {"C", "its process ended"}}

	// A live one keeps its handle, whoever asks for it in whatever way.
	for _, c := range []Command{
		Join{By: nameless("seat4", "new", "A")}, Say{By: nameless("seat4", "new", "B"), Text: "@A"}, Attend{By: nameless("seat4", "new", "A")},
		Join{By: nameless("seat1", "new", "A")}, // also not in the same seat
	} {
		m.refuse(c, fault.Denied)
	}
	// Who has a name or a secret does not come as one that was known by its handle.
	if err := m.try(Join{By: Caller{Agent: "ana", Session: "s", As: "A", Name: "ana"}}, gone...); !fault.Is(err, fault.Denied) {
		t.Fatal(err)
	}
	m.floor(" []")
	// C comes first, and gets the seat that A had.
	m.do(Attend{By: nameless("seat1", "newC", "C")}).happened("returned turn").floor("C []")
	if own, ok := m.r.Own(nameless("seat1", "newC", "")); !ok || own.Handle != "C" {
		t.Errorf("%+v", own)
	}
	m.refuse(Join{By: nameless("seat1", "newC", "A")}, fault.Conflict)          // it is C
	m.refuse(Say{By: nameless("seat1", "newC", "A"), Text: "@C"}, fault.Denied) // and speaks for nobody else
	m.do(Join{By: nameless("seat2", "newA", "A")}).do(Join{By: nameless("seat3", "newB", "B")}).floor("C [B]")
	m.say2(nameless("seat1", "newC", "C"), "@A").floor("B [A]")
	m.say2(nameless("seat3", "newB", "B"), "@C").floor("A [C]")
	// The sessions of before are nobody any more.
	for i, h := range []string{"A", "B", "C"} {
		if own, ok := m.r.Own(nameless(fmt.Sprint("seat", i+1), "old"+h, "")); ok {
			t.Errorf("%+v", own)
		}
	}
	// One that goes on from another (its conversation was cleared) is that one.
	cleared := nameless("seat2", "newerA", "A")
	cleared.Past = []event.ID{"newA"}
	m.say2(cleared, "@C").floor("C []")
	m.do(Join{By: cleared}).happened("")

	// Several handles of one session: a further one is taken up by joining alone,
	// or in the seat where it was.
	gone = []Absence{{"A", "x"}, {"B", "x"}}
	m.do(Sweep{}, gone...)
	m.do(Attend{By: nameless("seat9", "two", "A")})
	second := nameless("seat9", "two", "B")
	second.Seat = "B"
	m.refuse(Attend{By: second}, fault.Denied, "join")
	m.do(Join{By: second}).happened("returned")
	m.do(Sweep{}, gone...)
	second.Session = "three"
	m.do(Attend{By: nameless("seat9", "three", "A")}).do(Attend{By: second}).happened("returned")

	// Who left is asked for only once its session has ended.
	m.do(Leave{By: second}).refuse(Join{By: nameless("seat2", "four", "B")}, fault.Denied)
	m.do(Join{By: nameless("seat2", "four", "B")}, Absence{"B", "its session ended"}).happened("returned")
}

// In other rooms, and where an agent has a name or the seat a secret, a handle
// stays with its agent.
func TestHandlesOfOtherRoomsStay(t *testing.T) {
	m := meet(t, Settings{Admission: Anyone}, "A", "B")
	m.do(Join{By: nameless("seat1", "s1", "C")}).do(Sweep{}, Absence{"C", "x"}, Absence{"A", "x"})
	for _, h := range []string{"A", "C"} {
		m.refuse(Join{By: nameless("seat2", "s2", h)}, fault.Denied, "another agent")
	}
	m = loose(t, "A", "B", "C")
	named, secret := Caller{Agent: "ana", Session: "s1", As: "A"}, Caller{Agent: "seat1", Seat: "token", Session: "s2", As: "B"}
	m.do(Join{By: named}).do(Join{By: secret}).do(Sweep{}, Absence{"A", "x"}, Absence{"B", "x"})
	for _, h := range []string{"A", "B"} {
		m.refuse(Join{By: nameless("seat2", "s3", h)}, fault.Denied, "another agent")
		m.refuse(Attend{By: nameless("seat2", "s3", h)}, fault.Denied)
	}
	// The agent itself comes back in any session. Before anybody notices that it
	// was gone it keeps the floor.
	m.do(Join{By: Caller{Agent: "ana", Session: "s4", As: "A"}}).do(Join{By: nameless("seat2", "s3", "C")})
	m.say2(Caller{Agent: "ana", Session: "s4"}, "@C").say2(nameless("seat2", "s3", "C"), "@A").floor("A []")
	m.do(Attend{By: Caller{Agent: "ana", Session: "s5"}}).happened("returned").floor("A []")
	if a, _ := m.r.Member("A"); a.Session != "s5" {
		t.Errorf("%+v", a)
	}
	m.do(Attend{By: Caller{Agent: "ana"}}).happened("") // from no session
}

// say2 is say of any caller.
func (m *meeting) say2(c Caller, text string) *meeting {
	m.t.Helper()
	m.posted++
	return m.do(Say{By: c, ID: event.ID(fmt.Sprint("M", m.posted)), Text: text})
}

// TestWhoeverComesBackIsItself lets nameless sessions die and come back in any
// order, in whatever seat is free, and checks that a handle is only ever that of
// the live session which asked for it.
func TestWhoeverComesBackIsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		handles := []string{"A", "B", "C", "D"}
		c := OpenRoom{By: Caller{Agent: "host"}, Room: "R", Name: "plan", Loose: true, Settings: Settings{Admission: Anyone}}
		m := &machine{now: noon, waiting: map[name.Name]int{}, gone: map[name.Name]bool{}, secrets: map[string][]name.Name{}}
		if err := m.do(t, c); err != nil {
			t.Fatal(err)
		}
		holds := map[string]string{} // handle -> the live session that is it
		seats := map[string]string{} // session -> the seat it got
		free := []string{"seat1", "seat2", "seat3", "seat4"}
		n := 0
		// absent is what the office would know: members whose session is none that lives.
		absent := func() (list []Absence) {
			for i := range m.r.Members {
				if w := &m.r.Members[i]; w.Here() && seats[string(w.Session)] == "" {
					list = append(list, Absence{w.Handle, "its session ended"})
				}
			}
			return list
		}
		live := func(t *rapid.T) string {
			var all []string
			for s := range seats {
				all = append(all, s)
			}
			if len(all) == 0 {
				t.Skip("nobody lives")
			}
			slices.Sort(all)
			return rapid.SampledFrom(all).Draw(t, "session")
		}
		mine := func(s string) string {
			for h, owner := range holds {
				if owner == s {
					return h
				}
			}
			return ""
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				for s, seat := range seats {
					own, ok := m.r.Own(nameless(seat, s, ""))
					if h := mine(s); ok != (h != "") || ok && string(own.Handle) != h {
						t.Fatalf("%s is %q and taken for %+v", s, h, own)
					}
				}
			},
			"start": func(t *rapid.T) {
				if len(free) == 0 {
					t.Skip("all seats are taken")
				}
				i := rapid.IntRange(0, len(free)-1).Draw(t, "seat")
				n++
				seats[fmt.Sprint("s", n)] = free[i]
				free = slices.Delete(free, i, i+1)
			},
			"die": func(t *rapid.T) {
				s := live(t)
				free = append(free, seats[s])
				delete(seats, s)
				if h := mine(s); h != "" {
					delete(holds, h)
				}
			},
			"come": func(t *rapid.T) {
				s, h := live(t), rapid.SampledFrom(handles).Draw(t, "handle")
				_, there := m.r.Member(name.Name(h))
				by := nameless(seats[s], s, h)
				var cmd Command = Join{By: by}
				if rapid.Bool().Draw(t, "by acting") {
					cmd = Attend{By: by}
				}
				_, joins := cmd.(Join)
				err := m.do(t, cmd, absent()...)
				had := mine(s)
				may := holds[h] == s || holds[h] == "" && had == "" && (joins || there)
				if may != (err == nil) {
					t.Fatalf("%s (%q) comes as %s of %v: %v", s, had, h, holds, err)
				}
				if err == nil {
					holds[h] = s
				}
			},
			"say": func(t *rapid.T) {
				s, h := live(t), rapid.SampledFrom(handles).Draw(t, "as")
				m.said++
				text := fmt.Sprintf("<%d> @%s", m.said, rapid.SampledFrom(handles).Draw(t, "to"))
				_, there := m.r.Member(name.Name(h))
				may := holds[h] == s || holds[h] == "" && mine(s) == "" && there
				before := m.r.Posts
				err := m.do(t, Say{By: nameless(seats[s], s, h), Text: text}, absent()...)
				if m.r.Posts > before && !may || fault.Is(err, fault.Denied) && may {
					t.Fatalf("%s speaks as %s of %v: %v", s, h, holds, err)
				}
				if may {
					holds[h] = s // granted or not, it is there
				}
			},
		})
	})
}

// A message that is sent again is the same one, also from another seat.
func TestSendingAgainFromAnotherSeat(t *testing.T) {
	m := loose(t, "A", "B").do(Join{By: nameless("seat1", "s1", "A")})
	id := RecordID(&m.r, nameless("seat1", "s1", "A"), "c1", nil)
	other := nameless("seat2", "s2", "A")
	if RecordID(&m.r, other, "c1", nil) == id {
		t.Error("a stranger's message passes for A's")
	}
	if RecordID(&m.r, other, "c1", []name.Name{"A"}) != id {
		t.Error("A's message is another one from another seat")
	}
	m.do(Sweep{}, Absence{"A", "x"})
	if RecordID(&m.r, other, "c1", nil) != id || RecordID(&m.r, other, "c2", nil) == id {
		t.Error("record ids")
	}
}
