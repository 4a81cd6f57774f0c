package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
)

func newInbox(a *app) *cobra.Command {
	var all, unread bool
	var wait duration
	var pages pages
	cmd := &cobra.Command{
		Use:        "inbox",
		GroupID:    groupMail,
		Short:      "List your mail, without changing it",
		SuggestFor: []string{"mail", "messages", "list", "check"},
		Long: `List your mail: important before normal before low, newest first in each. What
is listed is unread: not seen yet, or seen but with an acknowledgement wanted;
--all lists everything. Listing changes nothing; bureau read shows whole
messages and marks them.

--wait D waits until there is unread mail, up to D; none is exit status 5.`,
		Example: `  bureau inbox
  bureau inbox --all --limit 50
  bureau inbox --wait 5m --json`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := pages.page()
			if err != nil {
				return err
			}
			if all && unread {
				return usage(cmd, "--all and --unread exclude each other")
			}
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			if wait > 0 {
				if err := waitMail(ctx, o, caller, time.Duration(wait)); err != nil {
					return err
				}
			}
			box, err := o.Inbox(ctx, caller, all, page)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(box)
			}
			a.showInbox(&box, all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything, not only what is unread")
	cmd.Flags().BoolVar(&unread, "unread", false, "only what is unread (the default)")
	cmd.Flags().Var(&wait, "wait", "wait for unread mail, at most `D`")
	pages.flags(cmd)
	return cmd
}

// waitMail waits until the caller has unread mail.
func waitMail(ctx context.Context, o *office.Office, caller office.Caller, most time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_, err := o.WaitMail(waiting, caller)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "no mail for %s within %s", caller.Agent.Name, length(most)).
			WithHint("nothing is lost; wait again")
	}
	return err
}

func (a *app) showInbox(box *office.Messages, all bool) {
	rows := make([][]string, len(box.Messages))
	for i := range box.Messages {
		m := &box.Messages[i]
		rows[i] = []string{m.Short, a.ago(m.SentAt), m.From, wordsOf(m), stateWord(m), previewOf(m)}
	}
	total := fmt.Sprintf("%d unread", box.Unread)
	switch {
	case all:
		total = fmt.Sprintf("%s, %d unread", plural(box.Total, "message"), box.Unread)
	case box.Total == 0:
		total = "nothing unread; bureau inbox --all lists everything"
	}
	a.listing([]string{"ID", "AGE", "FROM", "KIND", "STATE", "TEXT"}, rows, box.Total, total, box.Next)
}

// kindWords says what a message is and wants.
func kindWords(m *office.MessageView) string {
	words := string(m.Kind)
	if m.Importance != "normal" {
		words += ", " + m.Importance
	}
	if m.AckWanted {
		words += ", ack wanted"
	}
	if mine := len(m.Receipts) == 0; mine && m.Kind == mail.Question && !m.Open {
		words += ", settled"
	}
	return words
}

// wordsOf is kindWords with what an answer answers, in a list.
func wordsOf(m *office.MessageView) string {
	if m.Of == nil || m.Answers == "" {
		return kindWords(m)
	}
	return kindWords(m) + " to " + m.Of.Short
}

// stateWord says how far a message is for its reader, in a reader's words.
func stateWord(m *office.MessageView) string {
	switch {
	case m.State == mail.Stored:
		return "new"
	case m.State == "":
		return "-"
	}
	return string(m.State)
}

// previewOf is one line of a message: its subject, or else its first words.
func previewOf(m *office.MessageView) string {
	line := safeLine(m.Subject, 0)
	if text := safeLine(m.Body, 0); line == "" {
		line = text
	} else if text != "" {
		line += " – " + text
	}
	if n := len(m.Files); n > 0 {
		line = strings.TrimSpace(line + " [" + plural(n, "file") + "]")
	}
	return line
}
