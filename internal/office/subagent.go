package office

import (
	"context"
	"errors"
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/mailflag"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// Subagent gives the caller for a subagent of a session, which is an agent of
// its own: it is registered under the session's name and its type when it
// first shows itself.
func (o *Office) Subagent(ctx context.Context, parent Caller, client, sub, subType string) (Caller, error) {
	c, err := o.SessionCaller(ctx, client, parent.Session, sub, parent.Process)
	if err == nil && !c.Adrift || err != nil && !fault.Is(err, fault.NotFound) {
		return c, err
	}
	// New, or one that had stopped and is continued.
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
	err = live.Enter(ctx, presence.Life{
		Agent: c.Agent.ID, Process: parent.Process, Role: presence.Client, Client: client, Session: parent.Session,
		Status: presence.Busy, StatusAt: now, Since: now,
	})
	if err != nil {
		return c, err
	}
	// Its hook may have noted that nobody is there who could have mail.
	if err := mailflag.Invalidate(o.run.FlagDir(), parent.Session, sub); err != nil {
		return c, err
	}
	return c, o.LinkFlag(c)
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

// EndSubagent ends a subagent's life: what is unread for it, and the questions
// that it asked or was asked, are its session's main agent's from then on.
func (o *Office) EndSubagent(ctx context.Context, c Caller) error {
	if err := mailflag.Forget(o.run.FlagDir(), FlagName(c.Session, c.Sub)); err != nil {
		return err
	}
	return o.EndSession(ctx, c.Agent.ID, c.Process, "subagent stopped")
}

// EndSubagents ends those of a session that ends with its process.
func (o *Office) EndSubagents(ctx context.Context, main Caller) error {
	return o.endWorkers(ctx, "its session ended", func(a *roster.Agent) bool { return a.Life.Process == main.Process })
}

// IdleSubagents gives those of a session's subagents that sit idle in its
// process: teammates, which its lead lets go on.
func (o *Office) IdleSubagents(ctx context.Context, main Caller) (list []Caller, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	lives, err := live.Process(ctx, main.Process)
	if err != nil {
		return nil, err
	}
	lives = slices.DeleteFunc(lives, func(l presence.Life) bool { return l.Status != presence.Idle || l.Agent == main.Agent.ID })
	if len(lives) == 0 {
		return nil, nil
	}
	err = o.look(ctx, func(tx *Tx) error {
		list = list[:0]
		for _, l := range lives {
			a, found, err := o.tables.Agent(tx.t, l.Agent)
			if err != nil {
				return err
			}
			if !found || a.Kind != roster.Worker || a.Life == nil || a.Life.Process != main.Process {
				continue
			}
			if _, sub, is := subagentKey(a.Life.Conversation); is {
				list = append(list, Caller{Agent: a, Process: main.Process, Session: l.Session, Sub: sub, Project: main.Project})
			}
		}
		return nil
	})
	return list, err
}

// EndStray ends the subagents whose process is gone, so that what they left is
// not forgotten.
func (o *Office) EndStray(ctx context.Context) error {
	return o.endWorkers(ctx, "its process is gone", func(a *roster.Agent) bool { return verdict(*a.Life) == roster.Gone })
}

// maxEnded bounds how many subagents are ended at once: a hook has little time,
// and a server's next round does the rest.
const maxEnded = 20

func (o *Office) endWorkers(ctx context.Context, reason string, which func(*roster.Agent) bool) error {
	var over []roster.Agent
	err := o.look(ctx, func(tx *Tx) error {
		all, err := o.tables.Workers(tx.t)
		over = slices.DeleteFunc(all, func(a roster.Agent) bool { return a.Life == nil || !which(&a) })
		return err
	})
	slices.Reverse(over) // the newest first
	for i := range over[:min(len(over), maxEnded)] {
		a := &over[i]
		if main, sub, is := subagentKey(a.Life.Conversation); is {
			_, session, _ := strings.Cut(main, ":")
			err = errors.Join(err, mailflag.Forget(o.run.FlagDir(), FlagName(session, sub)))
		}
		err = errors.Join(err, o.EndSession(ctx, a.ID, a.Life.Process, reason))
	}
	return err
}

// subagentKey takes the key of a subagent's conversation apart.
func subagentKey(key string) (main, sub string, is bool) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return key, "", false
	}
	return key[:i], key[i+1:], true
}

// ended reports whether an agent is a subagent that has ended. Its client can
// still continue it; until then nobody reads its mail.
func ended(a *roster.Agent) bool {
	return a.Kind == roster.Worker && (a.Life == nil || verdict(*a.Life) == roster.Gone)
}

