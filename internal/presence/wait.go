package presence

import (
	"context"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// Wait is somebody who waits for the answer to a question.
type Wait struct {
	Question event.ID
	Asker    event.ID
	Asked    event.ID
	Process  roster.Process // the process that waits
	Since    time.Time
}

// Begin records that a process waits, unless that would close a circle of
// agents who wait for each other. The circle is then given, beginning with the
// wait that the one who would close it should answer first; nothing is
// recorded. open says whether a question still waits for its answer: waits
// whose question is settled, or whose process is gone, do not count.
//
// The last look and the record are one transaction, so of two askers that would
// close a circle at the same moment exactly one is refused. open is called
// outside of it, because it looks into the office, whose own transactions look
// in here: each would wait for the other.
func (s *Store) Begin(ctx context.Context, w Wait, open func(question, asked event.ID) (bool, error)) (circle []Wait, err error) {
	known := map[link]bool{}
	ask := func(waits []Wait) (changed bool, err error) {
		for _, x := range waits {
			is, err := open(x.Question, x.Asked)
			if err != nil {
				return false, err
			}
			was, asked := known[x.link()]
			known[x.link()] = is
			changed = changed || !asked || was != is
		}
		return changed, nil
	}
	for {
		var unknown []Wait
		err := s.d.Update(ctx, func(tx *db.Tx) error {
			all, err := waits(tx)
			if err != nil {
				return err
			}
			if circle, unknown = chase(all, w, known); circle != nil || len(unknown) > 0 {
				return nil
			}
			return tx.Exec(`INSERT OR REPLACE INTO wait (question, asker, asked, host, pid, start, since) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				w.Question, w.Asker, w.Asked, w.Process.Host, w.Process.PID, w.Process.Start, w.Since)
		})
		if err != nil || circle == nil && len(unknown) == 0 {
			return nil, err
		}
		// What was open a moment ago may be answered by now.
		changed, err := ask(append(unknown, circle...))
		if err != nil || circle != nil && !changed {
			return circle, err
		}
	}
}

// link is one agent's part of a question.
type link struct{ question, asked event.ID }

func (w *Wait) link() link { return link{w.Question, w.Asked} }

// chase follows who waits for whom from the one asked back to the asker. known
// says of which questions it is known whether they are open; those that it
// would have to know as well are given back.
func chase(waits []Wait, w Wait, known map[link]bool) (circle, unknown []Wait) {
	next := map[event.ID][]Wait{}
	for _, x := range waits {
		if x.Question != w.Question && Verdict(x.Process) != roster.Gone {
			next[x.Asker] = append(next[x.Asker], x)
		}
	}
	seen := map[event.ID]bool{}
	var walk func(at event.ID) []Wait
	walk = func(at event.ID) []Wait {
		if seen[at] {
			return nil
		}
		seen[at] = true
		for _, x := range next[at] {
			open, asked := known[x.link()]
			if !asked {
				unknown = append(unknown, x)
			}
			if !open {
				continue
			}
			if x.Asked == w.Asker {
				return []Wait{x}
			}
			if path := walk(x.Asked); path != nil {
				return append(path, x)
			}
		}
		return nil
	}
	return walk(w.Asked), unknown
}

// End removes a wait.
func (s *Store) End(ctx context.Context, question event.ID, p roster.Process) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`DELETE FROM wait WHERE question = ? AND host = ? AND pid = ? AND start = ?`, question, p.Host, p.PID, p.Start)
	})
}

// Waits lists the waits of processes that live.
func (s *Store) Waits(ctx context.Context) ([]Wait, error) {
	var all []Wait
	err := s.d.View(ctx, func(tx *db.Tx) (err error) {
		all, err = waits(tx)
		return err
	})
	alive := all[:0]
	for _, w := range all {
		if Verdict(w.Process) != roster.Gone {
			alive = append(alive, w)
		}
	}
	return alive, err
}

func waits(tx *db.Tx) (out []Wait, err error) {
	err = tx.Each(`SELECT question, asker, asked, host, pid, start, since FROM wait ORDER BY since, question`, nil, func(r db.Row) error {
		var w Wait
		if err := r.Scan(&w.Question, &w.Asker, &w.Asked, &w.Process.Host, &w.Process.PID, &w.Process.Start, &w.Since); err != nil {
			return err
		}
		out = append(out, w)
		return nil
	})
	return out, err
}

// Rung is one attempt to wake an agent.
type Rung struct {
	Agent    event.ID
	Position event.Seq // of the newest message it was rung for
	At       time.Time
	Via      string
	Result   string
	Broken   int // how many of its turns were broken off; set by LastRing
}

// Ringing stores what came of a ring. That its turn ended with an error stays:
// whoever rang may learn only afterwards that the turn had begun.
func (s *Store) Ringing(ctx context.Context, r Rung) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT INTO ring (agent, position, at, via, result, broken) VALUES (?, ?, ?, ?, ?, 0)
			ON CONFLICT DO UPDATE SET at = excluded.at, via = excluded.via, result = excluded.result WHERE result <> ?`,
			r.Agent, r.Position, r.At, r.Via, r.Result, RingInVain)
	})
}

// LastRing gives the newest ring of an agent at or after a position.
func (s *Store) LastRing(ctx context.Context, agent event.ID, position event.Seq) (r Rung, found bool, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		r.Agent = agent
		found, err = tx.One(`SELECT position, at, via, result, broken FROM ring WHERE agent = ? AND position >= ? ORDER BY position LIMIT 1`,
			[]any{agent, position}, &r.Position, &r.At, &r.Via, &r.Result, &r.Broken)
		return err
	})
	return r, found, err
}
