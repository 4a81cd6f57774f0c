// Package room holds the rules of meetings: who takes part, who has the floor
// and who is next, who is addressed, what is private, how a decision is taken.
//
// The package is pure. A command is decided against the state of one room
// ([Decide]) and gives events or a refusal; [Room.Apply] is what an event does
// to the state. Time, ids and evidence that a process died come in from
// outside. The state is bounded by the number of members; texts stand in the
// events alone.
//
// # The floor
//
// Whoever is mentioned gets a point and, with the first one, a place in the
// queue. When the holder has spoken, the floor goes to the next in the queue
// who is there. In a strict room only the holder speaks; in an open one
// everybody does: an interjection uses up a turn of who makes it, gives points
// to whom it names, and leaves the floor where it is. When nobody is left in
// the queue, the moderator has the floor; without one it is free, and whoever
// speaks first has it.
//
// A turn that was used (a message, a whisper, a pass, a skip by the moderator)
// costs one point under [FIFO] and all points under [Score]. A turn that was
// lost (its holder died, left or was silent for too long) costs nothing; the
// loser goes to the tail. The human's turn has no limit, unless he is not there
// and nobody who is can hand it on; then it is lost like any other, and he is not
// asked again before he comes. Who passed, was skipped or was too slow is not asked
// again before somebody has spoken, so an abandoned room comes to rest.
//
// # Promises, each a property test
//
// At most one holds the floor, and it is never one who is known to be gone.
// While somebody waits with a point, at most as many turns as there are members
// go to others ([FIFO]; twice as many under [Score]); who let a turn go by waits
// anew from the next message on. A whisper is visible to
// its parties and the human only. The numbers of a room's entries run 1, 2, 3 …
// without gap or repeat.
package room

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Limits of a room.
const (
	MaxMembers   = 64       // members, the human included
	MaxAliases   = 16       // aliases of a member, and again roles
	MaxBody      = 1 << 20  // bytes of a message
	MaxTopic     = 500      // characters of the topic
	MaxPurpose   = 4000     // characters of the purpose
	MaxLabel     = 100      // characters of a display name
	MaxSummary   = 64 << 10 // bytes of the closing summary
	MaxOption    = 4 << 10  // bytes of the transcript options
	MaxLinks     = 16       // threads, tasks and handoffs that a room is tied to
	MaxProposals = 16       // open at once
	MaxProposal  = 4000     // characters of a proposal
	MaxClientID  = 200      // bytes of a client message id
)

// User is the handle of the human.
const User name.Name = "user"

// Status is what a room can still take.
type Status string

// The states of a room.
const (
	Open   Status = "open"
	Closed Status = "closed" // for good; a room of the same name is a new one
)

// Presence is whether a member is there.
type Presence string

// The states of a member.
const (
	Invited Presence = "invited" // was never there
	Present Presence = "present"
	Left    Presence = "left" // said so
	Gone    Presence = "gone" // its process ended
)

// Member is one who takes part, or may.
type Member struct {
	Handle  name.Name `json:"handle"`
	Name    string    `json:"name,omitempty"`    // for display; "" for the handle
	Aliases []string  `json:"aliases,omitempty"` // its own further handles
	Roles   []string  `json:"roles,omitempty"`   // names that it may share with others
	// Agent and Seat say who may act as this member; see [Caller]. Agent is
	// empty for an invited one that anybody may come as, and for the human.
	Agent event.ID `json:"agent,omitempty"`
	Seat  string   `json:"seat,omitempty"`
	// Session is that which came as the member, or came back as it last: the
	// member is there as long as that one is, whoever else is the agent by then.
	// Empty where it is not known; then the agent's own counts.
	Session event.ID `json:"session,omitempty"`
	// Loose: nothing but the handle says who this is, because its agent is only
	// the seat that a session without a name happened to get. Once it is gone,
	// whoever asks for the handle in the same way comes as it, in whatever seat.
	Loose    bool      `json:"loose,omitempty"`
	Human    bool      `json:"human,omitempty"`
	Declared bool      `json:"declared,omitempty"` // named on opening or invited
	Presence Presence  `json:"presence"`
	Joined   time.Time `json:"joined,omitzero"`   // first arrival
	Returned time.Time `json:"returned,omitzero"` // last return
	LastTurn time.Time `json:"last_turn,omitzero"`

	Points int   `json:"points,omitempty"`
	Place  int64 `json:"place,omitempty"`  // in the queue: lower came first; 0 without points
	Passed int   `json:"passed,omitempty"` // turns that went to others while it was there and waited
	Tail   bool  `json:"tail,omitempty"`   // lost the floor: its points count as one in the queue
	Silent bool  `json:"silent,omitempty"` // had the floor and said nothing; not asked before somebody speaks
	Away   bool  `json:"away,omitempty"`   // the human, who had the floor in vain: not asked again before he comes
}

