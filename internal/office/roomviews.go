package office

import (
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/room"
)

// The types here are what every face shows of rooms.
//
// Numbers of entries (seq, counts, cursors) are those of the one who looks: the
// entries that it may see are numbered 1, 2, 3 … without gap, so that they say
// nothing of whispers between others. For the human they are the room's own.
// Everybody sees what it sees in the same order.

// Sitting says in which room somebody acts and as which member.
type Sitting struct {
	Room string // name, id or part of the id
	As   string // the handle; "" for the caller's own
	// Seat is what tells members in one session apart: the token that RoomJoin
	// gave, or any text of the face's own that only this member's calls carry.
	// "" for the session itself. Only its hash is kept.
	Seat string
	// Token says that Seat is such a token, so that one which is no member's is
	// refused as wrong.
	Token bool
	// ByHandle says that Seat is no secret: the handle alone tells the member, as
	// it does without a seat. See room.Member.Loose.
	ByHandle bool
	// Receipt is what a result before carried; it proves that that one arrived.
	Receipt string
	// Hooked says that hooks of the client see what arrives, so that a further
	// call alone proves nothing: other calls of one round run beside it.
	Hooked bool
}

// RoomMember is one who takes part, or may.
type RoomMember struct {
	Handle   name.Name     `json:"handle"`
	Name     string        `json:"name"` // for display
	Aliases  []string      `json:"aliases"`
	Roles    []string      `json:"roles,omitempty"`
	Agent    string        `json:"agent,omitempty"` // name of the agent that is bound
	Human    bool          `json:"human,omitempty"`
	Presence room.Presence `json:"presence"`
	Free     bool          `json:"free,omitempty"` // it is gone, and the viewer may come as it
	Joined   *time.Time    `json:"joined,omitempty"`
	Returned *time.Time    `json:"returned,omitempty"`
	Read     int64         `json:"read"` // up to which of the viewer's numbers it has read
	You      bool          `json:"you,omitempty"`
	Waiting  bool          `json:"waiting,omitempty"` // a process of it holds a call on this machine
}

// RoomView is a room as somebody sees it.
type RoomView struct {
	ID        event.ID      `json:"id"`
	Short     string        `json:"short"`
	Name      name.Name     `json:"name"`
	Topic     string        `json:"topic"`
	Purpose   string        `json:"purpose,omitempty"`
	Status    room.Status   `json:"status"`
	Opened    time.Time     `json:"opened"`
	Opener    string        `json:"opener"`
	Moderator name.Name     `json:"moderator,omitempty"`
	First     name.Name     `json:"first,omitempty"`
	Settings  room.Settings `json:"settings"`
	Links     []room.Link   `json:"links,omitempty"`
	Members   []RoomMember  `json:"members"`
	Present   []name.Name   `json:"present"`

	Started      bool        `json:"started"`
	Missing      []name.Name `json:"missing,omitempty"` // whom the barrier waits for
	More         int         `json:"more,omitempty"`    // how many have to come
	BarrierUntil *time.Time  `json:"barrier_until,omitempty"`

	Holder name.Name   `json:"holder,omitempty"` // who has the floor
	Since  *time.Time  `json:"since,omitempty"`
	Until  *time.Time  `json:"until,omitempty"` // when the holder loses it
	Queue  []name.Name `json:"queue"`

	Entries   int64        `json:"entries"`  // that the viewer may see; the number of the last one
	Messages  int64        `json:"messages"` // of them, what members said
	Proposals []RoomBallot `json:"proposals,omitempty"`

	// Of the viewer, if it is a member.
	You       name.Name `json:"you,omitempty"`
	YourTurn  bool      `json:"your_turn,omitempty"`
	MaySpeak  bool      `json:"may_speak,omitempty"`
	Read      int64     `json:"read,omitempty"` // its cursor
	Unread    int64     `json:"unread"`
	Addressed bool      `json:"addressed,omitempty"`
	Undecided []int     `json:"undecided,omitempty"` // proposals that it has still to vote on

	// Transcript is the path of the live file; "" for none, and for everybody
	// but the human while the file shows whispers.
	Transcript string `json:"transcript,omitempty"`
}

// RoomBallot is an open vote.
type RoomBallot struct {
	Number int         `json:"number"`
	By     name.Name   `json:"by"`
	Text   string      `json:"text,omitempty"`
	Voters []name.Name `json:"voters"`
	Votes  []room.Cast `json:"votes"`
	Quorum int         `json:"quorum"`
	Until  time.Time   `json:"until"`
}

