package office

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
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
	list, err := tx.o.tables.Projects(tx.t)
	for _, p := range list {
		if p.ID == id {
			return Project{ID: p.ID, Name: p.Name, Root: p.Root, Mark: p.Mark}, err
		}
	}
	return Project{ID: id}, err
}

// Subagent gives the caller for a subagent of a session, which is an agent of
// its own: it is registered under the session's name and its type when it
// first shows itself.
func (o *Office) Subagent(ctx context.Context, parent Caller, client, sub, subType string) (Caller, error) {
	c, err := o.SessionCaller(ctx, client, parent.Session, sub, parent.Process)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return c, err
	}
	wanted, err := subName(string(parent.Agent.Name), subType)
	if err != nil {
		return c, err
	}
	actor := parent.actor()
	done, err := o.settle(ctx, actor, parent.Project, func(tx *Tx) (roster.Decision, error) {
		return tx.decideNames(roster.Start{
			ID: event.NewID(tx.now), Life: event.NewID(tx.now), Kind: roster.Worker, Default: wanted,
			Conversation: conversation(client, parent.Session, sub), Client: client, Process: parent.Process,
			Project: parent.Project.ID, Folder: parent.Agent.Folder, Alive: verdict,
		})
	})
	if err != nil {
		return c, err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return c, err
	}
	now := o.Now()
	c = Caller{Agent: done.Agent, Process: parent.Process, Session: parent.Session, Sub: sub, Project: parent.Project}
	return c, live.Enter(ctx, presence.Life{
		Agent: c.Agent.ID, Process: parent.Process, Role: presence.Client, Client: client, Session: parent.Session,
		Status: presence.Busy, StatusAt: now, Since: now,
	})
}

// subName makes the name of a subagent from its session's and its type.
func subName(parent, subType string) (name.Name, error) {
	const room = 20 // characters left for the type
	if runes := []rune(parent); len(runes) > name.MaxRunes-room {
		parent = strings.TrimRight(string(runes[:name.MaxRunes-room]), "._-@")
	}
	if n, err := name.Parse(parent + "." + subType); err == nil {
		return n, nil
	}
	return name.Parse(parent + ".agent")
}

// EndSubagent ends a subagent's life; its mail stays readable for its session.
func (o *Office) EndSubagent(ctx context.Context, c Caller) error {
	return o.EndSession(ctx, c.Agent.ID, c.Process, "subagent stopped")
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
	if err == nil && !c.Adrift {
		return c, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return c, err
	}
	_, err = o.StartSession(ctx, Session{
		Client: s.Client, ID: s.Session, Declared: s.Declared, Process: s.Process, Folder: s.Folder, Project: s.Project,
	})
	if err != nil {
		return Caller{}, err
	}
	return o.SessionCaller(ctx, s.Client, s.Session, "", s.Process)
}

// SetStatus notes what a session is at.
func (o *Office) SetStatus(ctx context.Context, c Caller, status presence.Status) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.SetStatus(ctx, c.Agent.ID, c.Process, status, o.Now())
}

// LinkFlag lets the session's hook find its agent's mail flag.
func (o *Office) LinkFlag(c Caller) error {
	return mailflag.Link(o.run.FlagDir(), c.Session, string(c.Agent.ID))
}

// Pending lists what may be put before a caller now, whole and oldest first:
// unseen mail that nobody else holds an offer of. again adds what is offered
// to the same key already and not proved.
func (o *Office) Pending(ctx context.Context, caller Caller, again bool, limit int) (list []MessageView, unread int, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, 0, err
	}
	offers, err := live.Offers(ctx, caller.Agent.ID)
	if err != nil {
		return nil, 0, err
	}
	now := o.Now()
	skip := map[event.ID]bool{}
	for _, x := range offers {
		mine := x.Key == caller.Key()
		held := x.Leased(now)
		printing := x.Stage == presence.Reserved && !now.Before(x.Until) // its hook died
		if mine && !again && !printing || !mine && held {
			skip[x.Message] = true
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		list = list[:0]
		_, unread, err = o.tables.Counts(tx.t, caller.Agent.ID, tx.now)
		if err != nil {
			return err
		}
		for after := int64(0); len(list) < limit; {
			rows, err := o.tables.Unseen(tx.t, caller.Agent.ID, after, 50, tx.now)
			if err != nil || len(rows) == 0 {
				return err
			}
			for _, r := range rows {
				after = r.N
				if skip[r.ID] || len(list) == limit {
					continue
				}
				v, err := tx.wholeFor(caller, r.ID, nil)
				if err != nil {
					return err
				}
				v.wakes, v.position = wakes(&r), r.Seq
				list = append(list, v)
			}
		}
		return nil
	})
	return list, unread, err
}

