package room

import (
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
)

// Apply is what an event does to the room. at is the time of its record. It
// never looks at a clock. An event that cannot be read (its data was erased or
// damaged) counts as one of an unknown kind.
func (r *Room) Apply(e event.Event, at time.Time) {
	at = stamp(at)
	if at.After(r.Last) {
		r.Last = at
	}
	if !r.apply(e, at) {
		r.Unknown = e.Kind
	}
}

// stamp brings a time to what the journal keeps: UTC, whole milliseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func (r *Room) apply(e event.Event, at time.Time) (known bool) {
	switch e.Kind {
	case KindOpened:
		return with(e, func(d Opened) { r.applyOpened(d, at) })
	case KindInvited:
		return with(e, func(d InvitedOne) { r.number(d.Seq); r.applyInvited(d.Invitee) })
	case KindJoined, KindReturned:
		return with(e, func(d Arrival) { r.number(d.Seq); r.applyArrival(d, at) })
	case KindLeft:
		return with(e, func(d Departure) { r.number(d.Seq); r.applyDeparture(d, Left) })
	case KindGone:
		return with(e, func(d Departure) { r.number(d.Seq); r.applyDeparture(d, Gone) })
	case KindStarted:
		return with(e, func(d Began) {
			r.number(d.Seq)
			r.Started, r.BarrierUntil = true, time.Time{}
		})
	case KindTurn:
		return with(e, func(d Turn) { r.number(d.Seq); r.applyTurn(d, at) })
	case KindLost:
		return with(e, func(d Yield) {
			r.number(d.Seq)
			r.vacate(d.Handle)
			if m := r.member(d.Handle); m != nil {
				r.toTail(m)
				m.Tail = m.Points > 0
				m.Silent = d.Why == lostLimit || d.Why == lostAway
				m.Away = d.Why == lostAway
			}
		})
	case KindPassed, KindSkipped:
		return with(e, func(d Yield) {
			r.number(d.Seq)
			r.vacate(d.Handle)
			if m := r.member(d.Handle); m != nil {
				r.spend(m)
				m.Silent = true
			}
		})
	case KindSaid, KindWhispered:
		return with(e, func(d Message) { r.number(d.Seq); r.applyMessage(d, at) })
	case KindProposed:
		return with(e, func(d Proposal) {
			r.number(d.Seq)
			r.Proposed = d.Number
			r.Proposals = append(r.Proposals, Ballot{Number: d.Number, By: d.By, Voters: d.Voters, Quorum: d.Quorum, Until: d.Until})
		})
	case KindVoted:
		return with(e, func(d Voted) { r.number(d.Seq); r.applyVoted(d) })
	case KindDecided:
		return with(e, func(d Decided) {
			r.number(d.Seq)
			r.Proposals = slices.DeleteFunc(r.Proposals, func(b Ballot) bool { return b.Number == d.Number })
		})
	case KindClosed:
		return with(e, func(d ClosedBy) {
			r.number(d.Seq)
			r.Status, r.Free, r.Proposals, r.BarrierUntil = Closed, false, nil, time.Time{}
			r.vacate(r.Holder)
		})
	}
	return false
}

// with decodes an event's data and hands it on; false if it does not decode.
func with[T any](e event.Event, do func(T)) bool {
	var d T
	if e.Decode(&d) != nil {
		return false
	}
	do(d)
	return true
}

// number notes the number of an entry; 0 is none.
func (r *Room) number(seq int64) { r.Seq = max(r.Seq, seq) }

func (r *Room) applyOpened(d Opened, at time.Time) {
	r.ID, r.Name, r.Topic, r.Purpose, r.Opener = d.Room, d.Name, d.Topic, d.Purpose, d.Opener
	r.Moderator, r.First, r.Settings = d.Moderator, d.First, d.Settings
	r.Links, r.Transcript, r.Status, r.Opened, r.Loose = d.Links, d.Transcript, Open, at, d.Loose
	for _, m := range d.Members {
		r.applyInvited(m)
	}
}

