package room

import (
	"slices"

	"pgregory.net/rapid"

	"bureau/internal/event"
)

// noteMessage checks who spoke to whom.
func (m *machine) noteMessage(t *rapid.T, e event.Event, n Entry, was *Room) {
	var d Message
	if err := e.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if was.Settings.Floor == Strict && (!was.Started || was.Holder != "" && was.Holder != d.From) {
		t.Fatalf("%s spoke while %q had the floor", d.From, was.Holder)
	}
	if len(d.To) == 0 || slices.Contains(d.To, d.From) {
		t.Fatalf("a message of %s for %v", d.From, d.To)
	}
	reached := false
	for i, h := range d.To {
		w, ok := was.Member(h)
		if h == User && e.Kind == KindWhispered && !ok {
			w, ok = Member{Handle: User, Human: true, Presence: Invited}, true // it brings him in
		}
		if !ok || slices.Contains(d.To[:i], h) {
			t.Fatalf("a message for %v of %v", d.To, was.Members)
		}
		reached = reached || w.Reachable()
	}
	if !reached {
		t.Fatalf("a message for %v, of whom nobody is there", d.To)
	}
	m.waiting[d.From] = 0
	if e.Kind == KindWhispered {
		m.secrets[d.Body] = append(slices.Clone(d.To), d.From)
	}
}

// led reports whether an agent that is there can hand on the floor, by trying.
func (m *machine) led() bool {
	for _, h := range Attending(&m.r) {
		if h == User {
			continue
		}
		if _, err := Decide(&m.r, Skip{By: agent(string(h))}, m.now, Evidence{}); err == nil {
			return true
		}
	}
	return false
}

// goesOn checks that nobody has to do anything for a turn to end.
func (m *machine) goesOn(t *rapid.T) {
	if m.r.Until.IsZero() {
		return
	}
	at, ok := Deadline(&m.r)
	if !ok || at.After(m.r.Until) {
		t.Fatalf("a turn ends at %s, and somebody looks at %s", m.r.Until, at)
	}
	d, err := decide(&m.r, Sweep{}, m.r.Until, Evidence{})
	if err != nil || d.r.Holder == m.r.Holder {
		t.Fatalf("%s keeps the floor: %v", d.r.Holder, err)
	}
}
