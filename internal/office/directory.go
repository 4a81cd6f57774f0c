package office

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// AgentView is somebody of the office, and what this machine knows of them now.
type AgentView struct {
	ID         event.ID     `json:"id"`
	Short      string       `json:"short"`
	Name       name.Name    `json:"name"`
	Kind       roster.Kind  `json:"kind"`
	Project    string       `json:"project"` // the project's name, "" for none
	Folder     string       `json:"folder"`
	Here       bool         `json:"here"`             // a process lives for it now
	Status     string       `json:"status,omitempty"` // idle, busy or waiting, of a session that is here
	Wake       string       `json:"wake"`             // how it would notice mail; see WakeWord
	LastSeen   *time.Time   `json:"last_seen,omitempty"`
	Unread     int          `json:"unread"`
	WaitingFor []AnswerWait `json:"waiting_for,omitempty"` // the questions that block it, oldest first
	// Claims are what it holds on purpose, the oldest first and at most
	// MaxClaimBriefs of each project; those that guards made are left out.
	Claims []ClaimBrief `json:"claims,omitempty"`
	// Heir is who has the mail of a subagent that has ended, "" for nobody.
	Ended     bool      `json:"ended,omitempty"`
	Heir      string    `json:"heir,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Retired   bool      `json:"retired,omitempty"`
}

// ClaimBrief is a claim in a line.
type ClaimBrief struct {
	ID     event.ID `json:"id"`
	What   string   `json:"what"` // its first path or thing, and how many more
	Intent string   `json:"intent"`
}

// MaxClaimBriefs bounds the claims beside an agent in the directory.
const MaxClaimBriefs = 5

// AnswerWait is a wait for the answer to a question.
type AnswerWait struct {
	Question event.ID  `json:"question"`
	Asked    string    `json:"asked"`
	Since    time.Time `json:"since"`
}

// Agents is a page of the directory.
type Agents struct {
	Agents []AgentView `json:"agents"`
	Total  int         `json:"total"` // of the whole list, not only of the page
	Here   int         `json:"here"`  // of the whole list
	Next   string      `json:"next"`
}

// DirectoryQuery chooses among the agents.
type DirectoryQuery struct {
	Project string // a project's id, path or name; "" for all
	Here    bool   // only those with a live process
	Retired bool   // also those who are retired
	Page    Page
}

// Directory lists the agents of the office in order of their names, the human
// among them.
func (o *Office) Directory(ctx context.Context, q DirectoryQuery) (Agents, error) {
	out := Agents{Agents: []AgentView{}}
	limit, err := q.Page.limit()
	if err != nil {
		return out, err
	}
	after := directoryCursor{}
	if q.Page.From != "" {
		if err := decodeCursor(q.Page.From, &after); err != nil {
			return out, err
		}
	}
	p, waits, err := o.liveDirectory(ctx)
	if err != nil {
		return out, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		out = Agents{Agents: []AgentView{}}
		project := ""
		if q.Project != "" {
			found, err := tx.findProject(q.Project)
			if err != nil {
				return err
			}
			project = found.ID
		}
		all, err := o.tables.Agents(tx.t, project, q.Retired)
		if err != nil {
			return err
		}
		var page []roster.Agent
		for _, a := range all {
			here := p.here(a.ID)
			if q.Here && !here {
				continue
			}
			out.Total++
			if here {
				out.Here++
			}
			if at := cursorOf(&a); q.Page.From == "" || after.before(at) {
				page = append(page, a)
			}
		}
		if len(page) > limit {
			page = page[:limit]
			out.Next = encodeCursor(cursorOf(&page[limit-1]))
		}
		projects, err := tx.projectNames()
		if err != nil {
			return err
		}
		for i := range page {
			v, err := tx.agentView(&page[i], p, waits, projects)
			if err != nil {
				return err
			}
			out.Agents = append(out.Agents, v)
		}
		return nil
	})
	return out, err
}

// Agent shows one agent by name, part of an id, or a name it had.
func (o *Office) Agent(ctx context.Context, word string) (AgentView, error) {
	var v AgentView
	p, waits, err := o.liveDirectory(ctx)
	if err != nil {
		return v, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		a, err := tx.find(word)
		if err != nil {
			return err
		}
		projects, err := tx.projectNames()
		if err != nil {
			return err
		}
		v, err = tx.agentView(&a, p, waits, projects)
		return err
	})
	return v, err
}

// directoryCursor is a place in the order of the directory. Retired agents can
// share a name, so the moment they were made tells them apart.
type directoryCursor struct {
	Key     name.Key
	Created time.Time
}

func cursorOf(a *roster.Agent) directoryCursor {
	return directoryCursor{Key: a.Name.Key(), Created: a.Created}
}

func (c directoryCursor) before(o directoryCursor) bool {
	return c.Key < o.Key || c.Key == o.Key && c.Created.Before(o.Created)
}

// liveDirectory gives who is here, and who waits for what.
func (o *Office) liveDirectory(ctx context.Context) (*presenceOf, []presence.Wait, error) {
	p, err := o.presence(ctx)
	if err != nil {
		return nil, nil, err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return nil, nil, err
	}
	waits, err := live.Waits(ctx)
	return p, waits, err
}

func (tx *Tx) projectNames() (map[string]string, error) {
	known, err := tx.o.tables.Projects(tx.t)
	names := make(map[string]string, len(known))
	for _, k := range known {
		names[k.ID] = k.Name
	}
	return names, err
}

func (tx *Tx) agentView(a *roster.Agent, p *presenceOf, waits []presence.Wait, projects map[string]string) (AgentView, error) {
	short, err := tx.o.tables.Short(tx.t, a.ID)
	if err != nil {
		return AgentView{}, err
	}
	if a.Kind == roster.Session {
		p.ask(a.ID)
	}
	v := AgentView{
		ID: a.ID, Short: short, Name: a.Name, Kind: a.Kind, Project: projects[a.Project], Folder: a.Folder,
		Here: p.here(a.ID), Status: string(p.status(a.ID)), Wake: p.wake(a.ID), CreatedAt: a.Created, Retired: a.Retired,
	}
	if a.Kind == roster.Worker && v.Status == string(presence.Idle) {
		main, found, err := tx.mainOf(a)
		if err != nil {
			return v, err
		}
		if found {
			p.ask(main.ID)
			v.Wake = p.mateWake(a.ID, main.ID)
		}
	}
	if at, ok := p.last[a.ID]; ok {
		v.LastSeen = &at
	}
	if v.Ended = ended(a); v.Ended {
		main, found, err := tx.mainOf(a)
		if err != nil {
			return v, err
		}
		if found {
			v.Heir = string(main.Name)
		}
	}
	if _, v.Unread, err = tx.o.tables.Counts(tx.t, a.ID, tx.now); err != nil {
		return v, err
	}
	for _, w := range waits {
		if w.Asker != a.ID {
			continue
		}
		if open, err := tx.openTo(w.Question, w.Asked); err != nil || !open {
			if err != nil {
				return v, err
			}
			continue
		}
		v.WaitingFor = append(v.WaitingFor, AnswerWait{Question: w.Question, Asked: tx.nameOf(w.Asked), Since: w.Since})
	}
	v.Claims, err = tx.claimBriefs(a)
	return v, err
}

// claimBriefs lists what an agent holds, for the directory. What an earlier
// session in its seat has left behind is not its own.
func (tx *Tx) claimBriefs(a *roster.Agent) (out []ClaimBrief, err error) {
	scopes, err := tx.o.tables.HolderScopes(tx.t, a.ID)
	if err != nil || len(scopes) == 0 {
		return nil, err
	}
	by, err := tx.byAgent(a)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		held, err := tx.o.tables.Claims(tx.t, scope).Held(a.ID)
		if err != nil {
			return nil, err
		}
		n := 0
		for i := range held {
			c := &held[i]
			if c.Auto || a.Life != nil && c.Conversation != "" && !slices.Contains(by.Conversations, c.Conversation) {
				continue
			}
			if n++; n > MaxClaimBriefs {
				break
			}
			what := covered(c)
			b := ClaimBrief{ID: c.ID, What: what[0], Intent: c.Intent}
			if len(what) > 1 {
				b.What += fmt.Sprintf(" and %d more", len(what)-1)
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// status gives what an agent's client is at: the newest word of any of its
// processes, "" where none is a client.
func (p *presenceOf) status(a event.ID) presence.Status {
	var newest presence.Life
	for _, l := range p.lives[a] {
		if l.Role == presence.Client && (newest.Role == "" || l.StatusAt.After(newest.StatusAt)) {
			newest = l
		}
	}
	return newest.Status
}
