package cli

import (
	"context"

	"bureau/internal/git"
	"bureau/internal/office"
)

// How commits of the repository stand, in `guard show`.
const (
	commitsGuarded   = "guarded"
	commitsUnguarded = "unguarded"
	commitsLapsed    = "lapsed" // the guard was asked for, and git does not run it
)

// commitsAre says how commits of the repository of dir stand, and what of it a
// person should know; "" outside of any repository.
func commitsAre(ctx context.Context, dir string) (state, meaning string) {
	if h, ok := git.Lapsed(ctx, dir); ok {
		return commitsLapsed, h.Lapse + "; bureau guard install puts it back"
	}
	h, err := git.HookStatus(ctx, dir, git.PreCommit)
	switch {
	case err != nil:
		return "", ""
	case h.Runs:
		return commitsGuarded, "git asks before a commit"
	}
	return commitsUnguarded, "git does not ask; bureau guard install changes that"
}

// noteLapse says in one line that the guard of this repository was taken out.
func (a *app) noteLapse(ctx context.Context) {
	dir, err := a.folder()
	if err != nil {
		return
	}
	if h, ok := git.Lapsed(ctx, dir); ok {
		a.note("%s; bureau guard install puts it back", safeText(h.Warning()))
	}
}

// checkGuard adds to a check-up that the guard of this repository was taken
// out.
func (a *app) checkGuard(ctx context.Context, c *office.Checkup) {
	dir, err := a.folder()
	if err != nil {
		return
	}
	if h, ok := git.Lapsed(ctx, dir); ok {
		c.Findings = append(c.Findings, office.Finding{
			Severity: office.Trouble, Text: h.Warning() + " (" + dir + ")", Fix: "bureau guard install; or bureau guard remove, if it is not wanted any more",
		})
	}
}
