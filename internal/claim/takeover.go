package claim

import (
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/quote"
)

// Takeover takes a claim over from a holder that shows no sign of life, or
// adopts one that runs without a session. The new claim covers the same and
// has a token of its own; the old one is dead from then on.
//
// It is verified: Evidence.Probes must hold a look at the thing itself. Busy
// refuses; unknown needs a reason. The person may break a claim whatever is
// seen. What the same session or its subagents hold within it goes along, each
// after a look of its own (Decision.With, Decision.Looks).
type Takeover struct {
	Claim  event.ID
	ID     event.ID // of the new claim
	Tree   string   // the work tree of the one who takes it over
	Intent string   // "": as it was
	Reason string
	TTL    time.Duration
	Break  bool // the person's word; nothing else is asked
	// Only ends the claim and takes nothing.
	Only bool
}

func (c Takeover) decide(d *decider) (Decision, error) {
	if n := utf8.RuneCountInString(c.Reason); n > MaxSummary {
		return Decision{}, fault.New(fault.Invalid, "the reason has %d characters; the limit is %d", n, MaxSummary)
	}
	if err := checkText(&c.Intent, c.TTL, nil); err != nil {
		return Decision{}, err
	}
	c.Reason = strings.TrimSpace(c.Reason)
	h, found, err := d.v.Claim(c.Claim)
	switch {
	case err != nil:
		return Decision{}, err
	case !found:
		return Decision{}, fault.New(fault.NotFound, "claim %s does not stand (any more)", c.Claim).WithHint("bureau claims lists those that do")
	case d.mine(&h):
		return Decision{}, fault.New(fault.Invalid, "claim %s is your own", c.Claim).WithHint("release it: bureau release %s", c.Claim)
	}
	s := d.ev.sign(&h)
	j := Judge(&h, s, d.rules, d.now)
	p := d.ev.probe(h.ID)
	if c.Break && !d.by.Human {
		if j.Standing != Active && (j.Standing != Quiet || j.LongQuiet) {
			return Decision{}, fault.New(fault.Denied, "only the person breaks a claim, and that of %s needs no breaking: it is %s", d.ev.name(h.Holder), j.Standing).
				WithHint("take it over: bureau takeover %s", c.Claim)
		}
		return Decision{}, fault.New(fault.Denied, "only the person breaks a claim that its holder is still at").
			WithHint("ask %s, or ask the person to run bureau takeover %s --break in a terminal", d.ev.name(h.Holder), c.Claim)
	}
	if c.Break {
		return d.succeed(c, &h, Broken, s, p)
	}
	if j.Standing == Unowned {
		return d.adopt(c, &h, p)
	}
	if err := d.mayTake(c, &h, j, s, p); err != nil {
		return d.out, err
	}
	return d.succeed(c, &h, Taken, s, p)
}

// mayTake refuses a takeover that is not called for.
func (d *decider) mayTake(c Takeover, h *Claim, j Judged, s Sign, p *Probe) error {
	name := d.ev.name(h.Holder)
	b := d.block(h, want(h))
	refuse := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, format, args...).WithDetail([]Block{b})
	}
	switch {
	case j.Standing == Active:
		return refuse("%s is at it (last sign %s)", name, quote.Since(d.now.Sub(j.Last))).
			WithHint("ask: bureau ask %s TEXT, or wait: bureau claim … --wait 10m", name)
	case j.Standing == Quiet && s.Process == Unknown:
		return refuse("%s has shown no sign for %s, but nobody here was awake to miss it", name, quote.Ago(d.now.Sub(j.Last))).
			WithHint("try again in %s", quote.Ago(2*Heartbeat-s.Watched+time.Second))
	case j.Standing == Quiet && !j.LongQuiet:
		return refuse("%s lives but had no turn for %s; it can be overtaken after %s", name, quote.Ago(d.now.Sub(j.Last)), quote.Ago(max(d.rules.QuietAfter, h.TTL))).
			WithHint("ask: bureau ask %s TEXT", name)
	}
	d.looks(h)
	return d.looked(h, h.ID, j.Standing, p, c.Reason)
}

// succeed ends a claim and begins the successor's.
func (d *decider) succeed(c Takeover, h *Claim, how How, s Sign, p *Probe) (Decision, error) {
	if c.Only {
		how = Broken // nobody has it then
	}
	d.add(KindEnded, EndedClaim{Claim: h.ID, Holder: h.Holder, How: how, By: d.by.Agent, Summary: c.Reason, Sign: &s, Probe: p})
	if c.Only {
		d.out.Claim = *h
		return d.out, nil
	}
	w := h.Want
	if c.Tree != "" {
		w.Tree = c.Tree
	}
	if err := d.besides(c, &w, h); err != nil {
		return d.out, err
	}
	made := Claim{
		ID: c.ID, Holder: d.by.Agent, Conversation: d.by.conversation(), For: d.by.For, Want: w, Intent: c.Intent, Task: h.Task, Files: h.Files,
		Since: d.now, Renewed: d.now, TTL: c.TTL, Keep: h.Keep,
	}
	if made.Intent == "" {
		made.Intent = h.Intent
	}
	if made.TTL == 0 {
		made.TTL = h.TTL
	}
	d.add(KindGranted, GrantedClaim{Claim: made})
	d.out.Claim = made
	return d.out, nil
}

