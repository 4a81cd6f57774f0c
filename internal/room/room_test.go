package room

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

func TestOpening(t *testing.T) {
	ok := OpenRoom{By: Caller{Agent: "id-A"}, Room: "R", Name: "plan", Members: []Invitee{{Handle: "@A", Agent: "id-A"}, {Handle: "B", Aliases: []string{"@lead"}, Roles: []string{"qa"}}, {Handle: "C", Roles: []string{"qa"}}}}
	m := &meeting{t: t, now: noon}
	m.refuse(Join{By: agent("A")}, fault.NotFound)
	m.do(ok)
	if m.r.Moderator != "A" || m.r.Settings.Admission != Listed || m.r.Settings.Barrier != (Barrier{GateCount, 2, DefaultBarrierLimit}) || m.r.Settings.TurnLimit != 10*time.Minute {
		t.Errorf("%+v", m.r)
	}
	m.refuse(ok, fault.Conflict)
	for what, spoil := range map[string]func(*OpenRoom){
		"name":            func(c *OpenRoom) { c.Name = "a room" },
		"reserved":        func(c *OpenRoom) { c.Name = "all" },
		"topic":           func(c *OpenRoom) { c.Topic = strings.Repeat("x", MaxTopic+1) },
		"topic bytes":     func(c *OpenRoom) { c.Topic = "a\xff" },
		"purpose":         func(c *OpenRoom) { c.Purpose = strings.Repeat("x", MaxPurpose+1) },
		"same handle":     func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "a"}) },
		"alias as handle": func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "LEAD"}) },
		"handle as alias": func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Aliases: []string{"b"}}) },
		"alias twice":     func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Aliases: []string{"lead"}}) },
		"alias as role":   func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Roles: []string{"lead"}}) },
		"role as alias":   func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Aliases: []string{"qa"}}) },
		"human's alias":   func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Aliases: []string{"user"}}) },
		"display name":    func(c *OpenRoom) { c.Members = append(c.Members, Invitee{Handle: "D", Name: "a\nb"}) },
		"too many": func(c *OpenRoom) {
			for i := range MaxMembers {
				c.Members = append(c.Members, Invitee{Handle: name.Name(fmt.Sprint("m", i))})
			}
		},
		"moderator":  func(c *OpenRoom) { c.Moderator = "dave" },
		"first":      func(c *OpenRoom) { c.First = "dave" },
		"floor":      func(c *OpenRoom) { c.Settings.Floor = "lava" },
		"queue":      func(c *OpenRoom) { c.Settings.Queue = "lifo" },
		"column":     func(c *OpenRoom) { c.Settings.Column = "third" },
		"barrier":    func(c *OpenRoom) { c.Settings.Barrier.N = -1 },
		"turn limit": func(c *OpenRoom) { c.Settings.TurnLimit = time.Millisecond },
		"links":      func(c *OpenRoom) { c.Links = []Link{{"url", "x"}} },
		"link lines": func(c *OpenRoom) { c.Links = []Link{{"task", "a\nb"}} },
		"transcript": func(c *OpenRoom) { c.Transcript = json.RawMessage("{") },
	} {
		c := ok
		c.Members = slices.Clone(ok.Members)
		spoil(&c)
		if _, err := Decide(&Room{}, c, noon, Evidence{}); fault.HintOf(err) == "" || fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	c := ok
	for i := range MaxMembers {
		c.Members = append(c.Members, Invitee{Handle: name.Name(fmt.Sprint("m", i))})
	}
	if _, err := Decide(&Room{}, c, noon, Evidence{}); !strings.Contains(fmt.Sprint(err), "one member too many") || !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	// White space in a topic is no line of its own anywhere.
	c = ok
	c.Topic, c.Members = " the\n## plan ", append(ok.Members, Invitee{Handle: "B"})
	m = (&meeting{t: t, now: noon}).do(c)
	if m.r.Topic != "the ## plan" || len(m.r.Members) != 3 {
		t.Errorf("%q %v", m.r.Topic, m.r.Members)
	}
}

