package office

import (
	"context"
	"fmt"
	"slices"

	"bureau/internal/claim"
	"bureau/internal/event"
)

// gone is a claim whose lock file another program removed, and locked the same.
type gone struct {
	claim claim.Claim
	lock  claim.Foreign // the other's
}

// overtakenWhy says by what a claim was overtaken.
func overtakenWhy(by *claim.Foreign) string {
	const removed = "its lock file was removed"
	if by == nil {
		return removed + ", and another program has a lock on the same"
	}
	return fmt.Sprintf("%s, and %s locked the same (mclaude lock %q)", removed, by.Holder, by.Name)
}

// goneOf gives those of some claims of a project that another program took the
// place of: the lock file that was written for the claim is gone, and a lock of
// the other on the same stands. A claim that never had a file was not seen by
// the other, and stays. which is called only where there are such locks.
func (o *Office) goneOf(ctx context.Context, p Project, tree string, which func() ([]claim.Claim, error)) ([]gone, error) {
	if o.mirror == nil || p.Root == "" {
		return nil, nil
	}
	locks, _, err := o.readLocks(ctx, p, tree)
	if err != nil {
		return nil, err
	}
	return o.goneAmong(ctx, p, tree, locks, which)
}

func (o *Office) goneAmong(ctx context.Context, p Project, tree string, locks []claim.Foreign, which func() ([]claim.Claim, error)) ([]gone, error) {
	if !slices.ContainsFunc(locks, func(f claim.Foreign) bool { return !f.Stale && len(f.Paths) > 0 }) {
		return nil, nil
	}
	list, err := which()
	if err != nil {
		return nil, err
	}
	var out []gone
	for i := range list {
		if j := slices.IndexFunc(locks, func(f claim.Foreign) bool { return f.Over(&list[i].Want) }); j >= 0 {
			out = append(out, gone{list[i], locks[j]})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	r, err := o.ClaimRules(ctx, p)
	if err != nil {
		return nil, err
	}
	missing, err := o.mirror.Missing(p.Root, tree, r)
	if err != nil {
		return nil, nil // what cannot be seen is not gone
	}
	return slices.DeleteFunc(out, func(g gone) bool {
		id := g.claim.ID
		if g.claim.Auto {
			id = g.claim.Holder
		}
		return !slices.Contains(missing, id)
	}), nil
}

// beside looks at other programs' locks on files that the caller holds, before
// a guard allows it to change them. Claims that were overtaken end. later are
// the locks that came after the caller's claims and take nothing away. own are
// the locks of this office. The error is a conflict for locks that come first.
func (o *Office) beside(ctx context.Context, caller Caller, p Project, e Editing, locks, own []claim.Foreign) (later []claim.Block, err error) {
	here := slices.DeleteFunc(slices.Clone(locks), func(f claim.Foreign) bool { return f.Stale || len(f.Paths) == 0 })
	if len(here) == 0 {
		return nil, nil
	}
	scope := ClaimScope(p)
	lost, err := o.goneAmong(ctx, p, e.Tree, here, func() (held []claim.Claim, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			by, err := tx.by(caller)
			if err == nil {
				held, err = tx.heldBy(scope, by)
			}
			return err
		})
		return held, err
	})
	if err != nil {
		return nil, err
	}
	ask := claim.Beside{Paths: e.Paths, Tree: e.Tree, Fold: e.Fold, Own: own, New: e.Made}
	if len(lost) > 0 && o.ReadOnly() {
		for i := range lost {
			ask.Gone = append(ask.Gone, lost[i].claim.ID)
		}
	} else if len(lost) > 0 {
		var by claim.By
		if err := o.look(ctx, func(tx *Tx) (err error) { by, err = tx.by(caller); return err }); err != nil {
			return nil, err
		}
		if err := o.overtake(ctx, caller.actor(), scope, by, lost); err != nil {
			return nil, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		ev := tx.evidence()
		ev.Foreign = here
		d, err := claim.Decide(o.tables.Claims(tx.t, scope), by, ask, tx.now, ev)
		later = d.Meets
		return err
	})
	return later, err
}

