package hook

import (
	"path/filepath"
	"strings"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/mailflag"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
)

const clientName = "claude"

// envPID is the environment variable in which Claude Code names its process
// to hooks.
const envPID = "CLAUDE_PID"

// nameVariables name a session at its start: ours, and those of the systems
// that prompts and settings may have been written for.
var nameVariables = []string{"BUREAU_NAME", "ESCRITORIO_ID", "MCLAUDE_IDENTITY"}

// ownTool reports whether a tool is one of our MCP server's, registered by
// setup or by the plugin.
func ownTool(tool string) bool {
	return strings.HasPrefix(tool, "mcp__bureau__") || strings.HasPrefix(tool, "mcp__plugin_bureau_")
}

// enter finds the session's agent, or begins it if no SessionStart was seen:
// hooks may have been set up while it ran, or the office was away.
func (h *visit) enter() error {
	c, err := h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client)
	if c.Adrift || fault.Is(err, fault.NotFound) {
		_, err = h.begin("resume")
		if err == nil {
			c, err = h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client)
		}
	}
	if err != nil {
		return err
	}
	h.caller = c
	if h.fields.agent != "" {
		h.caller, err = h.o.SessionCaller(h.ctx, clientName, h.fields.session, h.fields.agent, h.client)
		if fault.Is(err, fault.NotFound) {
			// A subagent that has never used the office has no mail in it.
			return errNobody
		}
	}
	return err
}

// errNobody says that the event is of somebody whom the office does not know.
var errNobody = fault.New(fault.NotFound, "nobody here")

// begin starts the session.
func (h *visit) begin(source string) (office.Registered, error) {
	folder := h.in.text("cwd")
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	var project office.Project
	if found, err := git.Project(folder); err == nil {
		project = office.Project{ID: found.ID, Name: found.Name, Root: found.Root}
		if project, err = h.o.SettleProject(h.ctx, project, func(string) bool { return false }); err != nil {
			return office.Registered{}, err
		}
	}
	done, err := h.o.StartSession(h.ctx, office.Session{
		Client: clientName, ID: h.fields.session, Declared: h.declared(), Fork: source == "fork",
		Continues: source == "resume" || source == "clear" || source == "compact",
		Process:   h.client, Folder: folder, Project: project,
	})
	if err != nil {
		return done, err
	}
	return done, h.o.LinkFlag(office.Caller{Agent: done.Agent, Session: h.fields.session})
}

// declared gives the name from the environment. Below another session's
// process it was inherited from there and names that one.
func (h *visit) declared() string {
	for _, v := range nameVariables {
		n := strings.TrimSpace(h.io.Env(v))
		if n == "" {
			continue
		}
		above := proc.Ancestors(64)
		for i, id := range above {
			if id.PID == h.client.PID {
				above = above[i+1:]
				break
			}
		}
		if inside, err := h.o.InsideClient(h.ctx, above); err == nil && inside {
			return ""
		}
		return n
	}
	return ""
}

func (h *visit) sessionStart() error {
	source := h.in.text("source")
	done, err := h.begin(source)
	if err != nil {
		return err
	}
	if h.caller, err = h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client); err != nil {
		return err
	}
	if source == "compact" {
		err = h.o.SetStatus(h.ctx, h.caller, presence.Busy)
	} else {
		err = h.o.SetStatus(h.ctx, h.caller, presence.Idle)
	}
	if err != nil {
		return err
	}
	welcome, err := h.welcome(done)
	if err != nil {
		return err
	}
	return h.deliver(delivery{head: welcome, again: true, low: true})
}

func (h *visit) userPromptSubmit() error {
	err := h.enter()
	if err == errNobody {
		return nil
	}
	if err != nil {
		return err
	}
	if h.caller.Stale {
		return h.context("bureau: this conversation goes on in another process now. Here, " + string(h.caller.Agent.Name) + " may only read.")
	}
	if err := h.o.SetStatus(h.ctx, h.caller, presence.Busy); err != nil {
		return err
	}
	if humanPrompt(h.in.text("prompt"), h.in.text("transcript_path"), h.in.text("prompt_id")) {
		st, err := h.o.Stops(h.ctx, h.caller)
		if err != nil {
			return err
		}
		if st.Row > 0 {
			st.Row = 0
			if err := h.o.SetStops(h.ctx, h.caller, st); err != nil {
				return err
			}
		}
	}
	return h.deliver(delivery{again: true, low: true, remind: true})
}

// preToolUse announces who is about to call one of our tools, and counts as a
// move.
func (h *visit) preToolUse() error {
	err := h.enter()
	if err != nil && err != errNobody {
		return err
	}
	if err == nil {
		if err := h.o.Moved(h.ctx, h.caller, "PreToolUse"); err != nil {
			return err
		}
	}
	id := h.in.text("tool_use_id")
	if id == "" {
		return nil
	}
	return h.o.NoteCall(h.ctx, presence.Call{
		ID: id, Process: h.client, Client: clientName, Session: h.fields.session, Sub: h.fields.agent, SubType: h.in.text("agent_type"),
	})
}

