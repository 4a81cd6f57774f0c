package office

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bureau/internal/claim"
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
	// commit), so that a project that was moved is recognised where the folder
	// itself does not tell; "" if unknown.
	Mark string
	// Around are the projects whose work trees the one that was looked at lies
	// in, the nearest first; the last one stands for what belongs to no project.
	Around []Around
	// Repository is the root of the repository that the place is a work tree of,
	// where an id in a file makes it a project: it may be known by that too.
	Repository string

	stamp    string   // what its root was recognised by when that was noted; see Options.Stamp
	also     []string // other ids that the place is known by
	fresh    bool     // the office does not know it yet
	unmarked bool     // nobody has read its mark, and no file names it
}

// ProjectID derives the id of a project that was never seen before from its
// canonical root.
func ProjectID(root string) string { return string(event.Derive("project", root)) }

// SettleProject gives the project, and those around it, with the ids that the
// office knows them by: the one of the path, or of the mark when the place that
// it was known at is gone. Where one has moved, that is written down, and what is
// claimed in it goes on at the new place. The mark of the one that is looked at is
// read, if it may be one that has moved; those around are told by their paths and
// by their folders' stamps, which needs no run of git.
func (o *Office) SettleProject(ctx context.Context, p Project) (Project, error) {
	p.Around = slices.Clone(p.Around)
	all := []*Project{&p}
	for i := range p.Around {
		all = append(all, &p.Around[i].Project)
	}
	all = slices.DeleteFunc(all, func(q *Project) bool { return q.Root == "" })
	if len(all) == 0 {
		return p, nil
	}
	var known []projection.Project
	err := o.look(ctx, func(tx *Tx) (err error) {
		known, err = tx.knownOf(&p, all)
		return err
	})
	if err != nil {
		return p, err
	}
	moved := slices.DeleteFunc(all, func(q *Project) bool {
		var mark func() string
		if q == &p && o.markOf != nil {
			mark = func() string { return o.markOf(ctx, q.Root) }
		}
		return !o.settleAmong(known, q, mark)
	})
	for i := range known {
		if p.same(&known[i]) {
			p.also = append(p.also, known[i].ID)
		}
	}
	if len(moved) == 0 || o.ReadOnly() {
		return p, nil
	}
	return p, o.change(ctx, event.Actor{}, func(tx *Tx) error {
		for _, q := range moved {
			if err := tx.noteProject(*q); err != nil {
				return err
			}
		}
		return nil
	})
}

// knownOf lists the projects among which some are to be settled: those of their
// ids and places, or all there are where one of them may have come from anywhere.
func (tx *Tx) knownOf(p *Project, all []*Project) ([]projection.Project, error) {
	ids, roots := []string{}, []string{}
	if p.Repository != "" {
		roots = append(roots, p.Repository)
	}
	for _, q := range all {
		roots = append(roots, q.Root)
		if q.ID != "" {
			ids = append(ids, q.ID)
		}
	}
	known, err := tx.o.tables.ProjectsAt(tx.t, ids, roots)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if q.ID == "" && !slices.ContainsFunc(known, func(k projection.Project) bool { return k.Root == q.Root }) {
			return tx.o.tables.Projects(tx.t)
		}
	}
	return known, nil
}

// settleAmong settles a project among the known ones, and reports whether it
// has moved. mark reads what identifies it, where that is needed; nil does not
// look. A clone has the mark too, and is told apart by the folder's own stamp
// where the office knows that of the one that is gone.
func (o *Office) settleAmong(known []projection.Project, p *Project, mark func() string) (moved bool) {
	if p.ID != "" {
		i := slices.IndexFunc(known, func(k projection.Project) bool { return k.ID == p.ID })
		return i >= 0 && o.movedFrom(&known[i], p)
	}
	if i := slices.IndexFunc(known, func(k projection.Project) bool { return k.Root == p.Root }); i >= 0 {
		p.ID, p.unmarked = known[i].ID, markOf(&known[i]) == ""
		return false
	}
	stamp := ""
	if len(known) > 0 {
		stamp = o.stamp(p.Root)
	}
	for i := range known {
		k := &known[i]
		if born(stamp) && compareStamps(stampOf(k), stamp) == same && o.movedFrom(k, p) {
			p.ID, p.unmarked = k.ID, markOf(k) == ""
			return true
		}
	}
	read := false
	for i := range known {
		k := &known[i]
		if markOf(k) == "" || !Gone(k.Root) || compareStamps(stampOf(k), stamp) == different {
			continue
		}
		if p.Mark == "" && mark != nil && !read {
			p.Mark, read = mark(), true
		}
		if p.Mark == markOf(k) {
			p.ID, p.unmarked = k.ID, false
			return true
		}
	}
	p.fresh, p.unmarked = true, p.Mark == "" && !read
	p.ID = ProjectID(p.Root)
	for n := 2; slices.ContainsFunc(known, func(k projection.Project) bool { return k.ID == p.ID }); n++ {
		p.ID = string(event.Derive("project", p.Root, strconv.Itoa(n))) // one that began here has moved
	}
	return false
}

// marked gives a project with its mark, if nobody has read it yet.
func (o *Office) marked(ctx context.Context, p Project) Project {
	if p.unmarked && o.markOf != nil {
		p.Mark, p.unmarked = o.markOf(ctx, p.Root), false
	}
	return p
}

