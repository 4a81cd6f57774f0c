package office

import (
	"context"
	"slices"
	"sync"
	"time"

	"bureau/internal/event"
	"bureau/internal/presence"
)

// The words for how an agent notices a message. They promise nothing: seen is
// for the receipt to say.
const (
	WakeWaiting  = "waiting"            // a process of the agent waits and gets it at once
	WakeBusy     = "busy"               // its session is in a turn and gets it there
	WakeTerminal = "terminal"           // a person's terminal; read there when its person looks
	WakePrompt   = "at its next prompt" // nobody rings its session for it; it comes when that is next spoken to
	WakeLead     = "its lead"           // a teammate that sits idle: its session's main agent is woken and tells it
	WakeNone     = "no way to wake"     // it is there for whoever takes the seat next
)

// HeldWord says until when and why a ring is held back.
func HeldWord(h presence.Hold) string {
	return "held back until " + h.Until.Local().Format("15:04") + ": " + h.Why
}

// presenceOf is what the machine knows of the agents now.
type presenceOf struct {
	lives map[event.ID][]presence.Life
	last  map[event.ID]time.Time
	look  func(presence.Life) presence.Life // see Options.Glance; nil for none
	asked map[event.ID]bool                 // whose clients were looked at
}

// presence looks for the agents named, or (none) for all.
func (o *Office) presence(ctx context.Context, agents ...event.ID) (*presenceOf, error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	all, last, err := live.Known(ctx, agents...)
	if err != nil {
		return nil, err
	}
	p := &presenceOf{lives: map[event.ID][]presence.Life{}, last: last}
	for _, l := range all {
		p.lives[l.Agent] = append(p.lives[l.Agent], l)
	}
	if o.glance != nil && len(all) > 0 {
		look, now := o.glance(o.home), o.Now()
		p.look = func(l presence.Life) presence.Life { return look(l, now) }
	}
	return p, nil
}

// ask lets the clients of a session's main agent have the word about what they
// are at. Those of a subagent speak of its session.
func (p *presenceOf) ask(a event.ID) {
	if p.look == nil || p.asked[a] {
		return
	}
	if p.asked == nil {
		p.asked = map[event.ID]bool{}
	}
	p.asked[a] = true
	served := slices.ContainsFunc(p.lives[a], func(l presence.Life) bool { return l.Role == presence.Server && l.Wake != "" })
	for i := range p.lives[a] {
		if l := &p.lives[a][i]; l.Role == presence.Client {
			if *l = p.look(*l); served {
				l.Wake = "" // its server's way counts
			}
		}
	}
}

func (p *presenceOf) here(a event.ID) bool { return len(p.lives[a]) > 0 }

// wake gives the best way by which an agent notices mail now.
func (p *presenceOf) wake(a event.ID) string {
	best := WakeNone
	for _, l := range p.lives[a] {
		switch {
		case l.Role == presence.Waiter:
			return WakeWaiting
		case l.Role == presence.Client && l.Status == presence.Busy:
			best = WakeBusy
		case l.Wake != "" && best != WakeBusy:
			best = l.Wake
		case l.Role == presence.Terminal && best == WakeNone:
			best = WakeTerminal
		}
	}
	return best
}

// mateWake gives the way by which a subagent notices mail: while it sits idle,
// through its session's main agent.
func (p *presenceOf) mateWake(mate, main event.ID) string {
	word := p.wake(mate)
	if word == WakeNone && p.status(mate) == presence.Idle && p.wake(main) != WakeNone {
		return WakeLead
	}
	return word
}

// maxAsked bounds how many recipients' clients are looked at.
const maxAsked = 20

// describe says of the recipients of a letter whether they are there and how
// they will notice. It is an extra: what cannot be read makes them absent.
func (o *Office) describe(ctx context.Context, caller Caller, list []RecipientView) {
	agents := make([]event.ID, 0, len(list))
	for i := range list {
		agents = append(agents, list[i].agent)
		if list[i].main != "" {
			agents = append(agents, list[i].main)
		}
	}
	if len(agents) == 0 {
		return
	}
	p, err := o.presence(ctx, agents...)
	if err != nil {
		p = &presenceOf{}
	}
	for i := range list {
		r := &list[i]
		if i < maxAsked {
			if p.ask(r.main); r.main == "" {
				p.ask(r.agent)
			}
		}
		r.Here, r.Wake = p.here(r.agent), p.wake(r.agent)
		if r.main != "" {
			r.Wake = p.mateWake(r.agent, r.main)
			r.idle = p.status(r.agent) == presence.Idle
		}
		if at, ok := p.last[r.agent]; ok {
			r.LastSeen = &at
		}
	}
	o.hintAt(caller, list)
}

// liveNow reports whether a process lives for the agent.
func (tx *Tx) liveNow(a event.ID) bool {
	if tx.presence == nil {
		p, err := tx.o.presence(tx.t.Context())
		if err != nil {
			p = &presenceOf{}
		}
		tx.presence = p
	}
	return tx.presence.here(a)
}

// Attend records that this process waits for mail as an agent, and gives the
// function that ends it.
func (o *Office) Attend(ctx context.Context, caller Caller) (leave func(), err error) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, err
	}
	self, agent := presence.Self(), caller.Agent.ID
	err = o.waiting.enter(string(agent), func() (bool, error) {
		return true, live.Enter(ctx, presence.Life{
			Agent: agent, Process: self, Role: presence.Waiter, Client: "bureau", Session: caller.Session, Wake: WakeWaiting, Since: o.Now(),
		})
	})
	if err != nil {
		return nil, err
	}
	return func() {
		// Also when the wait was cancelled: the row would only be stale.
		o.waiting.leave(string(agent), func() { _ = live.Leave(context.WithoutCancel(ctx), agent, self, presence.Waiter) })
	}, nil
}

// shared counts who in this process uses an entry of the live state, which has
// one for each process: it goes with the last of them.
type shared struct {
	mu    sync.Mutex
	users map[string]int
}

// enter runs begin and, if that says so, counts one user more.
func (s *shared) enter(key string, begin func() (bool, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	used, err := begin()
	if err != nil || !used {
		return err
	}
	if s.users == nil {
		s.users = map[string]int{}
	}
	s.users[key]++
	return nil
}

// leave counts one user less and runs end after the last.
func (s *shared) leave(key string, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[key]--; s.users[key] <= 0 {
		delete(s.users, key)
		end()
	}
}
