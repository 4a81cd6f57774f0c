package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/office"
)

func newGuard(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "guard",
		GroupID: groupClaims,
		Short:   "Have git ask before a commit of what others hold",
		Long: `The guard stops a commit (or a push) of files that somebody else has claimed.
It is a git hook: install puts it into a repository, beside the hooks that are
there, which go on working; remove takes it out and puts everything back.

Edits are guarded by the hooks of the agents' clients (bureau setup); set says
how strictly, for each project.`,
		Example: `  bureau guard install
  bureau guard status
  bureau guard set --guard strict
  BUREAU_GUARD=off git commit      # a person's own decision, for one commit`,
	}, newGuardInstall(a), newGuardRemove(a), newGuardStatus(a), newGuardShow(a), newGuardSet(a), newGuardRun(a))
}

// guardHooks are the hooks that the guard knows, in the order of listings.
var guardHooks = []string{git.PreCommit, git.PreMergeCommit, git.PrePush}

// folder is the folder that a command is about: that of --project, or the
// working one.
func (a *app) folder() (string, error) {
	switch {
	case a.Dir == "" && !filepath.IsAbs(a.project):
		return "", fault.New(fault.NotFound, "the working folder is not there any more").WithHint("go to one that is, or say --project with the whole path of one")
	case a.project == "":
		return a.Dir, nil
	}
	_, err := a.findProject() // says what is wrong with it
	if filepath.IsAbs(a.project) {
		return a.project, err
	}
	return filepath.Join(a.Dir, a.project), err
}

func newGuardInstall(a *app) *cobra.Command {
	var push, global bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Have git ask the guard in this repository",
		Long: `Put the guard into this repository as git's pre-commit and pre-merge-commit
hooks, and with --pre-push as the pre-push hook. It finds the place by itself:
core.hooksPath, linked work trees, submodules. Claims of the repositories around
this one count too; a submodule has hooks of its own, so install it there as
well.

A hook that is there is kept under its own name in the folder beside that ends
with .before-bureau, and is still run, after the guard. Where core.hooksPath is
a folder of the work tree (husky's, or one that is committed) nothing is written
there: git is led to .git/bureau-hooks, whose hooks go on to those of
core.hooksPath; husky's prepare script does not undo that. A hooks folder that
other repositories use too is written only with --global. Doing it twice is
doing it once.

Of a merge, what whoever commits it changes counts: a conflict that is resolved,
an edit on the way. What others committed and the merge only brings in is named
in a line of warning, or nobody could pull while somebody holds a file. Git asks
no hook before a fast-forward, nor before a rebase, cherry-pick or revert
without conflicts; --pre-push sees what they bring.

The repository remembers that it was asked for (git config bureau.guard). When
another tool (lefthook install) takes the guard out, sessions are told at their
start, and bureau claim, doctor and guard show say so; install puts it back.

If the guard cannot be asked (the program is gone, the office cannot be opened)
the commit goes on, with a line of warning.`,
		Example: "  bureau guard install\n  bureau guard install --pre-push\n  bureau guard install --project ~/src/api",
		Args:    between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.folder()
			if err != nil {
				return err
			}
			program, err := a.self("bureau guard install")
			if err != nil {
				return err
			}
			home, err := a.home()
			if err != nil {
				return err
			}
			names := guardHooks[:2]
			if push {
				names = guardHooks
			}
			var done []git.Hook
			for _, name := range names {
				h, err := git.InstallHook(cmd.Context(), dir, git.HookOptions{Name: name, Program: program, Args: []string{"--home", home}, AllowGlobal: global})
				if err != nil {
					_ = a.showHooks(done)
					return err
				}
				done = append(done, h)
			}
			return a.showHooks(done)
		},
	}
	cmd.Flags().BoolVar(&push, "pre-push", false, "also ask before a push")
	cmd.Flags().BoolVar(&global, "global", false, "write also a hooks folder that other repositories use too")
	return cmd
}

// self gives the absolute path of this program, for others to run.
func (a *app) self(again string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fault.New(fault.Unavailable, "cannot find the program itself: %w", err)
	}
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "", fault.New(fault.Invalid, "%s is a program that go run made and will remove", program).
			WithHint("install first: go install ./cmd/...; then run %s", again)
	}
	return program, nil
}

// home gives the office's folder, absolute, whether it is there or not.
func (a *app) home() (string, error) { return office.HomeOf(a.Env(office.HomeVariable)) }

func newGuardRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove",
		Short: "Take the guard out of this repository",
		Long: `Take the guard's hooks out of this repository and put back what was there
before, byte for byte. A hook of ours that somebody changed, or that another
tool moved, is left alone, with a word about what to do.`,
		Example: `  bureau guard remove`,
		Args:    between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.folder()
			if err != nil {
				return err
			}
			var done []git.Hook
			var errs []error
			for _, name := range guardHooks {
				h, err := git.RemoveHook(cmd.Context(), dir, name)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				done = append(done, h)
			}
			switch len(errs) {
			case 0:
				return a.showHooks(done)
			case len(guardHooks):
				return errs[0] // it is about the repository
			}
			if !a.json {
				_ = a.showHooks(done)
			}
			for _, err := range errs[1:] {
				a.note("%s", safeText(err.Error()))
			}
			return errs[0]
		},
	}
}

func newGuardStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show where the guard stands in this repository",
		Long:    `Show for each hook whether git asks the guard, and what was there before.`,
		Example: "  bureau guard status\n  bureau guard status --json",
		Args:    between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.folder()
			if err != nil {
				return err
			}
			var list []git.Hook
			for _, name := range guardHooks {
				h, err := git.HookStatus(cmd.Context(), dir, name)
				if err != nil {
					return err
				}
				list = append(list, h)
			}
			return a.showHooks(list)
		},
	}
}

func (a *app) showHooks(list []git.Hook) error {
	if a.json {
		if list == nil {
			list = []git.Hook{}
		}
		return a.printJSON(struct {
			Hooks []git.Hook `json:"hooks"`
			Total int        `json:"total"`
		}{list, len(list)})
	}
	for _, h := range list {
		a.printf("%-16s  %-9s  %s\n", h.Name, h.State, safeLine(h.Path, 0))
		if h.Kept != "" {
			how := "kept; git would not run it, so it is not run"
			switch {
			case !h.Runs:
				how = "kept, not run now"
			case h.KeptRuns:
				how = "kept, and run after the guard"
			}
			if h.Manager != "" {
				how += " (" + h.Manager + ")"
			}
			a.printf("%-16s  %s: %s\n", "", how, safeLine(h.Kept, 0))
		}
		if h.Missing {
			a.printf("%-16s  its program is gone: %s\n", "", safeLine(h.Program, 0))
		}
		if h.Shared != "" {
			a.printf("%-16s  %s\n", "", safeLine(h.Shared, 0))
		}
		if h.Note != "" {
			a.printf("%-16s  %s\n", "", safeLine(h.Note, 0))
		}
	}
	return nil
}

// oneLine is what a guard says of its own trouble: git's output is no place for
// more.
func oneLine(err error) error {
	var f *fault.Error
	text := err.Error()
	if errors.As(err, &f) && f.Hint != "" {
		text += "; " + f.Hint
	}
	return fault.New(fault.Unavailable, "%s", strings.Join(strings.Fields(text), " "))
}
