package office

import (
	"context"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// caller gives the one who acts as the rules of rooms know it.
func (s *Sitting) caller(c Caller) room.Caller {
	rc := room.Caller{Agent: c.Agent.ID, Seat: c.Sub, Human: c.Human, As: s.As, Name: string(c.Agent.Name)}
	if s.Seat != "" && !c.Human {
		rc.Seat = string(event.Derive("room seat", s.Seat))
	}
	return rc
}

// findRoom gives the room that a word means: an open one by its name, then one
// that was closed last, then one by a part of its id. No word means the only
// open room that the caller takes part in.
func (tx *Tx) findRoom(caller Caller, word string) (event.ID, error) {
	word = strings.TrimSpace(word)
	if word == "" {
		return tx.onlyRoom(caller)
	}
	if n, err := name.ParseAny(word); err == nil {
		id, _, found, err := tx.o.tables.RoomNamed(tx.t, n.Key())
		if err != nil || found {
			return id, err
		}
	}
	found, err := tx.o.tables.Find(tx.t, word, "room", maxCandidates+1)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 1:
		return found[0].ID, nil
	case 0:
		return "", tx.noRoom(word)
	}
	ids := make([]event.ID, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return "", tx.ambiguous(word, "room", ids)
}

func (tx *Tx) noRoom(word string) error {
	rows, _, err := tx.o.tables.RoomRows(tx.t, "", false, 0, MaxPage)
	if err != nil {
		return err
	}
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = string(rows[i].Name)
	}
	refusal := fault.New(fault.NotFound, "no room %.64q", word)
	if near := name.Suggest(word, names, 1); len(near) > 0 {
		return refusal.WithHint("did you mean %s? bureau room list shows them", near[0])
	}
	return refusal.WithHint("bureau room list shows them; bureau room open NAME opens one")
}

func (tx *Tx) onlyRoom(caller Caller) (event.ID, error) {
	seats, err := tx.o.tables.RoomSeats(tx.t, seatAgent(caller.Agent))
	if err != nil {
		return "", err
	}
	var ids []event.ID
	for _, s := range seats {
		if !slices.Contains(ids, s.Room) {
			ids = append(ids, s.Room)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", fault.New(fault.NotFound, "%s takes part in no open room", caller.Agent.Name).WithHint("bureau room list shows them; bureau room join NAME")
	}
	return "", fault.New(fault.Invalid, "%s takes part in %d rooms", caller.Agent.Name, len(ids)).WithHint("say which: bureau room list --mine")
}

// seatAgent is under what an agent's places in rooms are found.
func seatAgent(a roster.Agent) event.ID {
	if a.Kind == roster.Human {
		return projection.Human
	}
	return a.ID
}

// mayReadRoom reports whether somebody may read what is public in a room: who
// takes part or is invited, who opened it, and the human.
func mayReadRoom(r *room.Room, caller Caller) bool {
	if caller.Human || r.Opener.Agent != "" && r.Opener.Agent == caller.Agent.ID {
		return true
	}
	return slices.ContainsFunc(r.Members, func(m room.Member) bool { return m.Agent != "" && m.Agent == caller.Agent.ID })
}

// looking says how a caller looks at a room.
func looking(r *room.Room, rc room.Caller) roomLook {
	l := roomLook{own: rc}
	l.member, _ = r.Own(rc)
	l.reader = projection.Reader{Handle: l.member.Handle.Key(), Human: rc.Human}
	return l
}

// departed says what proves that a member's process ended, "" if nothing does.
// Only this host's processes are judged, and nobody on whose behalf a call
// waits in the room is gone.
func (tx *Tx) departed(id event.ID, m *room.Member) (how string, err error) {
	if m.Human || !m.Here() || m.Agent == "" {
		return "", nil
	}
	a, found, err := tx.o.tables.Agent(tx.t, m.Agent)
	if err != nil || !found {
		return "", err
	}
	switch {
	case a.Retired:
		return "it is retired", nil
	case a.Life == nil && (a.Kind == roster.Session || a.Kind == roster.Worker):
		how = "its session ended"
	case a.Life != nil && verdict(*a.Life) == roster.Gone:
		how = "its process ended"
	default:
		return "", nil
	}
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return how, nil
	}
	held, err := live.HeldIn(tx.t.Context(), string(id))
	if err != nil {
		return how, nil
	}
	for _, h := range held {
		if h.Handle == string(m.Handle.Key()) {
			return "", nil
		}
	}
	return how, nil
}

// suspects lists the members who are there and whose process is gone. It is
// asked outside of the writing transaction, which looks at these few once more.
func (tx *Tx) suspects(r *room.Room, but name.Name) (list []name.Name, err error) {
	for i := range r.Members {
		m := &r.Members[i]
		if m.Handle == but {
			continue
		}
		how, err := tx.departed(r.ID, m)
		if err != nil {
			return nil, err
		}
		if how != "" {
			list = append(list, m.Handle)
		}
	}
	return list, nil
}

// onRoom decides a command on a room, appends and folds its events and tells
// whom they concern. record is the id of the record, "" for a new one.
func (tx *Tx) onRoom(id event.ID, c room.Command, suspects []name.Name, record event.ID) (rec event.Record, row projection.RoomRow, err error) {
	row, _, err = tx.o.tables.Room(tx.t, id)
	if err != nil {
		return rec, row, err
	}
	var known room.Evidence
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
	events, err := room.Decide(&row.Room, c, tx.now, known)
	if err != nil || len(events) == 0 {
		return rec, row, err
	}
	rec, err = tx.append(record, event.RoomSubject(id), &row.Version, events)
	if err != nil {
		return rec, row, err
	}
	row, _, err = tx.o.tables.Room(tx.t, id)
	if err != nil {
		return rec, row, err
	}
	return rec, row, tx.tellRoom(&row.Room, rec.Events)
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
	sweep    time.Duration // until the next look of a wait
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
	return c, o.provedByCall(ctx, caller, s, c)
}

// decide carries out a command on the room of a call. A refusal keeps what was
// due or proved about others, unless it is the caller's own turn: that a
// message was refused must not take the floor from who is about to mend it.
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
		if fault.CodeOf(err) == "" || fault.Is(err, fault.Unavailable) {
			c.rec, c.row = rec, row
			return err
		}
		refusal = err
		if own := c.look.member.Handle; own != "" && row.Holder == own || row.Status != room.Open {
			return nil
		}
		_, _, err = tx.onRoom(c.id, room.Sweep{}, c.suspects, "")
		return err
	})
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
	return o.result(ctx, caller, c, status)
}

// result makes the result of a verb from how things stand after it, and brings
// the transcript up to date.
func (o *Office) result(ctx context.Context, caller Caller, c *roomCall, status string) (RoomResult, error) {
	out := RoomResult{Status: status}
	if len(c.rec.Events) > 0 && !c.repeated {
		if note := o.transcribe(ctx, c.id); note != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	held := o.heldIn(ctx, c.id)
	err := o.look(ctx, func(tx *Tx) (err error) {
		if c.row, _, err = o.tables.Room(tx.t, c.id); err != nil {
			return err
		}
		c.look = looking(&c.row.Room, c.own)
		out.Room, err = tx.roomView(&c.row, &c.look, held)
		return err
	})
	return out, err
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
