package room

import (
	"fmt"
	"time"

	"bureau/internal/fault"
)

// Why a turn that goes on is told anew, as [Turn] says it.
const (
	turnBound = "bound" // it has a limit from now on
	turnLoose = "loose" // it has none any more
)

// limit gives how long a turn of a member lasts; 0 or less: without limit. The
// human has none of his own, but one who is not in the room has the room's where
// nobody who is there can hand on his turn: else one mention of him would end the
// meeting of the others.
func (r *Room) limit(m *Member) time.Duration {
	switch {
	case !m.Human:
		return r.Settings.TurnLimit
	case r.Settings.HumanLimit > 0:
		return r.Settings.HumanLimit
	case m.Here() || r.led():
		return 0
	}
	return r.Settings.TurnLimit
}

// led reports whether an agent that is there can hand on the floor: the
// moderator, or the opener. Where handles are for whoever comes as them, the
// opener's agent says nothing of who is there.
func (r *Room) led() bool {
	for i := range r.Members {
		m := &r.Members[i]
		opener := !r.Loose && r.Opener.Agent != "" && m.Agent == r.Opener.Agent && m.Seat == r.Opener.Seat
		if m.Here() && !m.Human && (m.Handle == r.Moderator || opener) {
			return true
		}
	}
	return false
}

// until gives when a turn ends that begins now; zero for never.
func (d *decision) until(m *Member) time.Time {
	if limit := d.r.limit(m); limit > 0 {
		return d.now.Add(limit)
	}
	return time.Time{}
}

// unbound reports whether the holder's turn should have a limit and has none.
func (r *Room) unbound() bool {
	m := r.member(r.Holder)
	return m != nil && m.Human && m.Expected() && r.Until.IsZero() && r.limit(m) > 0
}

// rebind gives the human's turn a limit when the last goes who could hand it on,
// and takes it away when one comes. His own coming does so too, see [Room.Apply].
func (d *decision) rebind() {
	m := d.r.member(d.r.Holder)
	switch {
	case d.r.unbound():
		d.emit(KindTurn, Turn{Holder: m.Handle, Why: turnBound, Until: d.until(m)})
	case m != nil && m.Human && !d.r.Until.IsZero() && d.r.limit(m) <= 0:
		d.emit(KindTurn, Turn{Holder: m.Handle, Why: turnLoose})
	}
}

// late says why a holder loses a turn that has run out.
func (r *Room) late() string {
	if m := r.member(r.Holder); m != nil && m.Human && !m.Here() {
		return lostAway
	}
	return lostLimit
}

// lapse says of a human who has the floor and is not there how long he keeps it;
// "" of everybody else.
func (d *decision) lapse() string {
	m := d.r.member(d.r.Holder)
	if m == nil || !m.Human || m.Here() || d.r.Until.IsZero() {
		return ""
	}
	left := d.r.Until.Sub(d.now).Round(time.Second)
	return fmt.Sprintf("%s is not in the room and loses the floor in %s", At(m.Handle), max(left, time.Second))
}

// noSkip is the refusal of who may not hand on the floor, where the human has it:
// nobody can ask for it then.
func (d *decision) noSkip(err error) error {
	m := d.r.member(d.r.Holder)
	if m == nil || !m.Human || !fault.Is(err, fault.Denied) {
		return err
	}
	when := d.lapse()
	if when == "" {
		when = "the person's turn has no limit"
	}
	return fault.New(fault.Denied, "%w", err).WithHint("%s; wait with: bureau room wait %s", when, d.r.Name)
}
