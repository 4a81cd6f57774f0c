package claim

import (
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/quote"
)

// Edit is what a guard asks before files are changed: all of them are allowed
// or none. With the guard set to auto, what nobody holds is claimed for the
// caller on the way.
type Edit struct {
	Paths []string   // relative to the project's root, as Normal gives them
	IDs   []event.ID // for the claims that are made, one for each path
	Tree  string
	Fold  bool
}

func (c Edit) decide(d *decider) (Decision, error) {
	off := d.rules.Guard == Off
	if off && len(d.ev.Others) == 0 {
		d.out.Known = true
		return d.out, nil
	}
	refuse := func(err error) (Decision, error) {
		// What was due has ended all the same.
		d.out.Events = slices.DeleteFunc(d.out.Events, func(e event.Event) bool { return e.Kind == KindGranted })
		d.out.Claim = Claim{}
		return d.out, err
	}
	known := true
	for i, path := range c.Paths {
		f, err := d.file(path, c.Tree, c.Fold, len(c.Paths))
		if err != nil {
			return Decision{}, err
		}
		if len(f.own) > 0 {
			list, err := d.beside(f, off)
			if err != nil {
				return d.out, err
			}
			d.share(list)
			continue
		}
		if f.bad != nil {
			return d.out, f.bad
		}
		w := &f.want
		over, before := len(d.out.Events)+len(d.out.Ends), len(d.out.Blocks)
		// The projects around have guards of their own.
		if off {
			d.around, err = d.clearOthers(w, true)
		} else {
			err = d.clear(w, 0, true)
		}
		if err != nil {
			return d.out, err
		}
		var shares []Block
		if d.around.beside() || f.shared() {
			var rest []Block
			rest, shares = aside(path, c.Tree, d.out.Blocks[before:])
			d.out.Blocks = append(d.out.Blocks[:before:before], rest...)
			d.share(shares)
		}
		if off && !d.around.mine && len(d.out.Blocks) == 0 {
			if err := d.lostAround(path, c.Tree); err != nil {
				return refuse(err)
			}
		}
		if (off || d.around.mine) && len(d.out.Blocks) == 0 && len(d.out.Events)+len(d.out.Ends) == over {
			continue // nothing to decide
		}
		known = false
		if len(d.out.Blocks) > 0 {
			continue // name all that stand in the way, not only the first
		}
		if off || d.around.mine {
			continue
		}
		if err := d.lost(path, c.Tree); err != nil {
			return refuse(err)
		}
		if d.rules.Guard == Strict && len(f.kin) == 0 && !d.around.above {
			return refuse(fault.New(fault.Denied, "nobody has claimed %s, and this project wants a claim before a change", path).
				WithHint("bureau claim %s --intent TEXT", quote.Shell(w.whole(path))))
		}
		if len(shares) > 0 {
			continue // a claim of its own would shut the others out
		}
		if full, err := d.full(); err != nil {
			return d.out, err
		} else if full {
			continue // it is allowed; what it holds already is more than enough to show who is at work
		}
		made := Claim{
			ID: c.IDs[i], Holder: d.by.Agent, Conversation: d.by.conversation(), For: d.by.For, Want: *w, Intent: "edits " + w.Show(Pattern(path)), Since: d.now, Renewed: d.now, TTL: d.rules.AutoLease, Auto: true,
		}
		d.add(KindGranted, GrantedClaim{Claim: made})
		d.out.Claim = made
	}
	if len(d.out.Blocks) > 0 {
		return refuse(d.refusal())
	}
	d.out.Known = known
	return d.out, nil
}

// Check is what a guard asks about files that were changed already, before
// they are committed. It claims nothing and ends nothing. Whoever commits may
// be any of a session's agents, so what the caller's own subagents hold is not
// in its way.
type Check struct {
	Paths []string
	Tree  string
	Fold  bool
}

