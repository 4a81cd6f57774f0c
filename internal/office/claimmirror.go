package office

import (
	"context"
	"errors"
	"slices"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// mirrored reports whether a claim has a lock file of its own where its project
// keeps them: the explicit ones on paths, and the work that has a lock's name.
// What edits claimed for an agent has one together; see mirrorEdits.
func mirrored(c *claim.Claim) bool {
	return !c.Auto && (len(c.Paths) > 0 || slices.ContainsFunc(c.Resources, func(r claim.Resource) bool { return r.Kind() == LockKind }))
}

// LockKind is the kind of the resources that stand for the names of locks.
const LockKind = "lock"

// foreignLocks lists other programs' locks in a project: those that could be
// read, also with an error.
func (o *Office) foreignLocks(ctx context.Context, p Project, tree string) ([]claim.Foreign, error) {
	list, unread, err := o.readLocks(ctx, p, tree)
	if err == nil {
		err = unread
	}
	return list, err
}

// readLocks is foreignLocks for decisions. unread says why some or all of the
// locks could not be read; the office's own claims count all the same. tree is
// the work tree that it is about, "" for none in particular.
func (o *Office) readLocks(ctx context.Context, p Project, tree string) (list []claim.Foreign, unread, err error) {
	if o.mirror == nil || p.Root == "" {
		return nil, nil, nil
	}
	r, err := o.ClaimRules(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	list, _, unread, err = o.readLocksUnder(ctx, p, tree, r)
	return list, unread, err
}

// readLocksUnder is readLocks where the project's settings are known. own are
// the locks that this office wrote.
func (o *Office) readLocksUnder(ctx context.Context, p Project, tree string, r claim.Rules) (list, own []claim.Foreign, unread, err error) {
	if o.mirror == nil || p.Root == "" || r.Mirror == "off" {
		return nil, nil, nil, nil
	}
	list, unread = o.mirror.Foreign(p.Root, tree, r)
	if !slices.ContainsFunc(list, func(f claim.Foreign) bool { return f.Claim != "" }) {
		return list, nil, unread, nil
	}
	// What stands here as a claim is no other program's; what ended here is a
	// file that could not be removed.
	err = o.look(ctx, func(tx *Tx) error {
		var failed error
		list = slices.DeleteFunc(list, func(f claim.Foreign) bool {
			if f.Claim == "" || failed != nil {
				return false
			}
			ours, err := tx.ownLock(f.Claim)
			failed = err
			if ours {
				own = append(own, f)
			}
			return ours
		})
		return failed
	})
	return list, own, unread, err
}

// ownLock reports whether what a lock was written for, a claim or the agent whose
// edits it is of, is known in this office.
func (tx *Tx) ownLock(id event.ID) (ours bool, err error) {
	_, ours, err = tx.o.tables.ClaimScope(tx.t, id)
	if err == nil && !ours {
		_, _, ours, err = tx.o.tables.FinishedClaim(tx.t, id)
	}
	if err == nil && !ours {
		_, ours, err = tx.o.tables.Agent(tx.t, id)
	}
	return ours, err
}

// mirrorClaim writes the lock file of a claim that was granted or changed.
// What was claimed without it stands whatever becomes of the file; only a lock
// of another program that was there first, or took the place of its file, takes
// it away. made says that it was granted just now.
func (o *Office) mirrorClaim(ctx context.Context, caller Caller, p Project, c claim.Claim, made bool) (lost bool, err error) {
	if o.mirror == nil || p.Root == "" || !mirrored(&c) {
		return false, nil
	}
	if !made {
		gone, err := o.goneOf(ctx, p, c.Tree, func() ([]claim.Claim, error) { return []claim.Claim{c}, nil })
		if err != nil || len(gone) > 0 {
			return len(gone) > 0, err
		}
	}
	var r claim.Rules
	l := MirroredClaim{Process: caller.Process, Session: caller.Session, Ours: func(id event.ID) (ours bool, err error) {
		err = o.look(ctx, func(tx *Tx) (err error) {
			ours, err = tx.ownLock(id)
			return err
		})
		return ours, err
	}}
	stands := false
	err = o.look(ctx, func(tx *Tx) error {
		table := o.tables.Claims(tx.t, ClaimScope(p))
		var err error
		if r, err = table.Rules(); err != nil {
			return err
		}
		if l.Claim, stands, err = table.Claim(c.ID); err != nil || !stands {
			return err
		}
		a, found, err := o.tables.Agent(tx.t, l.Holder)
		l.HolderName = string(a.Name)
		l.Until = tx.pulse(&l.Claim, r).Until
		if l.Holder != caller.Agent.ID {
			l.Process, l.Session = roster.Process{}, ""
			if found && a.Life != nil {
				l.Process = a.Life.Process
			}
		}
		return err
	})
	if err != nil || !stands || r.Mirror == "off" {
		return false, err
	}
	lost, err = o.mirror.Granted(p.Root, r, l)
	if err != nil {
		return lost, fault.New(fault.Unavailable, "the claim stands, but its lock file could not be written: %w", err).
			WithHint("mclaude sessions do not see it; bureau guard set --mirror off keeps no lock files")
	}
	return lost, nil
}

// mirrorAlong writes the lock file of a claim that went along with another one
// to a new holder, if it stands.
func (o *Office) mirrorAlong(ctx context.Context, caller Caller, id event.ID) error {
	if o.mirror == nil {
		return nil
	}
	id, p, err := o.claimPlace(ctx, string(id))
	if err != nil {
		return nil // it has ended
	}
	c, found, err := o.liveClaim(ctx, ClaimScope(p), id)
	if err != nil || !found {
		return err
	}
	lost, err := o.mirrorClaim(ctx, caller, p, c, false)
	if lost {
		_, err = o.overtaken(ctx, caller, p, claim.Decision{Claim: c}, false)
	}
	return err
}

// overtaken ends a claim whose lock file another program took: between the look
// and the writing, so that it never was anybody's, or later.
func (o *Office) overtaken(ctx context.Context, caller Caller, p Project, d claim.Decision, made bool) (claim.Decision, error) {
	const why = "another program's lock was there first"
	what := covered(&d.Claim)
	var command claim.Command = claim.Release{Claims: []event.ID{d.Claim.ID}, Summary: why}
	refusal := fault.New(fault.Conflict, "%s was locked by another program a moment earlier", what[0])
	if !made {
		command = claim.Overtake{Claims: []event.ID{d.Claim.ID}, Why: overtakenWhy(nil)}
		refusal = fault.New(fault.Conflict, "your claim %s of %s is over: %s", d.Claim.ID, what[0], overtakenWhy(nil))
	}
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project = p.ID
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		_, err = tx.onClaims(ClaimScope(p), by, command, tx.evidence())
		return err
	})
	return claim.Decision{}, errors.Join(err, refusal.WithHint("bureau who %s says by whom", what[0]))
}

