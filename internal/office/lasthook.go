package office

import (
	"context"
	"time"

	"bureau/internal/roster"
)

// LastHook is when a session last showed a sign of life on this machine, which
// is what its hooks and its server give; zero for never.
func (o *Office) LastHook(ctx context.Context) (last time.Time, err error) {
	p, err := o.presence(ctx)
	if err != nil {
		return last, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		all, err := o.tables.Agents(tx.t, "", false)
		for _, a := range all {
			if at := p.last[a.ID]; a.Kind == roster.Session && at.After(last) {
				last = at
			}
		}
		return err
	})
	return last, err
}
