package office

import (
	"context"
	"errors"
	"slices"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// DefaultRoomWait is how long a call waits in a room.
const DefaultRoomWait = 45 * time.Second

// WaitFor says what ends a wait.
type WaitFor string

// What ends a wait. A message is one that addresses the member (or, as the room
// is set, any public one).
const (
	ForAnything WaitFor = ""        // its turn or a message
	ForTurn     WaitFor = "turn"    // its turn only
	ForMessage  WaitFor = "message" // a message only
	// ForStart is ForAnything, and that the meeting has begun: for who arrives.
	// The status is then RoomJoined.
	ForStart WaitFor = "start"
)

// Waiting is how somebody waits in a room.
type Waiting struct {
	For     WaitFor
	Timeout time.Duration // 0: DefaultRoomWait; less than 0: one look
	// After is the caller's number of an entry, that of what it has just said:
	// only what comes after it ends the wait. What was unread before comes
	// along, also with a time-out.
	After int64
	Taking
	// Waiting, if set, is called once, when the wait begins.
	Waiting func(RoomView)
}

// RoomWait waits until it is the member's turn or something addresses it, and
// gives what it has not read as RoomSlice does. Whoever has the floor is told
// so at once, every time. A time-out is no error: it gives nothing new and
// loses nothing, and the room says who is missing. Cancelling the context ends
// the wait and consumes nothing. Who was invited, or whose process was gone,
// arrives by waiting. What becomes due meanwhile (a turn, the barrier, a vote, a
// dead holder) is decided by whoever waits.
func (o *Office) RoomWait(ctx context.Context, caller Caller, s Sitting, w Waiting) (Waited, error) {
	c, err := o.enter(ctx, caller, s)
	if err != nil {
		return Waited{}, err
	}
	if _, _, err := w.bounds(); err != nil {
		return Waited{}, err
	}
	if w.Timeout == 0 {
		w.Timeout = DefaultRoomWait
	}
	if err := room.Acts(&c.row.Room, c.own); err != nil {
		return Waited{}, err
	}
	if !room.Attends(&c.row.Room, c.own) && c.row.Status == room.Open {
		_, returns := c.row.ByHandle(c.own, c.suspects)
		if c.look.member.Presence == room.Left || c.look.member.Handle == "" && !returns {
			return Waited{}, fault.New(fault.Denied, "you are not in room %s", c.row.Name).WithHint("join it first: bureau room join %s", c.row.Name)
		}
		if err := o.decide(ctx, caller, c, "", room.Attend{By: c.own}); err != nil {
			return Waited{}, err
		}
		c.look = looking(&c.row.Room, c.own)
	}
	handle := c.look.member.Handle.Key()
	b, err := o.listen(roomTopic(c.id, handle))
	if err != nil {
		return Waited{}, err
	}
	defer b.Close()
	leave, err := o.hold(ctx, caller, c.id, string(handle))
	if err != nil {
		return Waited{}, err
	}
	defer leave()
	waitCtx, cancel := context.WithTimeout(ctx, max(w.Timeout, 0))
	defer cancel()
	ended := func() (Waited, bool, error) {
		status, err := o.lookAround(ctx, caller, c, w)
		if err != nil || status == "" {
			return Waited{}, err != nil, err
		}
		out, err := o.waited(ctx, caller, c, status, w.Taking)
		// Another process of the member may have been given it just now.
		return out, err != nil || status != RoomReceived || len(out.Entries) > 0, err
	}
	for first := true; ; first = false {
		if out, over, err := ended(); over {
			return out, err
		}
		if first && w.Waiting != nil {
			v, err := o.result(ctx, c, "", "")
			if err != nil {
				return Waited{}, err
			}
			w.Waiting(v.Room)
		}
		_, err = b.Wait(waitCtx, c.sweep)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return Waited{}, ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return Waited{}, err
		default:
			// One more look: it may have come at the last moment.
			if out, over, err := ended(); over {
				return out, err
			}
			if w.After > 0 {
				return o.waited(ctx, caller, c, RoomTimeout, w.Taking)
			}
			r, err := o.result(ctx, c, RoomTimeout, "")
			return Waited{Status: RoomTimeout, Room: r.Room, Slice: Slice{Entries: []RoomEntry{}}, Notes: r.Notes}, err
		}
	}
}

// hold records that this process holds a call open for a member, and gives the
// function that ends it.
func (o *Office) hold(ctx context.Context, caller Caller, id event.ID, handle string) (leave func(), err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	self, key := presence.Self(), "room "+string(id)+" "+handle
	err = o.waiting.enter(key, func() (bool, error) {
		return true, live.HoldRoom(ctx, presence.Held{Room: string(id), Handle: handle, Process: self, For: caller.selfOr().Process, Since: o.Now()})
	})
	if err != nil {
		return nil, err
	}
	return func() {
		o.waiting.leave(key, func() { _ = live.LeaveRoom(context.WithoutCancel(ctx), string(id), handle, self) })
	}, nil
}

