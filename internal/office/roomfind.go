package office

import (
	"context"
	"strings"

	"bureau/internal/projection"
)

// RoomSearch is what somebody looks for in what was said in rooms.
type RoomSearch struct {
	Text string // as in Search
	Room string // name, id or part of one; "" for all that the caller takes part in
	Page
}

// RoomHits is a page of what was found.
type RoomHits struct {
	Hits  []RoomHit `json:"hits"` // newest first; the text is the part where the first word occurs
	Total int       `json:"total"`
	Next  string    `json:"next"`
}

// RoomHit is an entry and the room that it stands in.
type RoomHit struct {
	Room string `json:"room"`
	RoomEntry
}

// FindInRooms searches what was said in rooms, as far as the caller may see it:
// whispers only where it is a party itself. It brings the full-text index up
// first; nothing else changes.
func (o *Office) FindInRooms(ctx context.Context, caller Caller, s RoomSearch) (RoomHits, error) {
	out := RoomHits{Hits: []RoomHit{}}
	limit, err := s.limit()
	if err != nil {
		return out, err
	}
	match, first, err := matchQuery(s.Text)
	if err != nil {
		return out, err
	}
	q := projection.RoomSearch{Match: match, Agent: caller.Agent.ID, Human: caller.Human, Limit: limit + 1}
	if s.From != "" {
		if err := decodeCursor(s.From, &q.Below); err != nil {
			return out, err
		}
	}
	if err := o.bringIndex(ctx); err != nil {
		return out, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Hits, out.Next = out.Hits[:0], ""
		if _, ready, err := projection.IndexPosition(tx.t); err != nil || !ready {
			return err
		}
		if s.Room != "" {
			if q.Room, err = tx.findRoom(caller, s.Room); err != nil {
				return err
			}
		}
		if q.Reads, err = tx.reads(caller); err != nil {
			return err
		}
		places, total, err := o.tables.SearchRooms(tx.t, q)
		if err != nil {
			return err
		}
		out.Total = total
		if len(places) > limit {
			places = places[:limit]
			out.Next = encodeCursor(places[limit-1].Row())
		}
		for i := range places {
			hit, err := tx.roomHit(caller, &places[i], first)
			if err != nil {
				return err
			}
			out.Hits = append(out.Hits, hit)
		}
		return nil
	})
	return out, err
}

func (tx *Tx) roomHit(caller Caller, x *projection.RoomPlace, word string) (RoomHit, error) {
	row, _, err := tx.o.tables.Room(tx.t, x.Room)
	if err != nil {
		return RoomHit{}, err
	}
	sitting := Sitting{}
	l := looking(&row.Room, sitting.caller(caller))
	v, err := tx.entry(&row, &l, x, 0)
	m := MessageView{Body: strings.ToValidUTF8(v.Text, "\uFFFD")}
	m.excerpt(word)
	v.Text, v.Cut = m.Body, v.Cut || m.Cut
	return RoomHit{Room: string(row.Name), RoomEntry: v}, err
}