// movedFrom reports whether a known project was moved to where one of its id is
// found. A file with an id lies in every clone, so that says little by itself.
//
// The old place need not be empty: there may be another clone by now, which is
// known by its folder too.
func (o *Office) movedFrom(k *projection.Project, p *Project) bool {
	if k.Root == "" || k.Root == p.Root {
		return false
	}
	here := compareStamps(stampOf(k), o.stamp(p.Root))
	return here != different && Gone(k.Root) || here == same && compareStamps(stampOf(k), o.stamp(k.Root)) == different
}

// volumes are where other volumes come and go. What is not there may be there
// again.
var volumes = []string{"/media", "/mnt", "/run/media", "/Volumes", "/net"}

// Gone reports whether a project's old place is empty for good: its parent is
// there and the folder is not, or a folder further up was moved with it. Where
// a whole volume is missing it may just not be mounted.
func Gone(root string) bool {
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if declaredMount(root) != "" {
		return false
	}
	for up := filepath.Dir(root); up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(up); err != nil {
			continue
		}
		if slices.ContainsFunc(volumes, func(v string) bool { return up == v || filepath.Dir(up) == v }) {
			return up == filepath.Dir(root) && !empty(up) // an empty folder there may be a mount point
		}
		return true
	}
	return false
}

func empty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err != nil
}

// noteProject writes down what is new about a project. One that has moved takes
// its claims along.
func (tx *Tx) noteProject(p Project) error {
	if p.ID == "" {
		return nil
	}
	known, err := tx.o.tables.ProjectsAt(tx.t, []string{p.ID}, nil)
	if err != nil {
		return err
	}
	was, mark, stamp, sure := "", p.Mark, tx.o.stamp(p.Root), false
	for i := range known {
		k := &known[i]
		if mark == "" {
			mark = markOf(k)
		}
		if k.Root == p.Root && stamp != stampOf(k) {
			kept, err := tx.keepsStamp(k, stamp)
			if err != nil {
				return err
			}
			if kept {
				stamp = stampOf(k)
			}
		}
		if k.Root == p.Root && k.Name == p.Name && k.Mark == joinMark(mark, stamp) {
			return nil
		}
		if tx.o.movedFrom(k, &p) {
			was, sure = k.Root, compareStamps(stampOf(k), stamp) == same
		}
	}
	_, err = tx.append("", event.Names, nil, []event.Event{event.New(projection.KindProject, projection.Project{
		ID: p.ID, Name: p.Name, Root: p.Root, Mark: joinMark(mark, stamp),
	})})
	if err != nil || was == "" {
		return err
	}
	return tx.moveClaims(p, was, sure)
}

// keepsStamp reports whether a project is to be recognised by the stamp that it
// has, though the folder in its place has another one, or none can be read: what
// was claimed in the folder that was there before goes where that one is.
func (tx *Tx) keepsStamp(k *projection.Project, stamp string) (bool, error) {
	was := stampOf(k)
	if was == "" || stamp == "" {
		return was != "", nil
	}
	if compareStamps(was, stamp) != different {
		return false, nil
	}
	list, err := tx.allClaims(ClaimScope(projectOf(*k)))
	return slices.ContainsFunc(list, func(c claim.Claim) bool { return compareStamps(c.Folder, was) == same }), err
}

// moveClaims says of the claims of a project that was moved where their work
// trees are now: the project's own, and linked ones that were moved with it.
// Without being sure that it is the very folder, one where others of its claims
// are is another clone, and nothing has moved there.
func (tx *Tx) moveClaims(p Project, was string, sure bool) error {
	list, err := tx.allClaims(ClaimScope(p))
	if err != nil {
		return err
	}
	if !sure && slices.ContainsFunc(list, func(c claim.Claim) bool { return c.Tree == p.Root }) {
		return nil
	}
	// What moved may be a folder further up.
	from, to := was, p.Root
	for filepath.Base(from) == filepath.Base(to) && filepath.Dir(from) != from && filepath.Dir(to) != to {
		from, to = filepath.Dir(from), filepath.Dir(to)
	}
	trees, stamps := map[string]string{}, map[string]string{}
	var moved []event.ID
	for i := range list {
		tree := list[i].Tree
		if tree == "" {
			continue
		}
		if _, looked := trees[tree]; !looked {
			trees[tree] = ""
			if rest, below := under(tree, was); below {
				trees[tree] = filepath.Join(p.Root, rest)
			} else if rest, below := under(tree, from); below && Gone(tree) && !Gone(filepath.Join(to, rest)) {
				trees[tree] = filepath.Join(to, rest)
			}
			stamps[tree] = tx.o.stamp(trees[tree])
		}
		// Another clone that lay there is not this one.
		if trees[tree] != "" && compareStamps(list[i].Folder, stamps[tree]) != different {
			moved = append(moved, list[i].ID)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	_, err = tx.onClaims(ClaimScope(p), claim.By{}, claim.Relocate{Trees: trees, Only: moved}, claim.Evidence{})
	if fault.Is(err, fault.Unavailable) {
		return nil // written by a newer bureau, which does it itself
	}
	return err
}

// under gives the rest of a path below a folder, "." for the folder itself.
func under(path, folder string) (rest string, below bool) {
	rest, err := filepath.Rel(folder, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
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
