package mail

import (
	"slices"

	"bureau/internal/event"
)

// PassOn gives what a participant that is gone for good leaves in a thread to
// another agent, or ends it if there is none (To ""). What is unread is the
// office's to know. Nothing is decided where nothing is left.
type PassOn struct {
	From, To event.ID
	Unread   []event.ID // what From had not read of the thread, or not acknowledged
	Void     []event.ID // those of them that need no other reader
	Answered []event.ID // questions that To was asked as well, and has answered
}

func (c PassOn) decide(d *decision) error {
	passed := PassedOn{From: c.From, To: c.To}
	for _, q := range slices.Clone(d.t.Questions) {
		asked := q.Asked == c.From
		dest := q.AnswerTo
		if dest == "" {
			dest = q.Asker
		}
		switch {
		case asked && (c.To == "" || q.Asker == c.To || dest == c.To || slices.Contains(c.Answered, q.ID) ||
			slices.ContainsFunc(d.t.Questions, func(x OpenQuestion) bool { return x.ID == q.ID && x.Asked == c.To })),
			!asked && dest == c.From && (c.To == "" || q.Asked == c.To):
			// Nobody is left to answer it, or to want the answer.
			d.emit(KindEnded, EndedQuestion{ID: q.ID, Asked: q.Asked, Reason: Gone})
		case asked:
			passed.Messages = append(passed.Messages, q.ID)
		}
	}
	for _, id := range c.Unread {
		switch {
		case slices.Contains(passed.Messages, id):
		case c.To == "" || slices.Contains(c.Void, id):
			passed.Void = append(passed.Void, id)
		default:
			passed.Messages = append(passed.Messages, id)
		}
	}
	wanted := slices.ContainsFunc(d.t.Questions, func(q OpenQuestion) bool {
		return q.AnswerTo == c.From || q.Asker == c.From && q.AnswerTo == ""
	})
	if len(passed.Messages)+len(passed.Void) > 0 || wanted && c.To != "" {
		d.emit(KindPassed, passed)
	}
	return nil
}

// Gone is why a question ended whose asker, or who was asked, is gone for good
// and left it to nobody.
const Gone = "gone"
