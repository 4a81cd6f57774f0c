package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/room"
)

// DefaultRoomWait is how long join, wait and say --wait wait.
const DefaultRoomWait = 5 * time.Minute

func newRoomJoin(a *app) *cobra.Command {
	var s sitting
	var shown string
	var newSeat, noWait bool
	timeout := duration(DefaultRoomWait)
	cmd := &cobra.Command{
		Use:               "join [NAME]",
		Short:             "Come into a room and wait for your turn",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Come into a room, for the first time or again, and wait until it is your turn or
something addresses you; what is new is printed as by room wait. A time-out
(exit status 5) loses nothing: you are in.

Your handle is your own name, the one that you were invited under, or
--as-handle; it is bound to you from then on. Several members in one session
take a seat each: --new-seat prints a token, which --seat gives later on.`,
		Example: `  bureau room join debate --as ana
  bureau room join debate --as-handle critic --new-seat --no-wait`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			in := s.in(args)
			out, err := o.RoomJoin(ctx, caller, in, office.Joining{Name: shown, NewSeat: newSeat})
			if err != nil {
				return roomRefusal(err)
			}
			if out.Seat != "" {
				in.Seat = out.Seat
			}
			if !a.json {
				a.printf("in room %s as %s\n", out.Room.Name, who(&out.Room))
				if out.Seat != "" {
					a.printf("  seat %s: give it with --seat from now on\n", out.Seat)
				}
				if err := a.flush(); err != nil { // the token must not be lost while it waits
					return err
				}
			}
			if noWait {
				if a.json {
					return a.printJSON(out)
				}
				a.showResult(&out)
				return nil
			}
			return a.thenWait(ctx, o, caller, in, out, time.Duration(timeout))
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&shown, "display", "", "the `NAME` shown for you in the list of members")
	cmd.Flags().BoolVar(&newSeat, "new-seat", false, "take a seat of its own; its token is printed")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "return as soon as you are in")
	cmd.Flags().Var(&timeout, "timeout", "wait at most `D`")
	return cmd
}

// thenWait waits after something was done, and shows what came.
func (a *app) thenWait(ctx context.Context, o *office.Office, caller office.Caller, in office.Sitting, done office.RoomResult, timeout time.Duration) error {
	in.Room, in.Receipt = string(done.Room.ID), ""
	after := int64(0)
	if done.Entry != nil {
		after = done.Entry.Seq
	}
	w, err := a.roomWait(ctx, o, caller, in, timeout, after)
	if err != nil {
		return err
	}
	done.Status, done.Room = w.Status, w.Room
	done.Notes = append(done.Notes, w.Notes...)
	return a.give(ctx, o, caller, &w, roomAct{done, &w.Slice})
}

func newRoomWait(a *app) *cobra.Command {
	var s sitting
	timeout := duration(DefaultRoomWait)
	cmd := &cobra.Command{
		Use:               "wait [NAME]",
		Short:             "Wait for your turn, and print what is new",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Wait until it is your turn or something addresses you, and print what you have
not read, oldest first. On a terminal it is then read; in an agent session the
session's next move proves it. What was not printed comes again.

A time-out is exit status 5 and loses nothing. Who is in one open room only may
leave NAME away.`,
		Example: `  bureau room wait debate --as ana
  bureau room wait debate --timeout 30s --json`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			w, err := a.roomWait(ctx, o, caller, s.in(args), time.Duration(timeout), 0)
			if err != nil {
				return err
			}
			return a.give(ctx, o, caller, &w, w)
		},
	}
	s.flags(cmd)
	cmd.Flags().Var(&timeout, "timeout", "wait at most `D`")
	return cmd
}

// posting holds the flags of what is said.
type posting struct {
	sitting
	body
	client  string
	wait    bool
	timeout duration
}

func (p *posting) flags(cmd *cobra.Command) {
	p.timeout = duration(DefaultRoomWait)
	p.sitting.flags(cmd)
	p.body.flags(cmd)
	cmd.Flags().StringVar(&p.client, "client-id", "", "an `ID` that makes sending again harmless")
	cmd.Flags().BoolVar(&p.wait, "wait", false, "then wait for your next turn, as room wait does")
	cmd.Flags().Var(&p.timeout, "timeout", "with --wait: at most `D`")
}

