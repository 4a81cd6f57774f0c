package mcpserver

import (
	"testing"

	"bureau/internal/office"
)

// TestNothingYet says why no answer has come, where that is known.
func TestNothingYet(t *testing.T) {
	const end = "the question stays open; go on with other work, or wait again: ask with question=Q"
	for want, asked := range map[string]office.RecipientView{
		end: {Name: "bob", Here: true, Wake: "inbox"},
		"bob is not here, no way to wake; " + end:                                                   {Name: "bob", Wake: office.WakeNone},
		"bob is not rung: held back until 14:05: 20 rings in 10 min; " + end:                        {Name: "bob", Here: true, Wake: "inbox", Held: "held back until 14:05: 20 rings in 10 min"},
		"ana.Explore was a subagent and has ended; ana, whose it was, has the question now; " + end: {Name: "ana", Here: true, Wake: "inbox", For: "ana.Explore"},
	} {
		if got := nothingHint("Q", &asked); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
