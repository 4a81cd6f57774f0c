package room

import (
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Join makes its caller a member who is there: for the first time, or again.
// Joining where one is already changes nothing. The handle is bound to the
// caller from then on.
type Join struct {
	By   Caller // As is the handle; "" for the one it has
	Name string // for display; "" keeps the old one
}

func (c Join) by() Caller   { return c.By }
func (c Join) speaks() bool { return false }

func (c Join) decide(d *decision) error {
	if err := d.open(); err != nil {
		return err
	}
	shown, err := label("display name", c.Name)
	if err != nil {
		return err
	}
	h, err := d.joinAs(c.By)
	if err != nil {
		return err
	}
	own, bound := d.r.Own(c.By)
	if bound && own.Handle.Key() != h.Key() {
		return fault.New(fault.Conflict, "you are %s in room %s already", At(own.Handle), d.r.Name).
			WithHint("join without a handle, or ask for a seat of its own for %s", At(h))
	}
	m := d.r.member(h)
	if m == nil {
		return d.joinNew(c, h, shown)
	}
	if !bound {
		if err := d.mayTake(m, c.By); err != nil {
			return err
		}
	}
	if m.Here() && m.from(c.By) {
		return nil // bound to this caller: it is there
	}
	d.arriveAgain(m, c.By, shown)
	return nil
}

// joinAs finds the handle that a caller joins as.
func (d *decision) joinAs(c Caller) (name.Name, error) {
	if c.Human {
		if c.As != "" {
			if h, err := Handle(c.As); err != nil || h != User {
				return "", fault.New(fault.Invalid, "the human takes part as @user, not as %.48q", c.As).WithHint("leave the handle away")
			}
		}
		return User, nil
	}
	if c.As != "" {
		h, err := Handle(c.As)
		if err == nil && h == User {
			return "", fault.New(fault.Denied, "@user is the human, and you are not").WithHint("join under a handle of your own")
		}
		return h, err
	}
	if own, ok := d.r.Own(c); ok {
		return own.Handle, nil
	}
	for i := range d.r.Members {
		if m := &d.r.Members[i]; m.Agent == c.Agent && c.Agent != "" && !m.Here() && !m.Loose {
			return m.Handle, nil // invited by its id, or back in a new seat
		}
	}
	if c.Name != "" {
		return Handle(c.Name)
	}
	return "", fault.New(fault.Invalid, "you have no handle in room %s", d.r.Name).WithHint("say which: bureau room join %s --as-handle HANDLE", d.r.Name)
}

// mayTake refuses a seat that is somebody else's.
func (d *decision) mayTake(m *Member, c Caller) error {
	switch {
	case m.Human && c.Human:
		return nil
	case m.Human || c.Human:
		return fault.New(fault.Denied, "%s is not you", At(m.Handle)).WithHint("join under a handle of your own")
	case c.Agent == "":
		return fault.New(fault.Denied, "only a known agent or the human joins a room").WithHint("take a name first: bureau register NAME")
	case m.Agent == "" || d.free(m, c):
		return nil
	case m.Agent == c.Agent && !m.Here():
		return nil // the same agent in a new seat: its old process is gone
	case m.Agent == c.Agent:
		return fault.New(fault.Denied, "%s is held by another seat of your session", At(m.Handle)).
			WithHint("give the seat token that its join returned, or join under another handle")
	}
	return fault.New(fault.Denied, "%s in room %s belongs to another agent", At(m.Handle), d.r.Name).WithHint("join under a handle of your own")
}

func (d *decision) joinNew(c Join, h name.Name, shown string) error {
	if c.By.Human {
		d.arrive(KindJoined, Arrival{Handle: User, Human: true, Name: shown})
		return nil
	}
	if c.By.Agent == "" {
		return d.mayTake(&Member{Handle: h}, c.By)
	}
	if others := d.called(string(h)); len(others) > 0 {
		return fault.New(fault.Conflict, "%s means %s in room %s", At(h), ats(others), d.r.Name).
			WithHint("join under that handle if it is yours, or under another")
	}
	if d.r.Settings.Admission == Listed {
		return fault.New(fault.Denied, "%s is not invited to room %s", At(h), d.r.Name).
			WithHint("a member, or the person, can invite you: bureau room invite %s %s", d.r.Name, h)
	}
	if len(d.r.Members) >= MaxMembers {
		return fault.New(fault.Conflict, "room %s has %d members already", d.r.Name, MaxMembers).WithHint("open another room")
	}
	a := Arrival{Handle: h, Name: shown}
	a.bind(d.r, c.By)
	d.arrive(KindJoined, a)
	return nil
}

// bind says in an arrival who it is that comes.
func (a *Arrival) bind(r *Room, c Caller) {
	a.Agent, a.Seat, a.Session = c.Agent, c.Seat, c.Session
	a.Loose = r.Loose && c.Loose && c.Session != ""
}

// arriveAgain lets an absent member in, as a first arrival or as a return, or
// one who is there and goes on in another session. That one keeps the floor, if
// it has it: nobody has noticed that it was gone.
func (d *decision) arriveAgain(m *Member, c Caller, shown string) {
	kind := KindReturned
	if m.Joined.IsZero() {
		kind = KindJoined
	}
	a := Arrival{Handle: m.Handle, Human: m.Human, Name: shown}
	if !m.Human {
		a.bind(d.r, c)
	}
	d.arrive(kind, a)
}

func (d *decision) arrive(kind event.Kind, a Arrival) {
	a.Seq = d.seq()
	if limit := d.r.Settings.Barrier.Limit; !d.r.Started && limit > 0 && !a.Human && d.r.agentsHere() == 0 {
		a.BarrierUntil = d.now.Add(limit)
	}
	d.emit(kind, a)
	d.settle()
}

// Attend makes a member who was invited, or whose session was gone, be there, as
// every other act of its does.
type Attend struct{ By Caller }

func (c Attend) by() Caller   { return c.By }
func (c Attend) speaks() bool { return true }

func (c Attend) decide(d *decision) error {
	_, err := d.here(c.By)
	return err
}

// Leave says that a member goes. It can come back with [Join].
type Leave struct {
	By     Caller
	Reason string // for the notice
}

func (c Leave) by() Caller   { return c.By }
func (c Leave) speaks() bool { return false }

func (c Leave) decide(d *decision) error {
	m, err := d.acting(c.By)
	if err != nil {
		return err
	}
	reason, err := label("reason", c.Reason)
	if err != nil {
		return err
	}
	if m.Presence == Left {
		return nil
	}
	d.depart(KindLeft, m.Handle, reason)
	return nil
}

// Close ends a room for good. Only the moderator, the opener and the human can;
// with Force every member can, and anybody once nobody is there. Closing a
// closed room does nothing.
type Close struct {
	By      Caller
	Summary string
	Force   bool // it makes room for another one of the same name
}

func (c Close) by() Caller   { return c.By }
func (c Close) speaks() bool { return false }

func (c Close) decide(d *decision) error {
	if d.r.Status == Closed {
		return nil
	}
	if !utf8.ValidString(c.Summary) {
		return fault.New(fault.Invalid, "the summary is not valid UTF-8").WithHint("send it as UTF-8")
	}
	if len(c.Summary) > MaxSummary {
		return fault.New(fault.Invalid, "the summary has %d bytes; the limit is %d", len(c.Summary), MaxSummary).WithHint("put the rest into a message")
	}
	by, err := d.moderates(c.By, "close it")
	if err != nil {
		own, member := d.r.Own(c.By)
		switch {
		case c.Force && member:
			by = string(own.Handle)
		case c.Force && len(Attending(d.r)) == 0:
			by = c.By.Name
		default:
			return err
		}
	}
	for len(d.r.Proposals) > 0 {
		d.result(d.r.Proposals[0].Number, "closed")
	}
	d.emit(KindClosed, ClosedBy{Seq: d.seq(), By: by, Summary: c.Summary, Forced: c.Force})
	return nil
}
