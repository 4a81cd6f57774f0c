package office

import (
	"context"

	"bureau/internal/claim"
)

// ClaimsWithin lists the caller's own claims in a project by how much of them
// is named: whole lie within it, of part only something is. It shows those
// that a guard made too.
func (o *Office) ClaimsWithin(ctx context.Context, caller Caller, p Project, w claim.Want) (whole, part []ClaimView, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		whole, part = nil, nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		held, err := tx.heldBy(ClaimScope(p), by)
		if err != nil {
			return err
		}
		all, some := claim.Within(&w, held)
		for _, x := range []struct {
			from []claim.Claim
			to   *[]ClaimView
		}{{all, &whole}, {some, &part}} {
			for i := range x.from {
				v, err := tx.claimView(&x.from[i], ClaimScope(p))
				if err != nil {
					return err
				}
				v.Mine = true
				*x.to = append(*x.to, v)
			}
		}
		return nil
	})
	return whole, part, err
}
