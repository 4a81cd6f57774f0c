package mcpserver

import (
	"context"
	"path/filepath"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/mirror/locks"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/quote"
)

// The toolset mclaude: the lock tools of mclaude with their names, parameters
// and result keys (docs/compatibility.md, section 3). A lock is a claim of
// its files and of the resource lock:SLUG ([locks.Work]), so it is the same for
// every face, and mclaude's own locks are among them. What mclaude says as
// success:false is said so here; only what the office cannot serve is an error.
//
// session is a word of the caller's own that a lock is told apart by. It opens
// nothing: who holds a lock is found out as for every call.

func addMclaudeTools(s *server) {
	add(s, spec{name: "mclaude_lock_claim", title: "Claim a lock", about: "Lock a piece of work (slug) and its files. If somebody has it the result says who and what for."}, lockClaim)
	add(s, spec{name: "mclaude_lock_release", title: "Release a lock", about: "Release your lock, with a summary of the work."}, lockRelease)
	add(s, spec{name: "mclaude_lock_status", title: "Status of a lock", readOnly: true, about: "Tell whether a lock is FREE, ACTIVE or STALE, and whose."}, lockStatus)
	add(s, spec{name: "mclaude_lock_list", title: "List locks", readOnly: true, about: "List all locks of the project, what sessions claimed by editing too."}, lockList)
	add(s, spec{name: "mclaude_lock_heartbeat", title: "Heartbeat of a lock", about: "Renew your lock. Your hooks and calls do that too."}, lockHeartbeat)
	add(s, spec{name: "mclaude_lock_force_release", title: "Force a lock open", about: "End a lock whose holder is gone, with a reason. Refused while the holder lives or the files are in use."}, lockForce)
}

// work gives the locks of the caller's project, or of the one that files or a
// work tree lie in.
func (c *call) work(ctx context.Context, tree string, files []string) (locks.Work, place.Place, error) {
	if tree != "" {
		if at, err := place.For(c.folder, []string{tree}); err == nil && len(files) == 0 {
			files = []string{at.Tree}
		}
	}
	at, p, err := c.where(ctx, files)
	return locks.Work{Office: c.o, Caller: c.caller, Project: p, Tree: at.Tree}, at, err
}

// no gives the words of a refusal that mclaude answers with success:false.
func (c *call) no(err error) (text string, exit int, ok bool) {
	r, ok := mclaude.RefusalOf(err)
	if !ok {
		return "", 0, false
	}
	text = quote.Text(err.Error())
	if hint := fault.HintOf(err); hint != "" {
		text += " (" + strings.ReplaceAll(c.s.toolHint(quote.Text(hint)), "a reason in text", "a reason") + ")"
	}
	return text, r.Exit, true
}

type lockClaimIn struct {
	Slug        string   `json:"slug" jsonschema:"3 to 80 lower-case letters a-z, digits, hyphens"`
	Description string   `json:"description"`
	Files       []string `json:"files,omitempty"`
	Session     string   `json:"session,omitempty"`
	Worktree    string   `json:"worktree,omitempty" jsonschema:"folder of the work tree that the files are in"`
}

type lockClaimOut struct {
	Success       bool     `json:"success"`
	SessionID     string   `json:"session_id,omitempty"`
	Slug          string   `json:"slug,omitempty"`
	Error         string   `json:"error,omitempty"`
	Reason        string   `json:"reason,omitempty"`
	HolderSession string   `json:"holder_session,omitempty"`
	Holder        string   `json:"holder,omitempty"` // added: whom to ask
	Description   string   `json:"description,omitempty"`
	Files         []string `json:"files,omitempty"`
	HeartbeatAge  *int     `json:"heartbeat_age,omitempty"`
}

func lockClaim(ctx context.Context, c *call, in lockClaimIn) (out lockClaimOut, err error) {
	files := in.Files
	if in.Worktree != "" {
		files = inTree(in.Worktree, in.Files)
	}
	w, at, err := c.work(ctx, in.Worktree, files)
	if err != nil {
		return out, err
	}
	row, err := w.Claim(ctx, locks.Request{Slug: in.Slug, Description: in.Description, Session: in.Session, Files: files, Place: at})
	text, exit, refused := c.no(err)
	switch {
	case err == nil:
		out = lockClaimOut{Success: true, SessionID: row.Session, Slug: row.Slug}
		if c.readFrom(files) != "" {
			out.Files = lines60(absolutes(c, files)) // what is meant does not go without saying
		}
		return out, nil
	case !refused:
		return out, err
	case exit != mclaude.ExitHeld && exit != mclaude.ExitStale:
		return lockClaimOut{Error: text}, nil
	}
	if row.Status == "" || row.Status == mclaude.Free {
		row = c.inTheWay(ctx, w, at, files)
	}
	out = lockClaimOut{
		Error: text, Reason: "held", HolderSession: line(row.Session), Holder: line(row.Holder), Description: line(row.Description), Files: lines60(row.Files),
	}
	if exit == mclaude.ExitStale {
		out.Reason = "stale"
	}
	out.HeartbeatAge = heartbeatAge(row)
	return out, nil
}

// inTree gives files as they are meant in a work tree.
func inTree(tree string, files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		if out[i] = f; f != "" && !filepath.IsAbs(f) {
			out[i] = strings.TrimSuffix(tree, "/") + "/" + f
		}
	}
	return out
}

func absolutes(c *call, files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = c.absolute(f)
	}
	return out
}

