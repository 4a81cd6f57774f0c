package cli

import (
	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newAck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "ack ID…",
		GroupID:           groupMail,
		Short:             "Acknowledge messages",
		ValidArgsFunction: a.completeMessages,
		Long: `Acknowledge messages that were sent to you. Their senders see it, and they no
longer count as unread. Acknowledging twice changes nothing.`,
		Example: `  bureau ack 7XKQ2M`,
		Args:    between(1, -1, "the id of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			list, err := o.Ack(cmd.Context(), caller, args)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(office.Messages{Messages: list, Total: len(list)})
			}
			for i := range list {
				a.printf("%s from %s: %s\n", list[i].Short, list[i].From, list[i].State)
			}
			return nil
		},
	}
}