// adopt makes the caller the holder of what runs without a session: it goes on
// running, and the claim goes on.
func (d *decider) adopt(c Takeover, h *Claim, p *Probe) (Decision, error) {
	if c.Only {
		return Decision{}, fault.New(fault.Conflict, "claim %s runs without a session", h.ID).WithHint("end it: bureau takeover %s --break --only", h.ID)
	}
	d.looks(h)
	if err := d.looked(h, h.ID, Unowned, p, c.Reason); err != nil {
		return d.out, err
	}
	if err := d.besides(c, &h.Want, h); err != nil {
		return d.out, err
	}
	d.add(KindMoved, MovedClaim{Claim: h.ID, From: h.Holder, To: d.by.Agent, For: d.by.For, Conversation: d.by.conversation(), Why: reasonOr(c.Reason, adopted), Probe: p})
	next := *h
	next.Holder, next.For, next.Conversation, next.Parked, next.Renewed = d.by.Agent, d.by.For, d.by.conversation(), time.Time{}, d.now
	d.out.Claim = next
	return d.out, nil
}

// want lists what a claim covers, as text.
func want(c *Claim) []string {
	out := make([]string, 0, len(c.Paths)+len(c.Resources))
	for _, p := range c.Paths {
		out = append(out, c.Show(p))
	}
	for _, r := range c.Resources {
		out = append(out, string(r))
	}
	return out
}

// refusal says what stands in the way of a claim, and the ways out.
func (d *decider) refusal() error {
	b := d.out.Blocks[0]
	more := ""
	if n := len(d.out.Blocks); n > 1 {
		more = " (and " + plural(n-1, "other") + ")"
	}
	what := b.what()
	switch {
	case b.Own && b.Waiting != "":
		return fault.New(fault.Conflict, "your own subagent %s has waited for %s for %s and comes first%s", b.Name, what, quote.Ago(d.now.Sub(b.Since)), more).
			WithHint("it has it as soon as it is free, until it stops").WithDetail(d.out.Blocks)
	case b.Own:
		return fault.New(fault.Conflict, "%s is held by your own subagent %s: %s (claimed %s)%s", what, b.Name, b.Intent, quote.Since(d.now.Sub(b.Since)), more).
			WithHint("it goes on there and keeps it until it stops; where it is not needed any more: bureau release %s", b.Claim).WithDetail(d.out.Blocks)
	case b.Waiting != "" && len(b.Yours) > 0:
		yours := strings.Join(shorten(b.Yours, 3), ", ")
		return fault.New(fault.Conflict, "%s has waited for %s for %s and comes first%s; it waits for %s too, which you hold", b.Name, what, quote.Ago(d.now.Sub(b.Since)), more, yours).
			WithHint("release %s, then take a place behind it: bureau claim … --wait 10m", yours).WithDetail(d.out.Blocks)
	case b.Waiting != "":
		return fault.New(fault.Conflict, "%s has waited for %s for %s and comes first%s", b.Name, what, quote.Ago(d.now.Sub(b.Since)), more).
			WithHint("take a place behind it: bureau claim … --wait 10m").WithDetail(d.out.Blocks)
	case b.Foreign != "":
		return fault.New(fault.Conflict, "%s is locked by %s (mclaude lock %q, %s)%s", what, b.Name, b.Foreign, b.Intent, more).
			WithHint("wait for its release: bureau claim … --wait 10m; when its heartbeat stops the lock counts as stale").WithDetail(d.out.Blocks)
	}
	err := fault.New(fault.Conflict, "%s is held by %s: %s (claimed %s, %s)%s", what, b.Name, b.Intent, quote.Since(d.now.Sub(b.Since)), b.state(d.now), more).
		WithDetail(d.out.Blocks)
	switch {
	case b.Probe != nil && b.Probe.Verdict == ProbeBusy && b.Standing == Unowned:
		return err.WithHint("it runs on without its session: %s; bureau takeover %s takes it up", b.Probe.Saw, b.Claim)
	case b.Probe != nil && b.Probe.Verdict == ProbeBusy:
		return err.WithHint("its lease is over, but it is in use: %s", b.Probe.Saw)
	case b.Undecided() && b.Lapsed && b.scope == "":
		return err.WithHint("its lease is over, so claiming gets it: bureau claim %s --intent TEXT", quote.Shell(b.Overlap[0]))
	case b.Standing == Stale, b.Standing == Parking, b.Standing == Unowned, b.LongQuiet:
		return err.WithHint("take it over: bureau takeover %s", b.Claim)
	}
	return err.WithHint("wait: bureau claim … --wait 10m, or ask: bureau ask %s \"may I have %s?\"", b.Name, what)
}

// state says in words how the holder is.
func (b *Block) state(now time.Time) string {
	s := string(b.Standing)
	if !b.Last.IsZero() {
		s += ", last sign " + quote.Since(now.Sub(b.Last))
	}
	return s
}
