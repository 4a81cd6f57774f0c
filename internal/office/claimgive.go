package office

import (
	"context"
	"errors"
	"slices"

	"bureau/internal/claim"
	"bureau/internal/event"
)

// TransferClaims gives claims to another agent, who is told: all of them or,
// with an error, none. Their tokens are new. Errors: conflict where something
// else is in the receiver's way, denied for what is not the caller's, not_found.
func (o *Office) TransferClaims(ctx context.Context, caller Caller, parts []string, to, why string) ([]ClaimView, error) {
	if err := caller.mayChange(); err != nil {
		return nil, err
	}
	type given struct {
		id      event.ID
		project Project
		claim.Decision
	}
	var list []given
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		list = nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		a, err := tx.recipient(to)
		if err != nil {
			return err
		}
		receiver, err := tx.byAgent(&a)
		if err != nil {
			return err
		}
		all := make([]event.ID, len(parts)) // of whichever project, so that they are not in each other's way
		scopes := make([]string, len(parts))
		for i, part := range parts {
			if all[i], scopes[i], err = tx.resolveClaim(part); err != nil {
				return err
			}
		}
		for i, id := range all {
			if slices.Contains(all[:i], id) {
				continue // named twice
			}
			p, err := tx.scopeProject(scopes[i])
			if err != nil {
				return err
			}
			tx.project = p.ID
			give := claim.Transfer{Claims: []event.ID{id}, With: all, To: receiver, Why: why}
			ev, err := tx.evidenceOn(caller, p, give, locked{})
			if err != nil {
				return err
			}
			d, err := tx.onClaims(scopes[i], by, give, ev)
			if err != nil {
				return err
			}
			list = append(list, given{id, p, d})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx = committed(ctx)
	out := make([]ClaimView, 0, len(list))
	for _, g := range list {
		var lost bool
		var merr error
		if !g.Claim.Auto {
			lost, merr = o.mirrorClaim(ctx, caller, g.project, g.Claim, false)
		}
		if lost {
			_, merr = o.overtaken(ctx, caller, g.project, g.Decision, false)
		}
		v, verr := o.claimDone(ctx, g.project, g.Decision)
		v.Mine = false
		out, err = append(out, v), errors.Join(err, merr, verr)
	}
	return out, err
}
