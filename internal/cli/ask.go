package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/wake"
)

func newAsk(a *app) *cobra.Command {
	var l letter
	var question string
	var ifLive bool
	timeout := duration(office.DefaultAskTimeout)
	cmd := &cobra.Command{
		Use:               "ask TO TEXT…",
		GroupID:           groupMail,
		Short:             "Ask one agent and wait for the answer",
		ValidArgsFunction: onlyFirst(a.completeNames),
		Long: `Ask one agent and wait for the answer, which alone is printed. When nobody is
there to notice the question, or its session ends meanwhile, that is said at
once; it then waits for whoever takes the seat next, and so does this command,
up to --timeout.

A time-out (exit status 5) loses nothing: the question stays open, a later
answer arrives in the inbox, and asking again with --question, or with the same
text, waits for the same question. If no answer can come any more (the thread
was closed, the one asked was retired) the command ends at once and says why. A
question that would close a circle of agents waiting for each other is refused
with the question that should be answered first.`,
		Example: `  bureau ask bob "which port does the API use?"
  bureau ask bob --timeout 30s --if-live "are you at it?"
  bureau ask --question 7XKQ2M --timeout 10m
  port=$(bureau ask bob "which port? the number only")`,
		RunE: func(cmd *cobra.Command, args []string) error {
			asking := office.Asking{Question: question, IfLive: ifLive, Timeout: time.Duration(timeout)}
			if question == "" {
				to, words, err := l.split(cmd, args)
				if err != nil {
					return err
				}
				if asking.Letter, err = a.write(cmd.Context(), cmd, &l, words); err != nil {
					return err
				}
				if asking.To = to; len(to) == 0 {
					return usage(cmd, "ask whom? Name one agent")
				}
			} else if len(args) > 0 {
				return usage(cmd, "--question waits for a question that was asked; it takes no text")
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			return a.ask(cmd.Context(), o, caller, asking)
		},
	}
	l.flags(a, cmd)
	cmd.Flags().Var(&timeout, "timeout", "wait at most `D`")
	cmd.Flags().BoolVar(&ifLive, "if-live", false, "refuse, and store nothing, when nobody is there")
	cmd.Flags().StringVar(&question, "question", "", "wait for `QUESTION`, which was asked before")
	return cmd
}

func (a *app) ask(ctx context.Context, o *office.Office, caller office.Caller, asking office.Asking) error {
	stored := ""
	asking.Waiting = func(q office.Asked) {
		stored = q.Short
		to := []office.RecipientView{q.To}
		wake.AfterSend(ctx, o, a.Env, to)
		q.To = to[0]
		how := "put to"
		if q.Again {
			how = "was put before to"
		}
		a.note("question %s %s %s; waiting up to %s\n  %s: %s", q.Short, how, q.To.Name, length(asking.Timeout), q.To.Name, a.noticing(&q.To))
	}
	asking.Passed = func(from string, r office.RecipientView) bool {
		to := []office.RecipientView{r}
		wake.AfterSend(ctx, o, a.Env, to)
		to[0].For = ""
		a.note("%s was a subagent and has ended; %s has the question now\n  %[2]s: %s", from, r.Name, a.noticing(&to[0]))
		return true
	}
	asking.Left = func(r office.RecipientView) bool {
		a.note("%s has left; the question stays open for whoever takes the seat next\n  %[1]s: %s", r.Name, a.noticing(&r))
		return true
	}
	out, err := o.Ask(ctx, caller, asking)
	switch {
	case err != nil && stored != "" && errors.Is(err, context.Canceled):
		return fault.New(fault.Unavailable, "interrupted: %w", context.Canceled).
			WithHint("the question stays open; to wait again: bureau ask --question %s", stored)
	case fault.Is(err, fault.Timeout) && a.json && out.Timeout:
		if printErr := a.printJSON(out); printErr != nil {
			return printErr
		}
		return err
	case fault.Is(err, fault.Timeout) && stored != "":
		return fault.New(fault.Timeout, "%w", err).
			WithHint("the question stays open and a later answer arrives in the inbox; to wait again: bureau ask --question %s", stored)
	case err != nil:
		return err
	}
	if a.json {
		err = a.printJSON(out)
	} else {
		if a.session {
			a.printf("%s\n", forModel(out.Answer, out.Answer.Body)) // a peer's words are data
		} else {
			a.printf("%s", indented("", out.Answer.Body))
		}
		for _, f := range out.Answer.Files {
			a.note("with the file %s (%s): %s", safeLine(f.Name, 80), size(f.Bytes), safeLine(f.Path, 0))
		}
	}
	if err == nil {
		err = a.flush()
	}
	if err != nil {
		return unread(err)
	}
	// The id tells a session's hook that the answer has arrived.
	a.note("answer %s from %s", out.Answer.Short, out.Answer.From)
	if caller.InSession() {
		_, err = o.Read(ctx, caller, []string{string(out.Answer.ID)})
		return err
	}
	return a.seen(ctx, o, caller, []office.MessageView{*out.Answer})
}
