package office

import (
	"context"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/mail"
)

// A thread does not go down with its owner: the person can always give it hops
// or close it, and once the owner is retired every participant can.
func TestThreadsOfTheRetired(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob, eve := d.agent("ana"), d.agent("bob"), d.agent("eve")
	first, second := d.send(ana, "bob", "hello"), d.send(ana, "bob", "another thing")
	_, err := d.GrantHops(ctx, bob, string(first.Thread), 1)
	d.want(fault.Denied, err)
	before, err := d.GrantHops(ctx, d.user(), string(first.Thread), 1)
	if err != nil {
		t.Fatalf("the person cannot grant: %v", err)
	}
	if _, err := d.Retire(ctx, d.user(), "ana", ""); err != nil {
		t.Fatal(err)
	}
	after, err := d.GrantHops(ctx, bob, string(first.Thread), 2)
	if err != nil || after.HopsLeft != before.HopsLeft+2 {
		t.Fatalf("a participant cannot grant: %+v, %v", after, err)
	}
	_, err = d.CloseThread(ctx, eve, string(first.Thread), "")
	d.want(fault.Denied, err)
	if v, err := d.CloseThread(ctx, bob, string(first.Thread), "done"); err != nil || v.Status != mail.Closed {
		t.Errorf("a participant cannot close: %+v, %v", v, err)
	}
	if v, err := d.CloseThread(ctx, d.user(), string(second.Thread), "done"); err != nil || v.Status != mail.Closed {
		t.Errorf("the person cannot close: %+v, %v", v, err)
	}
	d.sound()
}
