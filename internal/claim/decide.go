package claim

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// View is what a decision looks up in one project.
type View interface {
	Rules() (Rules, error)
	// Claim finds a live claim.
	Claim(id event.ID) (c Claim, found bool, err error)
	// Touching lists the live claims that may overlap a want, in any work
	// tree: more than those is allowed, fewer is not.
	Touching(w *Want) ([]Claim, error)
	// Held lists an agent's live claims, oldest first.
	Held(agent event.ID) ([]Claim, error)
	// HeldCount is how many those are.
	HeldCount(agent event.ID) (int, error)
	// Lost lists the claims that an agent lost and has not claimed anew; "" means
	// whoever lost them.
	Lost(agent event.ID) ([]Finished, error)
	// Waits lists the places in the queue, first come first.
	Waits() ([]Wait, error)
	// Parked lists the claims whose time to be resumed has passed.
	Parked(before time.Time) ([]Claim, error)
}

// By is who gives a command.
type By struct {
	Agent event.ID
	For   event.ID // the agent whose subagent it is
	// Shell says that a command gave it which any of a session's agents may have
	// run: a subagent's shell looks like its main agent's.
	Shell bool
	Human bool // the person: may release and break whatever it is
	// Conversations are the ones that it speaks for, its own first: those that
	// it goes on from, and, for a subagent, those of its session.
	Conversations []string
}

// speaks reports whether a claim of this conversation may be the caller's.
func (b *By) speaks(conversation string) bool {
	return conversation == "" || slices.Contains(b.Conversations, conversation)
}

// Holds reports whether a claim is the caller's own: its conversation's, where
// it has one.
func (b *By) Holds(c *Claim) bool { return c.Holder == b.Agent && b.speaks(c.Conversation) }

// Below reports whether a claim is held by a subagent of the caller's session.
func (b *By) Below(c *Claim) bool {
	return c.For != "" && c.For == b.Agent && b.speaks(mainOf(c.Conversation))
}

// conversation gives the one that it holds claims as, "" for none.
func (b *By) conversation() string {
	if len(b.Conversations) == 0 {
		return ""
	}
	return b.Conversations[0]
}

// Decision is what became of a command.
type Decision struct {
	Events []event.Event
	Claim  Claim // as it stands after the events (without its token); zero if there is none
	// Blocks stand in the way; with a place in the queue that is no refusal.
	Blocks []Block
	Meets  []Block // held by others in other work trees
	Shares []Block // held by others, shared, like what a guard lets the caller change
	Wait   *Wait   // the place in the queue
	// Known says that the holder had it already and nothing was decided.
	Known bool
	// Ends are claims of other projects that are over and were in the way. Like
	// Events they are to be kept in any case.
	Ends []Ending
	// Moves are claims of other projects that get a new holder along with what
	// was decided.
	Moves []Moving
	// With are the claims that went along with one that was taken over, as they
	// were: what lay within it has ended, what runs without a session is adopted.
	With []Claim
	// Looks are the claims whose things were, or have to be, looked at.
	Looks []Claim
}

// Command is something that somebody wants to happen to a project's claims.
type Command interface {
	decide(d *decider) (Decision, error)
}

type decider struct {
	look
	out    Decision
	around reach   // what clear found in other projects
	our    []Claim // see ours
}

func (d *decider) add(kind event.Kind, data any) {
	d.out.Events = append(d.out.Events, event.New(kind, data))
}

// Decide gives what a command does. Errors: invalid for a command that makes
// no sense; conflict, with the []Block as detail, for what others hold; denied
// for what belongs to another; not_found. Whatever it returns, Decision.Events
// that come with an error are to be kept too: they end what was due.
func Decide(v View, by By, c Command, now time.Time, ev Evidence) (Decision, error) {
	rules, err := v.Rules()
	if err != nil {
		return Decision{}, err
	}
	d := decider{look: look{v: v, ev: &ev, rules: rules, now: now, by: by}}
	return c.decide(&d)
}

