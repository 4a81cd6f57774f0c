package claim

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// own finds a live claim that the caller may dispose of: its holder, the one
// that the holder works for, or the person.
func (d *decider) own(id event.ID, what string) (Claim, error) {
	c, found, err := d.v.Claim(id)
	switch {
	case err != nil:
		return c, err
	case !found:
		return c, fault.New(fault.NotFound, "claim %s does not stand (any more)", id).WithHint("bureau claims lists those that do")
	case !d.mine(&c) && (c.For == "" || c.For != d.by.Agent) && !d.by.Human:
		return c, fault.New(fault.Denied, "claim %s is held by %s; only its holder can %s", id, d.ev.name(c.Holder), what).
			WithHint("ask: bureau ask %s TEXT, or see bureau takeover --help", d.ev.name(c.Holder))
	}
	return c, nil
}

// Release gives claims up, with a summary of what was done.
type Release struct {
	Claims  []event.ID
	Summary string
}

func (c Release) decide(d *decider) (Decision, error) {
	if n := utf8.RuneCountInString(c.Summary); n > MaxSummary {
		return Decision{}, fault.New(fault.Invalid, "the summary has %d characters; the limit is %d", n, MaxSummary).WithHint("details go into a message or a file")
	}
	for _, id := range c.Claims {
		h, err := d.own(id, "release it")
		if err != nil {
			return Decision{}, err
		}
		how := Released
		if d.by.Human && h.Holder != d.by.Agent {
			how = Broken
		}
		d.add(KindEnded, EndedClaim{Claim: id, Holder: h.Holder, How: how, By: d.by.Agent, Summary: c.Summary})
		d.out.Claim = h
	}
	return d.out, nil
}

// EndSession is what becomes of the caller's claims when its session ends:
// those that a guard made end, kept ones stay, the others are parked for a
// while.
type EndSession struct {
	// Final says that nobody can come back (a subagent that stopped, an agent
	// that was retired): all but kept claims end.
	Final bool
}

func (c EndSession) decide(d *decider) (Decision, error) {
	held, err := d.held()
	if c.Final {
		held, err = d.v.Held(d.by.Agent)
	}
	if err != nil {
		return Decision{}, err
	}
	p := ParkedClaims{Until: d.now.Add(d.rules.Grace)}
	for i := range held {
		switch h := &held[i]; {
		case h.Keep && !c.Final:
		case h.Auto || c.Final:
			d.add(KindEnded, EndedClaim{Claim: h.ID, Holder: h.Holder, How: SessionEnded, By: d.by.Agent})
		case h.Parked.IsZero():
			p.Claims = append(p.Claims, h.ID)
		}
	}
	if len(p.Claims) > 0 {
		d.add(KindParked, p)
	}
	waits, err := d.v.Waits()
	if err != nil {
		return Decision{}, err
	}
	for i := range waits {
		if waits[i].Agent == d.by.Agent {
			d.add(KindWaitEnded, WaitEnded{Wait: waits[i].ID, How: "gave up"})
		}
	}
	return d.out, nil
}

// Resume takes up the claims that were parked for the caller's conversation.
type Resume struct{}

func (Resume) decide(d *decider) (Decision, error) {
	held, err := d.held()
	if err != nil {
		return Decision{}, err
	}
	var r ResumedClaims
	for i := range held {
		if !held[i].Parked.IsZero() {
			r.Claims = append(r.Claims, held[i].ID)
		}
	}
	if len(r.Claims) > 0 {
		d.add(KindResumed, r)
	}
	return d.out, nil
}

// Sweep ends what is due whoever looks: parked claims whose time has passed.
type Sweep struct{}

func (Sweep) decide(d *decider) (Decision, error) {
	due, err := d.v.Parked(d.now)
	if err != nil {
		return Decision{}, err
	}
	for i := range due {
		d.add(KindEnded, EndedClaim{Claim: due[i].ID, Holder: due[i].Holder, How: SessionEnded, By: d.by.Agent})
	}
	return d.out, nil
}

// Extend renews a claim, with a new lease if one is given.
type Extend struct {
	Claim event.ID
	TTL   time.Duration
}

func (c Extend) decide(d *decider) (Decision, error) {
	h, err := d.own(c.Claim, "extend it")
	if err != nil {
		return Decision{}, err
	}
	empty := ""
	if err := checkText(&empty, c.TTL, nil); err != nil {
		return Decision{}, err
	}
	d.add(KindRenewed, RenewedClaim{Claim: h.ID, TTL: c.TTL})
	h.Renewed, h.Parked = d.now, time.Time{}
	if c.TTL > 0 {
		h.TTL = c.TTL
	}
	d.out.Claim = h
	return d.out, nil
}

// Change narrows or widens a claim, or says anew what it is for. What is
// wanted more must be free; otherwise nothing changes.
type Change struct {
	Claim  event.ID
	Want   *Want // nil: as it was
	Intent string
	Task   string
	Files  []string
	TTL    time.Duration
	Keep   *bool
}