// overtake ends claims that another program took the place of, and tells those
// who held them.
func (o *Office) overtake(ctx context.Context, actor event.Actor, scope string, by claim.By, lost []gone) error {
	return o.change(ctx, actor, func(tx *Tx) error {
		if p, err := tx.scopeProject(scope); err == nil {
			tx.project = p.ID
		}
		byHolder := map[event.ID][]gone{}
		for i := range lost {
			g := &lost[i]
			if _, stands, err := tx.o.tables.Claims(tx.t, scope).Claim(g.claim.ID); err != nil {
				return err
			} else if !stands {
				continue
			}
			if _, err := tx.onClaims(scope, by, claim.Overtake{Claims: []event.ID{g.claim.ID}, Why: overtakenWhy(&g.lock)}, tx.evidence()); err != nil {
				return err
			}
			if by.Agent == "" || by.Agent == g.claim.Holder {
				byHolder[g.claim.Holder] = append(byHolder[g.claim.Holder], *g)
			}
		}
		for holder, list := range byHolder {
			if err := tx.tellOvertaken(holder, list); err != nil {
				return err
			}
		}
		return nil
	})
}

// tellOvertaken writes to a holder whose claims nobody else saw end. There is no
// other sender, so it is a note of its own.
func (tx *Tx) tellOvertaken(holder event.ID, list []gone) error {
	a, found, err := tx.readerFor(holder)
	if err != nil || !found {
		return err
	}
	const most = 10
	body := "The office noticed that you lost what you had claimed:"
	for i := range list {
		g := &list[i]
		if i == most {
			body += fmt.Sprintf("\n- and %d more", len(list)-most)
			break
		}
		body += fmt.Sprintf("\n- %s (claim %s): %s", covered(&g.claim)[0], g.claim.ID, overtakenWhy(&g.lock))
	}
	body += "\nNo guard lets you pass there any more. Stop, and before you go on there, read the files again and claim them anew."
	return tx.post(a, a, Letter{Subject: "you lost a claim", Body: []byte(body)},
		event.Derive("claims overtaken", string(list[0].claim.ID), fmt.Sprint(list[0].claim.Token)))
}

// endGone ends the claims of a scope that other programs took the place of.
func (o *Office) endGone(ctx context.Context, scope, root string) error {
	if o.ReadOnly() {
		return nil
	}
	var p Project
	var r claim.Rules
	err := o.look(ctx, func(tx *Tx) (err error) {
		if p, err = tx.scopeProject(scope); err == nil {
			r, err = o.tables.Claims(tx.t, scope).Rules()
		}
		return err
	})
	if err != nil || p.Root == "" {
		return err
	}
	missing, err := o.mirror.Missing(root, "", r)
	if err != nil || len(missing) == 0 {
		return err
	}
	lost, err := o.goneOf(ctx, p, "", func() (list []claim.Claim, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			list = nil
			table := o.tables.Claims(tx.t, scope)
			for _, id := range missing {
				c, found, err := table.Claim(id)
				if err != nil {
					return err
				}
				if found {
					list = append(list, c)
					continue
				}
				edits, err := tx.edits(scope, id)
				if err != nil {
					return err
				}
				list = append(list, edits...)
			}
			return nil
		})
		return list, err
	})
	if err != nil || len(lost) == 0 {
		return err
	}
	return o.overtake(ctx, event.Actor{}, scope, claim.By{}, lost)
}

// meetLocks gives the locks of other programs that a command meets in other
// work trees; nil where these are in its way.
func meetLocks(c claim.Command, locks []claim.Foreign, r claim.Rules) []claim.Block {
	w := wantOf(c)
	if r.Worktrees == claim.Deny || r.Guard == claim.Off || w == nil || len(w.Paths) == 0 {
		return nil
	}
	return claim.MeetLocks(locks, w)
}

