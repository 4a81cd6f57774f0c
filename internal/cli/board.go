package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"bureau/internal/board"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
)

func newBoard(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "board",
		GroupID: groupOffice,
		Short:   "Notes under a key, for whoever looks",
		Long: `The board holds notes under keys, without a recipient: who wrote what when, with
its history. Keys belong to the project of this folder, or with --office to the
whole office. --if-version writes only if nobody wrote meanwhile: the versions
are in get and list.`,
		Example: `  bureau board set build:status green
  bureau board get build:status
  bureau board list build:`,
	}, newBoardGet(a), newBoardSet(a), newBoardList(a), newBoardHistory(a), newBoardDelete(a))
}

// boardFlags are the flags of the board's verbs.
type boardFlags struct {
	office    bool
	ifVersion string
}

func (f *boardFlags) scope(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.office, "office", false, "the key belongs to the whole office, not to the project")
}

func (f *boardFlags) version(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.ifVersion, "if-version", "", "only if the entry is still at version `N` (0: only if there is none)")
}

// expected gives the version that a change relies on, nil for any.
func (f *boardFlags) expected(cmd *cobra.Command) (*event.Seq, error) {
	if !cmd.Flags().Changed("if-version") {
		return nil, nil
	}
	n, err := strconv.ParseInt(f.ifVersion, 10, 64)
	if err != nil || n < 0 {
		return nil, fault.New(fault.Invalid, "%q is no version", f.ifVersion).WithHint("bureau board get KEY --json shows it; 0 means that nothing is there")
	}
	seq := event.Seq(n)
	return &seq, nil
}

func newBoardGet(a *app) *cobra.Command {
	var f boardFlags
	cmd := &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value under a key",
		Long:    `Print the value under a key; --json adds its version, author and time.`,
		Example: `  bureau board get build:status`,
		Args:    between(1, 1, "the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			e, err := o.BoardGet(cmd.Context(), office.BoardScope(caller.Project, f.office), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(e)
			}
			if a.session {
				a.printf("%s\n", noteForModel(e)) // what others wrote is data
			} else {
				a.printf("%s", indented("", e.Value))
			}
			return nil
		},
	}
	f.scope(cmd)
	return cmd
}

func newBoardSet(a *app) *cobra.Command {
	var f boardFlags
	var b body
	cmd := &cobra.Command{
		Use:   "set KEY VALUE…",
		Short: "Write a value under a key",
		Long: `Write a value of up to 64 KiB under a key. What stood there stays in the
history. The value comes from the arguments, from standard input (-) or from a
file.`,
		Example: `  bureau board set build:status green
  bureau board set lead ana --if-version 0
  bureau board set notes --file notes.md --office`,
		Args: between(1, -1, "the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && b.file == "" {
				return usage(cmd, "what should stand under %q? The value is missing", args[0])
			}
			expected, err := f.expected(cmd)
			if err != nil {
				return err
			}
			value, err := a.body(cmd.Context(), cmd, b, args[1:], board.MaxValue)
			if err != nil {
				return err
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			e, err := o.BoardSet(cmd.Context(), caller, office.BoardScope(caller.Project, f.office), args[0], string(value), expected)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(e)
			}
			a.printf("%s is set, at version %d\n", safeLine(e.Key, 0), e.Version)
			return nil
		},
	}
	f.scope(cmd)
	f.version(cmd)
	b.flags(cmd)
	return cmd
}

func newBoardList(a *app) *cobra.Command {
	var f boardFlags
	var pages pages
	cmd := &cobra.Command{
		Use:   "list [PREFIX]",
		Short: "List the keys that begin with a prefix",
		Long: `List the keys that begin with a prefix, in order. Nothing in it is a wildcard
but a * at its end.`,
		Example: `  bureau board list
  bureau board list build:`,
		Args: between(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			prefix := ""
			if len(args) == 1 {
				prefix = args[0]
			}
			return a.entries(cmd, &pages, f.office, func(o *office.Office, scope string, page office.Page) (office.Entries, error) {
				return o.BoardList(cmd.Context(), scope, prefix, page)
			}, "entry")
		},
	}
	f.scope(cmd)
	pages.flags(cmd)
	return cmd
}

func newBoardHistory(a *app) *cobra.Command {
	var f boardFlags
	var pages pages
	cmd := &cobra.Command{
		Use:     "history KEY",
		Short:   "List what was written under a key, newest first",
		Long:    `List what was written under a key, newest first, deletions included.`,
		Example: `  bureau board history build:status`,
		Args:    between(1, 1, "the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.entries(cmd, &pages, f.office, func(o *office.Office, scope string, page office.Page) (office.Entries, error) {
				return o.BoardHistory(cmd.Context(), scope, args[0], page)
			}, "change")
		},
	}
	f.scope(cmd)
	pages.flags(cmd)
	return cmd
}

// entries is the shape of the board's two lists.
func (a *app) entries(cmd *cobra.Command, p *pages, whole bool, get func(*office.Office, string, office.Page) (office.Entries, error), what string) error {
	page, err := p.page()
	if err != nil {
		return err
	}
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return err
	}
	list, err := get(o, office.BoardScope(caller.Project, whole), page)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	rows := make([][]string, len(list.Entries))
	for i, e := range list.Entries {
		value := safeLine(e.Value, 0)
		if e.Deleted {
			value = "(deleted)"
		}
		rows[i] = []string{safeLine(e.Key, 0), strconv.FormatInt(int64(e.Version), 10), e.Author, a.ago(e.At), value}
	}
	a.listing([]string{"KEY", "VERSION", "BY", "AGE", "VALUE"}, rows, list.Total, plural(list.Total, what), list.Next)
	return nil
}

func newBoardDelete(a *app) *cobra.Command {
	var f boardFlags
	cmd := &cobra.Command{
		Use:     "delete KEY",
		Aliases: []string{"rm"},
		Short:   "Take a key off the board",
		Long:    `Take a key off the board. Its history stays.`,
		Example: `  bureau board delete build:status`,
		Args:    between(1, 1, "the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			expected, err := f.expected(cmd)
			if err != nil {
				return err
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			e, err := o.BoardDelete(cmd.Context(), caller, office.BoardScope(caller.Project, f.office), args[0], expected)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(e)
			}
			a.printf("%s is deleted\n", safeLine(e.Key, 0))
			return nil
		},
	}
	f.scope(cmd)
	f.version(cmd)
	return cmd
}
