package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// DefaultRead is how many new messages one read shows: enough to catch up, and
// bounded for a reader that pays for every word.
const DefaultRead = 10

func newRead(a *app) *cobra.Command {
	var raw bool
	limit := DefaultRead
	cmd := &cobra.Command{
		Use:               "read [ID…]",
		GroupID:           groupMail,
		Short:             "Show whole messages and mark them as read",
		ValidArgsFunction: a.completeMessages,
		Long: `Show whole messages. Without an id the next new ones are taken, oldest first;
two readers of one inbox at the same time are never given the same ones.

On a person's terminal what was printed is marked as seen, after it was printed.
In an agent session it is an offer that the session's next move proves. --raw
prints exactly the bytes of one message's body and nothing else.`,
		Example: `  bureau read
  bureau read 7XKQ2M
  bureau read 7XKQ2M --raw > patch.diff`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case raw && len(args) != 1:
				return usage(cmd, "--raw takes the id of one message")
			case raw && a.json:
				return usage(cmd, "--raw and --json exclude each other")
			case limit < 1 || limit > office.MaxPage:
				return usage(cmd, "cannot read %d messages at once; choose between 1 and %d", limit, office.MaxPage)
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			return a.read(cmd.Context(), o, caller, args, limit, raw)
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print exactly the body's bytes")
	cmd.Flags().IntVar(&limit, "limit", DefaultRead, "without ids: at most `N` messages")
	return cmd
}

func (a *app) read(ctx context.Context, o *office.Office, caller office.Caller, ids []string, limit int, raw bool) error {
	var list []office.MessageView
	var waiting int
	var err error
	if len(ids) > 0 {
		list, err = o.Read(ctx, caller, ids)
	} else {
		list, waiting, err = next(ctx, o, caller, limit)
	}
	if err != nil {
		return err
	}
	if list == nil {
		list = []office.MessageView{}
	}
	switch {
	case raw:
		_, _ = a.out.Write(list[0].Content())
		if a.session {
			a.note("message %s", list[0].Short) // by which the session's hook sees that it arrived
		}
	case a.json:
		err = a.printJSON(office.Messages{Messages: list, Total: len(list), Unread: waiting})
	default:
		a.showMessages(list, true)
		if len(ids) == 0 {
			a.showWaiting(len(list), waiting)
		}
	}
	if err == nil {
		err = a.flush()
	}
	if err != nil || caller.InSession() {
		return unread(err)
	}
	return a.seen(ctx, o, caller, list)
}

// sessionBytes is how much text one read gives a session without being asked
// for a certain message: clients cut what commands print at 30,000 characters.
const sessionBytes = 20 << 10

// next takes the next new messages. For a session they are as many as its
// client will not cut, and at least one; those that it was given before and
// has not proved are among them.
func next(ctx context.Context, o *office.Office, caller office.Caller, limit int) (list []office.MessageView, waiting int, err error) {
	if !caller.InSession() {
		return o.Take(ctx, caller, limit, office.DefaultLease)
	}
	found, unread, err := o.Pending(ctx, caller, presence.Everything, office.AnyMail, limit)
	if err != nil {
		return nil, 0, err
	}
	var ids []event.ID
	room := int64(sessionBytes)
	for i := range found {
		if room -= found[i].Bytes; i > 0 && room < 0 {
			break
		}
		ids = append(ids, found[i].ID)
	}
	granted, err := o.Hand(ctx, caller, ids)
	if err != nil {
		return nil, 0, err
	}
	for i := range found {
		if slices.Contains(granted, found[i].ID) {
			list = append(list, found[i])
		}
	}
	return list, max(unread-len(list), 0), nil
}

// unread says of mail that could not be printed what became of it.
func unread(err error) error {
	if err == nil || !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return fault.New(fault.Unavailable, "nobody reads the output: %w", err).WithHint("nothing was marked as read")
}

// seen marks what a person was shown. It is called only after the output went
// out: what was not printed stays unread.
func (a *app) seen(ctx context.Context, o *office.Office, caller office.Caller, list []office.MessageView) error {
	if a.NoReader && len(list) > 0 {
		return fault.New(fault.Unavailable, "the output is closed").WithHint("nothing was marked as read")
	}
	var ids []event.ID
	for i := range list {
		if mail.Unseen(list[i].State) {
			ids = append(ids, list[i].ID)
		}
	}
	if err := o.Seen(ctx, caller, ids, "terminal"); err != nil {
		return fault.New(fault.CodeOf(err), "printed, but it could not be marked as read: %w", err).WithHint("it will be given again")
	}
	return nil
}

func (a *app) showWaiting(shown, waiting int) {
	switch {
	case shown == 0 && waiting == 0:
		a.printf("nothing new\n")
	case shown == 0:
		a.printf("nothing new; %s still unread: bureau inbox\n", plural(waiting, "message"))
	case waiting > 0:
		a.printf("\n%s\n", a.dim(fmt.Sprintf("%d more unread: bureau read, bureau inbox", waiting)))
	}
}