func TestColumns(t *testing.T) {
	for _, tc := range []struct {
		column Column
		want   string
	}{
		{ColumnOurs, "strict fifo count 2 addressed listed names_first"},
		{ColumnDescription, "open fifo count 2 all anyone names_first"},
		{ColumnCode, "strict score declared 0 addressed anyone names_only"},
	} {
		s, err := Settings{Column: tc.column}.complete(3)
		if got := fmt.Sprintf("%s %s %s %d %s %s %s", s.Floor, s.Queue, s.Barrier.Gate, s.Barrier.N, s.Wake, s.Admission, s.All); err != nil || got != tc.want {
			t.Errorf("%q: %s %v", tc.column, got, err)
		}
	}
	// One option of the other column may be taken back.
	if s, err := (Settings{Column: ColumnCode, Queue: FIFO}).complete(2); err != nil || s.Queue != FIFO || s.Barrier.Gate != GateDeclared {
		t.Errorf("%+v %v", s, err)
	}
	// Where nobody was named, the first who comes must not begin alone.
	if s, _ := (Settings{Column: ColumnCode}).complete(0); s.Barrier.Gate != GateCount || s.Barrier.N != 2 {
		t.Errorf("%+v", s)
	}
}

func TestJoining(t *testing.T) {
	m := setup(t, Settings{}, "A", "B")
	m.refuse(Join{By: agent("eve")}, fault.Denied, "not invited")
	m.refuse(Join{By: Caller{Agent: "id-eve"}}, fault.Invalid, "handle")
	m.refuse(Join{By: Caller{As: "A"}}, fault.Denied)
	m.refuse(Invite{By: agent("eve"), Invitee: Invitee{Handle: "eve"}}, fault.NotFound)
	m.join("A").do(Invite{By: agent("A"), Invitee: Invitee{Handle: "eve", Agent: "id-eve", Aliases: []string{"E"}}}).happened("invited")
	m.refuse(Join{By: Caller{Agent: "id-mallory", As: "eve"}}, fault.Denied, "another agent")
	m.do(Join{By: Caller{Agent: "id-eve"}, Name: "Eve of Plan"}).happened("joined started turn") // found by her id
	if e, _ := m.r.Member("EVE"); e.Name != "Eve of Plan" || !e.Here() {
		t.Errorf("%+v", e)
	}
	m.refuse(Join{By: Caller{Agent: "id-eve", As: "B"}}, fault.Conflict, "you are @eve")
	m.refuse(Join{By: Caller{Human: true, As: "A"}}, fault.Invalid)
	m.refuse(Join{By: agent("A"), Name: "x\x1b[31m"}, fault.Invalid)

	// Several of one session: each in its seat, none in another's.
	one, two := Caller{Agent: "id-S", Seat: "1", As: "S1"}, Caller{Agent: "id-S", Seat: "2", As: "S2"}
	m = setup(t, Settings{}).do(Join{By: one}).do(Join{By: two}).floor("S1 []")
	m.refuse(Join{By: Caller{Agent: "id-S", Seat: "3", As: "S1"}}, fault.Denied, "another seat")
	m.refuse(Say{By: Caller{Agent: "id-S", Seat: "2", As: "S1"}, Text: "@S2"}, fault.Denied)
	m.refuse(Say{By: Caller{Agent: "id-S", As: "S1"}, Text: "@S2"}, fault.Denied)
	m.do(Say{By: Caller{Agent: "id-S", Seat: "1"}, Text: "@S2"}).floor("S2 []")
	m.do(Sweep{}, Absence{"S1", "x"}, Absence{"S2", "x"}).floor(" []")
	m.do(Join{By: Caller{Agent: "id-S", Seat: "9", As: "S2"}}).floor("S2 []") // resumed, its points kept

	// An alias is nobody's handle, and a seat is given away by the human only.
	m = meet(t, Settings{Admission: Anyone}, "A", "B")
	m.do(Invite{By: agent("A"), Invitee: Invitee{Handle: "C", Aliases: []string{"sea"}, Roles: []string{"crew"}}})
	m.refuse(Join{By: agent("sea")}, fault.Conflict, "@C")
	m.refuse(Join{By: agent("crew")}, fault.Conflict, "@C")
	m.refuse(Invite{By: agent("A"), Invitee: Invitee{Handle: "B", Agent: "id-x"}}, fault.Conflict, "is there")
	m.do(Leave{By: agent("B")}).refuse(Invite{By: agent("A"), Invitee: Invitee{Handle: "B", Agent: "id-x"}}, fault.Denied, "only the human")
	m.do(Invite{By: agent("user"), Invitee: Invitee{Handle: "B", Agent: "id-x"}}).refuse(Join{By: agent("B")}, fault.Denied)
	m.do(Join{By: Caller{Agent: "id-x"}}).happened("returned")
	m.refuse(Say{By: agent("Z"), Text: "@A"}, fault.NotFound)
}

