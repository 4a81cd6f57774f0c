package office

import (
	"context"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// claimDone makes the view of what a decision granted.
func (o *Office) claimDone(ctx context.Context, p Project, d claim.Decision) (v ClaimView, err error) {
	err = o.look(committed(ctx), func(tx *Tx) error {
		v, err = tx.claimView(&d.Claim, ClaimScope(p))
		v.Mine, v.Meets = true, d.Meets
		return err
	})
	if err == nil && o.claimNote != nil {
		v.Note = o.claimNote(p)
	}
	return v, err
}

// onClaim carries out a command on one claim, found by its id or a part of it.
func (o *Office) onClaim(ctx context.Context, caller Caller, part string, command func(id event.ID) claim.Command) (ClaimView, error) {
	if err := caller.mayChange(); err != nil {
		return ClaimView{}, err
	}
	id, p, err := o.claimPlace(ctx, part)
	if err != nil {
		return ClaimView{}, err
	}
	d, err := o.decideClaims(ctx, caller, p, command(id), nil)
	if err != nil {
		return ClaimView{}, err
	}
	return o.claimDone(ctx, p, d)
}

// claimPlace finds a live claim and the project that it belongs to.
func (o *Office) claimPlace(ctx context.Context, part string) (id event.ID, p Project, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		var scope string
		if id, scope, err = tx.resolveClaim(part); err != nil {
			return err
		}
		p, err = tx.scopeProject(scope)
		return err
	})
	return id, p, err
}

// scopeID gives the id of a scope's project, "" for what belongs to none.
func scopeID(scope string) string {
	id, ok := strings.CutPrefix(scope, "project-")
	if !ok {
		return ""
	}
	return id
}

// scopeIDs gives the projects of some scopes, without one.
func scopeIDs(scopes []string, but string) (ids []string) {
	for _, s := range scopes {
		if id := scopeID(s); id != "" && id != but {
			ids = append(ids, id)
		}
	}
	return ids
}

// scopeProject gives the project of a scope, the empty one for the office's.
func (tx *Tx) scopeProject(scope string) (Project, error) {
	if id := scopeID(scope); id != "" {
		return tx.projectByID(id)
	}
	return Project{}, nil
}

