package room

import (
	"cmp"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Why a turn came, as [Turn] says it.
const (
	turnFirst = "first" // the meeting begins
	turnQueue = "queue" // it was next
	turnEmpty = "empty" // nobody waits: the moderator
	turnHand  = "hand"  // the moderator or the human gave it
	turnFree  = "free"  // nobody has it, anybody may speak
)

// Why a floor was yielded, as [Yield] says it.
const (
	lostLimit = "limit"
	lostGone  = "gone"
	lostLeft  = "left"
	lostAway  = "away" // the human's, who is not there and did not come within the limit
	yieldPass = "pass"
	yieldSkip = "skip"
)

// queue lists those who wait, the next one first: who is there and has points,
// the holder not among them.
func (r *Room) queue() []*Member {
	var out []*Member
	here := 0
	for i := range r.Members {
		m := &r.Members[i]
		if m.Expected() {
			here++
		}
		if m.waits() && m.Handle != r.Holder {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *Member) int { return r.before(a, b, here) })
	return out
}

// before orders the queue. Under Score a member that was passed over by as many
// turns as there are people goes first, which bounds everybody's wait.
func (r *Room) before(a, b *Member, here int) int {
	if r.Settings.Queue == Score {
		oldA, oldB := a.Passed >= here, b.Passed >= here
		switch {
		case oldA && !oldB:
			return -1
		case oldB && !oldA:
			return 1
		case oldA:
			return cmp.Compare(a.Place, b.Place)
		case a.rank() != b.rank():
			return cmp.Compare(b.rank(), a.rank())
		}
	}
	return cmp.Compare(a.Place, b.Place)
}

// rank is what a member's points count for in the queue: for one, if it lost
// the floor; so it stands behind all who waited then, whatever they have.
func (m *Member) rank() int {
	if m.Tail {
		return 1
	}
	return m.Points
}

// settle opens the barrier when it is time and gives the floor to whoever is
// next when nobody has it. It runs after everything that may have changed
// either.
func (d *decision) settle() {
	r := d.r
	if r.Status != Open {
		return
	}
	if !r.Started {
		if why := r.complete(); why != "" {
			d.begin(why, "")
		}
		return
	}
	if r.Holder != "" {
		d.rebind()
		return
	}
	for _, m := range r.queue() {
		if !m.Silent {
			d.turn(m.Handle, turnQueue)
			return
		}
	}
	if m := r.member(r.Moderator); m != nil && r.Settings.Empty == ToModerator && m.Here() && !m.Silent {
		d.turn(m.Handle, turnEmpty)
		return
	}
	if !r.Free && slices.ContainsFunc(r.Members, func(m Member) bool { return m.Here() }) {
		d.emit(KindTurn, Turn{Seq: d.seq(), Why: turnFree})
	}
}

// begin opens the barrier and gives the floor to who begins.
func (d *decision) begin(why, by string) {
	absent, _ := Missing(d.r)
	d.emit(KindStarted, Began{Seq: d.seq(), Why: why, By: by, Missing: absent})
	if len(d.r.queue()) == 0 {
		if h := d.r.opening(); h != "" {
			d.turn(h, turnFirst)
			return
		}
	}
	d.settle()
}

// opening is who begins: the one named for it, else the first of those there,
// in the order in which they were named and then came.
func (r *Room) opening() name.Name {
	if m := r.member(r.First); m != nil && m.Expected() {
		return m.Handle
	}
	human := name.Name("")
	for i := range r.Members {
		switch m := &r.Members[i]; {
		case m.Here() && !m.Human:
			return m.Handle
		case m.Here():
			human = m.Handle
		}
	}
	return human
}

// complete says why the barrier can open by itself now, or "".
func (r *Room) complete() string {
	if r.agentsHere() == 0 {
		return ""
	}
	absent, more := Missing(r)
	switch r.Settings.Barrier.Gate {
	case GateCount:
		if more == 0 {
			return string(GateCount)
		}
	case GateDeclared:
		if len(absent) == 0 {
			return string(GateDeclared)
		}
	}
	return ""
}

func (d *decision) turn(h name.Name, why string) {
	d.emit(KindTurn, Turn{Holder: h, Why: why, Until: d.until(d.r.member(h))})
}

// yield takes the floor from its holder with a notice.
func (d *decision) yield(kind event.Kind, why, by string) {
	d.emit(kind, Yield{Seq: d.seq(), Handle: d.r.Holder, Why: why, By: by})
}

// mayHold refuses who may not speak now.
func (d *decision) mayHold(m *Member) error {
	r := d.r
	if r.Settings.Floor == OpenTalk {
		return nil
	}
	if !r.Started {
		return d.notStarted()
	}
	if r.Holder == "" || r.Holder == m.Handle {
		return nil
	}
	return d.notYourTurn(m)
}

// NotYourTurn is the detail of a refusal: who has the floor and who is next.
type NotYourTurn struct {
	Status  string      `json:"status"` // not_your_turn
	Holder  name.Name   `json:"holder"`
	Queue   []name.Name `json:"queue"`
	Present []name.Name `json:"present"`
	Until   time.Time   `json:"until,omitzero"` // when the holder loses it
}

func (d *decision) notYourTurn(m *Member) error {
	r := d.r
	detail := NotYourTurn{Status: "not_your_turn", Holder: r.Holder, Queue: Queue(r), Present: Attending(r), Until: r.Until}
	err := fault.New(fault.Conflict, "%s has the floor in room %s, not %s", At(r.Holder), r.Name, At(m.Handle)).WithDetail(detail)
	lapse := d.lapse()
	if lapse != "" {
		lapse += "; "
	}
	switch place := slices.Index(detail.Queue, m.Handle); {
	case m.Human:
		return err.WithHint("take it with: bureau room skip %s --to user", r.Name)
	case place == 0:
		return err.WithHint("%syou are next; wait with: bureau room wait %s", lapse, r.Name)
	case place > 0:
		return err.WithHint("%syou come after %s; wait with: bureau room wait %s", lapse, ats(detail.Queue[:place]), r.Name)
	case m.Handle == r.Moderator:
		return err.WithHint("as the moderator you can take it: bureau room skip %s --to %s; or wait with: bureau room wait %s", r.Name, m.Handle, r.Name)
	case lapse != "":
		return err.WithHint("%swait with: bureau room wait %s", lapse, r.Name)
	}
	return err.WithHint("somebody who has the floor must mention you; wait with: bureau room wait %s", r.Name)
}

// NotStarted is the detail of a refusal: whom the room waits for.
type NotStarted struct {
	Status  string      `json:"status"` // waiting
	Missing []name.Name `json:"missing"`
	More    int         `json:"more"` // how many have to come
	Present []name.Name `json:"present"`
	Until   time.Time   `json:"until,omitzero"` // when it begins without them
}

func (d *decision) notStarted() error {
	absent, more := Missing(d.r)
	err := fault.New(fault.Conflict, "room %s has not begun: %s", d.r.Name, waitsFor(absent, more)).
		WithDetail(NotStarted{"waiting", absent, more, Attending(d.r), d.r.BarrierUntil})
	return err.WithHint("wait with: bureau room wait %s; its moderator can begin with: bureau room start %s", d.r.Name, d.r.Name)
}

// Pass gives up a turn without a word.
type Pass struct{ By Caller }

func (c Pass) by() Caller   { return c.By }
func (c Pass) speaks() bool { return true }

func (c Pass) decide(d *decision) error {
	m, err := d.here(c.By)
	if err != nil {
		return err
	}
	if err := d.held(); err != nil {
		return err
	}
	if d.r.Holder != m.Handle {
		return d.notYourTurn(m)
	}
	d.yield(KindPassed, yieldPass, "")
	return nil
}

// Skip takes the floor from its holder and gives it to the next, or to To. Only
// the moderator, the opener and the human can. The holder's turn counts as
// used.
type Skip struct {
	By Caller
	To string // "": whoever is next
}

func (c Skip) by() Caller   { return c.By }
func (c Skip) speaks() bool { return false }

func (c Skip) decide(d *decision) error {
	by, err := d.moderates(c.By, "hand on the floor")
	if err != nil {
		return d.noSkip(err)
	}
	if !d.r.Started {
		return d.notStarted()
	}
	to, err := d.handTo(c, by)
	if err != nil {
		return err
	}
	if to == "" {
		if err := d.held(); err != nil {
			return err
		}
	}
	if to != "" && to == d.r.Holder {
		return nil
	}
	if d.r.Holder != "" {
		d.yield(KindSkipped, yieldSkip, by)
	}
	if to != "" {
		d.turn(to, turnHand)
	}
	return nil
}

// handTo finds who is to get the floor. The human who takes it is there by that.
func (d *decision) handTo(c Skip, by string) (name.Name, error) {
	if c.To == "" {
		return "", nil
	}
	h, err := Handle(c.To)
	if err != nil {
		return "", err
	}
	if h == User && c.By.Human {
		if _, err := d.here(c.By); err != nil {
			return "", err
		}
	}
	if h == User && d.r.human() == nil {
		d.invite(Invitee{Handle: User}, by)
	}
	found := d.called(c.To)
	if len(found) != 1 {
		return "", d.noMember(c.To)
	}
	m := d.r.member(found[0])
	if !m.Expected() {
		return "", fault.New(fault.Conflict, "%s is not there (%s)", At(m.Handle), m.Presence).WithHint("there are %s", ats(Attending(d.r)))
	}
	return m.Handle, nil
}

// held refuses when nobody has the floor.
func (d *decision) held() error {
	if d.r.Holder != "" {
		return nil
	}
	if !d.r.Started {
		return d.notStarted()
	}
	return fault.New(fault.Conflict, "nobody has the floor in room %s", d.r.Name).WithHint("whoever speaks first has it: bureau room say %s TEXT", d.r.Name)
}

// Start opens the barrier. Only the moderator, the opener and the human can;
// a room that has begun stays as it is.
type Start struct{ By Caller }

func (c Start) by() Caller   { return c.By }
func (c Start) speaks() bool { return false }

func (c Start) decide(d *decision) error {
	by, err := d.moderates(c.By, "begin")
	if err != nil {
		return err
	}
	if d.r.Started {
		return nil
	}
	if len(Attending(d.r)) == 0 {
		return fault.New(fault.Conflict, "nobody is in room %s yet", d.r.Name).WithHint("it can begin when one has joined: bureau room join %s", d.r.Name)
	}
	d.begin(string(GateWord), by)
	return nil
}

// Sweep ends what is due and does nothing else.
type Sweep struct{}

func (Sweep) by() Caller             { return Caller{} }
func (Sweep) speaks() bool           { return false }
func (Sweep) decide(*decision) error { return nil }
