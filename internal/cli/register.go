package cli

import (
	"context"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

func newRegister(a *app) *cobra.Command {
	var pid int
	cmd := &cobra.Command{
		Use:     "register NAME",
		GroupID: groupPeople,
		Short:   "Take a name in this office, for use in plain terminals",
		Long: `Take a name in this office. It is a seat: mail to it waits until somebody reads
it, and whoever takes the name again finds that mail. A name that a running
session holds is refused.

Then act under it with --as NAME or BUREAU_AS=NAME. Agent sessions need no
registration; they have a name from their start.`,
		Example: `  bureau register ana
  export BUREAU_AS=ana
  bureau register builder --pid $$    # here for as long as this shell runs`,
		Args: between(1, 1, "the name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var process roster.Process
			if cmd.Flags().Changed("pid") {
				id, ok := proc.Of(pid)
				if !ok {
					return fault.New(fault.NotFound, "no process %d is running", pid).WithHint("--pid takes the id of a process of this machine, such as $$")
				}
				process = roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
			}
			// BUREAU_AS may hold the very name that is about to be made.
			o, caller, err := a.enterAs(cmd.Context(), "")
			if err != nil {
				return err
			}
			done, err := o.Register(cmd.Context(), caller, args[0], process)
			if err != nil {
				return err
			}
			return a.showRegistered(cmd.Context(), o, done)
		},
	}
	cmd.Flags().IntVar(&pid, "pid", 0, "the process whose life is the agent's, as process `ID`")
	return cmd
}

// registered is what register prints.
type registered struct {
	office.AgentView
	New  bool `json:"new"`  // it did not exist before
	Took bool `json:"took"` // a seat that a session had left
}

func (a *app) showRegistered(ctx context.Context, o *office.Office, done office.Registered) error {
	view, err := o.Agent(ctx, string(done.Agent.ID))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(registered{AgentView: view, New: done.New, Took: done.Took})
	}
	switch {
	case done.New:
		a.printf("%s is registered\n", view.Name)
	case done.Took:
		a.printf("%s is yours again: a session had left it\n", view.Name)
	default:
		a.printf("%s was registered already\n", view.Name)
	}
	if done.Unread > 0 {
		a.printf("%s unread: bureau inbox --as %s\n", plural(done.Unread, "message"), view.Name)
	} else {
		a.printf("act under it: bureau --as %s …, or export BUREAU_AS=%s\n", view.Name, view.Name)
	}
	return nil
}
