package office

import (
	"context"
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/roster"
)

// ColleagueView is a colleague of a roster file, and whether somebody sits in
// its seat now.
type ColleagueView struct {
	Name  name.Name   `json:"name"`
	Brief string      `json:"brief"`
	Tier  roster.Tier `json:"tier"`
	Here  bool        `json:"here"` // a process lives for it now
	// Status of the session that is here: idle, busy or waiting.
	Status string `json:"status,omitempty"`
}

// Colleagues are those whom the roster files name.
type Colleagues struct {
	Colleagues []ColleagueView `json:"colleagues"`
	// Problems are what is wrong with the files, each a sentence that names file,
	// line and value, with the next step in brackets.
	Problems []string `json:"problems"`
}

// staff reads the roster files of the office and of a project.
func (o *Office) staff(root string) roster.Staff {
	if o.colleagues == nil {
		return roster.Staff{}
	}
	return o.colleagues(o.home, root)
}

// Colleagues lists whom the roster files name now, in their order, as seen from
// a project's root ("" for none). A file that is wrong is no error.
func (o *Office) Colleagues(ctx context.Context, root string) (Colleagues, error) {
	out := Colleagues{Colleagues: []ColleagueView{}, Problems: []string{}}
	staff := o.staff(root)
	for _, err := range staff.Problems {
		out.Problems = append(out.Problems, err.Error()+" ("+fault.HintOf(err)+")")
	}
	if len(staff.Colleagues) == 0 {
		return out, nil
	}
	p, err := o.presence(ctx)
	if err != nil {
		return out, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Colleagues = out.Colleagues[:0]
		for i := range staff.Colleagues {
			c := &staff.Colleagues[i]
			v := ColleagueView{Name: c.Name, Brief: c.Brief, Tier: c.Tier}
			a, _, found, err := o.tables.Holder(tx.t, c.Name.Key())
			if err != nil {
				return err
			}
			if found {
				v.Here, v.Status = p.here(a.ID), string(p.status(a.ID))
			}
			out.Colleagues = append(out.Colleagues, v)
		}
		return nil
	})
	return out, err
}

// RosterProblems gives what is wrong with the roster files as seen from a
// project's root, as findings.
func (o *Office) RosterProblems(root string) []Finding {
	var out []Finding
	for _, err := range o.staff(root).Problems {
		out = append(out, Finding{Severity: Hint, Text: err.Error(), Fix: fault.HintOf(err)})
	}
	return out
}

// knowing does something that names agents. Where it finds no agent of a name,
// it is done again with the colleagues of the roster files: they are read
// between the two, so that no other writer waits for a file.
func (o *Office) knowing(caller Caller, do func(roster.Staff) error) error {
	err := do(roster.Staff{})
	if o.colleagues == nil || !fault.Is(err, fault.NotFound) {
		return err
	}
	staff := o.staff(caller.Project.Root)
	if len(staff.Colleagues) == 0 {
		return err
	}
	return do(staff)
}

// employ makes the seat of a colleague that was never written to; a word that
// means somebody else, or nobody, changes nothing.
func (tx *Tx) employ(word string) error {
	c, err := tx.unseated(word)
	if err != nil || c == "" {
		return err
	}
	_, err = tx.decideNames(roster.Employ{ID: event.NewID(tx.now), Name: c})
	return err
}

// seatAsked gives the one who is asked a seat, if it is a colleague without one.
// It has it then, whatever comes of the question.
func (o *Office) seatAsked(ctx context.Context, caller Caller, a *Asking, staff roster.Staff) error {
	group, names, err := splitGroups(a.To)
	if len(staff.Colleagues) == 0 || a.Question != "" || err != nil || group != "" || len(names) != 1 {
		return nil // nobody, or for the question to refuse
	}
	if a.IfLive {
		return o.look(ctx, func(tx *Tx) error {
			tx.staff = staff
			c, err := tx.unseated(names[0])
			if err != nil || c == "" {
				return err
			}
			return fault.New(fault.Unavailable, "%s is not here (nobody ever took its seat); nothing was sent", c).
				WithHint("without --if-live the question waits for a session that is started with BUREAU_NAME=%s", c)
		})
	}
	return o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project, tx.staff = caller.Project.ID, staff
		return tx.employ(names[0])
	})
}

// unseated gives the colleague whom a word names and who has no seat yet.
func (tx *Tx) unseated(word string) (name.Name, error) {
	n, err := name.ParseAny(word)
	if err != nil {
		return "", nil // for who looks the word up to say
	}
	c, known := tx.staff.Find(n.Key())
	if !known {
		return "", nil
	}
	if _, _, found, err := tx.o.tables.Holder(tx.t, n.Key()); err != nil || found {
		return "", err
	}
	return c.Name, nil
}

// hintAt says of colleagues whom nothing can wake what would make them notice.
func (o *Office) hintAt(caller Caller, list []RecipientView) {
	read, staff := false, roster.Staff{}
	for i := range list {
		r := &list[i]
		if r.Here || r.Wake != WakeNone {
			continue
		}
		if !r.colleague && !read {
			read, staff = true, o.staff(caller.Project.Root)
		}
		if _, named := staff.Find(name.Fold(r.Name)); named || r.colleague {
			r.Hint = "start a session with BUREAU_NAME=" + r.Name
		}
	}
}

// maxNamed bounds the names that a refusal lists.
const maxNamed = 12

// whoIsThere lists the names that mail can go to, as the next step for who
// named one that is not among them.
func whoIsThere(names []string) string {
	if len(names) == 0 {
		return "nobody else is in the office yet; bureau register NAME gives a terminal a name"
	}
	slices.Sort(names)
	names = slices.Compact(names)
	rest := ""
	if len(names) > maxNamed {
		names, rest = names[:maxNamed], ", …"
	}
	return "there are " + strings.Join(names, ", ") + rest + " (bureau agents lists everyone)"
}
