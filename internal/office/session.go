package office

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mailflag"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// conversation is the key under which a conversation is bound to its agent. A
// subagent of a session is a conversation of its own.
func conversation(client, session, sub string) string {
	key := client + ":" + session
	if sub != "" {
		key += "/" + sub
	}
	return key
}

// SessionCaller gives the caller for a conversation that was started before;
// not_found if the office does not know it. The process decides whether it may
// still write: a conversation lives in the newest process that took it up.
func (o *Office) SessionCaller(ctx context.Context, client, session, sub string, process roster.Process) (Caller, error) {
	c := Caller{Process: process, Session: session, Sub: sub}
	err := o.look(ctx, func(tx *Tx) error {
		a, found, err := o.tables.Conversation(tx.t, conversation(client, session, sub))
		if err != nil {
			return err
		}
		if !found || a.Retired {
			return fault.New(fault.NotFound, "the office does not know the %s session %s", client, session)
		}
		c.Agent = a
		switch {
		case process.Zero():
		case a.Life == nil:
			c.Adrift = true
		case a.Life.Process != process:
			c.Adrift = verdict(*a.Life) == roster.Gone
			c.Stale = !c.Adrift
		}
		c.Project, err = tx.projectByID(a.Project)
		return err
	})
	return c, err
}

func (tx *Tx) projectByID(id string) (Project, error) {
	list, err := tx.o.tables.ProjectsAt(tx.t, []string{id}, nil)
	if len(list) == 1 {
		return projectOf(list[0]), err
	}
	return Project{ID: id}, err
}

// NoteCall remembers who makes a tool call, before the call is made.
func (o *Office) NoteCall(ctx context.Context, call presence.Call) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	call.At = o.Now()
	return live.NoteCall(ctx, call)
}

// NoteFolder remembers where the caller works from now on: what its relative
// paths mean in a call that its client does not announce.
func (o *Office) NoteFolder(ctx context.Context, caller Caller, folder string) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.NoteFolder(ctx, caller.Key(), folder, o.Now())
}

// FolderNow gives the folder that the caller's client reported last, "" if it
// reported none.
func (o *Office) FolderNow(ctx context.Context, caller Caller) (string, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return "", err
	}
	return live.FindFolder(ctx, caller.Key())
}

// ServerClaim is what an MCP server knows of who calls it.
type ServerClaim struct {
	Call     string         // the call's id, as the client's hook announced it; "" if there is none
	Client   string         // claude, codex, …
	Session  string         // from the call's metadata or the server's environment; "" if unknown
	Declared string         // the name from the environment
	Process  roster.Process // the client's process: the one that started the server
	Folder   string
	Project  Project
	// Env says that Session is from the environment, which is stale once the
	// client has begun another conversation in the same process.
	Env bool
}

// IdentifyServer says who calls an MCP server, by the first of these that
// answers: the announced call; the session in the call's metadata; the session
// that the client process registered last; the environment; a new identity.
func (o *Office) IdentifyServer(ctx context.Context, s ServerClaim) (Caller, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return Caller{}, err
	}
	if s.Call != "" {
		call, found, err := live.FindCall(ctx, s.Call)
		if err != nil {
			return Caller{}, err
		}
		if found {
			main, err := o.SessionCaller(ctx, call.Client, call.Session, "", call.Process)
			if err != nil || call.Sub == "" {
				return main, err
			}
			return o.Subagent(ctx, main, call.Client, call.Sub, call.SubType)
		}
	}
	if s.Session != "" && !s.Env {
		return o.begin(ctx, s)
	}
	if c, found, err := o.RunningIn(ctx, s.Process); err != nil || found {
		return c, err
	}
	return o.begin(ctx, s)
}

// begin finds or makes the agent of a session that no hook has announced.
func (o *Office) begin(ctx context.Context, s ServerClaim) (Caller, error) {
	if s.Session == "" {
		// Without any id the process is the conversation.
		s.Session = fmt.Sprintf("process-%d-%d", s.Process.PID, s.Process.Start)
	}
	c, err := o.SessionCaller(ctx, s.Client, s.Session, "", s.Process)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return c, err
	}
	if err == nil && !c.Adrift {
		// A process that never held the conversation is a newer one that takes
		// it up; one that held it before has been overtaken, and stays so.
		held, err := o.held(ctx, c)
		if err != nil || held || !c.Stale {
			return c, err
		}
	}
	_, err = o.StartSession(ctx, Session{
		Client: s.Client, ID: s.Session, Declared: s.Declared, Process: s.Process, Folder: s.Folder, Project: s.Project,
	})
	if err != nil {
		return Caller{}, err
	}
	return o.SessionCaller(ctx, s.Client, s.Session, "", s.Process)
}

// held reports whether a process was ever registered for a conversation.
func (o *Office) held(ctx context.Context, c Caller) (bool, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return false, err
	}
	lives, err := live.Process(ctx, c.Process)
	for _, l := range lives {
		if l.Agent == c.Agent.ID && l.Session == c.Session {
			return true, err
		}
	}
	return false, err
}

// Sighted notes a sign of life of a session that no hook tells of: a call of
// one of its tools.
func (o *Office) Sighted(ctx context.Context, c Caller) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.Touch(ctx, c.Agent.ID, o.Now())
}

// SetStatus notes what a session is at.
func (o *Office) SetStatus(ctx context.Context, c Caller, status presence.Status) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.SetStatus(ctx, c.Agent.ID, c.Process, status, o.Now())
}

