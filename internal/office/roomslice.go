package office

import (
	"context"
	"fmt"
	"slices"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mailflag"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// RoomSlice puts before the member what it has not read, oldest first, and
// leaves out what it did itself. It counts as read once it is proved: by a
// later call of the same member that carries the receipt (or, without
// Sitting.Hooked, by any later call of the same conversation through the same
// process), by what the client's hooks see, or by RoomShown on a person's
// terminal. What is not proved is given again. While another process of the
// same member is about to prove what it was given, there is nothing.
//
// How far somebody is in a text that comes in parts is live state: when that is
// lost, the text begins anew.
func (o *Office) RoomSlice(ctx context.Context, caller Caller, s Sitting, t Taking) (Slice, error) {
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return Slice{Entries: []RoomEntry{}}, err
	}
	return o.slice(ctx, caller, c, t)
}

func (o *Office) slice(ctx context.Context, caller Caller, c *roomCall, t Taking) (Slice, error) {
	out := Slice{Entries: []RoomEntry{}}
	limit, most, err := t.bounds()
	if err != nil {
		return out, err
	}
	each := most
	if t.Text > 0 {
		each = min(each, t.Text)
	}
	whole := each // of a text that is read
	if t.Parts {
		whole = 0
	}
	if c.look.member.Handle == "" {
		return out, fault.New(fault.Denied, "you take no part in room %s", c.row.Name).WithHint("join it first: bureau room join %s", c.row.Name)
	}
	given, err := o.given(ctx, caller, c, t.Again)
	if err != nil || given.busy {
		return out, err
	}
	if t.Parts {
		live, err := o.Live(ctx)
		if err != nil {
			return out, err
		}
		read, err := live.RoomPart(ctx, caller.Agent.ID, string(c.id), string(c.look.member.Handle.Key()))
		if err != nil {
			return out, err
		}
		given.part = further(given.part, read)
	}
	var upto, cursor int64
	var rest presence.Part
	err = o.look(ctx, func(tx *Tx) error {
		out.Entries, out.More = out.Entries[:0], false
		row, _, err := o.tables.Room(tx.t, c.id)
		if err != nil {
			return err
		}
		if cursor, err = tx.cursor(c.id, &c.look); err != nil {
			return err
		}
		places, err := o.tables.RoomUnread(tx.t, c.id, c.look.reader, c.look.member.Handle.Key(), max(cursor, given.upto), limit+1)
		if err != nil {
			return err
		}
		upto, rest = row.Seq, presence.Part{}
		size := 0
		for i := range places {
			if i == limit {
				out.More = true
				break
			}
			v, err := tx.entry(&row, &c.look, &places[i], whole)
			if err != nil {
				return err
			}
			if t.Parts && places[i].Seq == given.part.Entry {
				v.partFrom(given.part.Bytes)
			}
			long := t.measure(v.Text, each)
			if size += min(long, each); size > most && i > 0 {
				out.More = true
				break
			}
			if long > each {
				v.Text, v.Cut = t.cut(v.Text, each), true
			}
			if t.Parts && long > each {
				out.Entries, out.More = append(out.Entries, v), true
				rest = presence.Part{Entry: places[i].Seq, Bytes: int(v.Offset) + len(v.Text)}
				if i == 0 {
					upto = max(cursor, given.upto)
				}
				break
			}
			out.Entries = append(out.Entries, v)
			upto = places[i].Seq
		}
		if !out.More {
			upto = row.Seq // what follows is the member's own, or not for it
		}
		return nil
	})
	switch {
	case err != nil || caller.Stale || o.ReadOnly():
		return out, err
	case len(out.Entries) == 0:
		if upto-cursor > skipped && given.upto == 0 {
			return out, o.passOver(ctx, caller, c, upto)
		}
		return out, nil
	}
	return out, o.offerSlice(ctx, caller, c, t, given.upto, upto, rest, &out)
}

// skipped is how many entries that a member need not read, its own above all,
// may lie behind its cursor before the cursor is moved over them.
const skipped = 100

