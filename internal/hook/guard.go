package hook

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/claim"
	"bureau/internal/editflag"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/mirror/locks"
	"bureau/internal/office"
)

// The guard of edits. What somebody else holds is denied; the rest passes
// without a word, so that the client's own permissions decide on it.
//
// It fails open: whatever keeps the office from answering in time is one line
// on the error output, and the edit goes on. Claims are an agreement among
// sessions, no wall.

// guardVariable set to guardOff in the client's environment, which a person
// does, lets every edit and every git stash pass.
const (
	guardVariable = "BUREAU_GUARD"
	guardOff      = "off"
)

// keepAnswer is how long an edit that was allowed passes without a look while
// no claim of its project changes. The office's own bound is longer; a process
// that dies between a change and its flag hides the change this long at most.
const keepAnswer = time.Minute

// edit is what a tool is about to do that others may have a say in.
type edit struct {
	paths []string // the files, absolute, with links followed
	stash bool     // it is no edit, but a git stash
	key   string   // the session, for package editflag
	who   string   // the process and subagent in it
	extra int      // files that are not asked about
}

// guarded gives what has to be asked about, nil for nothing. Links are followed
// each time, so a link that leads elsewhere by now is another file.
func guarded(f fields, env func(string) string) *edit {
	if env(guardVariable) == guardOff {
		return nil
	}
	switch claude.KindOf(f.tool) {
	case claude.ShellTool:
		if stashes(f.input) {
			return &edit{stash: true}
		}
	case claude.EditTool:
		e := &edit{key: f.session, who: env(claude.EnvPID) + "/" + f.agent}
		e.paths = absolute(f.cwd, touched(f.input))
		if len(e.paths) > maxTouched {
			e.extra = len(e.paths) - maxTouched
			e.paths = e.paths[:maxTouched]
		}
		if len(e.paths) > 0 {
			return e
		}
	}
	return nil
}

// absolute gives the files that a client's paths mean, each once.
func absolute(cwd string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		p = filepath.FromSlash(p)
		if !filepath.IsAbs(p) {
			if cwd == "" {
				cwd, _ = os.Getwd() // the client runs hooks in its own folder
			}
			p = filepath.Join(cwd, p)
		}
		if p = place.Resolve(p); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// mark names one file of the edit to package editflag.
func (e *edit) mark(path string) string { return e.who + "\x00" + path }

// allowed reports whether all of it was allowed before and nothing has changed.
func (e *edit) allowed(dir string, now time.Time) bool {
	if e.stash {
		return false
	}
	for _, p := range e.paths {
		if !editflag.Allowed(dir, e.key, e.mark(p), now, keepAnswer) {
			return false
		}
	}
	return true
}

// asked is what one project is asked about.
type asked struct {
	project office.Project
	office.Editing
	files []string // the same as absolute paths
}

func (h *visit) guardEdit() error {
	if err := h.enterMain(); err != nil {
		return err
	}
	if h.main.Stale {
		return h.deny(h.edit.what() + " was not made: this conversation goes on in another process now, and here it may only read.")
	}
	if h.fields.agent != "" {
		// Told apart from its siblings from its first edit on.
		sub, err := h.o.Subagent(h.ctx, h.main, clientName, h.fields.agent, h.in.text("agent_type"))
		if err != nil {
			return err
		}
		h.caller = sub
	}
	asks := h.asks()
	if n := len(h.edit.paths); h.edit.extra > 0 {
		h.late = errors.Join(fault.New(fault.Invalid, "an edit of %d files: the guard looked at %d of them", n+h.edit.extra, n), h.late)
	}
	var meets, shares, beside []claim.Block
	if len(asks) > 1 || h.o.ReadOnly() {
		// Each project decides for itself, and what one of them allows is
		// claimed. So all are looked at before the first is asked.
		for i := range asks {
			done, err := h.o.MayCommit(h.ctx, h.caller, asks[i].project, asks[i].Editing)
			h.unread(done.Unread)
			if refused(err) {
				return h.deny(h.refusal(err))
			} else if err != nil {
				return err
			}
			meets, shares, beside = append(meets, done.Meets...), append(shares, done.Shares...), append(beside, done.Beside...)
		}
	}
	if !h.o.ReadOnly() {
		meets, shares, beside = nil, nil, nil
		var made []event.ID
		for i := range asks {
			done, err := h.ask(&asks[i])
			made = append(made, asks[i].Made...)
			if refused(err) {
				// What is not edited is not claimed either.
				h.late = errors.Join(h.late, h.o.GiveBack(h.ctx, h.caller, made))
				return h.deny(h.refusal(err))
			} else if err != nil {
				return err
			}
			meets, shares, beside = append(meets, done.Meets...), append(shares, done.Shares...), append(beside, done.Beside...)
		}
	}
	text, err := h.introduction()
	if err != nil {
		return err
	}
	return h.context(join(join(join(text, h.meeting(meets)), h.sharing(shares)), h.lockedToo(beside)))
}

// refused reports whether an error is the answer no.
func refused(err error) bool { return fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied) }

