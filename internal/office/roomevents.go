package office

import (
	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// roomEvents makes the views of a record of a room's subject. Who takes part
// sees what it may see there, others see that rooms open and close.
func (tx *Tx) roomEvents(caller Caller, id event.ID, rec *event.Record) (out []EventView) {
	row, found, err := tx.o.tables.Room(tx.t, id)
	if err != nil || !found {
		return nil
	}
	may := mayReadRoom(&row.Room, caller)
	viewer := room.Viewer{Human: caller.Human}
	s := Sitting{}
	if m, ok := row.Own(s.caller(caller)); ok && may {
		viewer.Handle = m.Handle
	}
	short, err := tx.o.tables.Short(tx.t, id)
	if err != nil {
		short = string(id)
	}
	for _, e := range rec.Events {
		v := EventView{Seq: rec.Seq, Time: rec.Time, Kind: e.Kind, From: tx.actorName(rec), Short: short, Project: rec.Project, Room: row.Name}
		n, ok := room.EntryOf(e)
		switch {
		case !ok && !may:
			continue
		case !ok:
			v.Text = "(cannot be read)"
			if len(e.Data) == 0 {
				v.Text = "(erased)"
			}
			if e.Kind == room.KindWhispered && !caller.Human {
				continue // nobody can tell whose it was
			}
		case !n.Visible(viewer):
			continue
		case !may && e.Kind != room.KindOpened && e.Kind != room.KindClosed:
			continue
		default:
			tx.fillRoomEvent(&v, e, n, may)
		}
		out = append(out, v)
	}
	return out
}

// fillRoomEvent puts into words what an event of a room says.
func (tx *Tx) fillRoomEvent(v *EventView, e event.Event, n room.Entry, may bool) {
	if n.From != "" {
		v.From = string(n.From)
	}
	for _, h := range n.To {
		v.To = append(v.To, string(h))
	}
	switch e.Kind {
	case room.KindSaid, room.KindWhispered:
		m, body, _ := tx.said(e)
		v.Message, v.Text = m.ID, projection.Head(string(body), projection.PreviewLen)
		if m.Relayed != "" {
			v.Text = "(relayed by " + room.At(m.Relayed) + ") " + v.Text
		}
	case room.KindOpened:
		var d room.Opened
		if e.Decode(&d) == nil {
			v.From, v.Text = d.Opener.Name, d.Topic
			for _, m := range d.Members {
				v.To = append(v.To, string(m.Handle))
			}
		}
	case room.KindTurn:
		v.Text = "has the floor"
		var d room.Turn
		switch err := e.Decode(&d); {
		case len(n.To) == 0:
			v.Text, _ = notice(e)
		case err == nil && d.Why == "bound":
			v.Text = "has the floor for a while only: is not there, and nobody who is can hand it on"
		case err == nil && d.Why == "loose":
			v.Text = "has the floor without a limit again"
		}
	case room.KindClosed:
		if may {
			v.Text, _ = notice(e)
		}
	default:
		text, _ := notice(e)
		v.Text = projection.Head(text, projection.PreviewLen)
	}
}

// reads gives the handles as which a caller may read the whispers of its rooms.
func (tx *Tx) reads(caller Caller) (map[event.ID]name.Key, error) {
	out := map[event.ID]name.Key{}
	rooms, err := tx.o.tables.RoomsWith(tx.t, caller.Agent.ID)
	if err != nil {
		return nil, err
	}
	s := Sitting{}
	for i := range rooms {
		if m, ok := rooms[i].Own(s.caller(caller)); ok {
			out[rooms[i].ID] = m.Handle.Key()
		}
	}
	return out, nil
}
