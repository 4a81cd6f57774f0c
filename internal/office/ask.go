package office

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

// DefaultAskTimeout is how long an asker waits.
const DefaultAskTimeout = 5 * time.Minute

// Asking is a question that somebody wants an answer to, now.
type Asking struct {
	Letter                 // To names exactly one; Kind is set by Ask
	Question string        // wait for this question, asked before, instead of asking
	IfLive   bool          // refuse, and store nothing, if nobody is there
	Timeout  time.Duration // 0: DefaultAskTimeout
	// Waiting, if set, is called once the question is stored, before the wait.
	Waiting func(Asked)
	// Passed, if set, is called when the one who was asked was a subagent that
	// has ended: its session's main agent has the question now. Without wait
	// the outcome is that of a time-out.
	Passed func(from string, to RecipientView) (wait bool)
	// Left, if set, is called when the session or the terminal of the one who
	// was asked has gone meanwhile: the question stays for whoever takes the
	// seat next. Without wait the outcome is that of a time-out.
	Left func(to RecipientView) (wait bool)
}

// Asked is a question that waits.
type Asked struct {
	Thread   event.ID
	Question event.ID
	Short    string // of the question's id
	Again    bool   // it was asked before and is still open: this is the same one
	To       RecipientView
}

// Outcome is how an asking ended.
type Outcome struct {
	Thread   event.ID     `json:"thread"`
	Question event.ID     `json:"question"`
	Answer   *MessageView `json:"answer"`
	Timeout  bool         `json:"timeout"`
	// To is how the one who was asked would notice, after a time-out.
	To RecipientView `json:"-"`
}

