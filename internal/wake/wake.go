// Package wake makes sessions notice their mail.
//
// It is level-triggered: as long as an agent has unseen mail that wakes and its
// session is idle, somebody is responsible. That is the MCP server which the
// session's client started ([Doorbell]); for a session without one the sender
// ([AfterSend]), and after it one of the other servers on its sweep. Whoever it
// is takes the one ring for an agent and a position first, so several servers
// of one session, or a server and a sender, ring once.
//
// A ring is one short line of our own and never anybody's words. That it was
// posted proves nothing; the receipt of the message says what became of it.
package wake

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// Waker is one way to make one running session notice mail.
type Waker interface {
	// Via names the way, for people: "woken via …".
	Via() string
	// Look says what the session is at. Its error is not_found when the
	// client does not tell or is gone.
	Look() (Look, error)
	// Ring gives the session one line, which has to differ from the one before.
	// Without an error the client's system has it, and nothing more is known.
	Ring(ctx context.Context, line string) error
}

// Look is what a client says about its session.
type Look struct {
	Status presence.Status // "": it does not say
	Since  time.Time       // of the status
	// Attended: a person may be sitting there. Who is not attended and says
	// nothing about its status may end at any moment by itself.
	Attended bool
	Session  string // the conversation that it holds; "" if it does not say
	Cannot   string // why the session cannot be rung in this way; "" if it can
}

// pace keeps far below what the client takes for a flood: about 30 lines in a
// burst, as its documentation says.
var pace = presence.Pace{Apart: 2 * time.Second, Most: 20, Within: 10 * time.Minute, Again: 10 * time.Second, AgainInVain: time.Minute,
	PerPair: 20, PerThread: 20, Hour: time.Hour}

// settled is how long a session that does not tell its status must have been
// idle, by its hooks, before it is rung: a run that was to answer one prompt
// ends right after its Stop hook.
const settled = 2 * time.Second

// fresh is how long a session that has just begun, or has just ended a turn, is
// left alone: its hook may be about to print the very mail, and that would then
// come twice.
const fresh = 400 * time.Millisecond

// ringTimeout bounds one ring.
var ringTimeout = 2 * time.Second

// Line is the text of a ring.
func Line(count int, newest event.ID) string {
	if count == 1 {
		return fmt.Sprintf("bureau: 1 new message (%s). Call inbox to read it.", short(newest))
	}
	return fmt.Sprintf("bureau: %d new messages (newest %s). Call inbox to read them.", count, short(newest))
}

// short gives the end of an id, which tells ids apart everywhere.
func short(id event.ID) string {
	const end = 6
	return string(id[max(len(id)-end, 0):])
}

// summonsLine is the text of a ring for mail, for rooms or for both. The
// position keeps two rings for one room apart: an identical line is dropped.
func summonsLine(w office.Summons) string {
	if len(w.Rooms) == 0 && len(w.Mates) == 0 {
		return Line(w.Count, w.Newest)
	}
	if len(w.Rooms) == 0 {
		line := matesLine(w)
		if w.Count > 0 {
			line += fmt.Sprintf(" %d new messages besides, for you: call inbox.", w.Count)
		}
		return line
	}
	rooms := "room " + string(w.Rooms[0]) + " waits"
	if more := len(w.Rooms) - 1; more > 0 {
		rooms = fmt.Sprintf("room %s and %d more wait", w.Rooms[0], more)
	}
	line := fmt.Sprintf("bureau: %s for you (%s, %d).", rooms, short(w.Newest), w.Position)
	if w.Count > 0 {
		line += fmt.Sprintf(" %d new messages besides: call inbox.", w.Count)
	}
	if len(w.Mates) > 0 {
		line += " " + strings.TrimPrefix(matesLine(w), "bureau: ")
	}
	return line
}

// matesLine is the text of a ring for mail of teammates that sit idle: a word of
// their lead lets them go on, and then their hooks bring them their mail.
func matesLine(w office.Summons) string {
	m := w.Mates[0]
	words := fmt.Sprintf("%d new messages wait for your teammate %s", m.Count, m.Name)
	if m.Count == 1 {
		words = fmt.Sprintf("1 new message waits for your teammate %s", m.Name)
	}
	if more := len(w.Mates) - 1; more > 0 {
		words += fmt.Sprintf(" and some for %d more", more)
	}
	return fmt.Sprintf("bureau: %s (newest %s). It sits idle: tell it with SendMessage to read its inbox.", words, short(w.Newest))
}

