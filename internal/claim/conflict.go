package claim

import (
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
)

// Block is one thing that stands in the way of a claim.
type Block struct {
	Claim   event.ID `json:"claim,omitempty"`   // the claim in the way; "" for a foreign lock or a place in the queue
	Waiting event.ID `json:"waiting,omitempty"` // the place in the queue that comes first
	Foreign string   `json:"lock,omitempty"`    // the name of another program's lock
	Holder  event.ID `json:"-"`
	Name    string   `json:"holder"`
	Intent  string   `json:"intent"`
	Mode    Mode     `json:"mode"`
	// Overlap are the holder's own paths and things that are meant too.
	Overlap []string `json:"overlap"`
	// Project is the name of the project that it is held in, where that is
	// another than one would think.
	Project string `json:"project,omitempty"`
	// Yours is what the caller holds of that for which somebody waits in line,
	// and by which claims.
	Yours      []string   `json:"yours,omitempty"`
	YourClaims []event.ID `json:"your_claims,omitempty"`
	// Own says that it is a subagent of the caller that holds it or waits.
	Own      bool      `json:"own_subagent,omitempty"`
	Tree     string    `json:"tree,omitempty"` // of the claim in the way, where it is another
	Since    time.Time `json:"since"`
	Last     time.Time `json:"last_sign,omitzero"`
	Standing Standing  `json:"standing"`
	Lapsed   bool      `json:"lapsed,omitempty"`
	Auto     bool      `json:"auto,omitempty"`
	// LongQuiet says that a quiet holder may be overtaken.
	LongQuiet bool      `json:"long_quiet,omitempty"`
	Token     event.Seq `json:"token,omitempty"`
	Keep      bool      `json:"keep,omitempty"`
	Probe     *Probe    `json:"probe,omitempty"` // where one decided

	sign      Sign
	elsewhere bool
	scope     string // of the other project whose claim it is
	claim     *Claim
}

// what names what is held, the first few of it.
func (b *Block) what() string {
	s := strings.Join(shorten(b.Overlap, 3), ", ")
	if b.Project != "" {
		s += " (in project " + b.Project + ")"
	}
	return s
}

// Overlapping gives what of b is meant by a too. Two wants that are both
// shared never overlap; neither do paths in different work trees, which
// sameTree false leaves out of account.
func Overlapping(a, b *Want, sameTree bool) []string {
	if a.Mode == Shared && b.Mode == Shared {
		return nil
	}
	var out []string
	if !sameTree || a.Tree == b.Tree {
		fold := a.Fold || b.Fold
		for _, y := range b.Paths {
			if slices.ContainsFunc(a.Paths, func(x Pattern) bool { return overlap(x, y, fold) }) {
				out = append(out, b.Show(y))
			}
		}
	}
	for _, y := range b.Resources {
		if slices.Contains(a.Resources, y) {
			out = append(out, string(y))
		}
	}
	return out
}

func overlap(a, b Pattern, fold bool) bool {
	if fold {
		return Overlap(a.Fold(), b.Fold())
	}
	return Overlap(a, b)
}

func sameWant(a, b *Want) bool {
	return a.Mode == b.Mode && a.Tree == b.Tree && slices.Equal(a.Paths, b.Paths) && slices.Equal(a.Resources, b.Resources)
}

// covers reports whether a holds everything that b does.
func covers(a, b *Want) bool {
	if a.Tree != b.Tree && len(b.Paths) > 0 || a.Mode == Shared && b.Mode == Exclusive {
		return false
	}
	for _, y := range b.Paths {
		if !slices.ContainsFunc(a.Paths, func(x Pattern) bool { return Covers(x, y) }) {
			return false
		}
	}
	for _, y := range b.Resources {
		if !slices.Contains(a.Resources, y) {
			return false
		}
	}
	return true
}

// Holds reports whether a want covers a path in a work tree.
func (w *Want) Holds(path, tree string) bool {
	if w.Tree != tree {
		return false
	}
	return slices.ContainsFunc(w.Paths, func(p Pattern) bool {
		if w.Fold {
			p = p.Fold()
		}
		return p.Match(path)
	})
}

// mine reports whether a claim is the agent's own: its conversation's, where
// it has one.
func (l *look) mine(c *Claim) bool { return l.by.Holds(c) }

// family reports whether a claim does not stand in the agent's way: its own,
// or that of the one it works for.
func (l *look) family(c *Claim) bool {
	return l.mine(c) || l.by.For != "" && c.Holder == l.by.For && l.by.speaks(c.Conversation)
}

