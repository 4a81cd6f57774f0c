package office

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/projection"
)

// ClaimView is a claim as every face shows it.
type ClaimView struct {
	ID        event.ID       `json:"id"`
	Short     string         `json:"short"`
	Token     event.Seq      `json:"token"` // fencing token: grows with every change of holder
	Holder    string         `json:"holder"`
	Project   string         `json:"project"` // name, "" for none
	Paths     []string       `json:"paths,omitempty"`
	Resources []string       `json:"resources,omitempty"`
	Mode      claim.Mode     `json:"mode"`
	Tree      string         `json:"tree,omitempty"` // the work tree that its paths are meant in
	Intent    string         `json:"intent"`
	Task      string         `json:"task,omitempty"`
	Files     []string       `json:"files,omitempty"`
	Since     time.Time      `json:"since,omitzero"`
	Lease     float64        `json:"lease_seconds"`
	Deadline  time.Time      `json:"deadline,omitzero"` // newest sign of life and lease
	LastSign  time.Time      `json:"last_sign"`
	Standing  claim.Standing `json:"standing"`
	Lapsed    bool           `json:"lapsed,omitempty"`
	Auto      bool           `json:"auto,omitempty"`
	Keep      bool           `json:"keep,omitempty"`
	Mine      bool           `json:"mine,omitempty"`         // the caller's own
	Own       bool           `json:"own_subagent,omitempty"` // a subagent's of the caller

	// Of a finished claim.
	EndedAt *time.Time `json:"ended_at,omitempty"`
	How     claim.How  `json:"how,omitempty"`
	By      string     `json:"by,omitempty"` // who ended it, where somebody did
	// NoticedBy was the next to look at a claim that had ended by itself, or at
	// whose wish a lapsed one was ended.
	NoticedBy string       `json:"noticed_by,omitempty"`
	Summary   string       `json:"summary,omitempty"`
	Probe     *claim.Probe `json:"probe,omitempty"`

	// Lock is the name of another program's lock, which is shown beside claims.
	Lock string `json:"lock,omitempty"`

	// Waiting are those who stand in line for some of it, where one claim is shown.
	Waiting []WaitView `json:"waiting,omitempty"`

	// With are claims of the same session that went along when this one was taken
	// over, said to whoever did: what lay within it has ended, what runs without a
	// session is the caller's now.
	With []ClaimView `json:"with,omitempty"`
	// Meets are claims on the same paths in other work trees of the repository,
	// said to whoever claims.
	Meets []claim.Block `json:"meets,omitempty"`
	// Note says what this machine cannot promise, such as on a network file
	// system; "" for nothing.
	Note string `json:"note,omitempty"`

	holder event.ID
	scope  string
}

// In reports whether the claim is of a project. What belongs to none counts as
// of each: there is no other name to say.
func (v *ClaimView) In(p Project) bool { return v.Project == "" || v.scope == ClaimScope(p) }

// HolderID gives the holder's id.
func (v *ClaimView) HolderID() event.ID { return v.holder }

// Covered lists what the claim covers.
func (v *ClaimView) Covered() []string { return append(slices.Clone(v.Paths), v.Resources...) }

// Claims is a page of claims.
type Claims struct {
	Claims []ClaimView `json:"claims"`
	// Waiting are those who stand in line, first come first; on the first page.
	Waiting []WaitView `json:"waiting,omitempty"`
	Total   int        `json:"total"`
	Next    string     `json:"next"`
	// Elsewhere is what the one holder that was asked about holds in other
	// projects; given with the first page.
	Elsewhere []HeldElsewhere `json:"elsewhere,omitempty"`
}

// ClaimQuery chooses among the claims of a project.
type ClaimQuery struct {
	Project Project
	Every   bool   // of every project
	Holder  string // an agent's name, "me" for the caller
	Auto    bool   // also those that guards made
	Tree    string // the work tree that is asked in; "" for none in particular
	Page    Page
}

// ClaimList lists the claims that stand, oldest first; other programs' locks of
// the project come last.
func (o *Office) ClaimList(ctx context.Context, caller Caller, q ClaimQuery) (Claims, error) {
	out, err := o.claimList(ctx, caller, q)
	if o.followTo(ctx, q.Project, q.Tree, treesOf(out.Claims)) {
		return o.claimList(ctx, caller, q)
	}
	return out, err
}

