package room

import (
	"fmt"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
)

// Queue lists who waits for the floor, the next one first; in a closed room
// nobody. Who is not there is left out, and so is the holder. Points are nobody's business but the rules'.
func Queue(r *Room) []name.Name {
	out := []name.Name{}
	if r.Status == Closed {
		return out
	}
	for _, m := range r.queue() {
		out = append(out, m.Handle)
	}
	return out
}

// Attending lists who is there; in a closed room nobody.
func Attending(r *Room) []name.Name {
	out := []name.Name{}
	for i := range r.Members {
		if r.Members[i].Here() && r.Status != Closed {
			out = append(out, r.Members[i].Handle)
		}
	}
	return out
}

// Missing tells whom the barrier waits for: the members named who are not
// there, the human never among them, and how many have to come before it
// opens. Behind an open barrier, and where a word opens it, more is 0.
func Missing(r *Room) (absent []name.Name, more int) {
	absent = []name.Name{}
	named := 0
	for i := range r.Members {
		m := &r.Members[i]
		if m.Human || !m.Declared {
			continue
		}
		named++
		if !m.Here() {
			absent = append(absent, m.Handle)
		}
	}
	if r.Started {
		return absent, 0
	}
	switch r.Settings.Barrier.Gate {
	case GateDeclared:
		more = len(absent)
	case GateCount:
		need := r.Settings.Barrier.N
		if r.Settings.Admission == Listed && named > 0 {
			need = min(need, named)
		}
		more = max(0, need-r.agentsHere())
	}
	return absent, more
}

// waitsFor puts what Missing gives into words.
func waitsFor(absent []name.Name, more int) string {
	switch {
	case more == 0:
		return "its moderator has not begun it"
	case len(absent) == 0:
		return fmt.Sprintf("%d more must join", more)
	case more < len(absent):
		return fmt.Sprintf("it waits for %d of %s", more, ats(absent))
	}
	return "it waits for " + ats(absent)
}

// YourTurn reports whether a member has the floor.
func YourTurn(r *Room, h name.Name) bool {
	return r.Status == Open && r.Holder != "" && r.Holder.Key() == h.Key()
}

// MaySpeak reports whether a message of a member who is there would be taken
// now.
func MaySpeak(r *Room, h name.Name) bool {
	if r.Status != Open {
		return false
	}
	return r.Settings.Floor == OpenTalk || YourTurn(r, h) || r.Started && r.Holder == ""
}

// Deadline is the earliest moment at which something is due without anybody's
// doing: the holder's turn, the barrier, a vote. Decide [Sweep] then.
func Deadline(r *Room) (at time.Time, ok bool) {
	earlier := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if r.Status == Open {
		earlier(r.Until)
		if r.deserted() || r.unbound() {
			earlier(r.Since)
		}
		earlier(r.BarrierUntil)
		for _, b := range r.Proposals {
			earlier(b.Until)
		}
	}
	return at, !at.IsZero()
}

// Entry is what an event means to those who read a room.
type Entry struct {
	Kind     event.Kind  `json:"kind"`
	Seq      int64       `json:"seq"`  // 0: it has no number and is not read
	From     name.Name   `json:"from"` // who did it, if a member did
	To       []name.Name `json:"to"`   // whom it is for
	Everyone bool        `json:"everyone,omitempty"`
	Private  bool        `json:"private,omitempty"`
}

// EntryOf reads an event; false if it is none of a room, or damaged.
func EntryOf(e event.Event) (Entry, bool) {
	n := Entry{Kind: e.Kind}
	ok := false
	switch e.Kind {
	case KindOpened:
		ok = with(e, func(Opened) {})
	case KindInvited:
		ok = with(e, func(d InvitedOne) { n.Seq, n.To = d.Seq, []name.Name{d.Handle} })
	case KindJoined, KindReturned:
		ok = with(e, func(d Arrival) { n.Seq, n.From = d.Seq, d.Handle })
	case KindLeft, KindGone:
		ok = with(e, func(d Departure) { n.Seq, n.From = d.Seq, d.Handle })
	case KindStarted:
		ok = with(e, func(d Began) { n.Seq = d.Seq })
	case KindTurn:
		ok = with(e, func(d Turn) {
			n.Seq, n.Everyone = d.Seq, d.Holder == ""
			if d.Holder != "" {
				n.To = []name.Name{d.Holder}
			}
		})
	case KindLost, KindSkipped:
		ok = with(e, func(d Yield) { n.Seq, n.To = d.Seq, []name.Name{d.Handle} })
	case KindPassed:
		ok = with(e, func(d Yield) { n.Seq, n.From = d.Seq, d.Handle })
	case KindSaid, KindWhispered:
		n.Private = e.Kind == KindWhispered
		ok = with(e, func(d Message) { n.Seq, n.From, n.To = d.Seq, d.From, d.To })
	case KindProposed:
		ok = with(e, func(d Proposal) { n.Seq, n.From, n.To = d.Seq, d.By, d.Voters })
	case KindVoted:
		ok = with(e, func(d Voted) { n.Seq, n.From = d.Seq, d.By })
	case KindDecided:
		ok = with(e, func(d Decided) { n.Seq, n.Everyone = d.Seq, true })
	case KindClosed:
		ok = with(e, func(d ClosedBy) { n.Seq, n.Everyone = d.Seq, true })
	}
	return n, ok
}

// Viewer is who reads.
type Viewer struct {
	Handle name.Name // "": no member
	Human  bool
}

// Visible reports whether a viewer may know of the entry at all: its text, its
// parties, that there is one. Whispers are for their parties and the human.
func (n Entry) Visible(v Viewer) bool {
	return !n.Private || v.Human || v.Handle != "" && (same(n.From, v.Handle) || n.names(v.Handle))
}

// Addresses reports whether the entry is meant for a member: a message that is
// for it, its turn, a vote that it can give, what everybody must know. It is
// what ends the member's waiting and wakes its session. Nothing addresses who
// did it.
func (n Entry) Addresses(h name.Name) bool {
	return !same(n.From, h) && (n.names(h) || n.Everyone)
}

// Wakes is [Entry.Addresses] for a room with that setting: under [WakeAll]
// every public message and the opening of the barrier end everybody's waiting.
func (n Entry) Wakes(h name.Name, w Wake) bool {
	if n.Addresses(h) {
		return true
	}
	return w == WakeAll && !same(n.From, h) && (n.Kind == KindSaid || n.Kind == KindStarted)
}

func (n Entry) names(h name.Name) bool {
	return slices.ContainsFunc(n.To, func(t name.Name) bool { return same(t, h) })
}

func same(a, b name.Name) bool { return a != "" && (a == b || a.Key() == b.Key()) }

// Visible is [Entry.Visible] of an event. What cannot be read is not shown.
func Visible(e event.Event, v Viewer) bool {
	n, ok := EntryOf(e)
	return ok && n.Visible(v)
}

// Addressed is [Entry.Addresses] of an event.
func Addressed(e event.Event, h name.Name) bool {
	n, ok := EntryOf(e)
	return ok && n.Addresses(h)
}
