package projection

import (
	"encoding/json"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/room"
)

// RoomRow is a room's state with what lists and numbers need.
type RoomRow struct {
	room.Room
	Version event.Seq
	Pub     int64     // entries that everybody may see
	Posts   int64     // of them, messages
	Turn    event.Seq // the record that gave the floor last
	Began   event.Seq // the one that opened the room
}

// Room gives a room by its id.
func (p *Projection) Room(tx *db.Tx, id event.ID) (r RoomRow, found bool, err error) {
	row, err := p.roomRow(tx, id)
	return RoomRow{row.Room, row.version, row.pub, row.posts, row.turn, row.began}, row.found, err
}

// RoomNamed finds the open room of a name or, if there is none, the one of that
// name that was closed last.
func (p *Projection) RoomNamed(tx *db.Tx, key name.Key) (id event.ID, open, found bool, err error) {
	for _, status := range []room.Status{room.Open, room.Closed} {
		found, err = p.one(tx, `SELECT id FROM ~room WHERE key = ? AND status = ? ORDER BY version DESC LIMIT 1`, []any{string(key), string(status)}, &id)
		if err != nil || found {
			return id, status == room.Open, found, err
		}
	}
	return "", false, false, nil
}

// RoomRows lists rooms, the one with the newest event first, below a version
// (0: from the newest), open ones or all. agent "" means everybody's.
func (p *Projection) RoomRows(tx *db.Tx, agent event.ID, closed bool, below event.Seq, limit int) (list []RoomRow, total int, err error) {
	where, args := ` WHERE (? = 1 OR status = 'open')`, []any{closed}
	if agent != "" {
		where, args = where+` AND id IN (SELECT room FROM ~room_member WHERE agent = ?)`, append(args, agent)
	}
	if _, err = p.one(tx, `SELECT count(*) FROM ~room`+where, args, &total); err != nil {
		return nil, 0, err
	}
	err = p.each(tx, `SELECT version, pub, posts, turn, began, state FROM ~room`+where+` AND (? = 0 OR version < ?) ORDER BY version DESC LIMIT ?`,
		append(args, below, below, limit), func(r db.Row) error {
			var x RoomRow
			var raw string
			if err := r.Scan(&x.Version, &x.Pub, &x.Posts, &x.Turn, &x.Began, &raw); err != nil {
				return err
			}
			list = append(list, x)
			return json.Unmarshal([]byte(raw), &list[len(list)-1].Room)
		})
	return list, total, err
}

// Seat is a place of an agent in a room.
type Seat struct {
	Room   event.ID
	Handle name.Key
}

// RoomSeats lists the places of an agent (or of [Human]) in open rooms.
func (p *Projection) RoomSeats(tx *db.Tx, agent event.ID) (list []Seat, err error) {
	return p.seats(tx, `m.agent = ? AND r.status = 'open' ORDER BY m.room, m.handle`, agent)
}

// RoomSeatsClosed lists an agent's places in the rooms that changed last of
// those that are closed.
func (p *Projection) RoomSeatsClosed(tx *db.Tx, agent event.ID, limit int) (list []Seat, err error) {
	return p.seats(tx, `m.agent = ? AND r.status = 'closed' ORDER BY r.version DESC, m.handle LIMIT ?`, agent, limit)
}

func (p *Projection) seats(tx *db.Tx, where string, args ...any) (list []Seat, err error) {
	err = p.each(tx, `SELECT m.room, m.handle FROM ~room_member m JOIN ~room r ON r.id = m.room WHERE `+where, args, func(r db.Row) error {
		var s Seat
		var handle string
		err := r.Scan(&s.Room, &handle)
		s.Handle = name.Key(handle)
		list = append(list, s)
		return err
	})
	return list, err
}

// RoomsWith lists all rooms that an agent takes or took part in.
func (p *Projection) RoomsWith(tx *db.Tx, agent event.ID) (list []room.Room, err error) {
	err = p.each(tx, `SELECT state FROM ~room WHERE id IN (SELECT room FROM ~room_member WHERE agent = ?)`, []any{agent}, func(r db.Row) error {
		var raw string
		if err := r.Scan(&raw); err != nil {
			return err
		}
		list = append(list, room.Room{})
		return json.Unmarshal([]byte(raw), &list[len(list)-1])
	})
	return list, err
}