// inTheWay gives the lock or claim of others that files are under.
func (c *call) inTheWay(ctx context.Context, w locks.Work, at place.Place, files []string) (row locks.Row) {
	want, err := at.Want(files, nil, claim.Exclusive)
	if err != nil {
		return row
	}
	found, err := c.o.WhoHolds(ctx, c.caller, w.Project, want)
	if err != nil {
		return row
	}
	rows, err := w.List(ctx)
	if err != nil {
		return row
	}
	for _, v := range found.Claims {
		for _, r := range rows {
			if !v.Mine && (v.ID != "" && r.Claim == v.ID || v.Lock != "" && r.Slug == v.Lock) {
				return r
			}
		}
	}
	return row
}

func heartbeatAge(row locks.Row) *int {
	if row.Status == "" || row.Status == mclaude.Free {
		return nil
	}
	n := int(row.HeartbeatAge)
	return &n
}

// lines60 bounds the files of a lock.
func lines60(list []string) (out []string) {
	for _, s := range list[:min(len(list), 60)] {
		out = append(out, line(s))
	}
	return out
}

type lockReleaseIn struct {
	Slug    string `json:"slug"`
	Summary string `json:"summary,omitempty"`
	Session string `json:"session,omitempty"`
}

type lockDoneOut struct {
	Success bool   `json:"success"`
	Archive string `json:"archive,omitempty"`
	Error   string `json:"error,omitempty"`
}

// done is the answer about a lock that ended, or did not.
func (c *call) done(archive, slug string, err error) (lockDoneOut, error) {
	if text, _, refused := c.no(err); refused {
		return lockDoneOut{Error: text}, nil
	}
	if err == nil && archive == "" {
		// No lock files are kept here: the archive is the office's own.
		archive = "bureau claims --history (" + slug + ")"
	}
	return lockDoneOut{Success: err == nil, Archive: archive}, err
}

func lockRelease(ctx context.Context, c *call, in lockReleaseIn) (out lockDoneOut, err error) {
	w, _, err := c.work(ctx, "", nil)
	if err != nil {
		return out, err
	}
	_, archive, err := w.Release(ctx, in.Slug, in.Session, in.Summary)
	return c.done(archive, in.Slug, err)
}

type lockForceIn struct {
	Slug   string `json:"slug"`
	Reason string `json:"reason"`
}

func lockForce(ctx context.Context, c *call, in lockForceIn) (out lockDoneOut, err error) {
	w, _, err := c.work(ctx, "", nil)
	if err != nil {
		return out, err
	}
	_, archive, err := w.Force(ctx, in.Slug, in.Reason, false)
	return c.done(archive, in.Slug, err)
}

type lockHeartbeatIn struct {
	Slug    string `json:"slug"`
	Session string `json:"session,omitempty"`
}

type lockHeartbeatOut struct {
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
}

func lockHeartbeat(ctx context.Context, c *call, in lockHeartbeatIn) (out lockHeartbeatOut, err error) {
	w, _, err := c.work(ctx, "", nil)
	if err != nil {
		return out, err
	}
	err = w.Beat(ctx, in.Slug, in.Session)
	if text, _, refused := c.no(err); refused {
		return lockHeartbeatOut{Error: text}, nil
	}
	return lockHeartbeatOut{Success: err == nil}, err
}

type lockStatusIn struct {
	Slug string `json:"slug"`
}

type lockRow struct {
	Status       mclaude.Status `json:"status,omitempty"`
	Slug         string         `json:"slug"`
	SessionID    string         `json:"session_id,omitempty"`
	Holder       string         `json:"holder,omitempty"` // added: the name in the office
	Description  string         `json:"description,omitempty"`
	Files        []string       `json:"files,omitempty"`
	HeartbeatAge *int           `json:"heartbeat_age,omitempty"`
	Worktree     string         `json:"worktree,omitempty"`
	Branch       string         `json:"branch,omitempty"`
	Error        string         `json:"error,omitempty"`
}

func lockRowOf(r locks.Row) lockRow {
	return lockRow{
		Status: r.Status, Slug: line(r.Slug), SessionID: line(r.Session), Holder: line(r.Holder), Description: line(r.Description), Files: lines60(r.Files),
		HeartbeatAge: heartbeatAge(r), Worktree: line(r.Worktree), Branch: line(r.Branch),
	}
}

func lockStatus(ctx context.Context, c *call, in lockStatusIn) (out lockRow, err error) {
	w, _, err := c.work(ctx, "", nil)
	if err != nil {
		return out, err
	}
	row, err := w.Get(ctx, in.Slug)
	if text, _, refused := c.no(err); refused {
		return lockRow{Slug: line(in.Slug), Error: text}, nil
	}
	return lockRowOf(row), err
}

type lockListOut struct {
	Locks []lockRow `json:"locks"`
	Count int       `json:"count"`
}

func lockList(ctx context.Context, c *call, _ struct{}) (out lockListOut, err error) {
	out.Locks = []lockRow{}
	w, _, err := c.work(ctx, "", nil)
	if err != nil {
		return out, err
	}
	rows, err := w.List(ctx)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		row := lockRowOf(r)
		row.HeartbeatAge = nil // mclaude's list has none
		out.Locks = append(out.Locks, row)
	}
	out.Count = len(rows)
	out.Locks = out.Locks[:fit(out.Locks, maxList)]
	return out, nil
}
