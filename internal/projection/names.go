package projection

import (
	"encoding/json"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/roster"
)

func (p *Projection) applyNames(tx *db.Tx, rec *event.Record) error {
	for _, e := range rec.Events {
		id := roster.Touches(e)
		if id == "" {
			if e.Kind == KindProject {
				if err := p.applyProject(tx, e); err != nil {
					return err
				}
			} else if err := p.noteUnknown(tx, rec.Subject, e.Kind); err != nil {
				return err
			}
			continue
		}
		var a roster.Agent
		var err error
		if e.Kind == roster.KindRegistered {
			if a, err = roster.FromRegistered(rec, e); err != nil {
				return err
			}
			if err := p.addIdent(tx, a.ID, "agent"); err != nil {
				return err
			}
		} else {
			found := false
			if a, found, err = p.Agent(tx, id); err != nil {
				return err
			}
			if !found {
				continue
			}
		}
		before := a
		if err := a.Apply(e); err != nil {
			return err
		}
		if err := p.putAgent(tx, &a); err != nil {
			return err
		}
		if err := p.applyName(tx, e, &before, &a, rec.Time); err != nil {
			return err
		}
	}
	return nil
}

// applyName keeps the indexes of names and conversations.
func (p *Projection) applyName(tx *db.Tx, e event.Event, before, a *roster.Agent, at time.Time) error {
	hold := func() error {
		return p.exec(tx, `INSERT OR REPLACE INTO ~name (key, agent, forward) VALUES (?, ?, 0)`, a.Name.Key(), a.ID)
	}
	switch e.Kind {
	case roster.KindRegistered:
		return hold()
	case roster.KindRenamed:
		if before.Name.Key() != a.Name.Key() {
			if err := p.exec(tx, `UPDATE ~name SET forward = 1 WHERE key = ? AND agent = ?`, before.Name.Key(), a.ID); err != nil {
				return err
			}
		}
		return hold()
	case roster.KindAttached:
		if a.Life == nil || a.Life.Conversation == "" {
			return nil
		}
		return p.exec(tx, `INSERT OR REPLACE INTO ~conversation (key, agent) VALUES (?, ?)`, a.Life.Conversation, a.ID)
	case roster.KindRetired:
		if err := p.exec(tx, `DELETE FROM ~name WHERE agent = ?`, a.ID); err != nil {
			return err
		}
		return p.exec(tx, `UPDATE ~receipt SET state = ?, reason = 'retired', at = ?, pending = 0 WHERE agent = ? AND pending = 1 AND state = ?`,
			mail.Undeliverable, at, a.ID, mail.Stored)
	}
	return nil
}

func (p *Projection) putAgent(tx *db.Tx, a *roster.Agent) error {
	state, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return p.exec(tx, `INSERT OR REPLACE INTO ~agent (id, key, kind, project, retired, created, state) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		a.ID, a.Name.Key(), a.Kind, a.Project, a.Retired, a.Created, string(state))
}

// Agent finds an agent by id.
func (p *Projection) Agent(tx *db.Tx, id event.ID) (roster.Agent, bool, error) {
	return p.agent(tx, `SELECT state FROM ~agent WHERE id = ?`, id)
}

// Conversation finds the agent that a conversation belongs to.
func (p *Projection) Conversation(tx *db.Tx, key string) (roster.Agent, bool, error) {
	return p.agent(tx, `SELECT a.state FROM ~conversation c JOIN ~agent a ON a.id = c.agent WHERE c.key = ?`, key)
}

// Holder finds who holds a name, or whom its forwarding note points to.
func (p *Projection) Holder(tx *db.Tx, key name.Key) (a roster.Agent, forwarded, found bool, err error) {
	var state string
	found, err = p.one(tx, `SELECT a.state, n.forward FROM ~name n JOIN ~agent a ON a.id = n.agent WHERE n.key = ?`,
		[]any{key}, &state, &forwarded)
	if err == nil && found {
		err = json.Unmarshal([]byte(state), &a)
	}
	return a, forwarded, found, err
}

func (p *Projection) agent(tx *db.Tx, q string, arg any) (a roster.Agent, found bool, err error) {
	var state string
	found, err = p.one(tx, q, []any{arg}, &state)
	if err == nil && found {
		err = json.Unmarshal([]byte(state), &a)
	}
	return a, found, err
}

// Agents lists agents in order of their names; project "" means all.
func (p *Projection) Agents(tx *db.Tx, project string, retired bool) ([]roster.Agent, error) {
	var out []roster.Agent
	err := p.each(tx, `SELECT state FROM ~agent WHERE (? = '' OR project = ?) AND (retired = 0 OR ?) ORDER BY key, created`,
		[]any{project, project, retired}, func(r db.Row) error {
			var state string
			if err := r.Scan(&state); err != nil {
				return err
			}
			var a roster.Agent
			if err := json.Unmarshal([]byte(state), &a); err != nil {
				return err
			}
			out = append(out, a)
			return nil
		})
	return out, err
}

// RosterView gives the rules what they look up.
type RosterView struct {
	P  *Projection
	Tx *db.Tx
}

// Holder implements roster.View.
func (v RosterView) Holder(key name.Key) (roster.Agent, bool, bool, error) {
	return v.P.Holder(v.Tx, key)
}

// Agent implements roster.View.
func (v RosterView) Agent(id event.ID) (roster.Agent, bool, error) { return v.P.Agent(v.Tx, id) }

// Conversation implements roster.View.
func (v RosterView) Conversation(key string) (roster.Agent, bool, error) {
	return v.P.Conversation(v.Tx, key)
}
