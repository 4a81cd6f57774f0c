package office

import (
	"context"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// roomView makes the view of a room for the one who looks.
func (tx *Tx) roomView(row *projection.RoomRow, l *roomLook, held map[name.Key]bool) (RoomView, error) {
	r, tables := &row.Room, tx.o.tables
	v := RoomView{
		ID: r.ID, Name: r.Name, Topic: r.Topic, Purpose: r.Purpose, Status: r.Status, Opened: r.Opened, Opener: r.Opener.Name,
		Moderator: r.Moderator, First: r.First, Settings: r.Settings, Links: r.Links, Members: []RoomMember{}, Present: room.Attending(r),
		Started: r.Started, BarrierUntil: moment(r.BarrierUntil), Holder: r.Holder, Since: moment(r.Since), Until: moment(r.Until), Queue: room.Queue(r),
	}
	var err error
	if v.Short, err = tables.Short(tx.t, r.ID); err != nil {
		return v, err
	}
	if !r.Started && r.Status == room.Open {
		v.Missing, v.More = room.Missing(r)
	}
	if v.Entries, err = tables.RoomNumber(tx.t, r.ID, l.reader, r.Seq); err != nil {
		return v, err
	}
	v.Messages = r.Posts
	if !l.reader.Human {
		whispers, err := tables.RoomWhispers(tx.t, r.ID, l.reader, r.Seq)
		if err != nil {
			return v, err
		}
		v.Messages = row.Posts + whispers
	}
	for i := range r.Members {
		m, err := tx.roomMember(r, &r.Members[i], l, held)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, m)
	}
	for _, b := range r.Proposals {
		v.Proposals = append(v.Proposals, RoomBallot{Number: b.Number, By: b.By, Voters: b.Voters, Votes: append([]room.Cast{}, b.Votes...), Quorum: b.Quorum, Until: b.Until})
	}
	if t := tx.transcriptOf(r); t != nil && (l.own.Human || !t.Private) {
		v.Transcript = t.full()
	}
	if l.member.Handle == "" {
		return v, nil
	}
	h := l.member.Handle
	v.You, v.YourTurn, v.MaySpeak, v.Undecided = h, room.YourTurn(r, h), l.member.Here() && room.MaySpeak(r, h), room.Undecided(r, h)
	cursor, err := tx.cursor(r.ID, l)
	if err != nil {
		return v, err
	}
	if v.Read, err = tables.RoomNumber(tx.t, r.ID, l.reader, cursor); err != nil {
		return v, err
	}
	if v.Unread, err = tables.RoomUnreadCount(tx.t, r.ID, l.reader, h.Key(), cursor, r.Seq); err != nil {
		return v, err
	}
	_, v.Addressed, err = tables.RoomWaker(tx.t, r.ID, h.Key(), cursor)
	return v, err
}

// cursor gives how far the member of a look has read.
func (tx *Tx) cursor(id event.ID, l *roomLook) (int64, error) {
	return tx.o.tables.RoomCursor(tx.t, id, l.own.Agent, l.member.Handle.Key())
}

func (tx *Tx) roomMember(r *room.Room, m *room.Member, l *roomLook, held map[name.Key]bool) (RoomMember, error) {
	v := RoomMember{
		Handle: m.Handle, Name: shownName(m.Name, m.Handle), Aliases: append([]string{}, m.Aliases...), Roles: m.Roles, Human: m.Human, Presence: m.Presence,
		Joined: moment(m.Joined), Returned: moment(m.Returned), You: m.Handle == l.member.Handle, Waiting: held[m.Handle.Key()],
	}
	if m.Loose && m.Handle != l.member.Handle {
		how, err := tx.departed(r.ID, m)
		if err != nil {
			return v, err
		}
		v.Free = r.Vacant(m, l.own, how != "")
	}
	agent := m.Agent
	if m.Human {
		user, err := tx.human()
		if err != nil {
			return v, err
		}
		agent = user
	}
	if agent == "" {
		return v, nil
	}
	v.Agent = tx.nameOf(agent)
	cursor, err := tx.o.tables.RoomCursor(tx.t, r.ID, agent, m.Handle.Key())
	if err == nil {
		v.Read, err = tx.o.tables.RoomNumber(tx.t, r.ID, l.reader, cursor)
	}
	return v, err
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// RoomShow gives a room as the caller may see it. Who takes no part in it sees
// that it is there, its members and whose turn it is, and no word of it.
func (o *Office) RoomShow(ctx context.Context, caller Caller, s Sitting) (RoomView, error) {
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return RoomView{}, err
	}
	o.catchUp(ctx, c)
	out, err := o.result(ctx, c, RoomDone, "")
	if err != nil || len(out.Room.Proposals) == 0 || !mayReadRoom(&c.row.Room, caller) {
		return out.Room, err
	}
	return out.Room, o.look(ctx, func(tx *Tx) error { return tx.proposalTexts(&c.row, &c.look, out.Room.Proposals) })
}