// passOver moves a member's cursor over entries of which none is for it to read.
func (o *Office) passOver(ctx context.Context, caller Caller, c *roomCall, upto int64) error {
	return o.change(ctx, caller.actor(), func(tx *Tx) error {
		subject := event.AgentSubject(caller.Agent.ID)
		if err := tx.known(subject); err != nil {
			return nil // a newer bureau has the say there
		}
		_, err := tx.append("", subject, nil, []event.Event{event.New(projection.KindRoomRead,
			projection.RoomRead{Room: c.id, Handle: c.look.member.Handle, Upto: upto, Via: "nothing to read"})})
		return err
	})
}

// offerSlice keeps that a slice is put before the caller. When somebody else
// of the same member was faster, the slice is theirs.
func (o *Office) offerSlice(ctx context.Context, caller Caller, c *roomCall, t Taking, after, upto int64, rest presence.Part, out *Slice) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	key, handle := caller.selfOr(), string(c.look.member.Handle.Key())
	now := o.Now()
	receipt := event.Derive("room slice", string(c.id), string(caller.Agent.ID), handle, fmt.Sprint(after, " ", upto, " ", rest, " ", now.UnixMilli()),
		fmt.Sprint(key.Process.PID, " ", key.Process.Start), key.Session, key.Sub)
	stage, lease := presence.Handed, DefaultLease
	if t.Printing {
		stage, lease = presence.Reserved, printLease
	}
	granted, err := live.OfferRoom(ctx, presence.RoomOffer{
		Offered: presence.Offered{Agent: caller.Agent.ID, Message: receipt, Key: key, At: now, Stage: stage},
		Room:    string(c.id), Handle: handle, Upto: upto, Part: rest, Server: presence.Self(),
	}, lease)
	if err != nil {
		return err
	}
	if !granted {
		*out = Slice{Entries: []RoomEntry{}}
		return nil
	}
	out.Receipt = string(receipt)
	if caller.InSession() && !t.Printing {
		// The hook has to look at the next event, which may prove it.
		return mailflag.Invalidate(o.run.FlagDir(), FlagName(caller.Session, caller.Sub), "")
	}
	return nil
}

// given is what was put before a member and is not proved.
type given struct {
	upto int64         // what the same conversation has, and need not be given again
	part presence.Part // how much of the next one it has
	busy bool          // another one is about to prove what it was given
}

func (o *Office) given(ctx context.Context, caller Caller, c *roomCall, again bool) (g given, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return g, err
	}
	offers, err := live.RoomOffers(ctx, caller.Agent.ID, string(c.id), string(c.look.member.Handle.Key()))
	if err != nil {
		return g, err
	}
	key, now := caller.selfOr(), o.Now()
	for i := range offers {
		x := &offers[i]
		switch {
		case x.Key != key:
			g.busy = g.busy || x.Leased(now)
		case x.Stage == presence.Reserved:
			g.busy = g.busy || x.Leased(now) // two hooks of one event must not print the same
		case !again && x.Stage >= presence.Passed && x.Leased(now):
			g.upto = max(g.upto, x.Upto)
			g.part = further(g.part, x.Part)
		}
	}
	return g, nil
}

