package room

import (
	"encoding/json"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
)

// The kinds of events of a room. Those whose data has a seq are the room's
// entries: what members read, in that order.
const (
	KindOpened    event.Kind = "room.opened"
	KindInvited   event.Kind = "room.invited"   // entry
	KindJoined    event.Kind = "room.joined"    // entry
	KindReturned  event.Kind = "room.returned"  // entry
	KindLeft      event.Kind = "room.left"      // entry
	KindGone      event.Kind = "room.gone"      // entry
	KindStarted   event.Kind = "room.started"   // entry: the barrier opened
	KindTurn      event.Kind = "room.turn"      // entry only when the floor became free
	KindLost      event.Kind = "room.lost"      // entry
	KindPassed    event.Kind = "room.passed"    // entry
	KindSkipped   event.Kind = "room.skipped"   // entry
	KindSaid      event.Kind = "room.said"      // entry
	KindWhispered event.Kind = "room.whispered" // entry, for its parties and the human
	KindProposed  event.Kind = "room.proposed"  // entry
	KindVoted     event.Kind = "room.voted"     // entry
	KindDecided   event.Kind = "room.decided"   // entry
	KindClosed    event.Kind = "room.closed"    // entry
)

// Invitee is a member to be.
type Invitee struct {
	Handle  name.Name `json:"handle"`
	Name    string    `json:"name,omitempty"`
	Aliases []string  `json:"aliases,omitempty"`
	Roles   []string  `json:"roles,omitempty"`
	Agent   event.ID  `json:"agent,omitempty"` // the only one who may come as this member; "": whoever comes first
}

// Opened begins a room.
type Opened struct {
	Room       event.ID        `json:"room"`
	Name       name.Name       `json:"name"`
	Topic      string          `json:"topic,omitempty"`
	Purpose    string          `json:"purpose,omitempty"`
	Opener     Opener          `json:"opener"`
	Moderator  name.Name       `json:"moderator,omitempty"`
	First      name.Name       `json:"first,omitempty"`
	Members    []Invitee       `json:"members,omitempty"`
	Settings   Settings        `json:"settings"`
	Links      []Link          `json:"links,omitempty"`
	Transcript json.RawMessage `json:"transcript,omitempty"`
	Loose      bool            `json:"loose,omitempty"` // handles are who one is, where no agent's name says it
}

// InvitedOne adds a member that is not there yet, or says anew which agent may
// come as one.
type InvitedOne struct {
	Seq int64 `json:"seq,omitempty"`
	Invitee
	By string `json:"by,omitempty"` // handle, or the name of one who is no member
}

// Arrival is a first coming or a return, and binds the member to who came.
type Arrival struct {
	Seq    int64     `json:"seq,omitempty"`
	Handle name.Name `json:"handle"`
	Name   string    `json:"name,omitempty"`
	Agent  event.ID  `json:"agent,omitempty"`
	Seat   string    `json:"seat,omitempty"`
	Human  bool      `json:"human,omitempty"`
	// Session is that of who came, "" if it has none; Loose says that nothing but
	// the handle says who this is. See [Member].
	Session event.ID `json:"session,omitempty"`
	Loose   bool     `json:"loose,omitempty"`
	// BarrierUntil is set by the first arrival before the barrier is open.
	BarrierUntil time.Time `json:"barrier_until,omitzero"`
}

// Departure is a leave, or the proof that a member's process ended.
type Departure struct {
	Seq    int64     `json:"seq,omitempty"`
	Handle name.Name `json:"handle"`
	Reason string    `json:"reason,omitempty"` // what the member said, or what proves it
}

// Began says that the barrier opened.
type Began struct {
	Seq     int64       `json:"seq,omitempty"`
	Why     string      `json:"why"` // count, declared, moderator or limit
	By      string      `json:"by,omitempty"`
	Missing []name.Name `json:"missing,omitempty"`
}