// unlock notes that a claim's lock file goes once the change is durable.
func (tx *Tx) unlock(scope string, c *claim.Claim, how claim.How, summary string) {
	if c.Auto {
		tx.editsLater(scope, c.Holder)
		return
	}
	if !mirrored(c) {
		return
	}
	root, rules, ok := tx.mirrorOf(scope)
	if !ok {
		return
	}
	m := MirroredClaim{Claim: *c, HolderName: tx.nameOf(c.Holder)}
	tx.after = append(tx.after, func() { _ = tx.o.mirror.Ended(root, rules, m, how, summary) })
}

// BeatMirrors refreshes the lock files of the claims whose holders live, and
// says how many they are. A server of the machine calls it at least once a
// minute as long as there are any. It costs a look for each project's lock
// folder, and more only where files of ours are in one.
func (o *Office) BeatMirrors(ctx context.Context) (beaten int, err error) {
	if o.mirror == nil {
		return 0, nil
	}
	type scope struct {
		name, root string
		rules      claim.Rules
	}
	var scopes []scope
	err = o.look(ctx, func(tx *Tx) error {
		scopes = nil
		names, err := o.tables.ClaimScopes(tx.t)
		if err != nil {
			return err
		}
		for _, name := range names {
			if root, rules, ok := tx.mirrorOf(name); ok {
				scopes = append(scopes, scope{name, root, rules})
			}
		}
		return nil
	})
	for _, s := range scopes {
		n, berr := o.beat(ctx, s.name, s.root, s.rules)
		beaten += n
		err = errors.Join(err, berr)
	}
	return beaten, err
}

