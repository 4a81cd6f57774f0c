package hook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/quote"
	"bureau/internal/room"
)

const (
	// roomBudget is how much of an event's text is about rooms, in UTF-16 units;
	// roomsShown is how many of them are named, entriesShown how many entries of
	// one are quoted.
	roomBudget   = 4000
	roomsShown   = 8
	entriesShown = 12
	// entryLeast is kept for each entry that follows, when a long one is cut.
	entryLeast   = 150
	topicColumns = 80
)

// roomNews is what an event tells of rooms.
type roomNews struct {
	text     string
	rooms    int        // how many want something
	receipts []event.ID // of the entries in the text
	position event.Seq  // of the newest reason
}

// roomNews composes what rooms want of the caller: at a prompt and at a start
// all of it, else what it was not told yet. What it has not read is reserved
// and quoted, as far as most units allow.
func (h *visit) roomNews(d delivery, most int) (n roomNews, err error) {
	calls, err := h.o.RoomNews(h.ctx, h.caller, d.again)
	if err != nil || len(calls) == 0 {
		return n, err
	}
	st, err := h.o.Stops(h.ctx, h.caller)
	if err != nil {
		return n, err
	}
	calls = slices.DeleteFunc(calls, func(c office.RoomCall) bool {
		return c.Attended || d.again != presence.Everything && (!c.Fresh || c.Position() <= st.Told)
	})
	// What came last is the most likely to be what the event is about.
	slices.SortStableFunc(calls, func(a, b office.RoomCall) int { return int(b.Position() - a.Position()) })
	how := h.how()
	how.suffix = randomSuffix()
	for i := range calls {
		c := &calls[i]
		used := quote.UTF16Len(n.text)
		if i == roomsShown || used+3*entryLeast > most {
			n.text = join(n.text, fmt.Sprintf("bureau: %s: %s", count(len(calls)-i, "more room"), how.way("the room tool with mine=true", "bureau room list --mine")))
			break
		}
		text, receipt, err := h.roomPart(c, d, how, most-used)
		if err != nil {
			return n, err
		}
		if text == "" {
			continue
		}
		n.text, n.rooms, n.position = join(n.text, text), n.rooms+1, max(n.position, c.Position())
		if receipt != "" {
			n.receipts = append(n.receipts, event.ID(receipt))
		}
	}
	return n, nil
}

// roomPart tells of one room; "" when another hook of the same member tells it.
func (h *visit) roomPart(c *office.RoomCall, d delivery, how style, most int) (text, receipt string, err error) {
	var slice office.Slice
	if c.Yours && c.Here && c.Unread > 0 {
		s := office.Sitting{Room: string(c.Room), Hooked: true}
		slice, err = h.o.RoomSlice(h.ctx, h.caller, s, office.Taking{
			Limit: entriesShown, Bytes: most / 2, Text: most / 4, Again: d.again == presence.Everything, Printing: true,
		})
		if err != nil || len(slice.Entries) == 0 && d.again != presence.Everything {
			return "", "", err
		}
	}
	text = roomLine(c, len(slice.Entries), how)
	for i := range slice.Entries {
		left := most - quote.UTF16Len(text) - entryLeast*(len(slice.Entries)-i-1)
		text += "\n" + roomEntry(c, &slice.Entries[i], how, left)
	}
	return text, slice.Receipt, nil
}