func TestAbsence(t *testing.T) {
	m := meet(t, Settings{}, "A", "B", "C").do(Leave{By: agent("C")}).happened("left")
	n := detail[Nobody](t, m.refuse(Say{By: agent("A"), Text: "@C"}, fault.Conflict, "@C", "@B"))
	if !slices.Equal(n.Present, []name.Name{"B"}) {
		t.Errorf("%+v", n)
	}
	m.refuse(Whisper{By: agent("A"), To: []string{"C"}, Text: "x"}, fault.Conflict, "@C")
	// Beside one who is there an absent one keeps the point until it comes.
	m.say("A", "@C @B").to("C", "B").floor("B []").points("C", 1)
	if a := Addressees(&m.r, "B", "@C, @A and @dave", nil); !slices.Equal(a.Absent, []name.Name{"C"}) || !slices.Equal(a.Unknown, []string{"dave"}) {
		t.Errorf("%+v", a)
	}
	m.refuse(Say{By: agent("C"), Text: "@A"}, fault.Conflict, "has left")
	m.join("C").floor("B [C]")
	// Who was thought dead and speaks is back.
	m.do(Sweep{}, Absence{"B", "x"}).floor("C []").do(Sweep{}, Absence{"C", "x"}).floor(" []")
	m.do(Say{By: agent("B"), Text: "@A"}).happened("returned turn said turn").floor("A []")
	// A dead speaker's evidence does not stop the living from acting.
	m.do(Say{By: agent("A"), Text: "@B"}, Absence{"A", "mistaken"}).happened("said turn")
	m.do(Leave{By: agent("A")}).do(Leave{By: agent("A")}).happened("")
	m.refuse(Say{By: agent("B"), Text: "@all"}, fault.Conflict, "nobody else")
}

func TestTheHuman(t *testing.T) {
	m := meet(t, Settings{}, "A", "B")
	// Naming him brings him in; his turn has no end and others wait for it.
	m.do(Skip{By: Caller{Agent: "id-host"}, To: "A"}).happened("").r.Moderator = "B"
	m.say("A", "@user what now?").happened("invited said turn").floor("user []").after(time.Hour).do(Sweep{}).happened("")
	if _, ok := Deadline(&m.r); ok || !Addressed(m.last0(t, KindTurn), User) {
		t.Error("the human has a deadline, or was not told")
	}
	m.do(Say{By: agent("user"), Text: "@B go on"}).happened("joined said turn").floor("B []")
	m.refuse(Say{By: agent("user"), Text: "@A"}, fault.Conflict, "--to user")
	m.do(Skip{By: agent("user"), To: "user"}).happened("skipped turn").floor("user []")
	m.do(Sweep{}, Absence{User, "the terminal closed"}).happened("")

	// So does whispering to him, without a notice that would tell of it.
	m = meet(t, Settings{}, "A", "B")
	m.do(Whisper{By: agent("A"), To: []string{"user"}, Text: "between us"}).happened("whispered turn").floor("user []").points(User, 1)
	m.do(Say{By: agent("user"), Text: "@B go on"}).happened("joined said turn").floor("B []").points(User, 0)

	// @all tells him; it asks him only when he is there.
	m = setup(t, Settings{}, "A", "B", "user").join("A", "B")
	m.say("A", "@all").to("B", "user").points(User, 0).floor("B []")
	m.join("user").say("B", "@all").to("A", "user").points(User, 1)

	// Skipping is for the moderator, the opener and the human.
	m = meet(t, Settings{}, "A", "B")
	m.refuse(Skip{By: agent("B")}, fault.Denied)
	m.refuse(Skip{By: agent("A"), To: "B"}, fault.Denied)
	m.do(Skip{By: Caller{Agent: "id-host"}, To: "B"}).floor("B []").do(Skip{By: Caller{Agent: "id-host"}, To: "b"}).happened("")
	m.do(Leave{By: agent("A")}).refuse(Skip{By: agent("user"), To: "A"}, fault.Conflict, "not there")
	m.refuse(Skip{By: agent("user"), To: "dave"}, fault.NotFound)
}

