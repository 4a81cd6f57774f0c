package office

import (
	"context"
	"fmt"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
)

// Answer sends the answer to a question. question may be "" when exactly one
// waits for the caller.
func (o *Office) Answer(ctx context.Context, caller Caller, question string, l Letter) (Sent, error) {
	if question == "" {
		open, err := o.OpenQuestions(ctx, caller)
		if err != nil {
			return Sent{}, err
		}
		switch len(open) {
		case 0:
			return Sent{}, fault.New(fault.NotFound, "no question waits for an answer from %s", caller.Agent.Name).WithHint("bureau send NAME TEXT writes to somebody")
		case 1:
			question = string(open[0].ID)
		default:
			lines := make([]string, len(open))
			for i, q := range open {
				lines[i] = fmt.Sprintf("%s from %s (%q)", q.Short, q.Asker, head(q.Text, 40))
			}
			return Sent{}, fault.New(fault.Conflict, "%d questions wait for %s", len(open), caller.Agent.Name).
				WithHint("say which: %s", strings.Join(lines, ", ")).WithDetail(open)
		}
	}
	l.Answers, l.Kind = question, mail.Answer
	return o.Send(ctx, caller, l)
}

// Unanswered lists the questions that the caller has got, in this turn and not
// before, and has neither answered nor been reminded of when it stopped; oldest
// first, at most limit. What would not make a session go on as mail is left out.
func (o *Office) Unanswered(ctx context.Context, caller Caller, limit int) (list []MessageView, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	after, err := live.Asked(ctx, caller.Agent.ID, caller.Key())
	if err != nil {
		return nil, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		list = list[:0]
		for from := after; len(list) < limit; {
			rows, err := o.tables.GivenTo(tx.t, caller.Agent.ID, from, limit, tx.now)
			if err != nil || len(rows) == 0 {
				return err
			}
			for i := range rows {
				if from = rows[i].Receipt.Seq; !wakes(&rows[i]) {
					continue
				}
				v, err := tx.received(caller, &rows[i], nil)
				if err != nil {
					return err
				}
				v.position = from
				list = append(list, v)
			}
		}
		return nil
	})
	return list, err
}

// TurnBegins notes that the questions which the caller has got so far are none of
// the turn that begins.
func (o *Office) TurnBegins(ctx context.Context, caller Caller) error {
	var newest event.Seq
	err := o.look(ctx, func(tx *Tx) (err error) {
		newest, err = o.tables.NewestGivenTo(tx.t, caller.Agent.ID)
		return err
	})
	if err != nil || newest == 0 {
		return err
	}
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	if asked, err := live.Asked(ctx, caller.Agent.ID, caller.Key()); err != nil || newest <= asked {
		return err
	}
	return live.SetAsked(ctx, caller.Agent.ID, caller.Key(), newest)
}

// Reminded notes that the caller was reminded of its questions up to a position.
func (o *Office) Reminded(ctx context.Context, caller Caller, position event.Seq) error {
	live, err := o.Live(ctx)
	if err != nil {
		return err
	}
	return live.SetAsked(ctx, caller.Agent.ID, caller.Key(), position)
}

// maxOpenQuestions bounds the lists of open questions.
const maxOpenQuestions = 200

// OpenQuestions lists the questions that wait for the caller's answer, oldest
// first.
func (o *Office) OpenQuestions(ctx context.Context, caller Caller) ([]QuestionView, error) {
	return o.questions(ctx, func(tx *Tx) ([]projection.Question, error) {
		return o.tables.OpenTo(tx.t, caller.Agent.ID, maxOpenQuestions)
	})
}

func (o *Office) questions(ctx context.Context, find func(*Tx) ([]projection.Question, error)) ([]QuestionView, error) {
	waiting := map[event.ID]bool{}
	if live, err := o.Live(ctx); err == nil {
		if waits, err := live.Waits(ctx); err == nil {
			for _, w := range waits {
				waiting[w.Question] = true
			}
		}
	}
	out := []QuestionView{}
	err := o.look(ctx, func(tx *Tx) error {
		out = out[:0]
		list, err := find(tx)
		if err != nil {
			return err
		}
		for i := range list {
			if mail.Due(list[i].Expires, tx.now) {
				continue
			}
			v, err := tx.questionView(&list[i])
			if err != nil {
				return err
			}
			v.Waiting = waiting[v.ID]
			out = append(out, v)
		}
		return nil
	})
	return out, err
}