func (c Check) decide(d *decider) (Decision, error) {
	off := d.rules.Guard == Off
	if off && len(d.ev.Others) == 0 {
		d.out.Known = true
		return d.out, nil
	}
	gone, err := d.v.Lost(d.by.Agent)
	if err != nil {
		return Decision{}, err
	}
	var lost error
	for _, path := range c.Paths {
		f, err := d.file(path, c.Tree, c.Fold, len(c.Paths))
		if err != nil {
			return Decision{}, err
		}
		if len(f.own) > 0 {
			list, err := d.beside(f, off)
			if err != nil {
				return d.out, err
			}
			d.out.Shares = append(d.out.Shares, called(path, list)...)
			continue
		}
		if f.bad != nil {
			return d.out, f.bad
		}
		w := &f.want
		var blocks, meets []Block
		if !off {
			if blocks, meets, err = d.claims(w); err != nil {
				return d.out, err
			}
			blocks = append(blocks, d.foreign(w)...)
		}
		around, err := d.others(w, true)
		if err != nil {
			return d.out, err
		}
		blocks, meets = append(blocks, around.blocks...), append(meets, around.meets...)
		if around.beside() || f.shared() || slices.ContainsFunc(blocks, func(b Block) bool { return b.Mode == Shared && d.below(&b) && b.claim.holdsFrom(path, c.Tree) }) {
			var shares []Block
			blocks, shares = aside(path, c.Tree, blocks)
			d.out.Shares = append(d.out.Shares, called(path, shares)...)
		}
		// What is over does not stop a commit; neither does a place in the queue.
		blocks = slices.DeleteFunc(blocks, func(b Block) bool { return b.Lapsed || d.below(&b) })
		meets = slices.DeleteFunc(meets, func(b Block) bool { return d.below(&b) })
		d.out.Blocks = append(d.out.Blocks, called(path, blocks)...)
		d.out.Meets = append(d.out.Meets, called(path, meets)...)
		if lost == nil && len(blocks) == 0 && !around.mine {
			if !off {
				lost = d.lostOf(gone, path, c.Tree)
			}
			if lost == nil {
				lost = d.lostAround(path, c.Tree)
			}
		}
	}
	if len(d.out.Blocks) > 0 {
		return d.out, d.refusal()
	}
	return d.out, lost
}

// lost refuses a path that the caller held and lost, here or in a project
// around: what it knows of the file may be out of date, until it claims it anew.
func (d *decider) lost(path, tree string) error {
	list, err := d.v.Lost(d.by.Agent)
	if err != nil {
		return err
	}
	if err := d.lostOf(list, path, tree); err != nil {
		return err
	}
	return d.lostAround(path, tree)
}

// below reports whether a claim is held by a subagent of the caller.
func (d *decider) below(b *Block) bool {
	return b.claim != nil && d.by.Below(b.claim)
}

func (d *decider) lostOf(list []Finished, path, tree string) error {
	for i := range list {
		f := &list[i]
		if !f.Holds(path, tree) || !d.mine(&f.Claim) {
			continue
		}
		why := map[How]string{
			Taken: "was taken over by " + d.ev.name(f.By), Broken: "was broken by " + d.ev.name(f.By),
			Expired: "ran out and went to " + d.ev.name(f.By), Overtaken: "gave way to another program's lock",
		}[f.How]
		if why == "" {
			why = "ended"
		}
		more := ""
		if s := strings.TrimSpace(f.Summary); s != "" {
			more = " (" + s + ")"
		}
		return fault.New(fault.Conflict, "your claim %s of %s %s %s ago%s; its token %d passes no more",
			f.ID, strings.Join(shorten(want(&f.Claim), 3), ", "), why, quote.Ago(d.now.Sub(f.At)), more, f.Token).
			WithHint("read the file again, then claim it anew: bureau claim %s --intent TEXT", quote.Shell(f.whole(path)))
	}
	return nil
}
