package office

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// Claiming is something that somebody wants to claim.
type Claiming struct {
	Want   claim.Want
	Intent string
	Task   string
	Files  []string
	TTL    time.Duration // of the lease; 0: the project's
	Keep   bool
	Apart  bool          // refused also where the caller itself has the thing already
	Wait   time.Duration // how long to wait for what others hold; 0: not at all
	// Stay keeps the place in the queue for so long, while this process lives,
	// when Wait is over: a later call for the same with Stay set goes on from
	// it. 0 gives it up.
	Stay time.Duration
	// Waiting, if set, is called once a place in the queue is taken.
	Waiting func(blocks []claim.Block)
}

// Claim claims what is wanted, all of it or nothing. When it returns nil the
// claim is durable and the caller holds it. Errors: conflict with the
// []claim.Block that stand in the way as detail, timeout when Wait passed
// meanwhile, invalid, denied for a process that may only read. What stands in
// the way without a sign of life is looked at (Options.Probe) and, if it is
// free, ended on the way.
func (o *Office) Claim(ctx context.Context, caller Caller, p Project, c Claiming) (ClaimView, error) {
	if err := caller.mayChange(); err != nil {
		return ClaimView{}, err
	}
	p = o.marked(ctx, p)
	take := claim.Take{
		ID: event.NewID(o.now()), Want: c.Want, Intent: c.Intent, Task: c.Task, Files: c.Files, TTL: c.TTL, Keep: c.Keep, Apart: c.Apart, Rejoin: c.Stay > 0,
	}
	if c.Wait < 0 || c.Wait > claim.MaxWait {
		return ClaimView{}, fault.New(fault.Invalid, "a wait of %s is not possible: up to %s", c.Wait, claim.MaxWait)
	}
	if c.Wait == 0 {
		d, err := o.decideProbing(ctx, caller, p, take)
		if err != nil {
			return ClaimView{}, err
		}
		return o.claimDone(ctx, p, d)
	}
	deadline := o.Now().Add(c.Wait)
	take.Wait, take.Until = event.NewID(o.now()), deadline
	if c.Stay > 0 {
		// It ends when nobody holds it any more.
		take.Until = o.Now().Add(claim.MaxWait)
	}
	return o.awaitClaim(ctx, caller, p, c, take, deadline)
}

// awaitClaim tries until the claim is granted or the time is over. It is woken
// by the bell that rings when a claim of the project ends.
func (o *Office) awaitClaim(ctx context.Context, caller Caller, p Project, c Claiming, take claim.Take, deadline time.Time) (ClaimView, error) {
	topics, err := o.claimTopics(ctx, caller, p, &c.Want)
	if err != nil {
		return ClaimView{}, err
	}
	b, err := o.listen(topics...)
	if err != nil {
		return ClaimView{}, err
	}
	defer b.Close()
	live, err := o.Live(ctx)
	if err != nil {
		return ClaimView{}, err
	}
	self := presence.Self()
	// The place is held before it is taken, so that it never looks deserted.
	if err := live.HoldPlace(ctx, take.Wait, self, o.Now()); err != nil {
		return ClaimView{}, err
	}
	stays := false
	defer func() {
		if !stays {
			_ = live.LeavePlace(context.WithoutCancel(ctx), take.Wait)
		}
	}()
	giveUp := func() {
		_, _ = o.decideClaims(context.WithoutCancel(ctx), caller, p, claim.GiveUp{Wait: take.Wait}, nil)
	}
	told, probed := false, time.Time{}
	for {
		// A look at the things themselves costs seconds: at first, and then
		// once a minute.
		decide := o.decideClaimsPlain
		if now := o.Now(); probed.IsZero() || now.Sub(probed) >= time.Minute {
			decide, probed = o.decideProbing, now
		}
		d, err := decide(ctx, caller, p, take)
		switch {
		case err != nil && fault.Is(err, fault.Conflict) && !o.Now().Before(deadline):
			giveUp()
			return ClaimView{}, fault.New(fault.Timeout, "not free within %s: %s", c.Wait, err).WithHint("%s", fault.HintOf(err)).WithDetail(detailOf(err))
		case err != nil:
			giveUp()
			return ClaimView{}, err
		case d.Wait == nil:
			return o.claimDone(ctx, p, d)
		case d.Wait.ID != take.Wait:
			// It goes on from a place that an earlier call kept.
			minted := take.Wait
			take.Wait = d.Wait.ID
			if err := errors.Join(live.HoldPlace(ctx, take.Wait, self, o.Now()), live.LeavePlace(ctx, minted)); err != nil {
				giveUp()
				return ClaimView{}, err
			}
		}
		if c.Stay > 0 && !o.Now().Before(deadline) {
			if err := live.StayPlace(ctx, take.Wait, self, o.Now(), c.Stay); err != nil {
				giveUp()
				return ClaimView{}, err
			}
			stays = true
			return ClaimView{}, fault.New(fault.Timeout, "not free within %s", c.Wait).
				WithHint("the place in the queue is kept for %s: ask for the same again", c.Stay).WithDetail(d.Blocks)
		}
		if !told && c.Waiting != nil {
			c.Waiting(d.Blocks)
		}
		told = true
		left := max(deadline.Sub(o.Now()), time.Millisecond)
		if _, err := b.Wait(ctx, min(left, presence.PlaceLease/3)); err != nil && ctx.Err() != nil {
			giveUp()
			return ClaimView{}, waitEnded(ctx, err)
		}
		if err := live.HoldPlace(ctx, take.Wait, self, o.Now()); err != nil {
			giveUp()
			return ClaimView{}, err
		}
	}
}