// held lists the agent's own claims.
func (l *look) held() ([]Claim, error) {
	list, err := l.v.Held(l.by.Agent)
	return slices.DeleteFunc(list, func(c Claim) bool { return !l.mine(&c) }), err
}

// full reports whether the agent holds as many claims as one may.
func (l *look) full() (bool, error) {
	if n, err := l.v.HeldCount(l.by.Agent); err != nil || n < MaxHeld {
		return false, err
	}
	list, err := l.held() // those of its conversation
	return len(list) >= MaxHeld, err
}

// touching is the view's, read once for the want that it was last asked about:
// a decision changes nothing in the view.
func (l *look) touching(w *Want) ([]Claim, error) {
	if l.lately.want != w {
		list, err := l.v.Touching(w)
		if err != nil {
			return nil, err
		}
		l.lately.want, l.lately.list = w, list
	}
	return slices.Clone(l.lately.list), nil
}

// look finds what stands in the way of a want: blocks are refusals, meets are
// claims in other work trees that will meet at the merge.
type look struct {
	v     View
	ev    *Evidence
	rules Rules
	now   time.Time
	by    By
	// widens is what a claim covers that is to cover something else, nil for
	// none. Only what it gets beyond that can be somebody's who waits.
	widens *Want
	// lately is what touching read last.
	lately struct {
		want *Want
		list []Claim
	}
}

// claims lists the live claims of others that overlap w.
func (l *look) claims(w *Want) (blocks, meets []Block, err error) {
	near, err := l.touching(w)
	if err != nil {
		return nil, nil, err
	}
	for i := range near {
		c := &near[i]
		if l.family(c) {
			continue
		}
		if c.Elsewhere {
			c.Paths = nil
			c.Resources = slices.DeleteFunc(slices.Clone(c.Resources), func(r Resource) bool { return !r.Machine() })
		}
		if what := Overlapping(w, &c.Want, true); len(what) > 0 {
			blocks = append(blocks, l.block(c, what))
		} else if what := Overlapping(w, &c.Want, false); len(what) > 0 {
			b := l.block(c, what)
			b.Tree = c.Tree
			if l.rules.Worktrees == Deny {
				blocks = append(blocks, b)
			} else {
				meets = append(meets, b)
			}
		}
	}
	return blocks, meets, nil
}

func (l *look) block(c *Claim, what []string) Block {
	s := l.ev.sign(c)
	j := Judge(c, s, l.rules, l.now)
	name := l.ev.name(c.Holder)
	if c.Holder == l.by.Agent {
		name += " (an earlier session)"
	}
	return Block{
		Claim: c.ID, Holder: c.Holder, Name: name, Intent: c.Intent, Mode: c.Mode, Overlap: what, Since: c.Since, Last: j.Last,
		Own:      l.by.Below(c),
		Standing: j.Standing, Lapsed: j.Lapsed, LongQuiet: j.LongQuiet, Auto: c.Auto, Keep: c.Keep, Token: c.Token, Project: l.ev.Project,
		sign: s, elsewhere: c.Elsewhere, claim: c,
	}
}

// mainOf gives the conversation of the session whose subagent's one is given.
func mainOf(conversation string) string {
	main, _, _ := strings.Cut(conversation, "/")
	return main
}

// foreign lists other programs' locks that overlap w.
func (l *look) foreign(w *Want) []Block {
	blocks := lockBlocks(l.ev.Foreign, w, l.rules)
	for i := range blocks {
		blocks[i].Project = l.ev.Project
	}
	return blocks
}