// idle reports whether a session may be rung now. life is what its hooks say;
// nil if they say nothing.
func idle(l Look, life *presence.Life, now time.Time) bool {
	if l.Status == presence.Idle {
		return true
	}
	return (l.Status == "" || background(l, life)) && life != nil && unsettled(life, now) == 0
}

// background reports whether a client calls itself busy with something else
// than its conversation: Claude Code does for as long as a subagent works in
// the background, although the turn that began it has ended (2.1.332). Then
// the session's last Stop came after it became busy, and nothing since. That a
// session is idle when it is registered is nobody's word.
func background(l Look, life *presence.Life) bool {
	return l.Status == presence.Busy && life != nil && life.Status == presence.Idle && life.StatusAt.After(l.Since) && life.StatusAt.After(life.Since)
}

// unsettled gives how long it takes until a session that is idle by its hooks
// is believed to be; 0 if it is believed now, less than 0 if it is not idle.
func unsettled(life *presence.Life, now time.Time) time.Duration {
	if life.Status != presence.Idle || life.StatusAt.IsZero() {
		return -1
	}
	return max(settled-now.Sub(life.StatusAt), 0)
}

// newer reports whether a client's own word on what it is at counts instead of
// what its hooks said last. Its word is right within 50 ms; a hook that was a
// little faster is believed for as long as that may take, and one that says that
// the conversation is idle while a subagent works for good.
func newer(l Look, life *presence.Life, now time.Time) bool {
	return life.Status != presence.Left && l.Status != "" && l.Status != life.Status && !background(l, life) &&
		(l.Since.After(life.StatusAt) || now.Sub(life.StatusAt) > settled)
}

// outcome is what became of an attempt to ring.
type outcome int

const (
	nothing outcome = iota // no mail that wakes
	busy                   // not now: the session is at work
	taken                  // somebody rang, or rings, for this position
	paced                  // not now: too many rings, or too early
	rung
	failed
)

// attempt rings an agent if it has mail that wakes and its session is idle.
// position is what it was rung for; later is when to try again after paced.
func attempt(ctx context.Context, o *office.Office, agent event.ID, w Waker, l Look, life *presence.Life) (out outcome, position event.Seq, later time.Duration, err error) {
	mail, err := o.Ringable(ctx, agent)
	if err != nil || mail.Position == 0 {
		return nothing, 0, 0, err
	}
	position = mail.Position
	if !idle(l, life, o.Now()) {
		return busy, position, 0, nil
	}
	if life != nil && life.Status == presence.Idle {
		if later := life.StatusAt.Add(fresh).Sub(o.Now()); later > 0 {
			return paced, position, min(later, fresh), nil
		}
	}
	live, err := o.Live(ctx)
	if err != nil {
		return nothing, position, 0, err
	}
	before, rang, err := live.LastRing(ctx, agent, position)
	if err != nil {
		return nothing, position, 0, err
	}
	// What was put before the session after it was rung is not proved, and the
	// session sits idle.
	if rang && before.Position == position && !mail.Broken.Before(before.At) {
		if err := live.BrokenOff(ctx, agent, position); err != nil {
			return nothing, position, 0, err
		}
	}
	won, later, err := live.TakeRing(ctx, agent, position, mail.Causes, w.Via(), o.Now(), pace)
	switch {
	case err != nil:
		return nothing, position, 0, err
	case !won && later == 0:
		return taken, position, 0, nil
	case !won:
		return paced, position, later, nil
	}
	ringing, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	result, out := "posted", rung
	line := summonsLine(mail)
	if rang && before.Position == position {
		line += " Once more, at " + o.Now().UTC().Format("15:04:05") + "." // an identical line is dropped
	}
	if err := w.Ring(ringing, line); err != nil {
		result, out = presence.RingFailed+": "+err.Error(), failed
	}
	// Also when the context ended meanwhile: what was posted was posted.
	err = live.Ringing(context.WithoutCancel(ctx), presence.Rung{Agent: agent, Position: position, At: o.Now(), Via: w.Via(), Result: result})
	return out, position, pace.Again, err
}
