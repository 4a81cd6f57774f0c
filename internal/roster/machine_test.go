package roster

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// folders: two of them end alike, so their sessions ask for one name.
var folders = []string{"/app", "/lib"}

// play runs random registrations, conversations, process deaths, renames and
// retirements.
type play struct {
	*world
	convs []string
}

func (p *play) conv() string {
	p.n++
	c := fmt.Sprintf("claude:%04d", p.n)
	p.convs = append(p.convs, c)
	return c
}

// folder gives a folder and the name that sessions there ask for. Two folders
// share their last part.
func (p *play) place(t *rapid.T, s *Start) {
	s.Folder = rapid.SampledFrom([]string{"/one/app", "/two/app", "/lib"}).Draw(t, "folder")
	s.Project = s.Folder
	base := s.Folder[len(s.Folder)-3:]
	s.Default = name.FromFolder("joe", base)
	s.Declared = name.Name(rapid.SampledFrom([]string{"", "", "alice", "Alice", "bob"}).Draw(t, "declared"))
}

// process is a new one, or one that runs.
func (p *play) somewhere(t *rapid.T) Process {
	running := p.running()
	if len(running) == 0 || rapid.Bool().Draw(t, "new process") {
		q := p.process()
		if rapid.IntRange(0, 9).Draw(t, "other host") == 0 {
			delete(p.procs, q)
			q.Host = "elsewhere"
		}
		return q
	}
	return rapid.SampledFrom(running).Draw(t, "process")
}

func (p *play) running() (list []Process) {
	for q, alive := range p.procs {
		if alive {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b Process) int { return a.PID - b.PID })
	return list
}

func (p *play) anybody(t *rapid.T) Agent {
	return p.agents[rapid.SampledFrom(p.order).Draw(t, "agent")]
}

// begin starts a session and checks who it may be.
func (p *play) begin(t *rapid.T, s Start) {
	wanted := s.Declared
	if wanted == "" {
		wanted = s.Default
	}
	was, known := Agent{}, false
	if id, ok := p.world.convs[s.Conversation]; ok && !s.Fork {
		was, known = p.agents[id], true
	}
	before := map[event.ID]Agent{}
	for id, a := range p.agents {
		before[id] = copyOf(a)
	}
	d, err := p.do(s)
	if err != nil {
		t.Fatal(err)
	}
	now := p.agents[d.Agent.ID]
	if now.Life == nil || now.Life.Conversation != s.Conversation || now.Life.Process != s.Process {
		t.Fatalf("the session is %s, which lives as %+v", now.Name, now.Life)
	}
	old, existed := before[d.Agent.ID]
	if existed == d.New {
		t.Fatalf("new: %v, but it existed: %v", d.New, existed)
	}
	for id, a := range before {
		if id != d.Agent.ID && jsonOf(a) != jsonOf(p.agents[id]) {
			t.Fatalf("%s changed when %s began a session", a.Name, now.Name)
		}
	}
	if now.Retired || now.Kind != Session {
		t.Fatalf("the session is %+v", now)
	}

	if known && !was.Retired {
		displaced := p.lives(was) && was.Life.Conversation != s.Conversation && was.Life.Process != s.Process &&
			!slices.Contains(was.Life.Earlier, s.Conversation)
		if displaced == (d.Agent.ID == was.ID) {
			t.Fatalf("%s was %s (displaced: %v) and is %s", s.Conversation, was.Name, displaced, now.Name)
		}
		if !displaced {
			return
		}
	}
	if s.Continues && !known {
		if cur, found := runningIn(before, s.Process); found && !cur.Retired {
			if cur.ID != d.Agent.ID {
				t.Fatalf("%s went on under another id and became %s", cur.Name, now.Name)
			}
			return
		}
	}
	// A seat was taken or made.
	if existed {
		if s.Fork && old.Kind == Session {
			t.Fatalf("a copy took the seat of %s", old.Name)
		}
		if !d.Took || p.livedThen(old) {
			t.Fatalf("%s was taken from a live session: %+v", old.Name, old.Life)
		}
		if s.Declared == "" && (old.Folder != s.Folder || old.Kind != Session) {
			t.Fatalf("a session in %s took the seat of %s in %s", s.Folder, old.Name, old.Folder)
		}
		if old.Name.Key() != wanted.Key() && old.Seat != wanted.Key() {
			t.Fatalf("a session that wants %s took %s", wanted, old.Name)
		}
		return
	}
	// Nobody's mail waits at a free seat while a new one is made beside it.
	for id, a := range before {
		free := !a.Retired && !p.livedThen(a) && (a.Seat == wanted.Key() || a.Name.Key() == wanted.Key())
		if s.Fork && a.Kind == Session {
			continue // it waits for the original
		}
		if free && (s.Declared != "" && (a.Kind == Session || a.Kind == Terminal || a.Kind == Colleague) || s.Declared == "" && a.Kind == Session && a.Folder == s.Folder && a.Seat == wanted.Key()) {
			t.Fatalf("%s (%s) was free and a new agent %s was made", a.Name, id, now.Name)
		}
	}
	if h, taken := p.names[wanted.Key()]; now.Name.Key() != wanted.Key() && (!taken || h.forward) || (d.Instead != "") != (now.Name.Key() != wanted.Key()) {
		t.Fatalf("%s was free, the session is %s instead of %q", wanted, now.Name, d.Instead)
	}
}

