package mail

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// Command is something that somebody wants to do to a thread.
type Command interface {
	decide(d *decision) error
}

// Namer gives an agent's name, for refusals that people and models read.
type Namer func(event.ID) string

// Decide gives the events of a command, or a refusal. now is the moment of the
// decision and is never earlier than the thread's last event; what is due by
// then ends first. name is asked only for the words of a refusal. t is not
// changed.
func Decide(t *Thread, c Command, now time.Time, name Namer) ([]event.Event, error) {
	d, err := decide(t, c, now, name)
	if err != nil {
		return nil, err
	}
	return d.events, nil
}

func decide(t *Thread, c Command, now time.Time, name Namer) (*decision, error) {
	if t.Unknown != "" {
		return nil, fault.New(fault.Unavailable, "thread %s holds %q, written by a newer bureau", t.ID, t.Unknown).
			WithHint("install the newer bureau on this machine too")
	}
	if now.Before(t.Last) {
		now = t.Last
	}
	d := &decision{t: t.clone(), now: now, name: name}
	if t.Exists() {
		d.expire()
	}
	if err := c.decide(d); err != nil {
		return nil, err
	}
	return d, nil
}

// decision collects events and applies each one as it is made, so that every
// rule looks at the state that it will be stored on.
type decision struct {
	t      *Thread
	now    time.Time
	name   Namer
	events []event.Event
}

func (d *decision) emit(kind event.Kind, data any) {
	e := event.New(kind, data)
	d.events = append(d.events, e)
	d.t.Apply(e, d.now)
}

// expire ends what is due.
func (d *decision) expire() {
	for _, q := range slices.Clone(d.t.Questions) {
		if Due(q.Expires, d.now) {
			d.emit(KindEnded, EndedQuestion{ID: q.ID, Asked: q.Asked, Reason: "expired"})
		}
	}
	for _, x := range slices.Clone(d.t.Deadlines) {
		if Due(x.At, d.now) {
			d.emit(KindExpired, ExpiredMessage{ID: x.ID})
		}
	}
}

func (t *Thread) clone() *Thread {
	c := *t
	c.Members = slices.Clone(t.Members)
	c.Questions = slices.Clone(t.Questions)
	c.Deadlines = slices.Clone(t.Deadlines)
	return &c
}

// OpenThread begins a thread.
type OpenThread struct {
	Thread  event.ID
	Subject string
	Owner   event.ID
	Members []event.ID // besides the owner
	Hops    int        // 0: DefaultHops
}

