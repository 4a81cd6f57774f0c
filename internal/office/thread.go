package office

import (
	"context"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// Threads is a page of conversations.
type Threads struct {
	Threads []ThreadView `json:"threads"`
	Total   int          `json:"total"`
	Next    string       `json:"next"`
}

// ThreadList lists the caller's threads, or everybody's for the human who
// asks for all, the one with the newest event first. open leaves out the
// closed ones.
func (o *Office) ThreadList(ctx context.Context, caller Caller, everybody, open bool, page Page) (Threads, error) {
	out := Threads{Threads: []ThreadView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	agent := caller.Agent.ID
	if everybody {
		if !caller.Human {
			return out, fault.New(fault.Denied, "%s sees its own threads only", caller.Agent.Name).WithHint("leave --all away")
		}
		agent = ""
	}
	var below event.Seq
	if page.From != "" {
		if err := decodeCursor(page.From, &below); err != nil {
			return out, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Threads = out.Threads[:0]
		rows, total, err := o.tables.Threads(tx.t, agent, open, below, limit+1)
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			out.Next = encodeCursor(rows[limit-1].Version)
		}
		out.Total = total
		for i := range rows {
			v, err := tx.threadView(&rows[i])
			if err != nil {
				return err
			}
			out.Threads = append(out.Threads, v)
		}
		return nil
	})
	return out, err
}

// Conversation is a thread with a page of its messages.
type Conversation struct {
	ThreadView
	Log   []MessageView `json:"log"` // oldest first
	Total int           `json:"total"`
	Next  string        `json:"next"`
}

// Thread shows a thread to a participant or the human, with whole messages.
// It changes no receipt.
func (o *Office) Thread(ctx context.Context, caller Caller, part string, page Page) (Conversation, error) {
	var out Conversation
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	var after int64
	if page.From != "" {
		if err := decodeCursor(page.From, &after); err != nil {
			return out, err
		}
	}
	offered := o.offered(ctx, caller.Agent.ID)
	err = o.look(ctx, func(tx *Tx) error {
		out = Conversation{Log: []MessageView{}}
		id, err := tx.resolve(caller, part, "thread")
		if err != nil {
			return err
		}
		row, found, err := o.tables.ThreadRowByID(tx.t, id)
		if err != nil {
			return err
		}
		if !found {
			return fault.New(fault.NotFound, "no thread %q", part).WithHint("bureau thread list shows yours")
		}
		if err := tx.see(caller, id); err != nil {
			return err
		}
		if out.ThreadView, err = tx.threadView(&row); err != nil {
			return err
		}
		list, err := o.tables.ThreadMessages(tx.t, id, after, limit+1)
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(list[limit-1].N)
		}
		out.Total = row.Messages
		for i := range list {
			v, err := tx.wholeFor(caller, list[i].ID, offered)
			if err != nil {
				return err
			}
			out.Log = append(out.Log, v)
		}
		return nil
	})
	return out, err
}

// OpenThread begins a thread without a message.
func (o *Office) OpenThread(ctx context.Context, caller Caller, subject string, members []string, hops int) (ThreadView, error) {
	if err := caller.mayChange(); err != nil {
		return ThreadView{}, err
	}
	subject = strings.Join(strings.Fields(subject), " ")
	if subject == "" {
		return ThreadView{}, fault.New(fault.Invalid, "a thread needs a subject").WithHint("bureau thread open --with NAME SUBJECT")
	}
	if len([]rune(subject)) > mail.MaxSubject {
		return ThreadView{}, fault.New(fault.Invalid, "the subject has %d characters; the limit is %d", len([]rune(subject)), mail.MaxSubject)
	}
	return o.onOneThread(ctx, caller, func(tx *Tx) (event.ID, mail.Command, error) {
		open := mail.OpenThread{Thread: event.NewID(tx.now), Subject: subject, Owner: caller.Agent.ID, Hops: hops}
		for _, w := range members {
			a, err := tx.recipient(strings.TrimPrefix(w, "@"))
			if err != nil {
				return "", nil, err
			}
			open.Members = append(open.Members, a.ID)
		}
		return open.Thread, open, nil
	})
}

