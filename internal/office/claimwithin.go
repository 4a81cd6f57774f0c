package office

import (
	"context"
	"errors"
	"slices"

	"bureau/internal/claim"
)

// ClaimsWithin lists the caller's own claims in a project, by whichever id that
// is known, by how much of them
// is named: whole lie within it, of part only something is. It shows those
// that a guard made too.
func (o *Office) ClaimsWithin(ctx context.Context, caller Caller, p Project, w claim.Want) (whole, part []ClaimView, err error) {
	whole, part, trees, err := o.claimsWithin(ctx, caller, p, w)
	if o.followTo(ctx, p, w.Tree, trees) {
		whole, part, _, err = o.claimsWithin(ctx, caller, p, w)
	}
	return whole, part, err
}

// claimsWithin is ClaimsWithin, with the work trees of all that the caller holds.
func (o *Office) claimsWithin(ctx context.Context, caller Caller, p Project, w claim.Want) (whole, part []ClaimView, trees []string, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		whole, part, trees = nil, nil, nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		scopes := []string{ClaimScope(p)}
		known, err := tx.o.tables.ProjectsAt(tx.t, nil, []string{p.Root, p.Repository})
		if err != nil {
			return err
		}
		for i := range known {
			if p.same(&known[i]) {
				scopes = append(scopes, ClaimScope(projectOf(known[i])))
			}
		}
		for _, scope := range scopes {
			held, err := tx.heldBy(scope, by)
			if err != nil {
				return err
			}
			for i := range held {
				trees = append(trees, held[i].Tree)
			}
			all, some := claim.Within(&w, held)
			for _, x := range []struct {
				from []claim.Claim
				to   *[]ClaimView
			}{{all, &whole}, {some, &part}} {
				for i := range x.from {
					v, err := tx.claimView(&x.from[i], scope)
					if err != nil {
						return err
					}
					v.Mine = true
					*x.to = append(*x.to, v)
				}
			}
		}
		return nil
	})
	return whole, part, trees, err
}

// WhoHolds lists the claims, of whatever work tree, that cover or meet what is
// wanted, other programs' locks on it, and who stands in line for it. Those of
// projects around, and of projects that lie within what is wanted, are among them.
func (o *Office) WhoHolds(ctx context.Context, caller Caller, p Project, w claim.Want) (Claims, error) {
	out, err := o.whoHolds(ctx, caller, p, w)
	if o.followTo(ctx, p, w.Tree, treesOf(out.Claims)) {
		return o.whoHolds(ctx, caller, p, w)
	}
	return out, err
}

func (o *Office) whoHolds(ctx context.Context, caller Caller, p Project, w claim.Want) (Claims, error) {
	out := Claims{Claims: []ClaimView{}}
	w.Mode = claim.Exclusive
	l, unread, err := o.readLocked(ctx, p, w.Tree)
	if err != nil {
		return out, err
	}
	var locks []ClaimView
	for i := range l.own {
		other := claim.Want{Paths: l.own[i].Paths, Mode: claim.Exclusive}
		if len(claim.Overlapping(&w, &other, false)) > 0 {
			locks = append(locks, foreignView(&l.own[i], p))
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Claims, out.Waiting = out.Claims[:0], nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		add := func(c *claim.Claim, scope string) error {
			v, err := tx.claimView(c, scope)
			v.Mine, v.Own = by.Holds(c), by.Below(c)
			out.Claims = append(out.Claims, v)
			return err
		}
		list, err := o.tables.Claims(tx.t, ClaimScope(p)).Touching(&w)
		if err != nil {
			return err
		}
		for i := range list {
			if len(claim.Overlapping(&w, &list[i].Want, false)) == 0 {
				continue
			}
			if err := add(&list[i], ClaimScope(p)); err != nil {
				return err
			}
		}
		out.Waiting, err = tx.waitViews(caller, ClaimScope(p), func(x *claim.Wait) bool {
			return len(claim.Overlapping(&w, &x.Want, false)) > 0
		})
		if err != nil {
			return err
		}
		tree := w.Tree
		if len(w.Paths) == 0 {
			tree = ""
		}
		others, err := tx.others(caller, p, reach{tree: tree, inner: true}, l.around)
		if err != nil {
			return err
		}
		for i := range others {
			list, foreign, err := others[i].Meeting(&w)
			if err != nil {
				return err
			}
			for j := range list {
				if err := add(&list[j], others[i].Scope); err != nil {
					return err
				}
			}
			waiting, err := tx.waitViews(caller, others[i].Scope, func(x *claim.Wait) bool { return others[i].MeansToo(&w, x) })
			if err != nil {
				return err
			}
			out.Waiting = append(out.Waiting, waiting...)
			for j := range foreign {
				q, err := tx.scopeProject(others[i].Scope)
				if err != nil {
					return err
				}
				out.Claims = append(out.Claims, foreignView(&foreign[j], q))
			}
		}
		return nil
	})
	if err == nil {
		out.Claims = append(out.Claims, locks...)
	}
	out.Total = len(out.Claims)
	return out, errors.Join(err, unread)
}

// Add adds what was found of something else, each claim and each place in a
// queue once.
func (c *Claims) Add(found *Claims) {
	for _, v := range found.Claims {
		if !slices.ContainsFunc(c.Claims, func(x ClaimView) bool { return x.ID == v.ID && x.Lock == v.Lock }) {
			c.Claims = append(c.Claims, v)
		}
	}
	for _, v := range found.Waiting {
		if !slices.ContainsFunc(c.Waiting, func(x WaitView) bool { return x.ID == v.ID }) {
			c.Waiting = append(c.Waiting, v)
		}
	}
	c.Total = len(c.Claims)
}