func (c Change) decide(d *decider) (Decision, error) {
	h, err := d.own(c.Claim, "change it")
	if err != nil {
		return Decision{}, err
	}
	if err := checkText(&c.Intent, c.TTL, c.Files); err != nil {
		return Decision{}, err
	}
	next := ChangedClaim{Claim: h.ID, Want: h.Want, Intent: h.Intent, Task: h.Task, Files: h.Files, TTL: h.TTL, Keep: h.Keep}
	if c.Want != nil && len(c.Want.Paths)+len(c.Want.Resources) == 0 {
		return Decision{}, fault.New(fault.Invalid, "claim %s would cover nothing any more", h.ID).WithHint("give it up: bureau release %s", h.ID)
	}
	if c.Want != nil {
		if err := c.Want.check(); err != nil {
			return Decision{}, err
		}
		next.Want = *c.Want
		// Its own holder's family is asked, not the caller's.
		if !d.mine(&h) {
			d.by = By{Agent: h.Holder, For: h.For, Conversations: []string{h.Conversation}}
			if main, _, sub := strings.Cut(h.Conversation, "/"); sub {
				d.by.Conversations = append(d.by.Conversations, main)
			}
		}
		d.widens = &h.Want
		if err := d.clear(c.Want, 0, false); err != nil {
			return d.out, err
		}
		if len(d.out.Blocks) > 0 {
			return d.out, d.refusal()
		}
	}
	if c.Intent != "" {
		next.Intent = c.Intent
	}
	if c.Task != "" {
		next.Task = c.Task
	}
	if len(c.Files) > 0 {
		next.Files = c.Files
	}
	if c.TTL > 0 {
		next.TTL = c.TTL
	}
	if c.Keep != nil {
		next.Keep = *c.Keep
	}
	d.change(&h, next)
	return d.out, nil
}

func (d *decider) change(h *Claim, next ChangedClaim) {
	d.add(KindChanged, next)
	c := *h
	c.Want, c.Intent, c.Task, c.Files, c.TTL, c.Keep, c.Auto = next.Want, next.Intent, next.Task, next.Files, next.TTL, next.Keep, next.Auto
	c.Renewed, c.Parked = d.now, time.Time{}
	d.out.Claim = c
}

// Relocate says where work trees are now that were moved. What would meet there
// what somebody else holds stays where it is: nobody holds what another one has.
// Nothing else
// about the claims changes, and whoever holds them need not know.
type Relocate struct {
	Trees map[string]string // by their old paths
	Only  []event.ID        // these claims of them; nil for all
}

func (c Relocate) decide(d *decider) (Decision, error) {
	all, err := d.v.Touching(&Want{Paths: []Pattern{Root}, Mode: Exclusive})
	if err != nil {
		return Decision{}, err
	}
	lost, err := d.v.Lost("")
	if err != nil {
		return Decision{}, err
	}
	held := all
	for i := range lost {
		all = append(all, lost[i].Claim) // their tokens pass no more there either
	}
	for i := range all {
		h := &all[i]
		tree, moved := c.Trees[h.Tree]
		if !moved || h.Elsewhere || c.Only != nil && !slices.Contains(c.Only, h.ID) {
			continue
		}
		w := h.Want
		w.Tree = tree
		if i < len(held) && slices.ContainsFunc(held, func(o Claim) bool {
			return o.Tree == tree && o.Holder != h.Holder && o.Holder != h.For && o.For != h.Holder && len(Overlapping(&w, &o.Want, true)) > 0
		}) {
			continue
		}
		d.add(KindChanged, ChangedClaim{
			Claim: h.ID, Want: w, Intent: h.Intent, Task: h.Task, Files: h.Files, TTL: h.TTL, Keep: h.Keep, Auto: h.Auto, Relocated: true,
		})
	}
	return d.out, nil
}

// SetRules changes the project's settings.
type SetRules struct{ Rules Rules }

func (c SetRules) decide(d *decider) (Decision, error) {
	r := c.Rules
	switch {
	case r.Guard != Auto && r.Guard != Strict && r.Guard != Off:
		return Decision{}, fault.New(fault.Invalid, "guard %q is not known", string(r.Guard)).WithHint("auto, strict or off")
	case r.Worktrees != Warn && r.Worktrees != Deny:
		return Decision{}, fault.New(fault.Invalid, "worktrees %q is not known", string(r.Worktrees)).WithHint("warn or deny")
	case r.Mirror != "auto" && r.Mirror != "on" && r.Mirror != "off":
		return Decision{}, fault.New(fault.Invalid, "mirror %q is not known", r.Mirror).WithHint("auto, on or off")
	}
	for _, x := range []struct {
		name        string
		d, min, max time.Duration
	}{
		{"lease", r.Lease, MinTTL, MaxTTL}, {"auto-lease", r.AutoLease, MinTTL, MaxTTL}, {"quiet-after", r.QuietAfter, MinTTL, MaxKeep},
		{"grace", r.Grace, time.Second, MaxTTL}, {"foreign-stale", r.ForeignStale, time.Second, MaxKeep},
	} {
		if x.d < x.min || x.d > x.max {
			return Decision{}, fault.New(fault.Invalid, "%s %s is not possible: from %s to %s", x.name, x.d, x.min, x.max)
		}
	}
	if r == d.rules {
		d.out.Known = true
		return d.out, nil
	}
	d.add(KindRules, RulesSet{Rules: r})
	return d.out, nil
}