func lockBlocks(locks []Foreign, w *Want, r Rules) (blocks []Block) {
	for i := range locks {
		f := &locks[i]
		away := f.Tree != "" && f.Tree != w.Tree
		what := f.overlap(w)
		if len(what) == 0 || f.Stale || away && r.Worktrees != Deny {
			continue
		}
		b := Block{Foreign: f.Name, Name: f.Holder, Intent: f.Intent, Mode: Exclusive, Overlap: what, Since: f.From(w), Last: f.Last, Standing: Active}
		if away {
			b.Tree = f.Tree
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// queue lists the places in the queue that come before one (all of them for a
// newcomer), overlap w and are still waited for. Those whose waiter is gone
// are given back as lapsed.
func (l *look) queue(w *Want, before event.Seq) (blocks []Block, lapsed []Wait, err error) {
	waits, err := l.v.Waits()
	if err != nil {
		return nil, nil, err
	}
	for i := range waits {
		x := &waits[i]
		if x.Agent == l.by.Agent && before == 0 {
			continue
		}
		if before > 0 && x.Seq >= before {
			continue
		}
		if !l.now.Before(x.Until) || !l.ev.waiting(x) {
			lapsed = append(lapsed, *x)
			continue
		}
		if x.Agent == l.by.Agent || x.Agent == l.by.For {
			continue
		}
		what := l.meets(w, &x.Want)
		if l.widens != nil {
			asked, left := beyond(w, l.widens), x.Want
			if l.widens.Mode == Exclusive || left.Mode == Exclusive {
				held := *l.widens
				held.Mode = Exclusive // it keeps the waiter out either way
				left = beyond(&left, &held)
			}
			what = l.meets(&asked, &left)
		}
		if len(what) == 0 {
			continue
		}
		b := Block{Waiting: x.ID, Holder: x.Agent, Name: l.ev.name(x.Agent), Intent: x.Intent, Mode: x.Want.Mode, Overlap: what, Since: x.Since, Standing: Active}
		b.Own = x.For != "" && x.For == l.by.Agent && slices.ContainsFunc(x.Conversations, l.by.speaks)
		passes, err := l.passes(x, w, &b)
		if err != nil {
			return nil, nil, err
		}
		if !passes {
			blocks = append(blocks, b)
		}
	}
	return blocks, lapsed, nil
}

// beyond gives what of a is not covered by b.
func beyond(a, b *Want) Want {
	out := *a
	out.Paths = slices.DeleteFunc(slices.Clone(a.Paths), func(p Pattern) bool {
		return covers(b, &Want{Paths: []Pattern{p}, Mode: a.Mode, Tree: a.Tree})
	})
	out.Resources = slices.DeleteFunc(slices.Clone(a.Resources), func(r Resource) bool {
		return covers(b, &Want{Resources: []Resource{r}, Mode: a.Mode})
	})
	return out
}

// meets is [Overlapping] with other work trees as the project's settings want
// it.
func (l *look) meets(a, b *Want) []string {
	return Overlapping(a, b, l.rules.Worktrees != Deny)
}

// passes reports whether a place in the queue does not hold the agent up, and
// notes what of its own the place waits for.
//
// Who stood in its way before it was taken may get more of the same, and could
// otherwise not finish its work; so may its subagents. What it gets later lets
// nobody pass: two that relieve each other, or one that goes through a list of
// files, would keep the waiter out for ever. So a waiter is passed only as long
// as one of the claims stands that were there before it. Widening a claim keeps
// its age and therefore passes nobody.
func (l *look) passes(x *Wait, w *Want, b *Block) (passes bool, err error) {
	held, err := l.held()
	if err != nil {
		return false, err
	}
	for i := range held {
		if what := l.meets(&x.Want, &held[i].Want); len(what) > 0 {
			b.Yours, b.YourClaims = append(b.Yours, what...), append(b.YourClaims, held[i].ID)
			passes = passes || held[i].Token < x.Seq && l.widens == nil
		}
	}
	if passes {
		return true, nil
	}
	return l.stoodBefore(x, w, l.meets)
}

// circle follows who waits for whom from the ones in the way back to the
// agent, and gives the agents on the way, or nil.
func (l *look) circle(blocks []Block) ([]event.ID, error) {
	waits, err := l.v.Waits()
	if err != nil {
		return nil, err
	}
	seen := map[event.ID]bool{}
	var walk func(at event.ID) ([]event.ID, error)
	walk = func(at event.ID) ([]event.ID, error) {
		if at == l.by.Agent {
			return []event.ID{at}, nil
		}
		if seen[at] {
			return nil, nil
		}
		seen[at] = true
		for i := range waits {
			x := &waits[i]
			if x.Agent != at || !l.now.Before(x.Until) || !l.ev.waiting(x) {
				continue
			}
			sub := look{v: l.v, ev: l.ev, rules: l.rules, now: l.now, by: By{Agent: x.Agent, For: x.For, Conversations: x.Conversations}}
			for _, find := range []func() ([]Block, error){
				func() ([]Block, error) { b, _, err := sub.claims(&x.Want); return b, err },
				func() ([]Block, error) { b, _, err := sub.queue(&x.Want, x.Seq); return b, err },
			} {
				next, err := find()
				if err != nil {
					return nil, err
				}
				for _, b := range next {
					if path, err := walk(b.Holder); err != nil || path != nil {
						return append([]event.ID{at}, path...), err
					}
				}
			}
		}
		return nil, nil
	}
	for _, b := range blocks {
		if path, err := walk(b.Holder); err != nil || path != nil {
			return path, err
		}
	}
	return nil, nil
}