// RoomEntry is one entry of a room: a message or a notice.
type RoomEntry struct {
	Seq     int64        `json:"seq"`
	Kind    event.Kind   `json:"kind"`
	Time    time.Time    `json:"time"`
	ID      event.ID     `json:"id,omitempty"` // of a message
	From    name.Name    `json:"from,omitempty"`
	To      []name.Name  `json:"to"`
	Named   int          `json:"named,omitempty"` // how many of To were named; the rest @all meant
	All     room.AllRule `json:"all,omitempty"`
	Private bool         `json:"private,omitempty"`
	Relayed name.Name    `json:"relayed_by,omitempty"` // who posted the human's words
	Client  string       `json:"client_msg_id,omitempty"`
	// Text is the body of a message, or what happened in words.
	Text  string `json:"text"`
	Cut   bool   `json:"cut,omitempty"`   // Text ends before the text does
	Raw   bool   `json:"raw,omitempty"`   // the body is not valid UTF-8; RoomBody gives its bytes
	Bytes int64  `json:"bytes,omitempty"` // of the whole body
	// Offset is where Text begins in a text that is given in parts, in bytes of
	// it as it is shown.
	Offset int64  `json:"offset,omitempty"`
	Lost   string `json:"lost,omitempty"` // why there is no more than the beginning
	// Message is set for what a member said, as opposed to a notice.
	Message   bool `json:"message,omitempty"`
	Addressed bool `json:"addressed,omitempty"` // it is meant for the viewer

	// Detail is the event's data for notices: room.Arrival, room.Departure,
	// room.Began, room.Yield, room.Proposal, room.Voted, room.Decided,
	// room.ClosedBy, room.InvitedOne, without the room's own number.
	Detail any `json:"detail,omitempty"`
}

// Slice is unread entries, put before a member.
type Slice struct {
	Entries []RoomEntry `json:"entries"`
	More    bool        `json:"more"` // further unread ones wait
	// Receipt proves, in a later call, that this result arrived; "" without
	// entries.
	Receipt string `json:"receipt,omitempty"`
}

// The statuses of results.
const (
	RoomYourTurn    = "your_turn"
	RoomReceived    = "message_received"
	RoomJoined      = "joined"
	RoomSent        = "sent"
	RoomTimeout     = "timeout"
	RoomNotYourTurn = "not_your_turn"
	RoomIsClosed    = "closed"
	RoomDone        = "done"
)

// RoomResult is what came of a verb.
type RoomResult struct {
	Status   string     `json:"status"`
	Room     RoomView   `json:"room"`
	Entry    *RoomEntry `json:"entry,omitempty"`    // the message or the proposal that was stored
	Repeated bool       `json:"repeated,omitempty"` // it was stored before with this client id
	// Absent are those addressed who are not there, Retired those of them whose
	// agents are retired and do not come; Unknown are words that look like a
	// mention of nobody.
	Absent  []name.Name `json:"absent,omitempty"`
	Retired []name.Name `json:"retired,omitempty"`
	Unknown []string    `json:"unknown,omitempty"`
	Seat    string      `json:"seat,omitempty"` // the token of a new seat; RoomJoin only
	Kept    string      `json:"kept,omitempty"` // where the transcript of a closed namesake is now
	Notes   []string    `json:"notes,omitempty"`
}

// Waited is how a wait ended.
type Waited struct {
	Status string   `json:"status"` // RoomYourTurn, RoomReceived, RoomTimeout or RoomIsClosed
	Room   RoomView `json:"room"`
	Slice
	Notes []string `json:"notes,omitempty"`
}

// RoomCall is a room that wants something of an agent.
type RoomCall struct {
	Room   event.ID  `json:"room"`
	Short  string    `json:"short"`
	Name   name.Name `json:"name"`
	Topic  string    `json:"topic"`
	Handle name.Name `json:"handle"` // as whom
	Why    []string  `json:"why"`    // your_turn, addressed, vote, invited
	From   name.Name `json:"from"`   // who addressed it last; "" for nobody
	// Relayed is who passed that on as the human's words, if not he himself.
	Relayed name.Name `json:"relayed_by,omitempty"`
	// AsksUser: that is for @user, and the member is told as the moderator.
	// MayRelay: it may post the human's words then.
	AsksUser bool  `json:"asks_user,omitempty"`
	MayRelay bool  `json:"may_relay,omitempty"`
	Unread   int64 `json:"unread"`
	// Attended: a process of this machine holds a call for the member, or what
	// is unread is under an offer that is still to be proved.
	Attended bool `json:"attended"`
	Here     bool `json:"here"` // the member has come and is not noted as gone

	// Yours is set by RoomNews for a member in the caller's own seat: what it has
	// not read may be put before the caller.
	Yours bool `json:"-"`
	// Fresh says that it was not told of its newest reason yet, as far as what it
	// was given shows.
	Fresh bool `json:"-"`

	seat     string
	position event.Seq
	newest   event.ID
	causes   []presence.Cause
}

// Position is where the newest of its reasons stands in the journal.
func (c *RoomCall) Position() event.Seq { return c.position }
