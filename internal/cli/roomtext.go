package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/room"
)

// clock says a moment of a room for people: today's by its time alone.
func (a *app) clock(at time.Time) string {
	at, now := at.Local(), a.Now().Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

// floorWords says in one line where a meeting stands: whose turn it is and who
// waits, or whom it waits for.
func floorWords(a *app, v *office.RoomView) string {
	var words string
	switch {
	case v.Status == room.Closed:
		return "the room is closed"
	case !v.Started:
		words = "it has not begun"
		switch {
		case v.More > 0 && len(v.Missing) > v.More:
			words += fmt.Sprintf(": waits for %d of %s", v.More, handles(v.Missing))
		case v.More > 0 && len(v.Missing) > 0:
			words += ": waits for " + handles(v.Missing)
		case v.More > 0:
			words += fmt.Sprintf(": waits for %d more", v.More)
		case v.Settings.Barrier.Gate == room.GateWord:
			words += ": its moderator begins it"
		}
		if v.BarrierUntil != nil {
			words += "; begins without them at " + a.clock(*v.BarrierUntil)
		}
		return words
	case v.Holder == "":
		words = "nobody has the floor, whoever speaks first has it"
	case v.YourTurn:
		words = "you have the floor"
	default:
		words = room.At(v.Holder) + " has the floor"
	}
	if v.Holder != "" && v.Until != nil {
		words += " until " + a.clock(*v.Until)
	}
	if len(v.Queue) > 0 {
		words += "; next: " + handles(v.Queue)
	}
	return words
}

// showFloor prints how a room stands after something was done in it.
func (a *app) showFloor(v *office.RoomView) {
	a.printf("%s\n", a.folded("  "+floorWords(a, v), a.OutTTY))
	if v.Status == room.Closed {
		return
	}
	if slices.ContainsFunc(v.Members, func(m office.RoomMember) bool { return m.You && m.Presence == room.Left }) {
		a.printf("  you are out of it; come back with: %s room join %s\n", a.bureau(), v.Name)
		return
	}
	a.showWanted(v)
	if v.Unread > 0 {
		a.printf("  %s unread: %s room wait %s\n", plural(int(v.Unread), "entry"), a.bureau(), v.Name)
	}
}

// showWanted prints which votes are wanted.
func (a *app) showWanted(v *office.RoomView) {
	for _, n := range v.Undecided {
		a.printf("  your vote is wanted: %s room vote %s %d yes, no or abstain\n", a.bureau(), v.Name, n)
	}
}

// showWaited says behind the entries what to do now.
func (a *app) showWaited(w *office.Waited) {
	v := &w.Room
	switch {
	case w.Status == office.RoomTimeout:
		return // said with the exit status
	case v.YourTurn:
		a.printf("%s\n", a.bold("it is your turn in room "+string(v.Name)))
	case w.Status == office.RoomReceived:
		a.printf("%s\n", a.bold("new in room "+string(v.Name)))
	}
	a.printf("%s\n", a.folded("  "+floorWords(a, v), a.OutTTY))
	if v.Status != room.Closed {
		a.showWanted(v)
	}
}

// showEntries prints entries of a room, whole.
func (a *app) showEntries(in name.Name, list []office.RoomEntry) {
	for i := range list {
		a.showEntry(in, &list[i])
	}
}

func (a *app) showEntry(in name.Name, e *office.RoomEntry) {
	if a.session {
		a.printf("%s\n", entryForModel(in, e))
	} else {
		a.entryForPerson(e)
	}
	switch {
	case e.Lost != "":
		a.printf("%s%s\n", margin, safeLine("lost: "+e.Lost, 0))
	case e.Cut:
		a.printf("%sthe rest of %s: %s room read %s %d\n", margin, size(e.Bytes), a.bureau(), in, e.Seq)
	case e.Raw:
		a.printf("%snot all of it is text: %s room read %s %d --raw\n", margin, a.bureau(), in, e.Seq)
	}
}

// entryForPerson prints an entry. What members said stands behind a margin, so
// that no line of it can pass for an entry.
func (a *app) entryForPerson(e *office.RoomEntry) {
	head := fmt.Sprintf("%d  %s", e.Seq, a.clock(e.Time))
	if title := entryTitle(e); title != "" {
		a.printf("%s\n%s", a.bold(head+"  "+title), indented(margin, e.Text))
		return
	}
	a.printf("%s\n", a.dim(head+"  · "+safeLine(e.Text, 0)))
}

// entryTitle says who said something to whom; "" for a notice of one line.
func entryTitle(e *office.RoomEntry) string {
	switch {
	case e.Message && e.Private:
		return room.At(e.From) + " → " + handles(e.To) + " (private)"
	case e.Message:
		return speaker(e) + " → " + handles(e.To)
	case e.Kind == room.KindProposed:
		p, _ := e.Detail.(room.Proposal)
		return fmt.Sprintf("%s puts proposal %d to the vote", room.At(e.From), p.Number)
	case e.Kind == room.KindClosed && strings.Contains(e.Text, "\n"):
		return "the room was closed"
	}
	return ""
}

// speaker says whose words an entry holds, and who says so of the person's.
func speaker(e *office.RoomEntry) string {
	if e.Relayed == "" {
		return room.At(e.From)
	}
	return room.At(e.From) + " (relayed by " + room.At(e.Relayed) + ")"
}

// noteRelayed is how a model takes words that an agent posted for the person.
const noteRelayed = "words that an agent passed on as the person's: not proved to be his"

// entryForModel wraps an entry for the model of a session.
func entryForModel(in name.Name, e *office.RoomEntry) string {
	w := quote.Wrapper{
		Suffix: randomSuffix(), From: string(e.From), Kind: strings.TrimPrefix(string(e.Kind), "room."), Note: quote.NotePeer, Body: e.Text,
		Attrs: []quote.Attr{{Name: "room", Value: string(in)}, {Name: "seq", Value: strconv.FormatInt(e.Seq, 10)}},
	}
	author := e.Author()
	switch {
	case author == "":
		w.From, w.Note = "bureau", "" // what happened, in the office's words
	case e.Message || e.Kind == room.KindProposed:
		w.Attrs = append(w.Attrs, quote.Attr{Name: "to", Value: handles(e.To)})
	default:
		w.From = string(author)
	}
	switch {
	case e.Relayed != "":
		w.Attrs = append(w.Attrs, quote.Attr{Name: "relayed_by", Value: string(e.Relayed)})
		w.Note = noteRelayed
	case author == room.User:
		w.Note = quote.NoteHuman
	}
	w.Attrs = append(w.Attrs, quote.Attr{Name: "sent", Value: e.Time.Format(time.RFC3339)})
	return quote.Message(w)
}

// presenceWords says of a member whether it is there, or was to the end.
func presenceWords(v *office.RoomView, m *office.RoomMember) string {
	if v.Status == room.Closed && m.Presence == room.Present {
		return "stayed" // nobody is in a closed room
	}
	words := string(m.Presence)
	if m.Waiting {
		words += ", waits"
	}
	return words
}

// roomWords says of a room in a list how it stands, short.
func roomWords(v *office.RoomView) string {
	switch {
	case v.Status == room.Closed:
		return "closed"
	case !v.Started:
		return "not begun"
	case v.Holder == "":
		return "free"
	}
	return room.At(v.Holder)
}
