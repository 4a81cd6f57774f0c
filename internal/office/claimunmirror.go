package office

import (
	"context"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// endedPulse is the pulse of a claim that ended in this office, whose file is
// still there: the process that ended it died, or could not remove it.
func (tx *Tx) endedPulse(id event.ID) (Pulse, bool, error) {
	f, _, found, err := tx.o.tables.FinishedClaim(tx.t, id)
	return Pulse{Over: true, How: f.How, Summary: f.Summary}, found, err
}

// TakeBackLocks takes back the lock files that were written for a project's
// claims, those that stand and those that have ended, if its settings want none.
// Files of others stay. The error says that some are left.
func (o *Office) TakeBackLocks(ctx context.Context, p Project) error {
	if o.mirror == nil || p.Root == "" {
		return nil
	}
	r, err := o.ClaimRules(ctx, p)
	if err != nil || r.Mirror != "off" {
		return err
	}
	r.Mirror = "auto" // to look at the folder at all
	_, err = o.mirror.Beat(p.Root, r, func(ids []event.ID) (pulses map[event.ID]Pulse, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			pulses = map[event.ID]Pulse{}
			for _, id := range ids {
				scope, found, err := o.tables.ClaimScope(tx.t, id)
				if err != nil {
					return err
				}
				if found && scope != ClaimScope(p) {
					continue // another project's, which keeps them
				}
				if !found {
					if pulses[id], found, err = tx.endedPulse(id); err != nil {
						return err
					} else if found {
						continue
					}
					if _, found, err = o.tables.Agent(tx.t, id); err != nil { // the lock of its edits
						return err
					}
				}
				if found {
					pulses[id] = Pulse{Over: true, How: claim.Released, Summary: "no lock files are kept for claims any more; the claim itself is in the office"}
				} else {
					delete(pulses, id) // another office's
				}
			}
			return nil
		})
		return pulses, err
	})
	if err != nil {
		return fault.New(fault.Unavailable, "not all lock files of claims could be removed: %w", err).
			WithHint("mclaude sessions respect those that are left; try again: bureau guard set --mirror off")
	}
	return nil
}
