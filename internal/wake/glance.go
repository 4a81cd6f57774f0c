package wake

import (
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/presence"
)

// Glance gives what office.Options.Glance asks for: a session's record is one
// small file, which its client keeps.
func Glance(env func(string) string) func(office string) func(presence.Life, time.Time) presence.Life {
	return func(office string) func(presence.Life, time.Time) presence.Life {
		var homes []claude.Home
		return func(l presence.Life, now time.Time) presence.Life {
			if !ofClaude(l) || l.Status == presence.Left {
				return l
			}
			if homes == nil {
				homes = ClaudeHomes(env, office)
			}
			look, err := ClaudeInbox(homes, l.Process.PID, nil).Look()
			if err != nil || look.Session != l.Session {
				return l // it is not there, or holds another conversation now
			}
			if newer(look, &l, now) {
				l.Status, l.StatusAt = look.Status, look.Since
			}
			if look.Cannot == "" {
				l.Wake = Inbox
			}
			return l
		}
	}
}
