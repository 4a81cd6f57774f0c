package office

import (
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// roomText keeps a text for a message of a room: itself if it is short text,
// as a blob otherwise.
func (o *Office) roomText(text []byte) (*room.Blob, error) {
	if utf8.Valid(text) && len(text) <= mail.InlineBody || len(text) > room.MaxBody {
		return nil, nil // too long is for the rules to refuse
	}
	sum, err := o.keep(text)
	if err != nil {
		return nil, err
	}
	return &room.Blob{Sum: sum, Size: int64(len(text)), UTF8: utf8.Valid(text), Head: projection.Head(string(text), projection.PreviewLen)}, nil
}

// roomEvent reads an entry's event and its record back from the journal.
func (tx *Tx) roomEvent(x *projection.RoomPlace) (e event.Event, rec event.Record, err error) {
	if tx.record.Seq != x.Pos { // entries of one record are often asked for together
		recs, err := tx.reader()(x.Pos-1, 1)
		if err != nil {
			return e, rec, err
		}
		tx.record = event.Record{}
		if len(recs) > 0 {
			tx.record = recs[0]
		}
	}
	rec = tx.record
	if rec.Seq != x.Pos || x.Part >= len(rec.Events) {
		return e, rec, &lostContent{fault.New(fault.Unavailable, "the journal has no record %d, which holds an entry of a room", x.Pos).WithHint("bureau journal verify")}
	}
	return rec.Events[x.Part], rec, nil
}

// said gives a message of a room and its bytes. What cannot be had any more
// leaves the beginning and the reason.
func (tx *Tx) said(e event.Event) (m room.Message, body []byte, lost error) {
	if err := e.Decode(&m); err != nil {
		return m, nil, &lostContent{fault.New(fault.Unavailable, "a message of a room cannot be read: %w", err).WithHint("bureau journal verify")}
	}
	if m.Blob == nil {
		return m, []byte(m.Body), nil
	}
	body, err := tx.o.Blob(m.Blob.Sum)
	if err != nil {
		return m, []byte(m.Blob.Head), &lostContent{err}
	}
	return m, body, nil
}

// saidText gives what can be had of a message for the full-text index.
func (tx *Tx) saidText(x *projection.RoomPlace) string {
	e, _, err := tx.roomEvent(x)
	if err != nil {
		return ""
	}
	_, body, _ := tx.said(e)
	return string(body)
}

// roomLook is how somebody looks at a room.
type roomLook struct {
	reader projection.Reader
	member room.Member // zero for who is none
	own    room.Caller
}

// entry makes the view of an entry for the one who looks. most bounds the text
// in bytes; 0: all of it.
func (tx *Tx) entry(r *projection.RoomRow, look *roomLook, x *projection.RoomPlace, most int) (RoomEntry, error) {
	v := RoomEntry{Kind: x.Kind, To: []name.Name{}}
	var err error
	if v.Seq, err = tx.o.tables.RoomNumber(tx.t, x.Room, look.reader, x.Seq); err != nil {
		return v, err
	}
	e, rec, err := tx.roomEvent(x)
	if err != nil {
		v.Lost = err.Error()
		return v, nil
	}
	v.Time = rec.Time
	n, ok := room.EntryOf(e)
	if !ok {
		v.Text, v.Lost = "(cannot be read)", "its data was erased or damaged"
		return v, nil
	}
	v.From, v.Private = n.From, n.Private
	if n.To != nil {
		v.To = n.To
	}
	if h := look.member.Handle; h != "" {
		v.Addressed = n.Wakes(h, r.Settings.Wake)
	}
	if e.Kind != room.KindSaid && e.Kind != room.KindWhispered {
		v.Text, v.Detail = notice(e)
		return v, nil
	}
	m, body, lost := tx.said(e)
	v.Message, v.ID, v.Named, v.All, v.Relayed = true, m.ID, m.Named, m.All, m.Relayed
	if look.reader.Human || look.member.Handle == m.From {
		v.Client = m.Client
	}
	v.Bytes = int64(len(body))
	if m.Blob != nil {
		v.Bytes, v.Raw = m.Blob.Size, !m.Blob.UTF8
	}
	if lost != nil {
		v.Lost, v.Cut = lost.Error(), true
	}
	text := projection.Text(string(body))
	if most > 0 && len(text) > most {
		text, v.Cut = cutText(text, most), true
	}
	v.Text = text
	return v, nil
}

// partFrom leaves of a text what stands behind a number of bytes.
func (v *RoomEntry) partFrom(n int) {
	if n <= len(v.Text) && v.Lost == "" {
		v.Text, v.Offset = v.Text[n:], int64(n)
	}
}

// cutText cuts a text to a number of bytes, never inside a character.
func cutText(s string, most int) string {
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
