package office

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/room"
)

// Opening is a room that somebody wants to open.
type Opening struct {
	Name      string
	Topic     string
	Purpose   string
	Members   []Invitation // the opener is a member only if it is among them
	Handle    string       // the opener's own handle among them; "": the one that is bound to it
	Seat      string       // as in Sitting
	Moderator string       // a handle; "": the opener, if it is a member
	First     string       // who begins; "": the first of Members who is there
	Settings  room.Settings
	Links     []room.Link
	// Loose leaves the handles to whoever comes first, also where an agent
	// bears such a name, and to whoever comes next where nothing but the handle
	// said who that was (see room.Member.Loose).
	Loose bool
	// Force closes an open room of the same name, keeps its transcript (also
	// that of one which was closed before) under a dated name and opens this one.
	Force      bool
	Transcript *TranscriptOptions // nil for none
}

// InRoom is the detail of a refusal because a room of that name is open.
type InRoom struct {
	Status  string   `json:"status"` // exists
	Room    event.ID `json:"room"`
	Name    string   `json:"name"`
	Members []string `json:"members"`
	Present []string `json:"present"`
	Entries int64    `json:"entries"`
	// MayForce says that the caller may close it to make room for another one.
	MayForce bool `json:"may_force"`
}

// RoomOpen opens a room. When it returns nil the room is there, its members are
// invited and those who are known are told. Errors: conflict with an [InRoom]
// when an open room has the name already, or when something else lies where the
// transcript should be; invalid.
func (o *Office) RoomOpen(ctx context.Context, caller Caller, op Opening) (RoomResult, error) {
	if err := caller.mayChange(); err != nil {
		return RoomResult{}, err
	}
	sitting := Sitting{As: op.Handle, Seat: op.Seat}
	c := &roomCall{id: event.NewID(o.now()), own: sitting.caller(caller)}
	cmd := room.OpenRoom{
		By: c.own, Room: c.id, Name: op.Name, Topic: op.Topic, Purpose: op.Purpose, Moderator: op.Moderator, First: op.First,
		Settings: op.Settings, Loose: op.Loose,
	}
	old, err := o.namesake(ctx, caller, op, c.own)
	if err != nil {
		return RoomResult{}, err
	}
	undo, former, note, err := o.layTranscript(ctx, caller, c.id, &op, old)
	if err != nil {
		return RoomResult{}, err
	}
	if op.Transcript != nil {
		if cmd.Transcript, err = json.Marshal(op.Transcript); err != nil {
			return RoomResult{}, err
		}
	}
	var closed event.ID
	err = o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project, closed = caller.Project.ID, ""
		cmd.Members = nil
		for _, i := range op.Members {
			m, err := tx.invitee(i, op.Loose)
			if err != nil {
				return err
			}
			if own, err := room.Handle(op.Handle); op.Handle != "" && err == nil && own.Key() == m.Handle.Key() && !caller.Human && i.Agent == "" {
				m.Agent = caller.Agent.ID
			}
			cmd.Members = append(cmd.Members, m)
		}
		if cmd.Links, err = tx.links(caller, op.Links); err != nil {
			return err
		}
		if closed, err = tx.makeRoom(caller, op, c.own); err != nil {
			return err
		}
		c.rec, c.row, err = tx.onRoom(c.id, cmd, nil, "")
		return err
	})
	if err != nil {
		undo()
		return RoomResult{}, err
	}
	ctx = committed(ctx)
	kept, notes := "", nonEmpty(note)
	if closed != "" && old != nil && old.id == closed && (former == nil || former.id != closed) {
		kept, note = o.keepTranscript(ctx, caller, old)
		notes = append(notes, nonEmpty(note)...)
	}
	if former != nil {
		kept, note = o.keepTranscript(ctx, caller, former)
		notes = append(notes, nonEmpty(note)...)
		if _, err := o.beginTranscript(c.id, op); err != nil {
			notes = append(notes, "no transcript: "+inTheWay(caller, op.Transcript, err))
		}
	}
	out, err := o.result(ctx, c, RoomDone, "")
	out.Kept = kept
	out.Notes = append(out.Notes, notes...)
	return out, err
}

