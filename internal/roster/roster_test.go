package roster

import (
	"slices"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// TestTheSessionIdChanges is case I2: the id of a conversation rotates, the
// person stays.
func TestTheSessionIdChanges(t *testing.T) {
	w := newWorld()
	terminal := w.process()
	first := w.session("claude:S1", terminal, "/app")
	first.Declared = "alice"
	alice := w.begin(t, first).Agent
	if alice.Name != "alice" {
		t.Fatalf("%+v", alice)
	}
	again := func(conv string, p Process, how func(*Start)) Decision {
		s := w.session(conv, p, "/app")
		s.Declared = "alice"
		how(&s)
		return w.begin(t, s)
	}
	goesOn := func(s *Start) { s.Continues = true }
	plain := func(*Start) {}

	// (a) resumed under another id, (b) cleared: the same process goes on.
	for _, conv := range []string{"claude:S2", "claude:S3"} {
		if d := again(conv, terminal, goesOn); d.Agent.ID != alice.ID || d.New {
			t.Fatalf("%s became %+v", conv, d.Agent)
		}
	}
	// (d) a copy while the original lives, wherever it runs.
	fork := func(s *Start) { s.Fork = true }
	if d := again("claude:S4", w.process(), fork); d.Agent.ID == alice.ID || d.Instead != "alice" || d.Agent.Name != "alice-2" {
		t.Fatalf("the fork is %+v", d.Agent)
	}
	for _, conv := range []string{"claude:S5", "claude:S6"} {
		if d := again(conv, terminal, func(s *Start) { s.Fork, s.Continues = true, conv == "claude:S6" }); d.Agent.ID == alice.ID {
			t.Fatal("a fork in the same process is the original")
		}
	}
	// (c) the first conversation again, in another terminal: the newest start
	// wins, the older process holds nobody any more.
	other := w.process()
	if d := again("claude:S1", other, goesOn); d.Agent.ID != alice.ID || d.Agent.Life.Process != other {
		t.Fatalf("resumed elsewhere as %+v", d.Agent)
	}
	// And back, by the conversation that it had become.
	if d := again("claude:S3", terminal, goesOn); d.Agent.ID != alice.ID {
		t.Fatalf("%+v", d.Agent)
	}
	// A rename outlives a clear, though the environment has the old name.
	if _, err := w.do(Rename{Agent: alice.ID, To: "anna"}); err != nil {
		t.Fatal(err)
	}
	if d := again("claude:S7", terminal, goesOn); d.Agent.ID != alice.ID || d.Agent.Name != "anna" {
		t.Fatalf("cleared after a rename: %+v", d.Agent)
	}
	// Control: an unrelated start in the same folder is somebody else.
	if d := again("claude:S9", w.process(), plain); d.Agent.ID == alice.ID {
		t.Fatal("an unrelated session became alice")
	}
}

// TestAClosedConversationGoesOn: one that was cleared, closed and resumed goes
// on from all that it went on from before, also when somebody else sat in its
// seat meanwhile; who only takes the seat goes on from nothing.
func TestAClosedConversationGoesOn(t *testing.T) {
	w := newWorld()
	in := func(conv string, p Process, continues bool) Agent {
		t.Helper()
		s := w.session(conv, p, "/app")
		s.Declared, s.Continues = "alice", continues
		return w.begin(t, s).Agent
	}
	end := func(a Agent) {
		t.Helper()
		w.procs[a.Life.Process] = false
		if _, err := w.do(End{Agent: a.ID, Life: a.Life.ID}); err != nil {
			t.Fatal(err)
		}
	}
	p := w.process()
	alice := in("claude:S1", p, false)
	in("claude:S2", p, true)
	end(in("claude:S3", p, true))
	for range 2 {
		back := in("claude:S3", w.process(), true)
		if back.ID != alice.ID || !slices.Equal(back.Life.Earlier, []string{"claude:S1", "claude:S2"}) {
			t.Fatalf("resumed: %+v", back.Life)
		}
		end(back)
	}
	seat := in("claude:S9", w.process(), false)
	if seat.ID != alice.ID || len(seat.Life.Earlier) > 0 {
		t.Fatalf("in the seat: %+v", seat.Life)
	}
	end(seat)
	p = w.process()
	if back := in("claude:S3", p, true); back.ID != alice.ID || !slices.Equal(back.Life.Earlier, []string{"claude:S1", "claude:S2"}) {
		t.Fatalf("resumed after the other: %+v", back.Life)
	}
	// A resumption of the first in the same process goes on from the rest.
	if back := in("claude:S1", p, true); !slices.Equal(back.Life.Earlier, []string{"claude:S2", "claude:S3"}) {
		t.Fatalf("back at the first: %+v", back.Life)
	}
}

// TestRenaming is case I6.
func TestRenaming(t *testing.T) {
	w := newWorld()
	declared := func(conv string, n name.Name) Decision {
		s := w.session(conv, w.process(), "/app")
		s.Declared = n
		return w.begin(t, s)
	}
	alice, bob := declared("claude:1", "alice").Agent, declared("claude:2", "bob").Agent
	if d, err := w.do(Rename{Agent: alice.ID, To: "anna"}); err != nil || d.Agent.Name != "anna" {
		t.Fatalf("%+v, %v", d, err)
	}
	// Who writes to the old name reaches her.
	if a, forwarded, found, _ := w.Holder("alice"); !found || !forwarded || a.ID != alice.ID {
		t.Fatalf("alice leads to %+v", a)
	}
	for _, taken := range []name.Name{"anna", "ANNA", "ａｎｎａ"} {
		_, err := w.do(Rename{Agent: bob.ID, To: taken})
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "anna") {
			t.Errorf("bob became %s: %v", taken, err)
		}
	}
	// A newcomer under the old name is a new person and replaces the note.
	newcomer := declared("claude:3", "alice")
	if !newcomer.New || newcomer.Agent.ID == alice.ID || newcomer.Agent.Name != "alice" {
		t.Fatalf("%+v", newcomer)
	}
	if a, forwarded, _, _ := w.Holder("alice"); forwarded || a.ID != newcomer.Agent.ID {
		t.Fatalf("alice leads to %+v", a)
	}
	// Her conversation goes on as anna.
	if d := w.begin(t, w.session("claude:1", w.process(), "/app")); d.Agent.ID != alice.ID {
		t.Fatalf("%+v", d.Agent)
	}
	// The old name back is refused now, another spelling of the own one is not.
	if _, err := w.do(Rename{Agent: alice.ID, To: "alice"}); !fault.Is(err, fault.Conflict) {
		t.Fatal(err)
	}
	if d, err := w.do(Rename{Agent: alice.ID, To: "Anna"}); err != nil || d.Agent.Name != "Anna" {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := w.do(Rename{Agent: alice.ID, To: "Anna"}); err != nil || len(d.Events) != 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	// There and back again leaves notes that lead home.
	for _, to := range []name.Name{"carla", "Anna"} {
		if _, err := w.do(Rename{Agent: alice.ID, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if a, forwarded, _, _ := w.Holder("carla"); !forwarded || a.ID != alice.ID {
		t.Fatalf("carla leads to %+v", a)
	}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	for _, to := range []name.Name{"user", "all", "*"} {
		if _, err := w.do(Rename{Agent: bob.ID, To: to}); !fault.Is(err, fault.Invalid) {
			t.Errorf("bob became %s: %v", to, err)
		}
	}
}

func TestSeats(t *testing.T) {
	t.Run("a closed session's seat is taken with what waits there", func(t *testing.T) {
		w := newWorld()
		p := w.process()
		first := w.begin(t, w.session("claude:1", p, "/app"))
		w.procs[p] = false
		d := w.begin(t, w.session("claude:2", w.process(), "/app"))
		if d.Agent.ID != first.Agent.ID || !d.Took {
			t.Fatalf("%+v", d)
		}
		var at Attached
		if err := d.Events[0].Decode(&at); err != nil || len(at.Evidence) != 1 || at.Evidence[0].Verdict != Gone {
			t.Fatalf("taken on %+v, %v", at.Evidence, err)
		}
	})
	t.Run("folders that end alike", func(t *testing.T) {
		w := newWorld()
		one := w.session("claude:1", w.process(), "/one/app")
		one.Default = "joe@app"
		first := w.begin(t, one).Agent
		w.procs[first.Life.Process] = false
		two := w.session("claude:2", w.process(), "/two/app")
		two.Default = "joe@app"
		if d := w.begin(t, two); d.Agent.ID == first.ID || d.Agent.Name != "joe@app-2" {
			t.Fatalf("%+v", d.Agent)
		}
	})
	t.Run("a live session keeps its name", func(t *testing.T) {
		w := newWorld()
		declared := func(conv string) Decision {
			s := w.session(conv, w.process(), "/app")
			s.Declared = "alice"
			return w.begin(t, s)
		}
		declared("claude:1")
		if d := declared("claude:2"); d.Agent.Name != "alice-2" || d.Instead != "alice" {
			t.Fatalf("%+v", d)
		}
		if d := declared("claude:3"); d.Agent.Name != "alice-3" {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("a number is a seat too", func(t *testing.T) {
		w := newWorld()
		var agents []Agent
		for _, conv := range []string{"claude:1", "claude:2", "claude:3"} {
			agents = append(agents, w.begin(t, w.session(conv, w.process(), "/app")).Agent)
		}
		// The second is retired, the third closes: its mail must not be passed
		// over for the gap that the second left.
		if _, err := w.do(Retire{Agent: agents[1].ID, By: agents[1].ID, Alive: w.alive}); err != nil {
			t.Fatal(err)
		}
		w.procs[agents[2].Life.Process] = false
		if d := w.begin(t, w.session("claude:4", w.process(), "/app")); d.Agent.ID != agents[2].ID {
			t.Fatalf("%s was free and the session is %s", agents[2].Name, d.Agent.Name)
		}
		if d := w.begin(t, w.session("claude:5", w.process(), "/app")); d.Agent.Name != agents[1].Name || !d.New {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("displaced by a live session", func(t *testing.T) {
		w := newWorld()
		p := w.process()
		first := w.begin(t, w.session("claude:1", p, "/app")).Agent
		w.procs[p] = false
		taker := w.begin(t, w.session("claude:2", w.process(), "/app")).Agent
		if d := w.begin(t, w.session("claude:1", w.process(), "/app")); d.Agent.ID == first.ID || !d.New {
			t.Fatalf("%+v", d)
		}
		w.procs[taker.Life.Process] = false
		// The conversation is now the new agent's, whoever sits in the old seat.
		if d := w.begin(t, w.session("claude:1", w.process(), "/app")); d.Agent.ID == first.ID {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("another host's word is not taken for death", func(t *testing.T) {
		w := newWorld()
		far := Process{PID: 1, Start: 1, Host: "elsewhere"}
		first := w.begin(t, w.session("claude:1", far, "/app")).Agent
		if d := w.begin(t, w.session("claude:2", w.process(), "/app")); d.Agent.ID == first.ID {
			t.Fatal("a seat was taken from a process that nobody here can see")
		}
	})
	t.Run("a terminal's name", func(t *testing.T) {
		w := newWorld()
		register := func(n name.Name, p Process) (Decision, error) {
			return w.do(Register{ID: w.id("A"), Life: w.id("L"), Name: n, Folder: "/app", Process: p, Alive: w.alive})
		}
		d, err := register("ana", Process{})
		if err != nil || !d.New || d.Agent.Life != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		if again, err := register("Ana", Process{}); err != nil || again.Agent.ID != d.Agent.ID || len(again.Events) > 0 {
			t.Fatalf("%+v, %v", again, err)
		}
		s := w.session("claude:1", w.process(), "/app")
		s.Declared = "ana"
		if took := w.begin(t, s); took.Agent.ID != d.Agent.ID || took.Agent.Kind != Session {
			t.Fatalf("%+v", took.Agent)
		}
		if _, err := register("ana", Process{}); !fault.Is(err, fault.Conflict) {
			t.Fatalf("a terminal took a running session's name: %v", err)
		}
		w.procs[s.Process] = false
		if back, err := register("ana", Process{}); err != nil || back.Agent.ID != d.Agent.ID || back.Agent.Kind != Terminal {
			t.Fatalf("%+v, %v", back, err)
		}
		for _, n := range []name.Name{"user", "all"} {
			if _, err := register(n, Process{}); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", n, err)
			}
		}
	})
	t.Run("a worker's", func(t *testing.T) {
		w := newWorld()
		if err := w.fold([]event.Event{event.New(KindRegistered, Registered{Agent: "A", Name: "reviewer", Kind: Worker, Seat: "reviewer"})}); err != nil {
			t.Fatal(err)
		}
		s := w.session("claude:1", w.process(), "/app")
		s.Declared = "reviewer"
		if d := w.begin(t, s); d.Agent.ID == "A" {
			t.Error("a session took a worker's seat")
		}
		if _, err := w.do(Register{ID: "B", Life: "L", Name: "reviewer", Alive: w.alive}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a terminal took a worker's seat: %v", err)
		}
	})
}

// TestColleagues: a seat that a roster file names is there before anybody sits
// in it, and goes to whoever declares the name.
func TestColleagues(t *testing.T) {
	employed := func(t *testing.T) (*world, Agent) {
		w := newWorld()
		d, err := w.do(Employ{ID: "A", Name: "reviewer"})
		if err != nil || !d.New || d.Agent.Kind != Colleague || d.Agent.Life != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		return w, d.Agent
	}
	t.Run("once", func(t *testing.T) {
		w, a := employed(t)
		if d, err := w.do(Employ{ID: "B", Name: "Reviewer"}); err != nil || d.New || d.Agent.ID != a.ID || len(d.Events) != 0 {
			t.Errorf("%+v, %v", d, err)
		}
		if _, err := w.do(Employ{ID: "C", Name: "user"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a reserved name: %v", err)
		}
	})
	t.Run("a name that leads elsewhere is not made anew", func(t *testing.T) {
		w, a := employed(t)
		if _, err := w.do(Rename{Agent: a.ID, To: "critic"}); err != nil {
			t.Fatal(err)
		}
		if d, err := w.do(Employ{ID: "B", Name: "reviewer"}); err != nil || d.New || d.Agent.ID != a.ID {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("a session takes it by its declared name only", func(t *testing.T) {
		w, a := employed(t)
		s := w.session("claude:1", w.process(), "/app")
		s.Default = "reviewer" // as user@folder could be
		if d := w.begin(t, s); d.Agent.ID == a.ID {
			t.Error("a session that declared no name took the seat")
		}
		s = w.session("claude:2", w.process(), "/app")
		s.Declared = "REVIEWER"
		d := w.begin(t, s)
		if d.Agent.ID != a.ID || !d.Took || d.Agent.Kind != Session {
			t.Fatalf("%+v", d)
		}
		// It is taken: the next one gets another.
		s = w.session("claude:3", w.process(), "/app")
		s.Declared = "reviewer"
		if next := w.begin(t, s); next.Agent.ID == a.ID || next.Instead != "reviewer" {
			t.Errorf("%+v", next)
		}
		if again, err := w.do(Employ{ID: "B", Name: "reviewer"}); err != nil || again.Agent.ID != a.ID || len(again.Events) != 0 {
			t.Errorf("%+v, %v", again, err)
		}
	})
	t.Run("a person takes it", func(t *testing.T) {
		w, a := employed(t)
		d, err := w.do(Register{ID: "B", Life: "L", Name: "reviewer", Alive: w.alive})
		if err != nil || d.Agent.ID != a.ID || !d.Took || d.Agent.Kind != Terminal {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestSubagents are conversations of their own inside the process of a session.
func TestSubagents(t *testing.T) {
	w := newWorld()
	p := w.process()
	main := w.begin(t, w.session("claude:S1", p, "/app")).Agent
	sub := w.session("claude:S1/sub", p, "/app")
	sub.Kind, sub.Default = Worker, main.Name+".reviewer"
	worker := w.begin(t, sub).Agent
	if worker.ID == main.ID || worker.Kind != Worker || worker.Name != main.Name+".reviewer" {
		t.Fatalf("%+v", worker)
	}
	again := w.session("claude:S1/sub", p, "/app")
	again.Kind = Worker
	if d := w.begin(t, again); d.Agent.ID != worker.ID || len(d.Events) > 0 {
		t.Fatalf("%+v", d)
	}
	// The process goes on as its session, not as the worker in it.
	cleared := w.session("claude:S2", p, "/app")
	cleared.Continues = true
	if d := w.begin(t, cleared); d.Agent.ID != main.ID {
		t.Fatalf("cleared, the session is %s", d.Agent.Name)
	}
	// Neither takes the other's seat.
	w.procs[p] = false
	other := w.session("claude:S3/sub", w.process(), "/app")
	other.Kind, other.Default = Worker, main.Name
	if d := w.begin(t, other); d.Agent.ID == main.ID || !d.New {
		t.Fatalf("%+v", d)
	}
	session := w.session("claude:S4", w.process(), "/app")
	session.Declared = worker.Name
	if d := w.begin(t, session); d.Agent.ID == worker.ID || !d.New {
		t.Fatalf("%+v", d)
	}
}

func TestEndingAndRetiring(t *testing.T) {
	w := newWorld()
	p := w.process()
	a := w.begin(t, w.session("claude:1", p, "/app")).Agent
	stale := a.Life.ID
	b := w.begin(t, w.session("claude:1", w.process(), "/app")).Agent // resumed elsewhere
	if d, err := w.do(End{Agent: a.ID, Life: stale, Reason: "other"}); err != nil || len(d.Events) > 0 {
		t.Fatalf("the older process ended the newer life: %+v, %v", d, err)
	}
	if _, err := w.do(Retire{Agent: a.ID, By: "user", Alive: w.alive}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a running session was retired: %v", err)
	}
	if d, err := w.do(End{Agent: a.ID, Life: b.Life.ID, Reason: "other"}); err != nil || d.Agent.Life != nil {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := w.do(End{Agent: "nobody", Life: stale}); err != nil || len(d.Events) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := w.do(Retire{Agent: a.ID, By: "user", Reason: "done", Alive: w.alive}); err != nil || !d.Agent.Retired {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := w.do(Retire{Agent: a.ID, By: "user", Alive: w.alive}); err != nil || len(d.Events) > 0 {
		t.Fatalf("retired twice: %+v, %v", d, err)
	}
	if _, err := w.do(Rename{Agent: a.ID, To: "anna"}); !fault.Is(err, fault.NotFound) {
		t.Fatalf("a retired agent was renamed: %v", err)
	}
	if _, err := w.do(Retire{Agent: "nobody", Alive: w.alive}); !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	// The name is free; the conversation begins anew under it.
	if d := w.begin(t, w.session("claude:1", w.process(), "/app")); !d.New || d.Agent.Name != a.Name {
		t.Fatalf("%+v", d)
	}
	if err := w.fold([]event.Event{event.New(KindRegistered, Registered{Agent: "U", Name: UserName, Kind: Human, Seat: "user"})}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.do(Retire{Agent: "U", By: "U", Alive: w.alive}); !fault.Is(err, fault.Invalid) {
		t.Fatalf("the human was retired: %v", err)
	}
	if _, err := w.do(Rename{Agent: "U", To: "joe"}); !fault.Is(err, fault.Invalid) {
		t.Fatalf("the human was renamed: %v", err)
	}
}
