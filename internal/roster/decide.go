package roster

import (
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// MaxNumber is how many sessions can share one seat's name by number.
const MaxNumber = 999

// Decision is what a command comes to: who the caller is now, and the events
// that make it so (none when it was so already).
type Decision struct {
	Agent  Agent
	Events []event.Event
	// New is true when the agent did not exist before; Took when a seat that
	// nobody held was taken up; Instead names the seat that was wanted and not
	// had, and Why says whose it is.
	New, Took bool
	Instead   name.Name
	Why       Taken
	// Kept is the declared name that a conversation did not get because it goes
	// on as who it was.
	Kept name.Name
}

// Taken says why a seat that was wanted is not to be had.
type Taken string

// Why a session has not got the name that it wanted.
const (
	TakenLive   Taken = "live"   // a live session holds it
	TakenCopy   Taken = "copy"   // the session is a copy, and a copy is somebody new
	TakenFolder Taken = "folder" // it is the seat of sessions in another folder
	TakenOther  Taken = "other"  // it belongs to somebody who is no session
)

// Register gives a plain terminal a name, for a person who works there under
// it. A name that exists and that no live session holds is taken up with its
// mail, a colleague's too; a terminal agent's name may be used in many
// terminals.
type Register struct {
	ID      event.ID // for the agent, if it is new
	Life    event.ID
	Name    name.Name
	Project string
	Folder  string
	Process Process // the terminal's session leader or a process named by the user; may be zero
	Alive   func(Incarnation) Verdict
}

// Decide gives the agent that the terminal now is.
func (c Register) Decide(v View, now time.Time) (Decision, error) {
	if name.Reserved(c.Name.Key()) {
		return Decision{}, fault.New(fault.Invalid, "the name %q is reserved", c.Name).WithHint("choose another name")
	}
	held, forwarded, found, err := v.Holder(c.Name.Key())
	if err != nil {
		return Decision{}, err
	}
	life := Incarnation{ID: c.Life, Process: c.Process, Client: "terminal", Since: now}
	if !found || forwarded {
		a := Agent{ID: c.ID, Name: c.Name, Kind: Terminal, Seat: c.Name.Key(), Project: c.Project, Folder: c.Folder, Created: now}
		d := Decision{Agent: a, New: true}
		d.add(KindRegistered, Registered{Agent: a.ID, Name: a.Name, Kind: a.Kind, Seat: a.Seat, Project: a.Project, Folder: a.Folder})
		if !c.Process.Zero() {
			d.attach(life, Terminal, nil, c.Project, c.Folder)
		}
		return d, nil
	}
	if held.Kind == Worker {
		return Decision{}, fault.New(fault.Conflict, "the name %q belongs to a %s", held.Name, held.Kind).WithHint("choose another name")
	}
	var evidence []Evidence
	if held.Life != nil && held.Kind != Terminal {
		verdict := c.Alive(*held.Life)
		evidence = append(evidence, Evidence{Agent: held.ID, Incarnation: held.Life.ID, Verdict: verdict})
		if verdict != Gone {
			return Decision{}, fault.New(fault.Conflict, "the name %q is held by a %s that is running (process %d)", held.Name, held.Kind, held.Life.Process.PID).
				WithHint("choose another name, or close that session first")
		}
	}
	d := Decision{Agent: held, Took: held.Kind != Terminal}
	same := held.Kind == Terminal && held.Project == c.Project && held.Folder == c.Folder
	if same && (c.Process.Zero() || held.Life != nil && held.Life.Process == c.Process) {
		return d, nil
	}
	d.attach(life, Terminal, evidence, c.Project, c.Folder)
	return d, nil
}

// Start begins a session of a coding-agent client.
type Start struct {
	ID, Life     event.ID  // for the agent and the incarnation, if they are new
	Declared     name.Name // the name given in the environment; may be empty
	Default      name.Name // user@folder
	Conversation string    // CLIENT:SESSION-ID
	Kind         Kind      // "": Session; Worker for a subagent, whose seat nobody takes up
	// Fork: the client says that this conversation is a copy of another.
	// Continues: it says that the conversation goes on from the one that its
	// process held before (resume, clear, compact), whatever id it has now.
	Fork, Continues bool
	Client          string
	Process         Process
	Project         string
	Folder          string
	Alive           func(Incarnation) Verdict
}

// Decide gives the agent that the session is. The same conversation is the
// same agent, also in another process, unless a live session of another
// conversation took the seat meanwhile. Otherwise the session takes the seat
// of its declared name or of its folder if nobody live holds it, or the first
// free number after it. A copy of a conversation takes no seat that a session
// had: its name and mail stay with the original, closed as it may be.
func (c Start) Decide(v View, now time.Time) (Decision, error) {
	if d, found, err := c.resume(v, now); err != nil || found {
		return d, err
	}
	wanted := c.Declared
	if wanted == "" {
		wanted = c.Default
	}
	if name.Reserved(wanted.Key()) {
		return Decision{}, fault.New(fault.Invalid, "the name %q is reserved", wanted).WithHint("choose another name")
	}
	var evidence []Evidence
	d, found, err := c.take(v, wanted, &evidence)
	if err == nil && !found {
		d, err = c.join(v, wanted)
	}
	if err == nil && d.Agent.Name.Key() != wanted.Key() {
		d.Instead = wanted
		d.Why, err = c.whose(v, wanted)
	}
	if err != nil {
		return d, err
	}
	d.attach(c.life(now, nil), c.kind(), evidence, c.Project, c.Folder)
	return d, nil
}

// resume finds the agent whose conversation this is.
func (c Start) resume(v View, now time.Time) (d Decision, found bool, err error) {
	if c.Conversation == "" {
		return d, false, nil
	}
	a, known, err := v.Conversation(c.Conversation)
	if err != nil {
		return d, false, err
	}
	if c.Fork && (!known || a.Life == nil || a.Life.Process != c.Process || a.Life.Conversation != c.Conversation) {
		return d, false, nil // else the client says once more that it began
	}
	if !known && c.Continues {
		// A conversation that changed its id inside its process.
		if a, known, err = v.Running(c.Process); err != nil {
			return d, false, err
		}
	}
	var evidence []Evidence
	if !known || a.Retired || c.displaced(a, &evidence) {
		return d, false, nil
	}
	d = Decision{Agent: a}
	if d.Kept, err = c.kept(v, a); err != nil {
		return d, true, err
	}
	if a.Life != nil && a.Life.Process == c.Process {
		// The seat stays where the process was started, wherever its model has
		// walked since: the next session that starts there looks for it.
		c.Folder, c.Project = a.Folder, a.Project
	}
	if a.Life != nil && a.Life.Process == c.Process && a.Life.Conversation == c.Conversation && a.Folder == c.Folder && a.Project == c.Project {
		// So already, unless the process was somebody else's in between.
		if c.kind() != Session || c.Client == TokenClient {
			return d, true, nil
		}
		if last, found, err := v.Running(c.Process); err != nil || !found || last.ID == a.ID {
			return d, true, err
		}
	}
	earlier, err := c.earlier(v, a)
	if err != nil {
		return d, true, err
	}
	d.attach(c.life(now, earlier), c.kind(), evidence, c.Project, c.Folder)
	return d, true, nil
}

// kept gives the declared name if the conversation goes on as somebody who
// never had it.
func (c Start) kept(v View, a Agent) (name.Name, error) {
	key := c.Declared.Key()
	if c.Declared == "" || a.Name.Key() == key || a.Seat == key {
		return "", nil
	}
	held, _, found, err := v.Holder(key)
	if err != nil || found && held.ID == a.ID {
		return "", err // it was renamed since
	}
	return c.Declared, nil
}

// whose says why the seat of a name was not to be had.
func (c Start) whose(v View, wanted name.Name) (Taken, error) {
	held, _, _, err := v.Holder(wanted.Key())
	switch {
	case err != nil:
		return "", err
	case held.Life != nil && held.Life.Process != c.Process && c.Alive(*held.Life) != Gone:
		return TakenLive, nil
	case c.Fork:
		return TakenCopy, nil
	case held.Kind != Session:
		return TakenOther, nil
	case c.Declared == "" && held.Folder != c.Folder:
		return TakenFolder, nil
	}
	return TakenLive, nil // another conversation of the same process, in the background
}

// take finds a seat that was asked for under this name before and that nobody
// live holds: the one with the very name, or the first that was given a number.
func (c Start) take(v View, wanted name.Name, evidence *[]Evidence) (d Decision, found bool, err error) {
	held, forwarded, found, err := v.Holder(wanted.Key())
	if err != nil {
		return d, false, err
	}
	if found && !forwarded && c.mayTake(held, evidence) {
		return Decision{Agent: held, Took: true}, true, nil
	}
	numbered, err := v.Seats(wanted.Key())
	if err != nil {
		return d, false, err
	}
	for _, a := range numbered {
		if a.ID != held.ID && c.mayTake(a, evidence) {
			return Decision{Agent: a, Took: true}, true, nil
		}
	}
	return d, false, nil
}

// join makes a new agent, under the name or its first free number.
func (c Start) join(v View, wanted name.Name) (Decision, error) {
	for i := 1; i <= MaxNumber; i++ {
		n := name.Numbered(wanted, i)
		_, forwarded, taken, err := v.Holder(n.Key())
		if err != nil {
			return Decision{}, err
		}
		if taken && !forwarded {
			continue
		}
		a := Agent{ID: c.ID, Name: n, Kind: c.kind(), Seat: wanted.Key(), Project: c.Project, Folder: c.Folder}
		d := Decision{Agent: a, New: true}
		d.add(KindRegistered, Registered{Agent: a.ID, Name: a.Name, Kind: a.Kind, Seat: a.Seat, Project: a.Project, Folder: a.Folder})
		return d, nil
	}
	return Decision{}, fault.New(fault.Conflict, "%d sessions hold the name %q and its numbers", MaxNumber, wanted).
		WithHint("retire some: bureau agents retire NAME")
}

func (c Start) kind() Kind {
	if c.Kind == "" {
		return Session
	}
	return c.Kind
}

// life is the incarnation that begins.
func (c Start) life(now time.Time, earlier []string) Incarnation {
	return Incarnation{ID: c.Life, Process: c.Process, Client: c.Client, Conversation: c.Conversation, Earlier: earlier, Since: now}
}

// own reports whether a life holds this conversation, or one that goes on from
// it, or is this process's own. A process that speaks for tokens speaks for many
// at a time, and none of them is another's.
func (c Start) own(l *Incarnation) bool {
	shared := c.Client == TokenClient || l.Client == TokenClient
	return l.Conversation == c.Conversation || l.Process == c.Process && !shared || slices.Contains(l.Earlier, c.Conversation)
}

// earlier lists the conversations that the new life goes on from: those that
// this one went on from before, however long it was closed, and those of the
// life that it follows.
func (c Start) earlier(v View, a Agent) ([]string, error) {
	all, err := v.Earlier(c.Conversation)
	if err != nil {
		return nil, err
	}
	if a.Life != nil && c.own(a.Life) {
		all = append(append(all, a.Life.Earlier...), a.Life.Conversation)
	}
	var list []string
	for i, k := range all {
		if k != "" && k != c.Conversation && !slices.Contains(all[i+1:], k) {
			list = append(list, k)
		}
	}
	return list[max(len(list)-maxEarlier, 0):], nil
}

// displaced reports whether a live session of another conversation holds the
// agent now.
func (c Start) displaced(a Agent, evidence *[]Evidence) bool {
	if a.Life == nil || c.own(a.Life) {
		return false
	}
	verdict := c.Alive(*a.Life)
	*evidence = append(*evidence, Evidence{Agent: a.ID, Incarnation: a.Life.ID, Verdict: verdict})
	return verdict != Gone
}

// mayTake reports whether a seat is free for this session: a declared name's
// wherever it was used, a folder's only in that very folder, a person's and a
// colleague's only by its declared name, and never a worker's. A copy takes only
// one that no session ever had.
func (c Start) mayTake(a Agent, evidence *[]Evidence) bool {
	switch {
	case c.kind() != Session:
		return false
	case c.Declared == "" && a.Kind != Session, a.Kind == Worker, a.Kind == Human, c.Fork && a.Kind == Session:
		return false
	case c.Declared == "" && (a.Folder != c.Folder || a.Seat != c.Default.Key()):
		return false
	case a.Life == nil:
		return true
	}
	verdict := c.Alive(*a.Life)
	*evidence = append(*evidence, Evidence{Agent: a.ID, Incarnation: a.Life.ID, Verdict: verdict})
	return verdict == Gone
}

// End ends a life, if it is still the agent's.
type End struct {
	Agent, Life event.ID
	Reason      string
}

// Decide gives the event, or none if that life is over already.
func (c End) Decide(v View, _ time.Time) (Decision, error) {
	a, found, err := v.Agent(c.Agent)
	if err != nil || !found {
		return Decision{}, err
	}
	d := Decision{Agent: a}
	if a.Life == nil || a.Life.ID != c.Life {
		return d, nil
	}
	d.add(KindDetached, Detached{Agent: a.ID, Life: c.Life, Reason: c.Reason})
	return d, nil
}

// Rename gives an agent another name. Its mail, threads and claims follow,
// because they belong to the agent and not to the name; who writes to the old
// name reaches it until somebody else takes that name.
type Rename struct {
	Agent event.ID
	To    name.Name
}

// Decide refuses a name that another agent holds.
func (c Rename) Decide(v View, _ time.Time) (Decision, error) {
	a, found, err := v.Agent(c.Agent)
	if err != nil {
		return Decision{}, err
	}
	if !found || a.Retired {
		return Decision{}, fault.New(fault.NotFound, "that agent is retired or was never there")
	}
	if a.Kind == Human || name.Reserved(c.To.Key()) {
		return Decision{}, fault.New(fault.Invalid, "%q cannot be renamed to %q", a.Name, c.To).WithHint("reserved names stay with whom they belong to")
	}
	held, forwarded, taken, err := v.Holder(c.To.Key())
	if err != nil {
		return Decision{}, err
	}
	if taken && !forwarded && held.ID != a.ID {
		return Decision{}, fault.New(fault.Conflict, "the name %q is held by another agent (%s)", held.Name, held.Kind).
			WithHint("choose another name, or retire that one: bureau agents retire %s", held.Name)
	}
	d := Decision{Agent: a}
	if a.Name == c.To {
		return d, nil
	}
	d.add(KindRenamed, Renamed{Agent: a.ID, From: a.Name, To: c.To})
	return d, nil
}

// Retire ends an agent for good. Its name is free; mail that it has not seen
// ends as undeliverable. A session that runs is not retired.
type Retire struct {
	Agent, By event.ID
	Reason    string
	Alive     func(Incarnation) Verdict
}

// Decide refuses the human and whoever is running, unless it retires itself.
func (c Retire) Decide(v View, _ time.Time) (Decision, error) {
	a, found, err := v.Agent(c.Agent)
	if err != nil {
		return Decision{}, err
	}
	switch {
	case !found:
		return Decision{}, fault.New(fault.NotFound, "no such agent")
	case a.Kind == Human:
		return Decision{}, fault.New(fault.Invalid, "the human of the office cannot be retired")
	case a.Retired:
		return Decision{Agent: a}, nil
	}
	if a.Life != nil && a.Kind != Terminal && c.By != a.ID && c.Alive(*a.Life) == Alive {
		running := fault.New(fault.Conflict, "%q is running (process %d)", a.Name, a.Life.Process.PID).WithHint("close that session first")
		if a.Life.Client == TokenClient {
			// That process serves others too.
			running = fault.New(fault.Conflict, "%q is connected with its token", a.Name).WithHint("end it first: bureau token revoke %s", strings.TrimPrefix(a.Life.Conversation, TokenClient+":"))
		}
		return Decision{}, running
	}
	d := Decision{Agent: a}
	d.add(KindRetired, RetiredAgent{Agent: a.ID, Name: a.Name, By: c.By, Reason: c.Reason})
	return d, nil
}

// add decides on an event; the decision's agent is then what the event makes it.
func (d *Decision) add(kind event.Kind, data any) {
	e := event.New(kind, data)
	d.Events = append(d.Events, e)
	_ = d.Agent.Apply(e) // our own data always decodes
}

// attach gives the decision's agent a new life.
func (d *Decision) attach(life Incarnation, kind Kind, evidence []Evidence, project, folder string) {
	at := Attached{Agent: d.Agent.ID, Life: life, Project: project, Folder: folder, Evidence: slices.Clone(evidence)}
	if kind == Terminal && life.Process.Zero() {
		at.Life = Incarnation{}
	}
	if d.Agent.Kind != kind {
		at.Kind = kind
	}
	d.add(KindAttached, at)
}
