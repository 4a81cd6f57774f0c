package office

import (
	"context"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// onRoom decides a command on a room, appends and folds its events and tells
// whom they concern. record is the id of the record, "" for a new one. With a
// refusal it appends what is so whatever was asked, in a record of its own; the
// refusal tells the state behind it, so that both are kept or neither.
func (tx *Tx) onRoom(id event.ID, c room.Command, suspects []name.Name, record event.ID) (rec event.Record, row projection.RoomRow, err error) {
	row, _, err = tx.o.tables.Room(tx.t, id)
	if err != nil {
		return rec, row, err
	}
	known := room.Evidence{Names: tx.agentName}
	for _, h := range suspects {
		m, found := row.Member(h)
		if !found {
			continue
		}
		how, err := tx.departed(id, &m)
		if err != nil {
			return rec, row, err
		}
		if how != "" {
			known.Gone = append(known.Gone, room.Absence{Handle: m.Handle, How: how})
		}
	}
	events, refusal := room.Decide(&row.Room, c, tx.now, known)
	if len(events) == 0 {
		return rec, row, refusal
	}
	if refusal != nil {
		record = ""
	}
	rec, err = tx.append(record, event.RoomSubject(id), &row.Version, events)
	if err != nil {
		return rec, row, err
	}
	before := row.Members
	row, _, err = tx.o.tables.Room(tx.t, id)
	if err != nil {
		return rec, row, err
	}
	if err := tx.readOn(&row.Room, before); err != nil {
		return rec, row, err
	}
	if err := tx.tellRoom(&row.Room, rec.Events); err != nil {
		return rec, row, err
	}
	return rec, row, refusal
}

// readOn lets members who were known by their handles alone, and came back as
// other agents, read on from where they were.
func (tx *Tx) readOn(r *room.Room, before []room.Member) error {
	for i := range before {
		was, is := &before[i], &r.Members[i]
		if was.Agent == is.Agent || !was.Loose || !is.Loose {
			continue
		}
		upto, err := tx.o.tables.RoomCursor(tx.t, r.ID, was.Agent, was.Handle.Key())
		if err != nil {
			return err
		}
		subject := event.AgentSubject(is.Agent)
		if upto == 0 || tx.known(subject) != nil {
			continue // a newer bureau has the say there
		}
		_, err = tx.append("", subject, nil, []event.Event{event.New(projection.KindRoomRead,
			projection.RoomRead{Room: r.ID, Handle: is.Handle, Upto: upto, Via: "taken over"})})
		if err != nil {
			return err
		}
	}
	return nil
}

// endSeats notes in an agent's rooms that its session has ended, so that the
// floor goes on at once. Rooms that a newer bureau wrote to are left to it.
func (tx *Tx) endSeats(agent event.ID) error {
	seats, err := tx.o.tables.RoomSeats(tx.t, agent)
	if err != nil {
		return err
	}
	for _, s := range seats {
		row, _, err := tx.o.tables.Room(tx.t, s.Room)
		if err != nil {
			return err
		}
		m, found := memberByKey(&row.Room, string(s.Handle))
		if !found || row.Unknown != "" {
			continue
		}
		if _, _, err := tx.onRoom(s.Room, room.Sweep{}, []name.Name{m.Handle}, ""); err != nil {
			return err
		}
	}
	return nil
}

// tellRoom rings those whom events of a room are for.
func (tx *Tx) tellRoom(r *room.Room, events []event.Event) error {
	for _, e := range events {
		n, ok := room.EntryOf(e)
		if !ok {
			continue
		}
		keys := projection.RoomWakes(r, n)
		if e.Kind == room.KindOpened {
			for i := range r.Members {
				keys = append(keys, r.Members[i].Handle.Key())
			}
		}
		for i := range r.Members {
			m := &r.Members[i]
			key := m.Handle.Key()
			if !slices.Contains(keys, key) && !(slices.Contains(keys, "*") && n.From.Key() != key) {
				if e.Kind == room.KindStarted {
					tx.bells[roomTopic(r.ID, key)] = true // it may wait for that alone
				}
				continue
			}
			tx.bells[roomTopic(r.ID, key)] = true
			agent := m.Agent
			if m.Human {
				var err error
				if agent, err = tx.human(); err != nil {
					return err
				}
			} else if agent != "" && !slices.Contains(tx.roused, agent) {
				tx.roused = append(tx.roused, agent)
			}
			tx.tell(true, agent)
		}
	}
	return nil
}

// roomTopic is what rings for a member of a room who holds a call open.
func roomTopic(id event.ID, handle name.Key) string {
	return string(event.Derive("room bell", string(id), string(handle)))
}

// roomCall is one call of a verb, from the first look to its result.
type roomCall struct {
	id       event.ID
	own      room.Caller
	row      projection.RoomRow
	look     roomLook
	suspects []name.Name
	rec      event.Record // what it stored, or had stored before
	repeated bool
	sweep    time.Duration       // until the next look of a wait
	names    map[event.ID]string // of the members' agents, with the result
}

// enter finds the room and the member of a call, and stores what the call
// proves of what was read before.
func (o *Office) enter(ctx context.Context, caller Caller, s Sitting) (*roomCall, error) {
	c := &roomCall{own: s.caller(caller)}
	err := o.look(ctx, func(tx *Tx) (err error) {
		if c.id, err = tx.findRoom(caller, s.Room); err != nil {
			return err
		}
		if c.row, _, err = o.tables.Room(tx.t, c.id); err != nil {
			return err
		}
		c.look = looking(&c.row.Room, c.own)
		c.suspects, err = tx.suspects(&c.row.Room, c.look.member.Handle)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !caller.InSession() && caller.Agent.Kind == roster.Session && !o.ReadOnly() {
		// A command of a terminal that shows a token: no process lives for it.
		if err := o.Sighted(ctx, caller); err != nil {
			return nil, err
		}
	}
	return c, o.provedByCall(ctx, caller, s, c)
}

// lookIn is enter for who only looks, under no handle and no seat but its own.
func (o *Office) lookIn(ctx context.Context, caller Caller, s Sitting) (*roomCall, error) {
	c, err := o.enter(ctx, caller, s)
	if err == nil {
		err = room.Acts(&c.row.Room, c.own)
	}
	return c, err
}

// decide carries out a command on the room of a call. With a refusal it stores
// what the refusal tells of: what was due, who is gone, that the caller is there.
// The turn of a caller whose message is refused goes on.
func (o *Office) decide(ctx context.Context, caller Caller, c *roomCall, record event.ID, cmd room.Command) error {
	if err := caller.mayChange(); err != nil {
		return err
	}
	var refusal error
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project, refusal = caller.Project.ID, nil
		if record != "" {
			rec, found, err := o.journal.In(tx.t).Lookup(record)
			if err != nil {
				return err
			}
			if found {
				c.rec, c.repeated = rec, true
				return nil
			}
		}
		rec, row, err := tx.onRoom(c.id, cmd, c.suspects, record)
		c.rec, c.row = rec, row
		if fault.CodeOf(err) == "" || fault.Is(err, fault.Unavailable) {
			return err
		}
		refusal = err
		return nil
	})
	if err == nil && refusal != nil && len(c.rec.Events) > 0 {
		o.transcribe(committed(ctx), &c.row.Room) // what fails is made up for by the next
	}
	if err == nil {
		err = refusal
	}
	return err
}

// inRoom is decide for verbs whose result is the room.
func (o *Office) inRoom(ctx context.Context, caller Caller, s Sitting, status string, make func(room.Caller) room.Command) (RoomResult, error) {
	c, err := o.enter(ctx, caller, s)
	if err != nil {
		return RoomResult{}, err
	}
	if err := o.decide(ctx, caller, c, "", make(c.own)); err != nil {
		return RoomResult{}, err
	}
	return o.result(committed(ctx), c, status, "")
}

// result makes the result of a verb from how things stand after it, and brings
// the transcript up to date. With a kind it holds the entry of that kind that
// the call has stored.
func (o *Office) result(ctx context.Context, c *roomCall, status string, kind event.Kind) (RoomResult, error) {
	out := RoomResult{Status: status}
	if len(c.rec.Events) > 0 && !c.repeated {
		out.Notes = nonEmpty(o.transcribe(ctx, &c.row.Room))
	}
	held := o.heldIn(ctx, c.id)
	err := o.look(ctx, func(tx *Tx) (err error) {
		if c.row, _, err = o.tables.Room(tx.t, c.id); err != nil {
			return err
		}
		c.look = looking(&c.row.Room, c.own)
		c.names = map[event.ID]string{}
		for i := range c.row.Members {
			c.names[c.row.Members[i].Agent] = tx.agentName(c.row.Members[i].Agent)
		}
		if out.Room, err = tx.roomView(&c.row, &c.look, held); err != nil || kind == "" {
			return err
		}
		out.Entry, err = tx.entryOfCall(c, kind)
		return err
	})
	return out, err
}

// entryOfCall gives the entry of a kind in the record of a call, nil for none.
func (tx *Tx) entryOfCall(c *roomCall, kind event.Kind) (*RoomEntry, error) {
	for part, e := range c.rec.Events {
		if e.Kind != kind {
			continue
		}
		x, found, err := tx.o.tables.RoomPlaceAt(tx.t, c.rec.Seq, part)
		if err != nil || !found {
			return nil, err
		}
		v, err := tx.entry(&c.row, &c.look, &x, 0)
		return &v, err
	}
	return nil, nil
}

// heldIn lists the members for whom a process of this machine holds a call.
func (o *Office) heldIn(ctx context.Context, id event.ID) map[name.Key]bool {
	out := map[name.Key]bool{}
	live, err := o.Live(ctx)
	if err != nil {
		return out
	}
	list, err := live.HeldIn(ctx, string(id))
	if err != nil {
		return out
	}
	for _, h := range list {
		out[name.Key(h.Handle)] = true
	}
	return out
}

// selfOr gives a caller's process, or this one for who has none.
func (c Caller) selfOr() presence.Key {
	k := c.Key()
	if k.Process.Zero() {
		k.Process = presence.Self()
	}
	return k
}

// human gives the id of the person who runs the office.
func (tx *Tx) human() (event.ID, error) {
	a, _, _, err := tx.o.tables.Holder(tx.t, roster.UserName.Key())
	return a.ID, err
}
