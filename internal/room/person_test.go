package room

import (
	"slices"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// A person who said that he goes holds nothing up: he is told of what is for him
// and owed a turn, and has it when he is back.
func TestAPersonWhoLeft(t *testing.T) {
	m := meet(t, Settings{}, "A", "B", "user").say("A", "@user @B").floor("user [B]")
	m.do(Leave{By: agent("user")}).happened("left lost turn").floor("B []").points(User, 1)
	m.say("B", "@A @user again").to("A", User).floor("A []").points(User, 2)
	if a := Addressees(&m.r, "A", "@user", nil); !slices.Equal(a.Absent, []name.Name{User}) {
		t.Errorf("%+v", a)
	}
	m.say("A", "@user alone").to(User).floor(" []") // a question that he finds
	m.do(Whisper{By: agent("A"), To: []string{"user"}, Text: "and this"}).floor(" []")
	m.say("A", "@all").to("B").floor("B []")
	m.refuse(Skip{By: Caller{Agent: "id-host"}, To: "user"}, fault.Conflict, "@user is not there")
	// Nor does a vote wait for him.
	m.do(Propose{By: agent("B"), Text: "x"})
	m.do(Vote{By: agent("B"), Choice: Yes}).do(Vote{By: agent("A"), Choice: No}).happened("voted decided")
	m.refuse(Vote{By: agent("A"), Choice: Yes}, fault.NotFound)
	// Back, he is the next; and speaking brings him back.
	m.join("user").floor("B [user]").do(Leave{By: agent("user")})
	m.say("B", "@A").floor("A []")
	if err := m.try(Say{By: agent("user"), Text: "@A"}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	m.floor("A [user]").say("A", "@B").floor("user [B]")

	// Who begins is somebody who is there.
	m = setup(t, Settings{Barrier: Barrier{Gate: GateWord}}, "A", "user").join("A", "user").do(Leave{By: agent("user")})
	m.r.First = User
	m.do(Start{By: agent("user")}).floor("A []")
}

// A room in which he was given the floor before that was so comes to go on.
func TestAPersonWhoLeftWithTheFloor(t *testing.T) {
	stuck := func() *meeting {
		m := meet(t, Settings{}, "A", "B", "user").say("A", "@user @B").do(Leave{By: agent("user")}).say("B", "@user")
		m.r.Apply(event.New(KindTurn, Turn{Holder: User, Why: turnQueue}), m.now)
		return m
	}
	m := stuck()
	if at, ok := Deadline(&m.r); !ok || m.now.Before(at) {
		t.Error("nobody looks after it")
	}
	m.do(Sweep{}).happened("lost turn").points(User, 2).floor(" []").say("A", "@B").floor("B []")
	stuck().do(Join{By: agent("user")}).happened("returned").floor("user []")
	stuck().do(Say{By: agent("user"), Text: "@B"}).happened("returned said turn").floor("B [user]")
}

// Where nobody who is there can hand on his turn, a person who is not there has
// the floor for as long as others.
func TestAPersonWhoIsNotThere(t *testing.T) {
	limit := 10 * time.Minute
	m := meet(t, Settings{}, "A", "B", "C").say("A", "@user which? (@B then)").floor("user [B]")
	if at, ok := Deadline(&m.r); !ok || !at.Equal(m.now.Add(limit)) {
		t.Fatalf("his turn ends at %s", at)
	}
	m.after(30*time.Second).refuse(Say{By: agent("B"), Text: "@A"}, fault.Conflict, "@user has the floor", "loses the floor in 9m30s", "you are next")
	m.refuse(Say{By: agent("C"), Text: "@A"}, fault.Conflict, "loses the floor in 9m30s; wait with: bureau room wait plan")
	m.refuse(Skip{By: agent("C")}, fault.Denied, "only", "loses the floor in 9m30s")
	m.after(limit).do(Sweep{}).happened("lost turn").floor("B []").points(User, 1)
	// He keeps his point and is told of more, but nobody waits for him again.
	m.say("B", "@user again, @A").floor("A []").points(User, 2).say("A", "@B").floor("B []")
	m.join("user").floor("B [user]").say("B", "@A").floor("user [A]")
	if !m.r.Until.IsZero() {
		t.Error("who is there has a limit")
	}
	m.refuse(Skip{By: agent("A")}, fault.Denied, "has no limit")

	// He comes in his turn; the one who could hand it on goes, and is back.
	m = meet(t, Settings{}, "A", "B").say("A", "@user @B").do(Join{By: agent("user")}).happened("joined").floor("user [B]")
	if !m.r.Until.IsZero() {
		t.Error("who has come has a limit")
	}
	m = meet(t, Settings{}, "A", "B", "C")
	m.r.Moderator = "C"
	m.say("A", "@user").after(time.Hour).do(Sweep{}).happened("").do(Sweep{}, Absence{"C", "its process ended"}).happened("gone turn").floor("user []")
	if !m.r.Until.Equal(m.now.Add(limit)) || m.r.Since.Equal(m.now) {
		t.Errorf("since %s until %s", m.r.Since, m.r.Until)
	}
	m.join("C").happened("returned turn").after(time.Hour).do(Sweep{}).happened("").do(Leave{By: agent("C")}).happened("left turn")
	m.after(limit).do(Sweep{}).happened("lost turn").floor(" []").join("C").do(Skip{By: agent("C"), To: "user"}).floor("user []")

	// The opener who takes part can hand it on too, but not where its agent says
	// nothing of who it is.
	for _, loose := range []bool{false, true} {
		m = (&meeting{t: t, now: noon}).do(OpenRoom{By: agent("A"), Room: "R", Name: "plan", Loose: loose}).join("A", "B").say("A", "@user")
		if m.r.Until.IsZero() == loose {
			t.Errorf("loose %v: until %s", loose, m.r.Until)
		}
	}
	// A room without a limit has none for him; a room of before is given one.
	meet(t, Settings{TurnLimit: -1}, "A", "B").say("A", "@user").after(1000 * time.Hour).do(Sweep{}).happened("").floor("user []")
	m = meet(t, Settings{}, "A", "B").say("A", "@user").after(time.Hour)
	m.r.Until = time.Time{}
	if at, ok := Deadline(&m.r); !ok || m.now.Before(at) {
		t.Error("nobody looks after it")
	}
	m.do(Sweep{}).happened("turn").floor("user []").after(limit).do(Sweep{}).happened("lost turn")
}