// lookAround looks whether a wait is over, after it has decided what is due,
// and how long the next look can wait for a bell.
func (o *Office) lookAround(ctx context.Context, caller Caller, c *roomCall, w Waiting) (status string, err error) {
	given, err := o.given(ctx, caller, c, w.Again)
	if err != nil {
		return "", err
	}
	for swept := false; ; swept = true {
		due := false
		err := o.look(ctx, func(tx *Tx) (err error) {
			status = ""
			if c.row, _, err = o.tables.Room(tx.t, c.id); err != nil {
				return err
			}
			c.look = looking(&c.row.Room, c.own)
			if due, c.sweep, err = tx.dueInRoom(c); err != nil {
				return err
			}
			h := c.look.member.Handle
			switch {
			case c.row.Status == room.Closed:
				status = RoomIsClosed
			case h == "":
				return fault.New(fault.Denied, "you take no part in room %s any more", c.row.Name).WithHint("bureau room show %s", c.row.Name)
			case w.For != ForMessage && room.YourTurn(&c.row.Room, h):
				status = RoomYourTurn
			case w.For != ForTurn && !given.busy:
				cursor, err := tx.cursor(c.id, &c.look)
				if err != nil {
					return err
				}
				own, err := o.tables.RoomSeq(tx.t, c.id, c.look.reader, w.After, c.row.Seq)
				if err != nil {
					return err
				}
				_, found, err := o.tables.RoomWaker(tx.t, c.id, h.Key(), max(cursor, given.upto, own))
				if err != nil {
					return err
				}
				if found {
					status = RoomReceived
				}
			}
			if status == "" && w.For == ForStart && c.row.Started {
				status = RoomJoined
			}
			return nil
		})
		if err != nil || !due || swept || o.ReadOnly() {
			return status, err
		}
		if err := o.sweepRoom(ctx, c.id, c.suspects); err != nil {
			return "", err
		}
	}
}

// dueInRoom reports whether something in a call's room is due or has to be
// noted, and how long a look can wait otherwise.
func (tx *Tx) dueInRoom(c *roomCall) (due bool, sweep time.Duration, err error) {
	sweep = sweepEvery
	if c.row.Status != room.Open || c.row.Unknown != "" {
		return false, sweep, nil
	}
	if c.suspects, err = tx.suspects(&c.row.Room, c.look.member.Handle); err != nil {
		return false, sweep, err
	}
	due = slices.ContainsFunc(c.suspects, func(h name.Name) bool {
		m, found := memberByKey(&c.row.Room, string(h.Key()))
		return found && m.Here() // who left is only there to be taken over
	})
	if at, ok := room.Deadline(&c.row.Room); ok {
		due = due || !tx.now.Before(at)
		sweep = min(sweep, max(at.Sub(tx.now), time.Millisecond))
	}
	return due, sweep, nil
}

// waited makes the result of a wait that is over.
func (o *Office) waited(ctx context.Context, caller Caller, c *roomCall, status string, t Taking) (Waited, error) {
	slice, err := o.slice(ctx, caller, c, t)
	if err != nil {
		return Waited{}, err
	}
	r, err := o.result(ctx, c, status, "")
	return Waited{Status: status, Room: r.Room, Slice: slice, Notes: r.Notes}, err
}

// sweepRoom decides what is due in a room and what is proved of its members.
func (o *Office) sweepRoom(ctx context.Context, id event.ID, suspects []name.Name) error {
	var changed *room.Room
	err := o.change(ctx, event.Actor{}, func(tx *Tx) error {
		changed = nil
		rec, row, err := tx.onRoom(id, room.Sweep{}, suspects, "")
		if len(rec.Events) > 0 {
			changed = &row.Room
		}
		return err
	})
	if err == nil && changed != nil {
		o.transcribe(ctx, changed) // what fails is made up for by the next
	}
	return err
}

// SweepRooms ends in every open room what is due, notes who is gone, and says
// when to look again: at the earliest deadline that is left, and soon where
// somebody is there whose process could end; zero if there is neither. Whoever
// sweeps need not be a member.
func (o *Office) SweepRooms(ctx context.Context) (next time.Time, err error) {
	type dueRoom struct {
		id       event.ID
		suspects []name.Name
	}
	var due []dueRoom
	err = o.look(ctx, func(tx *Tx) error {
		due, next = due[:0], time.Time{}
		ids, err := o.tables.OpenRooms(tx.t)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c := &roomCall{id: id}
			var row projection.RoomRow
			if row, _, err = o.tables.Room(tx.t, id); err != nil {
				return err
			}
			c.row = row
			is, _, err := tx.dueInRoom(c)
			if err != nil {
				return err
			}
			if c.row.Unknown != "" {
				continue // a newer bureau has the say there
			}
			if is {
				due = append(due, dueRoom{id, c.suspects})
			} else if at, ok := room.Deadline(&c.row.Room); ok && (next.IsZero() || at.Before(next)) {
				next = at
			}
			soon := tx.now.Add(sweepEvery)
			if !next.IsZero() && next.Before(soon) {
				continue
			}
			mortal, err := tx.mortal(&c.row.Room)
			if err != nil {
				return err
			}
			if mortal {
				next = soon
			}
		}
		return nil
	})
	if err != nil || o.ReadOnly() {
		return next, err
	}
	for _, d := range due {
		if err := o.sweepRoom(ctx, d.id, d.suspects); err != nil {
			return next, err
		}
	}
	return next, nil
}
