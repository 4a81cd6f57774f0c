package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/quote"
)

type roomIn struct {
	Room    string `json:"room,omitempty" jsonschema:"name or id; without it and all else: list rooms"`
	Since   *int64 `json:"since,omitempty" jsonschema:"entries after this number; 0: from the beginning"`
	Last    int    `json:"last,omitempty" jsonschema:"the last so many entries"`
	Message int64  `json:"message,omitempty" jsonschema:"the whole text of this number"`
	Offset  int    `json:"offset,omitempty" jsonschema:"of a long text: next_offset of the part before"`
	Mine    bool   `json:"mine,omitempty" jsonschema:"list only those you take part in"`
	Closed  bool   `json:"closed,omitempty" jsonschema:"list closed ones too"`
	Limit   int    `json:"limit,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
	Seat    string `json:"seat,omitempty"`
	Receipt string `json:"receipt,omitempty"`
}

type roomLookOut struct {
	Rooms   []roomState `json:"rooms,omitempty"`
	Room    *roomState  `json:"room,omitempty"`
	Entries []said      `json:"entries,omitempty"`
	Offset  int         `json:"next_offset,omitempty" jsonschema:"the rest: room with this offset"`
	Total   int64       `json:"total,omitempty"`
	Next    string      `json:"next,omitempty"`
	Note    string      `json:"note,omitempty"`
}

// roomPage is how many rooms or entries a page has unless a limit is given.
const roomPage = 30

func roomTool(ctx context.Context, c *call, in roomIn) (out roomLookOut, err error) {
	if in.Limit == 0 {
		in.Limit = roomPage
	}
	if in.Limit < 0 || in.Limit > office.MaxPage {
		return out, fault.New(fault.Invalid, "a limit of %d is none", in.Limit).WithHint("choose between 1 and %d", office.MaxPage)
	}
	history := in.Since != nil || in.Last != 0
	switch {
	case in.Message != 0:
		err = c.wholeMessage(ctx, in, &out)
	case history || in.Cursor != "" && in.Room != "":
		err = c.roomHistory(ctx, in, &out)
	case in.Room != "":
		var v office.RoomView
		s := c.sitting(inRoomAs{Room: in.Room, Seat: in.Seat, Receipt: in.Receipt})
		if v, err = c.o.RoomShow(ctx, c.caller, s); err == nil {
			state := stateOf(&v, true)
			out.Room = &state
		}
	default:
		err = c.listRooms(ctx, in, &out)
	}
	if err != nil {
		return out, inRoomWords(err)
	}
	out.Note = noteOfAll(out.Entries)
	return out, nil
}

func (c *call) listRooms(ctx context.Context, in roomIn, out *roomLookOut) (err error) {
	out.Rooms, err = paged(office.Page{Limit: in.Limit, From: in.Cursor}, maxList, func(p office.Page) ([]roomState, error) {
		found, err := c.o.RoomList(ctx, c.caller, office.RoomFilter{Closed: in.Closed, Mine: in.Mine, Page: p})
		if err != nil {
			return nil, err
		}
		out.Total, out.Next = int64(found.Total), found.Next
		list := make([]roomState, len(found.Rooms))
		for i := range found.Rooms {
			list[i] = stateOf(&found.Rooms[i], false)
		}
		return list, nil
	})
	return err
}

func (c *call) roomHistory(ctx context.Context, in roomIn, out *roomLookOut) (err error) {
	s := c.sitting(inRoomAs{Room: in.Room, Seat: in.Seat, Receipt: in.Receipt})
	if in.Last != 0 && in.Cursor == "" {
		// The newest count: where they do not all fit, the older ones are left out.
		log, err := c.o.RoomHistory(ctx, c.caller, s, office.HistoryPage{Last: in.Last, Bytes: maxBrief, Page: office.Page{Limit: in.Limit}})
		if err != nil {
			return err
		}
		out.Entries, out.Total = saidList(log.Entries), log.Total
		for fit(out.Entries, maxList) < len(out.Entries) {
			out.Entries = out.Entries[1:]
		}
		return nil
	}
	since := int64(0)
	if in.Since != nil {
		since = *in.Since
	}
	out.Entries, err = paged(office.Page{Limit: in.Limit, From: in.Cursor}, maxList, func(p office.Page) ([]said, error) {
		log, err := c.o.RoomHistory(ctx, c.caller, s, office.HistoryPage{Since: since, Bytes: maxBrief, Page: p})
		if err != nil {
			return nil, err
		}
		out.Total, out.Next = log.Total, log.Next
		return saidList(log.Entries), nil
	})
	return err
}

// wholeMessage gives a text from an offset, as much as fits.
func (c *call) wholeMessage(ctx context.Context, in roomIn, out *roomLookOut) error {
	s := c.sitting(inRoomAs{Room: in.Room, Seat: in.Seat, Receipt: in.Receipt})
	log, err := c.o.RoomHistory(ctx, c.caller, s, office.HistoryPage{Since: in.Message - 1, Page: office.Page{Limit: 1}})
	if err != nil {
		return err
	}
	if in.Offset < 0 {
		return fault.New(fault.Invalid, "no text begins at %d", in.Offset).WithHint("offset is the next_offset of the part before")
	}
	if len(log.Entries) == 0 || log.Entries[0].Seq != in.Message {
		return fault.New(fault.NotFound, "no entry %d in room %s", in.Message, log.Name).WithHint("it has %d entries", log.Total)
	}
	e := &log.Entries[0]
	e.Text, out.Offset = part(e.Text, in.Offset, maxText)
	e.Cut = in.Offset > 0 || out.Offset > 0
	out.Entries, out.Total = []said{saidOf(e)}, log.Total
	return nil
}

// text shows rooms and entries, each word of others in an element of its own.
func (out *roomLookOut) text() string {
	var lines []string
	if out.Room != nil {
		lines = append(lines, out.Room.brief())
		for _, m := range out.Room.Members {
			lines = append(lines, m.brief())
		}
		lines = append(lines, out.Room.paper()...)
		lines = append(lines, out.Room.ballots()...)
	}
	for i := range out.Rooms {
		lines = append(lines, out.Rooms[i].brief())
	}
	for i := range out.Entries {
		lines = append(lines, out.Entries[i].wrapped())
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing there")
	}
	if out.Offset > 0 {
		lines = append(lines, fmt.Sprintf("the rest: offset=%d", out.Offset))
	}
	if out.Next != "" {
		lines = append(lines, "more: cursor="+out.Next)
	}
	return strings.Join(lines, "\n")
}

// brief is a room in a line.
func (s *roomState) brief() string {
	text := "room " + s.Name
	if s.Topic != "" {
		text += ": " + quote.Line(s.Topic, maxLine)
	}
	if s.You != "" {
		text += " (you are @" + s.You + ")"
	}
	return text + " — " + s.floor()
}

// paper says where the transcript is, as far as it is told.
func (s *roomState) paper() (lines []string) {
	if s.Transcript != "" {
		lines = append(lines, "transcript, for people: "+line(s.Transcript))
	}
	return lines
}

// brief is a member in a line.
func (m *member) brief() string {
	text := "@" + m.Handle
	if m.Name != "" {
		text += " " + quote.Line(m.Name, 100)
	}
	if m.Agent != "" && m.Agent != m.Handle {
		text += " (" + m.Agent + ")"
	}
	return text + " " + string(m.Presence)
}

// ballots are the open votes, the words of who proposed quoted.
func (s *roomState) ballots() (lines []string) {
	for i := range s.Proposals {
		b := &s.Proposals[i]
		e := said{Kind: "proposed", From: b.By, Text: b.Text, Proposal: b.Number, free: true}
		lines = append(lines, fmt.Sprintf("open vote %d, %d of %d voted, until %s:", b.Number, len(b.Votes), len(b.Voters), b.Until.Format("15:04:05Z07:00")))
		if b.Text != "" {
			lines = append(lines, e.wrapped())
		}
	}
	for _, n := range s.Undecided {
		lines = append(lines, fmt.Sprintf("your vote is wanted: room_vote with proposal=%d and choice=yes, no or abstain", n))
	}
	return lines
}

// text says what came of a call: the state, then what was not read.
func (out *roomOut) text() string {
	lines := []string{out.Status + ": " + out.Room.brief()}
	for i := range out.Entries {
		lines = append(lines, out.Entries[i].wrapped())
	}
	lines = append(lines, out.Room.ballots()...)
	if out.Sent != nil {
		lines = append(lines, fmt.Sprintf("sent as number %d to @%s", out.Sent.Seq, strings.Join(out.Sent.To, ", @")))
	}
	if len(out.Absent) > 0 {
		lines = append(lines, "not there: @"+strings.Join(out.Absent, ", @"))
	}
	if len(out.Unknown) > 0 {
		lines = append(lines, "nobody here is called: "+strings.Join(out.Unknown, ", "))
	}
	lines = append(lines, out.Notes...)
	if out.Seat != "" {
		lines = append(lines, "seat for every call of this member: "+out.Seat)
	}
	lines = append(lines, out.Room.paper()...)
	if out.Kept != "" {
		lines = append(lines, "the transcript of the room before: "+out.Kept)
	}
	if out.More {
		lines = append(lines, "more is unread: room_wait")
	}
	if out.Status == office.RoomTimeout {
		lines = append(lines, "nothing yet; room_wait waits on, and you are woken anyway")
	}
	if out.Receipt != "" {
		lines = append(lines, "receipt for your next call here: "+out.Receipt)
	}
	return strings.Join(lines, "\n")
}
