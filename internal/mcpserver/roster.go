package mcpserver

import (
	"context"
	"fmt"
	"time"

	"bureau/internal/office"
	"bureau/internal/quote"
)

func addMailTools(s *server) {
	add(s, spec{
		name: "roster", title: "Roster", readOnly: true, always: true,
		about: "List whom you can write to: who is here and at what (idle, busy, claims, awaited answers), how each notices mail; colleagues; you.",
	}, rosterTool)
	addAsk(s)
	add(s, spec{
		name: "send", title: "Send a message", always: true,
		about: "Send a message or an answer, without waiting. It is kept for whoever has the name, here or not.",
	}, sendTool)
	add(s, spec{
		name: "inbox", title: "Inbox", readOnly: true, always: true,
		about: "List unread mail, or what you sent and how far it came; or wait for mail. Marks nothing as read.",
	}, inboxTool)
	add(s, spec{
		name: "read_message", title: "Read mail", always: true,
		about: "Read whole messages by id, or the next unread ones; acknowledge some.",
	}, readTool)
	add(s, spec{
		name: "thread", title: "Threads",
		about: "List your conversations; show, open, extend or close one; take back a question.",
	}, threadTool)
}

type rosterIn struct {
	Project string `json:"project,omitempty"`
	Here    bool   `json:"here,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
}

type rosterOut struct {
	You    you     `json:"you"`
	Agents []agent `json:"agents"`
	Total  int     `json:"total"`
	Here   int     `json:"here"`
	Next   string  `json:"next,omitempty"`
	// Of roster files; on the first page, and not of a project.
	Colleagues []colleague `json:"colleagues,omitempty"`
	Problems   []string    `json:"problems,omitempty"`
}

// colleague is one whom a roster file names.
type colleague struct {
	Name  string `json:"name"`
	Brief string `json:"brief"`
	Tier  string `json:"tier"`
	Here  bool   `json:"here,omitempty"`
}

// Bounds of what the roster says of colleagues.
const (
	maxColleagues = 6 << 10 // bytes of the list
	maxProblems   = 3
)

// you is the caller.
type you struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"`
	Unread  int    `json:"unread"`
	Note    string `json:"note,omitempty"`
}

// agent is somebody of the office.
type agent struct {
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	Project  string     `json:"project,omitempty"`
	Here     bool       `json:"here,omitempty"`
	Status   string     `json:"status,omitempty"`
	Wake     string     `json:"wake" jsonschema:"how it notices mail"`
	LastSeen *time.Time `json:"last_seen,omitempty"`
	WaitsFor []wait     `json:"waits_for,omitempty"`
	Claims   []holding  `json:"claims,omitempty"`
	Ended    string     `json:"ended,omitempty"`
}

// holding is a claim of somebody, in short.
type holding struct {
	ID     string `json:"id"`
	What   string `json:"what"`
	Intent string `json:"intent"`
}

// maxHoldings bounds the claims beside one agent in the roster.
const maxHoldings = 3

type wait struct {
	Asked string    `json:"asked"`
	Since time.Time `json:"since"`
}

// rosterPage is how many agents a page shows unless a limit is given.
const rosterPage = 40

func rosterTool(ctx context.Context, c *call, in rosterIn) (out rosterOut, err error) {
	if in.Limit == 0 {
		in.Limit = rosterPage
	}
	out.Agents, err = paged(office.Page{Limit: in.Limit, From: in.Cursor}, maxRoster, func(p office.Page) ([]agent, error) {
		found, err := c.o.Directory(ctx, office.DirectoryQuery{Project: in.Project, Here: in.Here, Page: p})
		if err != nil {
			return nil, err
		}
		out.Total, out.Here, out.Next = found.Total, found.Here, found.Next
		list := make([]agent, len(found.Agents))
		for i := range found.Agents {
			list[i] = agentOf(&found.Agents[i])
		}
		return list, nil
	})
	if err != nil {
		return out, err
	}
	me, err := c.o.Agent(ctx, string(c.caller.Agent.ID))
	if err != nil {
		return out, err
	}
	out.You = you{Name: string(me.Name), Project: me.Project, Unread: me.Unread, Note: c.noteToSelf()}
	if in.Project != "" || in.Cursor != "" {
		return out, nil
	}
	named, err := c.o.Colleagues(ctx, c.caller.Project.Root)
	if err != nil {
		return out, err
	}
	for i := range named.Colleagues {
		if v := &named.Colleagues[i]; v.Here || !in.Here {
			out.Colleagues = append(out.Colleagues, colleague{Name: string(v.Name), Brief: brief(v.Brief), Tier: string(v.Tier), Here: v.Here})
		}
	}
	left := len(out.Colleagues)
	out.Colleagues = out.Colleagues[:fit(out.Colleagues, maxColleagues)]
	out.Problems = rosterProblems(named.Problems)
	if left -= len(out.Colleagues); left > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("%d more colleagues are not shown: bureau agents", left))
	}
	return out, nil
}

// rosterProblems gives the first of what is wrong with roster files.
func rosterProblems(all []string) (out []string) {
	for i, p := range all {
		if i == maxProblems {
			return append(out, fmt.Sprintf("and %d more: bureau doctor", len(all)-i))
		}
		out = append(out, line(p))
	}
	return out
}

// noteToSelf says what is odd about who the caller is.
func (c *call) noteToSelf() string {
	a := c.caller.Agent
	if c.caller.Stale {
		return "your conversation goes on in a newer process; here you may only read"
	}
	if c.caller.Sub == "" && a.Seat != "" && a.Name.Key() != a.Seat {
		return "the name " + string(a.Seat) + " is another's"
	}
	return ""
}

func agentOf(v *office.AgentView) agent {
	a := agent{
		Name: string(v.Name), Kind: string(v.Kind), Project: line(v.Project), Here: v.Here, Status: v.Status, Wake: v.Wake,
	}
	if !v.Here && v.LastSeen != nil {
		at := v.LastSeen.Truncate(time.Second)
		a.LastSeen = &at
	}
	if v.Ended {
		a.Ended = "write to " + v.Heir + ", who has its mail"
		if v.Heir == "" {
			a.Ended = "nobody has its mail"
		}
	}
	for i, w := range v.WaitingFor {
		if i == maxNames {
			break
		}
		a.WaitsFor = append(a.WaitsFor, wait{Asked: w.Asked, Since: w.Since.Truncate(time.Second)})
	}
	for i, b := range v.Claims {
		if i == maxHoldings {
			break
		}
		a.Claims = append(a.Claims, holding{ID: string(b.ID), What: line(b.What), Intent: brief(b.Intent)})
	}
	return a
}

// brief is a text of others in a few words.
func brief(s string) string {
	s, cut := head(s, 100)
	if cut {
		s += "…"
	}
	return quote.Text(s)
}
