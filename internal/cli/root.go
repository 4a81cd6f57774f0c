// Package cli is the command line: one file for each command, or for the verbs
// of one noun, with its flags, help, examples and code together.
//
// A command translates words into one call of the office and shows what came
// back; there are no rules here. Everything has --json: one object on the
// output, or {"error":…} on the error output, in the shapes of package office.
//
// Text of others reaches a terminal only through safeLine and safeText.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/name"
)

// Groups of commands in the help.
const (
	groupMail   = "mail"
	groupClaims = "claims"
	groupPeople = "people"
	groupOffice = "office"
)

// commands are all commands, in the order of the help.
var commands = []func(*app) *cobra.Command{
	// People.
	newRegister, newWhoami, newAgents, newToken,
	// Mail.
	newSend, newAsk, newAnswer, newWithdraw, newInbox, newRead, newAck, newSent, newThread,
	// Claims.
	newClaim, newRelease, newClaims, newWho, newTakeover, newTrust, newGuard, newLock,
	// The office.
	newRoom, newBoard, newSearch, newTail, newJournal, newDoctor, newMCP, newHook, newServe, newSetup, newDemo, newInit, newVersion,
}

// The help lists commands in the order above, by use, not by the alphabet.
func init() { cobra.EnableCommandSorting = false }

// overview is what bureau without arguments shows a person; nil: the help.
var overview func(ctx context.Context, a *app) error

// Run carries out one command and gives the process's exit status: 0 ok,
// 1 refused, 2 usage, 3 not found, 4 conflict, 5 timeout, 6 unavailable, and
// 130 when the context was cancelled. The office is closed on every path.
func Run(ctx context.Context, streams IO, args []string) int {
	a := newApp(streams)
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.json = a.json || wantsJSON(args)
	if f := (*fault.Error)(nil); err != nil && !a.running && !errors.As(err, &f) {
		// What cobra itself refuses has no code: it is about the words typed.
		err = fault.New(fault.Invalid, "%w", err).WithHint("bureau --help, or --help behind the command, shows how it is used")
	}
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	interrupted := ctx.Err() != nil && errors.Is(err, context.Canceled)
	if interrupted && fault.HintOf(err) == "" {
		err = fault.New(fault.Unavailable, "interrupted")
	}
	if err != nil {
		a.report(err)
	}
	if interrupted {
		return Interrupted
	}
	if err != nil && a.exit != 0 {
		return a.exit
	}
	return fault.ExitCode(err)
}

// wantsJSON finds --json where the flags could not be parsed.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "bureau",
		Short: "One office for all coding-agent sessions of a person or a team",
		Long: `bureau is one office for all of a person's or a team's coding-agent sessions.
They have names, write to each other, ask and wait for answers, and share a
board. Mail waits for whoever takes a name next; nothing is lost when a session
ends.

Who you are: in a plain terminal the person who runs the office ("user"), or
the agent of --as or BUREAU_AS, or of the token in BUREAU_TOKEN; inside an agent
session, that session.

Exit status: 0 ok, 1 refused, 2 usage, 3 not found, 4 conflict, 5 timeout,
6 unavailable.`,
		Example: `  bureau register ana
  bureau send bob "the build is green" --as ana
  bureau ask bob "which port does the API use?" --as ana
  bureau inbox`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionLine(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return unknownCommand(cmd, args[0])
			case overview != nil:
				return overview(cmd.Context(), a)
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.out)
	root.SetErr(a.Err)
	root.SetVersionTemplate("{{.Version}}\n")
	// Flags that explain more than fits go on in the next line. The last words
	// of one may take 5 columns more than it is told.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 75"))
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommandGroupID(groupOffice)
	root.SetCompletionCommandGroupID(groupOffice)
	root.AddGroup(
		&cobra.Group{ID: groupPeople, Title: "People:"},
		&cobra.Group{ID: groupMail, Title: "Mail:"},
		&cobra.Group{ID: groupClaims, Title: "Claims:"},
		&cobra.Group{ID: groupOffice, Title: "The office:"},
	)
	flags := root.PersistentFlags()
	flags.StringVar(&a.as, "as", "", "act as the terminal agent `NAME` (default: $BUREAU_AS)")
	flags.StringVar(&a.project, "project", "", "the project of folder `DIR` (default: of the working folder)")
	flags.BoolVar(&a.json, "json", false, "print one JSON object")
	completeFlag(root, "as", a.completeNames)
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	a.noteRunning(root)
	return root
}

// noteRunning lets every command say that it has begun.
func (a *app) noteRunning(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.running = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.noteRunning(sub)
	}
}

// verbs makes the command of a noun, which only holds verbs: alone it shows
// its help, a wrong verb is refused with the nearest ones.
func verbs(noun *cobra.Command, list ...*cobra.Command) *cobra.Command {
	noun.Args = cobra.ArbitraryArgs
	if noun.RunE == nil {
		noun.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		}
	}
	noun.AddCommand(list...)
	return noun
}

// unknownCommand refuses a mistyped command and offers the nearest ones.
func unknownCommand(cmd *cobra.Command, word string) error {
	err := fault.New(fault.Invalid, "no command %q in %s", word, cmd.CommandPath()).WithHint("%s --help lists them", cmd.CommandPath())
	if near := nearest(cmd, word); len(near) > 0 {
		err = err.WithHint("did you mean %s? (%s --help lists all)", strings.Join(near, ", "), cmd.CommandPath()).WithDetail(near)
	}
	return err
}

// nearest gives the commands that a mistyped word may mean, best first: those
// that say so themselves (words of other systems), then by spelling.
func nearest(cmd *cobra.Command, word string) []string {
	var said, names []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		names = append(append(names, c.Name()), c.Aliases...)
		if slices.ContainsFunc(c.SuggestFor, func(s string) bool { return strings.EqualFold(s, word) }) {
			said = append(said, c.Name())
		}
	}
	if len(said) > 0 {
		return said
	}
	const most = 3
	return name.Suggest(word, names, most)
}

func flagError(cmd *cobra.Command, err error) error {
	refusal := fault.New(fault.Invalid, "%s", err.Error())
	if strings.HasPrefix(err.Error(), "unknown") {
		return refusal.WithHint("%s --help lists the flags; put -- before text that begins with -", cmd.CommandPath())
	}
	return refusal.WithHint("%s --help shows how it is used", cmd.CommandPath())
}

// usage refuses wrong arguments.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return fault.New(fault.Invalid, "%s", fmt.Sprintf(format, args...)).WithHint("usage: %s", cmd.UseLine())
}

// between makes an argument check: at least low and at most high arguments,
// high < 0 for any number. what names what is missing.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usage(cmd, "%s: missing %s", cmd.CommandPath(), what)
		case high >= 0 && len(args) > high:
			return usage(cmd, "%s: what is %q?", cmd.CommandPath(), args[high])
		}
		return nil
	}
}