// links gives what a room is tied to with whole ids of threads, which have to be
// there.
func (tx *Tx) links(caller Caller, list []room.Link) (out []room.Link, err error) {
	for _, l := range list {
		if l.Kind == "thread" {
			id, err := tx.resolve(caller, l.ID, "thread")
			if err == nil {
				err = tx.see(caller, id)
			}
			if err != nil {
				return nil, err
			}
			l.ID = string(id)
		}
		out = append(out, l)
	}
	return out, nil
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// namesake is the room that has the name that somebody wants, or had it last.
type namesake struct {
	id         event.ID
	transcript *TranscriptOptions
}

func (o *Office) namesake(ctx context.Context, caller Caller, op Opening, own room.Caller) (old *namesake, err error) {
	h, err := room.Handle(op.Name)
	if err != nil || strings.TrimSpace(op.Name) == "" {
		return nil, nil // the rules refuse it
	}
	err = o.look(ctx, func(tx *Tx) error {
		old = nil
		id, open, found, err := o.tables.RoomNamed(tx.t, h.Key())
		if err != nil || !found {
			return err
		}
		row, _, err := o.tables.Room(tx.t, id)
		if err != nil {
			return err
		}
		old = &namesake{id: id, transcript: tx.transcriptOf(&row.Room)}
		if open && !op.Force {
			return tx.nameTaken(caller, id, own)
		}
		return nil
	})
	return old, err
}

// makeRoom sees to it that no open room has the name: with force it closes one.
func (tx *Tx) makeRoom(caller Caller, op Opening, own room.Caller) (closed event.ID, err error) {
	h, err := room.Handle(op.Name)
	if err != nil {
		return "", nil
	}
	id, open, found, err := tx.o.tables.RoomNamed(tx.t, h.Key())
	if err != nil || !found || !open {
		return "", err
	}
	if !op.Force {
		return "", tx.nameTaken(caller, id, own)
	}
	row, _, err := tx.o.tables.Room(tx.t, id)
	if err != nil {
		return "", err
	}
	suspects, err := tx.suspects(&row.Room, "")
	if err != nil {
		return "", err
	}
	by := own
	by.As = ""
	_, _, err = tx.onRoom(id, room.Close{By: by, Force: true}, suspects, "")
	return id, err
}

// nameTaken refuses a name that an open room has, and says who is in it.
func (tx *Tx) nameTaken(caller Caller, id event.ID, own room.Caller) error {
	row, _, err := tx.o.tables.Room(tx.t, id)
	if err != nil {
		return err
	}
	gone, err := tx.suspects(&row.Room, "")
	if err != nil {
		return err
	}
	d := InRoom{Status: "exists", Room: id, Name: string(row.Name), Members: []string{}, Present: []string{}, Entries: row.Pub}
	for i := range row.Members {
		d.Members = append(d.Members, string(row.Members[i].Handle))
	}
	for _, h := range room.Attending(&row.Room) {
		d.Present = append(d.Present, string(h))
	}
	who := "nobody is in it"
	if len(d.Present) > 0 {
		who = fmt.Sprintf("in it are %s", atList(room.Attending(&row.Room)))
	}
	own.As = "" // as makeRoom closes it
	_, member := row.Own(own)
	opener := row.Opener
	d.MayForce = caller.Human || member || len(d.Present) == len(gone) ||
		opener.Agent != "" && opener.Agent == own.Agent && opener.Seat == own.Seat
	refusal := fault.New(fault.Conflict, "room %s is open already: %s", row.Name, who).WithDetail(d)
	switch {
	case d.MayForce:
		return refusal.WithHint("join it: bureau room join %s; or close it and begin anew: bureau room open %s --force", row.Name, row.Name)
	case row.Settings.Admission == room.Anyone || mayJoin(&row.Room, caller):
		return refusal.WithHint("join it: bureau room join %s; or choose another name", row.Name)
	}
	return refusal.WithHint("choose another name; for that one a member, or the person, can invite you: bureau room invite %s %s", row.Name, caller.Agent.Name)
}
