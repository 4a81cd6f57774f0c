package locks

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// Work is a project's claims in mclaude's words: pieces of work by name (slug),
// each held or free. It is the same claims that everybody else sees, and the
// locks of mclaude's own sessions. Errors carry a mclaude.Refusal, so
// mclaude.ExitCode gives the exit code of its commands.
type Work struct {
	Office  *office.Office
	Caller  office.Caller
	Project office.Project
	Tree    string // the work tree that the caller is in; its locks come first
}

// Row is one piece of work.
type Row struct {
	Slug         string         `json:"slug"`
	Status       mclaude.Status `json:"status"`
	Session      string         `json:"session_id"`
	Holder       string         `json:"holder,omitempty"` // the name in the office; "" for mclaude's own
	Description  string         `json:"description"`
	Files        []string       `json:"files"`
	Worktree     string         `json:"worktree,omitempty"`
	Branch       string         `json:"branch,omitempty"`
	ClaimedAt    time.Time      `json:"claimed_at,omitzero"`
	HeartbeatAge float64        `json:"heartbeat_age"` // seconds since the newest sign of life
	Claim        event.ID       `json:"claim,omitempty"`
	Mine         bool           `json:"mine,omitempty"`
	Silent       bool           `json:"-"` // it has no heartbeat, and HeartbeatAge says nothing

	file   string        // the session id in the lock file, where that is another one
	named  bool          // the claim itself says the slug
	more   []string      // further claims, of what edits claimed for one holder
	folder mclaude.Locks // where the file of another program's lock is
}

// claims gives the ids of what a row stands for.
func (r *Row) claims() []string { return append([]string{string(r.Claim)}, r.more...) }

// Foreign reports whether the lock is none of this office.
func (r *Row) Foreign() bool { return r.Claim == "" && r.Status != mclaude.Free }

const saidPrefix = "mclaude session "

// saidSession gives the session id that somebody gave with a lock.
func saidSession(task string) string {
	s, _ := strings.CutPrefix(task, saidPrefix)
	if s == task {
		return ""
	}
	return s
}

// Get gives one piece of work; what nobody holds is free.
func (w Work) Get(ctx context.Context, slug string) (Row, error) {
	if err := checkSlug(slug); err != nil {
		return Row{}, err
	}
	rows, err := w.List(ctx)
	for _, r := range rows {
		if r.Slug == slug {
			return r, err
		}
	}
	return Row{Slug: slug, Status: mclaude.Free, Files: []string{}}, err
}

// Request is a claim in mclaude's words.
type Request struct {
	Slug        string
	Description string
	Session     string   // "": made up
	Files       []string // as Place.Want takes them; none: only the name is held
	Place       place.Place
}

// Claim takes a piece of work: its files, and its name as the resource
// lock:SLUG. It is refused if somebody has either of them, the caller itself
// included, since several programs may work in one name; only the same session
// may say it again.
func (w Work) Claim(ctx context.Context, q Request) (Row, error) {
	if err := checkSlug(q.Slug); err != nil {
		return Row{}, err
	}
	if strings.TrimSpace(q.Description) == "" {
		return Row{}, refused(fault.New(fault.Invalid, "the description is empty").WithHint("say what you are about to do"), mclaude.ExitUsage)
	}
	if len(q.Session) > maxSession || strings.ContainsFunc(q.Session, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Row{}, refused(fault.New(fault.Invalid, "the session id %.40q is no id", q.Session).WithHint("one line of up to %d bytes", maxSession), mclaude.ExitUsage)
	}
	row, err := w.Get(ctx, q.Slug)
	if err != nil {
		return row, err
	}
	switch {
	case row.Status == mclaude.Free:
	case row.Mine && q.Session != "" && row.is(q.Session):
		return row, w.Beat(ctx, q.Slug, q.Session)
	case !row.named || row.Mine:
		return row, held(row)
	}
	want, err := q.Place.Want(q.Files, []string{office.LockKind + ":" + q.Slug}, claim.Exclusive)
	if err != nil {
		return Row{}, refused(err, mclaude.ExitUsage)
	}
	c := office.Claiming{Want: want, Intent: q.Description, Files: q.Files, Apart: true}
	if q.Session != "" {
		c.Task = saidPrefix + q.Session
	}
	if _, err := w.Office.Claim(ctx, w.Caller, w.Project, c); err != nil {
		switch now, _ := w.Get(ctx, q.Slug); {
		case fault.Is(err, fault.Invalid):
			return Row{}, refused(err, mclaude.ExitUsage)
		case !fault.Is(err, fault.Conflict):
			return Row{}, err
		case now.Status == mclaude.Active || now.Status == mclaude.Stale:
			return now, held(now)
		}
		return Row{}, refused(err, exitOf(err))
	}
	return w.Get(ctx, q.Slug)
}