// postToolBatch ends a round of tool calls: it proves what an earlier event
// printed, notes what this round's tools handed out, and delivers.
func (h *visit) postToolBatch() error {
	return h.afterTools(true)
}

// postToolUse stands in for postToolBatch in versions without it. It comes
// before the model has seen anything of the round, so it proves nothing.
func (h *visit) postToolUse() error {
	return h.afterTools(false)
}

func (h *visit) afterTools(proves bool) error {
	flags := h.o.RuntimeDir().FlagDir()
	// The size is read before the look: what comes meanwhile is beyond it.
	size, known := mailflag.Size(flags, h.fields.session)
	err := h.enter()
	if err == errNobody {
		if known {
			return mailflag.Mark(flags, h.fields.session, h.fields.agent, size)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if h.caller.Stale {
		return nil
	}
	if proves {
		if err := h.o.Moved(h.ctx, h.caller, h.fields.event); err != nil {
			return err
		}
	}
	if err := h.o.Arrived(h.ctx, h.caller, h.in.results()); err != nil {
		return err
	}
	if err := h.deliver(delivery{}); err != nil {
		return err
	}
	left, err := h.o.Outstanding(h.ctx, h.caller)
	if err != nil {
		return err
	}
	if !known && h.fields.agent == "" {
		return h.o.LinkFlag(h.caller)
	}
	if left || !known || h.fields.agent != "" {
		// A subagent's own flag is not the session's: it looks every time.
		return mailflag.Invalidate(flags, h.fields.session, h.fields.agent)
	}
	return mailflag.Mark(flags, h.fields.session, h.fields.agent, size)
}

// maxRow is how often in a row a stopping session is made to go on before its
// user speaks again.
const maxRow = 3

// stop handles the end of a turn, of the session or of a subagent. Mail that
// waits makes it go on: once for the same mail, at most maxRow times in a row.
func (h *visit) stop() error {
	err := h.enter()
	if err == errNobody {
		return nil
	}
	if err != nil {
		return err
	}
	if h.caller.Stale {
		return nil
	}
	if err := h.o.Moved(h.ctx, h.caller, h.fields.event); err != nil {
		return err
	}
	st, err := h.o.Stops(h.ctx, h.caller)
	if err != nil {
		return err
	}
	list, _, err := h.o.Pending(h.ctx, h.caller, false, maxMessages)
	if err != nil {
		return err
	}
	newest := event.Seq(0)
	for i := range list {
		if list[i].Wakes() {
			newest = max(newest, list[i].Position())
		}
	}
	if newest <= st.Position || st.Row >= maxRow {
		if h.fields.event == "SubagentStop" {
			return h.o.EndSubagent(h.ctx, h.caller)
		}
		return h.o.SetStatus(h.ctx, h.caller, presence.Idle)
	}
	// Stored first: a hook that dies now has not printed, and the mail comes
	// at the next prompt or by a ring instead of for ever again here.
	st.Position, st.Row = newest, st.Row+1
	if err := h.o.SetStops(h.ctx, h.caller, st); err != nil {
		return err
	}
	return h.deliver(delivery{goOn: true})
}

func (h *visit) sessionEnd() error {
	reason := h.in.text("reason")
	c, err := h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	if reason == "clear" || reason == "resume" {
		return nil // the process lives on with another conversation
	}
	if err := mailflag.Forget(h.o.RuntimeDir().FlagDir(), h.fields.session); err != nil {
		return err
	}
	return h.o.EndSession(h.ctx, c.Agent.ID, h.client, reason)
}

func (h *visit) notification() error {
	err := h.enter()
	if err != nil || h.fields.agent != "" {
		if err == errNobody {
			return nil
		}
		return err
	}
	switch kind := h.in.text("notification_type"); {
	case kind == "idle_prompt":
		return h.o.SetStatus(h.ctx, h.caller, presence.Idle)
	case kind == "permission_prompt" || strings.HasPrefix(kind, "elicitation_dialog"):
		return h.o.SetStatus(h.ctx, h.caller, presence.Waiting)
	}
	return nil
}

// cwdChanged is a sign of life. Who the session is does not follow its folder.
func (h *visit) cwdChanged() error {
	if err := h.enter(); err != nil && err != errNobody {
		return err
	}
	return nil
}

// humanPrompt reports whether a prompt is the person's own words, and not our
// doorbell, a peer's message or a notice of the client.
func humanPrompt(prompt, transcript, promptID string) bool {
	return claude.UserPromptOrigin(prompt, transcript, promptID).Kind == claude.Human
}