// mainOf gives the main agent of the session that a subagent belongs to.
func (tx *Tx) mainOf(a *roster.Agent) (main roster.Agent, found bool, err error) {
	if a.Kind != roster.Worker {
		return main, false, nil
	}
	keys, err := tx.o.tables.Conversations(tx.t, a.ID)
	if err != nil {
		return main, false, err
	}
	for _, key := range slices.Backward(keys) {
		session, _, is := subagentKey(key)
		if !is {
			continue
		}
		main, found, err = tx.o.tables.Conversation(tx.t, session)
		if err != nil || found && !main.Retired {
			return main, found, err
		}
	}
	return roster.Agent{}, false, nil
}

// endedRefusal says that somebody writes to a subagent that has ended, and who
// can be written to instead.
func (tx *Tx) endedRefusal(a *roster.Agent, by event.ID) error {
	main, found, err := tx.mainOf(a)
	if err != nil {
		return err
	}
	gone := fault.New(fault.NotFound, "%s was a subagent and has ended", a.Name)
	switch {
	case !found:
		return gone.WithHint("bureau agents lists who is there")
	case main.ID == by:
		return gone.WithHint("begin another one, or continue it")
	}
	return gone.WithHint("write to %s, whose subagent it was and who has what it left unread", main.Name)
}

// passOn gives what a subagent that has ended left, unread or unanswered, to its
// session's main agent, who is told. Threads that a newer bureau wrote to stay
// as they are.
func (tx *Tx) passOn(a *roster.Agent) error {
	main, _, err := tx.mainOf(a)
	if err != nil {
		return err
	}
	threads, err := tx.o.tables.ThreadsOf(tx.t, a.ID)
	if err != nil {
		return err
	}
	left := map[event.ID]*mail.PassOn{}
	for _, t := range threads {
		left[t] = &mail.PassOn{From: a.ID, To: main.ID}
	}
	for from := (*projection.Cursor)(nil); ; {
		list, next, err := tx.o.tables.Inbox(tx.t, a.ID, true, from, MaxPage, tx.now)
		if err != nil {
			return err
		}
		for i := range list {
			m := &list[i]
			if left[m.Thread] == nil {
				threads = append(threads, m.Thread)
				left[m.Thread] = &mail.PassOn{From: a.ID, To: main.ID}
			}
			c := left[m.Thread]
			c.Unread = append(c.Unread, m.ID)
			// The session has a copy of its own of what was written to a group.
			if m.Group != "" || m.From == main.ID {
				c.Void = append(c.Void, m.ID)
			}
		}
		if from = next; next == nil {
			break
		}
	}
	for _, id := range threads {
		t, _, _, err := tx.o.tables.Thread(tx.t, id)
		if err != nil {
			return err
		}
		if t.Unknown != "" {
			continue
		}
		if left[id].Answered, err = tx.answeredBy(main.ID, a.ID, t.Questions); err != nil {
			return err
		}
		events, err := tx.onThread(id, *left[id])
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Kind == mail.KindPassed {
				tx.tell(true, main.ID)
			}
		}
	}
	return nil
}

// answeredBy lists which of the questions to one agent another was asked as well
// and has done with.
func (tx *Tx) answeredBy(who, asked event.ID, open []mail.OpenQuestion) (done []event.ID, err error) {
	for _, q := range open {
		if q.Asked != asked {
			continue
		}
		parts, err := tx.o.tables.Question(tx.t, q.ID)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(parts, func(x projection.Question) bool { return x.Asked == who && x.Status != "open" }) {
			done = append(done, q.ID)
		}
	}
	return done, nil
}

// forward passes on what was just stored for a subagent that has ended, because
// it is in its thread: an answer, a reply. What nobody would read is refused.
func (tx *Tx) forward(a *roster.Agent, by event.ID) (RecipientView, error) {
	main, found, err := tx.mainOf(a)
	if err != nil {
		return RecipientView{}, err
	}
	if !found || main.ID == by {
		return RecipientView{}, tx.endedRefusal(a, by)
	}
	return RecipientView{Name: tx.nameOf(main.ID), For: tx.nameOf(a.ID), agent: main.ID}, tx.passOn(a)
}

// lead tells the main agent of a subagent's session that mail came for it: a
// teammate that sits idle is made to read by its lead.
func (tx *Tx) lead(a *roster.Agent) (event.ID, error) {
	main, found, err := tx.mainOf(a)
	if err != nil || !found {
		return "", err
	}
	tx.tell(false, main.ID)
	return main.ID, nil
}
