package roster

import (
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Tier says how much a colleague may do when it is started. The words are
// those of Escritório's roster file.
type Tier string

// The tiers, the strictest first; without a word it is Advisor.
const (
	Advisor  Tier = "advisor"  // reads and advises
	Editor   Tier = "editor"   // changes files where it works
	Worktree Tier = "worktree" // changes files in a work tree of its own
)

// Tiers lists the tiers, the strictest first.
func Tiers() []Tier { return []Tier{Advisor, Editor, Worktree} }

// ParseTier reads a tier; "" is Advisor.
func ParseTier(s string) (Tier, bool) {
	if s == "" {
		return Advisor, true
	}
	return Tier(s), slices.Contains(Tiers(), Tier(s))
}

// Profile is what a roster file says of a colleague. Paths are absolute.
type Profile struct {
	Name      name.Name
	Brief     string // what to turn to it for, in one line
	Tier      Tier
	AgentFile string // its persona in Markdown; "" for none
	Notebook  string // where what it learned is kept; "" for none
	Folder    string // where it works; "" for none
	Model     string // of its client; "" for the client's own choice
	File      string // the roster file that names it
	Line      int    // and the line there
}

// Staff is what the roster files say: the colleagues in the order of the
// files, each name once, and what is wrong with the files.
type Staff struct {
	Colleagues []Profile
	Problems   []error // each names file, line, value and the next step
}

// Find gives the colleague of a name.
func (s Staff) Find(key name.Key) (Profile, bool) {
	for _, p := range s.Colleagues {
		if p.Name.Key() == key {
			return p, true
		}
	}
	return Profile{}, false
}

// Employ makes the seat of a colleague, so that mail can wait for it. Nobody
// sits there until a session declares the name, or a person registers it.
type Employ struct {
	ID   event.ID // for the agent, if it is new
	Name name.Name
}

// Decide gives whoever has the name already, or a new agent.
func (c Employ) Decide(v View, now time.Time) (Decision, error) {
	if name.Reserved(c.Name.Key()) {
		return Decision{}, fault.New(fault.Invalid, "the name %q is reserved", c.Name).WithHint("choose another name")
	}
	held, _, found, err := v.Holder(c.Name.Key())
	if err != nil || found {
		return Decision{Agent: held}, err
	}
	a := Agent{ID: c.ID, Name: c.Name, Kind: Colleague, Seat: c.Name.Key(), Created: now}
	d := Decision{Agent: a, New: true}
	d.add(KindRegistered, Registered{Agent: a.ID, Name: a.Name, Kind: a.Kind, Seat: a.Seat})
	return d, nil
}
