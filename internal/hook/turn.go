package hook

import (
	"errors"

	"bureau/internal/agent/claude"
	"bureau/internal/mailflag"
	"bureau/internal/office"
	"bureau/internal/presence"
)

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
	if claude.JoinsTurn(h.in.text("transcript_path"), h.in.text("prompt_id")) {
		// Typed while a turn runs: the person can still take it back, and what
		// was printed for it would be gone while that turn's own moves look
		// like proof. The running turn's events bring the mail.
		return nil
	}
	// What it got in earlier turns is no reason for this one to go on. Mail does
	// not wait for that.
	h.late = errors.Join(h.late, h.o.TurnBegins(h.ctx, h.caller))
	d := delivery{again: presence.Everything, choice: office.AnyMail, remind: true}
	if d.head, err = h.introduction(); err != nil {
		return err
	}
	_, err = h.deliver(d)
	return err
}

// humanPrompt reports whether a prompt is the person's own words, and not our
// doorbell, a peer's message or a notice of the client.
func humanPrompt(prompt, transcript, promptID string) bool {
	return claude.UserPromptOrigin(prompt, transcript, promptID).Kind == claude.Human
}

// preToolUse asks before files are changed and commands are run, and announces
// who is about to call one of our tools.
func (h *visit) preToolUse() error {
	switch {
	case h.edit == nil:
		return h.ownTool()
	case h.edit.stash:
		return h.guardStash()
	}
	return h.guardEdit()
}

// ownTool announces who is about to call one of our tools, and counts as a
// move. The announcement comes first: without it a subagent would be taken for
// its session.
func (h *visit) ownTool() error {
	if id := h.in.text("tool_use_id"); id != "" {
		err := h.o.NoteCall(h.ctx, presence.Call{
			ID: id, Process: h.client, Client: clientName, Session: h.fields.session, Sub: h.fields.agent, SubType: h.in.text("agent_type"),
			Folder: h.fields.cwd,
		})
		if err != nil {
			return err
		}
	}
	err := h.enter()
	if err == errNobody {
		return nil
	}
	if err != nil {
		return err
	}
	return h.o.Moved(h.ctx, h.caller, "PreToolUse", false)
}

// postToolBatch ends a round of tool calls: it proves what an earlier event
// printed, notes what this round's tools handed out, and delivers.
func (h *visit) postToolBatch() error {
	return h.afterTools(false)
}

// postToolUse stands in for postToolBatch in versions without it. It comes
// inside a round, before the model has seen anything of it, so it proves
// nothing.
func (h *visit) postToolUse() error {
	return h.afterTools(true)
}

func (h *visit) afterTools(inRound bool) error {
	flags := h.o.RuntimeDir().FlagDir()
	flag := office.FlagName(h.fields.session, h.fields.agent)
	// The sizes are read before the look: what comes meanwhile is beyond them.
	size, known := mailflag.Size(flags, flag)
	mainSize, mainKnown := mailflag.Size(flags, h.fields.session)
	err := h.enter()
	if err != nil && err != errNobody {
		return err
	}
	if h.main.Stale {
		return nil
	}
	edits := h.changedToo()
	if h.idle {
		return h.context(edits)
	}
	if !mainKnown {
		if err := h.o.LinkFlag(h.main); err != nil {
			return err
		}
	}
	if err == errNobody {
		// Whatever comes to the session is not for this subagent.
		if err := h.context(edits); err != nil || !mainKnown {
			return err
		}
		return mailflag.Mark(flags, h.fields.session, h.fields.agent, mainSize)
	}
	left, err := h.o.Round(h.ctx, h.caller, h.fields.event, h.in.results, inRound)
	if err != nil {
		return err
	}
	d := delivery{choice: office.NotLow, inRound: inRound}
	if d.head, err = h.introduction(); err != nil {
		return err
	}
	d.head = join(d.head, edits)
	given, err := h.deliver(d)
	if err != nil {
		return err
	}
	switch {
	case !known:
		return h.o.LinkFlag(h.caller)
	case left || given:
		return mailflag.Invalidate(flags, flag, "")
	}
	return mailflag.Mark(flags, flag, "", size)
}

// maxRow is how often in a row a stopping session is made to go on before its
// user speaks again.
const maxRow = 3

// maxReminded is how many questions a stop looks at, remindedShown how many it
// names.
const (
	maxReminded   = 50
	remindedShown = 5
)

// stop handles the end of a turn, of the session or of a subagent. Mail that
// waits, a room, or a question that came in this turn and was not answered makes
// it go on: once for the same mail, question or reason of a room, at most maxRow
// times in a row.
func (h *visit) stop() error {
	if h.fields.event == "SubagentStop" && h.fields.agent == "" {
		return nil // whoever it was, it was not the session
	}
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
	if err := h.o.Moved(h.ctx, h.caller, h.fields.event, true); err != nil {
		return err
	}
	if h.fields.agent == "" {
		h.late = errors.Join(h.late, h.teammatesLeft())
	}
	goesOn, err := h.goOn()
	if err != nil || goesOn {
		return err
	}
	if h.fields.event == "SubagentStop" {
		return h.subagentStopped()
	}
	return h.o.SetStatus(h.ctx, h.caller, presence.Idle)
}

// stopFailure handles a turn that an error of the model's API ended: no Stop
// comes then. The session is idle, and nothing shows that the model got what
// was printed for it; if it was rung for that, it may be rung once more.
func (h *visit) stopFailure() error {
	err := h.enter()
	if err == errNobody || err == nil && (h.fields.agent != "" || h.caller.Stale) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.o.TurnFailed(h.ctx, h.caller)
}

// goOn delivers what may make the session go on, and reports whether it does.
func (h *visit) goOn() (bool, error) {
	st, err := h.o.Stops(h.ctx, h.caller)
	if err != nil || st.Row >= maxRow {
		return false, err
	}
	open, err := h.o.Unanswered(h.ctx, h.caller, maxReminded)
	if err != nil { // mail does not wait for it
		h.late, open = errors.Join(h.late, err), nil
	}
	d := delivery{head: h.reminder(open), again: presence.Lost, choice: office.Waking, goOn: true, newer: st.Position}
	p, err := h.prepare(d)
	if err != nil {
		return false, err
	}
	last := newest(p.shown)
	if last <= st.Position && p.rooms.rooms == 0 && len(open) == 0 {
		return false, nil // nothing, or what it went on for before
	}
	p.open = open
	// Stored first: a hook that dies now has not printed, and the mail comes
	// at the next prompt or by a ring instead of for ever again here.
	st.Position, st.Told, st.Row = max(last, st.Position), max(p.rooms.position, st.Told), st.Row+1
	if err := h.o.SetStops(h.ctx, h.caller, st); err != nil {
		return false, err
	}
	// What came with this stop is new, and has had its stop with it.
	if asked := max(newest(open), newestQuestion(p.shown)); asked > 0 {
		if err := h.o.Reminded(h.ctx, h.caller, asked); err != nil {
			return false, err
		}
	}
	return true, h.put(d, p)
}