// beat refreshes the lock files of a scope's claims, and ends the claims whose
// files other programs took.
func (o *Office) beat(ctx context.Context, scope, root string, r claim.Rules) (int, error) {
	beaten, err := o.mirror.Beat(root, r, func(ids []event.ID) (pulses map[event.ID]Pulse, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			pulses = map[event.ID]Pulse{}
			for _, id := range ids {
				c, found, err := o.tables.Claims(tx.t, scope).Claim(id)
				if err != nil {
					return err
				}
				if found {
					pulses[id] = tx.pulse(&c, r)
				} else if p, found, err := tx.endedPulse(id); err != nil {
					return err
				} else if found {
					pulses[id] = p
				} else if p, found, err := tx.editsPulse(scope, id, r); err != nil {
					return err
				} else if found {
					pulses[id] = p
				}
			}
			return nil
		})
		return pulses, err
	})
	return beaten, errors.Join(err, o.endGone(ctx, scope, root))
}

// beatOwn refreshes the lock files where an agent holds something that has no
// server: commands are all that can.
func (o *Office) beatOwn(ctx context.Context, agent event.ID) {
	if o.mirror == nil {
		return
	}
	var after []func()
	_ = o.look(ctx, func(tx *Tx) error {
		scopes, err := o.tables.HolderScopes(tx.t, agent)
		after = nil
		for _, s := range scopes {
			tx.beatLater(s)
		}
		after, tx.after = tx.after, nil
		return err
	})
	for _, do := range after {
		do()
	}
}

// beatLater notes that the lock files of a scope are refreshed once the change
// is durable.
func (tx *Tx) beatLater(scope string) {
	root, rules, ok := tx.mirrorOf(scope)
	if !ok {
		return
	}
	o, ctx := tx.o, context.WithoutCancel(tx.t.Context())
	tx.after = append(tx.after, func() { _, _ = o.beat(ctx, scope, root, rules) })
}

// mirrorOf says where the lock files of a scope would be; false if it has none.
func (tx *Tx) mirrorOf(scope string) (root string, rules claim.Rules, ok bool) {
	if tx.o.mirror == nil {
		return "", rules, false
	}
	p, err := tx.scopeProject(scope)
	if err != nil || p.Root == "" {
		return "", rules, false
	}
	rules, err = tx.o.tables.Claims(tx.t, scope).Rules()
	return p.Root, rules, err == nil && rules.Mirror != "off"
}

// pulse says how long other programs should count a claim as held: its holder
// lives, may come back, or showed a sign within the lease, or it is to outlive
// its session. A holder whose process lives, and that no server speaks for, is
// held for as long as it is not taken over here without a word.
func (tx *Tx) pulse(c *claim.Claim, r claim.Rules) Pulse {
	s := tx.sign(c)
	last := later(s.At, c.Renewed)
	switch {
	case c.Auto:
		// It is anybody's once its short lease is over.
		until := last.Add(c.TTL)
		return Pulse{Lives: s.Process != claim.Gone && tx.now.Before(until), Until: until}
	case s.Process == claim.Alive && tx.served(c):
		return Pulse{Lives: true}
	case c.Keep:
		return Pulse{Lives: true, Until: last.Add(claim.MaxKeep)}
	case tx.now.Before(c.Parked):
		return Pulse{Lives: true, Until: c.Parked}
	case s.Process == claim.Alive:
		return Pulse{Lives: true, Until: last.Add(max(c.TTL, r.QuietAfter))}
	default:
		return Pulse{Lives: s.Process == claim.Unknown && tx.now.Sub(last) < c.TTL, Until: last.Add(c.TTL)}
	}
}

// served reports whether a server of the holder's own session is there to give
// signs of life for it.
func (tx *Tx) served(c *claim.Claim) bool {
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return false
	}
	for _, agent := range []event.ID{c.Holder, c.For} {
		if agent == "" {
			continue
		}
		lives, err := live.Lives(tx.t.Context(), agent)
		if err != nil {
			return false
		}
		for _, l := range lives {
			if l.Role == presence.Server && presence.Verdict(l.Process) == roster.Alive {
				return true
			}
		}
	}
	return false
}
