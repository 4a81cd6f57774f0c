package claim

import "slices"

// A shared claim is a right to change what it covers, beside all others who
// have one. So a guard lets each of them pass and says who the others are; who
// has none is kept out by any of them.

// file is one of the files that a command asks about.
type file struct {
	path string
	want Want
	own  []Claim // the caller's claims that cover it
	kin  []Claim // those of the agent that the caller works for
	bad  error   // why it cannot be claimed by itself
}

// file finds who of the caller's own side holds one of n files. For a few of
// them it reads only the claims around each, however many an agent holds.
func (d *decider) file(path, tree string, fold bool, n int) (*file, error) {
	const few = 4
	f := &file{path: path}
	p, bad := Literal(path)
	f.want, f.bad = Want{Paths: []Pattern{p}, Mode: Exclusive, Tree: tree, Fold: fold}, bad
	var list []Claim
	var err error
	if bad == nil && n <= few {
		list, err = d.touching(&f.want)
	} else { // what cannot be claimed may lie in a folder that is
		list, err = d.ours()
	}
	for i := range list {
		switch c := &list[i]; {
		case !c.Holds(path, tree):
		case d.mine(c):
			f.own = append(f.own, *c)
		case d.family(c):
			f.kin = append(f.kin, *c)
		}
	}
	return f, err
}

// ours lists what the caller and the agent that it works for hold.
func (d *decider) ours() ([]Claim, error) {
	if d.our != nil {
		return d.our, nil
	}
	list, err := d.v.Held(d.by.Agent)
	if err == nil && d.by.For != "" {
		var more []Claim
		more, err = d.v.Held(d.by.For)
		list = append(list, more...)
	}
	if err == nil {
		d.our = append([]Claim{}, list...)
	}
	return list, err
}

// whole reports whether one of some claims is exclusive.
func whole(list []Claim) bool {
	return slices.ContainsFunc(list, func(c Claim) bool { return c.Mode == Exclusive })
}

// holdsFrom is Holds for a path in a work tree that lies in the want's.
func (w *Want) holdsFrom(path, tree string) bool {
	below, ok := within(w.Tree, tree)
	return ok && w.Holds(Normal(below+"/"+path), w.Tree)
}

// shared reports whether the caller may change a file beside others, by shared
// claims alone of the agent that it works for.
func (f *file) shared() bool { return len(f.kin) > 0 && !whole(f.kin) }

// beside lists who else has claimed a file, shared, that the caller holds: nobody
// where it does so exclusively. silent says that the project's own guard is off.
func (d *decider) beside(f *file, silent bool) ([]Block, error) {
	if whole(f.own) {
		return nil, nil
	}
	if f.bad != nil {
		return nil, f.bad
	}
	var blocks []Block
	var err error
	if !silent {
		if blocks, _, err = d.claims(&f.want); err != nil {
			return nil, err
		}
	}
	r, err := d.others(&f.want, true)
	_, shares := aside(f.path, f.want.Tree, append(blocks, r.blocks...))
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