// wantOf gives what a command wants anew, nil for nothing.
func wantOf(c claim.Command) *claim.Want {
	switch c := c.(type) {
	case claim.Take:
		return &c.Want
	case claim.Change:
		return c.Want
	case claim.Edit:
		w := literals(c.Paths, c.Tree, c.Fold)
		return &w
	}
	return nil
}

func literals(paths []string, tree string, fold bool) claim.Want {
	w := claim.Want{Mode: claim.Exclusive, Tree: tree, Fold: fold}
	for _, path := range paths {
		if p, err := claim.Literal(path); err == nil {
			w.Paths = append(w.Paths, p)
		}
	}
	return w
}

// treeOf gives the work tree that a command is about, "" for none.
func treeOf(c claim.Command) string {
	switch c := c.(type) {
	case claim.Take:
		return c.Want.Tree
	case claim.Edit:
		return c.Tree
	case claim.Change:
		if c.Want != nil {
			return c.Want.Tree
		}
	case claim.Takeover:
		return c.Tree
	}
	return ""
}

// edits lists what edits claimed for an agent in a scope.
func (tx *Tx) edits(scope string, agent event.ID) ([]claim.Claim, error) {
	held, err := tx.o.tables.Claims(tx.t, scope).Held(agent)
	return slices.DeleteFunc(held, func(c claim.Claim) bool { return !c.Auto }), err
}

// editsPulse is the pulse of the one lock of an agent's edits. found is false
// for what is no agent of this office.
func (tx *Tx) editsPulse(scope string, agent event.ID, r claim.Rules) (p Pulse, found bool, err error) {
	a, found, err := tx.o.tables.Agent(tx.t, agent)
	if err != nil || !found {
		return p, false, err
	}
	list, err := tx.edits(scope, a.ID)
	if err != nil {
		return p, false, err
	}
	p.Over, p.How, p.Summary = true, claim.Released, "nothing of it is held any more"
	for i := range list {
		if tx.sign(&list[i]).Process != claim.Gone {
			p.Over = false
		}
		if one := tx.pulse(&list[i], r); one.Lives {
			p.Lives, p.Until = true, later(p.Until, one.Until)
		}
	}
	return p, true, nil
}

// mirrorEdits brings the one lock file of what edits claimed for an agent up to
// date. It is for other programs only, so what fails is left to the next time.
// root and r are what mirrorOf gives for the scope.
func (o *Office) mirrorEdits(ctx context.Context, scope string, agent event.ID, root string, r claim.Rules) error {
	return o.mirror.Edited(root, r, func() (e MirroredEdits, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			e = MirroredEdits{Agent: agent, HolderName: tx.nameOf(agent), TTL: r.AutoLease}
			a, found, err := o.tables.Agent(tx.t, agent)
			if err != nil || !found {
				return err
			}
			if a.Life != nil {
				e.Process = a.Life.Process
			}
			list, err := tx.edits(scope, agent)
			for i := range list {
				c := &list[i]
				if e.Since.IsZero() || c.Since.Before(e.Since) {
					e.Since = c.Since
				}
				e.Until = later(e.Until, tx.pulse(c, r).Until)
				for _, p := range c.Paths {
					e.Files = append(e.Files, MirroredFile{Tree: c.Tree, Path: p.Prefix(), Since: c.Since})
				}
			}
			return err
		})
		return e, err
	})
}

// editsLater notes that the lock file of an agent's edits is brought up to date
// once the change is durable, once for all that changes in it.
func (tx *Tx) editsLater(scope string, agent event.ID) {
	key := scope + " " + string(agent)
	root, r, ok := tx.mirrorOf(scope)
	if !ok || tx.edited[key] {
		return
	}
	if tx.edited == nil {
		tx.edited = map[string]bool{}
	}
	tx.edited[key] = true
	o, ctx := tx.o, context.WithoutCancel(tx.t.Context())
	tx.after = append(tx.after, func() { _ = o.mirrorEdits(ctx, scope, agent, root, r) })
}