// post says something in a room: say or whisper.
func (a *app) post(cmd *cobra.Command, p *posting, args []string, saying office.Saying, whisper bool) error {
	ctx := cmd.Context()
	if len(args) == 1 && p.file == "" {
		return usage(cmd, "what is to be said in room %q? The text is missing (- takes it from standard input)", args[0])
	}
	var err error
	if saying.Text, err = a.body(ctx, cmd, p.body, args[1:], room.MaxBody); err != nil {
		return err
	}
	saying.ClientID = p.client
	o, caller, err := a.enter(ctx)
	if err != nil {
		return err
	}
	in, say := p.in(args), o.RoomSay
	if whisper {
		say = o.RoomWhisper
	}
	out, err := say(ctx, caller, in, saying)
	if err != nil {
		return roomRefusal(err)
	}
	if !a.json {
		a.showSaid(&out)
	}
	switch {
	case p.wait:
		if !a.json {
			if err := a.flush(); err != nil {
				return err
			}
		}
		return a.thenWait(ctx, o, caller, in, out, time.Duration(p.timeout))
	case a.json:
		return a.printJSON(out)
	}
	a.showResult(&out)
	return nil
}

// showSaid says what was stored, and for whom.
func (a *app) showSaid(out *office.RoomResult) {
	verb, again := "said", ""
	if out.Repeated {
		again = ", stored before with this client id"
	}
	e := out.Entry
	if e == nil {
		a.printf("%s in room %s%s\n", verb, out.Room.Name, again)
		return
	}
	if e.Private {
		verb = "whispered"
	}
	if e.Relayed != "" {
		verb = "said for @user"
	}
	a.printf("%s in room %s as entry %d, to %s%s\n", verb, out.Room.Name, e.Seq, handles(e.To), again)
}

func newRoomSay(a *app) *cobra.Command {
	var p posting
	var relay bool
	cmd := &cobra.Command{
		Use:               "say NAME TEXT…",
		Short:             "Speak in a room",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Say something to the room and return at once; --wait then waits for your next
turn. The message is for those whom its text mentions (@bob, @all, a role): each
gets a turn. Mention only those you address or expect an answer from. An agent
that was renamed has its handle here and its new name. A message that mentions
nobody who is there is refused, and so is one out of turn: the refusal says who
has the floor and who is next.

The text is Markdown of up to 1 MiB from the arguments, standard input (-) or a
file. --relay-user posts words that the person typed to you, as @user and marked
as relayed; only the moderator may, where the room was opened with --relay-user.`,
		Example: `  bureau room say debate "@bob, what does it cost?" --as ana
  bureau room say debate "@all the budget is fixed" --as user
  git diff | bureau room say review - --wait`,
		Args: between(1, -1, "the room and the text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.post(cmd, &p, args, office.Saying{Relay: relay}, false)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&relay, "relay-user", false, "these are the person's words, which he typed to you")
	return cmd
}

func newRoomWhisper(a *app) *cobra.Command {
	var p posting
	var to []string
	cmd := &cobra.Command{
		Use:               "whisper NAME --to HANDLE[,HANDLE…] TEXT…",
		Short:             "Speak to some members only",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Say something to some members only. It needs the floor and passes it on like any
message. Those it names, you and the person who runs the office can read it;
the others see no sign of it. The text must mention nobody else, and @all is
refused.`,
		Example: `  bureau room whisper debate --to bob "your point is the better one" --as ana`,
		Args:    between(1, -1, "the room and the text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, t := range to {
				if t = strings.TrimSpace(t); t != "" {
					names = append(names, t)
				}
			}
			if len(names) == 0 {
				return fault.New(fault.Invalid, "for whom is the whisper?").WithHint("name them: --to bob,carla; what all may know is said: bureau room say")
			}
			return a.post(cmd, &p, args, office.Saying{To: names}, true)
		},
	}
	p.flags(cmd)
	cmd.Flags().StringSliceVar(&to, "to", nil, "for these members: `HANDLES` with commas")
	return cmd
}
