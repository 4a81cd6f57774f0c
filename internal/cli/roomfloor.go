package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/room"
)

func newRoomPass(a *app) *cobra.Command {
	var s sitting
	cmd := &cobra.Command{
		Use:               "pass [NAME]",
		Short:             "Give up your turn",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long:              `Give up your turn without a word. The floor goes to the next one.`,
		Example:           `  bureau room pass debate --as ana`,
		Args:              between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomPass(cmd.Context(), caller, s.in(args))
			}, func(*office.RoomResult) string { return "passed" })
		},
	}
	s.flags(cmd)
	return cmd
}

func newRoomSkip(a *app) *cobra.Command {
	var s sitting
	var to string
	cmd := &cobra.Command{
		Use:               "skip [NAME]",
		Short:             "Take the floor from who has it",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Take the floor from who has it and give it to the next, or with --to to a
certain member. Only the moderator, who opened the room and the person can.
--to user is how the person takes the floor. The turn of a person who is not in
the room ends by itself when none of these is in it.`,
		Example: `  bureau room skip debate
  bureau room skip debate --to carla`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomSkip(cmd.Context(), caller, s.in(args), to)
			}, func(*office.RoomResult) string { return "the floor was handed on" })
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&to, "to", "", "give the floor to the member `HANDLE`")
	return cmd
}

func newRoomStart(a *app) *cobra.Command {
	var s sitting
	cmd := &cobra.Command{
		Use:               "start [NAME]",
		Short:             "Begin without waiting for the missing ones",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Begin a meeting without waiting for those who are missing. Only the moderator,
who opened the room and the person can; one member must be there.`,
		Example: `  bureau room start debate`,
		Args:    between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomStart(cmd.Context(), caller, s.in(args))
			}, func(out *office.RoomResult) string {
				return "the meeting in room " + string(out.Room.Name) + " has begun"
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func newRoomLeave(a *app) *cobra.Command {
	var s sitting
	var reason string
	cmd := &cobra.Command{
		Use:               "leave [NAME]",
		Short:             "Go out of a room",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Go out of a room. The others are told; neither the floor nor a vote waits for
you. room join brings you back, to what was said and to the turns you are owed.
The person who left is still told of what is for @user.`,
		Example: `  bureau room leave debate --reason "back at noon" --as ana`,
		Args:    between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomLeave(cmd.Context(), caller, s.in(args), reason)
			}, func(out *office.RoomResult) string { return "left room " + string(out.Room.Name) })
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	return cmd
}

func newRoomClose(a *app) *cobra.Command {
	var s sitting
	var summary string
	cmd := &cobra.Command{
		Use:               "close NAME",
		Short:             "End a room for good",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `End a room for good, with its result. Only the moderator, who opened the room
and the person can. Whoever waits in it is told at once; what was said can still
be read. The summary is up to 64 KiB of Markdown, - for standard input.`,
		Example: `  bureau room close debate --summary "Decided: tabs. Ana changes the linter."
  bureau room close debate --summary - < result.md`,
		Args: between(1, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if summary == "-" {
				content, err := a.stdin(cmd.Context(), room.MaxSummary)
				if err != nil {
					return err
				}
				summary = string(content)
			}
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomClose(cmd.Context(), caller, s.in(args), summary)
			}, func(out *office.RoomResult) string {
				return fmt.Sprintf("room %s is closed after %s", out.Room.Name, plural(int(out.Room.Messages), "message"))
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&summary, "summary", "", "the result, as `TEXT`")
	return cmd
}

func newRoomPropose(a *app) *cobra.Command {
	var s sitting
	var b body
	var quorum int
	var until duration
	cmd := &cobra.Command{
		Use:               "propose NAME TEXT…",
		Short:             "Put something to the vote",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Put something to the vote of everybody who is there, the person included where
he is a member. It needs the floor, except from the moderator and the person,
and does not pass it on. The vote ends when all have voted, when the votes still
to come cannot change the result, or at the deadline; the result is an entry.`,
		Example: `  bureau room propose debate "We use tabs" --as ana
  bureau room propose debate --file variant-b.md --quorum 3 --time 1h`,
		Args: between(1, -1, "the room and the text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && b.file == "" {
				return usage(cmd, "what is to be decided in room %q?", args[0])
			}
			if cmd.Flags().Changed("quorum") && quorum < 1 {
				return usage(cmd, "a quorum of %d votes cannot be", quorum)
			}
			const bytesPerCharacter = 4
			text, err := a.body(cmd.Context(), cmd, b, args[1:], bytesPerCharacter*room.MaxProposal)
			if err != nil {
				return err
			}
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomPropose(cmd.Context(), caller, s.in(args), office.Motion{Text: string(text), Quorum: quorum, Time: time.Duration(until)})
			}, func(out *office.RoomResult) string {
				for _, p := range out.Room.Proposals {
					if out.Entry != nil && p.By == out.Entry.From && p.Number == number(out.Entry) {
						return fmt.Sprintf("proposal %d is put to the vote until %s, quorum %d; it is for %s to vote", p.Number, a.clock(p.Until), p.Quorum, handles(p.Voters))
					}
				}
				return "put to the vote"
			})
		},
	}
	s.flags(cmd)
	b.flags(cmd)
	cmd.Flags().IntVar(&quorum, "quorum", 0, "`N` votes make a result (default: more than half)")
	cmd.Flags().Var(&until, "time", "the vote ends after `D` (default 10m)")
	return cmd
}

// number is the number of the proposal that an entry makes; 0 for none.
func number(e *office.RoomEntry) int {
	p, _ := e.Detail.(room.Proposal)
	return p.Number
}

func newRoomVote(a *app) *cobra.Command {
	var s sitting
	cmd := &cobra.Command{
		Use:   "vote NAME [N] yes|no|abstain",
		Short: "Vote on a proposal",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.completeRooms(cmd, args, typed)
			}
			return words(string(room.Yes), string(room.No), string(room.Abstain))(cmd, args, typed)
		},
		Long: `Vote on proposal N, or on the only one that is open. It needs no turn. A later
vote replaces an earlier one for as long as the vote is open.`,
		Example: `  bureau room vote debate yes --as bob
  bureau room vote debate 2 abstain --as bob`,
		Args: between(2, 3, "the room and the vote"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, choice := 0, args[len(args)-1]
			if len(args) == 3 {
				var err error
				if number, err = strconv.Atoi(strings.TrimPrefix(args[1], "#")); err != nil || number < 1 {
					return usage(cmd, "%q is no number of a proposal", args[1])
				}
			}
			if _, err := room.ParseChoice(choice); err != nil {
				if _, numeric := strconv.Atoi(choice); numeric == nil && len(args) == 2 {
					return fault.New(fault.Invalid, "how do you vote on proposal %s?", choice).WithHint("bureau room vote %s %s yes, no or abstain", args[0], choice)
				}
				return err
			}
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomVote(cmd.Context(), caller, s.in(args), number, choice)
			}, func(out *office.RoomResult) string { return "voted " + strings.ToLower(choice) })
		},
	}
	s.flags(cmd)
	return cmd
}
