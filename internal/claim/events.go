package claim

import (
	"time"

	"bureau/internal/event"
)

// The kinds of events in a project's claims subject.
const (
	KindGranted   event.Kind = "claim.granted"
	KindRenewed   event.Kind = "claim.renewed"
	KindChanged   event.Kind = "claim.changed"
	KindMoved     event.Kind = "claim.moved"
	KindParked    event.Kind = "claim.parked"
	KindResumed   event.Kind = "claim.resumed"
	KindEnded     event.Kind = "claim.ended"
	KindWaiting   event.Kind = "claim.waiting"
	KindWaitEnded event.Kind = "claim.wait_ended"
	KindRules     event.Kind = "claim.rules"
)

// GrantedClaim begins a claim. Its token is the record's position, its times
// are the record's. Wait names the place in the queue that it came from.
type GrantedClaim struct {
	Claim
	Wait event.ID `json:"wait,omitempty"`
}

// RenewedClaim is a sign of life that its holder gave on purpose.
type RenewedClaim struct {
	Claim event.ID      `json:"claim"`
	TTL   time.Duration `json:"ttl,omitempty"` // a new lease; 0 keeps the old
}

// ChangedClaim narrows, widens or renames a claim. The token stays.
type ChangedClaim struct {
	Claim  event.ID      `json:"claim"`
	Want   Want          `json:"want"`
	Intent string        `json:"intent"`
	Task   string        `json:"task,omitempty"`
	Files  []string      `json:"files,omitempty"`
	TTL    time.Duration `json:"ttl"`
	Keep   bool          `json:"keep,omitempty"`
	Auto   bool          `json:"auto,omitempty"`
	// Relocated says that the project was moved, and only the work tree's path is
	// another: that is no sign of the holder's life.
	Relocated bool `json:"relocated,omitempty"`
}

// MovedClaim gives a claim to another holder, with a new token.
type MovedClaim struct {
	Claim event.ID `json:"claim"`
	From  event.ID `json:"from"`
	To    event.ID `json:"to"`
	For   event.ID `json:"for,omitempty"`
	// Conversation of the new holder.
	Conversation string `json:"conversation,omitempty"`
	Why          string `json:"why,omitempty"` // transfer or adopted, and the words that came with it
	Probe        *Probe `json:"probe,omitempty"`
}

// Why a claim has another holder, where nobody wrote a word about it.
const (
	transferred = "transfer"
	adopted     = "adopted"
)

// Words gives what was written about it, "" for nothing.
func (m *MovedClaim) Words() string {
	if m.Why == transferred || m.Why == adopted {
		return ""
	}
	return m.Why
}

// ParkedClaims keeps claims for a session that ended to come back.
type ParkedClaims struct {
	Claims []event.ID `json:"claims"`
	Until  time.Time  `json:"until"`
}

// ResumedClaims are held by a session that came back.
type ResumedClaims struct {
	Claims []event.ID `json:"claims"`
}

// EndedClaim ends a claim. What the decision relied on stands in it.
type EndedClaim struct {
	Claim   event.ID `json:"claim"`
	Holder  event.ID `json:"holder"`
	How     How      `json:"how"`
	By      event.ID `json:"by,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Sign    *Sign    `json:"sign,omitempty"`
	Probe   *Probe   `json:"probe,omitempty"`
}

// WaitingFor takes a place in the queue.
type WaitingFor struct {
	Wait
}

// WaitEnded gives a place up.
type WaitEnded struct {
	Wait event.ID `json:"wait"`
	How  string   `json:"how"` // gave up, lapsed
}

// RulesSet changes a project's settings.
type RulesSet struct {
	Rules Rules `json:"rules"`
}
