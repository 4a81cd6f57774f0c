// Package roster holds the rules of who is who: agents, the names they hold,
// the conversations and processes they live in, renaming and retiring.
//
// A name is a seat. It belongs to one agent, whether or not anybody sits
// there; mail waits for it. A session that starts under the same name or in
// the same folder, while no live one holds the seat, becomes that agent.
//
// The package is pure: [Decide] reads through a [View] and gives events.
// Whether a process is alive enters as evidence, answered by the caller and
// written into the event that relied on it.
//
// Promises, each a property test: a name is held by at most one agent that is
// not retired; an agent has at most one live incarnation; the same
// conversation is always the same agent, unless another live one took its seat.
package roster

import (
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
)

// Kind says what sort of somebody an agent is.
type Kind string

// The kinds of agents.
const (
	Session   Kind = "session"   // a coding-agent conversation
	Terminal  Kind = "terminal"  // a name that a person uses in plain terminals
	Colleague Kind = "colleague" // a named specialist of a roster file whose seat nobody has taken yet
	Worker    Kind = "worker"    // a process that a team started
	Human     Kind = "human"     // the person who runs the office
)

// UserName is the name of the human.
const UserName = name.Name("user")

// Process names an operating-system process beyond doubt.
type Process struct {
	PID   int    `json:"pid"`
	Start int64  `json:"start"` // in the unit of package proc
	Host  string `json:"host"`  // host domain; a verdict about a process counts only inside it
}

// Zero reports whether no process is named.
func (p Process) Zero() bool { return p.PID == 0 }

// Incarnation is one life of an agent: a client process that holds one
// conversation.
type Incarnation struct {
	ID           event.ID `json:"id"`
	Process      Process  `json:"process,omitzero"`
	Client       string   `json:"client"`                 // claude, codex, terminal, …
	Conversation string   `json:"conversation,omitempty"` // CLIENT:SESSION-ID
	// Earlier are the conversations that this one goes on from (a clear begins
	// a new one), newest last. They are the agent's own, not another's who sat
	// in the same seat.
	Earlier []string  `json:"earlier,omitempty"`
	Since   time.Time `json:"since"`
}

// maxEarlier bounds Incarnation.Earlier.
const maxEarlier = 16

// Agent is anyone addressable.
type Agent struct {
	ID      event.ID  `json:"id"`
	Name    name.Name `json:"name"`
	Kind    Kind      `json:"kind"`
	Seat    name.Key  `json:"seat"` // the name it asked for last, before any number was added
	Project string    `json:"project,omitempty"`
	Folder  string    `json:"folder,omitempty"`
	Created time.Time `json:"created"`
	Retired bool      `json:"retired,omitempty"`
	// Life is the newest incarnation that has not ended; nil if none. Whether
	// its process still runs is for presence to say.
	Life *Incarnation `json:"life,omitempty"`
}

// View is what a decision looks up.
type View interface {
	// Holder gives the agent that holds a name, or that a forwarding note
	// left by a rename points to.
	Holder(key name.Key) (a Agent, forwarded, found bool, err error)
	// Agent finds an agent by id, retired ones too.
	Agent(id event.ID) (a Agent, found bool, err error)
	// Conversation finds the agent that a conversation belongs to.
	Conversation(key string) (a Agent, found bool, err error)
	// Earlier gives the conversations that one goes on from, as in the newest
	// life that held it; none for one that nobody ever held.
	Earlier(key string) ([]string, error)
	// Running finds the session whose newest life is a conversation in a
	// process, the latest to begin if there are several: not a worker inside it.
	Running(p Process) (a Agent, found bool, err error)
	// Seats lists the agents, without retired ones, that asked for a name,
	// those that came first in front.
	Seats(key name.Key) ([]Agent, error)
}

// Verdict is what is known of a process.
type Verdict string

// The verdicts. Unknown is given for processes of another host domain.
const (
	Alive   Verdict = "alive"
	Gone    Verdict = "gone"
	Unknown Verdict = "unknown"
)

// Evidence is one verdict that a decision relied on.
type Evidence struct {
	Agent       event.ID `json:"agent"`
	Incarnation event.ID `json:"incarnation,omitempty"`
	Verdict     Verdict  `json:"verdict"`
}

// The kinds of events in the names subject.
const (
	KindRegistered event.Kind = "agent.registered"
	KindAttached   event.Kind = "agent.attached"
	KindDetached   event.Kind = "agent.detached"
	KindRenamed    event.Kind = "agent.renamed"
	KindRetired    event.Kind = "agent.retired"
)

// Registered makes a new agent.
type Registered struct {
	Agent   event.ID  `json:"agent"`
	Name    name.Name `json:"name"`
	Kind    Kind      `json:"kind"`
	Seat    name.Key  `json:"seat"`
	Project string    `json:"project,omitempty"`
	Folder  string    `json:"folder,omitempty"`
}

// Attached begins a life of an agent and binds its conversation. An earlier
// life that had not ended is over: its process may only read.
type Attached struct {
	Agent    event.ID    `json:"agent"`
	Life     Incarnation `json:"life"`
	Kind     Kind        `json:"kind,omitempty"` // set when the seat changes kind
	Project  string      `json:"project,omitempty"`
	Folder   string      `json:"folder,omitempty"`
	Evidence []Evidence  `json:"evidence,omitempty"`
}

// Detached ends a life. The conversation stays bound.
type Detached struct {
	Agent  event.ID `json:"agent"`
	Life   event.ID `json:"life"`
	Reason string   `json:"reason,omitempty"`
}

// Renamed gives an agent another name and leaves a note at the old one.
type Renamed struct {
	Agent event.ID  `json:"agent"`
	From  name.Name `json:"from"`
	To    name.Name `json:"to"`
}

// RetiredAgent ends an agent for good and frees its name.
type RetiredAgent struct {
	Agent  event.ID  `json:"agent"`
	Name   name.Name `json:"name"`
	By     event.ID  `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}
