package office

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/projection"
)

// Around is a project that another one's work tree lies in: the repository
// around a submodule or around a repository of its own, or (with no Root) what
// belongs to no project.
type Around struct {
	Project Project
	Tree    string // the work tree that the inner one lies in
}

// EditScopes names the claims that an edit in a project is decided by: its own
// and those of the projects around, which SettleProject has settled.
func EditScopes(p Project) []string {
	scopes := []string{ClaimScope(p)}
	for _, id := range p.also {
		scopes = append(scopes, ClaimScope(Project{ID: id}))
	}
	for _, a := range p.Around {
		scopes = append(scopes, ClaimScope(a.Project))
	}
	return scopes
}

// lies reports whether a folder lies in another one.
func lies(inner, outer string) bool {
	const sep = string(filepath.Separator)
	return inner != outer && strings.HasPrefix(inner, strings.TrimSuffix(outer, sep)+sep)
}

// above lists the folders that a folder lies in, the nearest first.
func above(folder string) (out []string) {
	for up := filepath.Dir(folder); up != folder; up = filepath.Dir(up) {
		out, folder = append(out, up), up
	}
	return out
}

// around gives the projects around a work tree: as the place of the caller's
// path has them or, where a claim is found by its id, those that the office
// knows by their roots.
func (tx *Tx) around(p Project, tree string) ([]Around, error) {
	if p.Around != nil || p.ID == "" || tree == "" {
		return p.Around, nil
	}
	known, err := tx.o.tables.ProjectsAt(tx.t, nil, above(tree))
	if err != nil {
		return nil, err
	}
	var out []Around
	for _, k := range known {
		if k.ID != p.ID {
			out = append(out, Around{Project: projectOf(k), Tree: k.Root})
		}
	}
	return append(out, Around{Tree: filepath.VolumeName(tree) + string(filepath.Separator)}), nil
}

func projectOf(k projection.Project) Project {
	return Project{ID: k.ID, Name: k.Name, Root: k.Root, Mark: markOf(&k), stamp: stampOf(&k)}
}

// reach says how far a look for claims goes beyond a project's own.
type reach struct {
	tree string // the work tree that it is about, "" for things alone
	// inner asks the projects within, too. An edit need not: what lies in them is
	// theirs to decide.
	inner bool
	files []string // what is edited, by the names in the work tree
}

// within reports whether a look goes into the project at a root: one of its
// files lies there, though it was found to be of another project. An id in a
// file has come, and makes one project of all below it.
func (r *reach) within(root string) bool {
	if !lies(root, r.tree) {
		return false
	}
	below, err := filepath.Rel(r.tree, root)
	if err != nil || r.inner {
		return r.inner
	}
	below = filepath.ToSlash(below) + "/"
	return slices.ContainsFunc(r.files, func(f string) bool { return strings.HasPrefix(f, below) })
}

// derived reports whether an id is one that the office made, and not one that
// somebody wrote into a file.
func derived(id string) bool { return event.ValidID(id) }

// others gives the projects that share files with a work tree of a project, as
// far as they have claims: those around it, those by whose id the same place was
// known before, or is known elsewhere, and those within.
//
// What counts is where files lie and not whose they are taken for: an id in a
// file comes and goes with a branch, and what was claimed under another id before
// is claimed all the same.
func (tx *Tx) others(caller Caller, p Project, r reach, locks map[string][]claim.Foreign) ([]claim.Other, error) {
	tree := r.tree
	if tree == "" && p.Root == "" {
		return nil, nil
	}
	around, err := tx.around(p, tree)
	if err != nil {
		return nil, err
	}
	// Mostly nobody holds anything elsewhere, and there may be very many projects.
	busy, err := tx.o.tables.BusyScopes(tx.t, caller.Agent.ID)
	if err != nil {
		return nil, err
	}
	for scope := range locks {
		busy = append(busy, scope)
	}
	var known []projection.Project
	if ids := scopeIDs(busy, p.ID); len(ids) > 0 {
		if known, err = tx.o.tables.ProjectsAt(tx.t, ids, nil); err != nil {
			return nil, err
		}
	}
	var out []claim.Other
	add := func(q Project, tree string, around, same bool) {
		scope := ClaimScope(q)
		if scope == ClaimScope(p) || !slices.Contains(busy, scope) || slices.ContainsFunc(out, func(o claim.Other) bool { return o.Scope == scope }) {
			return
		}
		o := claim.Other{Scope: scope, Name: q.Name, View: tx.o.tables.Claims(tx.t, scope), Tree: tree, Around: around, Same: same, Foreign: locks[scope]}
		if same || q.ID == caller.Project.ID {
			o.Name = "" // one's own goes without saying
		}
		out = append(out, o)
	}
	for i := range known {
		if p.same(&known[i]) {
			add(projectOf(known[i]), tree, true, true)
		}
	}
	if tree == "" {
		return out, nil
	}
	for _, a := range around {
		add(a.Project, a.Tree, true, false)
	}
	began := ProjectID(p.Root)
	for _, k := range known {
		switch {
		case k.Root == "" || k.ID == p.ID:
		case k.Root == tree:
			add(projectOf(k), tree, true, false)
		case lies(tree, k.Root):
			add(projectOf(k), k.Root, true, false)
		case r.within(k.Root):
			add(projectOf(k), k.Root, false, false)
		case !derived(k.ID) || k.ID == began:
			// It may be at home in several places, and the office knows one of them; or
			// it was moved from here, and what was claimed here since is of it.
			add(projectOf(k), tree, true, false)
		}
	}
	return out, nil
}

