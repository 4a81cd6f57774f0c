package cli

import (
	"context"
	"slices"
	"strings"

	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/room"
)

// roomsShown is how many rooms stand among how things stand.
const roomsShown = 5

// openRooms gives the open rooms with the newest events.
func openRooms(ctx context.Context, o *office.Office, caller office.Caller) (office.Rooms, error) {
	return o.RoomList(ctx, caller, office.RoomFilter{Page: office.Page{Limit: roomsShown}})
}

// standingRooms prints the open rooms with whose turn it is.
func (a *app) standingRooms(ctx context.Context, o *office.Office, caller office.Caller) error {
	list, err := openRooms(ctx, o, caller)
	if err != nil {
		return err
	}
	if list.Total > 0 {
		a.printf("open rooms: %d\n", list.Total)
	}
	for i := range list.Rooms {
		v := &list.Rooms[i]
		a.printf("%s\n", a.line("  ", string(v.Name)+": "+floorWords(a, v), v.Topic))
	}
	if n := list.Total - len(list.Rooms); n > 0 {
		a.printf("  … and %d more: bureau room list\n", n)
	}
	return nil
}

// askRooms prints what rooms want of the caller, and says how many want it.
func (a *app) askRooms(ctx context.Context, o *office.Office, caller office.Caller) (int, error) {
	asks, err := roomAsks(ctx, o, caller)
	for i := range asks {
		says, way := asks[i].words(a.bureau())
		says = safeLine(says, max(a.width()-quote.Width(way)-len(" ()"), 20)) // the way to answer is not cut
		a.printf("%s\n", a.bold(says+" ("+way+")"))
	}
	return len(asks), err
}

// roomAsk is what a room wants of the caller, with the words of who asks.
type roomAsk struct {
	office.RoomCall
	Entry *office.RoomEntry `json:"entry,omitempty"` // the newest that is meant for the caller
}

// words says who asks what, and how to answer.
func (r *roomAsk) words(bureau string) (says, way string) {
	head := "room " + string(r.Name) + ": "
	answer := bureau + " room say " + string(r.Name) + " TEXT"
	switch {
	case r.Entry != nil:
		verb, whom := " asks ", r.Handle
		if r.Entry.Private {
			verb, answer = " whispers to ", bureau+" room whisper "+string(r.Name)+" --to "+string(r.Entry.From)+" TEXT"
		}
		if r.AsksUser {
			whom = room.User // the moderator is told, and can answer for him or not
			if answer = "the person answers: " + answer; r.MayRelay {
				answer = "the person answers, or you with --relay-user"
			}
		}
		return head + speaker(r.Entry) + verb + room.At(whom) + ": " + safeLine(r.Entry.Text, 0), answer
	case slices.Contains(r.Why, office.CallTurn):
		return head + "it is your turn", answer
	case slices.Contains(r.Why, office.CallVote):
		return head + "your vote is wanted", bureau + " room show " + string(r.Name)
	case slices.Contains(r.Why, office.CallInvited):
		return head + "you are invited", bureau + " room join " + string(r.Name)
	}
	return head + "something is new for you", bureau + " room wait " + string(r.Name)
}

// lookBack is among how many of the last entries the one is looked for that
// addresses the caller.
const lookBack = 50

// roomAsks gives what open rooms want of the caller. It marks nothing as read.
func roomAsks(ctx context.Context, o *office.Office, caller office.Caller) ([]roomAsk, error) {
	calls, err := o.RoomsFor(ctx, caller.Agent.ID)
	if err != nil {
		return nil, err
	}
	asks := make([]roomAsk, len(calls))
	for i, c := range calls {
		asks[i].RoomCall = c
		if !slices.Contains(c.Why, office.CallAddressed) {
			continue
		}
		s := office.Sitting{Room: string(c.Room), Hooked: true} // a look proves nothing
		v, err := o.RoomShow(ctx, caller, s)
		if err != nil {
			return nil, err
		}
		log, err := o.RoomHistory(ctx, caller, s, office.HistoryPage{Last: lookBack, Bytes: headBytes})
		if err != nil {
			return nil, err
		}
		for n := range log.Entries {
			e := &log.Entries[n]
			meant := e.Addressed || c.AsksUser && slices.Contains(e.To, room.User)
			if e.Seq > v.Read && meant && e.Message && strings.TrimSpace(e.Text) != "" {
				asks[i].Entry = e
			}
		}
	}
	return asks, nil
}
