package wake

import (
	"context"
	"slices"

	"bureau/internal/agent/claude"
	"bureau/internal/agent/claude/inbox"
	"bureau/internal/fault"
	"bureau/internal/presence"
)

// Inbox is the way into Claude Code: one line to the session's inbox socket,
// as measured with 2.1.332. It works in every permission mode
// for a child of the session; for others a session that bypasses permissions
// keeps the line for its user.
const Inbox = "inbox"

// claudeInbox rings the session of one Claude Code process.
type claudeInbox struct {
	homes         []claude.Home
	pid           int
	socket, token string // of the process's own environment; "" for others
}

// ClaudeInbox gives the way to the session of the client that runs as pid. env
// is the environment that the client gave to this process, or nil when another
// one's session is meant.
func ClaudeInbox(homes []claude.Home, pid int, env func(string) string) Waker {
	w := claudeInbox{homes: homes, pid: pid}
	if env != nil {
		w.socket, w.token = env(claude.EnvSocket), env(claude.EnvToken)
	}
	return w
}

// ClaudeHomes lists the homes in which the records of sessions are looked for:
// the environment's, the usual one, and those that were set up for the office at
// a folder.
func ClaudeHomes(env func(string) string, office string) []claude.Home {
	homes, err := claude.Homes(env)
	if err != nil {
		return nil
	}
	usual, err := claude.Homes(func(key string) string {
		if key == claude.EnvConfigDir {
			return ""
		}
		return env(key)
	})
	if err != nil {
		usual = nil
	}
	for _, h := range append(usual, claude.SetUp(office)...) {
		if !slices.ContainsFunc(homes, func(x claude.Home) bool { return x.Dir == h.Dir }) {
			homes = append(homes, h)
		}
	}
	return homes
}

func (w claudeInbox) Via() string { return Inbox }

func (w claudeInbox) Look() (Look, error) {
	r, err := claude.RecordOf(w.homes, w.pid)
	if err != nil {
		return Look{}, err
	}
	l := Look{Since: r.StatusUpdatedAt, Attended: r.Entrypoint != claude.EntryPrint, Session: r.SessionID}
	switch r.Status {
	case claude.Idle:
		l.Status = presence.Idle
	case claude.Busy:
		l.Status = presence.Busy
	case claude.Waiting:
		l.Status = presence.Waiting
	}
	switch {
	case r.PeerProtocol != claude.PeerProtocol:
		l.Cannot = "its inbox speaks another protocol"
	case r.SocketPath == "" && w.socket == "":
		l.Cannot = "it has no inbox"
	}
	return l, nil
}

// Ring goes by the record, which is newer than the environment: after /clear
// the server lives on with the values of its start.
func (w claudeInbox) Ring(ctx context.Context, line string) error {
	r, err := claude.RecordOf(w.homes, w.pid)
	if err != nil {
		return err
	}
	if r.SocketPath == "" {
		r.SocketPath = w.socket
	}
	token := ""
	if r.SocketPath == w.socket {
		token = w.token
	}
	if r.SocketPath == "" {
		return fault.New(fault.Unavailable, "the session has no inbox")
	}
	_, err = inbox.RingRecord(ctx, r, token, line)
	return err
}