// Ask puts a question to one agent and waits for its answer. Once the question
// is stored the outcome names it, and Waiting is called, whatever happens.
// Errors after that: timeout
// (the question stays open, a later answer arrives in the inbox, and asking
// again with its id or the same text waits for the same question); conflict
// when no answer can come any more. Before it: conflict when the wait would
// close a circle of agents that wait for each other; nothing is stored then.
//
// The answer's receipt is left as it is: who shows the answer proves it.
func (o *Office) Ask(ctx context.Context, caller Caller, a Asking) (Outcome, error) {
	if err := caller.mayChange(); err != nil {
		return Outcome{}, err
	}
	if a.Timeout <= 0 {
		a.Timeout = DefaultAskTimeout
	}
	// The bell is hung up before anything is looked at, so no ring is missed.
	b, err := o.listen(string(caller.Agent.ID))
	if err != nil {
		return Outcome{}, err
	}
	defer b.Close()
	var q intention
	err = o.knowing(caller, func(staff roster.Staff) error {
		if err := o.seatAsked(ctx, caller, &a, staff); err != nil {
			return err
		}
		q, err = o.intend(ctx, caller, &a, staff)
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	if a.IfLive {
		p, err := o.presence(ctx, q.to.ID)
		if err != nil {
			return Outcome{}, err
		}
		if !p.here(q.to.ID) {
			if q.again {
				return Outcome{Thread: q.thread, Question: q.id}, fault.New(fault.Unavailable, "%s is not here (%s); the question that was asked before stays open", q.to.Name, lastSeen(p, q.to.ID, o.Now())).
					WithHint("an answer arrives in the inbox; to wait for it all the same: bureau ask --question %s", q.id)
			}
			return Outcome{}, fault.New(fault.Unavailable, "%s is not here (%s); nothing was sent", q.to.Name, lastSeen(p, q.to.ID, o.Now())).
				WithHint("without --if-live the question waits for whoever takes the seat next")
		}
	}
	live, err := o.Live(ctx)
	if err != nil {
		return Outcome{}, err
	}
	self := presence.Self()
	var circle []presence.Wait
	wait := presence.Wait{Question: q.id, Asker: caller.Agent.ID, Asked: q.to.ID, Process: self, Since: o.Now()}
	err = o.waiting.enter(string(q.id), func() (begun bool, err error) {
		circle, err = live.Begin(ctx, wait, o.stillOpen(ctx))
		return len(circle) == 0, err
	})
	if err != nil {
		return Outcome{}, err
	}
	if len(circle) > 0 {
		return Outcome{}, o.circleRefusal(ctx, caller, circle)
	}
	defer o.waiting.leave(string(q.id), func() { _ = live.End(context.WithoutCancel(ctx), q.id, self) })
	there := watched{o: o}
	there.leaves(ctx, q.to.ID)
	// Before the question, so that whoever sees it sees its asker waiting.
	leave, err := o.Attend(ctx, caller)
	if err != nil {
		return Outcome{}, err
	}
	defer leave()
	if !q.again {
		if err := o.putQuestion(ctx, caller, &a, &q); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Thread: q.thread, Question: q.id}
	stored := committed(ctx)
	if a.Waiting != nil {
		asked := Asked{Thread: q.thread, Question: q.id, Again: q.again, To: o.ofAsked(stored, caller, &q.to)}
		if !q.again {
			to := []RecipientView{asked.To}
			quieten(to, &mail.Message{Kind: mail.Question, Importance: a.Importance, NoWake: a.NoWake})
			asked.To = to[0]
		}
		if err := o.look(stored, func(tx *Tx) (err error) {
			asked.Short, err = o.tables.Short(tx.t, q.id)
			return err
		}); err != nil {
			return out, err
		}
		a.Waiting(asked)
	}
	waitCtx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	for {
		asked := q.to
		answer, expires, err := o.outcome(ctx, caller, &q)
		if err != nil || answer != nil {
			out.Answer = answer
			return out, err
		}
		if q.to.ID != asked.ID {
			if goOn, err := o.passedOn(ctx, caller, &a, &q, asked); err != nil || !goOn {
				out.Timeout = fault.Is(err, fault.Timeout)
				return out, err
			}
		}
		if there.leaves(ctx, q.to.ID) && a.Left != nil {
			if out.To = o.goneNow(stored, caller, &q.to); !a.Left(out.To) {
				out.Timeout = true
				return out, fault.New(fault.Timeout, "%s has left without an answer", q.to.Name).
					WithHint("the question stays open for whoever takes the seat next; to wait for it: bureau ask --question %s", q.id)
			}
		}
		sweep := sweepEvery
		if !expires.IsZero() {
			sweep = min(sweep, max(expires.Sub(o.Now()), time.Millisecond))
		}
		_, err = b.Wait(waitCtx, sweep)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return out, ctx.Err() // cancelled: nothing is consumed, the question stays
		case errors.Is(err, context.DeadlineExceeded):
			// One more look: the answer may have come at the last moment.
			if answer, _, err := o.outcome(ctx, caller, &q); err != nil || answer != nil {
				out.Answer = answer
				return out, err
			}
			out.Timeout, out.To = true, o.ofAsked(stored, caller, &q.to)
			return out, fault.New(fault.Timeout, "no answer from %s within %s", q.to.Name, a.Timeout).
				WithHint("the question stays open and a later answer arrives in the inbox; to wait again: bureau ask --question %s", q.id)
		default:
			return out, err
		}
	}
}

// intention is the question that an Ask is about.
type intention struct {
	id     event.ID
	thread event.ID // "" until it is stored, for a new thread
	to     roster.Agent
	again  bool
}

// intend finds the question that is asked again, or mints the id of a new one.
func (o *Office) intend(ctx context.Context, caller Caller, a *Asking, staff roster.Staff) (intention, error) {
	var in intention
	err := o.look(ctx, func(tx *Tx) error {
		in, tx.staff = intention{}, staff
		if a.Question != "" {
			return tx.askedBefore(caller, a.Question, &in)
		}
		group, names, err := splitGroups(a.To)
		if err != nil {
			return err
		}
		if group != "" || len(names) != 1 {
			return fault.New(fault.Invalid, "a question is asked of one agent, not of %q", strings.Join(a.To, ", ")).
				WithHint("ask one after the other, or send --kind question to several names")
		}
		if in.to, err = tx.addressee(names[0]); err != nil {
			return err
		}
		if in.to.ID == caller.Agent.ID {
			return fault.New(fault.Invalid, "%s cannot put a question to itself", in.to.Name).WithHint("name somebody else")
		}
		same, found, err := o.tables.SameQuestion(tx.t, caller.Agent.ID, in.to.ID, questionPrint(a.Body))
		if err != nil {
			return err
		}
		if found && (same.Expires.IsZero() || tx.now.Before(same.Expires)) {
			if a.Thread != "" {
				if thread, err := tx.resolve(caller, a.Thread, "thread"); err != nil || thread != same.Thread {
					found = false
				}
			}
			if found {
				in.id, in.thread, in.again = same.ID, same.Thread, true
				return nil
			}
		}
		in.id = tx.idFor(caller, &a.Letter, "message")
		return nil
	})
	return in, err
}

// askedBefore finds one of the caller's own questions.
func (tx *Tx) askedBefore(caller Caller, part string, in *intention) error {
	id, err := tx.resolve(caller, part, "message")
	if err != nil {
		return err
	}
	m, _, err := tx.o.tables.MessageByID(tx.t, id)
	if err != nil {
		return err
	}
	if err := tx.see(caller, m.Thread); err != nil {
		return err
	}
	list, err := tx.o.tables.Question(tx.t, id)
	if err != nil {
		return err
	}
	if open := slices.DeleteFunc(slices.Clone(list), func(q projection.Question) bool { return q.Status == "passed" }); len(open) > 0 {
		list = open
	}
	switch {
	case len(list) == 0:
		return fault.New(fault.Invalid, "message %s is no question", id)
	case list[0].Asker != caller.Agent.ID && list[0].AnswerTo != caller.Agent.ID:
		return fault.New(fault.Denied, "question %s was asked by %s", id, tx.nameOf(list[0].Asker)).WithHint("only the asker waits for its answer")
	case len(list) > 1:
		return fault.New(fault.Invalid, "question %s was put to %d agents", id, len(list)).WithHint("their answers arrive in the inbox: bureau inbox --wait 5m")
	}
	in.id, in.thread, in.again = id, list[0].Thread, true
	in.to, _, err = tx.o.tables.Agent(tx.t, list[0].Asked)
	return err
}

// putQuestion stores the question under the id that the wait is recorded for.
func (o *Office) putQuestion(ctx context.Context, caller Caller, a *Asking, in *intention) error {
	l := a.Letter
	l.Kind = mail.Question
	m, err := o.compose(&l)
	if err != nil {
		return err
	}
	return o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project = caller.Project.ID
		tx.mint = in.id
		sent, err := tx.send(caller, &l, m)
		in.thread = sent.Thread
		return err
	})
}

