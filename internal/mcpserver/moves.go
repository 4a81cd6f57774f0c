package mcpserver

import (
	"context"
	"sync"
	"time"

	"bureau/internal/event"
	"bureau/internal/presence"
)

// moves remembers what clients without hooks were given by this toolset, whose
// results have no receipt: the session's next move proves it.
type moves struct {
	mu    sync.Mutex
	given map[presence.Key]givenAt
}

type givenAt struct {
	ids []event.ID
	at  time.Time
}

// sameRound is how soon after a result a call may have been decided on without
// it: clients make the calls of one round at once, and models think longer.
const sameRound = 3 * time.Second

// gave notes what a result holds.
func (c *call) gave(ids []event.ID) {
	if c.hooked || len(ids) == 0 {
		return
	}
	m := &c.s.moves
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.given == nil {
		m.given = map[presence.Key]givenAt{}
	}
	g := m.given[c.caller.Key()]
	m.given[c.caller.Key()] = givenAt{ids: append(g.ids, ids...), at: time.Now()}
}

// moved takes a call as the move that proves what was given before.
func (c *call) moved(ctx context.Context) error {
	if c.hooked || c.caller.Stale {
		return nil
	}
	m := &c.s.moves
	m.mu.Lock()
	g, found := m.given[c.caller.Key()]
	if found = found && time.Since(g.at) >= sameRound; found {
		delete(m.given, c.caller.Key())
	}
	m.mu.Unlock()
	if !found {
		return nil
	}
	return c.o.Seen(ctx, c.caller, g.ids, "next call")
}
