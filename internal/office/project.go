package office

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/projection"
)

// Project is where work happens: a repository or a folder. The faces find it;
// the office only remembers it.
type Project struct {
	ID   string // "" for none
	Name string // the folder's name, for people
	Root string // canonical absolute path
	// Mark identifies the content wherever it lies (a repository's first
	// commit), so that a project that was moved is recognised; "" if unknown.
	Mark string
	// Around are the projects whose work trees the one that was looked at lies
	// in, the nearest first; the last one stands for what belongs to no project.
	Around []Around
}

// ProjectID derives the id of a project that was never seen before from its
// canonical root.
func ProjectID(root string) string { return string(event.Derive("project", root)) }

// SettleProject gives the project, and those around it, with the ids that the
// office knows them by: the one of the path, or of the mark when the place it
// was known at is gone. gone reports whether a root no longer exists.
func (o *Office) SettleProject(ctx context.Context, p Project, gone func(root string) bool) (Project, error) {
	p.Around = slices.Clone(p.Around)
	all := []*Project{&p}
	for i := range p.Around {
		all = append(all, &p.Around[i].Project)
	}
	all = slices.DeleteFunc(all, func(q *Project) bool { return q.ID != "" || q.Root == "" })
	if len(all) == 0 {
		return p, nil
	}
	err := o.look(ctx, func(tx *Tx) error {
		known, err := o.tables.Projects(tx.t)
		if err != nil {
			return err
		}
		for _, q := range all {
			q.ID = settle(known, q, gone)
		}
		return nil
	})
	return p, err
}

func settle(known []projection.Project, p *Project, gone func(root string) bool) string {
	for _, k := range known {
		if k.Root == p.Root {
			return k.ID
		}
	}
	for _, k := range known {
		if p.Mark != "" && k.Mark == p.Mark && gone(k.Root) {
			return k.ID
		}
	}
	return ProjectID(p.Root)
}

// noteProject writes down what is new about a project.
func (tx *Tx) noteProject(p Project) error {
	if p.ID == "" {
		return nil
	}
	known, err := tx.o.tables.Projects(tx.t)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.ID == p.ID && k.Root == p.Root && k.Name == p.Name && (p.Mark == "" || k.Mark == p.Mark) {
			return nil
		}
	}
	_, err = tx.append("", event.Names, nil, []event.Event{event.New(projection.KindProject, projection.Project{
		ID: p.ID, Name: p.Name, Root: p.Root, Mark: p.Mark,
	})})
	return err
}

// findProject finds a project by id, path or name.
func (tx *Tx) findProject(word string) (projection.Project, error) {
	known, err := tx.o.tables.Projects(tx.t)
	if err != nil {
		return projection.Project{}, err
	}
	var named []projection.Project
	for _, k := range known {
		if k.ID == word || k.Root == filepath.Clean(word) {
			return k, nil
		}
		if strings.EqualFold(k.Name, word) {
			named = append(named, k)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = k.Name
		}
		return projection.Project{}, fault.New(fault.NotFound, "no project %q", word).WithHint("%s", knownHint("known projects", names))
	}
	roots := make([]string, len(named))
	for i, k := range named {
		roots[i] = k.Root
	}
	return projection.Project{}, fault.New(fault.Conflict, "%d projects are called %q", len(named), word).
		WithHint("say which by its path: project:%s", strings.Join(roots, " or project:"))
}

func knownHint(what string, names []string) string {
	if len(names) == 0 {
		return "there are none yet"
	}
	if len(names) > 12 {
		names = append(names[:12:12], "…")
	}
	return what + ": " + strings.Join(names, ", ")
}
