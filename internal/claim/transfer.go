package claim

import (
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// Transfer gives claims to another agent, as a handoff does. Their tokens are
// new: the one that gave them passes no guard with them any more. What edits
// claimed for the giver within them is over with them.
type Transfer struct {
	Claims []event.ID
	// With are claims of other projects that are given at the same time, or were
	// a moment ago: they are not in the way.
	With []event.ID
	To   By // the receiver
	Why  string

	ended []event.ID // what was in the way and is over
}

func (c Transfer) decide(d *decider) (Decision, error) {
	for _, id := range c.Claims {
		h, err := d.own(id, "give it away")
		if err != nil {
			return Decision{}, err
		}
		if h.Holder == c.To.Agent && c.To.speaks(h.Conversation) {
			return Decision{}, fault.New(fault.Invalid, "%s holds claim %s already", d.ev.name(c.To.Agent), id)
		}
		if err := c.clear(d, &h); err != nil {
			blocks := d.out.Blocks
			return Decision{Blocks: blocks}, err
		}
		d.add(KindMoved, MovedClaim{Claim: id, From: h.Holder, To: c.To.Agent, For: c.To.For, Conversation: c.To.conversation(), Why: reasonOr(c.Why, transferred)})
		h.Holder, h.For, h.Conversation, h.Parked = c.To.Agent, c.To.For, c.To.conversation(), time.Time{}
		d.out.Claim = h
	}
	return d.out, nil
}

// clear refuses what stands in the way of the receiver: what is allowed beside
// the giver, being its own or in its family, may not be beside the receiver.
func (c *Transfer) clear(d *decider, h *Claim) error {
	as := d.look
	as.by = c.To
	blocks, _, err := as.claims(&h.Want)
	if err != nil {
		return err
	}
	around, err := as.others(&h.Want, false)
	if err != nil {
		return err
	}
	for _, b := range append(blocks, around.blocks...) {
		switch {
		case slices.Contains(c.ended, b.Claim):
		case slices.Contains(c.Claims, b.Claim), slices.Contains(c.With, b.Claim):
		case b.Auto && b.Lapsed && d.expire(&b):
			c.ended = append(c.ended, b.Claim)
		case b.Auto && b.Holder == h.Holder && b.within(&h.Want):
			c.ended = append(c.ended, b.Claim)
			e := EndedClaim{Claim: b.Claim, Holder: b.Holder, How: Released, By: d.by.Agent, Summary: "part of a claim that was given away"}
			if b.scope != "" {
				d.out.Ends = append(d.out.Ends, Ending{Scope: b.scope, EndedClaim: e})
			} else {
				d.add(KindEnded, e)
			}
		default:
			if b.claim != nil { // who it is to the one who gives
				b.Own = d.by.Below(b.claim)
				b.Name = d.ev.name(b.Holder)
			}
			d.out.Blocks = append(d.out.Blocks, b)
		}
	}
	if len(d.out.Blocks) == 0 {
		return nil
	}
	b := &d.out.Blocks[0]
	if b.claim == nil || b.Holder != h.Holder {
		return d.refusal()
	}
	who := d.ev.name(b.Holder) + " holds"
	if d.mine(b.claim) {
		who = "you hold"
	}
	return fault.New(fault.Conflict, "%s %s too, by claim %s: %s", who, b.what(), b.Claim, b.Intent).
		WithHint("give both: bureau claims give %s %s %s, or give it up: bureau release %s", h.ID, b.Claim, d.ev.name(c.To.Agent), b.Claim).
		WithDetail(d.out.Blocks)
}

func reasonOr(why, other string) string {
	if why = strings.TrimSpace(why); why == "" {
		return other
	}
	return why
}
