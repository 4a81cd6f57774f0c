package cli

import (
	"testing"

	"bureau/internal/office"
)

// TestNoticing says of a recipient what is known of how it notices mail.
func TestNoticing(t *testing.T) {
	a := newApp(IO{})
	for want, r := range map[string]office.RecipientView{
		"here, inbox": {Here: true, Wake: "inbox"},
		"here, inbox, held back until 14:05: 20 rings in 10 min": {Here: true, Wake: "inbox", Held: "held back until 14:05: 20 rings in 10 min"},
		"not here, no way to wake; never seen on this machine":   {Wake: office.WakeNone},
		"for ana.Explore, which has ended; here, inbox":          {Here: true, Wake: "inbox", For: "ana.Explore"},
		"here, its lead": {Here: true, Wake: office.WakeLead},
		"not here, no way to wake: start it; never seen on this machine": {Wake: office.WakeNone, Hint: "start it"},
	} {
		if got := a.noticing(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
