package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newSent(a *app) *cobra.Command {
	var pages pages
	cmd := &cobra.Command{
		Use:     "sent",
		GroupID: groupMail,
		Short:   "List what you sent, and how far it has come",
		Long: `List your own messages, newest first, with the state of each recipient: stored,
offered (put before a session, not proved yet), seen, then answered or acked; or
expired, or undeliverable with the reason.`,
		Example: `  bureau sent
  bureau sent --limit 5 --json`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := pages.page()
			if err != nil {
				return err
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			list, err := o.SentMail(cmd.Context(), caller, page)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			rows := make([][]string, len(list.Messages))
			for i := range list.Messages {
				m := &list.Messages[i]
				rows[i] = []string{m.Short, a.ago(m.SentAt), string(m.Kind), receiptWords(m), previewOf(m)}
			}
			a.listing([]string{"ID", "AGE", "KIND", "STATE", "TEXT"}, rows, list.Total, plural(list.Total, "message")+" sent", list.Next)
			return nil
		},
	}
	pages.flags(cmd)
	return cmd
}

// receiptWords says of each recipient how far a message has come.
func receiptWords(m *office.MessageView) string {
	const most = 3
	words := make([]string, 0, len(m.Receipts))
	for i, r := range m.Receipts {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(m.Receipts)-most))
			break
		}
		word := r.Name + " " + string(r.State)
		if r.For != "" {
			word = r.Name + " for " + r.For + " " + string(r.State)
		}
		switch {
		case r.Reason != "":
			word += " (" + r.Reason + ")"
		case r.Woken != "":
			word += " (" + r.Woken + ")"
		}
		words = append(words, word)
	}
	return safeLine(strings.Join(words, ", "), 0)
}
