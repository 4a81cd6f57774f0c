package office

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// verdict answers the rules' question whether an incarnation lives.
func verdict(i roster.Incarnation) roster.Verdict { return presence.Verdict(i.Process) }

// known refuses a command on a subject that a newer version wrote to.
func (tx *Tx) known(s event.Subject) error {
	kind, err := tx.o.tables.Unknown(tx.t, s)
	if err == nil && kind != "" {
		err = fault.New(fault.Unavailable, "%s holds %q, written by a newer bureau", s, kind).WithHint("install the newer bureau on this machine too")
	}
	return err
}

// registerHuman makes the agent "user" of a new office.
func (tx *Tx) registerHuman() error {
	_, _, found, err := tx.o.tables.Holder(tx.t, roster.UserName.Key())
	if err != nil || found {
		return err
	}
	id := event.NewID(tx.now)
	_, err = tx.append("", event.Names, nil, []event.Event{event.New(roster.KindRegistered, roster.Registered{
		Agent: id, Name: roster.UserName, Kind: roster.Human, Seat: roster.UserName.Key(),
	})})
	return err
}

// decideNames carries out a command on the names subject.
func (tx *Tx) decideNames(c interface {
	Decide(roster.View, time.Time) (roster.Decision, error)
}) (roster.Decision, error) {
	if err := tx.known(event.Names); err != nil {
		return roster.Decision{}, err
	}
	d, err := c.Decide(projection.RosterView{P: tx.o.tables, Tx: tx.t}, tx.now)
	if err != nil {
		return d, err
	}
	version, err := tx.o.journal.In(tx.t).Version(event.Names)
	if err != nil {
		return d, err
	}
	_, err = tx.append("", event.Names, &version, d.Events)
	return d, err
}

// Registered is what came of a registration.
type Registered struct {
	Agent   roster.Agent
	New     bool      // it did not exist before
	Took    bool      // it took up a seat that nobody held
	Instead name.Name // the name that was wanted and not had
	Why     roster.Taken
	Kept    name.Name // the declared name that the conversation did not get, going on as who it was
	Unread  int
}

// Register makes a terminal agent, or takes up one's seat. process, if not
// zero, is the process whose life is the agent's.
func (o *Office) Register(ctx context.Context, caller Caller, word string, process roster.Process) (Registered, error) {
	if caller.InSession() {
		return Registered{}, fault.New(fault.Denied, "this session is %s already", caller.Agent.Name).
			WithHint("bureau agents rename %s NAME gives it another name", caller.Agent.Name)
	}
	n, err := name.Parse(word)
	if err != nil {
		return Registered{}, err
	}
	done, err := o.settle(ctx, caller.actor(), o.marked(ctx, caller.Project), func(tx *Tx) (roster.Decision, error) {
		return tx.decideNames(roster.Register{
			ID: event.NewID(tx.now), Life: event.NewID(tx.now), Name: n, Project: caller.Project.ID, Folder: caller.Project.Root,
			Process: process, Alive: verdict,
		})
	})
	if err != nil {
		return done, err
	}
	return done, o.showTerminal(committed(ctx), done.Agent.ID, process)
}

// Session is a conversation of a client that begins or goes on.
type Session struct {
	Client   string // claude, codex, …
	ID       string // the client's session id
	Declared string // the name from the environment; "" for user@folder
	// Fork: a copy of another conversation. Continues: it goes on from the one
	// that its process held before (resume, clear, compact).
	Fork, Continues bool
	Process         roster.Process // the client's process
	Folder          string         // canonical
	Project         Project
}

// StartSession says who a client's session is, and makes it so.
func (o *Office) StartSession(ctx context.Context, s Session) (Registered, error) {
	var declared name.Name
	if s.Declared != "" {
		var err error
		if declared, err = name.Parse(s.Declared); err != nil {
			return Registered{}, err
		}
	}
	// What subagents of an earlier session in the seat left is there then.
	_ = o.EndStray(ctx) // keeps nobody out: who comes next tries again
	actor := event.Actor{PID: s.Process.PID, Start: s.Process.Start, Host: s.Process.Host, Session: s.ID}
	done, err := o.settle(ctx, actor, s.Project, func(tx *Tx) (roster.Decision, error) {
		return tx.decideNames(roster.Start{
			ID: event.NewID(tx.now), Life: event.NewID(tx.now), Declared: declared, Default: DefaultName(s.Folder),
			Conversation: s.Client + ":" + s.ID, Fork: s.Fork, Continues: s.Continues, Client: s.Client, Process: s.Process,
			Project: s.Project.ID, Folder: s.Folder, Alive: verdict,
		})
	})
	if err != nil {
		return done, err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return done, err
	}
	now := o.Now()
	err = live.Enter(ctx, presence.Life{
		Agent: done.Agent.ID, Process: s.Process, Role: presence.Client, Client: s.Client, Session: s.ID,
		Status: presence.Idle, StatusAt: now, Since: now,
	})
	if err != nil {
		return done, err
	}
	// What an earlier process, or the conversation before a clear, was given
	// and did not prove is made again here.
	return done, live.Release(ctx, done.Agent.ID, presence.Key{Process: s.Process, Session: s.ID})
}