func detailOf(err error) any {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Detail
	}
	return nil
}

// claimTopic is what rings when a claim of a project ends; it has the form of a
// bell's topic.
func claimTopic(scope string) string { return string(event.Derive("claims", scope)) }

// decideClaims carries out a command on a project's claims. Locks of other
// programs that cannot be read stop nothing: whoever gets a claim then is told
// when its own lock file is written.
func (o *Office) decideClaims(ctx context.Context, caller Caller, p Project, c claim.Command, probes map[event.ID]claim.Probe) (claim.Decision, error) {
	l, _, err := o.readLocked(ctx, p, treeOf(c))
	if err != nil {
		return claim.Decision{}, err
	}
	return o.decideAmong(ctx, caller, p, c, probes, l)
}

// decideAmong is decideClaims among these locks of other programs. A refusal is
// kept apart from a failure: what was due has ended all the same.
func (o *Office) decideAmong(ctx context.Context, caller Caller, p Project, c claim.Command, probes map[event.ID]claim.Probe, l locked) (claim.Decision, error) {
	var d claim.Decision
	var refusal error
	var lost bool
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project = p.ID
		refusal = nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		if _, takes := c.(claim.Take); takes {
			if refusal, err = tx.left(caller); refusal != nil || err != nil {
				return err
			}
		}
		known, err := tx.projectByID(p.ID)
		switch {
		case err != nil:
			return err
		case known.Root == "" || known.Mark == "" && p.Mark != "" || known.Root != p.Root && Gone(known.Root) || known.Root == p.Root && known.stamp != o.stamp(p.Root):
			if err := tx.noteProject(p); err != nil {
				return err
			}
		case known.Root != p.Root && !Gone(known.Root) && Gone(p.Root):
			// Whoever began before the move still means the old place, where
			// nothing is held any more.
			if _, leaves := c.(claim.GiveUp); !leaves {
				refusal = fault.New(fault.Conflict, "the project was moved from %s to %s meanwhile", p.Root, known.Root).
					WithHint("go to its new place and ask anew there")
				return nil
			}
		}
		if w := wantOf(c); o.stampOf != nil && w != nil && w.Tree != "" && len(w.Paths) > 0 {
			if _, takes := c.(claim.Take); takes && Gone(w.Tree) {
				refusal = fault.New(fault.Conflict, "the work tree %s is not there any more", w.Tree).
					WithHint("if it was moved, go to its new place and ask anew there")
				return nil
			}
			if err := tx.follow(p, w, caller.Agent.ID); err != nil {
				return err
			}
		}
		ev, err := tx.evidenceOn(caller, p, c, l)
		if err != nil {
			return err
		}
		ev.Probes = probes
		d, err = tx.onClaims(ClaimScope(p), by, c, ev)
		if len(l.own) > 0 && err == nil {
			rules, rerr := o.tables.Claims(tx.t, ClaimScope(p)).Rules()
			d.Meets, err = append(d.Meets, meetLocks(c, l.own, rules)...), rerr
		}
		if err == nil && d.Claim.Auto && !d.Known {
			tx.editsLater(ClaimScope(p), d.Claim.Holder)
		}
		if fault.CodeOf(err) != "" && !fault.Is(err, fault.Unavailable) {
			refusal, err = err, nil
		}
		return err
	})
	if err == nil {
		err = refusal
	}
	ctx = committed(ctx)
	made := slices.ContainsFunc(d.Events, func(e event.Event) bool { return e.Kind == claim.KindGranted })
	if err == nil && !d.Known && d.Claim.ID != "" && !d.Claim.Auto {
		lost, err = o.mirrorClaim(ctx, caller, p, d.Claim, made)
	}
	if lost {
		return o.overtaken(ctx, caller, p, d, made)
	}
	for i := range d.With {
		err = errors.Join(err, o.mirrorAlong(ctx, caller, d.With[i].ID))
	}
	return d, err
}