// TurnFailed notes that an error ended a turn of a session: it is idle, and may
// be rung once more for what this turn was to bring it.
func (o *Office) TurnFailed(ctx context.Context, c Caller) error {
	if err := o.SetStatus(ctx, c, presence.Idle); err != nil {
		return err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.InVain(ctx, c.Agent.ID, o.Now())
}

// Status gives what a session is at, "" if its process is not known here.
func (o *Office) Status(ctx context.Context, c Caller) (presence.Status, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return "", err
	}
	lives, err := live.Process(ctx, c.Process)
	for _, l := range lives {
		if l.Agent == c.Agent.ID {
			return l.Status, err
		}
	}
	return "", err
}

// LinkFlag lets the caller's hook find its mail flag.
func (o *Office) LinkFlag(c Caller) error {
	return mailflag.Link(o.run.FlagDir(), FlagName(c.Session, c.Sub), string(c.Agent.ID))
}

// FlagName is what package mailflag knows a session or a subagent in it by.
func FlagName(session, sub string) string {
	if sub == "" {
		return session
	}
	return session + "/" + sub
}

// Summons is the mail that an agent should be woken for, and the rooms.
type Summons struct {
	Position event.Seq        // of the newest; 0 if there is none
	Newest   event.ID         // that message
	Count    int              // how many messages of mail wait
	Mates    []Mate           // its idle subagents for whom some wait
	Rooms    []name.Name      // where it is its turn, or something addresses it
	Causes   []presence.Cause // who wrote them, and where; the newest first
	// Broken is when some of the mail was last put before the session in a turn
	// that proved nothing, and whose lease is over: it was broken off.
	Broken time.Time
}

// Mate is a subagent that sits idle with unseen mail: nothing wakes it but a word
// of its session's main agent.
type Mate struct {
	Name  name.Name
	Count int
}

// Ringable gives the unseen mail that wakes an agent, its own and that of its
// idle subagents, and the rooms that want it and for which no process holds a
// call.
func (o *Office) Ringable(ctx context.Context, agent event.ID) (w Summons, err error) {
	if w.Count, err = o.ringableMail(ctx, agent, &w); err != nil {
		return w, err
	}
	mates, err := o.idleMates(ctx, agent)
	if err != nil {
		return w, err
	}
	for i := range mates {
		n, err := o.ringableMail(ctx, mates[i].Agent.ID, &w)
		if err != nil {
			return w, err
		}
		if n > 0 {
			w.Mates = append(w.Mates, Mate{Name: mates[i].Agent.Name, Count: n})
		}
	}
	return w, o.ringableRooms(ctx, agent, &w)
}

// ringableMail counts the unseen mail that wakes an agent, and adds to what its
// session should be woken for. What is offered and not proved counts again once
// its lease is over: the session may sit idle with it since an interrupted
// prompt.
func (o *Office) ringableMail(ctx context.Context, agent event.ID, w *Summons) (count int, err error) {
	held, broken := o.leased(ctx, agent)
	before := *w
	err = o.look(ctx, func(tx *Tx) error {
		*w, count = before, 0
		w.Causes = slices.Clone(before.Causes)
		for after := int64(0); ; {
			rows, err := o.tables.Unseen(tx.t, agent, after, 100, tx.now)
			if err != nil || len(rows) == 0 {
				return err
			}
			for i := range rows {
				after = rows[i].N
				if !wakes(&rows[i]) || held[rows[i].ID] {
					continue
				}
				if at, ok := broken[rows[i].ID]; ok && at.After(w.Broken) {
					w.Broken = at
				}
				if at := rows[i].Receipt.Seq; at > w.Position {
					w.Position, w.Newest = at, rows[i].ID
				}
				count++
				c, err := tx.cause(&rows[i])
				if err != nil {
					return err
				}
				if i := slices.Index(w.Causes, c); i >= 0 {
					w.Causes = slices.Delete(w.Causes, i, i+1)
				}
				w.Causes = slices.Insert(w.Causes, 0, c)
			}
			if count > 1000 {
				return nil
			}
		}
	})
	return count, err
}

// idleMates gives the subagents of an agent's session that sit idle.
func (o *Office) idleMates(ctx context.Context, agent event.ID) (list []Caller, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	lives, err := live.Lives(ctx, agent)
	if err != nil {
		return nil, err
	}
	for _, l := range lives {
		if l.Role != presence.Client || l.Status == presence.Left || l.Session == "" {
			continue
		}
		in, err := o.IdleSubagents(ctx, Caller{Agent: roster.Agent{ID: agent}, Process: l.Process})
		if err != nil {
			return list, err
		}
		for _, c := range in {
			if c.Session == l.Session {
				list = append(list, c)
			}
		}
	}
	return list, nil
}

// cause names who wrote a message, and where. The person is no part of loops.
func (tx *Tx) cause(r *projection.Received) (presence.Cause, error) {
	a, found, err := tx.o.tables.Agent(tx.t, r.From)
	if err != nil || !found || a.Kind == roster.Human {
		return presence.Cause{}, err
	}
	return presence.Cause{Sender: r.From, Thread: r.Thread}, nil
}

// Stops and SetStops keep how often a stopping session was made to go on.
func (o *Office) Stops(ctx context.Context, c Caller) (presence.Stops, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return presence.Stops{}, err
	}
	return live.Stops(ctx, c.Agent.ID, c.Key())
}

// SetStops stores it.
func (o *Office) SetStops(ctx context.Context, c Caller, s presence.Stops) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.SetStops(ctx, c.Agent.ID, c.Key(), s)
}