// last0 gives the last event of a kind.
func (m *meeting) last0(t *testing.T, k event.Kind) event.Event {
	for _, e := range slices.Backward(m.log) {
		if e.Kind == k {
			return e
		}
	}
	t.Fatalf("no %s", k)
	return event.Event{}
}

func TestRelay(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		m := &meeting{t: t, now: noon}
		m.do(OpenRoom{By: agent("A"), Room: "R", Name: "plan", Members: []Invitee{{Handle: "A"}, {Handle: "B"}}, Settings: Settings{RelayUser: allowed}}).join("A", "B")
		if err := m.refuse(Say{By: agent("B"), Text: "@A", Relay: true}, fault.Denied, "the human says it himself"); allowed != strings.Contains(err.Error(), "only @A, the moderator,") {
			t.Error(err)
		}
		if err := m.try(Say{By: agent("B"), Text: "@A", Relay: true}); allowed == strings.Contains(fault.HintOf(err), "opened with --relay-user") {
			t.Error(fault.HintOf(err))
		}
		if m.say("A", "@user?").floor("user []"); !allowed {
			m.refuse(Say{By: agent("A"), Text: "@B", Relay: true}, fault.Denied, "--relay-user")
			continue
		}
		m.do(Say{By: agent("A"), Text: "@B do it", Relay: true}).to("B").floor("B []")
		if d := m.message(); d.From != User || d.Relayed != "A" {
			t.Errorf("%+v", d)
		}
		m.refuse(Say{By: agent("A"), Text: "@B", Relay: true}, fault.Conflict, "has the floor") // nor out of turn
	}
}

// known opens a room of three agents who are known.
func known(t *testing.T) *meeting {
	return (&meeting{t: t, now: noon}).do(OpenRoom{By: Caller{Agent: "id-host"}, Room: "R", Name: "plan", Members: []Invitee{
		{Handle: "A", Agent: "id-A"}, {Handle: "B", Agent: "id-B"}, {Handle: "C", Agent: "id-C"},
	}})
}

// What a refusal tells of the room is so from then on: who was invited and acts
// is there, also where the act is refused.
func TestARefusalTellsWhatIsStored(t *testing.T) {
	for what, c := range map[string]Command{
		"say":     Say{By: agent("B"), Text: "@A hi"},
		"whisper": Whisper{By: agent("B"), To: []string{"A"}, Text: "hi"},
		"pass":    Pass{By: agent("B")},
		"propose": Propose{By: agent("B"), Text: "tabs"},
	} {
		t.Run(what, func(t *testing.T) {
			m := known(t).join("A")
			n := detail[NotYourTurn](t, m.try(c))
			if b, _ := m.r.Member("B"); n.Holder != "A" || m.r.Holder != "A" || !m.r.Started || !b.Here() {
				t.Errorf("told %+v, and there is %+v", n, m.r)
			}
			// Still alone: it is there, and the meeting has not begun.
			m = known(t)
			not := detail[NotStarted](t, m.try(c))
			if b, _ := m.r.Member("B"); not.More != 1 || m.r.Started || !b.Here() || !slices.Equal(not.Present, Attending(&m.r)) {
				t.Errorf("told %+v, and there is %+v", not, m.r)
			}
		})
	}
	// What is wrong by itself brings nobody in.
	m := known(t).join("A")
	for _, c := range []Command{
		Say{By: agent("B"), Text: " "}, Say{By: agent("user"), Text: ""}, Whisper{By: agent("B"), To: []string{"A"}}, Propose{By: agent("B")},
		Propose{By: agent("B"), Text: "x", Time: 1}, Vote{By: agent("B"), Choice: "maybe"},
	} {
		m.refuse(c, fault.Invalid)
	}
	// Whose process is gone is gone, whatever was asked; a late turn goes on.
	m = meet(t, Settings{}, "A", "B", "C").after(20 * time.Minute)
	if n := detail[Nobody](t, m.try(Say{By: agent("A"), Text: "@B"}, Absence{"B", "its process ended"})); slices.Contains(n.Present, "B") {
		t.Errorf("%+v", n)
	}
	if b, _ := m.r.Member("B"); b.Presence != Gone || m.r.Holder != "A" {
		t.Errorf("%+v", m.r)
	}
	m.say("A", "@C")
	// The words of a human who was not invited are refused, and he was not.
	m = &meeting{t: t, now: noon}
	m.do(OpenRoom{By: agent("A"), Room: "R", Name: "plan", Members: []Invitee{{Handle: "A"}, {Handle: "B"}}, Settings: Settings{RelayUser: true}}).join("A", "B").say("A", "@B")
	m.refuse(Say{By: agent("A"), Text: "@B", Relay: true}, fault.Conflict, "has the floor")
}