// RoomShown notes that a face has written a slice out. On a person's terminal
// that is proof; in a session the next call of the same conversation proves it,
// through whatever process.
func (o *Office) RoomShown(ctx context.Context, caller Caller, receipt string) error {
	if receipt == "" {
		return nil
	}
	if !caller.InSession() {
		return o.RoomProve(ctx, caller, receipt)
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.RoomShown(ctx, caller.Agent.ID, event.ID(receipt))
}

// RoomProve stores as read what a receipt was given for: it is never given as
// new again. A receipt that is not known any more changes nothing.
func (o *Office) RoomProve(ctx context.Context, caller Caller, receipt string) error {
	return o.proveOnly(ctx, caller, "receipt", func(x *presence.RoomOffer) bool { return string(x.Message) == receipt })
}

// RoomTakeBack withdraws a slice that did not reach whom it was put before: it
// is given again, and no further call proves it.
func (o *Office) RoomTakeBack(ctx context.Context, caller Caller, receipt string) error {
	live, err := o.Live(ctx)
	if err != nil || receipt == "" {
		return err
	}
	return live.Drop(ctx, caller.Agent.ID, []event.ID{event.ID(receipt)})
}

// provedByCall stores what a call proves by being made.
func (o *Office) provedByCall(ctx context.Context, caller Caller, s Sitting, c *roomCall) error {
	if caller.Stale || c.look.member.Handle == "" {
		return nil
	}
	key, self, handle := caller.selfOr(), presence.Self(), string(c.look.member.Handle.Key())
	return o.proveOnly(ctx, caller, "call", func(x *presence.RoomOffer) bool {
		if x.Room != string(c.id) || x.Handle != handle {
			return false
		}
		return s.Receipt != "" && string(x.Message) == s.Receipt || !s.Hooked && x.Stage >= presence.Handed && x.Key == key && (x.Shown || x.Server == self)
	})
}

func (o *Office) proveOnly(ctx context.Context, caller Caller, via string, proved func(*presence.RoomOffer) bool) error {
	_, err := o.proveRooms(ctx, caller, via, proved)
	return err
}

// proveRooms stores as read what was put before an agent and is proved, and
// gives the receipts of that.
func (o *Office) proveRooms(ctx context.Context, caller Caller, via string, proved func(*presence.RoomOffer) bool) (receipts []event.ID, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	all, err := live.RoomOffers(ctx, caller.Agent.ID, "", "")
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var list []presence.RoomOffer
	for i := range all {
		if proved(&all[i]) {
			list = append(list, all[i])
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	if err := caller.mayChange(); err != nil {
		return nil, err
	}
	err = o.change(ctx, caller.actor(), func(tx *Tx) error {
		subject := event.AgentSubject(caller.Agent.ID)
		if err := tx.known(subject); err != nil {
			return err
		}
		var events []event.Event
		for i := range list {
			x := &list[i]
			row, found, err := o.tables.Room(tx.t, event.ID(x.Room))
			if err != nil {
				return err
			}
			m, member := memberByKey(&row.Room, x.Handle)
			if !found || !member {
				continue // the office was replaced; the offer outlived it
			}
			cursor, err := o.tables.RoomCursor(tx.t, row.ID, caller.Agent.ID, m.Handle.Key())
			if err != nil {
				return err
			}
			if x.Upto > cursor {
				events = append(events, event.New(projection.KindRoomRead, projection.RoomRead{Room: row.ID, Handle: m.Handle, Upto: min(x.Upto, row.Seq), Via: via}))
			}
		}
		_, err := tx.append("", subject, nil, events)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		x := &list[i]
		if x.Part.Entry > 0 {
			if err := live.RoomPartRead(ctx, caller.Agent.ID, x.Room, x.Handle, x.Part); err != nil {
				return nil, err
			}
		}
	}
	for i := range all {
		// What was given again later was proved with that.
		if slices.ContainsFunc(list, func(x presence.RoomOffer) bool {
			return x.Room == all[i].Room && x.Handle == all[i].Handle && x.Key == all[i].Key && x.Upto >= all[i].Upto
		}) {
			receipts = append(receipts, all[i].Message)
		}
	}
	// Only now: a crash before this line gives it again, and no harm is done.
	_ = live.Drop(ctx, caller.Agent.ID, receipts)
	return receipts, nil
}

func memberByKey(r *room.Room, key string) (room.Member, bool) {
	for i := range r.Members {
		if string(r.Members[i].Handle.Key()) == key {
			return r.Members[i], true
		}
	}
	return room.Member{}, false
}

// seenInRooms stores what proofs of mail prove of rooms, whose slices stand
// among the offers under their receipts, and gives the ids that are left.
func (o *Office) seenInRooms(ctx context.Context, caller Caller, ids []event.ID, via string) ([]event.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	done, err := o.proveRooms(ctx, caller, via, func(x *presence.RoomOffer) bool { return slices.Contains(ids, x.Message) })
	if len(done) == 0 {
		return ids, err
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id event.ID) bool { return slices.Contains(done, id) }), err
}