// Take claims what is wanted, all of it or nothing.
type Take struct {
	ID     event.ID // of the new claim
	Want   Want
	Intent string
	Task   string
	Files  []string
	TTL    time.Duration // 0: the project's
	Keep   bool
	// Apart refuses things that the holder itself has already, where several
	// processes work in one name and each wants to be the only one.
	Apart bool
	// Wait asks for a place in the queue if something stands in the way, with
	// this id, until this moment; its second and later attempts name the same.
	Wait  event.ID
	Until time.Time
	// Rejoin goes on from a place in the queue that the holder has already for
	// the same want, whatever its id. Without Wait a refusal leaves it there.
	Rejoin bool
}

func (c Take) decide(d *decider) (Decision, error) {
	if err := c.Want.check(); err != nil {
		return Decision{}, err
	}
	if err := checkText(&c.Intent, c.TTL, c.Files); err != nil {
		return Decision{}, err
	}
	if c.Intent == "" {
		return Decision{}, fault.New(fault.Invalid, "a claim needs an intent").WithHint("say what you are about to do: --intent \"rename the parser\"")
	}
	held, err := d.held()
	if err != nil {
		return Decision{}, err
	}
	for i := range held {
		h := &held[i]
		if c.Apart && slices.ContainsFunc(h.Resources, func(r Resource) bool { return slices.Contains(c.Want.Resources, r) }) {
			d.out.Blocks = append(d.out.Blocks, d.block(h, want(h)))
			return d.out, d.refusal()
		}
		if sameWant(&h.Want, &c.Want) && !h.Auto {
			return d.again(c, h)
		}
	}
	if len(held) >= MaxHeld {
		return Decision{}, fault.New(fault.Invalid, "that would be claim %d of one holder; the limit is %d", len(held)+1, MaxHeld).
			WithHint("release what is finished, or claim a folder instead of its files")
	}
	place := event.Seq(0)
	waits, err := d.v.Waits()
	if err != nil {
		return Decision{}, err
	}
	asks := c.Wait != ""
	waiting := slices.IndexFunc(waits, func(w Wait) bool {
		return w.Agent == d.by.Agent && (asks && w.ID == c.Wait || c.Rejoin && d.rejoins(&w, &c.Want))
	})
	if waiting >= 0 {
		place, c.Wait = waits[waiting].Seq, waits[waiting].ID
	}
	if err := d.clear(&c.Want, place, false); err != nil {
		return Decision{}, err
	}
	// What its own subagents' edits claimed on the way goes along with it: they
	// may change what it holds, and it may be one of them that asks.
	d.out.Blocks = slices.DeleteFunc(d.out.Blocks, func(b Block) bool { return b.Own && b.Auto })
	if len(d.out.Blocks) == 0 {
		d.grant(c, waiting >= 0, held)
		return d.out, nil
	}
	// Others first: to wait for oneself is no way out.
	slices.SortStableFunc(d.out.Blocks, func(a, b Block) int { return compareBool(a.Own, b.Own) })
	if !asks || !d.now.Before(c.Until) || d.by.Shell && d.out.Blocks[0].Own {
		if waiting >= 0 && asks {
			d.add(KindWaitEnded, WaitEnded{Wait: c.Wait, How: "gave up"})
		}
		return d.out, d.refusal()
	}
	if waiting >= 0 {
		d.out.Wait = &waits[waiting]
		return d.out, nil
	}
	return d.queueUp(c, len(waits))
}

// rejoins reports whether a place in the queue is one that the caller took for
// the same before, and that still counts.
func (d *decider) rejoins(w *Wait, want *Want) bool {
	same := len(w.Conversations) == 0 && len(d.by.Conversations) == 0 || slices.ContainsFunc(w.Conversations, d.by.speaks)
	return same && d.now.Before(w.Until) && sameWant(&w.Want, want)
}

