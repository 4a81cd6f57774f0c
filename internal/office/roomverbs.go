package office

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/room"
)

// Joining is how somebody comes.
type Joining struct {
	Name string // for display; "" keeps what is known
	// NewSeat asks for a seat of its own, for several members in one session.
	// The result holds its token, which every later call has to give.
	NewSeat bool
}

// RoomJoin lets the caller in, as the handle in s or its own. Who is there
// already stays, and nobody is told again. When it returns nil the member is
// present. Errors: denied for who is not invited and for a handle that is
// somebody else's; conflict for a second handle in one seat.
func (o *Office) RoomJoin(ctx context.Context, caller Caller, s Sitting, j Joining) (RoomResult, error) {
	token := ""
	if j.NewSeat && s.Seat == "" && !caller.Human {
		token = rand.Text()
		s.Seat = token
	}
	out, err := o.inRoom(ctx, caller, s, RoomJoined, func(by room.Caller) room.Command { return room.Join{By: by, Name: j.Name} })
	if err == nil {
		out.Seat = token
	}
	return out, err
}

// RoomLeave takes the caller out; it can come back.
func (o *Office) RoomLeave(ctx context.Context, caller Caller, s Sitting, reason string) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command { return room.Leave{By: by, Reason: reason} })
}

// RoomInvite adds a member that has not come yet, or says which agent may come
// as one. An agent of that name is the only one who may, unless another is
// named.
func (o *Office) RoomInvite(ctx context.Context, caller Caller, s Sitting, i Invitation) (RoomResult, error) {
	var invitee room.Invitee
	err := o.look(ctx, func(tx *Tx) (err error) {
		invitee, err = tx.invitee(i, false)
		return err
	})
	if err != nil {
		return RoomResult{}, err
	}
	out, err := o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command { return room.Invite{By: by, Invitee: invitee} })
	if err == nil {
		out.Notes = append(out.Notes, nonEmpty(secondSeat(&out.Room, invitee.Handle))...)
	}
	return out, err
}

// secondSeat says that who was invited is there under another handle; "" if not.
func secondSeat(v *RoomView, handle name.Name) string {
	for i := range v.Members {
		m := &v.Members[i]
		if m.Handle.Key() == handle.Key() || m.Presence != room.Present || m.Agent == "" {
			continue
		}
		if second := slices.ContainsFunc(v.Members, func(o RoomMember) bool {
			return o.Handle.Key() == handle.Key() && o.Agent == m.Agent && o.Presence != room.Present
		}); second {
			return fmt.Sprintf("%s is in the room as %s; as %s it comes in a new seat only", m.Agent, room.At(m.Handle), room.At(handle))
		}
	}
	return ""
}

// RoomPass gives up the caller's turn without a word.
func (o *Office) RoomPass(ctx context.Context, caller Caller, s Sitting) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command { return room.Pass{By: by} })
}

// RoomSkip takes the floor from its holder and gives it to the next, or to a
// member. Only the moderator, the opener and the human can.
func (o *Office) RoomSkip(ctx context.Context, caller Caller, s Sitting, to string) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command { return room.Skip{By: by, To: to} })
}

// RoomStart opens the barrier. Only the moderator, the opener and the human can.
func (o *Office) RoomStart(ctx context.Context, caller Caller, s Sitting) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command { return room.Start{By: by} })
}

// RoomClose ends a room for good, with a summary for those who come after.
func (o *Office) RoomClose(ctx context.Context, caller Caller, s Sitting, summary string) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomIsClosed, func(by room.Caller) room.Command { return room.Close{By: by, Summary: summary} })
}

// Motion is something to vote on.
type Motion struct {
	Text   string
	Quorum int           // votes that make a result; 0: more than half
	Time   time.Duration // until the deadline; 0: room.DefaultVoteTime
}

// RoomPropose puts something to the vote of who is there. The result's entry
// is the proposal.
func (o *Office) RoomPropose(ctx context.Context, caller Caller, s Sitting, m Motion) (RoomResult, error) {
	c, err := o.enter(ctx, caller, s)
	if err != nil {
		return RoomResult{}, err
	}
	if err := o.decide(ctx, caller, c, "", room.Propose{By: c.own, Text: m.Text, Quorum: m.Quorum, Time: m.Time}); err != nil {
		return RoomResult{}, err
	}
	return o.result(committed(ctx), c, RoomDone, room.KindProposed)
}

// RoomVote gives or changes the caller's vote; number 0 means the only open
// proposal.
func (o *Office) RoomVote(ctx context.Context, caller Caller, s Sitting, number int, choice string) (RoomResult, error) {
	return o.inRoom(ctx, caller, s, RoomDone, func(by room.Caller) room.Command {
		return room.Vote{By: by, Number: number, Choice: room.Choice(choice)}
	})
}

// Saying is a message to a room, or to some of it.
type Saying struct {
	Text     []byte   // at most room.MaxBody bytes, any bytes
	To       []string // whispers: handles, aliases or roles
	FromText bool     // whispers: without To, for those whom the text mentions
	// ClientID makes sending again harmless: with the id of a stored message of
	// the same member it gives that one, whoever has the floor by then; another
	// text under the same id is a conflict. "" for none.
	ClientID string
	Relay    bool // the human's words, posted by the moderator
}

// RoomSay stores a public message of the caller and passes the floor on. It is
// for whom its text mentions, and refused if that is nobody. When it returns
// nil the message is durable. A refusal stores no message; its detail is a
// room.NotYourTurn, room.NotStarted or room.Nobody where it has one.
func (o *Office) RoomSay(ctx context.Context, caller Caller, s Sitting, say Saying) (RoomResult, error) {
	if len(say.To) > 0 || say.FromText {
		return RoomResult{}, fault.New(fault.Invalid, "a public message is for those whom its text mentions").WithHint("to tell only some, whisper")
	}
	return o.post(ctx, caller, s, say, room.KindSaid)
}