// An agent that is given a second seat is one member at a time, and nobody is
// there whom nobody can act as.
func TestASecondSeat(t *testing.T) {
	m := known(t).join("A", "B", "C").do(Leave{By: agent("A")})
	m.do(Invite{By: agent("user"), Invitee: Invitee{Handle: "A", Agent: "id-C"}})
	c, asA := agent("C"), Caller{Agent: "id-C", As: "A"}
	m.refuse(Join{By: asA}, fault.Conflict, "you are @C", "a seat of its own")
	m.say("B", "@C your turn").do(Say{By: c, ID: "X", Text: "@B here"}).do(Say{By: agent("B"), ID: "Y", Text: "@C"})
	m.do(Join{By: Caller{Agent: "id-C", As: "A", Seat: "token"}}).do(Leave{By: Caller{Agent: "id-C", Seat: "token"}})
	// Gone from everywhere it comes back as what it says, or as what it was.
	m = known(t).join("A", "B", "C").do(Leave{By: agent("A")}).do(Invite{By: agent("user"), Invitee: Invitee{Handle: "A", Agent: "id-C"}})
	m.do(Sweep{}, Absence{"C", "x"})
	if own, _ := m.r.Own(Caller{Agent: "id-C", As: "C"}); own.Handle != "C" {
		t.Errorf("%+v", own)
	}
	m.do(Join{By: asA}).refuse(Say{By: c, Text: "@B"}, fault.Denied, "you are @A")
}

// A closed room has nobody in it, and nobody comes next.
func TestAClosedRoomIsEmpty(t *testing.T) {
	m := meet(t, Settings{}, "A", "B", "C").say("A", "@B @C").do(Close{By: agent("user")})
	if q, there := Queue(&m.r), Attending(&m.r); len(q)+len(there) != 0 || q == nil || there == nil {
		t.Errorf("next are %v, there are %v", q, there)
	}
}

func TestAnEmptyQueue(t *testing.T) {
	for _, tc := range []struct {
		empty Empty
		want  string
	}{{ToModerator, "A []"}, {ToAnyone, " []"}} {
		m := &meeting{t: t, now: noon}
		m.do(OpenRoom{By: agent("A"), Room: "R", Name: "plan", Members: []Invitee{{Handle: "A"}, {Handle: "B"}, {Handle: "C"}}, Settings: Settings{Empty: tc.empty}}).join("A", "B", "C")
		m.say("A", "@B").do(Pass{By: agent("B")}).floor(tc.want)
		m.refuse(Pass{By: agent("B")}, fault.Conflict)
		if tc.empty == ToModerator {
			// A moderator with nothing to say does not keep the others silent.
			m.after(10 * time.Minute).do(Sweep{}).happened("lost turn").floor(" []")
		}
		if free := m.last[len(m.last)-1]; !Addressed(free, "B") || !Addressed(free, "C") || !MaySpeak(&m.r, "C") || YourTurn(&m.r, "C") {
			t.Error("a free floor is everybody's")
		}
		if _, ok := Deadline(&m.r); ok {
			t.Error("an abandoned room does not come to rest")
		}
		m.after(time.Hour).do(Sweep{}).happened("")
		m.say("C", "@B").floor("B []")
	}
}

func TestTurnLimits(t *testing.T) {
	m := meet(t, Settings{TurnLimit: time.Minute}, "A", "B", "C").say("A", "@B @C")
	if m.r.Until != noon.Add(time.Minute) {
		t.Errorf("%s", m.r.Until)
	}
	// A turn that nobody has ended yet is still its holder's, not an outsider's.
	m.after(2*time.Minute).say("B", "@A").floor("C [A]")
	m.after(time.Minute)
	if n := detail[NotYourTurn](t, m.try(Say{By: agent("B"), Text: "@A"})); n.Holder != "A" {
		t.Errorf("%+v", n)
	}
	m.floor("A [C]") // any command notices, refused or not
	// Both let it go by: nobody is asked again before somebody speaks.
	m.after(time.Minute).do(Sweep{}).happened("lost turn").floor(" [C A]")
	m.say("B", "@A").floor("C [A]")
	// A clock that jumps back changes nothing.
	m.after(-24*time.Hour).do(Sweep{}).happened("").say("C", "@B").floor("A [B]")
	if m.r.Last.Before(noon) {
		t.Error("the room went back in time")
	}
	m = meet(t, Settings{TurnLimit: -1}, "A", "B").after(1000 * time.Hour).do(Sweep{}).floor("A []")
	if _, ok := Deadline(&m.r); ok {
		t.Error("no limit, and a deadline")
	}
}