// again is a claim of what the same holder has already: a sign of life, and a
// new intent if it differs.
func (d *decider) again(c Take, h *Claim) (Decision, error) {
	d.out.Claim = *h
	ttl := h.TTL
	if c.TTL > 0 {
		ttl = c.TTL
	}
	if c.Intent == h.Intent && c.Task == h.Task && ttl == h.TTL && c.Keep == h.Keep {
		d.out.Known = true
		d.add(KindRenewed, RenewedClaim{Claim: h.ID})
		return d.out, nil
	}
	next := ChangedClaim{Claim: h.ID, Want: h.Want, Intent: c.Intent, Task: c.Task, Files: h.Files, TTL: ttl, Keep: c.Keep}
	if len(c.Files) > 0 {
		next.Files = c.Files
	}
	d.change(h, next)
	return d.out, nil
}

// clear finds what stands in the way of a want, ends what is due and leaves
// the rest in Blocks. guard says that it is a guard that asks.
func (d *decider) clear(w *Want, place event.Seq, guard bool) error {
	blocks, meets, err := d.claims(w)
	if err != nil {
		return err
	}
	d.out.Meets = meets
	for _, b := range blocks {
		if !b.elsewhere && (b.Lapsed || b.Standing == Unowned) && d.expire(&b) {
			continue
		}
		d.out.Blocks = append(d.out.Blocks, b)
	}
	if d.around, err = d.clearOthers(w, guard); err != nil {
		return err
	}
	d.out.Blocks = append(d.out.Blocks, d.foreign(w)...)
	if guard && d.around.above {
		return nil // it is held, so nobody's place is asked, as in the project itself
	}
	queue, lapsed, err := d.queue(w, place)
	if err != nil {
		return err
	}
	more, err := d.otherQueues(w, place, guard)
	if err != nil {
		return err
	}
	queue = append(queue, more...)
	for _, x := range lapsed {
		d.add(KindWaitEnded, WaitEnded{Wait: x.ID, How: "lapsed"})
	}
	d.out.Blocks = append(d.out.Blocks, queue...)
	return nil
}

// Undecided reports whether a look at the thing itself may clear a block away:
// its lease is over, or it runs without a session.
func (b *Block) Undecided() bool {
	return b.Probe == nil && !b.Auto && !b.elsewhere && (b.Lapsed || b.Standing == Unowned)
}

// expire ends a lapsed claim that is in the way. What a session claimed on
// purpose is ended only after a look at the thing itself, and what was to
// outlive its session only if that look says free.
func (d *decider) expire(b *Block) bool {
	p := d.ev.probe(b.Claim)
	if !b.Auto {
		if p == nil {
			return false
		}
		if b.Probe = p; p.Verdict == ProbeBusy || !b.Lapsed && p.Verdict != ProbeFree {
			return false
		}
	}
	ended := EndedClaim{Claim: b.Claim, Holder: b.Holder, How: Expired, By: d.by.Agent, Sign: &b.sign, Probe: p}
	if b.scope != "" {
		d.out.Ends = append(d.out.Ends, Ending{Scope: b.scope, EndedClaim: ended})
	} else {
		d.add(KindEnded, ended)
	}
	return true
}

func (d *decider) grant(c Take, waited bool, held []Claim) {
	ttl := c.TTL
	if ttl == 0 {
		ttl = d.rules.Lease
	}
	made := Claim{
		ID: c.ID, Holder: d.by.Agent, Conversation: d.by.conversation(), For: d.by.For, Want: c.Want, Intent: c.Intent, Task: c.Task, Files: c.Files,
		Since: d.now, Renewed: d.now, TTL: ttl, Keep: c.Keep,
	}
	g := GrantedClaim{Claim: made}
	if waited {
		g.Wait = c.Wait
	}
	// What a guard claimed on the way is part of it now.
	for i := range held {
		if held[i].Auto && covers(&c.Want, &held[i].Want) {
			d.add(KindEnded, EndedClaim{Claim: held[i].ID, Holder: d.by.Agent, How: Released, By: d.by.Agent, Summary: "part of a wider claim"})
		}
	}
	d.add(KindGranted, g)
	d.out.Claim = made
}

