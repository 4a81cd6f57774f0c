package claim

import (
	"slices"
	"time"

	"bureau/internal/event"
)

// The rules for locks of other programs that lie beside claims. Such a program
// knows nothing of claims, so it may lock what somebody here holds already. Who
// was first keeps it. A lock file that was written for a claim is what that
// program goes by: where it is gone, or somebody else's by now, and the other
// program holds the same, the claim was overtaken.

// Over tells whether a lock stands and is on something that a want covers, in
// the same work tree. A lock without a tree is meant in all of them.
func (f *Foreign) Over(w *Want) bool {
	return !f.Stale && (f.Tree == "" || f.Tree == w.Tree) && len(f.overlap(w)) > 0
}

// overlap gives what of a lock a want covers, whatever the work tree.
func (f *Foreign) overlap(w *Want) []string {
	return Overlapping(w, &Want{Paths: f.Paths, Mode: Exclusive}, false)
}

// From gives since when a lock is on what a want covers.
func (f *Foreign) From(w *Want) time.Time {
	if len(f.Times) != len(f.Paths) {
		return f.Since
	}
	var first time.Time
	for i, at := range f.Times {
		one := Want{Paths: f.Paths[i : i+1], Mode: Exclusive}
		if len(Overlapping(w, &one, false)) > 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// MeetLocks gives the locks on what a want covers in other work trees, which
// will meet at the merge.
func MeetLocks(locks []Foreign, w *Want) (meets []Block) {
	for i := range locks {
		f := &locks[i]
		if f.Stale || f.Tree == "" || f.Tree == w.Tree {
			continue
		}
		if what := f.overlap(w); len(what) > 0 {
			meets = append(meets, Block{
				Foreign: f.Name, Name: f.Holder, Intent: f.Intent, Mode: Exclusive, Overlap: what, Tree: f.Tree, Since: f.From(w), Last: f.Last, Standing: Active,
			})
		}
	}
	return meets
}

// Beside is what a guard asks about files that the caller holds, where other
// programs' locks are. What it claimed on purpose stays its own: the locks came
// later, or slept, and are told in Decision.Meets. What only a guard claimed on the way
// gives way to a lock that was there before it. It changes nothing.
type Beside struct {
	Paths []string
	Tree  string
	Fold  bool
	// Gone are the claims that were overtaken, where that cannot be written down.
	Gone []event.ID
	// Own are the locks that were written for the caller's claims, and New the
	// claims that were made for this very edit. Two offices may claim a file in one
	// moment; who wrote its lock first has it, and a new claim without one gives
	// way.
	Own []Foreign
	New []event.ID
}

// first reports whether a claim of the caller was there before a lock.
func (c *Beside) first(h *Claim, w *Want, b *Block) bool {
	switch {
	case slices.Contains(c.Gone, h.ID):
		return false
	case !h.Auto:
		return true
	}
	at, written := h.Since, false
	for i := range c.Own {
		if f := &c.Own[i]; f.Claim == h.Holder && (f.Tree == "" || f.Tree == w.Tree) && len(f.Times) > 0 && len(f.overlap(w)) > 0 {
			at, written = f.From(w), true
		}
	}
	if !written && slices.Contains(c.New, h.ID) {
		return false
	}
	return at.Before(b.Since)
}

func (c Beside) decide(d *decider) (Decision, error) {
	if d.rules.Guard == Off {
		return d.out, nil
	}
	for _, path := range c.Paths {
		f, err := d.file(path, c.Tree, c.Fold, len(c.Paths))
		switch {
		case err != nil:
			return d.out, err
		case len(f.own) == 0:
			continue // that is decided with the edit
		case f.bad != nil:
			return d.out, f.bad
		}
		for _, b := range d.foreign(&f.want) {
			b.Overlap = []string{path}
			if slices.ContainsFunc(f.own, func(h Claim) bool { return c.first(&h, &f.want, &b) }) {
				d.out.Meets = append(d.out.Meets, b)
			} else {
				d.out.Blocks = append(d.out.Blocks, b)
			}
		}
	}
	if len(d.out.Blocks) > 0 {
		return d.out, d.refusal()
	}
	return d.out, nil
}

// Overtake ends claims that another program's lock has taken the place of. By
// whoever noticed it; a holder that notices it itself has lost them like one
// that is told.
type Overtake struct {
	Claims []event.ID
	Why    string
}

func (c Overtake) decide(d *decider) (Decision, error) {
	for _, id := range c.Claims {
		h, found, err := d.v.Claim(id)
		if err != nil {
			return Decision{}, err
		}
		if !found {
			continue // ended meanwhile
		}
		e := EndedClaim{Claim: id, Holder: h.Holder, How: Overtaken, Summary: c.Why}
		if d.by.Agent != h.Holder {
			e.By = d.by.Agent
		}
		d.add(KindEnded, e)
	}
	return d.out, nil
}
