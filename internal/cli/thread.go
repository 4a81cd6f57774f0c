package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/mail"
	"bureau/internal/office"
)

func newThread(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "thread",
		Aliases: []string{"threads"},
		GroupID: groupMail,
		Short:   "List, show, open, extend and close conversations",
		Long: `A thread is a conversation with an owner, participants and a budget of messages
(hops), so that agents cannot write to each other for ever. Every message costs
one; an open question keeps one for its answer. Only the owner grants more and
closes, and you at a plain terminal; once the owner is retired, every
participant can. A participant adds others, by thread add or by writing to them
in it.`,
		Example: `  bureau thread open "API v2" --with bob,carla --hops 20
  bureau thread show 7XKQ2M`,
	}, newThreadList(a), newThreadShow(a), newThreadOpen(a), newThreadAdd(a), newThreadGrant(a), newThreadClose(a))
}

func newThreadList(a *app) *cobra.Command {
	var all, closed bool
	var pages pages
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your threads, the one with the newest event first",
		Long:  `List the threads that you take part in, the one with the newest event first.`,
		Example: `  bureau thread list
  bureau thread list --closed`,
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
			list, err := o.ThreadList(cmd.Context(), caller, all, !closed, page)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			rows := make([][]string, len(list.Threads))
			for i := range list.Threads {
				t := &list.Threads[i]
				rows[i] = []string{
					t.Short, a.ago(t.UpdatedAt), hopWords(t), peopleWords(t),
					safeLine(t.Subject, 0) + questionWords(t),
				}
			}
			total := plural(list.Total, "open thread")
			if closed {
				total = plural(list.Total, "thread")
			}
			if list.Total == 0 && caller.Human && !all {
				total += " of your own; --all lists everybody's"
			}
			a.listing([]string{"ID", "AGE", "HOPS LEFT", "WHO", "SUBJECT"}, rows, list.Total, total, list.Next)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everybody's (only for the person who runs the office)")
	cmd.Flags().BoolVar(&closed, "closed", false, "closed ones too")
	pages.flags(cmd)
	return cmd
}

func hopWords(t *office.ThreadView) string {
	words := fmt.Sprintf("%d of %d", t.HopsLeft, t.Hops)
	if t.Status != mail.Open {
		words = string(t.Status)
	}
	return words
}

// peopleWords names the participants, the owner first.
func peopleWords(t *office.ThreadView) string {
	const most = 4
	names := []string{t.Owner}
	for _, n := range t.Participants {
		if n != t.Owner {
			names = append(names, n)
		}
	}
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

func questionWords(t *office.ThreadView) string {
	if len(t.Questions) == 0 {
		return ""
	}
	return fmt.Sprintf(" [%s open]", plural(len(t.Questions), "question"))
}

func newThreadShow(a *app) *cobra.Command {
	var pages pages
	cmd := &cobra.Command{
		Use:               "show THREAD",
		Short:             "Show a thread and its messages",
		ValidArgsFunction: onlyFirst(a.completeThreads),
		Long: `Show a thread with its messages, oldest first, to a participant or to the person
who runs the office. It marks nothing as read. THREAD may also be the id of one
of its messages. Long messages are cut here; bureau read shows them whole.`,
		Example: `  bureau thread show 7XKQ2M`,
		Args:    between(1, 1, "the id of a thread"),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, err := pages.page()
			if err != nil {
				return err
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			found, err := o.Thread(cmd.Context(), caller, args[0], page)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(found)
			}
			a.showThread(&found.ThreadView)
			a.printf("\n")
			a.showMessages(found.Log, false)
			if len(found.Log) > 0 {
				a.printf("\n")
			}
			a.tail(fmt.Sprintf("%d of %s", len(found.Log), plural(found.Total, "message")), found.Next)
			return nil
		},
	}
	pages.flags(cmd)
	return cmd
}