// Here reports whether the member is there.
func (m *Member) Here() bool { return m.Presence == Present }

// Reachable reports whether a message can be for this member alone: it is
// there, or it is the human, who is told wherever he is.
func (m *Member) Reachable() bool { return m.Human || m.Here() }

// Expected reports whether the floor and a vote may wait for the member: it is
// there, or it is the human, whom a question finds wherever he is until he says
// that he goes.
func (m *Member) Expected() bool { return m.Here() || m.Human && m.Presence != Left }

// waits reports whether the member is owed a turn and can take it.
func (m *Member) waits() bool { return m.Points > 0 && m.Expected() && !m.Away }

// Opener is who opened a room. It keeps the moderator's powers, member or not.
type Opener struct {
	Agent event.ID `json:"agent,omitempty"`
	Seat  string   `json:"seat,omitempty"`
	Human bool     `json:"human,omitempty"`
	Name  string   `json:"name,omitempty"` // for people
}

// Link ties a room to something else in the office.
type Link struct {
	Kind string `json:"kind"` // thread, task or handoff
	ID   string `json:"id"`
}

// Room is the bounded state of one room.
type Room struct {
	ID         event.ID        `json:"id"`
	Name       name.Name       `json:"name"`
	Topic      string          `json:"topic,omitempty"`
	Purpose    string          `json:"purpose,omitempty"`
	Opener     Opener          `json:"opener"`
	Opened     time.Time       `json:"opened,omitzero"`
	Moderator  name.Name       `json:"moderator,omitempty"`
	First      name.Name       `json:"first,omitempty"` // who begins, if named
	Status     Status          `json:"status"`
	Settings   Settings        `json:"settings"`
	Links      []Link          `json:"links,omitempty"`
	Transcript json.RawMessage `json:"transcript,omitempty"` // options of the transcript, kept as given
	Loose      bool            `json:"loose,omitempty"`      // see [OpenRoom]
	Members    []Member        `json:"members,omitempty"`    // as declared, then as they came

	Seq   int64 `json:"seq"`   // number of the last entry
	Posts int64 `json:"posts"` // messages and whispers
	Place int64 `json:"place"` // last place given in the queue

	Started      bool      `json:"started,omitempty"`      // the barrier is open
	BarrierUntil time.Time `json:"barrier_until,omitzero"` // when it opens by itself
	Holder       name.Name `json:"holder,omitempty"`       // who has the floor
	Since        time.Time `json:"since,omitzero"`         // since when
	Until        time.Time `json:"until,omitzero"`         // when the holder loses it; zero: never
	Free         bool      `json:"free,omitempty"`         // everybody was told that nobody has it
	Proposed     int       `json:"proposed,omitempty"`     // proposals ever made
	Proposals    []Ballot  `json:"proposals,omitempty"`    // those still open
	Last         time.Time `json:"last,omitzero"`          // of the last event
	// Unknown is a kind that this version does not know; commands are then
	// refused, because a newer bureau may have decided something.
	Unknown event.Kind `json:"unknown,omitempty"`
}

// Exists reports whether the room was ever opened.
func (r *Room) Exists() bool { return r.ID != "" }

// Handle gives the canonical form of a handle: white space and one "@" before
// it dropped, then as names are. The reserved words are refused, but for user.
func Handle(s string) (name.Name, error) {
	bare := strings.TrimSpace(s)
	if cut, ok := strings.CutPrefix(bare, "@"); ok {
		bare = cut
	} else {
		bare = strings.TrimPrefix(bare, "＠")
	}
	if n, err := name.ParseAny(bare); err == nil && n.Key() == User.Key() {
		return User, nil
	}
	n, err := name.Parse(bare)
	if err != nil {
		return "", err
	}
	return n, nil
}

// At writes a handle as people do: @name.
func At(h name.Name) string { return "@" + string(h) }

func ats(hs []name.Name) string {
	words := make([]string, len(hs))
	for i, h := range hs {
		words[i] = At(h)
	}
	return strings.Join(words, ", ")
}

// Member finds a member by its handle.
func (r *Room) Member(h name.Name) (Member, bool) {
	if m := r.member(h); m != nil {
		return *m, true
	}
	return Member{}, false
}

func (r *Room) member(h name.Name) *Member {
	if i := r.index(h); i >= 0 {
		return &r.Members[i]
	}
	return nil
}

func (r *Room) index(h name.Name) int {
	if h == "" {
		return -1
	}
	for i := range r.Members {
		if r.Members[i].Handle == h {
			return i
		}
	}
	key := h.Key()
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Handle.Key() == key })
}