func (c OpenThread) decide(d *decision) error {
	if d.t.Exists() {
		return fault.New(fault.Conflict, "thread %s exists already", c.Thread)
	}
	hops := c.Hops
	if hops == 0 {
		hops = DefaultHops
	}
	if hops < 1 || hops > MaxHops {
		return fault.New(fault.Invalid, "a thread cannot have %d hops", hops).WithHint("choose between 1 and %d", MaxHops)
	}
	members := []event.ID{c.Owner}
	for _, m := range c.Members {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	if len(members) > MaxMembers {
		return fault.New(fault.Invalid, "a thread of %d participants is too large", len(members)).
			WithHint("at most %d take part in one thread; write to project:NAME or @all instead", MaxMembers)
	}
	d.emit(KindOpened, Opened{Thread: c.Thread, Subject: c.Subject, Owner: c.Owner, Members: members, Hops: hops})
	return nil
}

// Add makes another agent a participant.
type Add struct {
	By, Agent event.ID
}

func (c Add) decide(d *decision) error {
	if err := d.mayWrite(c.By); err != nil {
		return err
	}
	return d.join(c.Agent, c.By)
}

func (d *decision) join(agent, by event.ID) error {
	if d.t.Has(agent) {
		return nil
	}
	if len(d.t.Members) >= MaxMembers {
		return fault.New(fault.Conflict, "thread %s has %d participants already", d.t.ID, MaxMembers).
			WithHint("open another thread")
	}
	d.emit(KindJoined, Joined{Agent: agent, By: by})
	return nil
}

// Grant adds hops; the owner can, and who stands in for it.
type Grant struct {
	By   event.ID
	Hops int
	StandIn
}

// StandIn says who besides the owner may do what is the owner's.
type StandIn struct {
	// Person: it is the person who runs the office, who may in every thread.
	Person bool
	// Orphaned: the owner is retired and will never do it, so every
	// participant may.
	Orphaned bool
}

func (c Grant) decide(d *decision) error {
	if err := d.mayOwn(c.By, c.StandIn, "grant hops"); err != nil {
		return err
	}
	if d.t.Status == Closed {
		return d.closed()
	}
	if c.Hops < 1 || d.t.Hops+c.Hops > MaxHops {
		return fault.New(fault.Invalid, "cannot grant %d hops: the thread has had %d", c.Hops, d.t.Hops).
			WithHint("a thread can have up to %d in all", MaxHops)
	}
	d.emit(KindGranted, Granted{By: c.By, Hops: c.Hops})
	return nil
}

// Close ends a thread for good; the owner can, and who stands in for it.
// Closing a closed thread does nothing.
type Close struct {
	By     event.ID
	Reason string
	StandIn
}

func (c Close) decide(d *decision) error {
	if err := d.mayOwn(c.By, c.StandIn, "close it"); err != nil {
		return err
	}
	if d.t.Status == Closed {
		return nil
	}
	for _, q := range slices.Clone(d.t.Questions) {
		d.emit(KindEnded, EndedQuestion{ID: q.ID, Asked: q.Asked, Reason: "closed"})
	}
	d.emit(KindClosed, ClosedBy{By: c.By, Reason: c.Reason})
	return nil
}

// Leave ends every open question that was put to an agent who is gone for
// good, or that it asked: nobody waits for an answer that cannot come.
type Leave struct {
	Agent  event.ID
	Reason string
}

func (c Leave) decide(d *decision) error {
	for _, q := range slices.Clone(d.t.Questions) {
		if q.Asked == c.Agent || q.Asker == c.Agent {
			d.emit(KindEnded, EndedQuestion{ID: q.ID, Asked: q.Asked, Reason: c.Reason})
		}
	}
	return nil
}

// Withdraw takes back an open question; only its asker can.
type Withdraw struct {
	By, Question event.ID
}

func (c Withdraw) decide(d *decision) error {
	if err := d.mayKnow(c.By); err != nil {
		return err
	}
	found := false
	for _, q := range slices.Clone(d.t.Questions) {
		if q.ID != c.Question {
			continue
		}
		if q.Asker != c.By {
			return fault.New(fault.Denied, "question %s was asked by %s", q.ID, d.name(q.Asker)).WithHint("only the asker takes it back")
		}
		found = true
		d.emit(KindEnded, EndedQuestion{ID: q.ID, Asked: q.Asked, Reason: "withdrawn"})
	}
	if !found {
		return fault.New(fault.NotFound, "no open question %s in thread %s", c.Question, d.t.ID).
			WithHint("bureau thread show %s lists what is open", d.t.ID)
	}
	return nil
}

// Sweep ends what is due and does nothing else.
type Sweep struct{}

func (Sweep) decide(*decision) error { return nil }

// mayKnow refuses who takes no part: a stranger who has the id of a thread
// learns nothing more about it, not even whose it is.
func (d *decision) mayKnow(agent event.ID) error {
	if !d.t.Exists() {
		return fault.New(fault.NotFound, "no such thread").WithHint("bureau thread list shows yours")
	}
	if !d.t.Has(agent) {
		return fault.New(fault.Denied, "%s takes no part in thread %s", d.name(agent), d.t.ID).
			WithHint("a participant can add you: bureau thread add %s %s", d.t.ID, d.name(agent))
	}
	return nil
}

// mayWrite refuses who takes no part, and everybody once it is closed.
func (d *decision) mayWrite(agent event.ID) error {
	if err := d.mayKnow(agent); err != nil {
		return err
	}
	if d.t.Status == Closed {
		return d.closed()
	}
	return nil
}

func (d *decision) mayOwn(agent event.ID, instead StandIn, what string) error {
	if instead.Person && d.t.Exists() {
		return nil
	}
	if err := d.mayKnow(agent); err != nil {
		return err
	}
	if d.t.Owner != agent && !instead.Orphaned {
		return fault.New(fault.Denied, "thread %s belongs to %s", d.t.ID, d.name(d.t.Owner)).
			WithHint("only the owner can %s, and the person at a plain terminal", what)
	}
	return nil
}

func (d *decision) closed() error {
	return fault.New(fault.Conflict, "thread %s is closed", d.t.ID).WithHint("write without a thread to start a new one")
}

// names joins agents' names for a sentence.
func (d *decision) names(agents []event.ID) string {
	words := make([]string, len(agents))
	for i, a := range agents {
		words[i] = d.name(a)
	}
	return strings.Join(words, ", ")
}

// list renders open questions for a refusal.
func (d *decision) list(qs []OpenQuestion) string {
	words := make([]string, len(qs))
	for i, q := range qs {
		words[i] = fmt.Sprintf("%s from %s", q.ID, d.name(q.Asker))
	}
	return strings.Join(words, ", ")
}