// wakes applies the one rule for what makes a session go on or wake up.
func wakes(r *projection.Received) bool {
	return mail.Wakes(&mail.Message{Kind: r.Kind, Importance: r.Importance, NoWake: r.NoWake, Group: r.Group})
}

// Wakes reports whether the message may wake its recipient or make a stopping
// session go on; set by Pending.
func (m *MessageView) Wakes() bool { return m.wakes }

// Position is where the message stands in the journal; set by Pending.
func (m *MessageView) Position() event.Seq { return m.position }

// Reserve takes messages that a hook is about to print and gives those that it
// may: what somebody else was given meanwhile is left out. Once they are
// printed the hook calls Printed; if it dies before, they are offered again.
func (o *Office) Reserve(ctx context.Context, caller Caller, ids []event.ID) ([]event.ID, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	return live.Offer(ctx, caller.Agent.ID, caller.Key(), ids, len(ids), presence.Reserved, printLease, o.Now())
}

// printLease is how long a hook may take from reserving to printing.
const printLease = 5 * time.Second

// Printed notes that reserved messages were printed into the client's context
// channel: the caller's next move proves them.
func (o *Office) Printed(ctx context.Context, caller Caller, ids []event.ID) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	if _, err := live.Offer(ctx, caller.Agent.ID, caller.Key(), ids, len(ids), presence.Passed, DefaultLease, o.Now()); err != nil {
		return err
	}
	return nil
}

// Arrived notes which of the messages that tools handed out to the caller have
// arrived in the client, by what its tools returned: they are recognised by
// the ends of their ids. The caller's next move proves those.
func (o *Office) Arrived(ctx context.Context, caller Caller, results []byte) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	offers, err := live.Offers(ctx, caller.Agent.ID)
	if err != nil {
		return err
	}
	var ids []event.ID
	for _, x := range offers {
		end := string(x.Message[len(x.Message)-projection.ShortLen:])
		if x.Key == caller.Key() && x.Stage == presence.Handed && bytes.Contains(results, []byte(end)) {
			ids = append(ids, x.Message)
		}
	}
	return live.Pass(ctx, caller.Agent.ID, caller.Key(), ids)
}

// Moved stores as seen what the caller was given before and has proved by
// making a move.
func (o *Office) Moved(ctx context.Context, caller Caller, via string) error {
	if caller.Stale {
		return nil
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	proved, err := live.Proved(ctx, caller.Agent.ID, caller.Key())
	if err != nil || len(proved) == 0 {
		return err
	}
	return o.Seen(ctx, caller, proved, via)
}

// Outstanding reports whether the caller has offers that are not proved.
func (o *Office) Outstanding(ctx context.Context, caller Caller) (bool, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return false, err
	}
	offers, err := live.Offers(ctx, caller.Agent.ID)
	for _, x := range offers {
		if x.Key == caller.Key() {
			return true, err
		}
	}
	return false, err
}

// Ringable gives what an agent should be woken for: the newest position of
// unseen mail that wakes, 0 if there is none, and how many such messages wait.
func (o *Office) Ringable(ctx context.Context, agent event.ID) (position event.Seq, newest event.ID, count int, err error) {
	// What is offered and not proved counts again once its lease is over: the
	// session may sit idle with it since an interrupted prompt.
	held := o.leased(ctx, agent)
	err = o.look(ctx, func(tx *Tx) error {
		position, newest, count = 0, "", 0
		for after := int64(0); ; {
			rows, err := o.tables.Unseen(tx.t, agent, after, 100, tx.now)
			if err != nil || len(rows) == 0 {
				return err
			}
			for i := range rows {
				after = rows[i].N
				if wakes(&rows[i]) && !held[rows[i].ID] {
					position, newest = max(position, rows[i].Seq), rows[i].ID
					count++
				}
			}
			if count > 1000 {
				return nil
			}
		}
	})
	return position, newest, count, err
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

// WatchMail calls fn at once and then whenever mail may have come for an
// agent, at the latest every sweep, until the context ends.
func (o *Office) WatchMail(ctx context.Context, agent event.ID, sweep time.Duration, fn func() error) error {
	b, err := o.listen(string(agent))
	if err != nil {
		return err
	}
	defer b.Close()
	for {
		if err := fn(); err != nil {
			return err
		}
		if _, err := b.Wait(ctx, sweep); err != nil {
			return waitEnded(ctx, err)
		}
	}
}
