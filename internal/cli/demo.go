package cli

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/demo"
	"bureau/internal/fault"
	"bureau/internal/setup"
)

func newDemo(a *app) *cobra.Command {
	var keep, real, yes bool
	var model string
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupOffice,
		Short:   "See a real office at work, in a few seconds",
		Long: `demo plays an office of its own: several processes, real messages, a blocked
question that is answered, a note on the board, what the monitor shows and where
the files are. It touches neither your office nor the network.

With --claude two real sessions of Claude Code talk, one asks and the other
answers. That uses your own login, so it says first what it will do and what it
can cost at most, and asks. Your settings are neither used nor changed.`,
		Example: "  bureau demo\n  bureau demo --keep\n  bureau demo --claude\n  bureau demo --claude --model haiku",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !real && (yes || model != "") {
				return usage(cmd, "--yes and --model are for --claude")
			}
			if real {
				return a.demoClaude(cmd.Context(), model, keep, yes)
			}
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
	flags := cmd.Flags()
	flags.BoolVar(&keep, "keep", false, "leave the demonstration's office behind")
	flags.BoolVar(&real, "claude", false, "with two sessions of Claude Code, against your own login")
	flags.StringVar(&model, "model", "", "the model `NAME` of those sessions (default: your usual one)")
	flags.BoolVar(&yes, "yes", false, "do not ask before they start")
	return cmd
}

// demoClaude gives the play with the real client, if the person agrees.
func (a *app) demoClaude(ctx context.Context, model string, keep, yes bool) error {
	client := setup.FindClient(ctx, exec.LookPath)
	if client.Path == "" {
		return fault.New(fault.NotFound, "there is no claude on the path").
			WithHint("install Claude Code (npm install -g @anthropic-ai/claude-code), run claude once to log in, then try again; bureau demo works without it")
	}
	if !yes && !a.InTTY {
		return fault.New(fault.Denied, "this uses your Claude account, and there is no terminal to ask you at").
			WithHint("run it in a terminal, which shows what it can cost; or with --yes")
	}
	bureau, hook, err := programs()
	if err != nil {
		return err
	}
	c := demo.Client{
		Options: demo.Options{Program: bureau, Out: a.Out, Keep: keep},
		Path:    client.Path, Version: client.Version.String(), Model: model,
		Register: func(home string) (settings, servers []byte, err error) {
			o := setup.Options{Home: home, Bureau: bureau, Hook: hook, Client: client}
			return o.Session()
		},
	}
	c.Announce(a.Out)
	if !yes {
		agreed, err := a.agree(ctx, "\nGo on? [y/N] ")
		if err != nil {
			return err
		}
		if !agreed {
			a.printf("Nothing was started.\n")
			return nil
		}
	}
	err = demo.RunClaude(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err() // interrupted: what the two said of it does not matter
	}
	if err != nil {
		return fault.New(fault.Unavailable, "the demonstration went wrong: %w", err).
			WithHint("claude -p hello shows whether the client itself works; bureau doctor looks at the rest")
	}
	return nil
}

// agree asks the person at the terminal. Whatever is no yes is a no.
func (a *app) agree(ctx context.Context, question string) (bool, error) {
	a.printf("%s", question)
	if err := a.flush(); err != nil {
		return false, err
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
