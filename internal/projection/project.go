package projection

import (
	"strings"

	"bureau/internal/db"
	"bureau/internal/event"
)

// KindProject says where a project lies.
const KindProject event.Kind = "project.seen"

// Project is a repository or folder that work happened in.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Root string `json:"root"`
	Mark string `json:"mark,omitempty"` // identifies its content wherever it lies
}

func (p *Projection) applyProject(tx *db.Tx, e event.Event) error {
	var d Project
	if e.Decode(&d) != nil {
		return nil // no decision depends on it, and the next session there says it again
	}
	return p.exec(tx, `INSERT INTO ~project (id, name, root, mark) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, root = excluded.root,
			mark = CASE excluded.mark WHEN '' THEN mark ELSE excluded.mark END`, d.ID, d.Name, d.Root, d.Mark)
}

// Projects lists the projects that the office knows, by name. There may be very
// many; what runs often asks for those that it means.
func (p *Projection) Projects(tx *db.Tx) ([]Project, error) { return p.projects(tx, "") }

// ProjectsAt lists the projects that have one of some ids or lie at one of some
// roots, by name.
func (p *Projection) ProjectsAt(tx *db.Tx, ids, roots []string) ([]Project, error) {
	var args []any
	marks := func(list []string) string {
		for _, x := range list {
			args = append(args, x)
		}
		return strings.TrimSuffix(strings.Repeat("?, ", len(list)), ", ")
	}
	where := " WHERE id IN (" + marks(ids) + ")"
	if len(roots) > 0 {
		where += " OR root IN (" + marks(roots) + ")"
	}
	return p.projects(tx, where, args...)
}

func (p *Projection) projects(tx *db.Tx, where string, args ...any) (list []Project, err error) {
	err = p.each(tx, `SELECT id, name, root, mark FROM ~project`+where+` ORDER BY name, root`, args, func(r db.Row) error {
		var x Project
		if err := r.Scan(&x.ID, &x.Name, &x.Root, &x.Mark); err != nil {
			return err
		}
		list = append(list, x)
		return nil
	})
	return list, err
}

// noteUnknown remembers that a subject holds a kind of event that this
// generation does not know.
func (p *Projection) noteUnknown(tx *db.Tx, subject event.Subject, kind event.Kind) error {
	return p.exec(tx, `INSERT OR IGNORE INTO ~unknown (subject, kind) VALUES (?, ?)`, subject, kind)
}

// Unknown gives a kind of event in a subject that this generation does not
// know, "" if there is none.
func (p *Projection) Unknown(tx *db.Tx, subject event.Subject) (kind event.Kind, err error) {
	_, err = p.one(tx, `SELECT kind FROM ~unknown WHERE subject = ?`, []any{subject}, &kind)
	return kind, err
}
