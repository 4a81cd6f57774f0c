package office

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/room"
)

// TestALookIsUpToDate: who looks at a room sees no turn that is over, also when
// nobody waits in it; the turn of the one who looks does not end by that.
func TestALookIsUpToDate(t *testing.T) {
	ctx := context.Background()
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob well?")
	clk.move(room.DefaultTurnLimit)
	if v, err := d.RoomShow(ctx, bob, in("r")); err != nil || !v.YourTurn {
		t.Errorf("bob lost its turn by looking: %+v, %v", v, err)
	}
	if v, err := d.RoomShow(ctx, ana, in("r")); err != nil || v.Holder == "bob" {
		t.Errorf("ana is shown a turn that is over: %+v, %v", v, err)
	}
	if log := d.log(ana, in("r")).Entries; log[len(log)-1].Kind != room.KindLost {
		t.Errorf("%+v", log)
	}
	d.said(ana, in("r"), "@bob still there?")
	clk.move(room.DefaultTurnLimit)
	if log := d.log(ana, in("r")).Entries; log[len(log)-1].Kind != room.KindLost {
		t.Errorf("the history ends with %+v", log[len(log)-1])
	}
	d.sound()
}

// TestHowToTakePart: the refusal of one who takes no part names a step that can
// be done.
func TestHowToTakePart(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, eve := d.agent("ana"), d.agent("eve")
	d.opened(ana, Opening{Name: "closed-shop"}, "ana", "bob")
	d.opened(ana, Opening{Name: "open-house", Settings: room.Settings{Admission: room.Anyone}}, "ana")
	for name, want := range map[string]string{"closed-shop": "bureau room invite closed-shop eve", "open-house": "join it first: bureau room join open-house"} {
		_, err := d.RoomHistory(ctx, eve, in(name), HistoryPage{})
		d.want(fault.Denied, err)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Hint, want) {
			t.Errorf("%s: %q", name, f.Hint)
		}
	}
	if _, err := d.RoomClose(ctx, ana, in("closed-shop"), ""); err != nil {
		t.Fatal(err)
	}
	_, err := d.RoomHistory(ctx, eve, Sitting{Room: "closed-shop"}, HistoryPage{})
	if f := new(fault.Error); !errors.As(err, &f) || strings.Contains(f.Hint, "join") {
		t.Errorf("%v", err)
	}
	d.sound()
}
