package claim

import (
	"slices"
	"strings"

	"bureau/internal/event"
)

// Other is another project that has files in common with the one that is
// decided on, because the work tree of one lies in that of the other: a
// submodule, a repository inside another, a folder with a project file of its
// own. Each keeps its own claims; what overlaps across them is found by the
// names that the files have in the outer work tree.
type Other struct {
	Scope string // whose claims they are, for Decision.Ends
	Name  string // the project's, for people; "" for none
	View  View
	// Tree is the work tree around the one that is decided on or, without Around,
	// the root of a project that lies within it.
	Tree   string
	Around bool
	// Same says that it is the project that is decided on, by another id: an id in
	// a file came or went. Around is set and Tree is the one that is decided on.
	// Things and other work trees count as in the project itself.
	Same bool
	// Foreign are other programs' locks, in the Tree of one around.
	Foreign []Foreign
}

// Ending is a claim of another project that a decision ends, because it was
// over and in the way.
type Ending struct {
	Scope string
	EndedClaim
}

// within reports whether a work tree is another or lies in it, and where.
func within(outer, inner string) (below string, ok bool) {
	if len(outer) > 2 && outer[1:3] == `:\` {
		outer, inner = strings.ReplaceAll(outer, `\`, "/"), strings.ReplaceAll(inner, `\`, "/")
	}
	rest, ok := strings.CutPrefix(inner, strings.TrimSuffix(outer, "/"))
	switch {
	case !ok || outer == "":
		return "", false
	case rest == "":
		return ".", true
	case rest[0] != '/':
		return "", false
	}
	return Normal(rest[1:]), true
}

// in gives a want's paths by the names that they have in a work tree around its
// own; its things are left out.
func (w *Want) in(tree string) (Want, bool) {
	out := Want{Mode: w.Mode, Tree: tree, Fold: w.Fold}
	below, ok := within(tree, w.Tree)
	if !ok {
		return out, false
	}
	head, err := Literal(below)
	if err != nil {
		return out, false
	}
	for _, p := range w.Paths {
		out.Paths = append(out.Paths, head.join(p))
	}
	return out, true
}

// In gives a want's paths by the names that they have in a work tree that its
// own is or lies in, without its things. ok is false for another work tree.
func (w *Want) In(tree string) (in Want, ok bool) { return w.in(tree) }

// join gives the pattern of what another one means below a folder.
func (p Pattern) join(below Pattern) Pattern {
	switch {
	case p == Root:
		return below
	case below == Root:
		return p
	}
	x, err := parseGlob(string(p))
	if err != nil {
		return ""
	}
	y, err := parseGlob(string(below))
	if err != nil {
		return ""
	}
	y.segments = slices.Concat(x.segments, y.segments)
	y.tidy()
	if y.icase { // what is in front of it is folded too
		y.icase = false
		y.fold()
	}
	return y.pattern()
}

// shared gives what of b is meant by a too, where the work tree of one lies in
// that of the other.
func shared(a, b *Want) []string {
	x, y := *a, *b
	ok := true
	if _, in := within(a.Tree, b.Tree); in {
		y, ok = b.in(a.Tree)
	} else {
		x, ok = a.in(b.Tree)
	}
	if !ok {
		return nil
	}
	x.Resources = nil // things are no files
	return Overlapping(&x, &y, true)
}

// shared is what a want and one of the other project's both mean.
func (o *Other) shared(a, b *Want) []string {
	if o.Same {
		return Overlapping(a, b, true)
	}
	return shared(a, b)
}

// near lists the claims of the other project that a want may mean. Those in
// linked work trees of the other one count only where they lie within the
// want's, and where its root is meant too.
func (o *Other) near(w *Want) ([]Claim, error) {
	if o.Same {
		at := *w // the machine's own things are found from the project itself
		at.Resources = slices.DeleteFunc(slices.Clone(w.Resources), Resource.Machine)
		list, err := o.View.Touching(&at)
		return slices.DeleteFunc(list, func(c Claim) bool { return c.Elsewhere }), err
	}
	if o.Around {
		at, ok := w.in(o.Tree)
		if !ok {
			return nil, nil
		}
		list, err := o.View.Touching(&at)
		return slices.DeleteFunc(list, func(c Claim) bool { return c.Tree != o.Tree }), err
	}
	whole := Want{Paths: []Pattern{Root}, Mode: Exclusive, Tree: o.Tree, Fold: w.Fold}
	if len(shared(&whole, w)) == 0 {
		return nil, nil
	}
	list, err := o.View.Touching(&whole)
	return slices.DeleteFunc(list, func(c Claim) bool {
		_, in := within(w.Tree, c.Tree)
		return !in
	}), err
}

// Meeting lists the other project's claims, and other programs' locks, that
// cover or meet what is wanted.
func (o *Other) Meeting(w *Want) ([]Claim, []Foreign, error) {
	list, err := o.near(w)
	list = slices.DeleteFunc(list, func(c Claim) bool { return len(o.shared(w, &c.Want)) == 0 })
	at, ok := w.in(o.Tree)
	if !ok || !o.Around {
		return list, nil, err
	}
	locks := slices.DeleteFunc(slices.Clone(o.Foreign), func(f Foreign) bool {
		return len(Overlapping(&at, &Want{Paths: f.Paths, Mode: Exclusive}, false)) == 0
	})
	return list, locks, err
}

// MeansToo reports whether a place in the other project's queue is for files that
// are wanted too.
func (o *Other) MeansToo(w *Want, x *Wait) bool { return len(o.shared(w, &x.Want)) > 0 }

// reach is what a want meets in other projects.
type reach struct {
	blocks []Block
	meets  []Block // in other work trees
	mine   bool    // the agent itself holds it all, by a claim of a project around
	above  bool    // so does the one that it works for
	whole  bool    // one of the claims that mine and above are about is exclusive
}

// others finds what stands in the way of a want in other projects. A guard does
// not ask those that turned theirs off.
func (l *look) others(w *Want, guard bool) (r reach, err error) {
	for i := range l.ev.Others {
		o := &l.ev.Others[i]
		list, err := o.near(w)
		if err != nil {
			return r, err
		}
		if len(list) == 0 && len(o.Foreign) == 0 {
			continue
		}
		rules, err := o.View.Rules()
		if err != nil {
			return r, err
		}
		if guard && rules.Guard == Off {
			continue
		}
		as := *l
		as.rules = rules
		for j := range list {
			c := &list[j]
			what := o.shared(w, &c.Want)
			switch {
			case len(what) == 0 && o.Same && !l.family(c):
				if what = Overlapping(w, &c.Want, false); len(what) == 0 {
					continue
				}
				b := as.block(c, what)
				b.Tree, b.Project, b.scope = c.Tree, o.Name, o.Scope
				if rules.Worktrees == Deny {
					r.blocks = append(r.blocks, b)
				} else {
					r.meets = append(r.meets, b)
				}
			case len(what) == 0:
			case l.family(c):
				at, ok := w.in(c.Tree)
				if at.Mode = Shared; ok && covers(&c.Want, &at) {
					r.above = true
					r.mine = r.mine || l.mine(c)
					r.whole = r.whole || c.Mode == Exclusive
				}
			default:
				b := as.block(c, what)
				b.Project, b.scope = o.Name, o.Scope
				r.blocks = append(r.blocks, b)
			}
		}
		if at, ok := w.in(o.Tree); ok && o.Around {
			list := lockBlocks(o.Foreign, &at, rules)
			for j := range list {
				list[j].Project = o.Name
			}
			r.blocks = append(r.blocks, list...)
		}
	}
	return r, nil
}

// clearOthers is clear for what stands in the way in other projects.
func (d *decider) clearOthers(w *Want, guard bool) (reach, error) {
	r, err := d.others(w, guard)
	d.out.Meets = append(d.out.Meets, r.meets...)
	for _, b := range r.blocks {
		if b.Foreign == "" && (b.Lapsed || b.Standing == Unowned) && d.expire(&b) {
			continue
		}
		d.out.Blocks = append(d.out.Blocks, b)
	}
	return r, err
}

// silent reports whether the other project has its guard off, and a guard asks.
func (o *Other) silent(guard bool) (bool, error) {
	if !guard {
		return false, nil
	}
	rules, err := o.View.Rules()
	return rules.Guard == Off, err
}

// otherQueues lists the places in other projects' queues that come before one
// and mean the same, as queue does.
func (l *look) otherQueues(w *Want, before event.Seq, guard bool) (blocks []Block, err error) {
	for i := range l.ev.Others {
		o := &l.ev.Others[i]
		if off, err := o.silent(guard); off || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		waits, err := o.View.Waits()
		if err != nil {
			return nil, err
		}
		for j := range waits {
			x := &waits[j]
			if x.Agent == l.by.Agent || x.Agent == l.by.For || before > 0 && x.Seq >= before || !l.now.Before(x.Until) || !l.ev.waiting(x) {
				continue
			}
			asked := *w
			if l.widens != nil {
				asked = beyond(w, l.widens)
			}
			what := o.shared(&asked, &x.Want)
			if len(what) == 0 {
				continue
			}
			inTheWay, err := l.stoodBefore(x, w, o.shared)
			if err != nil {
				return nil, err
			}
			if !inTheWay {
				blocks = append(blocks, Block{
					Waiting: x.ID, Holder: x.Agent, Name: l.ev.name(x.Agent), Intent: x.Intent, Mode: x.Want.Mode, Overlap: what, Project: o.Name,
					Since: x.Since, Standing: Active,
				})
			}
		}
	}
	return blocks, nil
}

// stoodBefore reports whether the agent, or the one that it works for, holds
// something that somebody waits for, in whichever of the projects, and held it
// before that one waited: see passes. Who works for another may also go on with
// whatever that one holds, whoever waits for it. meets compares what is claimed
// in the project of the place.
func (l *look) stoodBefore(x *Wait, w *Want, meets func(a, b *Want) []string) (bool, error) {
	for _, agent := range []event.ID{l.by.Agent, l.by.For} {
		if agent == "" {
			continue
		}
		views, err := l.ev.elsewhere(agent)
		if err != nil {
			return false, err
		}
		for i := range l.ev.Others {
			views = append(views, l.ev.Others[i].View)
		}
		for i, v := range append([]View{l.v}, views...) {
			same := meets
			if i > 0 {
				same = shared
			}
			list, err := v.Held(agent)
			if err != nil {
				return false, err
			}
			if slices.ContainsFunc(list, func(c Claim) bool {
				before := l.widens == nil && c.Token < x.Seq && len(same(&x.Want, &c.Want)) > 0
				if agent == l.by.Agent {
					return before && l.mine(&c)
				}
				asked, ok := w.in(c.Tree) // without the things that are wanted too
				ok = ok && len(w.Resources) == 0
				return l.by.speaks(c.Conversation) && (before || covers(&c.Want, w) || ok && covers(&c.Want, &asked))
			}) {
				return true, nil
			}
		}
	}
	return false, nil
}

// lostAround is lost for the claims of projects around whose guard is on.
func (d *decider) lostAround(path, tree string) error {
	for i := range d.ev.Others {
		o := &d.ev.Others[i]
		below, ok := within(o.Tree, tree)
		if !ok || !o.Around {
			continue
		}
		off, err := o.silent(true)
		if err != nil {
			return err
		}
		if off {
			continue
		}
		list, err := o.View.Lost(d.by.Agent)
		if err != nil {
			return err
		}
		if err := d.lostOf(list, Normal(below+"/"+path), o.Tree); err != nil {
			return err
		}
	}
	return nil
}