const maxSession = 200

// exitOf tells work that others are at from work that only stale holders have.
func exitOf(err error) int {
	var f *fault.Error
	var blocks []claim.Block
	if errors.As(err, &f) {
		blocks, _ = f.Detail.([]claim.Block)
	}
	if len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b claim.Block) bool { return b.Standing != claim.Stale }) {
		return mclaude.ExitStale
	}
	return mclaude.ExitHeld
}

// is reports whether a session id is that of the lock.
func (r *Row) is(session string) bool {
	return session == r.Session || session == r.file && r.file != ""
}

// own finds a lock that the caller may dispose of. One of mclaude's own
// belongs to whoever names its session.
func (w Work) own(ctx context.Context, slug, session string) (Row, error) {
	row, err := w.Get(ctx, slug)
	switch {
	case err != nil:
		return row, err
	case row.Status == mclaude.Free:
		return row, refused(fault.New(fault.NotFound, "there is no lock %q", slug).WithHint("bureau lock list shows those that there are"), mclaude.ExitNone)
	case !row.Foreign() && !row.Mine, session != "" && !row.is(session), row.Foreign() && session == "":
		return row, refused(fault.New(fault.Denied, "the lock %q is held by %s, session %s", slug, row.who(), row.Session).
			WithHint("only its holder may do that; if it is stale: bureau lock force-release %s --reason TEXT", slug), mclaude.ExitWrongSession)
	}
	return row, nil
}

func (r *Row) who() string {
	if r.Holder == "" {
		return "an mclaude session"
	}
	return r.Holder
}