// catchUp ends what is due in the room of a look, so that nobody is shown a turn
// that is over or a member who is gone. Where it cannot, the look shows what is
// stored. The turn of who looks does not end by that: a word of its would still
// count.
func (o *Office) catchUp(ctx context.Context, c *roomCall) {
	r := &c.row.Room
	if o.ReadOnly() || r.Status != room.Open || r.Unknown != "" {
		return
	}
	now := o.now()
	if own := c.look.member.Handle; own != "" && own == r.Holder && !r.Until.IsZero() && !now.Before(r.Until) {
		return
	}
	if at, ok := room.Deadline(r); len(c.suspects) > 0 || ok && !now.Before(at) {
		_ = o.sweepRoom(ctx, c.id, c.suspects)
	}
}

// proposalTexts looks up what is voted on: it stands in the journal alone.
func (tx *Tx) proposalTexts(row *projection.RoomRow, l *roomLook, list []RoomBallot) error {
	for n := range list {
		place, found, err := tx.o.tables.RoomProposal(tx.t, row.ID, list[n].Number)
		if err != nil || !found {
			return err
		}
		v, err := tx.entry(row, l, &place, 0)
		if err != nil {
			return err
		}
		list[n].Text = v.Text
	}
	return nil
}

// Rooms is a page of rooms.
type Rooms struct {
	Rooms []RoomView `json:"rooms"`
	Total int        `json:"total"`
	Next  string     `json:"next"`
}

// RoomFilter says which rooms are wanted.
type RoomFilter struct {
	Closed bool // closed ones too
	Mine   bool // only those that the caller takes part in
	Page
}

// RoomList lists rooms, the one with the newest event first.
func (o *Office) RoomList(ctx context.Context, caller Caller, f RoomFilter) (Rooms, error) {
	out := Rooms{Rooms: []RoomView{}}
	limit, err := f.limit()
	if err != nil {
		return out, err
	}
	var below event.Seq
	if f.From != "" {
		if err := decodeCursor(f.From, &below); err != nil {
			return out, err
		}
	}
	agent := event.ID("")
	if f.Mine {
		agent = seatAgent(caller.Agent)
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Rooms, out.Next = out.Rooms[:0], ""
		rows, total, err := o.tables.RoomRows(tx.t, agent, f.Closed, below, limit+1)
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			out.Next = encodeCursor(rows[limit-1].Version)
		}
		out.Total = total
		for i := range rows {
			s := Sitting{}
			l := looking(&rows[i].Room, s.caller(caller))
			v, err := tx.roomView(&rows[i], &l, nil)
			if err != nil {
				return err
			}
			out.Rooms = append(out.Rooms, v)
		}
		return nil
	})
	return out, err
}

// HistoryPage says which part of a room is wanted. Without any of it: the
// beginning.
type HistoryPage struct {
	Since int64 // after this number of the caller's
	Last  int   // only the last so many
	Bytes int   // of one text; 0: whole texts
	Page
}

// RoomLog is a part of a room's entries, oldest first.
type RoomLog struct {
	Room    event.ID    `json:"room,omitempty"`
	Name    name.Name   `json:"name,omitempty"`
	Entries []RoomEntry `json:"entries"`
	Total   int64       `json:"total"` // that the caller may see
	Next    string      `json:"next"`
}

