package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/agent/claude"
	"bureau/internal/db"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/setup"
)

func newDoctor(a *app) *cobra.Command {
	var fix, rebuild bool
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupOffice,
		Short:   "Check the office and repair what can be repaired",
		Long: `doctor verifies the journal, compares the tables with it, looks for missing
contents, wrong permissions and what dead processes left behind; where bureau is
set up with Claude Code, it checks that too: programs, hooks, server, settings
that switch our ways off; and it says what is wrong with roster files, and
whether git still runs the guard of this repository, where it was asked for.
Every finding names its fix; --fix carries out those that lose nothing. The
journal itself is never changed. Trouble that is left ends it with exit
status 6.`,
		Example: "  bureau doctor\n  bureau doctor --fix\n  bureau doctor --rebuild   # build the tables anew from the journal",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			o, err := a.open(ctx)
			if errors.Is(err, db.ErrDamaged) {
				// The usual hint of this error is to run this command.
				return fault.New(fault.Unavailable, "%w", err).WithHint("the file was left as it is; keep it and restore it from a backup, or import an export into a new office")
			}
			if err != nil {
				return err
			}
			if rebuild {
				if err := o.Rebuild(ctx); err != nil {
					return err
				}
				a.note("the tables were built anew from the journal")
			}
			c, err := o.Check(ctx, fix)
			if err != nil {
				return err
			}
			if err := a.checkClients(ctx, o, &c, fix); err != nil {
				return err
			}
			if here, err := a.findProject(); err == nil {
				c.Findings = append(c.Findings, o.RosterProblems(here.Root)...)
			}
			a.checkGuard(ctx, &c)
			if a.json {
				if err := a.printJSON(c); err != nil {
					return err
				}
			} else {
				a.showCheckup(c)
			}
			left := 0
			for _, f := range c.Findings {
				if f.Severity == office.Trouble && !f.Fixed {
					left++
				}
			}
			if left > 0 {
				return fault.New(fault.Unavailable, "%s attention", needs(left)).WithHint("each one names its fix")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "carry out the fixes that lose nothing")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "build the tables anew from the journal first")
	return cmd
}

func (a *app) showCheckup(c office.Checkup) {
	a.printf("%s: %s verified\n", safeLine(c.Home, a.width()), plural(c.Records, "record"))
	for _, f := range c.Findings {
		mark := string(f.Severity)
		if f.Fixed {
			mark = "fixed"
		}
		const margin = "         "
		text := fmt.Sprintf("%-7s  %s", mark, safeText(f.Text))
		if f.Fix != "" && !f.Fixed {
			text += "\n" + margin + safeText(f.Fix)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); a.OutTTY {
				line = fold(line, a.width(), margin)
			}
			a.printf("%s\n", line)
		}
	}
	if len(c.Findings) == 0 {
		a.printf("all is well\n")
	}
}

func needs(n int) string {
	if n == 1 {
		return "1 finding needs"
	}
	return strconv.Itoa(n) + " findings need"
}

// checkClients adds what is wrong with the registration with coding agents: for
// each for whom bureau was set up there, or for the plugin.
func (a *app) checkClients(ctx context.Context, o *office.Office, c *office.Checkup, fix bool) error {
	trouble := func(err error) {
		c.Findings = append(c.Findings, office.Finding{Severity: office.Trouble, Text: err.Error(), Fix: fault.HintOf(err)})
	}
	usual, err := claude.Homes(a.Env)
	if err != nil {
		trouble(err)
		return nil
	}
	here, err := a.projectFolder()
	if err != nil {
		trouble(err)
		return nil
	}
	last, plugin, err := o.LastHook()
	if err != nil {
		return err
	}
	plugged := setup.PluginEnabled(usual) || setup.PluginRan(plugin, o.Now(), setup.PluginKept)
	done, hints := a.registrations(o.Home(), usual, here, plugged)
	c.Findings = append(c.Findings, hints...)
	if len(done) == 0 {
		return nil
	}
	opts, err := a.setupOptions(ctx, setup.User, nil, false)
	if err != nil {
		trouble(err)
		return nil
	}
	var elsewhere []string
	looked := 0
	said := map[string]bool{}
	for _, r := range done {
		if r.Scope != setup.User && r.Project != here {
			if office.Gone(r.Project) {
				c.Findings = append(c.Findings, office.Finding{
					Severity: office.Hint, Text: "bureau was set up with Claude Code in " + r.Project + ", which is gone",
					Fix: "bureau setup claude --remove --scope " + string(r.Scope) + " --project " + quote.Shell(r.Project),
				})
			} else if !slices.Contains(elsewhere, r.Project) {
				elsewhere = append(elsewhere, r.Project)
			}
			continue
		}
		looked++
		opts := opts
		opts.Scope, opts.Homes = r.Scope, r.Homes
		if opts.Project = here; len(r.Homes) == 0 {
			opts.Homes = usual
		}
		for _, f := range a.checkRegistration(ctx, o, opts, last, plugin, fix) {
			if !said[f.Text] {
				c.Findings = append(c.Findings, f)
				said[f.Text] = true
			}
		}
	}
	if looked == 0 && len(elsewhere) > 0 {
		c.Findings = append(c.Findings, office.Finding{
			Severity: office.Hint, Text: "bureau is set up with Claude Code only in " + strings.Join(elsewhere, ", "), Fix: "run bureau doctor there",
		})
	}
	return nil
}

