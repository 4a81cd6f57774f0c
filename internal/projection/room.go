package projection

import (
	"encoding/json"
	"slices"
	"strings"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/room"
)

// KindRoomRead says how far somebody has read in a room. It stands in the
// agent's own subject and is appended without expectation, so that reading
// never stands in the way of speaking.
const KindRoomRead event.Kind = "room.read"

// RoomRead is a member's cursor.
type RoomRead struct {
	Room   event.ID  `json:"room"`
	Handle name.Name `json:"handle"`
	Upto   int64     `json:"upto"` // number of the last entry that was proved, in the room's own numbers
	Via    string    `json:"via,omitempty"`
}

// Everybody stands for all members in the table of whose waiting an entry ends.
const everybody = "*"

// Human is what stands for the human where members are looked up by agent.
const Human event.ID = "@user"

// roomRow is the row of a room.
type roomRow struct {
	room.Room
	version    event.Seq
	pub, posts int64
	turn       event.Seq
	began      event.Seq
	found      bool
}

func (p *Projection) roomRow(tx *db.Tx, id event.ID) (r roomRow, err error) {
	var raw string
	r.found, err = p.one(tx, `SELECT version, pub, posts, turn, began, state FROM ~room WHERE id = ?`, []any{id}, &r.version, &r.pub, &r.posts, &r.turn, &r.began, &raw)
	if err == nil && r.found {
		err = json.Unmarshal([]byte(raw), &r.Room)
	}
	return r, err
}

func (p *Projection) applyRoom(tx *db.Tx, rec *event.Record) error {
	id := event.ID(strings.TrimPrefix(string(rec.Subject), "room."))
	r, err := p.roomRow(tx, id)
	if err != nil {
		return err
	}
	if !r.found {
		r.began = rec.Seq
		if err := p.addIdent(tx, id, "room"); err != nil {
			return err
		}
	}
	before, holder := slices.Clone(r.Members), r.Holder
	for part, e := range rec.Events {
		r.Apply(e, rec.Time)
		n, ok := room.EntryOf(e)
		if !ok || n.Seq == 0 {
			continue
		}
		if err := p.addEntry(tx, &r, rec, part, n, e); err != nil {
			return err
		}
	}
	if r.Holder != holder || r.Since.Equal(rec.Time) && r.Holder != "" {
		r.turn = rec.Seq
	}
	if err := p.roomMembers(tx, id, before, r.Members); err != nil {
		return err
	}
	raw, err := json.Marshal(&r.Room)
	if err != nil {
		return err
	}
	return p.exec(tx, `INSERT INTO ~room (id, key, status, version, pub, posts, turn, began, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET key = excluded.key, status = excluded.status, version = excluded.version, pub = excluded.pub,
			posts = excluded.posts, turn = excluded.turn, state = excluded.state`,
		id, string(r.Name.Key()), string(r.Status), rec.Seq, r.pub, r.posts, r.turn, r.began, string(raw))
}

// addEntry keeps where an entry stands, who may see it and whom it is for.
func (p *Projection) addEntry(tx *db.Tx, r *roomRow, rec *event.Record, part int, n room.Entry, e event.Event) error {
	id := event.ID(strings.TrimPrefix(string(rec.Subject), "room."))
	actor := n.From
	if e.Kind == room.KindSaid {
		var m room.Message
		if e.Decode(&m) == nil && m.Relayed != "" {
			actor = m.Relayed
		}
	}
	pub := r.pub
	if !n.Private {
		pub++
	}
	err := p.exec(tx, `INSERT OR IGNORE INTO ~room_entry (room, seq, pos, part, kind, actor, private, pub, mine) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
		1 + coalesce((SELECT mine FROM ~room_entry INDEXED BY ~room_entry_actor WHERE room = ?1 AND actor = ?6 ORDER BY seq DESC LIMIT 1), 0))`,
		id, n.Seq, rec.Seq, part, string(e.Kind), string(actor.Key()), n.Private, pub)
	if err != nil || tx.Changes() == 0 {
		return err
	}
	r.pub = pub
	if e.Kind == room.KindSaid {
		r.posts++
	}
	if n.Private {
		for _, h := range append([]name.Name{n.From}, n.To...) {
			err := p.exec(tx, `INSERT OR IGNORE INTO ~room_party (room, handle, seq, nth) VALUES (?1, ?2, ?3,
				1 + coalesce((SELECT nth FROM ~room_party WHERE room = ?1 AND handle = ?2 ORDER BY seq DESC LIMIT 1), 0))`, id, string(h.Key()), n.Seq)
			if err != nil {
				return err
			}
		}
	}
	for _, h := range RoomWakes(&r.Room, n) {
		if err := p.exec(tx, `INSERT OR IGNORE INTO ~room_wake (room, handle, seq, actor) VALUES (?, ?, ?, ?)`,
			id, string(h), n.Seq, string(actor.Key())); err != nil {
			return err
		}
	}
	return nil
}

// RoomWakes lists whose waiting an entry ends, by their keys; "*" stands for
// everybody but who did it. When the human is asked something, the moderator's
// session is told too.
func RoomWakes(r *room.Room, n room.Entry) []name.Key {
	var out []name.Key
	add := func(k name.Key) {
		if k != "" && k != n.From.Key() && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	for _, h := range n.To {
		add(h.Key())
		if said := n.Kind == room.KindSaid; said && h == room.User {
			add(r.Moderator.Key())
		}
	}
	if n.Everyone || !n.Private && r.Settings.Wake == room.WakeAll && (n.Kind == room.KindSaid || n.Kind == room.KindStarted) {
		out = append(out, everybody)
	}
	return out
}

// memberAgent is under what a member is looked up.
func memberAgent(m *room.Member) event.ID {
	if m.Human {
		return Human
	}
	return m.Agent
}

// roomMembers keeps which agents take part in a room.
func (p *Projection) roomMembers(tx *db.Tx, id event.ID, before, after []room.Member) error {
	for i := range after {
		m := &after[i]
		if i < len(before) {
			if memberAgent(&before[i]) == memberAgent(m) {
				continue
			}
			if old := memberAgent(&before[i]); old != "" {
				if err := p.exec(tx, `DELETE FROM ~room_member WHERE agent = ? AND room = ? AND handle = ?`, old, id, string(m.Handle.Key())); err != nil {
					return err
				}
			}
		}
		if agent := memberAgent(m); agent != "" {
			if err := p.exec(tx, `INSERT OR IGNORE INTO ~room_member (agent, room, handle) VALUES (?, ?, ?)`, agent, id, string(m.Handle.Key())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Projection) applyRoomRead(tx *db.Tx, agent event.ID, e event.Event) error {
	var d RoomRead
	if e.Decode(&d) != nil {
		return nil // it is read again at worst
	}
	return p.exec(tx, `INSERT INTO ~room_cursor (room, agent, handle, seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (room, agent, handle) DO UPDATE SET seq = max(seq, excluded.seq)`, d.Room, agent, string(d.Handle.Key()), d.Upto)
}