// ask asks one project, and remembers that it allowed the edit. An edit that
// was claimed on the way is asked about once more: the claim itself raised the
// flag, and only what was seen after that can be relied on. So it depends on the
// folders where other programs keep their locks; and what they have locked too
// is said every time.
func (h *visit) ask(a *asked) (all office.Allowed, err error) {
	dir := h.o.RuntimeDir().EditDir()
	folders := locks.Folders(a.project.Root, a.Tree)
	for _, around := range a.project.Around {
		folders = append(folders, locks.Folders(around.Project.Root, around.Tree)...)
	}
	var seen []editflag.Seen
	var watched []editflag.Watched
	var until time.Time
	for range 2 {
		seen = seen[:0]
		for _, scope := range office.EditScopes(a.project) {
			seen = append(seen, editflag.Seen{Scope: scope, Size: editflag.Size(dir, scope)}) // before the look
		}
		watched = editflag.Watch(folders...)
		done, err := h.o.MayEdit(h.ctx, h.caller, a.project, a.Editing)
		h.unread(done.Unread)
		if err != nil {
			return all, err
		}
		all.Meets, all.Shares, all.Beside = append(all.Meets, done.Meets...), done.Shares, done.Beside
		a.Made = append(a.Made, done.Made...)
		until = h.io.Now().Add(keepAnswer)
		if done.Until.Before(until) {
			until = done.Until
		}
		if done.Known {
			break
		}
	}
	for _, file := range a.files {
		if len(all.Beside) > 0 {
			break
		}
		if err := editflag.Allow(dir, h.edit.key, h.edit.mark(file), seen, until, watched...); err != nil {
			h.late = errors.Join(h.late, err) // it is asked about again next time
		}
	}
	return all, nil
}

// unread tells, once, of other programs' locks that could not be looked at.
func (h *visit) unread(why error) {
	if why != nil && (h.late == nil || !strings.Contains(h.late.Error(), why.Error())) {
		h.late = errors.Join(h.late, why)
	}
}

// asks sorts the files by the project and work tree that they lie in, not the
// one that the session is in. A file that no claim can be made of is left out.
func (h *visit) asks() (out []asked) {
	folders := map[string]place.Place{}
	for _, file := range h.edit.paths {
		folder := filepath.Dir(file)
		at, known := folders[folder]
		if !known {
			var err error
			if at, err = place.OfFile(file); err == nil {
				at.Project, err = h.o.SettleProject(h.ctx, at.Project)
			}
			if err != nil {
				h.late = errors.Join(h.late, err)
				continue
			}
			folders[folder] = at
		}
		name, ok := at.File(file)
		if _, err := claim.Literal(name); !ok || err != nil {
			h.late = errors.Join(h.late, err)
			continue
		}
		i := slices.IndexFunc(out, func(a asked) bool { return a.Tree == at.Tree && a.project.ID == at.Project.ID })
		if i < 0 {
			out = append(out, asked{project: at.Project, Editing: office.Editing{Tree: at.Tree, Fold: at.Fold}})
			i = len(out) - 1
		}
		out[i].Paths, out[i].files = append(out[i].Paths, name), append(out[i].files, file)
	}
	return out
}

// deny prints the answer no.
func (h *visit) deny(why string) error {
	return h.print(output{Specific: &specific{Event: h.fields.event, Permission: "deny", Why: "bureau: " + strings.TrimSpace(why)}})
}
