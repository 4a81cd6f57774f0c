package hook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/editflag"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/mailflag"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/quote"
)

const clientName = "claude"

// sweepAfter is how long the answers of the guard are kept for a session that
// asks no more. None of them stands for longer than keepAnswer.
const sweepAfter = time.Hour

// enter finds whose event it is. errNobody is given for a subagent that has
// never used the office: it has no mail in it.
func (h *visit) enter() error {
	if err := h.enterMain(); err != nil || h.fields.agent == "" {
		return err
	}
	sub, err := h.o.SessionCaller(h.ctx, clientName, h.fields.session, h.fields.agent, h.client)
	if fault.Is(err, fault.NotFound) {
		return errNobody // the caller is its session then
	}
	h.caller = sub
	return err
}

// enterMain finds the session's agent, or begins it if no SessionStart was
// seen: hooks may have been set up while it ran, or the office was away.
func (h *visit) enterMain() error {
	c, err := h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client)
	begin := fault.Is(err, fault.NotFound)
	if err == nil && c.Adrift {
		begin, err = h.returns(c)
	}
	if begin {
		var done office.Registered
		if done, err = h.begin("resume"); err == nil {
			h.begun = &done
			c, err = h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client)
		}
	}
	if err != nil {
		return err
	}
	h.main, h.caller = c, c
	return nil
}

// returns reports whether a conversation that nobody holds goes on here. An
// event of a conversation that the process has left comes late; only a prompt
// shows that its user went back to it.
func (h *visit) returns(c office.Caller) (bool, error) {
	if h.fields.event == "UserPromptSubmit" {
		return true, nil
	}
	now, found, err := h.o.RunningIn(h.ctx, h.client)
	return !found || now.Agent.ID == c.Agent.ID, err
}

// errNobody says that the event is of somebody whom the office does not know.
var errNobody error = &fault.Error{Code: fault.NotFound, Message: "nobody here"}

// begin starts the session. A name that cannot be one does not keep it out: it
// gets another and is told.
func (h *visit) begin(source string) (office.Registered, error) {
	folder := h.folder()
	var project office.Project
	if found, err := git.Project(folder); err == nil {
		project = office.Project{ID: found.ID, Name: found.Name, Root: found.Root, Repository: found.Repository}
		if project, err = h.o.SettleProject(h.ctx, project); err != nil {
			return office.Registered{}, err
		}
	}
	s := office.Session{
		Client: clientName, ID: h.fields.session, Declared: h.declared(), Fork: source == "fork",
		Continues: source == "resume" || source == "clear" || source == "compact",
		Process:   h.client, Folder: folder, Project: project,
	}
	done, err := h.o.StartSession(h.ctx, s)
	if fault.Is(err, fault.Invalid) && s.Declared != "" {
		h.badName, s.Declared = s.Declared, ""
		done, err = h.o.StartSession(h.ctx, s)
	}
	if err != nil {
		return done, err
	}
	return done, h.o.LinkFlag(office.Caller{Agent: done.Agent, Session: h.fields.session})
}

// folder gives the folder that the session belongs to: where its client was
// started, which does not follow the model's walks below it.
func (h *visit) folder() string {
	cwd, started := canonical(h.in.text("cwd")), canonical(h.io.Env(claude.EnvProject))
	switch {
	case started != "" && (cwd == "" || cwd == started || strings.HasPrefix(cwd, strings.TrimSuffix(started, string(filepath.Separator))+string(filepath.Separator))):
		return started
	case cwd != "":
		return cwd
	}
	here, _ := os.Getwd() // the client runs hooks in its own folder
	return canonical(here)
}

// canonical resolves links where it can; "" stays "".
func canonical(folder string) string {
	if folder == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	return folder
}

// declared gives the name from the environment.
func (h *visit) declared() string {
	return h.o.DeclaredName(h.ctx, h.io.Env, func() []proc.ID {
		above := proc.Ancestors(64)
		if i := slices.IndexFunc(above, func(id proc.ID) bool { return id.PID == h.client.PID }); i >= 0 {
			above = above[i+1:]
		}
		return above
	})
}