// human gives the human, if he takes part.
func (r *Room) human() *Member { return r.member(User) }

// called finds those that a word means: the member with that handle or alias,
// or all that bear it as a role.
func (r *Room) called(word string) []name.Name {
	key := name.Fold(strings.TrimPrefix(strings.TrimSpace(word), "@"))
	if key == "" {
		return nil
	}
	var group []name.Name
	for i := range r.Members {
		m := &r.Members[i]
		if m.Handle.Key() == key || has(m.Aliases, key) {
			return []name.Name{m.Handle}
		}
		if has(m.Roles, key) {
			group = append(group, m.Handle)
		}
	}
	return group
}

func has(words []string, key name.Key) bool {
	return slices.ContainsFunc(words, func(w string) bool { return name.Fold(w) == key })
}

// clone copies what events change; strings and lists inside a member are
// replaced as a whole, never changed.
func (r *Room) clone() *Room {
	c := *r
	c.Members = slices.Clone(r.Members)
	c.Proposals = slices.Clone(r.Proposals)
	for i := range c.Proposals {
		c.Proposals[i].Votes = slices.Clone(c.Proposals[i].Votes)
	}
	return &c
}

// Caller is who gives a command, as the office established it. A member is
// bound to a caller when it joins: to the agent and, where several members sit
// in one session, to a seat (the client's own id of a subagent, or the hash of
// a token that was handed out). Both must be the same later on.
type Caller struct {
	Agent event.ID
	Seat  string // "" for the session itself
	Human bool
	// Token says that Seat is that of a token which a join handed out: where it is
	// no member's, it is wrong, and a stranger is not what is meant.
	Token bool
	// Session is that from which it acts, Past are those that this one goes on
	// from (its conversation was cleared, for one), which it is too. "" and none
	// for who acts from no session.
	Session event.ID
	Past    []event.ID
	// Loose says that it has no name and no secret by which it could be known
	// again. It needs a Session.
	Loose bool
	As    string // the handle that it wants to act as; "" for its own
	Name  string // what people call it; for the notices of one who is no member
}

func (m *Member) is(c Caller) bool {
	if m.Human || c.Human {
		return m.Human && c.Human
	}
	if m.Agent == "" || m.Agent != c.Agent || m.Seat != c.Seat {
		return false
	}
	return !m.Loose || m.Session == c.Session || slices.Contains(c.Past, m.Session)
}

// from reports whether a caller who is the member acts from the session in which
// the member is there.
func (m *Member) from(c Caller) bool {
	return m.Human || m.Session == "" || c.Session == "" || m.Session == c.Session || slices.Contains(c.Past, m.Session)
}

// Attends reports whether a caller is a member who is there, in the session from
// which it calls. One who is not becomes so by acting, or by [Attend].
func Attends(r *Room, c Caller) bool {
	own, found := r.Own(c)
	return found && own.Here() && own.from(c)
}

// ByHandle gives the handle that alone says who a caller is in the room: its
// own, or one that it can come as because that member is gone. gone are those
// whose end is known and not noted yet.
func (r *Room) ByHandle(c Caller, gone []name.Name) (name.Name, bool) {
	own, found := r.Own(c)
	if found {
		return own.Handle, own.Loose
	}
	h, err := Handle(c.As)
	if err != nil {
		return "", false
	}
	m := r.member(h)
	if m == nil || !r.Vacant(m, c, slices.Contains(gone, m.Handle)) {
		return "", false
	}
	return m.Handle, true
}

// Vacant reports whether a member is nobody's by now, so that a caller may come as
// it: both are known by the handle alone, and its session has ended.
func (r *Room) Vacant(m *Member, c Caller, ended bool) bool {
	return r.Loose && m.Loose && c.Loose && (ended || m.Presence == Gone)
}

// Own gives the member that a caller is, whatever it says to be. An agent that
// was given further seats, by invitation, is the one as which it is there; if it
// is nowhere, the one that it says, else one as which it was there before.
func (r *Room) Own(c Caller) (Member, bool) {
	var own *Member
	best := 0
	said, _ := Handle(c.As)
	for i := range r.Members {
		m := &r.Members[i]
		if !m.is(c) {
			continue
		}
		rank := 1
		switch {
		case m.Here():
			rank = 4
		case same(said, m.Handle):
			rank = 3
		case m.Presence != Invited:
			rank = 2
		}
		if rank > best {
			own, best = m, rank
		}
	}
	if own == nil {
		return Member{}, false
	}
	return *own, true
}

// missing is the refusal for a room that is not there.
func missing() error {
	return fault.New(fault.NotFound, "no such room").WithHint("bureau room list shows them; bureau room open NAME opens one")
}
