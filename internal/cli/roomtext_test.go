package cli

import (
	"html"
	"strings"
	"testing"

	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/room"
)

// TestEntriesForAModel: what somebody wrote is never shown to a model as the
// office's words, wherever in a room it was written.
func TestEntriesForAModel(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry office.RoomEntry
		from  string
		note  string // "" for none
	}{
		{"a message", office.RoomEntry{Kind: room.KindSaid, Message: true, From: "ana"}, "ana", quote.NotePeer},
		{"the person's", office.RoomEntry{Kind: room.KindSaid, Message: true, From: room.User}, "user", quote.NoteHuman},
		{"relayed", office.RoomEntry{Kind: room.KindSaid, Message: true, From: room.User, Relayed: "ana"}, "user", noteRelayed},
		{"a proposal", office.RoomEntry{Kind: room.KindProposed, From: "ana", Detail: room.Proposal{Number: 1}}, "ana", quote.NotePeer},
		{"a summary", office.RoomEntry{Kind: room.KindClosed, Detail: room.ClosedBy{By: "ana", Summary: "x"}}, "ana", quote.NotePeer},
		{"the person's summary", office.RoomEntry{Kind: room.KindClosed, Detail: room.ClosedBy{By: "user", Summary: "x"}}, "user", quote.NoteHuman},
		{"closed without a word", office.RoomEntry{Kind: room.KindClosed, Detail: room.ClosedBy{By: "ana"}}, "bureau", ""},
		{"a reason", office.RoomEntry{Kind: room.KindLeft, From: "ana", Detail: room.Departure{Handle: "ana", Reason: "x"}}, "ana", quote.NotePeer},
		{"gone", office.RoomEntry{Kind: room.KindGone, From: "ana", Detail: room.Departure{Handle: "ana", Reason: "its process ended"}}, "bureau", ""},
		{"joined", office.RoomEntry{Kind: room.KindJoined, From: "ana", Detail: room.Arrival{Handle: "ana"}}, "bureau", ""},
	} {
		tc.entry.Text = "these words"
		got := html.UnescapeString(entryForModel("debate", &tc.entry))
		if !strings.Contains(got, `from="`+tc.from+`"`) || !strings.Contains(got, "these words") {
			t.Errorf("%s: %s", tc.name, got)
		}
		for _, note := range []string{quote.NotePeer, quote.NoteHuman, noteRelayed} {
			if strings.Contains(got, note) != (note == tc.note) {
				t.Errorf("%s: the note %q in %s", tc.name, note, got)
			}
		}
	}
}
