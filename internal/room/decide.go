package room

import (
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Command is something that somebody wants to do in a room.
type Command interface {
	decide(d *decision) error
	by() Caller
	// speaks says that the command uses its caller's own turn, which then does
	// not end just before, however late it is.
	speaks() bool
}

// Evidence is what the office knows about the world at the moment of a
// decision. What it proves becomes events of the decision.
type Evidence struct {
	Gone  []Absence
	Names Names // who is called what now; nil for the names of before
}

// Absence says that a member's process is proved to have ended. It counts for
// nothing against the human, who is not a process, and against the caller of
// the command, who is plainly alive. Of one who has left it says that nobody
// can come back as it from there.
type Absence struct {
	Handle name.Name
	How    string // what proves it, for the notice
}

// Decide gives the events of a command, or a refusal. now is the moment of the
// decision; a moment before the room's last event counts as that event's. What
// is due by then ends first, what the evidence proves comes next, then the
// command. No events and no refusal means that nothing is to be done. r is not
// changed.
//
// A refusal comes with the events that are so whatever was asked: somebody is
// gone, a turn has run out, and who was invited and tries to act is there. What
// the refusal says of the room is the state behind these events, so they are to
// be stored with it, in a record that is not the command's.
//
// Refusals carry a code, a next step and, where a program can use it, a detail
// ([NotYourTurn], [NotStarted], [Nobody]).
func Decide(r *Room, c Command, now time.Time, known Evidence) ([]event.Event, error) {
	d, err := decide(r, c, now, known)
	if d == nil {
		return nil, err
	}
	return d.events, err
}

func decide(r *Room, c Command, now time.Time, known Evidence) (*decision, error) {
	if r.Unknown != "" {
		return nil, fault.New(fault.Unavailable, "room %s holds %q, written by a newer bureau", r.Name, r.Unknown).
			WithHint("install the newer bureau on this machine too")
	}
	if now = stamp(now); now.Before(r.Last) {
		now = r.Last
	}
	d := &decision{r: r.clone(), now: now, known: known}
	if _, opens := c.(OpenRoom); !opens && !r.Exists() {
		return nil, missing()
	}
	if r.Status == Open {
		d.expire(c)
		d.bury(c, known.Gone)
		d.correct(c)
		d.settle()
	}
	d.keep()
	if err := c.decide(d); err != nil {
		d.events = d.events[:d.kept]
		return d, err
	}
	d.settle()
	return d, nil
}

// decision collects events and applies each one as it is made, so that every
// rule looks at the state that it will be stored on.
type decision struct {
	r      *Room
	now    time.Time
	known  Evidence
	events []event.Event
	kept   int // how many of them a refusal leaves
}

// keep notes that all events so far are so, whatever becomes of the command.
func (d *decision) keep() { d.kept = len(d.events) }

func (d *decision) emit(kind event.Kind, data any) {
	e := event.New(kind, data)
	d.events = append(d.events, e)
	d.r.Apply(e, d.now)
}

// seq is the number of the entry about to be made.
func (d *decision) seq() int64 { return d.r.Seq + 1 }

// due reports whether a moment has come; the zero time never does.
func (d *decision) due(at time.Time) bool { return !at.IsZero() && !d.now.Before(at) }

// expire ends what is due, but not the turn of who speaks right now: it is
// late, and nobody has noticed before it came.
func (d *decision) expire(c Command) {
	for _, b := range slices.Clone(d.r.Proposals) {
		if d.due(b.Until) {
			d.result(b.Number, "deadline")
		}
	}
	if !d.r.Started && d.due(d.r.BarrierUntil) && d.r.agentsHere() > 0 {
		d.begin("limit", "")
	}
	if d.due(d.r.Until) {
		if own, ok := d.r.Own(c.by()); ok && own.Handle == d.r.Holder && c.speaks() {
			return
		}
		d.yield(KindLost, d.r.late(), "")
	}
}

// bury takes evidence of members' deaths.
func (d *decision) bury(c Command, gone []Absence) {
	for _, g := range gone {
		m := d.r.member(g.Handle)
		if m == nil || m.Human || !m.Here() || m.is(c.by()) {
			continue
		}
		d.depart(KindGone, m.Handle, g.How)
	}
}

// correct takes the floor from the human who has left, where he has it: there
// was a time when he was given it. His own command shows that he is there.
func (d *decision) correct(c Command) {
	if d.r.deserted() && !c.by().Human {
		d.yield(KindLost, lostLeft, "")
	}
}

// deserted reports whether who has the floor has left.
func (r *Room) deserted() bool {
	m := r.member(r.Holder)
	return m != nil && m.Human && m.Presence == Left
}

// depart notes that a member is not there any more, and takes its floor.
func (d *decision) depart(kind event.Kind, h name.Name, reason string) {
	d.emit(kind, Departure{Seq: d.seq(), Handle: h, Reason: reason})
	if d.r.Holder == h {
		why := lostLeft
		if kind == KindGone {
			why = lostGone
		}
		d.yield(KindLost, why, "")
	}
}

// open refuses everything in a closed room.
func (d *decision) open() error {
	if d.r.Status == Closed {
		return fault.New(fault.Conflict, "room %s is closed", d.r.Name).
			WithHint("read it with: bureau room history %s; or open a new one: bureau room open NAME", d.r.Name)
	}
	return nil
}

// acting finds the member as which a caller acts, there or not.
func (d *decision) acting(c Caller) (*Member, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	if err := noSeat(d.r, c); err != nil {
		return nil, err
	}
	own, found := d.r.Own(c)
	if c.As == "" {
		if found {
			return d.r.member(own.Handle), nil
		}
		return nil, fault.New(fault.Denied, "you take no part in room %s", d.r.Name).WithHint("join it first: bureau room join %s", d.r.Name)
	}
	h, err := Handle(c.As)
	if err != nil {
		return nil, err
	}
	if found && own.Handle.Key() == h.Key() {
		return d.r.member(own.Handle), nil
	}
	m := d.r.member(h)
	switch {
	case m == nil:
		return nil, d.noMember(c.As)
	case found:
		return nil, notThat(d.r, &own, m.Handle)
	}
	return nil, fault.New(fault.Denied, "%s in room %s is not you", At(m.Handle), d.r.Name).
		WithHint("join under a handle of your own: bureau room join %s", d.r.Name)
}

func notThat(r *Room, own *Member, h name.Name) error {
	return fault.New(fault.Denied, "you are %s in room %s and cannot act as %s", At(own.Handle), r.Name, At(h)).
		WithHint("act as %s, or leave the handle away", At(own.Handle))
}

// noSeat refuses a token that is no member's.
func noSeat(r *Room, c Caller) error {
	if _, found := r.Own(c); found || !c.Token || c.Seat == "" || c.Human {
		return nil
	}
	err := fault.New(fault.Denied, "no seat of yours in room %s has that token", r.Name)
	self := c
	self.Seat = ""
	if own, found := r.Own(self); found {
		return err.WithHint("without it you are %s; a token is what a join into a seat of its own gave", At(own.Handle))
	}
	return err.WithHint("give the one that your join printed, or take a new seat: bureau room join %s --new-seat", r.Name)
}

// Acts refuses a look under a handle or with the token of a seat that is not the
// caller's. Who takes no part in the room may look as far as the room lets him.
func Acts(r *Room, c Caller) error {
	if err := noSeat(r, c); err != nil {
		return err
	}
	own, found := r.Own(c)
	if !found || c.As == "" || c.Human {
		return nil
	}
	h, err := Handle(c.As)
	if err != nil || own.Handle.Key() == h.Key() {
		return err
	}
	return notThat(r, &own, h)
}

// here is acting for what needs presence. Who was invited, or whose process was
// gone, arrives by acting, whether the act is granted or not; who said that it
// leaves has to join again. What is wrong with a command by itself is refused
// before, and brings nobody in.
func (d *decision) here(c Caller) (*Member, error) {
	if c.Human && d.r.human() == nil && d.r.Status == Open {
		if h, err := Handle(c.As); c.As == "" || err == nil && h == User {
			d.arrive(KindJoined, Arrival{Handle: User, Human: true})
			d.keep()
		}
	}
	m, err := d.acting(c)
	if err != nil {
		if m = d.returning(c); m == nil {
			return nil, err
		}
	}
	switch {
	case m.Here() && m.from(c):
		return m, nil
	case m.Presence == Left && !m.Human:
		return nil, fault.New(fault.Conflict, "%s has left room %s", At(m.Handle), d.r.Name).WithHint("come back with: bureau room join %s", d.r.Name)
	}
	d.arriveAgain(m, c, "")
	d.keep()
	return d.r.member(m.Handle), nil
}

// free reports whether a caller may come as a member who is gone.
func (d *decision) free(m *Member, c Caller) bool {
	return d.r.Vacant(m, c, slices.ContainsFunc(d.known.Gone, func(g Absence) bool { return g.Handle == m.Handle }))
}

// returning finds the member as which a caller comes back who is known by that
// handle alone, nil if there is none. Who takes part under another handle does
// not slip into a further one by acting as it: it has to join, unless that one
// was in this very seat.
func (d *decision) returning(c Caller) *Member {
	h, err := Handle(c.As)
	m := d.r.member(h)
	if _, found := d.r.Own(c); err != nil || m == nil || found || d.r.Status != Open || !d.free(m, c) {
		return nil
	}
	if m.Agent == c.Agent && m.Seat == c.Seat {
		return m
	}
	for i := range d.r.Members {
		if o := &d.r.Members[i]; o.Here() && o.Agent == c.Agent && o.from(c) {
			return nil
		}
	}
	return m
}

// moderates refuses who has not the moderator's powers, and gives the name
// under which the others know who has.
func (d *decision) moderates(c Caller, what string) (string, error) {
	if err := d.open(); err != nil {
		return "", err
	}
	if err := noSeat(d.r, c); err != nil {
		return "", err
	}
	own, member := d.r.Own(c)
	if c.As != "" {
		if _, err := d.acting(c); err != nil {
			return "", err
		}
	}
	opener := d.r.Opener
	switch {
	case c.Human:
		return string(User), nil
	case member && own.Handle == d.r.Moderator:
		return string(own.Handle), nil
	case opener.Agent != "" && opener.Agent == c.Agent && opener.Seat == c.Seat:
		if member {
			return string(own.Handle), nil
		}
		return opener.Name, nil
	}
	who, ask := "the human", User
	switch mod := d.r.Moderator; {
	case mod != "" && mod != User:
		who, ask = At(mod)+", the moderator, or the human", mod
	case opener.Name != "" && !opener.Human:
		who = opener.Name + ", who opened it, or the human"
	}
	err := fault.New(fault.Denied, "only %s can %s in room %s", who, what, d.r.Name)
	if !member {
		return "", err.WithHint("you take no part in it; one who does, or the person, can ask for it there")
	}
	return "", err.
		WithHint("ask for it when you have the floor: bureau room say %s \"%s, please …\"", d.r.Name, At(ask))
}

// noMember refuses a word that means nobody, with those who may be meant.
func (d *decision) noMember(word string) error {
	var handles []string
	for i := range d.r.Members {
		handles = append(handles, string(d.r.Members[i].Handle))
		handles = append(handles, d.r.Members[i].Aliases...)
	}
	err := fault.New(fault.NotFound, "nobody called %.48q is in room %s", word, d.r.Name)
	if near := name.Suggest(word, handles, 1); len(near) > 0 {
		return err.WithHint("did you mean %s? bureau room show %s lists its members", At(name.Name(near[0])), d.r.Name)
	}
	return err.WithHint("bureau room show %s lists its members", d.r.Name)
}
