package office

import (
	"context"
	"maps"
	"slices"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// Prober looks at what claims cover, to tell whether it is still in use. It
// may take up to 15 s; claims that it says nothing about count as unknown.
type Prober func(ctx context.Context, p Project, list []HeldClaim) map[event.ID]claim.Probe

// HeldClaim is a claim with the process that its holder got it in. Its host
// domain says on which machine the holder works; all of it is zero where the
// journal does not know.
type HeldClaim struct {
	claim.Claim
	Process roster.Process
	// Within are the roots of the projects that lie in the claim's work tree and
	// that the office knows: a claim covers what of them lies below its paths.
	Within []string
}

// decideProbing decides a command and, where holders without a sign of life
// stand in the way, looks at the things themselves and decides again.
func (o *Office) decideProbing(ctx context.Context, caller Caller, p Project, c claim.Command) (claim.Decision, error) {
	d, err := o.decideClaims(ctx, caller, p, c, nil)
	var look []claim.Claim
	for i := range d.Blocks {
		if d.Blocks[i].Undecided() {
			look = append(look, claim.Claim{ID: d.Blocks[i].Claim})
		}
	}
	if len(look) == 0 || err == nil && d.Wait == nil {
		return d, err
	}
	probes := o.probeEach(ctx, p, look)
	if len(probes) == 0 {
		return d, err
	}
	return o.decideClaims(ctx, caller, p, c, probes)
}

// probeEach looks at what claims cover, each in its own project: what is in the
// way in p may be another one's. Only their ids count.
func (o *Office) probeEach(ctx context.Context, p Project, list []claim.Claim) map[event.ID]claim.Probe {
	type place struct {
		project Project
		claims  []claim.Claim
	}
	var look []place
	for i := range list {
		id, q, err := o.claimPlace(ctx, string(list[i].ID))
		if err != nil {
			continue
		}
		x, found, err := o.liveClaim(ctx, ClaimScope(q), id)
		if err != nil || !found {
			continue
		}
		at := slices.IndexFunc(look, func(l place) bool { return l.project.ID == q.ID })
		if at < 0 {
			if q.ID == p.ID {
				q = p
			}
			at, look = len(look), append(look, place{project: q})
		}
		look[at].claims = append(look[at].claims, x)
	}
	probes := map[event.ID]claim.Probe{}
	for _, l := range look {
		maps.Copy(probes, o.probeClaims(ctx, l.project, l.claims))
	}
	return probes
}

func (o *Office) decideClaimsPlain(ctx context.Context, caller Caller, p Project, c claim.Command) (claim.Decision, error) {
	return o.decideClaims(ctx, caller, p, c, nil)
}

// probeClaims looks at what claims cover. Without a prober nothing is known.
func (o *Office) probeClaims(ctx context.Context, p Project, list []claim.Claim) map[event.ID]claim.Probe {
	var out map[event.ID]claim.Probe
	if o.probe != nil {
		out = o.probe(ctx, p, o.heldClaims(ctx, list))
	}
	if out == nil {
		out = map[event.ID]claim.Probe{}
	}
	for i := range list {
		if _, ok := out[list[i].ID]; !ok {
			out[list[i].ID] = claim.Probe{Verdict: claim.ProbeUnknown, Saw: "nothing here can look at it", At: o.Now()}
		}
	}
	return out
}

// heldClaims adds the projects within, and the processes of the holders: that of the record which gave
// the claim, or, where somebody else gave it to them, of their own life.
func (o *Office) heldClaims(ctx context.Context, list []claim.Claim) []HeldClaim {
	out := make([]HeldClaim, len(list))
	for i := range list {
		out[i].Claim = list[i]
	}
	_ = o.look(ctx, func(tx *Tx) error {
		known, err := o.tables.Projects(tx.t)
		for i := range out {
			h := &out[i]
			h.Within = nil
			for _, k := range known {
				if len(h.Paths) > 0 && lies(k.Root, h.Tree) {
					h.Within = append(h.Within, k.Root)
				}
			}
		}
		return err
	})
	_ = o.look(ctx, func(tx *Tx) error { // a process that is not known decides nothing
		for i := range out {
			h := &out[i]
			recs, err := tx.reader()(h.Token-1, 1)
			if err != nil {
				return err
			}
			if len(recs) == 1 && recs[0].Seq == h.Token && recs[0].Actor.Agent == h.Holder {
				by := recs[0].Actor
				h.Process = roster.Process{PID: by.PID, Start: by.Start, Host: by.Host}
				continue
			}
			a, found, err := o.tables.Agent(tx.t, h.Holder)
			if err != nil {
				return err
			}
			if found && a.Life != nil && a.Life.Conversation == h.Conversation {
				h.Process = a.Life.Process
			}
		}
		return nil
	})
	return out
}

func (o *Office) liveClaim(ctx context.Context, scope string, id event.ID) (c claim.Claim, found bool, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		c, found, err = o.tables.Claims(tx.t, scope).Claim(id)
		return err
	})
	return c, found, err
}

// learn notes a project that is changed under a claim of one around it, and
// that the office does not know yet: whoever takes that claim over has to look
// for changes in it too.
func (o *Office) learn(ctx context.Context, caller Caller, p Project) error {
	if p.ID == "" || !slices.ContainsFunc(p.Around, func(a Around) bool { return a.Project.Root != "" }) {
		return nil
	}
	known := true
	err := o.look(ctx, func(tx *Tx) error {
		q, err := tx.projectByID(p.ID)
		known = q.Root != ""
		return err
	})
	if err != nil || known {
		return err
	}
	return o.change(ctx, caller.actor(), func(tx *Tx) error { return tx.noteProject(p) })
}
