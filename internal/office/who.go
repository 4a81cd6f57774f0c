package office

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Caller is somebody whom the office has recognised. Every verb is done by
// one; nothing in a request says who that is.
type Caller struct {
	Agent   roster.Agent
	Process roster.Process // the client process, or the calling one in a terminal
	Session string         // the client's session id, if there is one
	Sub     string         // the subagent inside the session, "" for the main one
	Project Project
	// Human callers see everything; agents see what they take part in.
	Human bool
	// Stale is set for a process whose conversation lives on in a newer one:
	// it may only read.
	Stale bool
	// Adrift is set when the conversation is known but no process holds it
	// any more: it has to be started again before it goes on.
	Adrift bool

	shell bool // a command of a session, whichever of its agents ran it
}

// Key is under what offers to the caller are kept.
func (c Caller) Key() presence.Key {
	return presence.Key{Process: c.Process, Session: c.Session, Sub: c.Sub}
}

// InSession reports whether the caller is a coding-agent session: what it
// reads is then an offer, proved later. On a person's terminal reading is
// proof.
func (c Caller) InSession() bool { return c.Session != "" }

func (c Caller) actor() event.Actor {
	return event.Actor{
		Agent: c.Agent.ID, Name: string(c.Agent.Name), PID: c.Process.PID, Start: c.Process.Start, Host: c.Process.Host, Session: c.Session,
	}
}

// mayChange refuses a process that was overtaken.
func (c Caller) mayChange() error {
	if c.Stale && c.Agent.Life != nil && c.Agent.Life.Client == roster.TokenClient {
		return fault.New(fault.Denied, "another bureau serve speaks for the token of %s since it was used there; this one may only read", c.Agent.Name).
			WithHint("go on at that address, or end that server; give each client a token of its own")
	}
	if c.Stale {
		return fault.New(fault.Denied, "%s lives on in a newer process; this one may only read", c.Agent.Name).
			WithHint("go on in the newer session, or start this one anew")
	}
	return nil
}

// Claim is what a process says about itself when it asks who it is.
type Claim struct {
	As      string // the name given with --as or BUREAU_AS; "" for none
	Token   string // the credential of BUREAU_TOKEN; it counts where As is ""
	Project Project
	// Ancestors are the processes above the calling one; nil looks them up.
	Ancestors []proc.ID
}

// maxAncestors bounds the look for a client above the calling process.
const maxAncestors = 32

// Identify says who a command of a terminal is. Below a registered client
// process it is that session's agent, and another name is refused. Elsewhere
// it is the named terminal agent, the agent whose token was shown, or the human.
func (o *Office) Identify(ctx context.Context, c Claim) (Caller, error) {
	caller := Caller{Process: presence.Self(), Project: c.Project}
	lives, err := o.clientAbove(ctx, c.Ancestors)
	if err != nil {
		return caller, err
	}
	var wanted name.Name
	var byToken bool
	if c.As != "" {
		if wanted, err = name.ParseAny(c.As); err != nil {
			return caller, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		if len(lives) > 0 {
			life, err := tx.newest(lives)
			if err != nil {
				return err
			}
			a, found, err := o.tables.Agent(tx.t, life.Agent)
			if err != nil {
				return err
			}
			if !found {
				return fault.New(fault.Unavailable, "the session of process %d is registered but unknown to the journal", life.Process.PID)
			}
			if wanted != "" && wanted.Key() != a.Name.Key() {
				return fault.New(fault.Denied, "this is the session of %s; it cannot act as %q", a.Name, wanted).
					WithHint("leave --as and BUREAU_AS away inside an agent session")
			}
			caller.Agent, caller.Process, caller.Session = a, life.Process, life.Session
			caller.shell = true
			caller.Stale = a.Life != nil && a.Life.Process != life.Process && verdict(*a.Life) != roster.Gone
			return nil
		}
		if wanted == "" && c.Token != "" {
			byToken = true
			return nil
		}
		if wanted == "" || wanted.Key() == roster.UserName.Key() {
			a, _, _, err := o.tables.Holder(tx.t, roster.UserName.Key())
			caller.Agent, caller.Human = a, true
			return err
		}
		a, forwarded, found, err := o.tables.Holder(tx.t, wanted.Key())
		switch {
		case err != nil:
			return err
		case !found || forwarded && a.Name.Key() != wanted.Key():
			hint := fmt.Sprintf("make it first: bureau register %s", wanted)
			if found {
				hint = fmt.Sprintf("it was renamed to %s", a.Name)
			}
			return fault.New(fault.NotFound, "no terminal agent %q", wanted).WithHint("%s", hint)
		case a.Kind != roster.Terminal:
			return fault.New(fault.Denied, "%s is a %s; a terminal cannot act as it", a.Name, a.Kind).
				WithHint("when it is closed, bureau register %s takes its seat", a.Name)
		}
		caller.Agent = a
		return nil
	})
	if err == nil && byToken {
		caller.Agent, err = o.tokenAgent(ctx, c.Token)
	}
	if err != nil || caller.InSession() {
		return caller, err
	}
	process := namedProcess(&caller.Agent)
	if presence.Verdict(process) != roster.Alive {
		process = roster.Process{}
	}
	if err := o.showTerminal(ctx, caller.Agent.ID, process); err != nil {
		return caller, err
	}
	o.beatOwn(ctx, caller.Agent.ID)
	return caller, nil
}

