package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/mail"
	"bureau/internal/office"
)

func newSearch(a *app) *cobra.Command {
	s := office.Search{}
	var kind, since string
	cmd := &cobra.Command{
		Use:     "search WORD…",
		GroupID: groupMail,
		Short:   "Find mail by its words",
		Long: `search finds messages in which all words occur, newest first, in subjects and
whole bodies. Case and accents do not matter; "a phrase" in quotes is found as
it is, a word with * at its end by its beginning. An agent finds what it takes
part in, the person everything. Nothing is marked as seen.`,
		Example: `  bureau search port api
  bureau search '"release candidate"' --from ana --since 7d
  bureau search 'migrat*' --kind question --json`,
		Args: between(1, -1, "a word to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			s.Text = strings.Join(args, " ")
			if s.Kind, err = mail.ParseKind(kind); err != nil {
				return err
			}
			if since != "" {
				ago, err := parseDuration(since)
				if err != nil {
					return err
				}
				s.Since = o.Now().Add(-ago)
			}
			found, err := o.Find(ctx, caller, s)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(found)
			}
			for _, m := range found.Messages {
				a.printf("%s\n", a.line("", m.Short, m.SentAt.Local().Format("2006-01-02 15:04"), string(m.Kind), m.From+" → "+strings.Join(m.To, ", ")))
				text := m.Body
				if m.Subject != "" {
					text = m.Subject + ": " + text
				}
				a.printf("    %s\n", safeLine(text, a.width()-4))
			}
			a.printf("%d found", found.Total)
			if found.Next != "" {
				a.printf("; more: --cursor %s", found.Next)
			}
			a.printf("\n")
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.From, "from", "", "only from `NAME`")
	flags.StringVar(&s.To, "to", "", "only to `NAME`")
	flags.StringVar(&s.Thread, "thread", "", "only in the thread `ID`")
	flags.StringVar(&kind, "kind", "", "only this `KIND`")
	flags.StringVar(&since, "since", "", "only of the last `TIME` (2h, 7d)")
	flags.IntVar(&s.Limit, "limit", 0, "at most `N` results (default 20)")
	flags.StringVar(&s.Page.From, "cursor", "", "the next page, by the `CURSOR` that the page before printed")
	return cmd
}
