package presence

import (
	"context"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

// RoomOffer is a part of a room that was put before a member and is not proved
// yet. It stands among the offers of mail under its receipt, so that whatever
// proves those proves it.
type RoomOffer struct {
	Offered        // Message is the receipt
	Room    string // the room's id
	Handle  string // the member
	Upto    int64  // number of the last entry that is in it to its end, in the room's own numbers
	Part    Part   // of the entry behind it; zero: none
	Server  roster.Process
	Shown   bool // it was printed, and the process that did it may be gone
}

// Part is the beginning of an entry that is too long to be put before a member
// at once.
type Part struct {
	Entry int64 // its number, in the room's own numbers
	Bytes int   // of its text
}

// OfferRoom keeps that a part of a room is put before a member. granted is
// false, and nothing is kept, while another key holds an offer of the same
// member: then the other one is about to prove it.
func (s *Store) OfferRoom(ctx context.Context, x RoomOffer, lease time.Duration) (granted bool, err error) {
	err = s.d.Update(ctx, func(tx *db.Tx) error {
		granted = false
		all, err := roomOffers(tx, x.Agent, x.Room, x.Handle)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].Key != x.Key {
				if all[i].Leased(x.At) {
					return nil
				}
				if err := dropRoom(tx, x.Agent, all[i].Message); err != nil {
					return err
				}
			}
		}
		granted = true
		k := x.Key
		err = tx.Exec(`INSERT OR REPLACE INTO offer (agent, message, host, pid, start, session, sub, at, until, gate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			x.Agent, x.Message, k.Process.Host, k.Process.PID, k.Process.Start, k.Session, k.Sub, x.At, x.At.Add(lease), x.Stage)
		if err != nil {
			return err
		}
		return tx.Exec(`INSERT OR REPLACE INTO slice (receipt, agent, room, handle, upto, host, pid, start, shown, part_of, part) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			x.Message, x.Agent, x.Room, x.Handle, x.Upto, x.Server.Host, x.Server.PID, x.Server.Start, x.Shown, x.Part.Entry, x.Part.Bytes)
	})
	return granted, err
}

// RoomOffers lists what was put before a member and is not proved; room and
// handle "" for all of the agent's.
func (s *Store) RoomOffers(ctx context.Context, agent event.ID, room, handle string) (list []RoomOffer, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		list, err = roomOffers(tx, agent, room, handle)
		return err
	})
	return list, err
}

func roomOffers(tx *db.Tx, agent event.ID, room, handle string) (list []RoomOffer, err error) {
	err = tx.Each(`SELECT receipt, room, handle, upto, host, pid, start, shown, part_of, part FROM slice WHERE agent = ?1 AND (?2 = '' OR room = ?2) AND (?3 = '' OR handle = ?3)`,
		[]any{agent, room, handle}, func(r db.Row) error {
			var x RoomOffer
			if err := r.Scan(&x.Message, &x.Room, &x.Handle, &x.Upto, &x.Server.Host, &x.Server.PID, &x.Server.Start, &x.Shown, &x.Part.Entry, &x.Part.Bytes); err != nil {
				return err
			}
			o, found, err := offer(tx, agent, x.Message)
			if err != nil || !found {
				return err
			}
			x.Offered = o
			list = append(list, x)
			return nil
		})
	return list, err
}

// RoomPart gives how far a member has come in an entry that it reads in parts;
// zero if there is none.
func (s *Store) RoomPart(ctx context.Context, agent event.ID, room, handle string) (p Part, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		_, err := tx.One(`SELECT entry, bytes FROM part WHERE agent = ? AND room = ? AND handle = ?`, []any{agent, room, handle}, &p.Entry, &p.Bytes)
		return err
	})
	return p, err
}

// RoomPartRead notes that a member has read a part. A part of an earlier entry,
// or less of the same one, changes nothing.
func (s *Store) RoomPartRead(ctx context.Context, agent event.ID, room, handle string, p Part) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT INTO part (agent, room, handle, entry, bytes) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET entry = excluded.entry, bytes = excluded.bytes
			WHERE excluded.entry > entry OR excluded.entry = entry AND excluded.bytes > bytes`, agent, room, handle, p.Entry, p.Bytes)
	})
}

func dropRoom(tx *db.Tx, agent, receipt event.ID) error {
	if err := tx.Exec(`DELETE FROM slice WHERE agent = ? AND receipt = ?`, agent, receipt); err != nil {
		return err
	}
	return tx.Exec(`DELETE FROM offer WHERE agent = ? AND message = ?`, agent, receipt)
}

// RoomShown notes that a part of a room was printed.
func (s *Store) RoomShown(ctx context.Context, agent, receipt event.ID) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`UPDATE slice SET shown = 1 WHERE agent = ? AND receipt = ?`, agent, receipt)
	})
}

// Held is a process that holds a call open for a member of a room.
type Held struct {
	Room    string
	Handle  string
	Process roster.Process // that waits
	For     roster.Process // whose call it is; the same for a command of a terminal
	Since   time.Time
}

// HoldRoom records a call that waits.
func (s *Store) HoldRoom(ctx context.Context, h Held) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`INSERT OR REPLACE INTO held (room, handle, host, pid, start, for_host, for_pid, for_start, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			h.Room, h.Handle, h.Process.Host, h.Process.PID, h.Process.Start, h.For.Host, h.For.PID, h.For.Start, h.Since)
	})
}

// LeaveRoom removes it.
func (s *Store) LeaveRoom(ctx context.Context, room, handle string, p roster.Process) error {
	return s.d.Update(ctx, func(tx *db.Tx) error {
		return tx.Exec(`DELETE FROM held WHERE room = ? AND handle = ? AND host = ? AND pid = ? AND start = ?`, room, handle, p.Host, p.PID, p.Start)
	})
}

// HeldIn lists the calls that wait in a room, of processes that live: both the
// one that waits and the one whose call it is.
func (s *Store) HeldIn(ctx context.Context, room string) (list []Held, err error) {
	err = s.d.View(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT handle, host, pid, start, for_host, for_pid, for_start, since FROM held WHERE room = ? ORDER BY since`, []any{room}, func(r db.Row) error {
			h := Held{Room: room}
			if err := r.Scan(&h.Handle, &h.Process.Host, &h.Process.PID, &h.Process.Start, &h.For.Host, &h.For.PID, &h.For.Start, &h.Since); err != nil {
				return err
			}
			if Verdict(h.Process) != roster.Gone && Verdict(h.For) != roster.Gone {
				list = append(list, h)
			}
			return nil
		})
	})
	return list, err
}
