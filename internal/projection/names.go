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
		var err error
		switch {
		case e.Kind == KindProject:
			err = p.applyProject(tx, e)
		case roster.Touches(e) == "":
			err = p.noteUnknown(tx, rec.Subject, e.Kind)
		default:
			err = p.applyAgent(tx, rec, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyAgent folds an event about one agent. One that cannot be read counts as
// one of an unknown kind.
func (p *Projection) applyAgent(tx *db.Tx, rec *event.Record, e event.Event) error {
	var a roster.Agent
	if e.Kind == roster.KindRegistered {
		var err error
		if a, err = roster.FromRegistered(rec, e); err != nil {
			return p.noteUnknown(tx, rec.Subject, e.Kind)
		}
		if err := p.addIdent(tx, a.ID, "agent"); err != nil {
			return err
		}
	} else {
		var found bool
		var err error
		if a, found, err = p.Agent(tx, roster.Touches(e)); err != nil || !found {
			return err
		}
	}
	before := a
	if err := a.Apply(e); err != nil {
		return p.noteUnknown(tx, rec.Subject, e.Kind)
	}
	var began event.Seq
	if e.Kind == roster.KindAttached {
		began = rec.Seq
	}
	if err := p.putAgent(tx, &a, began); err != nil {
		return err
	}
	return p.applyName(tx, e, &before, &a, rec.Time)
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
		earlier, err := json.Marshal(a.Life.Earlier)
		if err != nil {
			return err
		}
		return p.exec(tx, `INSERT OR REPLACE INTO ~conversation (key, agent, earlier) VALUES (?, ?, ?)`, a.Life.Conversation, a.ID, string(earlier))
	case roster.KindRetired:
		if err := p.exec(tx, `DELETE FROM ~name WHERE agent = ?`, a.ID); err != nil {
			return err
		}
		// What had run out by then stays expired, whether or not somebody wrote
		// that down: both are final.
		if err := p.exec(tx, `UPDATE ~receipt SET state = ?, at = expires, pending = 0
			WHERE agent = ? AND pending = 1 AND state = ? AND expires > 0 AND expires <= ?`,
			mail.Expired, a.ID, mail.Stored, at); err != nil {
			return err
		}
		if err := p.exec(tx, `UPDATE ~receipt SET state = ?, reason = 'retired', at = ?, pending = 0
			WHERE agent = ? AND pending = 1 AND state = ?`, mail.Undeliverable, at, a.ID, mail.Stored); err != nil {
			return err
		}
		return p.exec(tx, `UPDATE ~receipt SET pending = 0 WHERE agent = ? AND pending = 1`, a.ID)
	}
	return nil
}

func (p *Projection) putAgent(tx *db.Tx, a *roster.Agent, began event.Seq) error {
	state, err := json.Marshal(a)
	if err != nil {
		return err
	}
	pid := 0
	if a.Life != nil {
		pid = a.Life.Process.PID
	}
	p.memoOf(tx).agents[a.ID] = *a
	return p.exec(tx, `INSERT INTO ~agent (id, key, seat, kind, project, pid, began, retired, created, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET key = excluded.key, seat = excluded.seat, kind = excluded.kind, project = excluded.project, pid = excluded.pid,
			began = max(began, excluded.began), retired = excluded.retired, state = excluded.state`,
		a.ID, a.Name.Key(), a.Seat, a.Kind, a.Project, pid, began, a.Retired, a.Created, string(state))
}

// Agent finds an agent by id.
func (p *Projection) Agent(tx *db.Tx, id event.ID) (roster.Agent, bool, error) {
	if a, ok := p.memoOf(tx).agents[id]; ok {
		return a, true, nil
	}
	return p.agent(tx, `SELECT state FROM ~agent WHERE id = ?`, id)
}

// Conversation finds the agent that a conversation belongs to.
func (p *Projection) Conversation(tx *db.Tx, key string) (roster.Agent, bool, error) {
	return p.agent(tx, `SELECT a.state FROM ~conversation c JOIN ~agent a ON a.id = c.agent WHERE c.key = ?`, key)
}

// Earlier gives the conversations that one goes on from.
func (p *Projection) Earlier(tx *db.Tx, key string) (list []string, err error) {
	var text string
	found, err := p.one(tx, `SELECT earlier FROM ~conversation WHERE key = ?`, []any{key}, &text)
	if err == nil && found {
		err = json.Unmarshal([]byte(text), &list)
	}
	return list, err
}

// Holder finds who holds a name, or whom its forwarding note points to.
func (p *Projection) Holder(tx *db.Tx, key name.Key) (a roster.Agent, forwarded, found bool, err error) {
	var state string
	found, err = p.one(tx, `SELECT a.state, n.forward FROM ~name n JOIN ~agent a ON a.id = n.agent WHERE n.key = ?`,
		[]any{key}, &state, &forwarded)
	if err == nil && found {
		a, err = p.decodeAgent(tx, state)
	}
	return a, forwarded, found, err
}

func (p *Projection) agent(tx *db.Tx, q string, arg any) (a roster.Agent, found bool, err error) {
	var state string
	found, err = p.one(tx, q, []any{arg}, &state)
	if err == nil && found {
		a, err = p.decodeAgent(tx, state)
	}
	return a, found, err
}

// decodeAgent reads an agent's row, which the transaction then remembers.
func (p *Projection) decodeAgent(tx *db.Tx, state string) (a roster.Agent, err error) {
	if err = json.Unmarshal([]byte(state), &a); err == nil {
		p.memoOf(tx).agents[a.ID] = a
	}
	return a, err
}

// Running finds the session whose newest life is a conversation in a process;
// of several the one that began last in the journal's order, which no clock
// turns round.
func (p *Projection) Running(tx *db.Tx, proc roster.Process) (a roster.Agent, found bool, err error) {
	if proc.Zero() {
		return a, false, nil
	}
	list, err := p.agents(tx, ` WHERE pid = ? AND pid > 0 ORDER BY began DESC`, proc.PID)
	for _, a := range list {
		if a.Kind == roster.Session && a.Life.Process == proc && a.Life.Conversation != "" {
			return a, true, nil
		}
	}
	return roster.Agent{}, false, err
}

// Conversations lists the keys of the conversations that belong to an agent.
func (p *Projection) Conversations(tx *db.Tx, agent event.ID) (keys []string, err error) {
	err = p.each(tx, `SELECT key FROM ~conversation WHERE agent = ? ORDER BY key`, []any{agent}, func(r db.Row) error {
		var key string
		if err := r.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, key)
		return nil
	})
	return keys, err
}

