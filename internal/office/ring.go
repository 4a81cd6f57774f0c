package office

import (
	"bureau/internal/bell"
	"bureau/internal/editflag"
	"bureau/internal/event"
	"bureau/internal/mailflag"
)

// tell notes that agents have to be rung after the commit; mail says that it
// is for something new in their mailbox.
func (tx *Tx) tell(mail bool, agents ...event.ID) {
	for _, a := range agents {
		if a == "" {
			continue
		}
		tx.bells[string(a)] = true
		if mail {
			tx.flags[a] = true
		}
	}
}

// ring does what follows a commit. Bells and flags are hints: what fails here
// is made up for by the next look of whoever waits.
func (tx *Tx) ring() {
	if tx.ringing != nil {
		tx.ringing()
	}
	if len(tx.flags) > 0 {
		agents := make([]string, 0, len(tx.flags))
		for a := range tx.flags {
			agents = append(agents, string(a))
		}
		_ = mailflag.Raise(tx.o.run.FlagDir(), agents...)
	}
	for scope := range tx.claimed {
		_ = editflag.Raise(tx.o.run.EditDir(), scope)
	}
	for _, fn := range tx.after {
		fn()
	}
	if len(tx.bells) > 0 {
		topics := make([]string, 0, len(tx.bells))
		for t := range tx.bells {
			topics = append(topics, t)
		}
		_, _ = bell.Ring(tx.o.run.BellDir(), topics...)
	}
}

// listen hangs up a bell for agents, or for everything ("all").
func (o *Office) listen(topics ...string) (*bell.Bell, error) {
	return bell.Listen(o.run.BellDir(), topics...)
}