// RoomWhisper stores a message that only those it is for, the caller and the
// human can know of. Like any message it needs the floor and passes it on.
func (o *Office) RoomWhisper(ctx context.Context, caller Caller, s Sitting, say Saying) (RoomResult, error) {
	if say.Relay {
		return RoomResult{}, fault.New(fault.Invalid, "a whisper of the human is not relayed").WithHint("the human whispers himself: bureau room whisper --as user")
	}
	return o.post(ctx, caller, s, say, room.KindWhispered)
}

func (o *Office) post(ctx context.Context, caller Caller, s Sitting, say Saying, kind event.Kind) (RoomResult, error) {
	c, err := o.enter(ctx, caller, s)
	if err != nil {
		return RoomResult{}, err
	}
	blob, err := o.roomText(say.Text)
	if err != nil {
		return RoomResult{}, err
	}
	text := string(say.Text)
	record, id := event.ID(""), event.NewID(o.now())
	if say.ClientID != "" {
		record = room.RecordID(&c.row.Room, c.own, say.ClientID, c.suspects)
		id = event.Derive("room message of", string(record))
	}
	said := room.Say{By: c.own, ID: id, Text: text, Blob: blob, Client: say.ClientID, Relay: say.Relay}
	whisper := room.Whisper{By: c.own, ID: id, To: say.To, Text: text, Blob: blob, FromText: say.FromText, Client: say.ClientID}
	cmd, fingerprint := room.Command(said), said.Print()
	if kind == room.KindWhispered {
		cmd, fingerprint = whisper, whisper.Print()
	}
	if err := o.decide(ctx, caller, c, record, cmd); err != nil {
		return RoomResult{}, err
	}
	if c.repeated {
		if err := sameSaid(c.rec, say.ClientID, fingerprint); err != nil {
			return RoomResult{}, err
		}
	}
	out, err := o.result(committed(ctx), c, RoomSent, kind)
	if err != nil || out.Entry == nil {
		return out, err
	}
	out.Repeated = c.repeated
	if kind == room.KindSaid {
		a := room.Addressees(&c.row.Room, out.Entry.From, text, func(id event.ID) string { return c.names[id] })
		out.Unknown = a.Unknown
		switch a.All {
		case room.NamesFirst:
			out.Notes = append(out.Notes, "@all beside names: "+atList(out.Entry.To[:out.Entry.Named])+" come first, then the others")
		case room.NamesOnly:
			out.Notes = append(out.Notes, "@all beside names counts for nothing here: the message is for "+atList(out.Entry.To))
		}
	}
	for _, h := range out.Entry.To {
		if m, found := c.row.Member(h); found && !m.Expected() {
			out.Absent = append(out.Absent, m.Handle)
		}
	}
	return out, o.noteRetired(ctx, &c.row.Room, &out)
}

// noteRetired says of those addressed who are not there which of them do not
// come any more. What is stored stays stored whatever comes of that.
func (o *Office) noteRetired(ctx context.Context, r *room.Room, out *RoomResult) error {
	if len(out.Absent) == 0 {
		return nil
	}
	return o.look(committed(ctx), func(tx *Tx) error {
		out.Retired = nil
		for _, h := range out.Absent {
			if m, found := r.Member(h); found && m.Agent != "" {
				a, found, err := o.tables.Agent(tx.t, m.Agent)
				if err != nil {
					return err
				}
				if found && a.Retired {
					out.Retired = append(out.Retired, m.Handle)
				}
			}
		}
		return nil
	})
}

// sameSaid refuses a message under the client id of another one. Its words are
// our own, because the rules' would tell the room's number of the stored one.
func sameSaid(rec event.Record, client, fingerprint string) error {
	for _, e := range rec.Events {
		var m room.Message
		if (e.Kind == room.KindSaid || e.Kind == room.KindWhispered) && e.Decode(&m) == nil {
			if room.SameRequest(m, fingerprint) == nil {
				return nil
			}
		}
	}
	return fault.New(fault.Conflict, "client message id %.48q was used for another message", client).
		WithHint("use a new id for a new message; nothing was sent")
}

// Invitation is a member to be.
type Invitation struct {
	Handle  string
	Name    string // for display
	Aliases []string
	Roles   []string // names that it shares with others
	Agent   string   // the agent who may come as this member; "": the one of that name, if there is one
}

// invitee looks up which agent an invitation is for. loose leaves a handle to
// whoever comes first, also where an agent bears that name.
func (tx *Tx) invitee(i Invitation, loose bool) (room.Invitee, error) {
	out := room.Invitee{Name: i.Name, Aliases: i.Aliases, Roles: i.Roles}
	h, err := room.Handle(i.Handle)
	if err != nil {
		return out, err
	}
	out.Handle = h
	switch {
	case h == room.User:
	case i.Agent != "":
		a, err := tx.recipient(strings.TrimPrefix(i.Agent, "@"))
		if err != nil {
			return out, err
		}
		out.Agent = a.ID
	case !loose:
		a, forwarded, found, err := tx.o.tables.Holder(tx.t, h.Key())
		if err != nil {
			return out, err
		}
		if found && !a.Retired {
			out.Agent = a.ID
		}
		// A name of before leads to who had it, as for mail: under the new one, and
		// the old one still means it here.
		if now, err := room.Handle(string(a.Name)); out.Agent != "" && forwarded && err == nil {
			out.Handle = now
			out.Aliases = append(slices.Clone(out.Aliases), string(h))
		}
	}
	return out, nil
}
