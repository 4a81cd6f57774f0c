package projection

import (
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// memo is what was read of the tables in one transaction. Nobody else changes
// them before its end, and one decision asks for the same agents and the same
// thread again and again: to decide, to fold what was decided, to answer.
type memo struct {
	tx      *db.Tx
	agents  map[event.ID]roster.Agent // by value; nobody writes through Life
	threads map[event.ID]threadState
}

// threadState is the row of a thread; state is "" if there is none.
type threadState struct {
	version  event.Seq
	created  time.Time
	messages int
	state    string
}

// memoOf gives the memo of a transaction, empty for a new one.
func (p *Projection) memoOf(tx *db.Tx) *memo {
	if p.memo.tx != tx {
		p.memo = memo{tx: tx, agents: map[event.ID]roster.Agent{}, threads: map[event.ID]threadState{}}
	}
	return &p.memo
}

// threadState reads the row of a thread.
func (p *Projection) threadState(tx *db.Tx, id event.ID) (t threadState, err error) {
	if id == "" {
		return t, nil
	}
	known := p.memoOf(tx).threads
	if t, ok := known[id]; ok {
		return t, nil
	}
	_, err = p.one(tx, `SELECT version, created, messages, state FROM ~thread WHERE id = ?`, []any{id}, &t.version, &t.created, &t.messages, &t.state)
	if err == nil {
		known[id] = t
	}
	return t, err
}
