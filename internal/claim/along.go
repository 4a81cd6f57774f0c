package claim

import (
	"slices"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// Moving is a claim of another project that a decision gives to another holder.
type Moving struct {
	Scope string
	MovedClaim
}

// dead reports whether a claim might be overtaken for all that is known of its
// holder.
func (b *Block) dead() bool {
	return b.Standing == Stale || b.Standing == Parking || b.Standing == Unowned || b.LongQuiet
}

// kin reports whether two claims are held by one session and its subagents, who
// do not stand in each other's way.
func kin(a, b *Claim) bool {
	return a.Holder == b.Holder || a.For != "" && (a.For == b.Holder || a.For == b.For) || b.For != "" && b.For == a.Holder
}

// besides clears away what else is held of a claim that goes to another holder.
// One session may hold the same twice, and so may its subagents: what lies
// within goes along if it is as dead, after a look of its own; what runs without
// a session is adopted too; what is over ends. All else refuses, and says which
// has to go first. w is what the new holder gets.
func (d *decider) besides(c Takeover, w *Want, old *Claim) error {
	err := d.clearAlong(c, w, old)
	if err != nil { // nothing has happened then
		d.out.Events, d.out.Ends, d.out.Moves, d.out.With = nil, nil, nil, nil
	}
	return err
}

func (d *decider) clearAlong(c Takeover, w *Want, old *Claim) error {
	blocks, meets, err := d.claims(w)
	if err != nil {
		return err
	}
	around, err := d.others(w, false)
	if err != nil {
		return err
	}
	for _, b := range append(blocks, around.blocks...) {
		switch {
		case b.Claim == old.ID:
			continue
		case b.Claim == "" || b.elsewhere: // another program's lock, or a thing claimed in another project
		case b.Lapsed || b.Standing == Unowned:
			d.looks(b.claim)
			if d.expire(&b) {
				continue
			}
		}
		if done, err := d.along(c, w, old, &b); err != nil {
			return err
		} else if !done {
			d.out.Blocks = append(d.out.Blocks, b)
		}
	}
	d.out.Meets = slices.DeleteFunc(meets, func(b Block) bool { return b.Claim == old.ID })
	if len(d.out.Blocks) > 0 {
		return d.first(c, w, old)
	}
	return nil
}

// looks notes that a look at what a claim covers may decide.
func (d *decider) looks(c *Claim) {
	if !slices.ContainsFunc(d.out.Looks, func(x Claim) bool { return x.ID == c.ID }) {
		d.out.Looks = append(d.out.Looks, *c)
	}
}

// along ends a claim that lies within one that is taken, or adopts it.
func (d *decider) along(c Takeover, w *Want, old *Claim, b *Block) (done bool, err error) {
	runs := b.Standing == Unowned
	switch {
	case b.claim == nil || b.elsewhere:
		return false, nil
	case c.Break && !kin(old, b.claim), !c.Break && !b.dead(), !b.within(w):
		return false, nil
	}
	p := d.ev.probe(b.Claim)
	if !c.Break {
		d.looks(b.claim)
		if err := d.looked(b.claim, old.ID, b.Standing, p, c.Reason); err != nil {
			return false, err
		}
	}
	if runs {
		m := MovedClaim{Claim: b.Claim, From: b.Holder, To: d.by.Agent, For: d.by.For, Conversation: d.by.conversation(), Why: reasonOr(c.Reason, adopted), Probe: p}
		if b.scope != "" {
			d.out.Moves = append(d.out.Moves, Moving{Scope: b.scope, MovedClaim: m})
		} else {
			d.add(KindMoved, m)
		}
	} else {
		e := EndedClaim{Claim: b.Claim, Holder: b.Holder, How: Taken, By: d.by.Agent, Summary: c.Reason, Sign: &b.sign, Probe: p}
		if c.Break {
			e.How = Broken
		}
		if b.scope != "" {
			d.out.Ends = append(d.out.Ends, Ending{Scope: b.scope, EndedClaim: e})
		} else {
			d.add(KindEnded, e)
		}
	}
	d.out.With = append(d.out.With, *b.claim)
	return true, nil
}

// within reports whether all that the claim in the way covers is wanted.
func (b *Block) within(w *Want) bool {
	if b.scope == "" {
		return covers(w, &b.claim.Want)
	}
	at, ok := b.claim.in(w.Tree)
	return ok && len(b.claim.Resources) == 0 && covers(w, &at)
}

// over reports whether the claim in the way covers all that is wanted.
func (b *Block) over(w *Want) bool {
	switch {
	case b.elsewhere:
		return false
	case b.scope == "":
		return covers(&b.claim.Want, w)
	}
	at, ok := w.in(b.claim.Tree)
	return ok && len(w.Resources) == 0 && covers(&b.claim.Want, &at)
}

// first refuses a takeover because of what is left in the way. Where that might
// be overtaken itself, the hint says how; following hints never leads back to
// where one was.
func (d *decider) first(c Takeover, w *Want, old *Claim) error {
	gone := func(b *Block) bool { return b.claim != nil && (b.dead() || c.Break) }
	// What cannot be had now comes first: to begin with the rest would be for
	// nothing.
	slices.SortStableFunc(d.out.Blocks, func(x, y Block) int { return compareBool(gone(&x), gone(&y)) })
	b := &d.out.Blocks[0]
	refusal := d.refusal()
	if !gone(b) {
		return refusal
	}
	f := fault.New(fault.Conflict, "%s", refusal.Error()).WithDetail(d.out.Blocks)
	broken := ""
	if c.Break {
		broken = " --break"
	}
	switch {
	case b.over(w):
		return f.WithHint("claim %s goes along with it: bureau takeover %s%s", old.ID, b.Claim, broken)
	case b.Standing != Unowned || c.Break:
		return f.WithHint("end that first: bureau takeover %s%s --only", b.Claim, broken)
	case Judge(old, d.ev.sign(old), d.rules, d.now).Standing != Unowned && !b.elsewhere:
		return f.WithHint("take that up first: bureau takeover %s", b.Claim)
	}
	return f.WithHint("both run without a session; only the person ends one: bureau takeover %s --break --only", b.Claim)
}

// looked refuses what a look at the thing itself speaks against. taken is the
// claim that is taken over, where h goes along with it.
func (d *decider) looked(h *Claim, taken event.ID, s Standing, p *Probe, reason string) error {
	b := d.block(h, want(h))
	b.Probe = p
	refuse := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, format, args...).WithDetail([]Block{b})
	}
	switch {
	case s == Unowned && (p == nil || p.Verdict == ProbeUnknown) && reason == "":
		saw := "nothing has looked at it"
		if p != nil {
			saw = p.Saw
		}
		return refuse("nothing can tell whether what claim %s covers is still in use: %s", h.ID, saw).
			WithHint("say what you know of it: bureau takeover %s --reason TEXT", taken)
	case s == Unowned:
		return nil // it may go on running
	case p == nil:
		return refuse("nothing has looked at what claim %s covers", h.ID)
	}
	person := "the person breaks it in a terminal: bureau takeover " + string(h.ID) + " --break"
	switch {
	case p.Verdict == ProbeBusy && s == Stale:
		return refuse("what claim %s covers is in use: %s", h.ID, p.Saw).WithHint("%s is not there to be asked; %s", d.ev.name(h.Holder), person)
	case p.Verdict == ProbeBusy:
		return refuse("what claim %s covers is in use: %s", h.ID, p.Saw).WithHint("ask %s, or %s", d.ev.name(h.Holder), person)
	case p.Verdict == ProbeUnknown && reason == "":
		return refuse("nothing can tell whether what claim %s covers is still in use: %s", h.ID, p.Saw).
			WithHint("say why it is free: bureau takeover %s --reason TEXT", taken)
	}
	return nil
}