// livedThen is lives, for an agent as it was.
func (p *play) livedThen(a Agent) bool { return a.Life != nil && p.alive(*a.Life) != Gone }

func runningIn(agents map[event.ID]Agent, q Process) (out Agent, found bool) {
	for _, a := range agents {
		if a.Kind == Session && a.Life != nil && a.Life.Conversation != "" && a.Life.Process == q && (!found || a.Life.ID > out.Life.ID) {
			out, found = a, true
		}
	}
	return out, found
}

func TestNoScheduleMixesPeopleUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &play{world: newWorld()}
		begin := func(t *rapid.T, s Start) {
			p.place(t, &s)
			p.begin(t, s)
		}
		start := func(conv string, q Process) Start {
			return Start{ID: p.id("A"), Life: p.id("L"), Conversation: conv, Client: "claude", Process: q, Alive: p.alive}
		}
		begin(t, start(p.conv(), p.process()))
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if err := p.check(); err != nil {
					t.Fatal(err)
				}
			},
			"startup": func(t *rapid.T) { begin(t, start(p.conv(), p.somewhere(t))) },
			"resume": func(t *rapid.T) {
				s := start(rapid.SampledFrom(p.convs).Draw(t, "conversation"), p.somewhere(t))
				s.Continues = rapid.Bool().Draw(t, "continues")
				begin(t, s)
			},
			"again": func(t *rapid.T) {
				// The same hook twice: nothing happens the second time.
				a := p.anybody(t)
				if a.Life == nil || a.Life.Conversation == "" {
					return
				}
				s := start(a.Life.Conversation, a.Life.Process)
				s.Folder, s.Project, s.Default = a.Folder, a.Project, "joe@x"
				last, _, _ := p.Running(a.Life.Process)
				d, err := p.do(s)
				if err != nil || p.world.convs[a.Life.Conversation] == a.ID && (d.Agent.ID != a.ID || (len(d.Events) > 0) != (last.ID != a.ID)) {
					t.Fatalf("%+v, %v", d, err)
				}
				// The process is now whose conversation it began last.
				if now, _, _ := p.Running(a.Life.Process); now.ID != d.Agent.ID {
					t.Fatalf("%s began a conversation last, and the process is %s", d.Agent.Name, now.Name)
				}
			},
			"clear": func(t *rapid.T) {
				s := start(p.conv(), p.somewhere(t))
				s.Continues = true
				begin(t, s)
			},
			"fork": func(t *rapid.T) {
				s := start(p.conv(), p.somewhere(t))
				s.Fork = true
				begin(t, s)
			},
			"end": func(t *rapid.T) {
				a := p.anybody(t)
				life := event.ID("nonsense")
				if a.Life != nil && rapid.IntRange(0, 3).Draw(t, "stale") > 0 {
					life = a.Life.ID
				}
				if _, err := p.do(End{Agent: a.ID, Life: life, Reason: "other"}); err != nil {
					t.Fatal(err)
				}
				if now := p.agents[a.ID]; (life == "nonsense") != (jsonOf(now) == jsonOf(a)) {
					t.Fatalf("ending %s of %+v gave %+v", life, a, now)
				}
			},
			"die": func(t *rapid.T) {
				if list := p.running(); len(list) > 0 {
					p.procs[rapid.SampledFrom(list).Draw(t, "process")] = false
				}
			},
			"rename": func(t *rapid.T) {
				a := p.anybody(t)
				to := name.Name(rapid.SampledFrom([]string{"alice", "ALICE", "bob", "anna", "joe@app", "joe@app-2", "user", "all"}).Draw(t, "to"))
				held, taken := p.names[to.Key()]
				_, err := p.do(Rename{Agent: a.ID, To: to})
				want := !a.Retired && !name.Reserved(to.Key()) && (!taken || held.forward || held.agent == a.ID)
				if want != (err == nil) {
					t.Fatalf("renaming %+v to %s, held by %+v: %v", a, to, held, err)
				}
			},
			"retire": func(t *rapid.T) {
				a := p.anybody(t)
				by := rapid.SampledFrom(p.order).Draw(t, "by")
				_, err := p.do(Retire{Agent: a.ID, By: by, Alive: p.alive})
				runs := a.Life != nil && p.alive(*a.Life) == Alive
				if refused := runs && by != a.ID && a.Kind != Terminal; refused != fault.Is(err, fault.Conflict) {
					t.Fatalf("retiring %+v: %v", a, err)
				}
				if _, taken := p.names[a.Name.Key()]; err == nil && taken && p.names[a.Name.Key()].agent == a.ID {
					t.Fatalf("%s is retired and keeps its name", a.Name)
				}
			},
			"employ": func(t *rapid.T) {
				n := name.Name(rapid.SampledFrom([]string{"alice", "bob", "anna", "joe@app"}).Draw(t, "name"))
				held, taken := p.names[n.Key()]
				d, err := p.do(Employ{ID: p.id("A"), Name: n})
				if err != nil || d.New == taken || taken && (d.Agent.ID != held.agent || len(d.Events) != 0) || !taken && d.Agent.Kind != Colleague {
					t.Fatalf("employing %s, held by %+v: %+v, %v", n, held, d, err)
				}
			},
			"register": func(t *rapid.T) {
				c := Register{ID: p.id("A"), Life: p.id("L"), Name: name.Name(rapid.SampledFrom([]string{"alice", "bob", "anna"}).Draw(t, "name")),
					Folder: rapid.SampledFrom(folders).Draw(t, "folder"), Alive: p.alive}
				if rapid.Bool().Draw(t, "with a process") {
					c.Process = p.somewhere(t)
				}
				held, taken := p.names[c.Name.Key()]
				was := copyOf(p.agents[held.agent])
				d, err := p.do(c)
				if live := taken && !held.forward && was.Kind == Session && p.lives(was); live != fault.Is(err, fault.Conflict) {
					t.Fatalf("registering %s, held by %+v: %v", c.Name, was, err)
				}
				if err != nil {
					return
				}
				if now := p.agents[d.Agent.ID]; now.Kind != Terminal || now.Name.Key() != c.Name.Key() || taken && !held.forward && now.ID != was.ID {
					t.Fatalf("registering %s gave %+v", c.Name, now)
				}
			},
		})
	})
}