// passedOn goes on waiting for the answer of somebody else than the one who was
// asked, unless the asker would rather not.
func (o *Office) passedOn(ctx context.Context, caller Caller, a *Asking, q *intention, from roster.Agent) (goOn bool, err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return false, err
	}
	circle, err := live.Begin(ctx, presence.Wait{Question: q.id, Asker: caller.Agent.ID, Asked: q.to.ID, Process: presence.Self(), Since: o.Now()}, o.stillOpen(ctx))
	switch {
	case err != nil:
		return false, err
	case len(circle) > 0:
		return false, o.circleRefusal(ctx, caller, circle)
	case a.Passed == nil:
		return true, nil
	}
	to := []RecipientView{{Name: string(q.to.Name), For: string(from.Name), agent: q.to.ID}}
	o.describe(ctx, caller, to)
	if !a.Passed(string(from.Name), to[0]) {
		return false, fault.New(fault.Timeout, "%s was a subagent and has ended; %s has the question now", from.Name, q.to.Name).
			WithHint("to wait for it: bureau ask --question %s", q.id)
	}
	return true, nil
}

// outcome looks whether a question is answered. No answer and no error means
// that it is open; expires is when it ends by itself. Who has the question by
// now is noted in it.
func (o *Office) outcome(ctx context.Context, caller Caller, in *intention) (answer *MessageView, expires time.Time, err error) {
	due := false
	err = o.look(ctx, func(tx *Tx) error {
		answer, expires, due = nil, time.Time{}, false
		list, err := o.tables.Question(tx.t, in.id)
		if err != nil {
			return err
		}
		q := questionTo(list, in.to.ID)
		for hops := 0; q.Status == "passed" && hops < len(list); hops++ {
			if in.to, _, err = o.tables.Agent(tx.t, event.ID(q.Reason)); err != nil {
				return err
			}
			q = questionTo(list, in.to.ID)
		}
		expires = q.Expires
		switch q.Status {
		case "answered":
			v, err := tx.wholeFor(caller, q.Answer, nil)
			if err != nil {
				return err
			}
			answer = &v
			return nil
		case "ended":
			return endedRefusal(*in, q.Reason)
		case "open":
			due = mail.Due(q.Expires, tx.now)
			return nil
		}
		return fault.New(fault.NotFound, "question %s is not in the office", in.id)
	})
	if err == nil && due {
		// Write down that it ended, so that both sides see the same.
		if err := o.change(ctx, caller.actor(), func(tx *Tx) error {
			_, err := tx.onThread(in.thread, mail.Sweep{})
			return err
		}); err != nil {
			return nil, expires, err
		}
		return nil, expires, endedRefusal(*in, "expired")
	}
	return answer, expires, err
}