// onClaims decides a command on a scope's claims, appends and folds its events
// and tells whom it concerns. All projects' claims are tables of one store, so
// what the decision saw of other projects holds too when it is written. The events of a refusal are kept: they end what
// was due.
func (tx *Tx) onClaims(scope string, by claim.By, c claim.Command, ev claim.Evidence) (claim.Decision, error) {
	subject := event.ClaimsSubject(scope)
	if err := tx.known(subject); err != nil {
		return claim.Decision{}, err
	}
	table := tx.o.tables.Claims(tx.t, scope)
	decide := func(c claim.Command) (claim.Decision, error) {
		d, err := claim.Decide(table, by, c, tx.now, ev)
		if eerr := tx.decideElsewhere(by, &d); eerr != nil {
			return d, eerr
		}
		if len(d.Events) == 0 {
			return d, err
		}
		if serr := tx.stampGranted(d.Events); serr != nil {
			return d, serr
		}
		version, verr := tx.o.journal.In(tx.t).Version(subject)
		if verr != nil {
			return d, verr
		}
		notes, terr := tx.tellClaims(scope, by, d.Events)
		if terr != nil {
			return d, terr
		}
		rec, aerr := tx.append("", subject, &version, d.Events)
		if aerr != nil {
			return d, aerr
		}
		for _, write := range notes {
			if werr := write(); werr != nil {
				return d, werr
			}
		}
		if d.Claim.ID != "" {
			if now, found, err := table.Claim(d.Claim.ID); err == nil && found {
				d.Claim = now
			}
		}
		if d.Wait != nil && d.Wait.Seq == 0 {
			d.Wait.Seq = rec.Seq
		}
		return d, err
	}
	if due, err := table.Parked(tx.now); err != nil {
		return claim.Decision{}, err
	} else if len(due) > 0 {
		if _, err := decide(claim.Sweep{}); err != nil {
			return claim.Decision{}, err
		}
	}
	return decide(c)
}