// Workers lists the workers whose life in a process has not ended.
func (p *Projection) Workers(tx *db.Tx) ([]roster.Agent, error) {
	return p.agents(tx, ` WHERE kind = ? AND pid > 0 ORDER BY created, id`, roster.Worker)
}

// Seats lists the agents that asked for a name, without retired ones.
func (p *Projection) Seats(tx *db.Tx, key name.Key) ([]roster.Agent, error) {
	return p.agents(tx, ` WHERE seat = ? AND retired = 0 ORDER BY created, id`, key)
}

// Agents lists agents in order of their names; project "" means all.
func (p *Projection) Agents(tx *db.Tx, project string, retired bool) ([]roster.Agent, error) {
	return p.agents(tx, ` WHERE (? = '' OR project = ?) AND (retired = 0 OR ?) ORDER BY key, created`, project, project, retired)
}

func (p *Projection) agents(tx *db.Tx, where string, args ...any) (out []roster.Agent, err error) {
	err = p.each(tx, `SELECT state FROM ~agent`+where, args, func(r db.Row) error {
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

// Earlier implements roster.View.
func (v RosterView) Earlier(key string) ([]string, error) { return v.P.Earlier(v.Tx, key) }

// Running implements roster.View.
func (v RosterView) Running(p roster.Process) (roster.Agent, bool, error) {
	return v.P.Running(v.Tx, p)
}

// Seats implements roster.View.
func (v RosterView) Seats(key name.Key) ([]roster.Agent, error) { return v.P.Seats(v.Tx, key) }