// RoomHistory gives entries that the caller may see. It moves no cursor and
// proves nothing.
func (o *Office) RoomHistory(ctx context.Context, caller Caller, s Sitting, p HistoryPage) (RoomLog, error) {
	out := RoomLog{Entries: []RoomEntry{}}
	limit, err := p.limit()
	if err != nil {
		return out, err
	}
	after := p.Since
	if p.From != "" {
		if err := decodeCursor(p.From, &after); err != nil {
			return out, err
		}
	}
	if p.Last < 0 || p.Last > MaxPage || after < 0 {
		return out, fault.New(fault.Invalid, "no such part of a room's history").WithHint("choose between 1 and %d of the last entries", MaxPage)
	}
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return out, err
	}
	o.catchUp(ctx, c)
	err = o.look(ctx, func(tx *Tx) error {
		out.Entries, out.Next = out.Entries[:0], ""
		row, l, err := tx.readable(caller, c)
		if err != nil {
			return err
		}
		out.Room, out.Name = row.ID, row.Name
		if out.Total, err = o.tables.RoomNumber(tx.t, row.ID, l.reader, row.Seq); err != nil {
			return err
		}
		var places []projection.RoomPlace
		if p.Last > 0 && p.From == "" {
			places, err = o.tables.RoomLast(tx.t, row.ID, l.reader, p.Last)
			limit = max(limit, p.Last)
		} else {
			var from int64
			if from, err = o.tables.RoomSeq(tx.t, row.ID, l.reader, after, row.Seq); err == nil {
				places, err = o.tables.RoomEntries(tx.t, row.ID, l.reader, from, limit+1)
			}
		}
		if err != nil {
			return err
		}
		more := len(places) > limit
		for i := range places[:min(len(places), limit)] {
			v, err := tx.entry(&row, &l, &places[i], p.Bytes)
			if err != nil {
				return err
			}
			out.Entries = append(out.Entries, v)
		}
		if more {
			out.Next = encodeCursor(out.Entries[limit-1].Seq)
		}
		return nil
	})
	return out, err
}

// readable gives the newest state of a call's room to who may read it.
func (tx *Tx) readable(caller Caller, c *roomCall) (projection.RoomRow, roomLook, error) {
	row, _, err := tx.o.tables.Room(tx.t, c.id)
	if err != nil {
		return row, roomLook{}, err
	}
	if !mayReadRoom(&row.Room, caller) {
		return row, roomLook{}, noPart(caller, &row.Room)
	}
	return row, looking(&row.Room, c.own), nil
}

// noPart refuses who takes no part in a room, and says how to.
func noPart(caller Caller, r *room.Room) error {
	err := fault.New(fault.Denied, "%s takes no part in room %s", caller.Agent.Name, r.Name)
	switch {
	case r.Status == room.Closed:
		return err.WithHint("it is closed; ask one who was in it, or the person who runs the office")
	case r.Settings.Admission == room.Anyone || mayJoin(r, caller):
		return err.WithHint("join it first: bureau room join %s", r.Name)
	}
	return err.WithHint("it is for its members; one of them, or the person, can invite you: bureau room invite %s %s", r.Name, caller.Agent.Name)
}

// mayJoin reports whether somebody who is listed has not come yet.
func mayJoin(r *room.Room, caller Caller) bool {
	m, found := r.Member(caller.Agent.Name)
	return found && (m.Agent == "" || m.Agent == caller.Agent.ID)
}

// RoomBody gives the bytes of a message by its number for the caller.
func (o *Office) RoomBody(ctx context.Context, caller Caller, s Sitting, number int64) (body []byte, err error) {
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return nil, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		row, l, err := tx.readable(caller, c)
		if err != nil {
			return err
		}
		before, err := o.tables.RoomSeq(tx.t, row.ID, l.reader, number-1, row.Seq)
		if err != nil {
			return err
		}
		places, err := o.tables.RoomEntries(tx.t, row.ID, l.reader, before, 1)
		if err != nil {
			return err
		}
		if number < 1 || len(places) == 0 || places[0].Kind != room.KindSaid && places[0].Kind != room.KindWhispered {
			return fault.New(fault.NotFound, "no message %d in room %s", number, row.Name).WithHint("bureau room history %s shows them", row.Name)
		}
		e, _, err := tx.roomEvent(&places[0])
		if err == nil {
			_, body, err = tx.said(e)
		}
		return err
	})
	return body, err
}
