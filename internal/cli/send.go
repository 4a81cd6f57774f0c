package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/wake"
)

func newSend(a *app) *cobra.Command {
	var l letter
	cmd := &cobra.Command{
		Use:               "send TO[,TO…] TEXT…",
		Aliases:           []string{"dm"},
		GroupID:           groupMail,
		Short:             "Send a message",
		ValidArgsFunction: onlyFirst(a.completeNames),
		Long: `Send a message and return at once. It is stored durably; when its recipients
see it, bureau sent says so. TO is one name or several with commas between them,
who then share one thread, or a group:

  @all           everybody who is live now
  project:NAME   every agent of a project, later ones too, for 7 days
  '*'            the same for the project of this folder; quoted, for the shell
                 puts file names in place of a bare *

In a thread (--thread, or --re for the message that this one responds to) TO may
be left away: it then goes to the other one, or to who wrote that message. A
message to somebody whose question is open in the thread is its answer, unless
--not-answer says otherwise.

The text comes from the arguments, from standard input (-) or from a file. It is
Markdown of up to 1 MiB and arrives byte for byte.`,
		Example: `  bureau send bob "the build is green"
  bureau send bob,carla --subject "API v2" --file notes.md
  git diff | bureau send bob --thread 7XKQ2M -
  bureau send @all "restarting the database in 5 min" --importance high
  bureau send bob "please read this" --ack --expires 2d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			to, words, err := l.split(cmd, args)
			if err != nil {
				return err
			}
			written, err := a.write(cmd.Context(), cmd, &l, words)
			if err != nil {
				return err
			}
			written.To = to
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			sent, err := o.Send(cmd.Context(), caller, written)
			if err != nil {
				return l.explain(cmd.Context(), o, to, err)
			}
			wake.AfterSend(cmd.Context(), o, a.Env, sent.Recipients)
			return a.showSent(&sent)
		},
	}
	l.flags(a, cmd)
	cmd.Flags().StringVar(&l.re, "re", "", "respond to `MESSAGE`, in its thread")
	cmd.Flags().StringVar(&l.kind, "kind", "", "question, answer, note, request, update, error, broadcast or ack, as `KIND`")
	cmd.Flags().BoolVar(&l.notAnswer, "not-answer", false, "it is no answer, although a question waits here")
	completeFlag(cmd, "re", a.completeMessages)
	completeFlag(cmd, "kind", words("question", "answer", "note", "request", "update", "error", "broadcast", "ack"))
	return cmd
}

// letter holds the flags of everything that sends.
type letter struct {
	body
	thread, re, subject, kind, importance, answerTo, clientID string

	noWake, ack, notAnswer bool

	expires duration
	attach  []string
	hops    int
}

func (l *letter) flags(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	l.body.flags(cmd)
	f.StringVar(&l.thread, "thread", "", "in the thread `THREAD` (default: a new one)")
	f.StringVar(&l.subject, "subject", "", "a `SUBJECT` line")
	f.StringVar(&l.importance, "importance", "", "low, normal or high, as `WORD`; low wakes nobody")
	f.BoolVar(&l.noWake, "no-wake", false, "wake nobody for it")
	f.BoolVar(&l.ack, "ack", false, "ask for an acknowledgement; until then it counts as unread")
	f.StringVar(&l.answerTo, "reply-to", "", "answers go to `AGENT`")
	f.Var(&l.expires, "expires", "it ends unseen after `D`, such as 90s, 2h, 3d or 1w")
	f.StringArrayVar(&l.attach, "attach", nil, "attach `FILE`; may be given several times")
	f.StringVar(&l.clientID, "client-id", "", "an `ID` of your own that makes sending again harmless")
	f.IntVar(&l.hops, "hops", 0, "a new thread carries `N` messages (default 8)")
	completeFlag(cmd, "thread", a.completeThreads)
	completeFlag(cmd, "reply-to", a.completeNames)
	completeFlag(cmd, "importance", words("low", "normal", "high"))
}

// split tells the recipients from the words of the text. In a thread the
// recipients may be left away, so a lone argument is the text there.
func (l *letter) split(cmd *cobra.Command, args []string) (to, words []string, err error) {
	elsewhere := l.file != "" || len(l.attach) > 0 // the arguments need hold no text
	switch {
	case (l.thread != "" || l.re != "") && l.file == "" && len(args) == 1:
		return nil, args, nil
	case (l.thread != "" || l.re != "") && elsewhere && len(args) == 0:
		return nil, nil, nil
	case len(args) == 0:
		return nil, nil, usage(cmd, "to whom, and what?")
	case len(args) == 1 && !elsewhere:
		return nil, nil, usage(cmd, "what should %q be told? The text is missing (- takes it from standard input)", args[0])
	}
	for _, name := range strings.Split(args[0], ",") {
		if name = strings.TrimSpace(name); name != "" {
			to = append(to, name)
		}
	}
	if len(to) == 0 {
		return nil, nil, usage(cmd, "%q names nobody", args[0])
	}
	return to, args[1:], nil
}

// explain adds to a refusal what may have been meant: in a thread the first
// word of a text without quotes is taken for its recipient.
func (l *letter) explain(ctx context.Context, o *office.Office, to []string, err error) error {
	if !fault.Is(err, fault.NotFound) || len(to) != 1 || l.thread == "" && l.re == "" {
		return err
	}
	if _, unknown := o.Who(ctx, to[0]); !fault.Is(unknown, fault.NotFound) {
		return err
	}
	return fault.New(fault.NotFound, "%w", err).WithHint("%s; if %q belongs to the text, put the text in quotes", fault.HintOf(err), to[0])
}

// write makes a letter of flags and text. Nothing is sent yet.
func (a *app) write(ctx context.Context, cmd *cobra.Command, l *letter, words []string) (office.Letter, error) {
	out := office.Letter{
		Thread: l.thread, Re: l.re, AnswerTo: strings.TrimPrefix(l.answerTo, "@"), NotAnswer: l.notAnswer, Subject: l.subject, AckWanted: l.ack,
		NoWake: l.noWake, Hops: l.hops, ClientID: l.clientID, Expires: time.Duration(l.expires),
	}
	var err error
	if out.Kind, err = mail.ParseKind(l.kind); err != nil {
		return out, err
	}
	if out.Importance, err = mail.ParseImportance(l.importance); err != nil {
		return out, err
	}
	if cmd.Flags().Changed("hops") && l.hops < 1 {
		return out, usage(cmd, "a thread cannot have %d hops", l.hops)
	}
	if out.Body, err = a.body(ctx, cmd, l.body, words, mail.MaxBody); err != nil {
		return out, err
	}
	out.Files, err = a.attachments(l.attach)
	return out, err
}

// showSent says where a message went and how it will be noticed.
func (a *app) showSent(s *office.Sent) error {
	if a.json {
		return a.printJSON(s)
	}
	again := ""
	if s.Repeated {
		again = " (sent before with this client id)"
	}
	switch {
	case s.Group != "":
		a.printf("sent to %s: %s%s\n", s.Group, plural(len(s.Recipients), "agent"), again)
	case s.Answers != "":
		a.printf("answered, as %s in thread %s%s\n", s.Short, s.ThreadShort(), again)
	default:
		a.printf("sent %s in thread %s%s\n", s.Short, s.ThreadShort(), again)
	}
	const most = 20 // of a group; the others are in bureau sent
	for i, r := range s.Recipients {
		if i == most {
			a.printf("  and %d more\n", len(s.Recipients)-most)
			break
		}
		a.printf("%s\n", a.folded("  "+r.Name+": "+a.noticing(&r), a.OutTTY))
	}
	return nil
}

// noticing says how a recipient will notice mail: what is known now, no promise.
func (a *app) noticing(r *office.RecipientView) string {
	if r.For != "" {
		plain := *r
		plain.For = ""
		return "for " + r.For + ", which has ended; " + a.noticing(&plain)
	}
	if r.Here && r.Held != "" {
		return "here, " + r.Wake + ", " + r.Held
	}
	if r.Here {
		return "here, " + r.Wake
	}
	seen := "never seen on this machine"
	if r.LastSeen != nil {
		seen = "last seen " + a.since(*r.LastSeen)
	}
	how := r.Wake
	if r.Hint != "" {
		how += ": " + r.Hint
	}
	return "not here, " + how + "; " + seen
}