// OpenRooms lists the ids of the open rooms.
func (p *Projection) OpenRooms(tx *db.Tx) (ids []event.ID, err error) {
	err = p.each(tx, `SELECT id FROM ~room WHERE status = 'open' ORDER BY version`, nil, func(r db.Row) error {
		var id event.ID
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// Reader is who looks at a room: a member by its key, the human, who sees all,
// or somebody who sees what is public.
type Reader struct {
	Handle name.Key
	Human  bool
}

// visible restricts entries to those that a reader may see. Its arguments are
// the reader's.
const visible = ` (e.private = 0 OR ? = 1 OR EXISTS (SELECT 1 FROM ~room_party p WHERE p.room = e.room AND p.handle = ? AND p.seq = e.seq))`

func (v Reader) args() []any { return []any{v.Human, string(v.Handle)} }

// RoomPlace is where an entry stands.
type RoomPlace struct {
	Room    event.ID
	Seq     int64 // the room's own number
	Pos     event.Seq
	Part    int
	Kind    event.Kind
	Private bool
	Pub     int64
}

const placeColumns = `SELECT e.room, e.seq, e.pos, e.part, e.kind, e.private, e.pub FROM `

func (p *Projection) places(tx *db.Tx, rest string, args ...any) (list []RoomPlace, err error) {
	err = p.each(tx, placeColumns+rest, args, func(r db.Row) error {
		var x RoomPlace
		err := r.Scan(&x.Room, &x.Seq, &x.Pos, &x.Part, &x.Kind, &x.Private, &x.Pub)
		list = append(list, x)
		return err
	})
	return list, err
}

// RoomPlaceAt gives the entry that stands at a place in the journal.
func (p *Projection) RoomPlaceAt(tx *db.Tx, pos event.Seq, part int) (place RoomPlace, found bool, err error) {
	list, err := p.places(tx, `~room_entry e WHERE e.pos = ? AND e.part = ?`, pos, part)
	if err != nil || len(list) == 0 {
		return place, false, err
	}
	return list[0], true, nil
}

// RoomEntries lists the entries after a number that a reader may see, in order.
func (p *Projection) RoomEntries(tx *db.Tx, id event.ID, v Reader, after int64, limit int) ([]RoomPlace, error) {
	return p.places(tx, `~room_entry e WHERE e.room = ? AND e.seq > ? AND`+visible+` ORDER BY e.seq LIMIT ?`, append(append([]any{id, after}, v.args()...), limit)...)
}

// RoomLast lists the last entries that a reader may see, in order.
func (p *Projection) RoomLast(tx *db.Tx, id event.ID, v Reader, limit int) ([]RoomPlace, error) {
	list, err := p.places(tx, `~room_entry e WHERE e.room = ? AND`+visible+` ORDER BY e.seq DESC LIMIT ?`, append(append([]any{id}, v.args()...), limit)...)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, err
}

// RoomProposal gives the place of a proposal by its number in the room.
func (p *Projection) RoomProposal(tx *db.Tx, id event.ID, number int) (place RoomPlace, found bool, err error) {
	list, err := p.places(tx, `~room_entry e WHERE e.room = ? AND e.kind = 'room.proposed' ORDER BY e.seq LIMIT 1 OFFSET ?`, id, number-1)
	if err != nil || len(list) == 0 {
		return place, false, err
	}
	return list[0], true, nil
}

// RoomPublic lists what everybody may see after a public number, in order.
func (p *Projection) RoomPublic(tx *db.Tx, id event.ID, after int64, limit int) ([]RoomPlace, error) {
	return p.places(tx, `~room_entry e WHERE e.room = ? AND e.private = 0 AND e.pub > ? ORDER BY e.pub LIMIT ?`, id, after, limit)
}

// RoomUnread lists what a member may see after a number and did not do itself.
// What it may not see costs nothing.
func (p *Projection) RoomUnread(tx *db.Tx, id event.ID, v Reader, own name.Key, after int64, limit int) ([]RoomPlace, error) {
	if v.Human {
		return p.places(tx, `~room_entry e WHERE e.room = ? AND e.seq > ? AND e.actor <> ? ORDER BY e.seq LIMIT ?`, id, after, string(own), limit)
	}
	return p.places(tx, `(SELECT * FROM (SELECT * FROM ~room_entry WHERE room = ?1 AND seq > ?2 AND actor <> ?3 AND private = 0 ORDER BY seq LIMIT ?5)
		UNION ALL SELECT * FROM (SELECT x.* FROM ~room_party p JOIN ~room_entry x ON x.room = p.room AND x.seq = p.seq
			WHERE p.room = ?1 AND p.handle = ?4 AND p.seq > ?2 AND x.actor <> ?3 ORDER BY p.seq LIMIT ?5)) e ORDER BY e.seq LIMIT ?5`,
		id, after, string(own), string(v.Handle), limit)
}

// RoomUnreadCount counts what RoomUnread would list without a limit, up to the
// last number of the room.
func (p *Projection) RoomUnreadCount(tx *db.Tx, id event.ID, v Reader, own name.Key, after, last int64) (n int64, err error) {
	for _, x := range []struct{ at, sign int64 }{{last, 1}, {after, -1}} {
		seen, err := p.RoomNumber(tx, id, v, x.at)
		if err != nil {
			return 0, err
		}
		var mine int64
		if _, err := p.one(tx, `SELECT mine FROM ~room_entry INDEXED BY ~room_entry_actor WHERE room = ? AND actor = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
			[]any{id, string(own), x.at}, &mine); err != nil {
			return 0, err
		}
		n += x.sign * (seen - mine)
	}
	return n, nil
}

// RoomNumber gives how many of the entries up to a number a reader may see.
func (p *Projection) RoomNumber(tx *db.Tx, id event.ID, v Reader, upto int64) (n int64, err error) {
	if v.Human {
		return upto, nil
	}
	if _, err = p.one(tx, `SELECT pub FROM ~room_entry WHERE room = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`, []any{id, upto}, &n); err != nil {
		return 0, err
	}
	whispers, err := p.RoomWhispers(tx, id, v, upto)
	return n + whispers, err
}

// RoomWhispers counts the whispers up to a number that a reader is party to;
// not for the human.
func (p *Projection) RoomWhispers(tx *db.Tx, id event.ID, v Reader, upto int64) (n int64, err error) {
	if v.Handle != "" {
		_, err = p.one(tx, `SELECT nth FROM ~room_party WHERE room = ? AND handle = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`, []any{id, string(v.Handle), upto}, &n)
	}
	return n, err
}

// RoomSeq turns a reader's number into the room's own: the last entry up to
// which the reader may see at most n.
func (p *Projection) RoomSeq(tx *db.Tx, id event.ID, v Reader, n, last int64) (int64, error) {
	if v.Human || n <= 0 {
		return max(min(n, last), 0), nil
	}
	low, high := int64(0), last
	for low < high {
		mid := low + (high-low+1)/2
		have, err := p.RoomNumber(tx, id, v, mid)
		if err != nil {
			return 0, err
		}
		if have <= n {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}

// RoomCursor gives how far somebody has read as a member, in the room's own
// numbers.
func (p *Projection) RoomCursor(tx *db.Tx, id, agent event.ID, handle name.Key) (seq int64, err error) {
	_, err = p.one(tx, `SELECT seq FROM ~room_cursor WHERE room = ? AND agent = ? AND handle = ?`, []any{id, agent, string(handle)}, &seq)
	return seq, err
}

// RoomWaker gives the newest entry after a number that ends a member's waiting.
func (p *Projection) RoomWaker(tx *db.Tx, id event.ID, handle name.Key, after int64) (place RoomPlace, found bool, err error) {
	var newest int64
	for _, key := range []string{string(handle), everybody} {
		var seq int64
		if _, err := p.one(tx, `SELECT seq FROM ~room_wake WHERE room = ? AND handle = ? AND seq > ? AND actor <> ? ORDER BY seq DESC LIMIT 1`,
			[]any{id, key, after, string(handle)}, &seq); err != nil {
			return place, false, err
		}
		newest = max(newest, seq)
	}
	if newest == 0 {
		return place, false, nil
	}
	list, err := p.places(tx, `~room_entry e WHERE e.room = ? AND e.seq = ?`, id, newest)
	if err != nil || len(list) == 0 {
		return place, false, err
	}
	return list[0], true, nil
}

// RoomAsked gives the newest message for a member after a number and since it
// left, which it is told of though it waits for nothing.
func (p *Projection) RoomAsked(tx *db.Tx, id event.ID, handle name.Key, after int64) (place RoomPlace, found bool, err error) {
	var left int64
	if _, err := p.one(tx, `SELECT seq FROM ~room_entry WHERE room = ? AND actor = ? AND kind = ? ORDER BY seq DESC LIMIT 1`,
		[]any{id, string(handle), string(room.KindLeft)}, &left); err != nil {
		return place, false, err
	}
	list, err := p.places(tx, `~room_wake w JOIN ~room_entry e ON e.room = w.room AND e.seq = w.seq
		WHERE w.room = ? AND w.handle = ? AND w.seq > ? AND e.kind IN (?, ?) ORDER BY w.seq DESC LIMIT 1`,
		id, string(handle), max(left, after), string(room.KindSaid), string(room.KindWhispered))
	if err != nil || len(list) == 0 {
		return place, false, err
	}
	return list[0], true, nil
}

// RoomSearch is a search in what was said in rooms.
type RoomSearch struct {
	Match string   // in FTS5's language
	Room  event.ID // "": in all that the one who looks takes part in
	// Agent sees what is public in its rooms and the whispers to the handles
	// that it is itself; Human sees all.
	Agent event.ID
	Human bool
	Reads map[event.ID]name.Key // per room, the handle whose whispers it may see
	Below int64
	Limit int
}

// SearchRooms lists the places that match, newest first, and how many there are.
func (p *Projection) SearchRooms(tx *db.Tx, q RoomSearch) (list []RoomPlace, total int, err error) {
	reads := map[string]string{}
	for id, h := range q.Reads {
		reads[string(id)] = string(h)
	}
	raw, err := json.Marshal(reads)
	if err != nil {
		return nil, 0, err
	}
	where := ` WHERE fulltext_1 MATCH ? AND (? = '' OR e.room = ?) AND (? = 1 OR e.room IN (SELECT room FROM ~room_member WHERE agent = ?))
		AND (? = 1 OR e.private = 0 OR EXISTS (SELECT 1 FROM ~room_party p WHERE p.room = e.room AND p.seq = e.seq
			AND p.handle = (SELECT value FROM json_each(?) WHERE key = e.room)))`
	from := `fulltext_1 f JOIN ~room_entry e ON e.pos = f.rowid >> 10 AND e.part = f.rowid & 1023`
	args := []any{q.Match, q.Room, q.Room, q.Human, q.Agent, q.Human, string(raw)}
	if _, err = p.one(tx, `SELECT count(*) FROM `+from+where, args, &total); err != nil {
		return nil, 0, err
	}
	list, err = p.places(tx, from+where+` AND (? = 0 OR f.rowid < ?) ORDER BY f.rowid DESC LIMIT ?`, append(args, q.Below, q.Below, q.Limit)...)
	return list, total, err
}

// Row gives an entry's place for RoomSearch.Below.
func (x *RoomPlace) Row() int64 { return rowOf(x.Pos, x.Part) }

// SaidToIndex lists what was said in rooms and is not in the full-text index
// yet, in order.
func (p *Projection) SaidToIndex(tx *db.Tx, after int64, limit int) ([]RoomPlace, error) {
	return p.places(tx, `~room_entry e WHERE e.pos >= ? AND (e.pos << 10 | e.part) > ? AND e.kind IN ('room.said', 'room.whispered') ORDER BY e.pos, e.part LIMIT ?`,
		after>>10, after, limit)
}
