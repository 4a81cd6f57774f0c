package locks

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// ground gives the lock folders of the project, that of the caller's work tree
// first.
func (w Work) ground(ctx context.Context) (ground, error) {
	if w.Project.Root == "" {
		return ground{}, nil
	}
	r, err := w.Office.ClaimRules(ctx, w.Project)
	if err != nil {
		return ground{}, err
	}
	g := survey(w.Project.Root, w.Tree, r)
	slices.SortStableFunc(g.folders, func(a, b mclaude.Locks) int {
		switch w.Tree {
		case a.Root():
			return -1
		case b.Root():
			return 1
		}
		return 0
	})
	return g, nil
}

// List gives all work that is held, in the order of the slugs. What edits
// claimed for one holder is one piece of work.
func (w Work) List(ctx context.Context) ([]Row, error) {
	g, err := w.ground(ctx)
	if err != nil {
		return nil, err
	}
	type lockFile struct {
		mclaude.Entry
		in mclaude.Locks
	}
	var files []lockFile
	var entries []mclaude.Entry
	err = g.each(func(l mclaude.Locks, list []mclaude.Entry) error {
		for _, e := range list {
			files = append(files, lockFile{e, l})
		}
		entries = append(entries, list...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := []Row{}
	taken := map[string]bool{}
	var plain []Row
	edits := map[event.ID]int{} // the row of a holder's edits, in plain
	q := office.ClaimQuery{Project: w.Project, Auto: true, Page: office.Page{Limit: office.MaxPage}}
	for {
		page, err := w.Office.ClaimList(ctx, w.Caller, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Claims {
			v := &page.Claims[i]
			switch {
			case v.Lock != "" || v.Auto && v.Lapsed: // it is anybody's
			case v.Auto:
				if at, known := edits[v.HolderID()]; known {
					w.addEdit(&plain[at], v)
					continue
				}
				r := rowOf(v, find(entries, v.HolderID()), w.Office.Now())
				r.Description, r.Files = "edits of "+v.Holder, nil
				w.addEdit(&r, v)
				edits[v.HolderID()] = len(plain)
				plain = append(plain, r)
			default:
				r := rowOf(v, find(entries, v.ID), w.Office.Now())
				if r.Slug == "" {
					plain = append(plain, r)
					continue
				}
				taken[r.Slug] = true
				rows = append(rows, r)
			}
		}
		if page.Next == "" {
			break
		}
		q.Page.From = page.Next
	}
	for _, r := range plain {
		if r.Slug != "" {
			taken[r.Slug] = true
			rows = append(rows, r)
		}
	}
	plain = slices.DeleteFunc(plain, func(r Row) bool { return r.Slug != "" })
	for i := range files {
		e := &files[i]
		if e.Ours && w.ours(ctx, e.Claim.ID) {
			continue // it is listed as a claim, or could not be removed
		}
		r := Row{
			Slug: e.Slug, Status: e.Status, Session: e.Session, Description: e.Description, Files: slices.Clone(e.Files),
			Worktree: e.Worktree, Branch: e.Branch, ClaimedAt: e.ClaimedAt, HeartbeatAge: e.HeartbeatAge.Seconds(), Silent: e.Heartbeat.IsZero(),
			folder: e.in,
		}
		if root := e.in.Root(); root != w.Project.Root && r.Worktree == "" {
			r.Worktree = root
		}
		same := func(x Row) bool {
			return x.Slug == r.Slug && x.Session == r.Session && (e.Ours || x.Worktree == r.Worktree)
		}
		if slices.ContainsFunc(rows, same) {
			continue // another office wrote it into several folders
		}
		taken[e.Slug] = true
		rows = append(rows, r)
	}
	// What has no name of its own gets one that is free.
	for _, r := range plain {
		base := mclaude.Slug(r.Description)
		for n := 1; r.Slug == "" || taken[r.Slug]; n++ {
			r.Slug = mclaude.Numbered(base, n)
		}
		taken[r.Slug] = true
		rows = append(rows, r)
	}
	for i := range rows {
		if rows[i].Files == nil {
			rows[i].Files = []string{}
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return strings.Compare(a.Slug, b.Slug) })
	return rows, nil
}

// addEdit adds what one edit claimed to the row of its holder's edits.
func (w Work) addEdit(r *Row, v *office.ClaimView) {
	for _, path := range v.Paths {
		path := called(claim.Pattern(path))
		if v.Tree != "" && v.Tree != w.Project.Root {
			path = filepath.ToSlash(filepath.Join(v.Tree, filepath.FromSlash(path)))
		}
		r.Files = append(r.Files, path)
	}
	if v.ID != r.Claim {
		r.more = append(r.more, string(v.ID))
	}
	if v.Standing != claim.Stale {
		r.Status = mclaude.Active
	}
}

// ours reports whether a lock file was written by this office, for a claim that
// stands or stood, or for the edits of an agent.
func (w Work) ours(ctx context.Context, id string) bool {
	if _, err := w.Office.ClaimShow(ctx, id); err == nil {
		return true
	}
	_, err := w.Office.Agent(ctx, id)
	return err == nil
}

// rowOf says of a claim what mclaude says of a lock. Its slug is left empty if
// neither the claim nor a lock file gives one.
func rowOf(v *office.ClaimView, e *mclaude.Entry, now time.Time) Row {
	r := Row{
		Status: mclaude.Active, Holder: v.Holder, Description: v.Intent, Files: slices.Clone(v.Paths), ClaimedAt: v.Since,
		HeartbeatAge: max(now.Sub(v.LastSign), 0).Seconds(), Claim: v.ID, Mine: v.Mine,
	}
	if v.Standing == claim.Stale || v.Lapsed {
		r.Status = mclaude.Stale
	}
	resources := make([]claim.Resource, len(v.Resources))
	for i, x := range v.Resources {
		resources[i] = claim.Resource(x)
	}
	if slug, named := Slug(resources, v.Intent, nil); named {
		r.Slug, r.named = slug, true
	}
	if e != nil {
		r.Slug, r.file, r.Worktree, r.Branch = e.Slug, e.Session, e.Worktree, e.Branch
	}
	switch r.Session = saidSession(v.Task); {
	case r.Session != "":
	case e != nil:
		r.Session = e.Session
	default:
		r.Session = sessionID(mclaude.Identity(v.Holder), string(v.ID))
	}
	return r
}