// Release gives claims up: by id or part of one, or, with none named, all that
// the caller holds in the project. The person may release anybody's.
func (o *Office) Release(ctx context.Context, caller Caller, p Project, parts []string, summary string) ([]ClaimView, error) {
	if err := caller.mayChange(); err != nil {
		return nil, err
	}
	var out []ClaimView
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		out = nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		byScope := map[string][]event.ID{}
		if len(parts) == 0 {
			held, err := tx.heldBy(ClaimScope(p), by)
			if err != nil {
				return err
			}
			for _, c := range held {
				byScope[ClaimScope(p)] = append(byScope[ClaimScope(p)], c.ID)
			}
		}
		for _, part := range parts {
			id, scope, err := tx.resolveClaim(part)
			if err != nil {
				return err
			}
			if !slices.Contains(byScope[scope], id) {
				byScope[scope] = append(byScope[scope], id)
			}
		}
		for scope, ids := range byScope {
			for _, id := range ids {
				c, _, err := o.tables.Claims(tx.t, scope).Claim(id)
				if err != nil {
					return err
				}
				v, err := tx.claimView(&c, scope)
				if err != nil {
					return err
				}
				out = append(out, v)
			}
			tx.project = scopeID(scope)
			if _, err := tx.onClaims(scope, by, claim.Release{Claims: ids, Summary: summary}, tx.evidence()); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// heldBy lists what somebody holds in a scope.
func (tx *Tx) heldBy(scope string, by claim.By) ([]claim.Claim, error) {
	list, err := tx.o.tables.Claims(tx.t, scope).Held(by.Agent)
	return slices.DeleteFunc(list, func(c claim.Claim) bool {
		return c.Conversation != "" && !slices.Contains(by.Conversations, c.Conversation)
	}), err
}

// ExtendClaim renews a claim; ttl, if not 0, is its new lease.
func (o *Office) ExtendClaim(ctx context.Context, caller Caller, part string, ttl time.Duration) (ClaimView, error) {
	return o.onClaim(ctx, caller, part, func(id event.ID) claim.Command { return claim.Extend{Claim: id, TTL: ttl} })
}

// ClaimChange says what is to be different about a claim; zero values stay.
type ClaimChange struct {
	Want   *claim.Want // narrower or wider
	Intent string
	Task   string
	Files  []string
	TTL    time.Duration
	Keep   *bool
}

// ChangeClaim narrows, widens or renames a claim. What it shall cover more
// must be free; otherwise nothing changes and the error is a conflict.
func (o *Office) ChangeClaim(ctx context.Context, caller Caller, part string, c ClaimChange) (ClaimView, error) {
	return o.onClaim(ctx, caller, part, func(id event.ID) claim.Command {
		return claim.Change{Claim: id, Want: c.Want, Intent: c.Intent, Task: c.Task, Files: c.Files, TTL: c.TTL, Keep: c.Keep}
	})
}

// Takeover is somebody's wish to have what another holds and does not use.
type Takeover struct {
	Claim  string // id, or a part of it
	Tree   string // the work tree of the one who takes it over; "" as it was
	Intent string // "": as it was
	Reason string
	TTL    time.Duration
	Break  bool // the person ends it whatever is seen
	Only   bool // end it and take nothing; the person's
}

// TakeOver takes a claim over from a holder without a sign of life, after a
// look at the thing itself, or adopts one that runs without a session. The old
// token is dead from then on and its holder is told. Errors: conflict with what
// speaks against it; denied for Break by anybody but the person.
func (o *Office) TakeOver(ctx context.Context, caller Caller, t Takeover) (ClaimView, error) {
	if err := caller.mayChange(); err != nil {
		return ClaimView{}, err
	}
	id, p, err := o.claimPlace(ctx, t.Claim)
	if err != nil {
		return ClaimView{}, err
	}
	if caller.Project.ID != p.ID {
		t.Tree = "" // the caller's work tree is another project's
	}
	command := claim.Takeover{
		Claim: id, ID: event.NewID(o.now()), Tree: t.Tree, Intent: t.Intent, Reason: t.Reason, TTL: t.TTL, Break: t.Break, Only: t.Only,
	}
	var probes map[event.ID]claim.Probe
	if !t.Break {
		// Whoever is at it refuses at once; only then is anything looked at.
		looks, err := o.tryTakeover(ctx, caller, p, command)
		if err != nil {
			return ClaimView{}, err
		}
		probes = o.probeEach(ctx, p, looks)
	}
	d, err := o.decideClaims(ctx, caller, p, command, probes)
	if err != nil {
		return ClaimView{}, err
	}
	v, err := o.claimDone(ctx, p, d)
	for i := range d.With {
		if err != nil {
			break
		}
		var along ClaimView
		if along, err = o.ClaimShow(ctx, string(d.With[i].ID)); err == nil {
			v.With = append(v.With, along)
		}
	}
	return v, err
}

// tryTakeover reports what speaks against a takeover before anything is looked
// at, and what there is to look at; it changes nothing.
func (o *Office) tryTakeover(ctx context.Context, caller Caller, p Project, c claim.Takeover) (looks []claim.Claim, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		ev, err := tx.evidenceOn(caller, p, c, locked{})
		if err != nil {
			return err
		}
		ev.Untried = true
		d, err := claim.Decide(o.tables.Claims(tx.t, ClaimScope(p)), by, c, tx.now, ev)
		looks = d.Looks
		return err
	})
	return looks, err
}

// ClaimRules gives a project's settings.
func (o *Office) ClaimRules(ctx context.Context, p Project) (r claim.Rules, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		r, err = o.tables.Claims(tx.t, ClaimScope(p)).Rules()
		return err
	})
	return r, err
}

// SetClaimRules changes a project's settings. Only the person does that. Where
// no lock files are to be kept any more, [Office.TakeBackLocks] comes next.
func (o *Office) SetClaimRules(ctx context.Context, caller Caller, p Project, r claim.Rules) error {
	if !caller.Human {
		return fault.New(fault.Denied, "%s cannot change how claims are guarded", caller.Agent.Name).
			WithHint("the person does that at a plain terminal: bureau guard set")
	}
	_, err := o.decideClaims(ctx, caller, p, claim.SetRules{Rules: r}, nil)
	return err
}
