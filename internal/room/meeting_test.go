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

// noon is when the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// meeting is a room and its whole journal, moved on by commands.
type meeting struct {
	t      testing.TB
	r      Room
	now    time.Time
	log    []event.Event
	last   []event.Event // of the last command
	posted int
}

// agent is the caller that plays a handle: agent id and handle are the same.
func agent(h string) Caller {
	if h == "user" {
		return Caller{Human: true}
	}
	return Caller{Agent: event.ID("id-" + h), As: h, Name: h}
}

// try decides a command and applies what comes of it, also with a refusal.
func (m *meeting) try(c Command, gone ...Absence) error {
	m.t.Helper()
	events, err := Decide(&m.r, c, m.now, Evidence{Gone: gone})
	if err != nil {
		if fault.HintOf(err) == "" {
			m.t.Errorf("%T: a refusal without a next step: %v", c, err)
		}
	}
	if err == nil {
		m.last = events
	}
	for _, e := range events {
		m.r.Apply(e, m.now)
		m.log = append(m.log, e)
	}
	return err
}

func (m *meeting) do(c Command, gone ...Absence) *meeting {
	m.t.Helper()
	if err := m.try(c, gone...); err != nil {
		m.t.Fatalf("%T%+v: %v", c, c, err)
	}
	return m
}

func (m *meeting) refuse(c Command, code fault.Code, words ...string) error {
	m.t.Helper()
	before, was := m.json(), len(m.log)
	err := m.try(c)
	if !fault.Is(err, code) {
		m.t.Fatalf("%T%+v: %v is not refused as %s", c, c, err, code)
	}
	text := err.Error() + "\n" + fault.HintOf(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			m.t.Errorf("the refusal does not say %q:\n%s", w, text)
		}
	}
	if m.json() != before || len(m.log) != was {
		m.t.Errorf("a refused %T changed the room", c)
	}
	return err
}

func (m *meeting) json() string {
	raw, err := json.Marshal(&m.r)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(raw)
}

func (m *meeting) after(d time.Duration) *meeting {
	m.now = m.now.Add(d)
	return m
}

func (m *meeting) say(who, text string) *meeting {
	m.t.Helper()
	m.posted++
	return m.do(Say{By: agent(who), ID: event.ID(fmt.Sprint("M", m.posted)), Text: text})
}

func (m *meeting) join(who ...string) *meeting {
	m.t.Helper()
	for _, w := range who {
		m.do(Join{By: agent(w)})
	}
	return m
}

// floor checks who has the floor and who waits, as in "B [C A]".
func (m *meeting) floor(want string) *meeting {
	m.t.Helper()
	if got := fmt.Sprint(m.r.Holder, " ", Queue(&m.r)); got != want {
		m.t.Fatalf("the floor is %q, not %q", got, want)
	}
	return m
}

// message gives the message of the last command.
func (m *meeting) message() Message {
	m.t.Helper()
	for _, e := range m.last {
		if e.Kind == KindSaid || e.Kind == KindWhispered {
			var d Message
			if err := e.Decode(&d); err != nil {
				m.t.Fatal(err)
			}
			return d
		}
	}
	m.t.Fatalf("no message among %s", kinds(m.last))
	return Message{}
}

func (m *meeting) to(want ...name.Name) *meeting {
	m.t.Helper()
	if got := m.message().To; !slices.Equal(got, want) {
		m.t.Fatalf("the message is for %v, not %v", got, want)
	}
	return m
}

func (m *meeting) points(h name.Name, want int) *meeting {
	m.t.Helper()
	if got, _ := m.r.Member(h); got.Points != want {
		m.t.Fatalf("%s has %d points, not %d", h, got.Points, want)
	}
	return m
}

func (m *meeting) happened(want string) *meeting {
	m.t.Helper()
	if got := kinds(m.last); got != want {
		m.t.Fatalf("happened: %q, not %q", got, want)
	}
	return m
}

// kinds names events without the prefix they share.
func kinds(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, strings.TrimPrefix(string(e.Kind), "room."))
	}
	return strings.Join(out, " ")
}

// setup opens a room with those members, whom nobody has to wait for.
func setup(t testing.TB, s Settings, members ...string) *meeting {
	t.Helper()
	m := &meeting{t: t, now: noon}
	c := OpenRoom{By: Caller{Agent: "id-host", Name: "host"}, Room: "R", Name: "plan", Topic: "the plan", Settings: s}
	for _, w := range members {
		c.Members = append(c.Members, Invitee{Handle: name.Name(w)})
	}
	return m.do(c)
}

// meet is setup with everybody there and the floor with the first.
func meet(t testing.TB, s Settings, members ...string) *meeting {
	t.Helper()
	s.Barrier = Barrier{Gate: GateDeclared}
	return setup(t, s, members...).join(members...)
}
