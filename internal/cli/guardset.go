package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/claim"
	"bureau/internal/fault"
)

// rulesView is a project's settings as every face shows them.
type rulesView struct {
	Project      string      `json:"project"` // name; "" for work outside of any project
	Guard        claim.Guard `json:"guard"`
	Worktrees    claim.Trees `json:"worktrees"`
	Lease        float64     `json:"lease_seconds"`
	AutoLease    float64     `json:"auto_lease_seconds"`
	QuietAfter   float64     `json:"quiet_after_seconds"`
	Grace        float64     `json:"grace_seconds"`
	Mirror       string      `json:"mirror"`
	ForeignStale float64     `json:"foreign_stale_seconds"`
	// Commits says whether git asks the guard in the repository of the folder:
	// guarded, unguarded, or lapsed; "" outside of any.
	Commits string `json:"commits,omitempty"`
	Lapse   string `json:"commits_lapse,omitempty"` // why it does not any more
}

func (a *app) showRules(ctx context.Context, project string, r claim.Rules) error {
	commits, meaning := "", ""
	if dir, err := a.folder(); err == nil {
		commits, meaning = commitsAre(ctx, dir)
	}
	if a.json {
		lapse := ""
		if commits == commitsLapsed {
			lapse = meaning
		}
		return a.printJSON(rulesView{
			Commits: commits, Lapse: lapse,
			Project: project, Guard: r.Guard, Worktrees: r.Worktrees, Lease: r.Lease.Seconds(), AutoLease: r.AutoLease.Seconds(),
			QuietAfter: r.QuietAfter.Seconds(), Grace: r.Grace.Seconds(), Mirror: r.Mirror, ForeignStale: r.ForeignStale.Seconds(),
		})
	}
	if project == "" {
		project = "work outside of any project"
	}
	a.printf("%s\n", a.bold(safeLine(project, 0)))
	for _, line := range []struct{ name, value, meaning string }{
		{"guard", string(r.Guard), map[claim.Guard]string{
			claim.Auto: "an edit of what nobody holds is allowed and claimed", claim.Strict: "an edit needs a claim first", claim.Off: "edits and commits are not looked at",
		}[r.Guard]},
		{"worktrees", string(r.Worktrees), map[claim.Trees]string{
			claim.Warn: "the same path in another work tree gets a warning", claim.Deny: "the same path in another work tree is refused",
		}[r.Worktrees]},
		{"lease", length(r.Lease), "of a claim that names no other"},
		{"auto-lease", length(r.AutoLease), "of a claim that an edit made"},
		{"quiet-after", length(r.QuietAfter), "without a turn, before a takeover"},
		{"grace", length(r.Grace), "for a closed session to come back"},
		{"mirror", r.Mirror, map[string]string{
			"auto": "mclaude's lock files, where its folder is there", "on": "mclaude's lock files", "off": "no lock files",
		}[r.Mirror]},
		{"foreign-stale", length(r.ForeignStale), "age of another program's heartbeat that counts as dead"},
		{"commits", commits, meaning},
	} {
		if line.value != "" {
			a.printf("  %-14s %-8s %s\n", line.name, line.value, a.dim(safeText(line.meaning)))
		}
	}
	return nil
}

func newGuardShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show how this project's claims are guarded",
		Long: `Show this project's settings for claims and guards, and whether git asks the
guard before commits of this repository.`,
		Example: "  bureau guard show\n  bureau guard show --json",
		Args:    between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			r, err := o.ClaimRules(cmd.Context(), caller.Project)
			if err != nil {
				return err
			}
			return a.showRules(cmd.Context(), caller.Project.Name, r)
		},
	}
}

func newGuardSet(a *app) *cobra.Command {
	var guard, worktrees, mirror string
	var lease, autoLease, quiet, grace, stale duration
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Change how this project's claims are guarded",
		Long: `Change this project's settings for claims and guards. Only the person does that,
at a plain terminal.

--mirror is about mclaude's lock files: auto reads and writes them where the
project has the folder .claude/locks/active-work, on makes that folder, off does
neither and takes back what was written. A claim that stands gets a file again
when it is next changed. A linked work tree that has such a folder has its locks
read too, and gets those of the claims that are made in it.`,
		Example: `  bureau guard set --guard strict
  bureau guard set --worktrees deny --lease 1h
  bureau guard set --mirror on`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := 0
			flags := cmd.Flags()
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			r, err := o.ClaimRules(cmd.Context(), caller.Project)
			if err != nil {
				return err
			}
			if flags.Changed("guard") {
				r.Guard = claim.Guard(guard)
				changed++
			}
			if flags.Changed("worktrees") {
				r.Worktrees = claim.Trees(worktrees)
				changed++
			}
			if flags.Changed("mirror") {
				r.Mirror = mirror
				changed++
			}
			for _, x := range []struct {
				name string
				from duration
				to   *time.Duration
			}{{"lease", lease, &r.Lease}, {"auto-lease", autoLease, &r.AutoLease}, {"quiet-after", quiet, &r.QuietAfter}, {"grace", grace, &r.Grace}, {"foreign-stale", stale, &r.ForeignStale}} {
				if flags.Changed(x.name) {
					*x.to = time.Duration(x.from)
					changed++
				}
			}
			if changed == 0 {
				return usage(cmd, "nothing to change was named; bureau guard show lists the settings")
			}
			if err := o.SetClaimRules(cmd.Context(), caller, caller.Project, r); err != nil {
				return err
			}
			if err := o.TakeBackLocks(cmd.Context(), caller.Project); err != nil {
				a.note("%s; %s", err, fault.HintOf(err))
			}
			return a.showRules(cmd.Context(), caller.Project.Name, r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&guard, "guard", "", "edits without a claim: `HOW` is auto, strict or off")
	f.StringVar(&worktrees, "worktrees", "", "the same path in another work tree: `HOW` is warn or deny")
	f.Var(&lease, "lease", "lease of a claim that names no other")
	f.Var(&autoLease, "auto-lease", "lease of a claim that an edit made")
	f.Var(&quiet, "quiet-after", "how long a holder lives without a turn before a takeover")
	f.Var(&grace, "grace", "how long a closed session's claims wait for it")
	f.StringVar(&mirror, "mirror", "", "mclaude's lock files: `HOW` is auto, on or off")
	f.Var(&stale, "foreign-stale", "age of a lock file's heartbeat that counts as dead")
	return cmd
}