// Beat is a sign of life of the lock's holder.
func (w Work) Beat(ctx context.Context, slug, session string) error {
	row, err := w.own(ctx, slug, session)
	if err != nil {
		return err
	}
	if row.Foreign() {
		_, err = row.folder.Touch(slug, session, time.Time{})
		return err
	}
	for _, id := range row.claims() {
		if _, cerr := w.Office.ExtendClaim(ctx, w.Caller, id, 0); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// Release ends a lock of the caller, with a summary of the work. archive is the
// file about it, relative to the project's root; "" where no lock files are
// kept.
func (w Work) Release(ctx context.Context, slug, session, summary string) (row Row, archive string, err error) {
	if row, err = w.own(ctx, slug, session); err != nil {
		return row, "", err
	}
	if row.Foreign() {
		done, err := row.folder.Release(slug, session, summary)
		return row, w.shown(&row, done.Archive), err
	}
	if _, err := w.Office.Release(ctx, w.Caller, w.Project, row.claims(), summary); err != nil {
		return row, "", refused(err, mclaude.ExitUsage)
	}
	return row, w.archived(ctx, slug), nil
}

// archived names the newest file about work that has ended.
func (w Work) archived(ctx context.Context, slug string) string {
	const among = 20
	g, err := w.ground(ctx)
	if err != nil {
		return ""
	}
	if i := slices.IndexFunc(g.folders, func(l mclaude.Locks) bool { return l.Root() == w.Project.Root }); i >= 0 {
		list, err := g.folders[i].Archive(among)
		if i := slices.IndexFunc(list, func(a mclaude.Archived) bool { return a.Slug == slug }); err == nil && i >= 0 {
			return completed + list[i].Name
		}
	}
	return ""
}

// shown gives the name of the archive of another program's lock: one in another
// work tree is absolute.
func (w Work) shown(r *Row, archive string) string {
	if archive == "" || r.folder.Root() == w.Project.Root {
		return archive
	}
	return filepath.ToSlash(filepath.Join(r.folder.Root(), filepath.FromSlash(archive)))
}

const completed = ".claude/locks/completed/"

// Force ends a lock that its holder does not use any more, by the rules of a
// takeover: refused while the holder is at it or the thing itself is in use.
// With override it is the person's word, and nothing is asked.
func (w Work) Force(ctx context.Context, slug, reason string, override bool) (row Row, archive string, err error) {
	if strings.TrimSpace(reason) == "" {
		return row, "", refused(fault.New(fault.Invalid, "the reason is missing").WithHint("--reason says why the work is free"), mclaude.ExitUsage)
	}
	if override && !w.Caller.Human {
		return row, "", refused(fault.New(fault.Denied, "only the person breaks a lock that its holder is still at").WithHint("ask the holder, or the person"), mclaude.ExitHeld)
	}
	row, err = w.Get(ctx, slug)
	switch {
	case err != nil:
		return row, "", err
	case row.Status == mclaude.Free:
		return row, "", refused(fault.New(fault.NotFound, "there is no lock %q", slug).WithHint("bureau lock list shows those that there are"), mclaude.ExitNone)
	case row.Foreign():
		done, err := row.folder.Force(slug, mclaude.Forcing{Reason: reason, Session: row.Session, Override: override})
		return row, w.shown(&row, done.Archive), err
	case row.Mine:
		_, err = w.Office.Release(ctx, w.Caller, w.Project, row.claims(), reason)
	default:
		for _, id := range row.claims() {
			if _, err = w.Office.TakeOver(ctx, w.Caller, office.Takeover{Claim: id, Reason: reason, Only: true, Break: override}); err != nil {
				break
			}
		}
	}
	switch {
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.Denied):
		return row, "", refused(err, mclaude.ExitHeld)
	case fault.Is(err, fault.Invalid):
		return row, "", refused(err, mclaude.ExitUsage)
	case err != nil:
		return row, "", err
	}
	return row, w.archived(ctx, slug), nil
}

func checkSlug(slug string) error {
	if mclaude.ValidSlug(slug) {
		return nil
	}
	return refused(fault.New(fault.Invalid, "%.100q is not a slug of a lock", slug).
		WithHint("use 3 to 80 lower-case letters a-z, digits and hyphens, the first not a hyphen"), mclaude.ExitInvalid)
}

// held refuses a claim because of the work that is held.
func held(r Row) error {
	what, exit := "held by", mclaude.ExitHeld
	hint := "ask its holder, or wait until it is released"
	if r.Status == mclaude.Stale {
		what, exit = "held without a sign of life by", mclaude.ExitStale
		hint = "after a look at what it left: bureau lock force-release " + r.Slug + " --reason TEXT"
	}
	err := fault.New(fault.Conflict, "the lock %q is %s %s, session %s", r.Slug, what, r.who(), r.Session).WithHint("%s", hint)
	if !r.ClaimedAt.IsZero() {
		err.Message += ", since " + r.ClaimedAt.Local().Format("2006-01-02 15:04:05")
	}
	if r.Description != "" {
		err.Message += ": " + r.Description
	}
	if len(r.Files) > 0 {
		const most = 10
		files := r.Files
		if len(files) > most {
			files = append(files[:most:most], "…")
		}
		err.Message += " (" + strings.Join(files, ", ") + ")"
	}
	return err.WithDetail(mclaude.Refusal{Exit: exit, Lock: &mclaude.Entry{
		Slug: r.Slug, Session: r.Session, Status: r.Status, Description: r.Description, Files: r.Files, Paths: []string{},
		Worktree: r.Worktree, Branch: r.Branch, ClaimedAt: r.ClaimedAt, Ours: r.Claim != "",
	}})
}

// refused gives an error the exit code that mclaude has for it.
func refused(err error, exit int) error {
	return fault.New(fault.CodeOf(err), "%s", err.Error()).WithHint("%s", fault.HintOf(err)).WithDetail(mclaude.Refusal{Exit: exit})
}
