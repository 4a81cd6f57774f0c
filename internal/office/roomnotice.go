package office

import (
	"strconv"
	"strings"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/room"
)

// decoded gives an event's data without the room's own number, which tells of
// whispers.
func decoded[T any](e event.Event, clear func(*T)) T {
	var d T
	_ = e.Decode(&d)
	clear(&d)
	return d
}

// notice puts an event of a room into words, and gives its data.
func notice(e event.Event) (text string, detail any) {
	switch e.Kind {
	case room.KindInvited:
		detail = decoded(e, func(d *room.InvitedOne) { d.Seq, d.Agent = 0, "" })
	case room.KindJoined, room.KindReturned:
		detail = decoded(e, func(d *room.Arrival) { d.Seq, d.Agent, d.Seat, d.Session, d.Loose = 0, "", "", "", false })
	case room.KindLeft, room.KindGone:
		detail = decoded(e, func(d *room.Departure) { d.Seq = 0 })
	case room.KindStarted:
		detail = decoded(e, func(d *room.Began) { d.Seq = 0 })
	case room.KindTurn:
		detail = decoded(e, func(d *room.Turn) { d.Seq = 0 })
	case room.KindLost, room.KindPassed, room.KindSkipped:
		detail = decoded(e, func(d *room.Yield) { d.Seq = 0 })
	case room.KindProposed:
		detail = decoded(e, func(d *room.Proposal) { d.Seq = 0 })
	case room.KindVoted:
		detail = decoded(e, func(d *room.Voted) { d.Seq = 0 })
	case room.KindDecided:
		detail = decoded(e, func(d *room.Decided) { d.Seq = 0 })
	case room.KindClosed:
		detail = decoded(e, func(d *room.ClosedBy) { d.Seq = 0 })
	}
	return roomWordsIn("en").notice(e.Kind, detail), detail
}

// notice puts what happened in a room into words. detail is what the function
// notice gives for an event of that kind; what members wrote stays as it is.
func (w *roomWords) notice(kind event.Kind, detail any) string {
	switch d := detail.(type) {
	case room.InvitedOne:
		if d.By == "" {
			return put(w.invited, room.At(d.Handle))
		}
		return put(w.invitedBy, room.At(d.Handle), atName(d.By))
	case room.Arrival:
		if kind == room.KindJoined {
			return put(w.joined, room.At(d.Handle))
		}
		return put(w.returned, room.At(d.Handle))
	case room.Departure:
		text, reason := put(w.gone, room.At(d.Handle)), w.whyGone(d.Reason)
		if kind == room.KindLeft {
			text, reason = put(w.left, room.At(d.Handle)), d.Reason // its own words
		}
		if reason != "" {
			text += " (" + inBrackets.Replace(reason) + ")"
		}
		return text
	case room.Began:
		text := w.begins
		switch {
		case d.By != "":
			text += put(w.beginsBy, atName(d.By))
		case d.Why == "limit":
			text += w.beginsLate
		}
		if len(d.Missing) > 0 {
			text += put(w.absent, atList(d.Missing))
		}
		return text
	case room.Turn:
		return w.free
	case room.Yield:
		h := room.At(d.Handle)
		switch {
		case kind == room.KindPassed:
			return put(w.passed, h)
		case kind == room.KindSkipped && d.By == "":
			return put(w.skipped, h)
		case kind == room.KindSkipped:
			return put(w.skippedBy, h, atName(d.By))
		case d.Why == "limit":
			return put(w.lostLate, h)
		case d.Why == "away":
			return put(w.lostAway, h)
		}
		return put(w.lost, h)
	case room.Proposal:
		return d.Text
	case room.Voted:
		return put(w.voted, room.At(d.By), w.word(string(d.Choice)), strconv.Itoa(d.Number))
	case room.Decided:
		return put(w.decided, strconv.Itoa(d.Number), w.word(string(d.Outcome)), strconv.Itoa(d.Yes), strconv.Itoa(d.No), strconv.Itoa(d.Abstain), strconv.Itoa(d.Quorum))
	case room.ClosedBy:
		text := w.closed
		if d.By != "" {
			text = put(w.closedBy, atName(d.By))
		}
		if d.Forced {
			text += w.forced
		}
		if d.Summary != "" {
			text += w.says + d.Summary
		}
		return text
	}
	return string(kind)
}

// Author gives the handle of whose own words are in an entry's text, "" where the
// text is the office's alone: a message, a proposal, the summary of who closed
// the room, the reason of who left.
func (e *RoomEntry) Author() name.Name {
	switch d := e.Detail.(type) {
	case room.ClosedBy:
		if d.Summary != "" {
			return name.Name(d.By)
		}
	case room.Departure:
		if e.Kind == room.KindLeft && d.Reason != "" {
			return d.Handle
		}
	}
	if e.Message || e.Kind == room.KindProposed {
		return e.From
	}
	return ""
}

// inBrackets keeps a member's reason from closing the brackets that it stands
// in: what follows them would be the office's word.
var inBrackets = strings.NewReplacer("(", "[", ")", "]")

func atName(who string) string { return "@" + strings.TrimPrefix(who, "@") }

func atList(list []name.Name) string {
	words := make([]string, len(list))
	for i, h := range list {
		words[i] = room.At(h)
	}
	return strings.Join(words, ", ")
}
