package hook

import (
	"encoding/json"
	"errors"
	"slices"

	"bureau/internal/agent/claude"
	"bureau/internal/mailflag"
	"bureau/internal/presence"
)

// subagentStopped ends a subagent whose turn is over, unless it is a teammate
// that goes on: it sits idle until its lead, or somebody who is told to, writes
// to it.
func (h *visit) subagentStopped() error {
	if name, ok := claude.TeammateName(h.fields.agent); !ok || !h.teammate(name) {
		return h.o.EndSubagent(h.ctx, h.caller)
	}
	// What begins its next turn is no event that goes by without a look.
	if err := mailflag.Invalidate(h.o.RuntimeDir().FlagDir(), h.fields.session, h.fields.agent); err != nil {
		return err
	}
	return h.o.SetStatus(h.ctx, h.caller, presence.Idle)
}

// teammatesLeft ends the teammates of a stopping session that were stopped while
// they sat idle: no event tells of that.
func (h *visit) teammatesLeft() error {
	mates, err := h.o.IdleSubagents(h.ctx, h.caller)
	for _, c := range mates {
		if name, ok := claude.TeammateName(c.Sub); !ok || !h.teammate(name) {
			err = errors.Join(err, h.o.EndSubagent(h.ctx, c))
		}
	}
	return err
}

// teammate reports whether the client has a teammate of that name at work, or
// idle, in the session's process.
func (h *visit) teammate(name string) bool {
	type task struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	}
	var tasks []task
	running := func(t task) bool { return t.Type == "teammate" && t.Status == "running" }
	if json.Unmarshal(h.in.field("background_tasks"), &tasks) == nil && !slices.ContainsFunc(tasks, running) {
		return false // the client's own list at a stop, which has no names
	}
	homes, err := claude.Homes(h.io.Env)
	if err != nil {
		return false
	}
	names, _ := claude.Teammates(homes, h.fields.session, h.client.PID)
	return slices.Contains(names, name)
}
