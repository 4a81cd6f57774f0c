package room

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// with decides a command where agents have these names now.
func (m *meeting) with(names map[event.ID]string, c Command) error {
	m.t.Helper()
	events, err := Decide(&m.r, c, m.now, Evidence{Names: func(id event.ID) string { return names[id] }})
	if err == nil {
		m.last = events
	}
	for _, e := range events {
		m.r.Apply(e, m.now)
		m.log = append(m.log, e)
	}
	return err
}

// Whose agent was renamed during a meeting is called by both names, and is one
// member.
func TestARenamedAgent(t *testing.T) {
	names := map[event.ID]string{"id-A": "A", "id-B": "robert", "id-C": "C"}
	m := known(t).join("A", "B")
	ok := func(c Command) *meeting {
		t.Helper()
		if err := m.with(names, c); err != nil {
			t.Fatal(err)
		}
		return m
	}
	say := func(who, text string) *meeting { t.Helper(); return ok(Say{By: agent(who), Text: text}) }
	say("A", "@robert hi, @Robert's and @B").to("B").floor("B []")
	say("B", "@A and myself, @robert").to("A").floor("A []")
	ok(Whisper{By: agent("A"), To: []string{"robert"}, Text: "for @robert"}).to("B").floor("B []")
	ok(Skip{By: agent("user"), To: "A"}).floor("A []")
	ok(Skip{By: agent("user"), To: "robert"}).floor("B []")
	say("B", "@A").floor("A []")
	if err := m.with(names, Say{By: agent("A"), Text: "@robert"}); err != nil {
		t.Fatal(err)
	}

	// No second member: nobody could come as it.
	refuse := func(c Command, words ...string) {
		t.Helper()
		err := m.with(names, c)
		if !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
			t.Fatalf("%v", err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v does not say %q", err, w)
			}
		}
	}
	robert := Invite{By: agent("A"), Invitee: Invitee{Handle: "robert", Aliases: []string{"B"}, Agent: "id-B"}}
	refuse(robert, "@robert is in room plan as @B already")
	ok(Leave{By: agent("B")})
	refuse(robert, "@robert is a member of room plan as @B already")
	refuse(Join{By: Caller{Agent: "id-B", As: "robert"}}, "you are @B")
	m.r.Settings.Admission = Anyone
	refuse(Join{By: Caller{Agent: "id-X", As: "robert"}}, "@robert means @B")
	names["id-C"] = "carl"
	refuse(Invite{By: agent("A"), Invitee: Invitee{Handle: "@Carl", Agent: "id-C"}}, "is invited to room plan as @C already")
	ok(Invite{By: agent("A"), Invitee: Invitee{Handle: "C", Agent: "id-C"}}).happened("") // as ever
	// Another agent may well come under it, and then it means that one.
	ok(Invite{By: agent("A"), Invitee: Invitee{Handle: "carl", Agent: "id-Z"}}).happened("invited")
	if to := m.addressed(names, "A", "@carl"); !slices.Equal(to, []name.Name{"carl"}) {
		t.Error(to)
	}

	// What is somebody's already stays his; seats of one agent are not confused.
	names["id-A"] = "C"
	if to := m.addressed(names, "B", "@C"); !slices.Equal(to, []name.Name{"C"}) {
		t.Error(to)
	}
	names["id-A"], names["id-S"] = "user", "sam"
	seat := func(n int) Caller { return Caller{Agent: "id-S", Seat: fmt.Sprint(n), As: fmt.Sprint("S", n)} }
	m = setup(t, Settings{}).do(Join{By: agent("A")}).do(Join{By: seat(1)}).do(Join{By: seat(2)})
	if to := m.addressed(names, "A", "@sam"); len(to) != 0 {
		t.Error(to)
	}
	m.do(Join{By: Caller{Agent: "id-S", As: "S"}})
	if to := m.addressed(names, "A", "@sam"); !slices.Equal(to, []name.Name{"S"}) {
		t.Error(to)
	}
	m.do(Leave{By: Caller{Agent: "id-S"}}).do(Leave{By: seat(1)})
	if to := m.addressed(names, "A", "@sam"); !slices.Equal(to, []name.Name{"S2"}) {
		t.Error(to)
	}
	if to := m.addressed(names, "S1", "@user"); !slices.Equal(to, []name.Name{User}) {
		t.Error(to)
	}
}

func (m *meeting) addressed(names map[event.ID]string, from name.Name, text string) []name.Name {
	return Addressees(&m.r, from, text, func(id event.ID) string { return names[id] }).To
}