// registrations lists for whom bureau is set up with Claude Code: what setup
// noted, and what stands in the files although this office knows nothing of it,
// because its folder was made anew. What does not lead to this office is a hint.
// plugged says that sessions come by the plugin.
func (a *app) registrations(home string, homes []claude.Home, here string, plugged bool) (done []setup.Registration, hints []office.Finding) {
	hint := func(text, fix string) {
		hints = append(hints, office.Finding{Severity: office.Hint, Text: text, Fix: fix})
	}
	done = setup.Registrations(home)
	covers := func(scope setup.Scope) bool {
		return slices.ContainsFunc(done, func(r setup.Registration) bool { return r.Scope == scope && (scope == setup.User || r.Project == here) })
	}
	noted := len(done) > 0
	usual, err := office.DefaultHome()
	foreign := false
	for _, f := range setup.HookFiles(homes, here) {
		if f.Office == "" && err == nil {
			f.Office = usual
		}
		switch {
		case f.Office != home:
			foreign = true
			hint(fmt.Sprintf("the hooks of Claude Code in %s are of another office, %s", f.Path, f.Office),
				"BUREAU_HOME="+quote.Shell(f.Office)+" bureau doctor looks at that one; bureau setup claude registers this one")
		case !covers(f.Scope) && !noted:
			r := setup.Registration{Scope: f.Scope}
			if f.Scope != setup.User {
				r.Project = here
			}
			done = append(done, r)
		}
	}
	if len(done) == 0 && plugged {
		done = []setup.Registration{{Scope: setup.User}}
	}
	if len(done) == 0 && !foreign && setup.Used(homes) {
		hint("Claude Code is used here, and bureau is not set up with it", "bureau setup claude, and sessions are in the office from their next start on")
	}
	if !git.SameFolder(here, a.Dir) && covers(setup.Project) && !covers(setup.User) && !covers(setup.Local) {
		hint("set-up for the project counts only for sessions that are started in "+here+": Claude Code reads a project's settings nowhere else",
			"start sessions there, or cd "+quote.Shell(here)+" && bureau setup claude --scope local for yourself")
	}
	return done, hints
}

// checkRegistration looks at one registration, and with fix renews it where that
// helps.
func (a *app) checkRegistration(ctx context.Context, o *office.Office, opts setup.Options, last, plugin time.Time, fix bool) (out []office.Finding) {
	sessions, _ := claude.Records(opts.Homes) // without them there is less to say
	if opts.Scope != setup.User {
		sessions = slices.DeleteFunc(sessions, func(r claude.Record) bool {
			rel, err := filepath.Rel(opts.Project, r.CWD)
			return err != nil || !filepath.IsLocal(rel)
		})
	}
	check := setup.Checkup{Options: opts, Look: exec.LookPath, LastHook: last, LastPlugin: plugin, Sessions: sessions, Now: o.Now()}
	found := setup.Doctor(ctx, check)
	if fix && slices.ContainsFunc(found, func(f setup.Finding) bool { return f.Setup }) {
		plan, err := setup.Prepare(opts)
		if err == nil {
			err = plan.Apply(ctx)
		}
		if err != nil {
			out = append(out, office.Finding{Severity: office.Trouble, Text: err.Error(), Fix: fault.HintOf(err)})
			fix = false
		}
	}
	for _, f := range found {
		severity := office.Hint
		switch f.Level {
		case setup.OK:
			continue
		case setup.Problem:
			severity = office.Trouble
		}
		out = append(out, office.Finding{Severity: severity, Text: f.Text, Fix: f.Fix, Fixed: fix && f.Setup})
	}
	return out
}
