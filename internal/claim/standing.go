package claim

import (
	"time"

	"bureau/internal/event"
)

// Verdict is what is known of a holder's process.
type Verdict string

// The verdicts. Unknown is given where nothing can tell: for a process of
// another host domain, and for a holder who is no process.
const (
	Alive   Verdict = "alive"
	Gone    Verdict = "gone"
	Unknown Verdict = "unknown"
)

// Sign is what is known of a holder's life at the moment of a decision. It
// comes from the session's hooks and tool calls and from the process, never
// from what a model says.
type Sign struct {
	At      time.Time `json:"at,omitzero"` // newest turn, tool call or command; zero: none known here
	Process Verdict   `json:"process"`
	// Watched is how long the deciding machine has been awake and seen no
	// newer sign than At. It counts only where no verdict about the process
	// can be given.
	Watched time.Duration `json:"watched,omitempty"`
}

// Standing says how a claim's holder is.
type Standing string

// The standings.
const (
	Active  Standing = "active" // a turn within the lease
	Quiet   Standing = "quiet"  // it lives, but had no turn for longer
	Stale   Standing = "stale"  // it is gone, or showed no sign at all past the lease
	Unowned Standing = "running without a session"
	Parking Standing = "parked" // its session ended and may come back
)

// Judged is a claim with how its holder is.
type Judged struct {
	Standing Standing  `json:"standing"`
	Last     time.Time `json:"last"` // newest sign of life
	// Lapsed says that the lease is over and nothing speaks for the holder's
	// life any more: whoever claims gets it, unless a probe says busy.
	Lapsed bool `json:"lapsed,omitempty"`
	// LongQuiet says that a quiet holder may be overtaken.
	LongQuiet bool `json:"long_quiet,omitempty"`
}

// Judge says how a claim's holder is at a moment.
func Judge(c *Claim, s Sign, r Rules, now time.Time) Judged {
	j := Judged{Last: later(c.Renewed, s.At)}
	if !c.Parked.IsZero() && s.Process == Unknown {
		s.Process = Gone // its session said so when it ended
	}
	over := now.Sub(j.Last) >= c.TTL
	switch {
	case s.Process == Alive:
		j.Standing = Active
		if over {
			j.Standing = Quiet
			j.LongQuiet = now.Sub(j.Last) >= max(r.QuietAfter, c.TTL)
		}
		// What a guard claimed on the way lasts only as long as its short lease.
		j.Lapsed = over && c.Auto
	case s.Process == Unknown && !over:
		j.Standing = Active
	case s.Process == Unknown && s.Watched < 2*Heartbeat:
		// Nobody here was awake to miss its heartbeats.
		j.Standing = Quiet
	case c.Keep:
		j.Standing = Unowned
		j.Lapsed = now.Sub(j.Last) >= MaxKeep
	case !c.Parked.IsZero() && now.Before(c.Parked):
		j.Standing = Parking
		j.Lapsed = c.Auto
	default:
		j.Standing = Stale
		j.Lapsed = over || c.Auto || !c.Parked.IsZero()
	}
	return j
}

// later gives the later of two moments.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Probe is what a look at the claimed thing itself found.
type Probe struct {
	Verdict ProbeVerdict `json:"verdict"`
	Saw     string       `json:"saw"` // one line
	At      time.Time    `json:"at"`
}

// ProbeVerdict says whether a thing is in use.
type ProbeVerdict string

// The verdicts of probes.
const (
	ProbeFree    ProbeVerdict = "free"
	ProbeBusy    ProbeVerdict = "busy"
	ProbeUnknown ProbeVerdict = "unknown"
)

// Foreign is another program's lock on files of the project. It cannot be
// asked or taken over here, only respected.
type Foreign struct {
	Name string `json:"name"` // of the lock
	// Claim is set for a lock that a bureau wrote: the claim that it is of.
	// Where that is none of this office, another office of the machine, or of
	// another one, works in the same files.
	Claim  event.ID  `json:"claim,omitempty"`
	Holder string    `json:"holder"`
	Intent string    `json:"intent"`
	Paths  []Pattern `json:"paths"`
	// Times are since when each of the paths is locked, nil where that is Since.
	Times []time.Time `json:"times,omitempty"`
	// Tree is the work tree that the paths are meant in; "" for every one.
	Tree  string    `json:"tree,omitempty"`
	Since time.Time `json:"since"`
	Last  time.Time `json:"last,omitzero"` // newest heartbeat
	Stale bool      `json:"stale"`
}

// Evidence is what a decision may rely on that the journal does not know.
type Evidence struct {
	// Sign tells of a claim's holder's life; nil: nothing is known of anybody.
	Sign func(c *Claim) Sign
	// Waiting tells whether a place in the queue is still waited for.
	Waiting func(w *Wait) bool
	// Probes are the looks that were made, by claim.
	Probes map[event.ID]Probe
	// Untried says that nothing was looked at yet: whatever would be counts as
	// free, to learn what else is in the way and what to look at.
	Untried bool
	// Foreign are other programs' locks that stand.
	Foreign []Foreign
	// Others are the projects that have files in common with this one.
	Others []Other
	// Elsewhere gives the claims of all other projects in which an agent holds
	// something. Only where somebody waits are they asked for.
	Elsewhere func(agent event.ID) ([]View, error)
	// Project is this one's name, where whoever asks works in another.
	Project string
	// Name gives an agent's name for messages.
	Name func(event.ID) string
}

func (ev *Evidence) sign(c *Claim) Sign {
	if ev.Sign == nil {
		return Sign{Process: Unknown}
	}
	return ev.Sign(c)
}

func (ev *Evidence) waiting(w *Wait) bool { return ev.Waiting == nil || ev.Waiting(w) }

func (ev *Evidence) name(id event.ID) string {
	if ev.Name == nil {
		return string(id)
	}
	return ev.Name(id)
}

func (ev *Evidence) elsewhere(agent event.ID) ([]View, error) {
	if ev.Elsewhere == nil {
		return nil, nil
	}
	return ev.Elsewhere(agent)
}

func (ev *Evidence) probe(claim event.ID) *Probe {
	if p, ok := ev.Probes[claim]; ok {
		return &p
	}
	if ev.Untried {
		return &Probe{Verdict: ProbeFree}
	}
	return nil
}
