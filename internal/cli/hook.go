package cli

import (
	"github.com/spf13/cobra"

	"bureau/internal/fault"
)

// RunHook handles one event of a client, as the program bureau-hook does. The
// main program sets it: hooks are a face of their own.
var RunHook func(args []string) int

func newHook(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "hook CLIENT [EVENT] [--home DIR]",
		GroupID: groupOffice,
		Short:   "Handle one event of a coding agent, as bureau-hook does",
		Long: `Handle one event of a coding agent's client: its JSON comes on the input, one
JSON document or nothing is printed, and the exit status is 0 whatever happens
but for a call that is wrong. bureau-hook does the same and starts in a fraction
of the time, so that one is what bureau setup registers. This is for trying by
hand, and for a place where only one program can be put.`,
		Example:            `  echo '{"session_id":"s1","hook_event_name":"Stop"}' | bureau hook claude`,
		DisableFlagParsing: true,
		Hidden:             true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if a.exit = RunHook(args); a.exit != 0 {
				return fault.New(fault.Invalid, "no event was handled").WithHint("bureau hook --help")
			}
			return nil
		},
	}
}
