package roster

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
)

func init() {
	flag.Set("rapid.checks", "200")
	flag.Set("rapid.nofailfile", "true")
}

// start is when the tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// holding is who a name belongs to, or whom its forwarding note points to.
type holding struct {
	agent   event.ID
	forward bool
}

// world is a names subject in memory: what the tables would say, folded from
// the events, and which processes run.
type world struct {
	agents map[event.ID]Agent
	order  []event.ID
	names  map[name.Key]holding
	convs  map[string]event.ID
	chains map[string][]string
	procs  map[Process]bool // alive or not
	now    time.Time
	n      int
}

func newWorld() *world {
	return &world{agents: map[event.ID]Agent{}, names: map[name.Key]holding{}, convs: map[string]event.ID{}, chains: map[string][]string{}, procs: map[Process]bool{}, now: start}
}

func (w *world) id(what string) event.ID {
	w.n++
	return event.ID(fmt.Sprintf("%s%04d", what, w.n))
}

// process starts a process.
func (w *world) process() Process {
	w.n++
	p := Process{PID: 1000 + w.n, Start: int64(w.n), Host: "here"}
	w.procs[p] = true
	return p
}

func (w *world) alive(i Incarnation) Verdict {
	switch {
	case i.Process.Zero():
		return Gone
	case i.Process.Host != "here":
		return Unknown
	case w.procs[i.Process]:
		return Alive
	}
	return Gone
}

// lives reports whether somebody sits in the agent's seat, as far as one can
// tell here.
func (w *world) lives(a Agent) bool { return a.Life != nil && w.alive(*a.Life) != Gone }

// copyOf makes sure that no decision holds on to the world's own agents.
func copyOf(a Agent) Agent {
	if a.Life != nil {
		l := *a.Life
		l.Earlier = slices.Clone(l.Earlier)
		a.Life = &l
	}
	return a
}

func (w *world) Holder(key name.Key) (Agent, bool, bool, error) {
	h, found := w.names[key]
	return copyOf(w.agents[h.agent]), h.forward, found, nil
}

func (w *world) Agent(id event.ID) (Agent, bool, error) {
	a, found := w.agents[id]
	return copyOf(a), found, nil
}

func (w *world) Conversation(key string) (Agent, bool, error) {
	id, found := w.convs[key]
	return copyOf(w.agents[id]), found, nil
}

func (w *world) Earlier(key string) ([]string, error) { return slices.Clone(w.chains[key]), nil }

func (w *world) Running(p Process) (out Agent, found bool, _ error) {
	for _, a := range w.agents {
		if a.Kind == Session && a.Life != nil && a.Life.Conversation != "" && a.Life.Process == p && (!found || a.Life.ID > out.Life.ID) {
			out, found = copyOf(a), true
		}
	}
	return out, found, nil
}

func (w *world) Seats(key name.Key) (list []Agent, _ error) {
	for _, id := range w.order {
		if a := w.agents[id]; a.Seat == key && !a.Retired {
			list = append(list, copyOf(a))
		}
	}
	return list, nil
}

// fold applies events as the tables do. It returns what was wrong with them.
func (w *world) fold(events []event.Event) error {
	for _, e := range events {
		id := Touches(e)
		a, known := w.agents[id]
		if e.Kind == KindRegistered {
			if known {
				return fmt.Errorf("%s was registered twice", id)
			}
			var err error
			if a, err = FromRegistered(&event.Record{Time: w.now}, e); err != nil {
				return err
			}
			w.order = append(w.order, id)
		} else if !known {
			return fmt.Errorf("%s for nobody", e.Kind)
		}
		before := copyOf(a)
		a = copyOf(a)
		if err := a.Apply(e); err != nil {
			return err
		}
		switch e.Kind {
		case KindRegistered, KindRenamed:
			if h, taken := w.names[a.Name.Key()]; taken && !h.forward && h.agent != id {
				return fmt.Errorf("%s and %s are both called %s", h.agent, id, a.Name)
			}
			if e.Kind == KindRenamed && before.Name.Key() != a.Name.Key() {
				w.names[before.Name.Key()] = holding{id, true}
			}
			w.names[a.Name.Key()] = holding{id, false}
		case KindAttached:
			if a.Life != nil && a.Life.Conversation != "" {
				w.convs[a.Life.Conversation], w.chains[a.Life.Conversation] = id, slices.Clone(a.Life.Earlier)
			}
		case KindRetired:
			for k, h := range w.names {
				if h.agent == id {
					delete(w.names, k)
				}
			}
		}
		w.agents[id] = a
	}
	return nil
}

// decider is any command.
type decider interface {
	Decide(View, time.Time) (Decision, error)
}

// do decides a command and folds what was decided.
func (w *world) do(c decider) (Decision, error) {
	w.now = w.now.Add(time.Second)
	before := w.dump()
	d, err := c.Decide(w, w.now)
	if after := w.dump(); after != before {
		return d, fmt.Errorf("deciding %T changed the world", c)
	}
	if err != nil {
		return d, err
	}
	if err := w.fold(d.Events); err != nil {
		panic(fmt.Sprintf("%T: %v", c, err))
	}
	if got := w.agents[d.Agent.ID]; d.Agent.ID != "" {
		// When it was created is for the record to say.
		said := d.Agent
		said.Created = got.Created
		if jsonOf(said) != jsonOf(got) {
			panic(fmt.Sprintf("%T: decided on %s, folded to %s", c, jsonOf(said), jsonOf(got)))
		}
	}
	return d, nil
}

func (w *world) dump() string { return jsonOf(w.agents) + fmt.Sprint(w.names, w.convs, w.chains) }

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// check gives what holds in every world.
func (w *world) check() error {
	for id, a := range w.agents {
		if a.Retired {
			if a.Life != nil {
				return fmt.Errorf("%s is retired and lives", a.Name)
			}
			continue
		}
		if h := w.names[a.Name.Key()]; h.agent != id || h.forward {
			return fmt.Errorf("%s is called %s, which leads to %s", id, a.Name, h.agent)
		}
		for other, b := range w.agents {
			if other != id && a.Life != nil && b.Life != nil && a.Life.Conversation != "" && a.Life.Process == b.Life.Process && a.Life.Conversation == b.Life.Conversation {
				return fmt.Errorf("%s and %s are one conversation in one process", a.Name, b.Name)
			}
		}
	}
	for k, h := range w.names {
		a, found := w.agents[h.agent]
		if !found || a.Retired {
			return fmt.Errorf("the name %s leads to nobody", k)
		}
		if !h.forward && a.Name.Key() != k {
			return fmt.Errorf("the name %s leads to %s, who is called %s", k, h.agent, a.Name)
		}
	}
	return nil
}

// session is a start with the usual values.
func (w *world) session(conv string, p Process, folder string) Start {
	return Start{
		ID: w.id("A"), Life: w.id("L"), Default: name.FromFolder("joe", folder[1:]), Conversation: conv, Client: "claude",
		Process: p, Project: folder, Folder: folder, Alive: w.alive,
	}
}

// begin carries out a start that has to succeed.
func (w *world) begin(t *testing.T, s Start) Decision {
	t.Helper()
	d, err := w.do(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	return d
}
