package office

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"bureau/internal/event"
	"bureau/internal/room"
)

// TestASliceIsGivenUntilItIsProved: what a session was given counts as read
// when its next call, its receipt or its hooks prove it, and not before.
func TestASliceIsGivenUntilItIsProved(t *testing.T) {
	ctx := context.Background()
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	p := d.project("app")
	ana := d.agent("ana")
	client := livingProcess(t)
	bob := d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: client, Folder: p.Root, Project: p})
	d.opened(ana, Opening{Name: "r", Settings: room.Settings{Floor: room.OpenTalk}}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob one")
	hooked := Sitting{Room: "r", Hooked: true}

	// The client dies with it: the one that goes on gets it again.
	first := d.slice(bob, hooked)
	if !slices.Equal(texts(first.Entries), []string{"@bob one"}) || first.More || first.Receipt == "" {
		t.Fatalf("%+v", first)
	}
	if again := d.slice(bob, hooked); !slices.Equal(texts(again.Entries), []string{"@bob one"}) {
		t.Errorf("not given again: %+v", again)
	}
	bob = d.begin(Session{Client: "claude", ID: "B", Declared: "bob", Process: livingProcess(t), Folder: p.Root, Project: p})
	got := d.slice(bob, hooked)
	if !slices.Equal(texts(got.Entries), []string{"@bob one"}) {
		t.Fatalf("%+v", got)
	}
	// Hooks see it arrive inside a round; the next move after it proves it.
	result := func(s Slice) func() []byte { return func() []byte { return []byte("… " + s.Receipt + " …") } }
	if _, err := d.Round(ctx, bob, "PostToolUse", result(got), true); err != nil {
		t.Fatal(err)
	}
	d.said(ana, in("r"), "@bob two")
	second := d.slice(bob, hooked)
	if !slices.Equal(texts(second.Entries), []string{"@bob two"}) {
		t.Errorf("what arrived is given again beside the new: %+v", second)
	}
	if v, err := d.RoomShow(ctx, bob, hooked); err != nil || v.Unread != 4 || !v.Addressed {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := d.Round(ctx, bob, "PostToolBatch", result(second), false); err != nil {
		t.Fatal(err)
	}
	if err := d.Moved(ctx, bob, "Stop", true); err != nil {
		t.Fatal(err)
	}
	if v, err := d.RoomShow(ctx, bob, hooked); err != nil || v.Unread != 0 || v.Addressed {
		t.Errorf("%+v, %v", v, err)
	}
	// Without hooks the next call of the same conversation proves it, or the
	// receipt does, from wherever.
	d.said(ana, in("r"), "@bob three")
	if got := d.slice(bob, in("r")); len(got.Entries) != 1 {
		t.Errorf("%+v", got)
	}
	if got := d.slice(bob, in("r")); len(got.Entries) != 0 {
		t.Errorf("%+v", got)
	}
	d.said(ana, in("r"), "@bob four")
	third := d.slice(bob, hooked)
	other := d.beside(Options{})
	if got := other.slice(bob, Sitting{Room: "r", Receipt: third.Receipt, Hooked: true}); len(got.Entries) != 0 {
		t.Errorf("%+v", got)
	}
	// A hook that prints it reserves it first; only its print and the next move
	// prove it, and another hook of the same event does not print it too.
	d.said(ana, in("r"), "@bob five")
	printing := Taking{Printing: true}
	held, err := d.RoomSlice(ctx, bob, hooked, printing)
	if err != nil || len(held.Entries) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	if got, err := d.RoomSlice(ctx, bob, in("r"), printing); err != nil || len(got.Entries) != 0 {
		t.Errorf("printed twice: %+v, %v", got, err)
	}
	clk.move(2 * printLease) // it died
	if held, err = d.RoomSlice(ctx, bob, hooked, printing); err != nil || len(held.Entries) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	if err := d.Printed(ctx, bob, []event.ID{event.ID(held.Receipt)}, false, DefaultLease); err != nil {
		t.Fatal(err)
	}
	if got := d.slice(bob, hooked); len(got.Entries) != 0 {
		t.Errorf("%+v", got)
	}
	// A prompt cannot tell whether it arrived, and prints it again.
	again := Taking{Again: true, Printing: true}
	if held, err = d.RoomSlice(ctx, bob, hooked, again); err != nil || len(held.Entries) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	if err := d.Printed(ctx, bob, []event.ID{event.ID(held.Receipt)}, false, DefaultLease); err != nil {
		t.Fatal(err)
	}
	if err := d.Moved(ctx, bob, "PreToolUse", false); err != nil {
		t.Fatal(err)
	}
	if got, err := d.RoomSlice(ctx, bob, hooked, again); err != nil || len(got.Entries) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	// Small slices give everything once, in order.
	var want, have []string
	for i := range 30 {
		want = append(want, fmt.Sprint("@bob ", i))
		d.said(ana, in("r"), want[i])
	}
	for more := true; more; {
		got, err := d.RoomSlice(ctx, bob, in("r"), Taking{Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		have, more = append(have, texts(got.Entries)...), got.More
	}
	if !slices.Equal(have, want) {
		t.Errorf("%q", have)
	}
	d.sound()
}

// TestReadingOnATerminal: what is printed there is read; what was not is not.
func TestReadingOnATerminal(t *testing.T) {
	ctx := context.Background()
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	ana, bob := d.agent("ana"), d.agent("bob")
	d.opened(ana, Opening{Name: "r"}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob one")
	// A command that died before it printed.
	dead := bob
	dead.Process = deadProcess(1)
	d.slice(dead, in("r"))
	got := d.slice(bob, in("r"))
	if len(texts(got.Entries)) != 1 {
		t.Fatalf("%+v", got)
	}
	if err := d.RoomShown(ctx, bob, got.Receipt); err != nil {
		t.Fatal(err)
	}
	if got := d.slice(bob, in("r")); len(got.Entries) != 0 {
		t.Errorf("%+v", got)
	}
	// Two processes of one member: while the one is about to prove it, the
	// other gets nothing, and then what is left.
	d.said(bob, in("r"), "@ana two")
	d.said(ana, in("r"), "@bob three")
	one, two := bob, bob
	one.Process, two.Process = livingProcess(t), livingProcess(t)
	first := d.slice(one, in("r"))
	if second := d.slice(two, in("r")); len(first.Entries) != 1 || len(second.Entries) != 0 {
		t.Errorf("%+v, %+v", first, second)
	}
	clk.move(2 * DefaultLease)
	if second := d.slice(two, in("r")); len(second.Entries) != 1 {
		t.Errorf("%+v", second)
	}
	if err := d.RoomProve(ctx, bob, "01JUNKJUNKJUNKJUNKJUNKJUNK"); err != nil {
		t.Error(err)
	}
	d.sound()
}
