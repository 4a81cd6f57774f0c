package cli

import (
	"os"

	"github.com/spf13/cobra"

	"bureau/internal/demo"
	"bureau/internal/fault"
)

func newDemo(a *app) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupOffice,
		Short:   "See a real office at work, in a few seconds",
		Long: `demo plays an office of its own: several processes, real messages, a blocked
question that is answered, a note on the board, what the monitor shows and where
the files are. It touches neither your office nor the network.`,
		Example: "  bureau demo\n  bureau demo --keep",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return fault.New(fault.Unavailable, "cannot find the program itself: %w", err)
			}
			if err := demo.Run(cmd.Context(), demo.Options{Program: program, Out: a.Out, Keep: keep}); err != nil {
				return fault.New(fault.Unavailable, "the demonstration went wrong: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the demonstration's office behind")
	return cmd
}