func (r *Room) applyInvited(i Invitee) {
	if m := r.member(i.Handle); m != nil {
		m.Agent, m.Seat, m.Session, m.Loose = i.Agent, "", "", false
		return
	}
	r.Members = append(r.Members, Member{
		Handle: i.Handle, Name: i.Name, Aliases: i.Aliases, Roles: i.Roles, Agent: i.Agent,
		Human: i.Handle == User, Declared: true, Presence: Invited,
	})
}

func (r *Room) applyArrival(d Arrival, at time.Time) {
	m := r.member(d.Handle)
	if m == nil {
		r.Members = append(r.Members, Member{Handle: d.Handle, Human: d.Human})
		m = &r.Members[len(r.Members)-1]
	}
	if d.Name != "" {
		m.Name = d.Name
	}
	m.Agent, m.Seat, m.Session, m.Loose = d.Agent, d.Seat, d.Session, d.Loose
	m.Presence, m.Silent, m.Away = Present, false, false
	if m.Human && m.Handle == r.Holder && r.Settings.HumanLimit <= 0 {
		r.Until = time.Time{} // it was the limit of one who is not there
	}
	if m.Joined.IsZero() {
		m.Joined = at
	} else {
		m.Returned = at
	}
	if !d.BarrierUntil.IsZero() {
		r.BarrierUntil = d.BarrierUntil
	}
}

func (r *Room) applyDeparture(d Departure, p Presence) {
	if m := r.member(d.Handle); m != nil {
		m.Presence = p
	}
	if r.agentsHere() == 0 {
		r.BarrierUntil = time.Time{} // the next who comes waits anew
	}
}

// agentsHere counts the members that the barrier counts.
func (r *Room) agentsHere() int {
	n := 0
	for i := range r.Members {
		if m := &r.Members[i]; m.Here() && !m.Human {
			n++
		}
	}
	return n
}

func (r *Room) applyTurn(d Turn, at time.Time) {
	if d.Holder != "" && d.Holder == r.Holder {
		r.Until = d.Until // the same turn goes on
		return
	}
	r.Holder, r.Until, r.Since, r.Free = d.Holder, d.Until, at, d.Holder == ""
	for i := range r.Members {
		switch m := &r.Members[i]; {
		case m.Handle == d.Holder:
			m.Passed, m.Tail, m.Silent, m.Away = 0, false, false, false
		case d.Holder != "" && m.Points > 0 && m.Reachable(): // also for the human who left, as it always did
			m.Passed = min(m.Passed+1, 2*MaxMembers)
		}
	}
}

// vacate takes the floor from h, if it has it.
func (r *Room) vacate(h name.Name) {
	if r.Holder == h {
		r.Holder, r.Until, r.Since = "", time.Time{}, time.Time{}
	}
}

// spend uses up one turn of a member.
func (r *Room) spend(m *Member) {
	if r.Settings.Queue == Score {
		m.Points = 0
	} else {
		m.Points = max(0, m.Points-1)
	}
	m.Tail = false
	r.toTail(m)
}

// toTail gives a member the last place, or none if it has no points.
func (r *Room) toTail(m *Member) {
	m.Place, m.Passed = 0, 0
	if m.Points > 0 {
		r.Place++
		m.Place = r.Place
	} else {
		m.Tail = false
	}
}

func (r *Room) applyMessage(d Message, at time.Time) {
	r.Posts++
	if slices.Contains(d.To, User) && r.human() == nil {
		// Whispered to: a notice that he is invited would tell of it.
		r.applyInvited(Invitee{Handle: User})
	}
	for i, h := range d.To {
		m := r.member(h)
		if m == nil || m.Human && !m.Here() && i >= d.Named {
			continue // the human is told, but not asked, by @all while he is elsewhere
		}
		if m.Points++; m.Points == 1 {
			r.toTail(m)
		}
	}
	for i := range r.Members {
		r.Members[i].Silent = false
	}
	if m := r.member(d.From); m != nil {
		r.spend(m)
		m.LastTurn = at
	}
	r.vacate(d.From)
	r.Free = false
}

func (r *Room) applyVoted(d Voted) {
	for i := range r.Proposals {
		b := &r.Proposals[i]
		if b.Number != d.Number {
			continue
		}
		b.Votes = slices.DeleteFunc(b.Votes, func(c Cast) bool { return c.By == d.By })
		b.Votes = append(b.Votes, Cast{By: d.By, Choice: d.Choice})
	}
}