func (a *app) showThread(t *office.ThreadView) {
	a.printf("%s\n", a.bold("thread "+t.Short+" "+safeLine(t.Subject, 0)))
	a.printf("  %s; owner %s; with %s\n", t.Status, t.Owner, strings.Join(t.Participants, ", "))
	a.printf("  %d of %d hops left, %s, last event %s\n", t.HopsLeft, t.Hops, plural(t.Messages, "message"), a.since(t.UpdatedAt))
	for _, q := range t.Questions {
		a.printf("  question %s from %s to %s, open for %s: %s\n", q.Short, q.Asker, q.Asked, a.ago(q.SentAt), safeLine(q.Text, 60))
	}
}

// threadVerb is the shape of the commands that change one thread.
func (a *app) threadVerb(cmd *cobra.Command, do func(o *office.Office, caller office.Caller) (office.ThreadView, error)) error {
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return err
	}
	t, err := do(o, caller)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(t)
	}
	a.showThread(&t)
	return nil
}

func newThreadOpen(a *app) *cobra.Command {
	var with []string
	var hops int
	cmd := &cobra.Command{
		Use:   "open SUBJECT…",
		Short: "Begin a thread without a message",
		Long: `Begin a thread: for several who then choose whom they write to, or with another
budget than 8 messages.`,
		Example: `  bureau thread open "API v2" --with bob,carla --hops 20
  bureau thread open retro --with bob`,
		Args: between(1, -1, "the subject"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("hops") && hops < 1 {
				return usage(cmd, "a thread cannot have %d hops", hops)
			}
			return a.threadVerb(cmd, func(o *office.Office, caller office.Caller) (office.ThreadView, error) {
				return o.OpenThread(cmd.Context(), caller, strings.Join(args, " "), with, hops)
			})
		},
	}
	cmd.Flags().StringSliceVar(&with, "with", nil, "the other participants, as `NAME[,NAME…]`")
	cmd.Flags().IntVar(&hops, "hops", 0, "it carries `N` messages (default 8)")
	completeFlag(cmd, "with", a.completeNames)
	return cmd
}

func newThreadAdd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "add THREAD NAME…",
		Short:             "Make others participants of a thread",
		ValidArgsFunction: onlyFirst(a.completeThreads),
		Long: `Make others participants of a thread that you take part in. They may then read
all of it and write in it; every participant sees that they came.`,
		Example: `  bureau thread add 7XKQ2M carla`,
		Args:    between(2, -1, "the thread and a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, arg := range args[1:] {
				names = append(names, strings.FieldsFunc(arg, func(r rune) bool { return r == ',' })...)
			}
			return a.threadVerb(cmd, func(o *office.Office, caller office.Caller) (office.ThreadView, error) {
				return o.AddToThread(cmd.Context(), caller, args[0], names)
			})
		},
	}
}

func newThreadGrant(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "grant THREAD N",
		Short:             "Let a thread carry N more messages",
		ValidArgsFunction: onlyFirst(a.completeThreads),
		Long: `Let a thread carry N more messages: one that you own; at a plain terminal any;
and one that you take part in, once its owner is retired.`,
		Example: `  bureau thread grant 7XKQ2M 8`,
		Args:    between(2, 2, "the thread and how many messages more"),
		RunE: func(cmd *cobra.Command, args []string) error {
			hops, err := strconv.Atoi(args[1])
			if err != nil || hops < 1 {
				return usage(cmd, "%q is no number of messages", args[1])
			}
			return a.threadVerb(cmd, func(o *office.Office, caller office.Caller) (office.ThreadView, error) {
				return o.GrantHops(cmd.Context(), caller, args[0], hops)
			})
		},
	}
}

func newThreadClose(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "close THREAD",
		Short:             "End a thread for good",
		ValidArgsFunction: onlyFirst(a.completeThreads),
		Long: `End a thread for good: one that you own; at a plain terminal any; and one that
you take part in, once its owner is retired. Whoever waits for an answer in it
is told at once that none can come. What was sent can still be read.`,
		Example: `  bureau thread close 7XKQ2M --reason "decided: v2 it is"`,
		Args:    between(1, 1, "the id of a thread"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.threadVerb(cmd, func(o *office.Office, caller office.Caller) (office.ThreadView, error) {
				return o.CloseThread(cmd.Context(), caller, args[0], reason)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	return cmd
}