// roomLine says in our own words what a room wants, and how to give it.
func roomLine(c *office.RoomCall, shown int, s style) string {
	name, ref := string(c.Name), roomRef(c)
	var why, how []string
	for _, w := range c.Why {
		switch w {
		case office.CallInvited:
			why = append(why, "you are invited")
			how = append(how, "Come with "+s.way("the room_join tool", "bureau room join "+name)+".")
		case office.CallTurn:
			why = append(why, "it is your turn")
			how = append(how, "Speak with "+s.way("the room_say tool", "bureau room say "+name+" TEXT")+"; or pass.")
		case office.CallAddressed:
			who := room.At(c.From)
			if c.Relayed != "" {
				who += " (relayed by " + room.At(c.Relayed) + ")"
			}
			switch {
			case c.AsksUser:
				why = append(why, who+" asks @user")
				how = append(how, asksUser(c, s))
			case c.From != "":
				why = append(why, who+" addresses you")
			default:
				why = append(why, "something is for you")
			}
		case office.CallClosed:
			why = append(why, "the room is closed")
		case office.CallVote:
			why = append(why, "your vote is wanted")
			how = append(how, "Vote with "+s.way("the room_vote tool", "bureau room vote "+name+" yes|no|abstain")+".")
		}
	}
	if !slices.Contains(c.Why, office.CallInvited) {
		switch more := int(c.Unread) - shown; {
		case !c.Yours:
			// Its seat's token is known to whoever plays it, and so is what it reads.
			how = append(how, "Act with its seat.")
		case !c.Here && !slices.Contains(c.Why, office.CallClosed):
			how = append(how, "You are noted as gone; what brings you back: "+s.way("the room_wait tool", "bureau room wait "+name)+".")
		case more > 0:
			how = append(how, fmt.Sprintf("%d unread: %s.", more, s.way("the room_wait tool", "bureau room wait "+ref)))
		}
	}
	as := "as " + room.At(c.Handle)
	if c.Topic != "" {
		as = "about " + words(c.Topic, topicColumns) + ", " + as
	}
	return strings.TrimRight("bureau: in room "+name+", "+as+": "+strings.Join(why, "; ")+". "+strings.Join(how, " "), " ")
}

// asksUser says to the moderator how the person answers what he is asked.
func asksUser(c *office.RoomCall, s style) string {
	text := "Tell your user, who answers in a terminal: bureau room say " + string(c.Name) + " TEXT."
	if c.MayRelay {
		text += " What he types to you is posted with " + s.way("the room_say tool's relay_user", "bureau room say "+string(c.Name)+" --relay-user TEXT") + "."
	}
	return text
}

// roomRef is what names the room in a command: another may have the name of one
// that is closed.
func roomRef(c *office.RoomCall) string {
	if slices.Contains(c.Why, office.CallClosed) {
		return c.Short
	}
	return string(c.Name)
}

// roomEntry quotes an entry: words of somebody in an element that they cannot
// leave, what happened in a line. What is longer than most is cut, and says so.
func roomEntry(c *office.RoomCall, e *office.RoomEntry, s style, most int) string {
	name, ref := string(c.Name), roomRef(c)
	number := strconv.FormatInt(e.Seq, 10)
	if !ofSomebody(e) {
		return "[" + number + "] " + line(e.Text, max(min(most-20, 200), 40))
	}
	w := quote.Wrapper{
		Suffix: s.suffix, From: room.At(e.From), Kind: strings.TrimPrefix(string(e.Kind), "room."), Note: quote.NotePeer, Body: e.Text,
		Attrs: []quote.Attr{{Name: "room", Value: name}, {Name: "number", Value: number}},
	}
	if e.From == room.User && e.Relayed == "" {
		w.Note = quote.NoteHuman
	}
	add := func(name, value string) { w.Attrs = append(w.Attrs, quote.Attr{Name: name, Value: value}) }
	to := make([]string, 0, namesShown)
	for _, t := range e.To[:min(len(e.To), namesShown)] {
		to = append(to, room.At(t))
	}
	if len(to) > 0 {
		add("to", andMore(strings.Join(to, ", "), len(e.To)-namesShown))
	}
	if e.Relayed != "" {
		add("relayed-by", room.At(e.Relayed))
	}
	whole := s.way("the room tool with message="+number, "bureau room read "+ref+" "+number)
	note := fmt.Sprintf("only the beginning of %d bytes; the rest: %s", e.Bytes, whole)
	if e.Lost != "" {
		note = "only the beginning is left: " + head(e.Lost, subjectRunes)
	}
	if e.Cut || e.Lost != "" {
		add("cut", note)
	}
	text := quote.Message(w)
	if quote.UTF16Len(text) <= most {
		return text
	}
	if !e.Cut && e.Lost == "" {
		add("cut", note)
	}
	body := w.Body
	for room := most; room > 0; room = room * 3 / 4 {
		w.Body, _ = quote.CutUTF16(body, room)
		if text = quote.Message(w); quote.UTF16Len(text) <= most {
			return text
		}
	}
	return fmt.Sprintf("[%s] from %s: %s", number, room.At(e.From), whole)
}

// ofSomebody reports whether an entry's text holds somebody's own words.
func ofSomebody(e *office.RoomEntry) bool {
	switch d := e.Detail.(type) {
	case room.Proposal:
		return true
	case room.ClosedBy:
		return d.Summary != ""
	case room.Departure:
		return d.Reason != ""
	}
	return e.Message
}
