package cli

import (
	"context"
	"fmt"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/roster"
)

// agentsJSON is the directory with those who have no seat there yet.
type agentsJSON struct {
	office.Agents
	office.Colleagues
}

// agentJSON is one agent, and what the roster files say of it.
type agentJSON struct {
	office.AgentView
	Colleague *office.ColleagueView `json:"colleague,omitempty"`
}

// colleagues lists whom the roster files name, for a list of agents: all of
// them on its first page, none where it is of one project.
func (a *app) colleagues(ctx context.Context, o *office.Office, caller office.Caller, q *office.DirectoryQuery) (office.Colleagues, error) {
	if q.Page.From != "" || q.Project != "" {
		return office.Colleagues{Colleagues: []office.ColleagueView{}, Problems: []string{}}, nil
	}
	found, err := o.Colleagues(ctx, caller.Project.Root)
	if q.Here {
		here := []office.ColleagueView{}
		for _, c := range found.Colleagues {
			if c.Here {
				here = append(here, c)
			}
		}
		found.Colleagues = here
	}
	return found, err
}

// showColleagues prints them below the agents, and what is wrong with the
// files in one line.
func (a *app) showColleagues(c *office.Colleagues) {
	if len(c.Colleagues) > 0 {
		rows := make([][]string, len(c.Colleagues))
		for i := range c.Colleagues {
			v := &c.Colleagues[i]
			rows[i] = []string{string(v.Name), string(v.Tier), seatWord(v), safeLine(v.Brief, 0)}
		}
		a.printf("\n")
		a.table([]string{"COLLEAGUE", "TIER", "SEAT", "BRIEF"}, rows)
	}
	if n := len(c.Problems); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf("; %d more: bureau doctor", n-1)
		}
		a.printf("\n%s\n", a.folded("roster: "+safeLine(c.Problems[0], 0)+more, a.OutTTY))
	}
}

// seatWord says whether somebody sits in a colleague's seat now.
func seatWord(v *office.ColleagueView) string {
	switch {
	case v.Here && v.Status != "":
		return "taken, " + v.Status
	case v.Here:
		return "taken"
	}
	return "nobody"
}

// colleague gives the one whom a word names; nil for none.
func (a *app) colleague(ctx context.Context, o *office.Office, caller office.Caller, word string) (*office.ColleagueView, error) {
	n, err := name.ParseAny(word)
	if err != nil {
		return nil, nil
	}
	found, err := o.Colleagues(ctx, caller.Project.Root)
	for i := range found.Colleagues {
		if found.Colleagues[i].Name.Key() == n.Key() {
			return &found.Colleagues[i], err
		}
	}
	return nil, err
}

// lookAt gives an agent, and what the roster files say of it. A colleague that
// was never written to has no seat yet and is shown all the same.
func (a *app) lookAt(ctx context.Context, o *office.Office, caller office.Caller, word string) (agentJSON, error) {
	v, err := o.Agent(ctx, word)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return agentJSON{}, err
	}
	called := word
	if err == nil {
		called = string(v.Name)
	}
	c, readErr := a.colleague(ctx, o, caller, called)
	if readErr != nil {
		return agentJSON{}, readErr
	}
	if err != nil && c != nil {
		v, err = office.AgentView{Name: c.Name, Kind: roster.Colleague, Wake: office.WakeNone}, nil
	}
	return agentJSON{v, c}, err
}