// questionTo gives the part of a question that was put to an agent.
func questionTo(list []projection.Question, asked event.ID) (q projection.Question) {
	for _, x := range list {
		if x.Asked == asked {
			q = x
		}
	}
	return q
}

func endedRefusal(in intention, reason string) error {
	why := map[string]string{
		"closed":    "the thread was closed",
		"retired":   fmt.Sprintf("%s was retired", in.to.Name),
		"expired":   "it expired",
		"withdrawn": "it was taken back",
		mail.Gone:   fmt.Sprintf("%s has ended", in.to.Name),
	}[reason]
	if why == "" {
		why = reason
	}
	return fault.New(fault.Conflict, "no answer to question %s can come any more: %s", in.id, why).
		WithHint("ask again in a new thread").WithDetail(map[string]string{"reason": reason})
}

// stillOpen tells the wait list whether a question still waits. One that is
// not stored yet does: its asker is about to.
func (o *Office) stillOpen(ctx context.Context) func(question, asked event.ID) (bool, error) {
	return func(question, asked event.ID) (open bool, err error) {
		err = o.look(ctx, func(tx *Tx) error {
			list, err := o.tables.Question(tx.t, question)
			open = len(list) == 0
			for _, q := range list {
				if q.Asked == asked && q.Status == "open" && !mail.Due(q.Expires, tx.now) {
					open = true
				}
			}
			return err
		})
		return open, err
	}
}

// circleRefusal names the circle that a wait would close.
func (o *Office) circleRefusal(ctx context.Context, caller Caller, circle []presence.Wait) error {
	var refusal error
	err := o.look(ctx, func(tx *Tx) error {
		// circle runs backwards from the wait for the caller.
		words := []string{string(caller.Agent.Name)}
		for i := len(circle) - 1; i >= 0; i-- {
			words = append(words, tx.nameOf(circle[i].Asker))
		}
		words = append(words, string(caller.Agent.Name))
		first := circle[0]
		refusal = fault.New(fault.Conflict, "that would close a circle of waiting: %s", strings.Join(words, " waits for ")).
			WithHint("first answer the question %s from %s: bureau answer %s TEXT", first.Question, tx.nameOf(first.Asker), first.Question).
			WithDetail(map[string]any{"circle": words, "question": first.Question})
		return nil
	})
	return errors.Join(err, refusal)
}

// lastSeen says when an agent last showed itself on this machine.
func lastSeen(p *presenceOf, a event.ID, now time.Time) string {
	at, ok := p.last[a]
	if !ok {
		return "never seen on this machine"
	}
	return "last seen " + quote.Ago(now.Sub(at)) + " ago"
}