func TestClosing(t *testing.T) {
	m := meet(t, Settings{}, "A", "B")
	m.refuse(Close{By: agent("A")}, fault.Denied)
	m.refuse(Close{By: agent("eve"), Force: true}, fault.NotFound)
	m.refuse(Close{By: Caller{Agent: "id-eve"}, Force: true}, fault.Denied)
	m.do(Close{By: Caller{Agent: "id-host", Name: "host"}, Summary: "done"}).happened("closed").floor(" []")
	if !Addressed(m.last[0], "A") || !Addressed(m.last[0], "B") {
		t.Error("everybody is told")
	}
	m.do(Close{By: agent("eve")}).happened("")
	for _, c := range []Command{
		Say{By: agent("A"), Text: "@B"}, Whisper{By: agent("A"), To: []string{"B"}, Text: "x"}, Join{By: agent("A")}, Leave{By: agent("A")}, Pass{By: agent("A")},
		Skip{By: agent("user")}, Start{By: agent("user")}, Invite{By: agent("A"), Invitee: Invitee{Handle: "C"}}, Propose{By: agent("A"), Text: "x"}, Vote{By: agent("A"), Choice: Yes},
		Say{By: agent("user"), Text: "@A"}, Join{By: agent("user")},
	} {
		m.refuse(c, fault.Conflict, "is closed")
	}
	m.after(time.Hour).do(Sweep{}, Absence{"A", "x"}).happened("")

	// A member may make room for a new one; a stranger only where nobody is.
	meet(t, Settings{}, "A", "B").do(Close{By: agent("B"), Force: true}).happened("closed")
	m = meet(t, Settings{}, "A", "B").do(Sweep{}, Absence{"A", "x"}, Absence{"B", "x"}).do(Close{By: Caller{Agent: "id-eve"}, Force: true}).happened("closed")
	if m.r.Status != Closed {
		t.Error(m.r.Status)
	}
}

// A kind of a newer bureau stops every decision, and so does a damaged event.
func TestUnknownKinds(t *testing.T) {
	for _, e := range []event.Event{event.New("room.dreamt", 1), {Kind: KindTurn}} {
		m := meet(t, Settings{}, "A", "B")
		m.r.Apply(e, noon)
		if err := m.try(Say{By: agent("A"), Text: "@B"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", e.Kind, err)
		}
	}
}

func TestRolesAndAliases(t *testing.T) {
	m := &meeting{t: t, now: noon}
	m.do(OpenRoom{By: agent("A"), Room: "R", Name: "plan", Members: []Invitee{
		{Handle: "A"}, {Handle: "B", Aliases: []string{"lead"}, Roles: []string{"qa"}}, {Handle: "C", Roles: []string{"qa", "ops"}}, {Handle: "D", Roles: []string{"ops"}},
	}, Settings: Settings{Barrier: Barrier{Gate: GateDeclared}}}).join("A", "B", "C", "D")
	m.say("A", "@ops then @LEAD").to("C", "D", "B").floor("C [D B]")
	m.do(Whisper{By: agent("C"), To: []string{"qa"}, Text: "x"}).to("B").points("B", 2).floor("D [B]")
	m.do(Whisper{By: agent("D"), To: []string{"@Lead", "b"}, Text: "ask @lead"}).to("B").points("B", 3).floor("B []")
	m.say("B", "@A").points("B", 2).floor("A [B]").say("A", "@C").floor("B [C]") // one point, one turn
}

// TestReasons: a refusal names what is wrong.
func TestReasons(t *testing.T) {
	m := meet(t, Settings{}, "A", "B")
	for _, reason := range []string{"a\nb", strings.Repeat("x", MaxLabel+1)} {
		m.refuse(Leave{By: agent("B"), Reason: reason}, fault.Invalid, "the reason")
	}
}
