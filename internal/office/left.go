package office

import (
	"context"
	"slices"

	"bureau/internal/event"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// EndLeft ends the sessions whose conversation a process has left for another,
// the one that it begins now, and gives whose they were: their seats are free,
// and its server is theirs no more. A process has one conversation at a time, so
// that holds also where the client did not say that it left one. Subagents that
// still run in the process stay what they are.
func (o *Office) EndLeft(ctx context.Context, process roster.Process, goesOnAs event.ID) (ended []event.ID, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	lives, err := live.Process(ctx, process)
	if err != nil {
		return nil, err
	}
	for _, l := range lives {
		if l.Agent == goesOnAs {
			continue
		}
		if l.Status != presence.Left {
			if main, err := o.isMain(ctx, l.Agent); err != nil || !main {
				if err != nil {
					return ended, err
				}
				continue
			}
		}
		if err := o.EndSession(ctx, l.Agent, process, "its process went on with another conversation"); err != nil {
			return ended, err
		}
		ended = append(ended, l.Agent)
		// Its server finds out by itself, when it is rung or looks next. Until
		// then nobody shall take it for a way to who has left.
		rest, err := live.Lives(ctx, l.Agent)
		if err != nil {
			return ended, err
		}
		if slices.ContainsFunc(rest, func(x presence.Life) bool { return x.Role == presence.Client }) {
			continue // the conversation goes on elsewhere, with a server of its own
		}
		for _, x := range rest {
			if x.Role == presence.Server && x.Session == l.Session {
				if err := live.Leave(ctx, x.Agent, x.Process, x.Role); err != nil {
					return ended, err
				}
			}
		}
	}
	return ended, nil
}

// isMain reports whether an agent is the main agent of sessions.
func (o *Office) isMain(ctx context.Context, agent event.ID) (main bool, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		a, found, err := o.tables.Agent(tx.t, agent)
		main = found && a.Kind != roster.Worker
		return err
	})
	return main, err
}