// tellClaims rings those who wait for the claims that end, and gives what is
// to be written to the holders who lose or get one.
func (tx *Tx) tellClaims(scope string, by claim.By, events []event.Event) (notes []func() error, err error) {
	table := tx.o.tables.Claims(tx.t, scope)
	tx.claimed[scope] = true
	for _, e := range events {
		switch e.Kind {
		case claim.KindEnded:
			var d claim.EndedClaim
			if err := e.Decode(&d); err != nil {
				return nil, err
			}
			tx.bells[claimTopic(scope)] = true
			c, found, err := table.Claim(d.Claim)
			if err != nil || !found {
				return nil, err
			}
			tx.unlock(scope, &c, d.How, d.Summary)
			if d.By != d.Holder && d.How != claim.SessionEnded && !c.Auto {
				notes = append(notes, func() error { return tx.tellHolder(&c, d.How, by, d.Summary, d.Probe) })
			}
		case claim.KindMoved, claim.KindChanged, claim.KindWaitEnded, claim.KindParked:
			tx.bells[claimTopic(scope)] = true
			var d claim.MovedClaim
			if e.Kind != claim.KindMoved || e.Decode(&d) != nil {
				continue
			}
			c, found, err := table.Claim(d.Claim)
			if err != nil || !found {
				return nil, err
			}
			tx.unlock(scope, &c, claim.Released, "given to "+tx.nameOf(d.To))
			notes = append(notes, func() error {
				if d.To == by.Agent {
					return tx.tellHolder(&c, claim.Taken, by, d.Words(), d.Probe)
				}
				body := fmt.Sprintf("%s gave you the claim %s: %s (%s).", tx.nameOf(d.From), c.ID, strings.Join(covered(&c), ", "), c.Intent)
				if words := d.Words(); words != "" {
					body += "\n\n" + words
				}
				return tx.note(by, d.To, "a claim is yours now", body,
					event.Derive("claim moved", string(c.ID), string(d.To), fmt.Sprint(c.Token)))
			})
		}
	}
	return notes, nil
}

// tellHolder writes to somebody who lost a claim.
func (tx *Tx) tellHolder(c *claim.Claim, how claim.How, by claim.By, reason string, p *claim.Probe) error {
	what := map[claim.How]string{
		claim.Taken: "was taken over by %s", claim.Broken: "was ended by %s", claim.Expired: "had run out and went to %s", claim.Overtaken: "gave way to another program's lock (noticed by %s)",
	}[how]
	if what == "" {
		what = "was ended by %s"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your claim %s of %s (%s) "+what+". Its token %d passes no guard any more.", c.ID, strings.Join(covered(c), ", "), c.Intent, tx.nameOf(by.Agent), c.Token)
	if reason = strings.TrimSpace(reason); reason != "" {
		fmt.Fprintf(&b, "\nReason: %s", reason)
	}
	if p != nil && p.Saw != "" {
		fmt.Fprintf(&b, "\nSeen before: %s", p.Saw)
	}
	b.WriteString("\nBefore you go on there, read the files again and claim them anew.")
	return tx.note(by, c.Holder, "you lost a claim", b.String(), event.Derive("claim lost", string(c.ID), fmt.Sprint(c.Token)))
}

// note writes a message that belongs to what was just decided. Its ids derive
// from that, so it is written once.
func (tx *Tx) note(by claim.By, to event.ID, subject, body string, id event.ID) error {
	return tx.write(by, to, Letter{Subject: subject, Body: []byte(body)}, id)
}

// write is note for any letter.
func (tx *Tx) write(by claim.By, to event.ID, l Letter, id event.ID) error {
	a, found, err := tx.readerFor(to)
	if err != nil || !found || to == by.Agent || a.ID == by.Agent {
		return err
	}
	from, found, err := tx.o.tables.Agent(tx.t, by.Agent)
	if err != nil || !found {
		return err
	}
	return tx.post(from, a, l, id)
}

// readerFor gives who reads what the office tells an agent: for a subagent that
// has ended its session's main agent, and nobody for who is retired.
func (tx *Tx) readerFor(to event.ID) (a roster.Agent, found bool, err error) {
	a, found, err = tx.o.tables.Agent(tx.t, to)
	if err == nil && found && ended(&a) {
		a, found, err = tx.mainOf(&a)
	}
	return a, found && !a.Retired, err
}

// post sends a letter of the office itself, once for an id.
func (tx *Tx) post(from, to roster.Agent, l Letter, id event.ID) error {
	l.To = []string{string(to.ID)}
	m, err := tx.o.compose(&l)
	if err != nil {
		return err
	}
	m.From = from.ID
	mint := tx.mint
	tx.mint = id
	_, err = tx.send(Caller{Agent: from}, &l, m)
	tx.mint = mint
	return err
}

// covered lists what a claim covers.
func covered(c *claim.Claim) []string {
	var out []string
	for _, p := range c.Paths {
		out = append(out, c.Show(p))
	}
	for _, r := range c.Resources {
		out = append(out, string(r))
	}
	return out
}
