package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/setup"
)

func newSetup(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "setup",
		GroupID: groupOffice,
		Short:   "Register bureau with a coding agent, or take it out again",
		Long: `Register bureau with a coding agent's client, so that its sessions are in the
office without doing anything for it; or take everything out again.`,
		Example: "  bureau setup claude --dry-run\n  bureau setup claude --remove",
	}, newSetupClaude(a))
}

func newSetupClaude(a *app) *cobra.Command {
	var dry, remove, allow bool
	var scope string
	var dirs []string
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Register with Claude Code",
		Long: `Register bureau with Claude Code: the MCP server, the hooks, a skill that says
when to use the office, and with --allow a rule that lets our tools run without
a prompt. From then on every session has a name, gets its mail during its turns
and is woken when it is idle. Sessions that run now begin with their next start.

Nothing else in those files changes: comments, order, foreign hooks and unknown
keys stay byte for byte. The first backup (NAME.before-bureau) is never
overwritten. --remove gives every byte back if nothing else changed meanwhile.`,
		Example: `  bureau setup claude --dry-run
  bureau setup claude --allow
  bureau setup claude --scope project       # in this repository's own files
  bureau setup claude --config-dir ~/.claude-work --config-dir ~/.claude
  bureau setup claude --remove`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			opts, err := a.setupOptions(ctx, setup.Scope(scope), dirs, remove)
			if err != nil {
				return err
			}
			opts.Allow = allow
			prepare := setup.Prepare
			if remove {
				prepare = setup.PrepareRemoval
			}
			plan, err := prepare(opts)
			if err != nil {
				return err
			}
			for _, other := range otherOffices(opts) {
				if len(plan.Changes) > 0 {
					plan.Notes = append(plan.Notes, "the hooks there were of another office, "+other+": sessions are in it no more")
				}
			}
			if dry {
				return a.showPlan(plan, true, remove)
			}
			if !remove {
				// What is registered never begins an office.
				if _, _, err := a.enter(ctx); err != nil {
					return err
				}
			}
			if err := plan.Apply(ctx); err != nil {
				return err
			}
			if err := a.showPlan(plan, false, remove); err != nil || remove || len(plan.Changes) == 0 {
				return err
			}
			a.note("sessions of Claude Code are in the office from their next start on; bureau doctor checks it")
			if opts.Scope == setup.Project && !git.SameFolder(opts.Project, a.Dir) {
				a.note("Claude Code reads a project's settings only where a session is started:\nstart sessions in %s, or use --scope local", safeLine(opts.Project, 0))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&dry, "dry-run", false, "show what would change, and change nothing")
	flags.BoolVar(&remove, "remove", false, "take out what setup put in")
	flags.BoolVar(&allow, "allow", false, "let the office's tools run without a prompt")
	flags.StringVar(&scope, "scope", "user", "for `WHO`: user (you, everywhere), project (everybody in this project) or local (you, in this project)")
	flags.StringArrayVar(&dirs, "config-dir", nil, "`DIR` is a home of Claude Code; repeat it for several accounts (default: $CLAUDE_CONFIG_DIR or ~/.claude)")
	return cmd
}

// otherOffices lists the other offices that hooks of ours are of which this
// registration replaces or takes out.
func otherOffices(opts setup.Options) (list []string) {
	usual, err := office.DefaultHome()
	for _, f := range setup.HookFiles(opts.Homes, opts.Project) {
		if f.Office == "" && err == nil {
			f.Office = usual
		}
		if f.Scope == opts.Scope && f.Office != "" && !git.SameFolder(f.Office, opts.Home) && !slices.Contains(list, f.Office) {
			list = append(list, f.Office)
		}
	}
	return list
}

// setupOptions says what is to be registered, and where; with gone also for a
// project that was set up and whose folder is no longer there. It begins no
// office.
func (a *app) setupOptions(ctx context.Context, scope setup.Scope, dirs []string, gone bool) (setup.Options, error) {
	bureau, hook, err := programs()
	if err != nil {
		return setup.Options{}, err
	}
	home, err := a.home()
	if err != nil {
		return setup.Options{}, err
	}
	for i, d := range dirs {
		if d != "" && !filepath.IsAbs(d) {
			dirs[i] = filepath.Join(a.Dir, d)
		}
	}
	homes, err := claude.Homes(a.Env, dirs...)
	if err != nil {
		return setup.Options{}, err
	}
	opts := setup.Options{
		Home: home, Bureau: bureau, Hook: hook, Scope: scope, Homes: homes, Client: setup.FindClient(ctx, exec.LookPath),
	}
	if scope != setup.Project && scope != setup.Local {
		return opts, nil
	}
	if gone && a.project != "" {
		named := a.project
		if !filepath.IsAbs(named) {
			named = filepath.Join(a.Dir, named)
		}
		for _, r := range setup.Registrations(home) {
			if r.Scope == scope && git.SameFolder(r.Project, named) && office.Gone(r.Project) {
				opts.Project = r.Project
				return opts, nil
			}
		}
	}
	opts.Project, err = a.projectFolder()
	return opts, err
}

// projectFolder is the project that one is in, or the folder.
func (a *app) projectFolder() (string, error) {
	found, err := a.findProject()
	if err != nil || found.Root == "" {
		return a.Dir, err
	}
	return found.Root, nil
}

// programs gives the absolute paths of bureau and of bureau-hook beside it.
func programs() (bureau, hook string, err error) {
	if bureau, err = os.Executable(); err != nil {
		return "", "", fault.New(fault.Unavailable, "cannot find the program itself: %w", err)
	}
	if strings.Contains(filepath.ToSlash(bureau), "/go-build") {
		return "", "", fault.New(fault.Invalid, "%s is a program that go run made and will remove", bureau).
			WithHint("install first: go install ./cmd/...; then run bureau setup claude")
	}
	name := "bureau-hook"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	hook = filepath.Join(filepath.Dir(bureau), name)
	if _, err := os.Stat(hook); err != nil {
		if hook, err = exec.LookPath(name); err != nil {
			return "", "", fault.New(fault.NotFound, "there is no %s beside %s, nor on the path", name, bureau).
				WithHint("both programs install together: go install ./cmd/...")
		}
		if hook, err = filepath.Abs(hook); err != nil {
			return "", "", err
		}
	}
	return bureau, hook, nil
}

// showPlan prints what was done, or what would be.
func (a *app) showPlan(p *setup.Plan, dry, remove bool) error {
	if a.json {
		changes := p.Changes
		if changes == nil {
			changes = []setup.Change{}
		}
		notes := p.Notes
		if notes == nil {
			notes = []string{}
		}
		return a.printJSON(struct {
			Changes []setup.Change `json:"changes"`
			Notes   []string       `json:"notes"`
			Total   int            `json:"total"`
			Done    bool           `json:"done"`
		}{changes, notes, len(changes), !dry})
	}
	switch {
	case len(p.Changes) == 0 && remove:
		a.printf("nothing to take out: bureau is not registered there\n")
	case len(p.Changes) == 0:
		a.printf("nothing to do: all is as it should be\n")
	case dry:
		a.printf("%s", safeText(p.Diff()))
	default:
		for _, c := range p.Changes {
			verb := "written"
			if c.Remove {
				verb = "removed"
			}
			a.printf("%-8s %s: %s\n", verb, safeLine(c.Path, a.width()), safeText(c.What))
		}
	}
	for _, n := range p.Notes {
		a.note("%s", n)
	}
	return nil
}