func (h *visit) sessionStart() error {
	source := h.in.text("source")
	status := presence.Idle
	if source == "compact" {
		// In the middle of a turn, or at the user's word between two.
		status = presence.Busy
		if c, err := h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client); err == nil {
			if was, err := h.o.Status(h.ctx, c); err == nil && was != "" {
				status = was
			}
		}
	}
	done, err := h.begin(source)
	if err != nil {
		return err
	}
	if h.caller, err = h.o.SessionCaller(h.ctx, clientName, h.fields.session, "", h.client); err != nil {
		return err
	}
	if source == "clear" || source == "compact" {
		done.Kept = "" // it was told when it began
	}
	if h.left, err = h.o.EndLeft(h.ctx, h.client, done.Agent.ID); err != nil {
		return err
	}
	if err := h.o.SetStatus(h.ctx, h.caller, status); err != nil {
		return err
	}
	// An answer to the guard of another process that had this conversation is
	// none for this one; nor is what ended sessions have left behind.
	edits := h.o.RuntimeDir().EditDir()
	h.late = errors.Join(h.late, editflag.Forget(edits, h.fields.session), editflag.Sweep(edits, h.io.Now().Add(-sweepAfter)))
	h.late = errors.Join(h.late, h.nameOffice(), h.noteFolder(h.fields.cwd))
	welcome, err := h.welcome(done)
	if err != nil {
		return err
	}
	_, err = h.deliver(delivery{head: welcome, again: presence.Everything, choice: office.AnyMail})
	return err
}

// nameOffice lets the commands that the session's model types work in the office
// that its hooks were set up for, where that is not the one they would find: the
// client makes what stands in this file their environment.
func (h *visit) nameOffice() error {
	file := h.io.Env(claude.EnvEnvFile)
	usual, err := office.DefaultHome()
	if file == "" || err != nil || usual == h.o.Home() {
		return err
	}
	line := "export " + office.HomeVariable + "=" + quote.Shell(h.o.Home()) + "\n"
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the session's shell will look for the office in %s: %w", usual, err)
	}
	old, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err == nil && !bytes.Contains(old, []byte(line)) {
		if len(old) > 0 && old[len(old)-1] != '\n' {
			line = "\n" + line
		}
		_, err = f.WriteString(line)
	}
	return errors.Join(err, f.Close())
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
		// The process lives on; the next SessionStart says as whom.
		return h.o.SetStatus(h.ctx, c, presence.Left)
	}
	if !c.Stale { // else the flag is the newer process's
		if err := mailflag.Forget(h.o.RuntimeDir().FlagDir(), h.fields.session); err != nil {
			return err
		}
		h.late = errors.Join(h.late, editflag.Forget(h.o.RuntimeDir().EditDir(), h.fields.session))
	}
	if err := h.o.EndSession(h.ctx, c.Agent.ID, h.client, reason); err != nil || c.Stale {
		return err
	}
	return h.o.EndSubagents(h.ctx, c)
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
		// The next round of tool calls says that it is over.
		if err := mailflag.Invalidate(h.o.RuntimeDir().FlagDir(), h.fields.session, ""); err != nil {
			return err
		}
		return h.o.SetStatus(h.ctx, h.caller, presence.Waiting)
	}
	return nil
}

// cwdChanged notes where relative paths begin from now on. Who the session is
// does not follow its folder.
func (h *visit) cwdChanged() error {
	err := h.enter()
	if err == errNobody {
		return nil
	}
	if err != nil {
		return err
	}
	return h.noteFolder(cmp.Or(h.in.text("new_cwd"), h.fields.cwd))
}

func (h *visit) noteFolder(folder string) error {
	if !filepath.IsAbs(folder) {
		return nil
	}
	return h.o.NoteFolder(h.ctx, h.caller, folder)
}
