package office

import (
	"context"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// Why a room wants something of a member.
const (
	CallTurn      = "your_turn"
	CallAddressed = "addressed"
	CallVote      = "vote"
	CallInvited   = "invited"
	CallClosed    = "closed" // RoomNews only
)

// RoomsFor lists the open rooms that want something of an agent: where it is
// its turn, where something unread addresses it, where it has a vote to give,
// where it is invited and has not come. For the human's agent: where @user is
// meant.
func (o *Office) RoomsFor(ctx context.Context, agent event.ID) ([]RoomCall, error) {
	return o.roomCalls(ctx, agent, 0, func(x *presence.RoomOffer, now time.Time) (has, busy bool) { return false, x.Leased(now) })
}

// RoomNews is RoomsFor for an event of the caller's session, whose hook can tell
// it. What was given to the same conversation before is left out, unless it is to
// be given again; what somebody else is about to prove makes a room attended.
// Rooms that were closed lately are among them for those who have not read it,
// but not at the end of a turn: nothing is left to do there.
func (o *Office) RoomNews(ctx context.Context, caller Caller, again presence.Again) ([]RoomCall, error) {
	key, closed := caller.selfOr(), closedLately
	if again == presence.Lost {
		closed = 0
	}
	list, err := o.roomCalls(ctx, caller.Agent.ID, closed, func(x *presence.RoomOffer, now time.Time) (has, busy bool) {
		switch {
		case x.Key != key || x.Stage == presence.Reserved:
			return false, x.Leased(now)
		case x.Free(key, again, now):
			return false, false
		}
		return true, false
	})
	for i := range list {
		list[i].Yours = list[i].seat == caller.Sub
	}
	return list, err
}

// closedLately bounds how many closed rooms a session is told of.
const closedLately = 4

// roomCalls lists what rooms want of an agent, and so many closed ones if it has
// not read all that it must know of them. offered says of what was put
// before it and is not proved whether the one who asks has it, or somebody else.
func (o *Office) roomCalls(ctx context.Context, agent event.ID, closed int, offered func(*presence.RoomOffer, time.Time) (has, busy bool)) ([]RoomCall, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	offers, err := live.RoomOffers(ctx, agent, "", "")
	if err != nil {
		return nil, err
	}
	var out []RoomCall
	err = o.look(ctx, func(tx *Tx) error {
		out = nil
		a, found, err := o.tables.Agent(tx.t, agent)
		if err != nil || !found {
			return err
		}
		seats, err := o.tables.RoomSeats(tx.t, seatAgent(a))
		if err != nil {
			return err
		}
		if closed > 0 {
			more, err := o.tables.RoomSeatsClosed(tx.t, seatAgent(a), closed)
			if err != nil {
				return err
			}
			seats = append(seats, more...)
		}
		for _, s := range seats {
			var has int64
			busy := false
			for i := range offers {
				if x := &offers[i]; x.Room == string(s.Room) && x.Handle == string(s.Handle) {
					given, leased := offered(x, tx.now)
					if given {
						has = max(has, x.Upto)
					}
					busy = busy || leased
				}
			}
			call, err := tx.roomCall(&a, s, has)
			if err != nil {
				return err
			}
			if call != nil {
				call.Attended = busy
				out = append(out, *call)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Attended = out[i].Attended || o.heldIn(ctx, out[i].Room)[out[i].Handle.Key()]
	}
	return out, nil
}

// roomCall says what a room wants of an agent in a seat, nil for nothing. has is
// the number up to which it was given everything, proved or not.
func (tx *Tx) roomCall(a *roster.Agent, s projection.Seat, has int64) (*RoomCall, error) {
	row, _, err := tx.o.tables.Room(tx.t, s.Room)
	if err != nil {
		return nil, err
	}
	m, found := memberByKey(&row.Room, string(s.Handle))
	if !found || m.Presence == room.Left && !m.Human {
		return nil, nil
	}
	if m.Loose && (a.Life == nil || !goesOn(a.Life, &m)) {
		return nil, nil // it was another session in this seat
	}
	c := &RoomCall{Room: row.ID, Name: row.Name, Topic: row.Topic, Handle: m.Handle, Here: m.Here(), seat: m.Seat}
	cursor, err := tx.o.tables.RoomCursor(tx.t, row.ID, a.ID, s.Handle)
	if err != nil {
		return nil, err
	}
	cursor = max(cursor, has)
	over := row.Status == room.Closed
	if over && m.Presence == room.Invited {
		return nil, nil
	}
	if m.Presence == room.Invited && !m.Human {
		c.Why, c.Fresh = append(c.Why, CallInvited), true
		c.position = row.Began // who is invited later is told by the entry that does it
	}
	if room.YourTurn(&row.Room, m.Handle) {
		c.Why, c.position = append(c.Why, CallTurn), max(c.position, row.Turn)
		// Who was given anything of after the turn began was told of the turn.
		last, err := tx.o.tables.RoomEntries(tx.t, row.ID, projection.Reader{Human: true}, cursor-1, 1)
		if err != nil {
			return nil, err
		}
		c.Fresh = c.Fresh || cursor == 0 || len(last) == 0 || last[0].Pos < row.Turn
	}
	reader := projection.Reader{Handle: s.Handle, Human: m.Human}
	place, found, err := tx.o.tables.RoomWaker(tx.t, row.ID, s.Handle, cursor)
	if m.Presence == room.Left { // the human finds what he was asked since
		place, found, err = tx.o.tables.RoomAsked(tx.t, row.ID, s.Handle, cursor)
	}
	if err != nil {
		return nil, err
	}
	if found && m.Human {
		found, err = tx.unanswered(&m, &place)
		if err != nil {
			return nil, err
		}
	}
	if over {
		if !found {
			return nil, nil
		}
		c.Why = append(c.Why, CallClosed)
	}
	if found {
		c.position, c.Fresh = max(c.position, place.Pos), true
	}
	if found && !over {
		c.Why = append(c.Why, CallAddressed)
		if err := tx.caused(c, &row, &place); err != nil {
			return nil, err
		}
	}
	if !over && m.Presence != room.Left && len(room.Undecided(&row.Room, m.Handle)) > 0 {
		c.Why = append(c.Why, CallVote)
	}
	if len(c.Why) == 0 {
		return nil, nil
	}
	if c.Short, err = tx.o.tables.Short(tx.t, row.ID); err != nil {
		return nil, err
	}
	c.Unread, err = tx.o.tables.RoomUnreadCount(tx.t, row.ID, reader, s.Handle, cursor, row.Seq)
	return c, err
}

// unanswered reports whether the human has said nothing since an entry, himself
// or by who relays him. He sees on a face what he is asked and answers there:
// that he has not read the room beside it does not leave the question open.
func (tx *Tx) unanswered(m *room.Member, place *projection.RoomPlace) (bool, error) {
	if m.LastTurn.IsZero() {
		return true, nil
	}
	_, rec, err := tx.roomEvent(place)
	if err != nil || !rec.Time.Equal(m.LastTurn) {
		return err != nil || rec.Time.After(m.LastTurn), nil
	}
	// Both in one millisecond, the clock's grain: what comes after it decides.
	const most = 100
	later, err := tx.o.tables.RoomEntries(tx.t, place.Room, projection.Reader{Human: true}, place.Seq, most)
	if err != nil {
		return false, err
	}
	for i := range later {
		e, rec, err := tx.roomEvent(&later[i])
		if err != nil {
			continue // nobody's words can be read there
		}
		if rec.Time.After(m.LastTurn) {
			break
		}
		if n, _ := room.EntryOf(e); n.From == m.Handle && (e.Kind == room.KindSaid || e.Kind == room.KindWhispered) {
			return false, nil
		}
	}
	return true, nil
}

// caused names who addressed a member last. A room's loops are bounded as a
// thread's are, and the human is no part of them.
func (tx *Tx) caused(c *RoomCall, row *projection.RoomRow, place *projection.RoomPlace) error {
	e, _, err := tx.roomEvent(place)
	if err != nil {
		return nil // what cannot be read has no author
	}
	n, _ := room.EntryOf(e)
	c.From = n.From
	named := func(h name.Name) bool {
		return slices.ContainsFunc(n.To, func(t name.Name) bool { return t.Key() == h.Key() })
	}
	c.AsksUser = c.Handle.Key() == row.Moderator.Key() && c.Handle != room.User && named(room.User) && !named(c.Handle)
	c.MayRelay = c.AsksUser && row.Settings.RelayUser
	if e.Kind == room.KindSaid || e.Kind == room.KindWhispered {
		var m room.Message
		if e.Decode(&m) == nil {
			c.newest, c.Relayed = m.ID, m.Relayed
		}
	}
	author := n.From
	if c.Relayed != "" {
		author = c.Relayed // an agent did it, whoever's words these are
	}
	cause := presence.Cause{}
	if m, found := row.Member(author); found && !m.Human {
		cause = presence.Cause{Sender: m.Agent, Thread: row.ID}
	}
	c.causes = append(c.causes, cause)
	return nil
}

// ringableRooms adds to what an agent should be woken for the rooms that want
// it and for which nobody holds a call.
func (o *Office) ringableRooms(ctx context.Context, agent event.ID, w *Summons) error {
	calls, err := o.RoomsFor(ctx, agent)
	if err != nil {
		return err
	}
	for i := range calls {
		c := &calls[i]
		if c.Attended || c.position == 0 {
			continue
		}
		w.Rooms = append(w.Rooms, c.Name)
		if c.position > w.Position {
			w.Position = c.position
			w.Newest = c.Room
			if c.newest != "" {
				w.Newest = c.newest
			}
		}
		if len(c.causes) == 0 {
			// Its turn, or an invitation, whose message it has read already.
			c.causes = []presence.Cause{{Sender: c.Room, Thread: c.Room}}
		}
		for _, x := range c.causes {
			if at := slices.Index(w.Causes, x); at >= 0 {
				w.Causes = slices.Delete(w.Causes, at, at+1)
			}
			w.Causes = slices.Insert(w.Causes, 0, x)
		}
	}
	return nil
}

// RoomFollow calls fn with the room and the entries after a number of the
// caller's, in order and without gaps, then with every change, until the
// context ends, the room is closed or fn returns an error. It moves no cursor.
// What becomes due meanwhile is decided by it as by whoever waits.
func (o *Office) RoomFollow(ctx context.Context, caller Caller, s Sitting, from int64, fn func(RoomView, []RoomEntry) error) error {
	b, err := o.listen("all")
	if err != nil {
		return err
	}
	defer b.Close()
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return err
	}
	for seen, swept := event.Seq(0), false; ; {
		if seen, err = o.followOnce(ctx, caller, c, &from, seen, fn); err != nil || c.row.Status == room.Closed {
			return err
		}
		due := false
		if err := o.look(ctx, func(tx *Tx) (err error) {
			if c.row, _, err = o.tables.Room(tx.t, c.id); err == nil {
				due, c.sweep, err = tx.dueInRoom(c)
			}
			return err
		}); err != nil {
			return err
		}
		if swept = due && !swept && !o.ReadOnly(); swept {
			if err := o.sweepRoom(ctx, c.id, c.suspects); err != nil {
				return err
			}
			continue
		}
		if _, err := b.Wait(ctx, c.sweep); err != nil {
			return waitEnded(ctx, err)
		}
	}
}

// followOnce gives fn what is new since a version of the room.
func (o *Office) followOnce(ctx context.Context, caller Caller, c *roomCall, from *int64, seen event.Seq, fn func(RoomView, []RoomEntry) error) (event.Seq, error) {
	for {
		var v RoomView
		var list []RoomEntry
		var version event.Seq
		held := map[name.Key]bool{}
		err := o.look(ctx, func(tx *Tx) error {
			list = nil
			row, l, err := tx.readable(caller, c)
			if err != nil {
				return err
			}
			c.row, version = row, row.Version
			if version == seen {
				return nil
			}
			if v, err = tx.roomView(&row, &l, held); err != nil {
				return err
			}
			after, err := o.tables.RoomSeq(tx.t, row.ID, l.reader, *from, row.Seq)
			if err != nil {
				return err
			}
			places, err := o.tables.RoomEntries(tx.t, row.ID, l.reader, after, transcribed)
			for i := range places {
				x, err := tx.entry(&row, &l, &places[i], 0)
				if err != nil {
					return err
				}
				list = append(list, x)
			}
			return err
		})
		if err != nil || version == seen {
			return seen, err
		}
		if err := fn(v, list); err != nil {
			return seen, err
		}
		if len(list) > 0 {
			*from = list[len(list)-1].Seq
		}
		if len(list) < transcribed {
			return version, nil
		}
	}
}
