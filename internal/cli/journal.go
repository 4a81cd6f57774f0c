package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/paper"
)

func newJournal(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "journal",
		GroupID: groupOffice,
		Short:   "Check, export and import what happened",
		Long: `The journal is the record of everything that happened in the office, in order.
All else is derived from it.`,
		Example: "  bureau journal verify\n  bureau journal export --file office.jsonl",
	}, newJournalVerify(a), newJournalExport(a), newJournalImport(a), newJournalStats(a))
}

func newJournalVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Look for changed, missing or torn events",
		Long: `verify reads the whole journal and checks every hash, the chain of every
subject and the running digest over all positions. It changes nothing. Findings
end it with exit status 6.`,
		Example: "  bureau journal verify\n  bureau journal verify --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			o, err := a.open(ctx)
			if err != nil {
				return err
			}
			report, err := o.Verify(ctx, a.progress)
			if err != nil {
				return err
			}
			if a.json {
				if err := a.printJSON(report); err != nil {
					return err
				}
			} else {
				for _, f := range report.Findings {
					a.printf("%s\n", safeText(f.Text))
				}
				a.printf("%s checked\n", plural(report.Records, "record"))
			}
			if n := len(report.Findings); n > 0 {
				return fault.New(fault.Unavailable, "the journal has %s", plural(n, "finding")).
					WithHint("restore %s from a backup, or keep it and import an export into a new office", o.StorePath())
			}
			return nil
		},
	}
}

func newJournalExport(a *app) *cobra.Command {
	var after int64
	var file string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the journal as JSON lines",
		Long: `export writes every record of the journal, one JSON object a line, with the
contents (long bodies, attachments) that records name in front. import reads it.
It is for the person; inside an agent session, tail --json shows what that agent
may see.`,
		Example: "  bureau journal export --file office.jsonl\n  bureau journal export --after 1200 >> more.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			var done office.Exported
			if file == "" {
				if done, err = o.Export(ctx, caller, a.out, event.Seq(after)); err == nil {
					err = a.flush()
				}
			} else {
				if _, err := os.Lstat(file); err == nil {
					return fault.New(fault.Conflict, "%s is there already; an export does not overwrite", file).WithHint("choose another name")
				}
				var out *os.File
				if out, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
					return fault.New(fault.Unavailable, "cannot write %s: %w", file, err)
				}
				done, err = o.Export(ctx, caller, out, event.Seq(after))
				if err == nil {
					err = out.Sync()
				}
				if closeErr := out.Close(); err == nil {
					err = closeErr
				}
				paper.SyncDir(".")
			}
			if err != nil {
				return err
			}
			if len(done.Missing) > 0 {
				return fault.New(fault.Unavailable, "%s missing in the office that the journal names, the first %s", plural(len(done.Missing), "content"), done.Missing[0]).
					WithHint("everything else is written; bureau doctor lists them").WithDetail(done)
			}
			a.note("%s and %s written", plural(done.Records, "record"), plural(done.Blobs, "content"))
			return nil
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "begin after the `POSITION`")
	cmd.Flags().StringVar(&file, "file", "", "write to `FILE`, which must not be there (default: the output)")
	return cmd
}

func newJournalImport(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Read an exported journal into a new office, or go on with one",
		Long: `import reads what export wrote. Into a new office it brings back the same
journal, position by position; into one that the file continues it adds what is
missing. Every line is checked before it is stored, records that are there are
skipped, and nothing is ever overwritten: a file of another office is refused.`,
		Example: "  BUREAU_HOME=/srv/office bureau journal import --file office.jsonl\n  ssh host bureau journal export | bureau journal import",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in := a.In
			if file != "" {
				f, err := os.Open(file)
				if err != nil {
					return fault.New(fault.NotFound, "cannot read %s: %w", file, err)
				}
				defer f.Close()
				in = f
			} else if a.InTTY {
				return usage(cmd, "nothing to read: give --file, or an export on the input")
			}
			done, err := a.importFrom(cmd, in)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(done)
			}
			a.printf("%s stored, %d known before, %s; the journal ends at %d\n", plural(done.Records, "record"), done.Known, plural(done.Blobs, "content"), done.Head)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "read from `FILE` (default: the input)")
	return cmd
}

func (a *app) importFrom(cmd *cobra.Command, in io.Reader) (office.Imported, error) {
	ctx := cmd.Context()
	o, err := office.Open(ctx, office.Options{Home: a.Env(office.HomeVariable), Create: true, Bare: true, Now: a.Now})
	if err != nil {
		return office.Imported{}, err
	}
	a.office = o // closed with the run
	caller, err := o.Identify(ctx, office.Claim{})
	if err != nil {
		return office.Imported{}, err
	}
	return o.Import(ctx, caller, in, nil)
}

func newJournalStats(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count what is in the journal",
		Long: `stats counts the records, events and subjects of the journal, by kind. Inside an
agent session it counts the events that this agent may see, which tail shows.`,
		Example: "  bureau journal stats --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			s, err := o.Stats(ctx, caller)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			a.printf("%s: %s, %s, %s\n", safeLine(s.Store, a.width()), plural(int(s.Head), "record"), plural(s.Subjects, "subject"), size(s.Bytes))
			if s.First != nil {
				a.printf("from %s to %s\n", s.First.Local().Format("2006-01-02 15:04"), s.Last.Local().Format("2006-01-02 15:04"))
			}
			for _, k := range s.Kinds {
				a.printf("%8d  %s\n", k.Count, safeLine(k.Kind, 60))
			}
			return nil
		},
	}
}