func (d *decider) queueUp(c Take, inLine int) (Decision, error) {
	if inLine >= MaxWaiting {
		return d.out, fault.New(fault.Unavailable, "%d claims wait in this project already; the limit is %d", inLine, MaxWaiting).
			WithHint("try again later, or ask the holder")
	}
	path, err := d.circle(d.out.Blocks)
	if err != nil {
		return d.out, err
	}
	if path != nil {
		names := []string{d.ev.name(d.by.Agent)}
		for _, a := range path {
			names = append(names, d.ev.name(a))
		}
		return d.out, fault.New(fault.Conflict, "that would close a circle of waiting: %s", strings.Join(names, " waits for ")).
			WithHint("release what %s waits for first, or ask: bureau send %s TEXT", names[len(names)-2], names[1]).WithDetail(d.out.Blocks)
	}
	until := c.Until
	if most := d.now.Add(MaxWait); until.After(most) {
		until = most
	}
	w := Wait{ID: c.Wait, Agent: d.by.Agent, For: d.by.For, Conversations: d.by.Conversations, Want: c.Want, Intent: c.Intent, Since: d.now, Until: until}
	d.add(KindWaiting, WaitingFor{Wait: w})
	d.out.Wait = &w
	return d.out, nil
}

// GiveUp takes a place in the queue back.
type GiveUp struct{ Wait event.ID }

func (c GiveUp) decide(d *decider) (Decision, error) {
	waits, err := d.v.Waits()
	if err != nil {
		return Decision{}, err
	}
	for i := range waits {
		if waits[i].ID == c.Wait && waits[i].Agent == d.by.Agent {
			d.add(KindWaitEnded, WaitEnded{Wait: c.Wait, How: "gave up"})
		}
	}
	return d.out, nil
}

// checkText bounds what people wrote about a claim.
func checkText(intent *string, ttl time.Duration, files []string) error {
	*intent = strings.Join(strings.Fields(strings.ToValidUTF8(*intent, "\uFFFD")), " ")
	switch n := utf8.RuneCountInString(*intent); {
	case n > MaxIntent:
		return fault.New(fault.Invalid, "the intent has %d characters; the limit is %d", n, MaxIntent).WithHint("say it in a sentence; details go into a message")
	case ttl != 0 && ttl < MinTTL:
		return fault.New(fault.Invalid, "a lease of %s is not possible: from 1 minute to 24 hours", ttl).
			WithHint("a claim that is not needed any more is released: bureau release CLAIM")
	case ttl > MaxTTL:
		return fault.New(fault.Invalid, "a lease of %s is not possible: from 1 minute to 24 hours", ttl).
			WithHint("for what runs longer without its session: --keep")
	case len(files) > MaxFilesSaid:
		return fault.New(fault.Invalid, "the claim lists %d files; the limit is %d", len(files), MaxFilesSaid).WithHint("claim their folder")
	}
	return nil
}

// check refuses wants that make no sense.
func (w *Want) check() error {
	switch n := len(w.Paths) + len(w.Resources); {
	case n == 0:
		return fault.New(fault.Invalid, "nothing to claim was named").WithHint("name a path or a thing: bureau claim src/parser, bureau claim --resource port:8080")
	case n > MaxPaths:
		return fault.New(fault.Invalid, "the claim covers %d paths and things; the limit is %d", n, MaxPaths).WithHint("claim a folder instead of its files")
	}
	switch w.Mode {
	case "":
		w.Mode = Exclusive
	case Exclusive, Shared:
	default:
		return fault.New(fault.Invalid, "the mode %q is not known", string(w.Mode)).WithHint("exclusive or shared")
	}
	slices.Sort(w.Paths)
	w.Paths = slices.Compact(w.Paths)
	slices.Sort(w.Resources)
	w.Resources = slices.Compact(w.Resources)
	return nil
}
