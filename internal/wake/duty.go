package wake

import (
	"context"
	"os"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// dutyEvery is how often a server looks whether the machine's chores are its.
// It reads the presence of everybody, so it must stay rare: hundreds of servers
// do it.
const dutyEvery = time.Minute

// beatEvery is how often lock files in other programs' layout get a sign of
// life, while there are any: mclaude takes a lock for stale after 180 s.
const beatEvery = 45 * time.Second

// duty is what one server of a machine does for all: the one that is there
// longest ends questions whose time has run out, rings sessions that have no
// server of their own, keeps lock files alive, and clears away what dead
// processes left.
type duty struct {
	next     time.Time // when to look again
	deadline time.Time // the earliest deadline of a question
	beat     time.Time // when lock files get their next sign of life; zero: there are none
}

// perform does what is due and gives the time until it may be again.
func (d *duty) perform(ctx context.Context, o *office.Office, self *presence.Life) time.Duration {
	now := o.Now()
	switch {
	case self.Agent == "":
		return dutyEvery // not in presence: somebody else is
	case d.next.IsZero():
		// Not in the first moments, in which the client waits for the server.
		d.next = now.Add(sweepEvery)
	case now.Before(d.next) && (d.deadline.IsZero() || now.Before(d.deadline)):
		if !d.beat.IsZero() && !now.Before(d.beat) {
			d.beats(ctx, o, now)
		}
	case d.mine(ctx, o, self):
		if next, err := o.SweepDue(ctx); err == nil {
			d.deadline = next
		}
		d.beats(ctx, o, now)
		if !now.Before(d.next) {
			d.rounds(ctx, o)
			d.next = now.Add(dutyEvery)
		}
	default:
		d.deadline, d.beat, d.next = time.Time{}, time.Time{}, now.Add(dutyEvery)
	}
	wait := d.next.Sub(now)
	if !d.beat.IsZero() {
		wait = min(wait, d.beat.Sub(now))
	}
	if !d.deadline.IsZero() {
		wait = min(wait, d.deadline.Sub(now))
	}
	return max(wait, time.Millisecond)
}

// beats keeps the lock files of claims alive whose holders are.
func (d *duty) beats(ctx context.Context, o *office.Office, now time.Time) {
	d.beat = time.Time{}
	if n, _ := o.BeatMirrors(ctx); n > 0 {
		d.beat = now.Add(beatEvery)
	}
}

// mine reports whether no other server of the machine is there longer.
func (d *duty) mine(ctx context.Context, o *office.Office, self *presence.Life) bool {
	live, err := o.Live(ctx)
	if err != nil {
		return false
	}
	lives, err := live.Lives(ctx, "")
	if err != nil {
		return false
	}
	for _, l := range lives {
		if l.Role != presence.Server || l.Process == self.Process || l.Process.Host != self.Process.Host {
			continue
		}
		if l.Since.Before(self.Since) || l.Since.Equal(self.Since) && l.Process.PID < self.Process.PID {
			return false
		}
	}
	return true
}

// rounds looks after sessions that nobody else looks after.
func (d *duty) rounds(ctx context.Context, o *office.Office) {
	live, err := o.Live(ctx)
	if err != nil {
		return
	}
	_ = o.EndStray(ctx)
	_, _ = live.Sweep(ctx)
	all, err := live.Lives(ctx, "")
	if err != nil {
		return
	}
	of := map[event.ID][]presence.Life{}
	served := map[event.ID]bool{}
	for _, l := range all {
		of[l.Agent] = append(of[l.Agent], l)
		served[l.Agent] = served[l.Agent] || l.Role == presence.Server && l.Wake != ""
	}
	var homes []claude.Home
	for agent, lives := range of {
		if served[agent] {
			continue
		}
		if homes == nil {
			homes = ClaudeHomes(os.Getenv, o.Home())
		}
		ringOther(ctx, o, homes, agent, lives)
	}
}