func (o *Office) claimList(ctx context.Context, caller Caller, q ClaimQuery) (Claims, error) {
	out := Claims{Claims: []ClaimView{}}
	limit, err := q.Page.limit()
	if err != nil {
		return out, err
	}
	var after struct {
		Scope string
		projection.LiveCursor
	}
	if q.Page.From != "" {
		if err := decodeCursor(q.Page.From, &after); err != nil {
			return out, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out = Claims{Claims: []ClaimView{}}
		scopes := []string{ClaimScope(q.Project)}
		if q.Every {
			if scopes, err = o.tables.ClaimScopes(tx.t); err != nil {
				return err
			}
		}
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		holder := event.ID("")
		if q.Holder == "me" {
			holder = caller.Agent.ID
		} else if q.Holder != "" {
			a, err := tx.find(q.Holder)
			if err != nil {
				return err
			}
			holder = a.ID
		}
		for _, scope := range scopes {
			if q.Page.From == "" {
				waiting, err := tx.waitViews(caller, scope, func(x *claim.Wait) bool { return holder == "" || x.Agent == holder })
				if err != nil {
					return err
				}
				out.Waiting = append(out.Waiting, waiting...)
			}
			from := projection.LiveCursor{}
			if scope == after.Scope {
				from = after.LiveCursor
			}
			list, total, err := tx.claimsOf(scope, holder, q.Auto, from, limit-len(out.Claims)+1)
			if err != nil {
				return err
			}
			out.Total += total
			if scope < after.Scope || out.Next != "" {
				continue // shown before, or for the next page
			}
			for i := range list {
				if len(out.Claims) == limit {
					last := out.Claims[limit-1]
					next := after
					next.Scope, next.LiveCursor = last.scope, projection.LiveCursor{Token: last.Token, ID: last.ID}
					out.Next = encodeCursor(next)
					break
				}
				v, err := tx.claimView(&list[i], scope)
				if err != nil {
					return err
				}
				v.Mine, v.Own = by.Holds(&list[i]), by.Below(&list[i])
				out.Claims = append(out.Claims, v)
			}
		}
		if holder != "" && !q.Every && q.Page.From == "" {
			out.Elsewhere, err = tx.heldElsewhere(q.Project, holder, q.Auto)
		}
		return err
	})
	if err != nil || q.Every || q.Holder != "" || q.Page.From != "" {
		return out, err
	}
	locks, err := o.foreignLocks(ctx, q.Project, "")
	for i := range locks {
		out.Claims = append(out.Claims, foreignView(&locks[i], q.Project))
		out.Total++
	}
	return out, err
}

// claimsOf lists up to limit of the claims of a scope after a place, all or one
// holder's, and counts them.
func (tx *Tx) claimsOf(scope string, holder event.ID, auto bool, after projection.LiveCursor, limit int) ([]claim.Claim, int, error) {
	table := tx.o.tables.Claims(tx.t, scope)
	if holder == "" {
		total, err := table.Count(auto)
		if err != nil {
			return nil, 0, err
		}
		list, err := table.Live(auto, after, limit)
		return list, total, err
	}
	list, err := table.Held(holder)
	list = slices.DeleteFunc(list, func(c claim.Claim) bool { return c.Auto && !auto })
	total := len(list)
	list = slices.DeleteFunc(list, func(c claim.Claim) bool {
		return c.Token < after.Token || c.Token == after.Token && c.ID <= after.ID
	})
	return list[:min(len(list), limit)], total, err
}

func foreignView(f *claim.Foreign, p Project) ClaimView {
	v := ClaimView{
		scope: ClaimScope(p), Tree: f.Tree,
		Lock: f.Name, Holder: f.Holder, Project: p.Name, Intent: f.Intent, Mode: claim.Exclusive, Since: f.Since, LastSign: f.Last, Standing: claim.Active,
	}
	if f.Stale {
		v.Standing = claim.Stale
	}
	for _, x := range f.Paths {
		v.Paths = append(v.Paths, string(x))
	}
	return v
}

// ClaimShow gives one claim, live or finished, by its id or a part of it.
func (o *Office) ClaimShow(ctx context.Context, part string) (v ClaimView, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		id, scope, rerr := tx.resolveClaim(part)
		if rerr == nil {
			c, _, err := o.tables.Claims(tx.t, scope).Claim(id)
			if err != nil {
				return err
			}
			if v, err = tx.claimView(&c, scope); err != nil {
				return err
			}
			v.Waiting, err = tx.waitViews(Caller{}, scope, func(x *claim.Wait) bool { return len(claim.Overlapping(&c.Want, &x.Want, false)) > 0 })
			return err
		}
		f, scope, ok, err := tx.finishedClaim(part)
		if err != nil || !ok {
			return errors.Join(err, rerr)
		}
		v, err = tx.finishedView(&f, scope)
		return err
	})
	return v, err
}

// ShortLen is the least number of characters of a short id.
const ShortLen = projection.ShortLen

