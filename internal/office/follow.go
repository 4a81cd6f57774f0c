package office

import (
	"context"
	"slices"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/projection"
)

// Claims are of a work tree, which may be moved by itself: git worktree move, or
// one of several clones that share an id in a file. Nobody tells the office. It is
// noticed when somebody asks in the new place and meets a claim of a place that
// is not there any more: the folder itself says whether it is the same.

// left reports whether the folder that a claim was made in is not at its place.
func (o *Office) left(c *claim.Claim) bool {
	return Gone(c.Tree) || compareStamps(c.Folder, o.stamp(c.Tree)) == different
}

// followed gives those of some claims that were made in the folder that is the
// work tree tree now, and lay elsewhere before.
func (o *Office) followed(list []claim.Claim, tree string) []claim.Claim {
	if o.stampOf == nil || tree == "" {
		return nil
	}
	now, away := "", map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(c claim.Claim) bool {
		if c.Folder == "" || c.Tree == "" || c.Tree == tree || c.Elsewhere {
			return true
		}
		if now == "" {
			now = o.stamp(tree)
		}
		if compareStamps(c.Folder, now) != same {
			return true
		}
		gone, looked := away[c.Tree]
		if !looked {
			gone = o.left(&c)
			away[c.Tree] = gone
		}
		return !gone
	})
}

// follow brings the claims that were made in the work tree of a want, or in one
// around it, to where it is now, if the want meets some that were made there
// before it was moved, or the caller lost some there.
func (tx *Tx) follow(p Project, w *claim.Want, agent event.ID) error {
	err := tx.followIn(ClaimScope(p), w, agent)
	for _, id := range p.also {
		if err == nil {
			err = tx.followIn(ClaimScope(Project{ID: id}), w, agent)
		}
	}
	for _, a := range p.Around {
		if err != nil || a.Project.Root == "" {
			return err
		}
		if at, ok := w.In(a.Tree); ok {
			err = tx.followIn(ClaimScope(a.Project), &at, agent)
		}
	}
	return err
}

func (tx *Tx) followIn(scope string, w *claim.Want, agent event.ID) error {
	table := tx.o.tables.Claims(tx.t, scope)
	near, err := table.Touching(w)
	if err != nil {
		return err
	}
	lost, err := table.Lost(agent)
	if err != nil {
		return err
	}
	for i := range lost {
		near = append(near, lost[i].Claim)
	}
	if len(tx.o.followed(near, w.Tree)) == 0 {
		return nil
	}
	return tx.followAll(scope, w.Tree)
}

// followAll is follow for all of a project's claims.
func (tx *Tx) followAll(scope, tree string) error {
	all, err := tx.allClaims(scope)
	if err != nil {
		return err
	}
	moved := tx.o.followed(all, tree)
	if len(moved) == 0 {
		return nil
	}
	c := claim.Relocate{Trees: map[string]string{}}
	for i := range moved {
		c.Trees[moved[i].Tree] = tree
		c.Only = append(c.Only, moved[i].ID)
	}
	_, err = tx.onClaims(scope, claim.By{}, c, claim.Evidence{})
	return err
}

// allClaims lists what is held in a project, and what was lost there.
func (tx *Tx) allClaims(scope string) ([]claim.Claim, error) {
	table := tx.o.tables.Claims(tx.t, scope)
	list, err := table.Live(true, projection.LiveCursor{}, -1)
	if err != nil {
		return nil, err
	}
	lost, err := table.Lost("")
	for i := range lost {
		list = append(list, lost[i].Claim)
	}
	return list, err
}

// followTo is follow for what was found out about claims of these trees, from
// the work tree tree. It reports whether that is out of date now.
func (o *Office) followTo(ctx context.Context, p Project, tree string, trees []string) bool {
	if tree == "" || o.stampOf == nil || o.ReadOnly() {
		return false
	}
	if !slices.ContainsFunc(trees, func(t string) bool { return t != "" && t != tree }) {
		return false
	}
	moved := false // mostly it lies elsewhere, and nothing is written
	err := o.look(ctx, func(tx *Tx) error {
		all, err := tx.allClaims(ClaimScope(p))
		moved = len(o.followed(all, tree)) > 0
		return err
	})
	if err != nil || !moved {
		return false
	}
	return o.change(ctx, event.Actor{}, func(tx *Tx) error {
		tx.project = p.ID
		return tx.followAll(ClaimScope(p), tree)
	}) == nil
}

func treesOf(list []ClaimView) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Tree
	}
	return out
}