// EndSession ends a client's life of an agent. Its name, mail, questions and
// threads stay for the session that takes the seat next.
func (o *Office) EndSession(ctx context.Context, agent event.ID, process roster.Process, reason string) error {
	err := o.change(ctx, event.Actor{Agent: agent, PID: process.PID, Start: process.Start, Host: process.Host}, func(tx *Tx) error {
		a, found, err := o.tables.Agent(tx.t, agent)
		if err != nil || !found || a.Life == nil || a.Life.Process != process {
			return err
		}
		by, err := tx.byAgent(&a)
		if err != nil {
			return err
		}
		if _, err = tx.decideNames(roster.End{Agent: agent, Life: a.Life.ID, Reason: reason}); err != nil {
			return err
		}
		if err := tx.endClaims(by, by.For != ""); err != nil {
			return err
		}
		tx.tell(false, agent) // its server looks whose it is now
		if err := tx.endSeats(agent); err != nil || a.Kind != roster.Worker {
			return err
		}
		return tx.passOn(&a)
	})
	if err != nil {
		return err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	if err := live.Leave(ctx, agent, process, presence.Client); err != nil {
		return err
	}
	o.ringAskers(ctx, live, agent)
	return nil
}

// settle carries out a registration of any sort: the decision, the project it
// happens in, and the broadcasts that reach a newcomer.
func (o *Office) settle(ctx context.Context, actor event.Actor, p Project, decide func(*Tx) (roster.Decision, error)) (Registered, error) {
	var out Registered
	if p.fresh {
		p = o.marked(ctx, p)
	}
	err := o.change(ctx, actor, func(tx *Tx) error {
		tx.project = p.ID
		d, err := decide(tx)
		if err != nil {
			return err
		}
		if err := tx.noteProject(p); err != nil {
			return err
		}
		if err := tx.deliverBroadcasts(d.Agent); err != nil {
			return err
		}
		if !d.New {
			if err := tx.resumeClaims(&d.Agent); err != nil {
				return err
			}
		}
		out = Registered{Agent: d.Agent, New: d.New, Took: d.Took, Instead: d.Instead, Why: d.Why, Kept: d.Kept}
		_, out.Unread, err = o.tables.Counts(tx.t, d.Agent.ID, tx.now)
		return err
	})
	return out, err
}

// Rename gives an agent another name. An agent renames itself; the human
// renames anybody, and a session that runs is told by a message that wakes
// nobody.
func (o *Office) Rename(ctx context.Context, caller Caller, who, to string) (roster.Agent, error) {
	n, err := name.Parse(to)
	if err != nil {
		return roster.Agent{}, err
	}
	return o.onAgent(ctx, caller, who, "rename", func(tx *Tx, a roster.Agent) (roster.Decision, error) {
		d, err := tx.decideNames(roster.Rename{Agent: a.ID, To: n})
		if err != nil || len(d.Events) == 0 || a.Kind != roster.Session || a.Life == nil || verdict(*a.Life) == roster.Gone {
			return d, err
		}
		return d, tx.write(claim.By{Agent: caller.Agent.ID}, a.ID, Letter{
			Subject: "your name", NoWake: true,
			Body: fmt.Appendf(nil, "You are %s now, not %s any more. Mail to the old name reaches you until somebody takes it.", d.Agent.Name, a.Name),
		}, event.NewID(tx.now))
	})
}

// Retire ends an agent for good: its name is free, its unseen mail is
// undeliverable, and nobody waits for its answers any longer.
func (o *Office) Retire(ctx context.Context, caller Caller, who, reason string) (roster.Agent, error) {
	return o.onAgent(ctx, caller, who, "retire", func(tx *Tx, a roster.Agent) (roster.Decision, error) {
		d, err := tx.decideNames(roster.Retire{Agent: a.ID, By: caller.Agent.ID, Reason: reason, Alive: verdict})
		if err != nil || len(d.Events) == 0 {
			return d, err
		}
		if err := tx.endClaims(claim.By{Agent: a.ID}, true); err != nil {
			return d, err
		}
		return d, tx.endQuestions(a.ID)
	})
}

func (o *Office) onAgent(ctx context.Context, caller Caller, who, verb string, fn func(*Tx, roster.Agent) (roster.Decision, error)) (roster.Agent, error) {
	if err := caller.mayChange(); err != nil {
		return roster.Agent{}, err
	}
	var out roster.Agent
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		a, err := tx.find(who)
		if err != nil {
			return err
		}
		if !caller.Human && a.ID != caller.Agent.ID {
			return fault.New(fault.Denied, "%s cannot %s %s", caller.Agent.Name, verb, a.Name).
				WithHint("an agent can %s itself; the person at a plain terminal can %s anybody", verb, verb)
		}
		d, err := fn(tx, a)
		out = d.Agent
		tx.tell(false, a.ID)
		return err
	})
	return out, err
}