// finishedClaim finds a claim that ended by its id or a unique part of it.
func (tx *Tx) finishedClaim(part string) (f claim.Finished, scope string, ok bool, err error) {
	found, err := tx.o.tables.Find(tx.t, strings.TrimSpace(part), "claim", 2)
	if err != nil || len(found) != 1 {
		return f, "", false, err
	}
	return tx.o.tables.FinishedClaim(tx.t, found[0].ID)
}

// ClaimHistory lists a project's finished claims, newest first, without those
// that guards made.
func (o *Office) ClaimHistory(ctx context.Context, p Project, page Page) (Claims, error) {
	out := Claims{Claims: []ClaimView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	var after projection.DoneCursor
	if page.From != "" {
		if err := decodeCursor(page.From, &after); err != nil {
			return out, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out = Claims{Claims: []ClaimView{}}
		list, total, err := o.tables.Claims(tx.t, ClaimScope(p)).Done(after, limit+1)
		if err != nil {
			return err
		}
		out.Total = total
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(projection.DoneCursor{At: list[limit-1].At, ID: list[limit-1].ID})
		}
		for i := range list {
			v, err := tx.finishedView(&list[i], ClaimScope(p))
			if err != nil {
				return err
			}
			out.Claims = append(out.Claims, v)
		}
		return nil
	})
	return out, err
}

// resolveClaim finds a live claim by its id or a unique part of it.
func (tx *Tx) resolveClaim(part string) (id event.ID, scope string, err error) {
	word := strings.TrimSpace(part)
	found, err := tx.o.tables.Find(tx.t, word, "claim", 100)
	if err != nil {
		return "", "", err
	}
	var live []event.ID
	for _, f := range found {
		s, ok, err := tx.o.tables.ClaimScope(tx.t, f.ID)
		if err != nil {
			return "", "", err
		}
		if !ok {
			continue
		}
		if strings.EqualFold(string(f.ID), word) {
			return f.ID, s, nil
		}
		live, id, scope = append(live, f.ID), f.ID, s
	}
	switch len(live) {
	case 1:
		return id, scope, nil
	case 0:
		hint := "bureau claims lists those that stand"
		if len(found) > 0 {
			hint = "it has ended; bureau claims --history lists those"
		}
		return "", "", fault.New(fault.NotFound, "no claim %q", part).WithHint("%s", hint)
	}
	return "", "", tx.ambiguous(part, "claim", live)
}

// claimView makes the view of a live claim.
func (tx *Tx) claimView(c *claim.Claim, scope string) (ClaimView, error) {
	rules, err := tx.o.tables.Claims(tx.t, scope).Rules()
	if err != nil {
		return ClaimView{}, err
	}
	v, err := tx.bareClaimView(c, scope)
	j := claim.Judge(c, tx.sign(c), rules, tx.now)
	v.LastSign, v.Standing, v.Lapsed = j.Last, j.Standing, j.Lapsed
	v.Deadline = j.Last.Add(c.TTL)
	if !c.Parked.IsZero() && j.Standing == claim.Parking {
		v.Deadline = c.Parked
	}
	return v, err
}

func (tx *Tx) bareClaimView(c *claim.Claim, scope string) (ClaimView, error) {
	short, err := tx.o.tables.Short(tx.t, c.ID)
	if err != nil {
		return ClaimView{}, err
	}
	v := ClaimView{
		ID: c.ID, Short: short, Token: c.Token, Holder: tx.nameOf(c.Holder), Mode: c.Mode, Tree: c.Tree, Intent: c.Intent, Task: c.Task, Files: c.Files,
		Since: c.Since, Lease: c.TTL.Seconds(), Auto: c.Auto, Keep: c.Keep, holder: c.Holder, scope: scope,
	}
	for _, x := range c.Paths {
		v.Paths = append(v.Paths, c.Show(x))
	}
	for _, x := range c.Resources {
		v.Resources = append(v.Resources, string(x))
	}
	if id, ok := strings.CutPrefix(scope, "project-"); ok {
		p, err := tx.projectByID(id)
		if err != nil {
			return v, err
		}
		v.Project = p.Name
	}
	return v, nil
}

func (tx *Tx) finishedView(f *claim.Finished, scope string) (ClaimView, error) {
	v, err := tx.bareClaimView(&f.Claim, scope)
	at := f.At
	v.LastSign, v.Deadline, v.Standing = f.Renewed, f.Renewed.Add(f.TTL), ""
	v.EndedAt, v.How, v.Summary, v.Probe = &at, f.How, f.Summary, f.Probe
	switch {
	case f.By == "": // no agent, such as a server that looked
	case f.How.Deed():
		v.By = tx.nameOf(f.By)
	default:
		v.NoticedBy = tx.nameOf(f.By)
	}
	return v, err
}