// Turn gives the floor to a member, or to nobody. To who has it already it says
// that the turn goes on and when it ends now.
type Turn struct {
	Seq    int64     `json:"seq,omitempty"` // only without a holder
	Holder name.Name `json:"holder,omitempty"`
	Why    string    `json:"why"` // first, queue, empty, hand or free; bound or loose
	Until  time.Time `json:"until,omitzero"`
}

// Yield says that somebody has the floor no more without having spoken.
type Yield struct {
	Seq    int64     `json:"seq,omitempty"`
	Handle name.Name `json:"handle"`
	Why    string    `json:"why"`          // limit, gone, left or away; pass; skip
	By     string    `json:"by,omitempty"` // who skipped
}

// Blob points to a text kept outside the journal by its content.
type Blob struct {
	Sum  string `json:"sha256"`
	Size int64  `json:"size"`           // bytes
	UTF8 bool   `json:"utf8"`           // whether the content is valid UTF-8
	Head string `json:"head,omitempty"` // the first characters, for listings
}

// Message is what somebody said, to all or to some.
type Message struct {
	Seq  int64       `json:"seq,omitempty"`
	ID   event.ID    `json:"id"`
	From name.Name   `json:"from"`
	To   []name.Name `json:"to"` // whom it addresses, in the order of the queue
	// Named is how many of To were named; the rest are those whom @all meant.
	Named   int       `json:"named"`
	All     AllRule   `json:"all,omitempty"` // what @all beside names meant
	Body    string    `json:"body,omitempty"`
	Blob    *Blob     `json:"blob,omitempty"`    // instead of Body
	Relayed name.Name `json:"relayed,omitempty"` // who posted the human's words
	Client  string    `json:"client,omitempty"`  // client message id
	Print   string    `json:"print,omitempty"`   // fingerprint of the request, for sending again
}

// Proposal puts something to the vote.
type Proposal struct {
	Seq    int64       `json:"seq,omitempty"`
	Number int         `json:"number"` // 1, 2, 3 … in the room
	By     name.Name   `json:"by"`
	Text   string      `json:"text"`
	Voters []name.Name `json:"voters"`
	Quorum int         `json:"quorum"` // votes of any kind that make a result
	Until  time.Time   `json:"until"`
}

// Choice is a vote.
type Choice string

// The choices.
const (
	Yes     Choice = "yes"
	No      Choice = "no"
	Abstain Choice = "abstain"
)

// Voted is one vote. A later one of the same member replaces it.
type Voted struct {
	Seq    int64     `json:"seq,omitempty"`
	Number int       `json:"number"`
	By     name.Name `json:"by"`
	Choice Choice    `json:"choice"`
}

// Outcome is how a vote ended.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted" // quorum, and more yes than no
	Rejected Outcome = "rejected" // quorum, and not more yes than no
	NoQuorum Outcome = "no_quorum"
	Dropped  Outcome = "dropped" // the room was closed before
)

// Decided is the result of a vote.
type Decided struct {
	Seq     int64       `json:"seq,omitempty"`
	Number  int         `json:"number"`
	Outcome Outcome     `json:"outcome"`
	Yes     int         `json:"yes"`
	No      int         `json:"no"`
	Abstain int         `json:"abstain"`
	Quorum  int         `json:"quorum"`
	Why     string      `json:"why"`               // votes, deadline or closed
	Missing []name.Name `json:"missing,omitempty"` // who did not vote
}

// ClosedBy ends a room for good.
type ClosedBy struct {
	Seq     int64  `json:"seq,omitempty"`
	By      string `json:"by,omitempty"`
	Summary string `json:"summary,omitempty"`
	Forced  bool   `json:"forced,omitempty"`
}

// Ballot is a vote that is still open.
type Ballot struct {
	Number int         `json:"number"`
	By     name.Name   `json:"by"`
	Voters []name.Name `json:"voters"`
	Votes  []Cast      `json:"votes,omitempty"`
	Quorum int         `json:"quorum"`
	Until  time.Time   `json:"until"`
}

// Cast is one vote in a ballot.
type Cast struct {
	By     name.Name `json:"by"`
	Choice Choice    `json:"choice"`
}
