package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/wake"
)

func newAnswer(a *app) *cobra.Command {
	var l letter
	var question string
	cmd := &cobra.Command{
		Use:               "answer [QUESTION] TEXT…",
		Aliases:           []string{"reply"},
		GroupID:           groupMail,
		Short:             "Answer a question",
		ValidArgsFunction: onlyFirst(a.completeMessages),
		Long: `Answer a question that was put to you; whoever waits for it gets the answer at
once. QUESTION may be left away when exactly one question waits; with several
the refusal lists them. A first word that is the id of one of them is taken as
QUESTION; --question says it beyond doubt.`,
		Example: `  bureau answer "port 8080"
  bureau answer 7XKQ2M "port 8080, since yesterday"
  bureau answer --question 7XKQ2M --file answer.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			elsewhere := l.file != "" || len(l.attach) > 0
			if len(args) == 0 && !elsewhere {
				return usage(cmd, "what is the answer?")
			}
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			if question == "" && (len(args) > 1 || len(args) == 1 && elsewhere && args[0] != "-") {
				id, err := namedQuestion(ctx, o, caller, args[0])
				if err != nil {
					return err
				}
				if id != "" {
					question, args = id, args[1:]
				}
			}
			written, err := a.write(ctx, cmd, &l, args)
			if err != nil {
				return err
			}
			sent, err := o.Answer(ctx, caller, question, written)
			if err != nil {
				return err
			}
			wake.AfterSend(ctx, o, a.Env, sent.Recipients)
			return a.showSent(&sent)
		},
	}
	l.flags(a, cmd)
	for _, no := range []string{"thread", "hops", "reply-to"} {
		_ = cmd.Flags().MarkHidden(no) // an answer stays where its question is
	}
	cmd.Flags().StringVar(&question, "question", "", "the `QUESTION` that this answers")
	return cmd
}

// Parts of ids that namedQuestion believes: shorter words are text. From
// certainLen on, a word with a digit that fits no message is a mistyped id and
// not the first word of an answer.
const (
	leastIDLen = 4
	certainLen = 6
	wholeIDLen = 26
)

// namedQuestion says whether the first word of an answer names a question. A
// wrong guess would send an answer to another question, so it errs towards
// refusing.
func namedQuestion(ctx context.Context, o *office.Office, caller office.Caller, word string) (string, error) {
	if len(word) < leastIDLen || !idLetters(word) {
		return "", nil
	}
	open, err := o.OpenQuestions(ctx, caller)
	if err != nil {
		return "", err
	}
	part := strings.ToUpper(word)
	for _, q := range open {
		if strings.HasSuffix(string(q.ID), part) || strings.HasPrefix(string(q.ID), part) {
			// Part of several is for the office to refuse, with the list.
			return word, nil
		}
	}
	if len(word) < certainLen {
		return "", nil
	}
	switch _, err := o.Resolve(ctx, caller, word, "message"); {
	case err == nil:
		return word, nil // the office says why it cannot be answered
	case !fault.Is(err, fault.NotFound):
		return "", err
	case len(word) == wholeIDLen || strings.ContainsAny(word, "0123456789"):
		return "", fault.New(fault.NotFound, "no question %q", word).
			WithHint("bureau inbox lists yours; if the word belongs to the text, put the text in quotes")
	}
	return "", nil
}

// idLetters reports whether a word could be part of an id: Crockford's letters
// and digits.
func idLetters(word string) bool {
	return strings.IndexFunc(strings.ToUpper(word), func(r rune) bool {
		return !strings.ContainsRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", r)
	}) < 0
}

func newWithdraw(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "withdraw QUESTION",
		GroupID:           groupMail,
		Short:             "Take back a question that you asked",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Take back a question that you asked and that is still open. Nobody needs to
answer it any more, and the hop that was kept for its answer is free again.`,
		Example: `  bureau withdraw 7XKQ2M`,
		Args:    between(1, 1, "the question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			thread, err := o.Withdraw(cmd.Context(), caller, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(thread)
			}
			a.printf("the question is taken back\n")
			return nil
		},
	}
}
