package office

import (
	"context"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
)

// Editing is a change of files that is about to be made, or was made.
type Editing struct {
	Paths []string // relative to the work tree's root, as claim.Normal gives them
	Tree  string   // the work tree
	Fold  bool     // its file system does not tell upper from lower case
	// Made are the claims that were made for this very edit a moment ago: see
	// Allowed.
	Made []event.ID
}

// Allowed is what a guard found.
type Allowed struct {
	Known bool          // the caller held it all, or nothing is guarded
	Meets []claim.Block // held by others in other work trees of the repository
	// Shares are others' shared claims on what the caller may change by a shared
	// claim of its own.
	Shares []claim.Block
	// Beside are other programs' locks on what the caller held before them. The
	// answer is good for this once.
	Beside []claim.Block
	Until  time.Time // until then the answer stands if no claim of the project changes
	// Made are the claims that were made on the way. Another office may have
	// claimed the same in this moment, so MayEdit is asked once more with them in
	// Editing, and where that refuses, [Office.GiveBack] ends them.
	Made []event.ID
	// Unread says why other programs' locks were not looked at, all or some of
	// them. The answer holds for the office's own claims.
	Unread error
}

// recheck is how long a guard's answer may be kept while no claim changes.
const recheck = 5 * time.Minute

// MayEdit asks before files are changed. nil allows it; with the guard set to
// auto, what nobody holds is then claimed for the caller for a short while,
// once for each path. Errors: conflict, with the []claim.Block as detail, for
// what somebody else holds or what the caller lost; denied where a claim is
// needed first. Unread is set with them too.
func (o *Office) MayEdit(ctx context.Context, caller Caller, p Project, e Editing) (Allowed, error) {
	if err := caller.mayChange(); err != nil {
		return Allowed{}, err
	}
	c := claim.Edit{Paths: e.Paths, Tree: e.Tree, Fold: e.Fold}
	for range e.Paths {
		c.IDs = append(c.IDs, event.NewID(o.now()))
	}
	out := Allowed{Until: o.Now().Add(recheck)}
	if p.fresh { // before its first claim
		p = o.marked(ctx, p)
	}
	// Mostly no other program has a lock there, the caller holds it already, and
	// nothing has to be written.
	seen, rules, err := o.holdsAll(ctx, caller, p, c, locked{})
	if err != nil {
		return out, err
	}
	foreign, own, unread, err := o.readLocksUnder(ctx, p, e.Tree, rules)
	if err != nil {
		return out, err
	}
	l, unread, err := o.readAround(ctx, p, locked{own: foreign}, unread)
	if err != nil {
		return out, err
	}
	out.Unread = unread
	if len(l.own)+len(l.around) > 0 {
		if out.Beside, err = o.beside(ctx, caller, p, e, l.own, own); err != nil {
			return out, err
		}
		seen, _, err = o.holdsAll(ctx, caller, p, c, l)
	}
	if err != nil || seen.Known {
		out.Known, out.Shares = seen.Known, seen.Shares
		if err == nil {
			err = o.learn(ctx, caller, p)
		}
		return out, err
	}
	d, err := o.decideAmong(ctx, caller, p, c, nil, l)
	out.Known, out.Meets, out.Shares = d.Known, d.Meets, d.Shares
	if err == nil {
		out.Made = granted(d.Events)
	}
	return out, err
}

