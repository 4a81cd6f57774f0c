package cli

import (
	"github.com/spf13/cobra"

	"bureau/internal/office"
	"bureau/internal/roster"
)

func newWhoami(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		GroupID: groupPeople,
		Short:   "Say who you are in this office",
		Long: `Say who a command run here acts as, and in which project: the session's agent
inside an agent session, else the agent of --as or BUREAU_AS, or of the token in
BUREAU_TOKEN, else the person who runs the office ("user").`,
		Example: `  bureau whoami
  bureau whoami --json`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			view, err := o.Agent(cmd.Context(), string(caller.Agent.ID))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(whoami{
					AgentView: view, Human: caller.Human, Session: caller.Session, Stale: caller.Stale,
					Here: whereabouts{Project: caller.Project.Name, Root: caller.Project.Root, Home: o.Home()},
				})
			}
			a.printf("%s", view.Name)
			switch {
			case caller.Human:
				a.printf(", the person who runs this office\n")
			case caller.InSession():
				a.printf(", a session (%s)\n", safeLine(caller.Session, 60))
			case caller.Agent.Kind != roster.Terminal:
				a.printf(", by the token in %s\n", office.TokenVariable)
			default:
				a.printf(", a name for terminals\n")
			}
			if caller.Stale {
				a.printf("its conversation lives on in a newer process; this one may only read\n")
			}
			if caller.Project.Root != "" {
				a.printf("project %s (%s)\n", safeLine(caller.Project.Name, 0), safeLine(caller.Project.Root, 0))
			}
			a.printf("office %s\n", safeLine(o.Home(), 0))
			if view.Unread > 0 {
				a.printf("%s unread: bureau inbox\n", plural(view.Unread, "message"))
			}
			return nil
		},
	}
}

// whoami is what the command prints.
type whoami struct {
	office.AgentView
	Human   bool        `json:"human"`
	Session string      `json:"session"` // the client's session id, "" in a plain terminal
	Stale   bool        `json:"stale,omitempty"`
	Here    whereabouts `json:"place"`
}

// whereabouts say where a command runs.
type whereabouts struct {
	Project string `json:"project"`
	Root    string `json:"root"`
	Home    string `json:"office"`
}
