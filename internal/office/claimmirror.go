package office

import (
	"context"
	"errors"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// foreignLocks lists other programs' locks in a project.
func (o *Office) foreignLocks(ctx context.Context, p Project) ([]claim.Foreign, error) {
	if o.mirror == nil || p.Root == "" {
		return nil, nil
	}
	r, err := o.ClaimRules(ctx, p)
	if err != nil || r.Mirror == "off" {
		return nil, err
	}
	return o.mirror.Foreign(p.Root, r)
}

// mirrorClaim writes the lock file of a claim that was granted or changed.
// What was claimed without it stands whatever becomes of the file; only a lock
// of another program that was there first takes it away.
func (o *Office) mirrorClaim(ctx context.Context, caller Caller, p Project, c claim.Claim) (lost bool, err error) {
	if o.mirror == nil || p.Root == "" || c.Auto || len(c.Paths) == 0 {
		return false, nil
	}
	r, err := o.ClaimRules(ctx, p)
	if err != nil || r.Mirror == "off" {
		return false, err
	}
	lost, err = o.mirror.Granted(p.Root, r, MirroredClaim{Claim: c, HolderName: string(caller.Agent.Name), Process: caller.Process, Session: caller.Session})
	if err != nil {
		return lost, fault.New(fault.Unavailable, "the claim stands, but its lock file could not be written: %w", err).
			WithHint("mclaude sessions do not see it; bureau guard set --mirror off keeps no lock files")
	}
	return lost, nil
}

// overtaken ends a claim whose lock file was taken by another program between
// the look and the writing.
func (o *Office) overtaken(ctx context.Context, caller Caller, p Project, d claim.Decision) (claim.Decision, error) {
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project = p.ID
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		_, err = tx.onClaims(ClaimScope(p), by, claim.Release{Claims: []event.ID{d.Claim.ID}, Summary: "another program's lock was there first"}, tx.evidence())
		return err
	})
	what := covered(&d.Claim)
	return claim.Decision{}, errors.Join(err, fault.New(fault.Conflict, "%s was locked by another program a moment earlier", what[0]).
		WithHint("bureau who %s says by whom", what[0]))
}

// unlock notes that a claim's lock file goes once the change is durable.
func (tx *Tx) unlock(scope string, c *claim.Claim, how claim.How, summary string) {
	if tx.o.mirror == nil || c.Auto || len(c.Paths) == 0 {
		return
	}
	p, err := tx.scopeProject(scope)
	if err != nil || p.Root == "" {
		return
	}
	rules, err := tx.o.tables.Claims(tx.t, scope).Rules()
	if err != nil || rules.Mirror == "off" {
		return
	}
	m := MirroredClaim{Claim: *c, HolderName: tx.nameOf(c.Holder)}
	tx.after = append(tx.after, func() { _ = tx.o.mirror.Ended(p.Root, rules, m, how, summary) })
}

// BeatMirrors refreshes the lock files of the claims whose holders live. Any
// server of the machine calls it about once a minute.
func (o *Office) BeatMirrors(ctx context.Context) error {
	if o.mirror == nil {
		return nil
	}
	type beat struct {
		root  string
		rules claim.Rules
		ids   []event.ID
	}
	var beats []beat
	err := o.look(ctx, func(tx *Tx) error {
		beats = nil
		scopes, err := o.tables.ClaimScopes(tx.t)
		if err != nil {
			return err
		}
		for _, scope := range scopes {
			p, err := tx.scopeProject(scope)
			if err != nil {
				return err
			}
			table := o.tables.Claims(tx.t, scope)
			rules, err := table.Rules()
			if err != nil {
				return err
			}
			list, err := table.Live(false)
			if err != nil {
				return err
			}
			b := beat{root: p.Root, rules: rules}
			for i := range list {
				s := tx.sign(&list[i])
				if s.Process == claim.Alive || s.Process == claim.Unknown && tx.now.Sub(later(s.At, list[i].Renewed)) < list[i].TTL || list[i].Keep {
					b.ids = append(b.ids, list[i].ID)
				}
			}
			if p.Root != "" && rules.Mirror != "off" && len(b.ids) > 0 {
				beats = append(beats, b)
			}
		}
		return nil
	})
	for _, b := range beats {
		err = errors.Join(err, o.mirror.Beat(b.root, b.rules, b.ids))
	}
	return err
}