// clientAbove finds the registered client process that this one runs below, as
// whom it was registered.
func (o *Office) clientAbove(ctx context.Context, ancestors []proc.ID) ([]presence.Life, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	if ancestors == nil {
		ancestors = proc.Ancestors(maxAncestors)
	}
	for _, id := range ancestors {
		lives, err := live.Process(ctx, roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()})
		if err != nil || len(lives) > 0 {
			return lives, err
		}
	}
	return nil, nil
}

// newest gives the life of a client process that counts: that of the session
// which it began last, and not of a worker inside it.
func (tx *Tx) newest(lives []presence.Life) (presence.Life, error) {
	last := lives[len(lives)-1]
	a, found, err := tx.o.tables.Running(tx.t, last.Process)
	if err != nil || !found {
		return last, err
	}
	for _, l := range lives {
		if l.Agent == a.ID {
			return l, nil
		}
	}
	return last, nil
}

// namedProcess gives the process that a terminal agent named as its own when it
// registered; zero for none.
func namedProcess(a *roster.Agent) roster.Process {
	if a.Kind != roster.Terminal || a.Life == nil {
		return roster.Process{}
	}
	return a.Life.Process
}

// showTerminal records that somebody at a terminal is at work: the moment, and
// the process that stands for them, which is the terminal itself if none is
// named. A process that is named stands for them alone.
func (o *Office) showTerminal(ctx context.Context, agent event.ID, process roster.Process) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	now := o.Now()
	named := !process.Zero()
	if !named {
		id, ok := proc.Terminal()
		if !ok {
			return live.Touch(ctx, agent, now)
		}
		process = roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
	}
	if named {
		lives, err := live.Lives(ctx, agent)
		if err != nil {
			return err
		}
		for _, l := range lives {
			if l.Role == presence.Terminal && l.Process != process {
				if err := live.Leave(ctx, agent, l.Process, l.Role); err != nil {
					return err
				}
			}
		}
	}
	return live.Enter(ctx, presence.Life{Agent: agent, Process: process, Role: presence.Terminal, Client: "terminal", Since: now})
}

// DefaultName is what a session without a given name is called: user@folder.
func DefaultName(folder string) name.Name {
	return name.FromFolder(loginName(), filepath.Base(folder))
}

// loginName gives the user's name without os/user, which would link the hook
// program against the C library on many machines.
func loginName() string {
	for _, v := range []string{"USER", "LOGNAME", "USERNAME"} {
		if who := os.Getenv(v); who != "" {
			return who
		}
	}
	table, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	uid := strconv.Itoa(os.Getuid())
	for _, line := range strings.Split(string(table), "\n") {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == uid {
			return f[0]
		}
	}
	return ""
}

// journalEntry makes an entry from the transaction's circumstances.
func journalEntry(id event.ID, subject event.Subject, expect *event.Seq, tx *Tx, events []event.Event) journal.Entry {
	return journal.Entry{ID: id, Subject: subject, Expect: expect, Time: tx.now, Actor: tx.actor, Project: tx.project, Events: events}
}
