package wake

import (
	"context"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
)

// How much a sender does for its recipients.
const maxAfterSend = 20

var afterSendTimeout = time.Second

// Rouse gives what office.Options.Rouse asks for: it rings once those whom
// something in a room concerns, as AfterSend does for mail. What is done in the
// room is done; nothing here fails.
func Rouse(env func(string) string) func(context.Context, *office.Office, []event.ID) {
	return func(ctx context.Context, o *office.Office, agents []event.ID) {
		ctx, cancel := context.WithTimeout(ctx, afterSendTimeout)
		defer cancel()
		var homes []claude.Home
		for _, agent := range agents[:min(len(agents), maxAfterSend)] {
			lives, ok := unserved(ctx, o, agent)
			if !ok {
				continue
			}
			if homes == nil {
				homes = ClaudeHomes(env, o.Home())
			}
			ringOther(ctx, o, homes, agent, lives)
		}
	}
}

// AfterSend is called by a face after it sent something: it rings once those
// recipients who have an idle session and no server of their own to do it, and
// notes in the list how they were woken. Sending is done; nothing here fails.
func AfterSend(ctx context.Context, o *office.Office, env func(string) string, to []office.RecipientView) {
	// Who sent it may have given up by now; those it is for have not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterSendTimeout)
	defer cancel()
	var homes []claude.Home
	for i := range to {
		if i == maxAfterSend {
			return
		}
		agent := to[i].Agent()
		if agent == "" || !to[i].Here || to[i].Quiet() {
			continue
		}
		if lead := to[i].Lead(); lead != "" {
			agent = lead // an idle teammate is woken by its lead
		}
		lives, ok := unserved(ctx, o, agent)
		if !ok {
			if to[i].Wake == Inbox || to[i].Wake == office.WakeLead {
				to[i].Held = heldBack(ctx, o, agent)
			}
			continue
		}
		if homes == nil {
			homes = ClaudeHomes(env, o.Home())
		}
		switch ringOther(ctx, o, homes, agent, lives) {
		case rung:
			if agent == to[i].Agent() {
				to[i].Wake = Inbox
			}
		case paced:
			to[i].Held = heldBack(ctx, o, agent)
		}
	}
}

// heldBack says what keeps an agent from being rung for what it has now. The
// agent's own server may be about to ring, or has.
func heldBack(ctx context.Context, o *office.Office, agent event.ID) string {
	live, err := o.Live(ctx)
	if err != nil {
		return ""
	}
	now := o.Now()
	if strained, err := live.Strained(ctx, agent, now, pace); err != nil || !strained {
		return ""
	}
	mail, err := o.Ringable(ctx, agent)
	if err != nil || mail.Position == 0 {
		return ""
	}
	if _, rang, err := live.LastRing(ctx, agent, mail.Position); err != nil || rang {
		return ""
	}
	h, held, err := live.WouldHold(ctx, agent, mail.Position, mail.Causes, now, pace)
	if err != nil || !held {
		return ""
	}
	return office.HeldWord(h)
}

// unserved gives the lives of an agent that runs in Claude Code and has no
// server that can ring it.
func unserved(ctx context.Context, o *office.Office, agent event.ID) ([]presence.Life, bool) {
	live, err := o.Live(ctx)
	if err != nil {
		return nil, false
	}
	lives, err := live.Lives(ctx, agent)
	if err != nil {
		return nil, false
	}
	client := false
	for _, l := range lives {
		if l.Role == presence.Server && l.Wake != "" {
			return nil, false
		}
		client = client || ofClaude(l)
	}
	return lives, client
}

func ofClaude(l presence.Life) bool {
	return l.Role == presence.Client && l.Client == "claude" && l.Process.Host == proc.Host()
}

// ringOther rings a session that this process is no child of.
func ringOther(ctx context.Context, o *office.Office, homes []claude.Home, agent event.ID, lives []presence.Life) outcome {
	for i := range lives {
		if !ofClaude(lives[i]) {
			continue
		}
		// An agent may have lived in a process that holds another conversation now.
		if c, found, err := o.RunningIn(ctx, lives[i].Process); err != nil || !found || c.Agent.ID != agent || c.Stale {
			continue
		}
		w := ClaudeInbox(homes, lives[i].Process.PID, nil)
		l, err := w.Look()
		if err != nil || l.Cannot != "" {
			continue
		}
		if out, _, _, err := attempt(ctx, o, agent, w, l, &lives[i]); err == nil && out != nothing {
			return out
		}
	}
	return nothing
}