// same reports whether a known project is this one by another id: it was known
// at this root, or is the repository that this root is a work tree of.
func (p *Project) same(k *projection.Project) bool {
	return k.ID != p.ID && k.Root != "" && (k.Root == p.Root || k.Root == p.Repository)
}

// commandReach says how far a command on claims looks.
func (tx *Tx) commandReach(scope string, c claim.Command) (reach, error) {
	of := func(id event.ID) (reach, error) {
		held, _, err := tx.o.tables.Claims(tx.t, scope).Claim(id)
		if len(held.Paths) == 0 {
			return reach{}, err
		}
		return reach{tree: held.Tree, inner: true}, err
	}
	switch c := c.(type) {
	case claim.Take:
		if len(c.Want.Paths) > 0 {
			return reach{tree: c.Want.Tree, inner: true}, nil
		}
	case claim.Change:
		if c.Want != nil && len(c.Want.Paths) > 0 {
			return reach{tree: c.Want.Tree, inner: true}, nil
		}
	case claim.Takeover:
		return of(c.Claim)
	case claim.Transfer:
		if len(c.Claims) == 1 {
			return of(c.Claims[0])
		}
	case claim.Edit:
		return reach{tree: c.Tree, files: c.Paths}, nil
	case claim.Check:
		return reach{tree: c.Tree, files: c.Paths}, nil
	}
	return reach{}, nil
}

// evidenceOn is evidence, with the projects that a command's files are shared
// with.
func (tx *Tx) evidenceOn(caller Caller, p Project, c claim.Command, l locked) (claim.Evidence, error) {
	ev := tx.evidence()
	ev.Foreign = l.own
	ev.Elsewhere = func(agent event.ID) (views []claim.View, err error) {
		scopes, err := tx.o.tables.HolderScopes(tx.t, agent)
		for _, scope := range scopes {
			if scope != ClaimScope(p) {
				views = append(views, tx.o.tables.Claims(tx.t, scope))
			}
		}
		return views, err
	}
	if p.ID != "" && p.ID != caller.Project.ID {
		ev.Project = p.Name
	}
	r, err := tx.commandReach(ClaimScope(p), c)
	if err == nil {
		ev.Others, err = tx.others(caller, p, r, l.around)
	}
	return ev, err
}

// locked are other programs' locks in a project and in those around it.
type locked struct {
	own    []claim.Foreign
	around map[string][]claim.Foreign // by scope
}

// readLocked reads other programs' locks in a project and in those around. See
// readLocks about the work tree and unread.
func (o *Office) readLocked(ctx context.Context, p Project, tree string) (l locked, unread, err error) {
	if l.own, unread, err = o.readLocks(ctx, p, tree); err != nil {
		return l, unread, err
	}
	return o.readAround(ctx, p, l, unread)
}

// readAround is readLocked for the projects around, where those in the project
// itself are read.
func (o *Office) readAround(ctx context.Context, p Project, l locked, unread error) (_ locked, _, err error) {
	for _, a := range p.Around {
		list, why, err := o.readLocks(ctx, a.Project, a.Tree)
		if err != nil {
			return l, unread, err
		}
		if unread == nil {
			unread = why
		}
		// Those in its other work trees are on other files.
		list = slices.DeleteFunc(list, func(f claim.Foreign) bool { return f.Tree != "" && f.Tree != a.Tree })
		if len(list) > 0 {
			if l.around == nil {
				l.around = map[string][]claim.Foreign{}
			}
			l.around[ClaimScope(a.Project)] = list
		}
	}
	return l, unread, nil
}