// AddToThread makes another agent a participant: an event that all see.
func (o *Office) AddToThread(ctx context.Context, caller Caller, part string, who []string) (ThreadView, error) {
	var v ThreadView
	for _, w := range who {
		var err error
		v, err = o.onOneThread(ctx, caller, func(tx *Tx) (event.ID, mail.Command, error) {
			id, err := tx.resolve(caller, part, "thread")
			if err != nil {
				return "", nil, err
			}
			a, err := tx.recipient(strings.TrimPrefix(w, "@"))
			return id, mail.Add{By: caller.Agent.ID, Agent: a.ID}, err
		})
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// GrantHops adds to a thread's budget. Its owner can, the person in every
// thread, and every participant once the owner is retired.
func (o *Office) GrantHops(ctx context.Context, caller Caller, part string, hops int) (ThreadView, error) {
	return o.onOneThread(ctx, caller, func(tx *Tx) (event.ID, mail.Command, error) {
		id, instead, err := tx.ownedThread(caller, part)
		return id, mail.Grant{By: caller.Agent.ID, Hops: hops, StandIn: instead}, err
	})
}

// ownedThread finds a thread for what is its owner's business, and says who
// else may do that.
func (tx *Tx) ownedThread(caller Caller, part string) (event.ID, mail.StandIn, error) {
	instead := mail.StandIn{Person: caller.Human}
	id, err := tx.resolve(caller, part, "thread")
	if err != nil {
		return "", instead, err
	}
	row, found, err := tx.o.tables.ThreadRowByID(tx.t, id)
	if err != nil || !found {
		return id, instead, err
	}
	owner, found, err := tx.o.tables.Agent(tx.t, row.Owner)
	instead.Orphaned = found && (owner.Retired || ended(&owner))
	return id, instead, err
}

// CloseThread ends a thread for good; who may is as for GrantHops. Whoever waits
// for an answer in it is told at once that none can come.
func (o *Office) CloseThread(ctx context.Context, caller Caller, part, reason string) (ThreadView, error) {
	return o.onOneThread(ctx, caller, func(tx *Tx) (event.ID, mail.Command, error) {
		id, instead, err := tx.ownedThread(caller, part)
		return id, mail.Close{By: caller.Agent.ID, Reason: reason, StandIn: instead}, err
	})
}

// Withdraw takes back an open question that the caller asked.
func (o *Office) Withdraw(ctx context.Context, caller Caller, part string) (ThreadView, error) {
	return o.onOneThread(ctx, caller, func(tx *Tx) (event.ID, mail.Command, error) {
		id, err := tx.resolve(caller, part, "message")
		if err != nil {
			return "", nil, err
		}
		m, _, err := tx.o.tables.MessageByID(tx.t, id)
		return m.Thread, mail.Withdraw{By: caller.Agent.ID, Question: id}, err
	})
}

func (o *Office) onOneThread(ctx context.Context, caller Caller, plan func(*Tx) (event.ID, mail.Command, error)) (ThreadView, error) {
	if err := caller.mayChange(); err != nil {
		return ThreadView{}, err
	}
	var v ThreadView
	err := o.knowing(caller, func(staff roster.Staff) error {
		return o.change(ctx, caller.actor(), func(tx *Tx) error {
			tx.project, tx.staff = caller.Project.ID, staff
			id, cmd, err := plan(tx)
			if err != nil {
				return err
			}
			if _, err := tx.onThread(id, cmd); err != nil {
				return err
			}
			row, found, err := o.tables.ThreadRowByID(tx.t, id)
			if err != nil || !found {
				return err
			}
			for _, m := range row.Members {
				tx.tell(false, m)
			}
			v, err = tx.threadView(&row)
			return err
		})
	})
	return v, err
}
