package office

import (
	"slices"
	"strconv"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/projection"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// caller gives the one who acts as the rules of rooms know it.
func (s *Sitting) caller(c Caller) room.Caller {
	rc := room.Caller{Agent: c.Agent.ID, Seat: c.Sub, Human: c.Human, As: s.As, Name: string(c.Agent.Name)}
	if s.Seat != "" && !c.Human {
		rc.Seat, rc.Token = string(event.Derive("room seat", s.Seat)), s.Token
	}
	if life := c.Agent.Life; c.InSession() && life != nil && life.Process == c.Process {
		rc.Session = roomSession(life.Conversation)
		for _, e := range life.Earlier {
			rc.Past = append(rc.Past, roomSession(e))
		}
		rc.Loose = nameless(&c.Agent) && (s.Seat == "" || s.ByHandle)
	}
	return rc
}

// roomSession is what rooms know a conversation by.
func roomSession(conversation string) event.ID {
	if conversation == "" {
		return ""
	}
	return event.Derive("room session", conversation)
}

// goesOn reports whether the session in which a member is there is the one that
// its agent lives in now, or that one goes on from it.
func goesOn(life *roster.Incarnation, m *room.Member) bool {
	return roomSession(life.Conversation) == m.Session ||
		slices.ContainsFunc(life.Earlier, func(e string) bool { return roomSession(e) == m.Session })
}

// nameless reports whether an agent has no name but the one that its folder gave
// it: the next session there takes the first such seat that is free, so who sits
// in it says nothing of who sat there before. Subagents of such sessions are
// nameless too.
func nameless(a *roster.Agent) bool {
	n := string(a.Name)
	switch a.Kind {
	case roster.Session:
	case roster.Worker:
		n = n[:max(strings.LastIndexByte(n, '.'), 0)]
	default:
		return false
	}
	seat := DefaultName(a.Folder)
	if a.Kind == roster.Session && a.Seat != seat.Key() {
		return false
	}
	if name.Fold(n) == seat.Key() {
		return true
	}
	number, err := strconv.Atoi(n[strings.LastIndexByte(n, '-')+1:])
	return err == nil && name.Fold(n) == name.Numbered(seat, number).Key()
}

// findRoom gives the room that a word means: an open one by its name, then one
// that was closed last, then one by a part of its id. No word means the only
// open room that the caller takes part in; without one, that which it took part
// in and that was closed last, so that it learns of it.
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
		closed, err := tx.o.tables.RoomSeatsClosed(tx.t, seatAgent(caller.Agent), 1)
		if err != nil {
			return "", err
		}
		if len(closed) > 0 {
			return closed[0].Room, nil
		}
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

// departed says what proves that a member's session or its process ended, "" if
// nothing does. Only this host's processes are judged, and nobody on whose
// behalf a call waits in the room is gone. Another session that is the agent by
// now is not the member's.
func (tx *Tx) departed(id event.ID, m *room.Member) (how string, err error) {
	if m.Human || !m.Here() && !(m.Loose && m.Presence == room.Left) || m.Agent == "" {
		return "", nil
	}
	a, found, err := tx.o.tables.Agent(tx.t, m.Agent)
	if err != nil || !found {
		return "", err
	}
	switch {
	case a.Retired:
		return "it is retired", nil
	case a.Life == nil && m.Session == "" && tx.sighted(a.ID):
		return "", nil // it came by a command of a terminal, with a token
	case a.Life == nil && (a.Kind == roster.Session || a.Kind == roster.Worker):
		how = "its session ended"
	case a.Life != nil && m.Session != "" && !goesOn(a.Life, m):
		how = "its session ended"
	case a.Life != nil && tx.sessionVerdict(&a) == roster.Gone:
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

// mortal reports whether somebody is there whose process this machine knows: it
// may end without a word.
func (tx *Tx) mortal(r *room.Room) (bool, error) {
	for i := range r.Members {
		m := &r.Members[i]
		if m.Human || !m.Here() || m.Agent == "" {
			continue
		}
		if a, found, err := tx.o.tables.Agent(tx.t, m.Agent); err != nil || found && a.Life != nil {
			return err == nil, err
		}
	}
	return false, nil
}
