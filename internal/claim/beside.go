package claim

import "slices"

// A shared claim is a right to change what it covers, beside all others who
// have one. So a guard lets each of them pass and says who the others are; who
// has none is kept out by any of them.

// holding reports whether one of some claims covers a path, and whether one of
// those that do is exclusive.
func holding(list []Claim, path, tree string) (holds, whole bool) {
	for i := range list {
		if list[i].Holds(path, tree) {
			holds, whole = true, whole || list[i].Mode == Exclusive
		}
	}
	return holds, whole
}

// holdsFrom is Holds for a path in a work tree that lies in the want's.
func (w *Want) holdsFrom(path, tree string) bool {
	below, ok := within(w.Tree, tree)
	return ok && w.Holds(Normal(below+"/"+path), w.Tree)
}

// above lists what the agent that the caller works for holds in the project.
func (l *look) above() ([]Claim, error) {
	if l.by.For == "" {
		return nil, nil
	}
	list, err := l.v.Held(l.by.For)
	return slices.DeleteFunc(list, func(h Claim) bool { return !l.by.speaks(h.Conversation) }), err
}

// beside lists who else has claimed a path, shared, that the caller holds by
// shared claims alone. silent says that the project's own guard is off.
func (d *decider) beside(path, tree string, fold, silent bool) ([]Block, error) {
	p, err := Literal(path)
	if err != nil {
		return nil, err
	}
	w := Want{Paths: []Pattern{p}, Mode: Exclusive, Tree: tree, Fold: fold}
	var blocks []Block
	if !silent {
		if blocks, _, err = d.claims(&w); err != nil {
			return nil, err
		}
	}
	r, err := d.others(&w, true)
	_, shares := aside(path, tree, append(blocks, r.blocks...))
	return shares, err
}

// aside takes shared claims out of what is in the way of a change of a file.
// Those that are over, or of something that would lie below it, and those of the
// caller's own subagents, are nothing to speak of.
func aside(path, tree string, blocks []Block) (rest, shares []Block) {
	for _, b := range blocks {
		switch {
		case b.Claim == "" || b.Mode != Shared:
			rest = append(rest, b)
		case !b.Lapsed && !b.Own && (b.claim.holdsFrom(path, tree) || b.Tree != ""):
			shares = append(shares, b)
		}
	}
	return rest, shares
}

// beside reports whether what is held in a project around is so by shared claims
// alone.
func (r *reach) beside() bool { return r.above && !r.whole }

// share adds to those who are named beside the caller, each claim once.
func (d *decider) share(list []Block) {
	for _, b := range list {
		if !slices.ContainsFunc(d.out.Shares, func(x Block) bool { return x.Claim == b.Claim }) {
			d.out.Shares = append(d.out.Shares, b)
		}
	}
}

// called names blocks by the path that was asked about.
func called(path string, blocks []Block) []Block {
	for i := range blocks {
		blocks[i].Overlap = []string{path}
	}
	return blocks
}