// endQuestions ends the open questions to and from an agent that is gone for
// good, in every thread.
func (tx *Tx) endQuestions(agent event.ID) error {
	threads, err := tx.o.tables.ThreadsOf(tx.t, agent)
	if err != nil {
		return err
	}
	for _, id := range threads {
		if _, err := tx.onThread(id, mail.Leave{Agent: agent, Reason: "retired"}); err != nil {
			return err
		}
	}
	return nil
}

// Who gives an agent by name, part of an id, or the forwarding note of a name
// it had.
func (o *Office) Who(ctx context.Context, word string) (roster.Agent, error) {
	var a roster.Agent
	err := o.look(ctx, func(tx *Tx) (err error) {
		a, err = tx.find(word)
		return err
	})
	return a, err
}

// find gives the one agent that a word means.
func (tx *Tx) find(word string) (roster.Agent, error) {
	n, nameErr := name.ParseAny(word)
	if nameErr == nil {
		a, _, found, err := tx.o.tables.Holder(tx.t, n.Key())
		if err != nil || found {
			return a, err
		}
	}
	ids, err := tx.o.tables.Find(tx.t, word, "agent", 3)
	if err != nil {
		return roster.Agent{}, err
	}
	if len(ids) == 1 && len(word) >= 4 {
		a, _, err := tx.o.tables.Agent(tx.t, ids[0].ID)
		return a, err
	}
	if nameErr != nil {
		return roster.Agent{}, nameErr
	}
	all, err := tx.o.tables.Agents(tx.t, "", false)
	if err != nil {
		return roster.Agent{}, err
	}
	names := make([]string, 0, len(all)+len(tx.staff.Colleagues))
	for _, a := range all {
		if a.ID != tx.actor.Agent {
			names = append(names, string(a.Name))
		}
	}
	for i := range tx.staff.Colleagues {
		names = append(names, string(tx.staff.Colleagues[i].Name))
	}
	miss := fault.New(fault.NotFound, "no agent %q", word).WithHint("%s", whoIsThere(names))
	if near := name.Suggest(word, names, 3); len(near) > 0 {
		miss = miss.WithHint("did you mean %s? (bureau agents lists everyone)", strings.Join(near, ", ")).WithDetail(near)
	}
	return roster.Agent{}, miss
}

// nameOf gives an agent's name; the office itself is "bureau".
func (tx *Tx) nameOf(id event.ID) string {
	if id == "" {
		return "bureau"
	}
	if n, ok := tx.names[id]; ok {
		return n
	}
	n := string(id)
	if a, found, err := tx.o.tables.Agent(tx.t, id); err == nil && found {
		n = string(a.Name)
		if a.Retired {
			n += " (retired)"
		}
	}
	tx.names[id] = n
	return n
}

// agentName is nameOf for an agent that is there; "" else.
func (tx *Tx) agentName(id event.ID) string {
	if n := tx.nameOf(id); id != "" && n != string(id) {
		return n
	}
	return ""
}

func (tx *Tx) namesOf(ids []event.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = tx.nameOf(id)
	}
	return out
}