// granted lists the claims that events begin.
func granted(events []event.Event) (ids []event.ID) {
	for _, e := range events {
		var g claim.GrantedClaim
		if e.Kind == claim.KindGranted && e.Decode(&g) == nil {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// GiveBack ends claims that were made for an edit which was refused after all.
// Those that have ended meanwhile are left out.
func (o *Office) GiveBack(ctx context.Context, caller Caller, made []event.ID) error {
	if len(made) == 0 {
		return nil
	}
	return o.change(ctx, caller.actor(), func(tx *Tx) error {
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		for _, id := range made {
			scope, found, err := o.tables.ClaimScope(tx.t, id)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			tx.project = scopeID(scope)
			if _, err := tx.onClaims(scope, by, claim.Release{Claims: []event.ID{id}, Summary: "its edit was refused"}, tx.evidence()); err != nil {
				return err
			}
		}
		return nil
	})
}

// holdsAll looks whether an edit needs no decision (Known), and gives the
// project's settings.
func (o *Office) holdsAll(ctx context.Context, caller Caller, p Project, c claim.Edit, l locked) (d claim.Decision, r claim.Rules, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		if r, err = o.tables.Claims(tx.t, ClaimScope(p)).Rules(); err != nil {
			return err
		}
		ev, err := tx.evidenceOn(caller, p, c, l)
		if err != nil {
			return err
		}
		if d, err = claim.Decide(o.tables.Claims(tx.t, ClaimScope(p)), by, c, tx.now, ev); err != nil {
			d = claim.Decision{} // a refusal is for the decision itself
		}
		return nil
	})
	return d, r, err
}

// MayCommit asks about files that were changed already, and claims nothing. nil
// allows it. Blocks are given with the conflict; what meets is only told.
func (o *Office) MayCommit(ctx context.Context, caller Caller, p Project, e Editing) (Allowed, error) {
	out, err := o.mayCommit(ctx, caller, p, e)
	trees := make([]string, len(out.Meets))
	for i := range out.Meets {
		trees[i] = out.Meets[i].Tree
	}
	if o.followTo(ctx, p, e.Tree, trees) {
		return o.mayCommit(ctx, caller, p, e)
	}
	return out, err
}

func (o *Office) mayCommit(ctx context.Context, caller Caller, p Project, e Editing) (out Allowed, err error) {
	l, unread, err := o.readLocked(ctx, p, e.Tree)
	if err != nil {
		return out, err
	}
	out.Unread = unread
	if out.Beside, err = o.beside(ctx, caller, p, e, l.own, nil); err != nil {
		return out, err
	}
	c := claim.Check{Paths: e.Paths, Tree: e.Tree, Fold: e.Fold}
	err = o.look(ctx, func(tx *Tx) error {
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		ev, err := tx.evidenceOn(caller, p, c, l)
		if err != nil {
			return err
		}
		table := o.tables.Claims(tx.t, ClaimScope(p))
		d, err := claim.Decide(table, by, c, tx.now, ev)
		out.Known, out.Meets, out.Shares = d.Known, d.Meets, d.Shares
		if rules, rerr := table.Rules(); rerr == nil && len(l.own) > 0 {
			for _, path := range e.Paths {
				one := claim.Edit{Paths: []string{path}, Tree: e.Tree, Fold: e.Fold}
				for _, b := range meetLocks(one, l.own, rules) {
					b.Overlap = []string{path}
					out.Meets = append(out.Meets, b)
				}
			}
		}
		return err
	})
	return out, err
}

// CheckToken tells whether a fencing token still stands: the caller holds the
// claim with it. Programs that write where no guard sees them ask this before
// each write. Errors: conflict for a token that is dead, because the claim has
// ended or has another holder; denied for somebody else's; not_found for what
// never was a claim.
func (o *Office) CheckToken(ctx context.Context, caller Caller, part string, token event.Seq) (ClaimView, error) {
	var out ClaimView
	err := o.look(ctx, func(tx *Tx) error {
		id, scope, err := tx.resolveClaim(part)
		if fault.Is(err, fault.NotFound) {
			if f, _, found, ferr := tx.finishedClaim(part); ferr == nil && found {
				return fault.New(fault.Conflict, "claim %s ended at %s: %s", f.ID, f.At.Local().Format("15:04:05"), f.How).
					WithHint("stop writing; read what is there now and claim it anew")
			}
		}
		if err != nil {
			return err
		}
		c, _, err := o.tables.Claims(tx.t, scope).Claim(id)
		if err != nil {
			return err
		}
		if c.Token != token {
			return fault.New(fault.Conflict, "claim %s has token %d now, not %d", id, c.Token, token).
				WithHint("stop writing; it has another holder: %s", tx.nameOf(c.Holder))
		}
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		held, err := tx.heldBy(scope, by)
		if err != nil {
			return err
		}
		for i := range held {
			if held[i].ID == id {
				out, err = tx.claimView(&c, scope)
				return err
			}
		}
		return fault.New(fault.Denied, "claim %s is held by %s", id, tx.nameOf(c.Holder))
	})
	return out, err
}

// EditWindow is within what time two changes of one file are told to both who
// made them.
const EditWindow = time.Minute

// Change is a change of a file by a session or a subagent of one, a moment ago.
type Change struct {
	Path         string // absolute, with links followed
	Client       string // claude, codex, …
	Session, Sub string
	At           time.Time
}

// TellChanges tells of changes that others made to files which the caller has
// changed now: it gives who they were, and writes to each of them. The caller's
// own are left out, as are those of sessions that the office does not know.
func (o *Office) TellChanges(ctx context.Context, caller Caller, others []Change) ([]EditedView, error) {
	var out []EditedView
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		out = nil
		tx.project = caller.Project.ID
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		for _, e := range others {
			a, found, err := o.tables.Conversation(tx.t, conversation(e.Client, e.Session, e.Sub))
			if err == nil && !found && e.Sub != "" {
				// A subagent that never used the office: its session's doing.
				a, found, err = o.tables.Conversation(tx.t, conversation(e.Client, e.Session, ""))
			}
			if err != nil {
				return err
			}
			if !found || a.ID == caller.Agent.ID || a.ID == by.For {
				continue
			}
			out = append(out, EditedView{Path: e.Path, By: string(a.Name), At: e.At})
			id := event.Derive("edited", e.Path, string(a.ID), string(caller.Agent.ID), e.At.UTC().Format(time.RFC3339Nano))
			body := "Both of you changed " + e.Path + " within a minute: you, and then " + string(caller.Agent.Name) +
				". Look at the file before you go on; a claim keeps others out of it: bureau claim PATH --intent TEXT"
			if err := tx.note(by, a.ID, "two sessions changed one file", body, id); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// EditedView is somebody's change of a file a moment ago.
type EditedView struct {
	Path string    `json:"path"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// OthersBusy lists the live sessions of a project besides the caller, whose
// work a command on the whole repository would touch.
func (o *Office) OthersBusy(ctx context.Context, caller Caller, p Project) ([]string, error) {
	pr, err := o.presence(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	err = o.look(ctx, func(tx *Tx) error {
		out = nil
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		all, err := o.tables.Agents(tx.t, p.ID, false)
		for _, a := range all {
			if a.ID == caller.Agent.ID || a.ID == by.For {
				continue
			}
			for _, l := range pr.lives[a.ID] {
				if l.Role == presence.Client {
					out = append(out, string(a.Name))
					break
				}
			}
		}
		return err
	})
	return out, err
}
