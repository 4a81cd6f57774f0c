package office

import (
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
)

// idFor mints an id, or derives it from sender and client id.
func (tx *Tx) idFor(caller Caller, l *Letter, what string) event.ID {
	switch {
	case what == "message" && tx.mint != "":
		return tx.mint
	case l.ClientID == "":
		return event.NewID(tx.now)
	}
	return event.Derive(what, string(caller.Agent.ID), l.ClientID)
}

func (tx *Tx) recordID(caller Caller, l *Letter) event.ID {
	if l.ClientID == "" {
		return ""
	}
	return tx.idFor(caller, l, "record")
}

// repeated answers a letter whose client id was used before: the stored one,
// or a refusal if it said something else.
func (tx *Tx) repeated(caller Caller, l *Letter, m *mail.Message) (Sent, bool, error) {
	rec, found, err := tx.o.journal.In(tx.t).Lookup(tx.recordID(caller, l))
	if err != nil || !found {
		return Sent{}, false, err
	}
	for _, e := range rec.Events {
		var old mail.Message
		switch e.Kind {
		case mail.KindSent:
			err = e.Decode(&old)
		case mail.KindBroadcasted:
			var d mail.Posted
			err = e.Decode(&d)
			old = d.Message
		default:
			continue
		}
		if err != nil {
			return Sent{}, false, err
		}
		if old.Request != m.Request {
			break
		}
		sent := Sent{ID: old.ID, State: mail.Stored, Kind: old.Kind, Answers: old.Answers, Repeated: true, Group: old.Group}
		if id, ok := strings.CutPrefix(string(rec.Subject), "thread."); ok {
			sent.Thread = event.ID(id)
		}
		for _, to := range old.To {
			sent.Recipients = append(sent.Recipients, RecipientView{Name: tx.nameOf(to), agent: to})
		}
		if old.Group != "" {
			sent.Recipients, err = tx.copies(old.ID)
		}
		return sent, true, err
	}
	return Sent{}, false, fault.New(fault.Conflict, "the client id %q was used for another message", l.ClientID).
		WithHint("give every message a client id of its own; nothing was sent")
}
