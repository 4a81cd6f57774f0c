package wake

import (
	"context"
	"fmt"
	"time"

	"bureau/internal/bell"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// Intervals of a doorbell.
const (
	sweepEvery = 5 * time.Second        // how late a lost bell is noticed
	lookEvery  = 250 * time.Millisecond // at the client's record, while mail waits for it to be idle
	turnWithin = 3 * time.Second        // in which a ring is seen to have begun a turn
	turnEvery  = 20 * time.Millisecond
)

// Doorbell stands for one client process in an MCP server that the client
// started: it keeps the session's presence and rings it.
type Doorbell struct {
	// Office lends the office; the function gives it back.
	Office func(context.Context) (*office.Office, func(), error)
	// Process is the client's.
	Process roster.Process
	// Waker is the way to its session; nil if there is none.
	Waker Waker
	// Begin, if set, starts the session that no hook has registered within
	// Grace, so that others can write to it.
	Begin func(context.Context, *office.Office) error
	Grace time.Duration

	self  presence.Life // as it stands in presence; zero if it does not
	bell  *bell.Bell
	topic event.ID
	rung  event.Seq // newest position that somebody rang for
	asked bool      // Begin was called
	duty  duty
}

// Run works until the context ends. Trouble with the office only delays it.
func (d *Doorbell) Run(ctx context.Context) {
	defer d.leave()
	begun := time.Now()
	for ctx.Err() == nil {
		wait, watch := d.step(ctx, time.Since(begun))
		d.rest(ctx, wait, watch)
	}
}

// step looks once and does what is due. It gives how long to rest, and whether
// to watch the client's record meanwhile.
func (d *Doorbell) step(ctx context.Context, age time.Duration) (wait time.Duration, watch bool) {
	o, giveBack, err := d.Office(ctx)
	if err != nil {
		return sweepEvery, false
	}
	defer giveBack()
	wait = d.duty.perform(ctx, o, &d.self)
	who, found, err := o.RunningIn(ctx, d.Process)
	switch {
	case err != nil:
		return sweepEvery, false
	case !found:
		if d.Begin != nil && !d.asked && age >= d.Grace {
			d.asked = true
			if d.Begin(ctx, o) == nil {
				return 0, false
			}
		}
		d.listen(o, "")
		return min(wait, sweepEvery), false
	}
	d.listen(o, who.Agent.ID)
	if who.Stale {
		// Its conversation goes on in a newer process, which has its own server.
		d.leaveAs(ctx, o)
		return min(wait, sweepEvery), false
	}
	look := Look{Cannot: "there is no way"}
	if d.Waker != nil {
		if look, err = d.Waker.Look(); err != nil {
			look = Look{Cannot: "it says nothing about itself"}
		}
	}
	life := d.reflect(ctx, o, who, look)
	if look.Cannot != "" {
		return min(wait, sweepEvery), false
	}
	out, position, later, err := attempt(ctx, o, who.Agent.ID, d.Waker, look, life)
	switch {
	case err != nil:
	case out == busy && position > d.rung:
		if life != nil && background(look, life) {
			wait = min(wait, max(unsettled(life, o.Now()), lookEvery))
		}
		return min(wait, sweepEvery), true
	case out == paced, out == failed:
		return min(wait, sweepEvery, later), false
	case out == taken:
		d.rung = position
	case out == rung:
		d.rung = position
		d.follow(ctx, o, who.Agent.ID, position, look)
	}
	return min(wait, sweepEvery), false
}

// rest waits for a bell, or for the time to pass; with watch also until the
// client says that it is idle.
func (d *Doorbell) rest(ctx context.Context, wait time.Duration, watch bool) {
	var rings <-chan struct{}
	if d.bell != nil {
		rings = d.bell.C()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var tick <-chan time.Time
	if watch {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-rings:
			return
		case <-timer.C:
			if d.bell != nil {
				_ = d.bell.Mend()
			}
			return
		case <-tick:
			l, err := d.Waker.Look()
			// A session that does not tell is known by its hooks, in the office.
			if err != nil || l.Status == "" || l.Status == presence.Idle {
				return
			}
		}
	}
}

// listen hangs the bell of an agent, or of the whole office ("") as long as
// nobody knows whose server this is.
func (d *Doorbell) listen(o *office.Office, agent event.ID) {
	if d.bell != nil && d.topic == agent {
		return
	}
	if d.bell != nil {
		_ = d.bell.Close()
		d.bell = nil
	}
	d.rung = 0
	// Without a bell the sweeps still work.
	if b, err := o.Listen(agent); err == nil {
		d.bell, d.topic = b, agent
	}
}

// reflect keeps what the machine knows of the session: that this server is
// there, whether it can ring, and what the client says it is at. It gives the
// client's own entry, nil if there is none.
func (d *Doorbell) reflect(ctx context.Context, o *office.Office, who office.Caller, look Look) *presence.Life {
	live, err := o.Live(ctx)
	if err != nil {
		return nil
	}
	lives, err := live.Lives(ctx, who.Agent.ID)
	if err != nil {
		return nil
	}
	var client *presence.Life
	here := false
	for i, l := range lives {
		switch {
		case l.Role == presence.Client && l.Process == d.Process:
			client = &lives[i]
		case l.Role == presence.Server && l.Process == presence.Self():
			here = true
		}
	}
	wake := ""
	if look.Cannot == "" {
		wake = d.Waker.Via()
	}
	want := presence.Life{
		Agent: who.Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "bureau", Session: who.Session, Wake: wake, Since: d.self.Since,
	}
	if want.Since.IsZero() {
		want.Since = o.Now()
	}
	if !here || want != d.self {
		if d.self.Agent != "" && d.self.Agent != want.Agent {
			d.leaveAs(ctx, o)
			want.Since = o.Now()
		}
		if live.Enter(ctx, want) == nil {
			d.self = want
		}
	}
	if client != nil && newer(look, client, o.Now()) {
		if o.SetStatus(ctx, who, look.Status) == nil {
			client.Status, client.StatusAt = look.Status, o.Now()
		}
	}
	return client
}

// follow notes whether a ring began a turn, which is what shows that it came
// through.
func (d *Doorbell) follow(ctx context.Context, o *office.Office, agent event.ID, position event.Seq, before Look) {
	begun, at := time.Now(), o.Now() // a hook that printed for it did so after this
	for time.Since(begun) < turnWithin {
		select {
		case <-ctx.Done():
			return
		case <-time.After(turnEvery):
		}
		l, err := d.Waker.Look()
		if err != nil {
			return
		}
		if l.Status == "" {
			return // it never tells
		}
		if l.Status != presence.Idle || l.Since.After(before.Since) {
			d.result(ctx, o, agent, position, at, fmt.Sprintf("a turn began after %d ms", time.Since(begun).Milliseconds()))
			return
		}
	}
	d.result(ctx, o, agent, position, at, fmt.Sprintf("posted, no turn began within %d s", int(turnWithin.Seconds())))
}

func (d *Doorbell) result(ctx context.Context, o *office.Office, agent event.ID, position event.Seq, at time.Time, words string) {
	if live, err := o.Live(ctx); err == nil {
		_ = live.Ringing(ctx, presence.Rung{Agent: agent, Position: position, At: at, Via: d.Waker.Via(), Result: words})
	}
}

// leaveAs takes the server out of presence.
func (d *Doorbell) leaveAs(ctx context.Context, o *office.Office) {
	if d.self.Agent == "" {
		return
	}
	if live, err := o.Live(ctx); err == nil {
		_ = live.Leave(ctx, d.self.Agent, d.self.Process, presence.Server)
	}
	d.self = presence.Life{}
}

// leave ends the work: the process goes on to its end.
func (d *Doorbell) leave() {
	if d.bell != nil {
		_ = d.bell.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if d.self.Agent == "" {
		return
	}
	if o, giveBack, err := d.Office(ctx); err == nil {
		d.leaveAs(ctx, o)
		giveBack()
	}
}

// leaveTimeout bounds the good-bye; what is left behind is known to be of a
// process that is gone.
var leaveTimeout = 300 * time.Millisecond