// decideElsewhere carries out what a decision ends or gives away in other
// projects.
func (tx *Tx) decideElsewhere(by claim.By, d *claim.Decision) error {
	for _, e := range d.Ends {
		if err := tx.appendClaims(e.Scope, by, event.New(claim.KindEnded, e.EndedClaim)); err != nil {
			return err
		}
	}
	for _, m := range d.Moves {
		if err := tx.appendClaims(m.Scope, by, event.New(claim.KindMoved, m.MovedClaim)); err != nil {
			return err
		}
	}
	return nil
}

// appendClaims writes what was decided about a claim of another project, and
// tells whom it concerns.
func (tx *Tx) appendClaims(scope string, by claim.By, e event.Event) error {
	project := tx.project
	defer func() { tx.project = project }()
	subject := event.ClaimsSubject(scope)
	if err := tx.known(subject); err != nil {
		return err
	}
	version, err := tx.o.journal.In(tx.t).Version(subject)
	if err != nil {
		return err
	}
	events := []event.Event{e}
	notes, err := tx.tellClaims(scope, by, events)
	if err != nil {
		return err
	}
	tx.project = scopeID(scope)
	if _, err := tx.append("", subject, &version, events); err != nil {
		return err
	}
	for _, write := range notes {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// claimTopics lists what rings when something ends that a wait may be for.
func (o *Office) claimTopics(ctx context.Context, caller Caller, p Project, w *claim.Want) (topics []string, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		topics = []string{claimTopic(ClaimScope(p))}
		tree := w.Tree
		if len(w.Paths) == 0 {
			tree = ""
		}
		others, err := tx.others(caller, p, reach{tree: tree, inner: true}, nil)
		for i := range others {
			// One claim rings once; of many projects the next look finds it.
			if len(topics) < 16 {
				topics = append(topics, claimTopic(others[i].Scope))
			}
		}
		return err
	})
	return topics, err
}

// HeldElsewhere says how much somebody holds in another project than the one
// that was asked about.
type HeldElsewhere struct {
	Project string `json:"project"` // its name, "" outside of any
	Claims  int    `json:"claims"`
}

// heldElsewhere counts an agent's claims in other projects.
func (tx *Tx) heldElsewhere(p Project, holder event.ID, auto bool) (out []HeldElsewhere, err error) {
	scopes, err := tx.o.tables.HolderScopes(tx.t, holder)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		if scope == ClaimScope(p) {
			continue
		}
		_, n, err := tx.claimsOf(scope, holder, auto, projection.LiveCursor{}, 0)
		if err != nil {
			return nil, err
		}
		q, err := tx.scopeProject(scope)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			out = append(out, HeldElsewhere{Project: q.Name, Claims: n})
		}
	}
	return out, nil
}

// ClaimsAround lists what is claimed of a work tree in the projects around it,
// the nearest first, without what guards claimed on the way. It gives at most
// a number of them, and how many there are.
func (o *Office) ClaimsAround(ctx context.Context, caller Caller, p Project, tree string, most int) (list []ClaimView, total int, err error) {
	if len(p.Around) == 0 {
		return nil, 0, nil
	}
	err = o.look(ctx, func(tx *Tx) error {
		list, total = nil, 0
		by, err := tx.by(caller)
		if err != nil {
			return err
		}
		others, err := tx.others(caller, p, reach{tree: tree}, nil)
		if err != nil {
			return err
		}
		whole := claim.Want{Paths: []claim.Pattern{claim.Root}, Mode: claim.Exclusive, Tree: tree}
		for i := range others {
			held, _, err := others[i].Meeting(&whole)
			if err != nil {
				return err
			}
			for j := range held {
				c := &held[j]
				if c.Auto {
					continue
				}
				if total++; total > most {
					continue
				}
				v, err := tx.claimView(c, others[i].Scope)
				if err != nil {
					return err
				}
				v.Mine, v.Own = by.Holds(c), by.Below(c)
				list = append(list, v)
			}
		}
		return nil
	})
	return list, total, err
}
