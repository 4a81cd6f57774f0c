package office

import (
	"bureau/internal/mail"
	"bureau/internal/projection"
)

// quietWord gives how somebody notices a message that may wake nobody, and why
// nobody rings for it, where a louder one would have another way: word. held is
// "" for a message that rings, and where nothing rings anyway.
func quietWord(word string, m *mail.Message) (how, held string) {
	why := mail.Silent(m)
	switch {
	case why == "", word == WakeWaiting, word == WakeTerminal, word == WakeNone:
		return word, ""
	case word == WakeBusy && m.Importance >= mail.Normal:
		return word, "" // the turn that runs brings it
	}
	return WakePrompt, "not rung: " + why
}

// quieten makes recipients say so.
func quieten(list []RecipientView, m *mail.Message) {
	for i := range list {
		if r := &list[i]; r.Here {
			r.Wake, r.Held = quietWord(r.Wake, m)
			r.quiet = r.Held != ""
		}
	}
}

// Quiet reports whether the message that the recipient was described for wakes
// nobody, so that nobody needs to ring.
func (r *RecipientView) Quiet() bool { return r.quiet }

// wakingPart is what of a stored message says whether it wakes.
func wakingPart(m *projection.Message) *mail.Message {
	return &mail.Message{Kind: m.Kind, Importance: m.Importance, NoWake: m.NoWake, Group: m.Group}
}
