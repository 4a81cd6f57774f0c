package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/room"
)

func newRoomShow(a *app) *cobra.Command {
	var s sitting
	cmd := &cobra.Command{
		Use:               "show [NAME]",
		Short:             "Show whose turn it is, the queue and the members",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Show how a room stands: whose turn it is, who waits, who is missing, the members
and the open proposals. It marks nothing as read.`,
		Example: `  bureau room show debate`,
		Args:    between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			v, err := o.RoomShow(cmd.Context(), caller, s.in(args))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			a.showRoom(&v)
			return nil
		},
	}
	s.flags(cmd)
	return cmd
}

func (a *app) showRoom(v *office.RoomView) {
	a.printf("%s\n", a.bold("room "+string(v.Name)+" "+safeLine(v.Topic, 0)))
	a.printf("  %s; opened %s by %s; %s\n", v.Short, a.since(v.Opened), safeLine(v.Opener, 80), settingWords(&v.Settings))
	if v.Purpose != "" {
		a.printf("%s", indented(margin, v.Purpose))
	}
	for _, l := range v.Links {
		a.printf("  about %s %s\n", l.Kind, safeLine(l.ID, 80))
	}
	if v.Transcript != "" {
		a.printf("  transcript %s\n", safeLine(v.Transcript, 0))
	}
	a.showFloor(v)
	for _, p := range v.Proposals {
		words := fmt.Sprintf("  proposal %d by %s, %d of %d have voted, quorum %d, until %s", p.Number, room.At(p.By), len(p.Votes), len(p.Voters), p.Quorum, a.clock(p.Until))
		if p.Text != "" { // which is the members' own
			words += ": " + safeLine(p.Text, 0)
		}
		a.printf("%s\n", a.folded(words, a.OutTTY))
	}
	rows := make([][]string, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		rows[i] = []string{room.At(m.Handle), presenceWords(v, m), strconv.FormatInt(m.Read, 10), memberWords(v, m)}
	}
	if len(rows) > 0 {
		a.printf("\n")
		a.table([]string{"MEMBER", "STATUS", "READ", ""}, rows)
	}
	a.tail(fmt.Sprintf("%s, %s", plural(int(v.Entries), "entry"), plural(int(v.Messages), "message")), "")
}

// settingWords says what a meeting's rules are, where they are not the usual.
func settingWords(s *room.Settings) string {
	words := []string{string(s.Floor), string(s.Queue)}
	if s.TurnLimit > 0 {
		words = append(words, "turns of "+length(s.TurnLimit))
	}
	if s.Admission == room.Anyone {
		words = append(words, "anybody may join")
	}
	if s.RelayUser {
		words = append(words, "the moderator may relay the person's words")
	}
	return strings.Join(words, ", ")
}

// memberWords says what else is known of a member.
func memberWords(v *office.RoomView, m *office.RoomMember) string {
	var words []string
	if m.You {
		words = append(words, "you")
	}
	if m.Handle == v.Moderator {
		words = append(words, "moderator")
	}
	if m.Name != "" && m.Name != string(m.Handle) {
		words = append(words, m.Name)
	}
	if m.Agent != "" && !strings.EqualFold(m.Agent, string(m.Handle)) {
		words = append(words, "agent "+m.Agent)
	}
	if len(m.Aliases) > 0 {
		words = append(words, "also @"+joined(m.Aliases, ", @"))
	}
	if len(m.Roles) > 0 {
		words = append(words, "role @"+joined(m.Roles, ", @"))
	}
	return strings.Join(words, "; ")
}

func newRoomList(a *app) *cobra.Command {
	var closed, mine bool
	var pages pages
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rooms, the one with the newest event first",
		Long:  `List the open rooms, the one with the newest event first, with whose turn it is.`,
		Example: `  bureau room list
  bureau room list --mine --closed`,
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
			list, err := o.RoomList(cmd.Context(), caller, office.RoomFilter{Closed: closed, Mine: mine, Page: page})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			rows := make([][]string, len(list.Rooms))
			for i := range list.Rooms {
				v := &list.Rooms[i]
				rows[i] = []string{string(v.Name), roomWords(v), fmt.Sprintf("%d of %d", len(v.Present), len(v.Members)), yoursWords(v), safeLine(v.Topic, 0)}
			}
			what := "open room"
			if closed {
				what = "room"
			}
			a.listing([]string{"ROOM", "FLOOR", "HERE", "YOU", "TOPIC"}, rows, list.Total, plural(list.Total, what), list.Next)
			return nil
		},
	}
	cmd.Flags().BoolVar(&closed, "closed", false, "closed ones too")
	cmd.Flags().BoolVar(&mine, "mine", false, "only those that you take part in")
	pages.flags(cmd)
	return cmd
}

// yoursWords says what a room wants of the one who looks.
func yoursWords(v *office.RoomView) string {
	switch {
	case v.You == "":
		return "-"
	case v.YourTurn:
		return "your turn"
	case len(v.Undecided) > 0:
		return "to vote"
	case v.Addressed:
		return "addressed"
	case v.Unread > 0:
		return fmt.Sprintf("%d unread", v.Unread)
	}
	return "in"
}

func newRoomHistory(a *app) *cobra.Command {
	var s sitting
	var since int64
	var last int
	var pages pages
	cmd := &cobra.Command{
		Use:               "history [NAME]",
		Short:             "Print what was said",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Print the entries of a room that you may see, oldest first, also of a closed
one. Whispers between others are left out, and the numbers have no gaps. It
marks nothing as read.`,
		Example: `  bureau room history debate --last 20
  bureau room history debate --since 12 --json`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, err := pages.page()
			if err != nil {
				return err
			}
			if since < 0 || cmd.Flags().Changed("last") && last < 1 {
				return usage(cmd, "entries have the numbers 1, 2, 3 …")
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			p := office.HistoryPage{Since: since, Last: last, Page: page}
			if !a.json {
				p.Bytes = headBytes
			}
			log, err := o.RoomHistory(cmd.Context(), caller, s.in(args), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(log)
			}
			a.showEntries(log.Name, log.Entries)
			a.tail(fmt.Sprintf("%d of %s", len(log.Entries), plural(int(log.Total), "entry")), log.Next)
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().Int64Var(&since, "since", 0, "only what came after entry `N`")
	cmd.Flags().IntVar(&last, "last", 0, "only the last `N` entries")
	pages.flags(cmd)
	return cmd
}

func newRoomSearch(a *app) *cobra.Command {
	var in string
	var pages pages
	cmd := &cobra.Command{
		Use:   "search WORD…",
		Short: "Find what was said in rooms",
		Long: `Find what was said in the rooms that you take part in, newest first. All words
must occur. Whispers are found by their parties and the person only.`,
		Example: `  bureau room search budget
  bureau room search "linter" --in debate`,
		Args: between(1, -1, "a word"),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, err := pages.page()
			if err != nil {
				return err
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			found, err := o.FindInRooms(cmd.Context(), caller, office.RoomSearch{Text: strings.Join(args, " "), Room: in, Page: page})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(found)
			}
			rows := make([][]string, len(found.Hits))
			for i := range found.Hits {
				h := &found.Hits[i]
				text := safeLine(h.Text, 0)
				if h.Private {
					text = "(private) " + text
				}
				rows[i] = []string{h.Room, strconv.FormatInt(h.Seq, 10), a.ago(h.Time), speaker(&h.RoomEntry), text}
			}
			a.listing([]string{"ROOM", "N", "AGE", "FROM", "TEXT"}, rows, found.Total, plural(found.Total, "message"), found.Next)
			return nil
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "only in the room `NAME`")
	completeFlag(cmd, "in", a.completeRooms)
	pages.flags(cmd)
	return cmd
}

func newRoomRead(a *app) *cobra.Command {
	var s sitting
	var raw bool
	cmd := &cobra.Command{
		Use:               "read NAME N",
		Short:             "Print one message whole",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Print entry N of a room whole. --raw prints exactly the bytes of the message and
nothing else.`,
		Example: `  bureau room read debate 12
  bureau room read debate 12 --raw > patch.diff`,
		Args: between(2, 2, "the room and the number of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 64)
			switch {
			case err != nil || n < 1:
				return usage(cmd, "%q is no number of an entry", args[1])
			case raw && a.json:
				return usage(cmd, "--raw and --json exclude each other")
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			if raw {
				body, err := o.RoomBody(cmd.Context(), caller, s.in(args), n)
				if err != nil {
					return err
				}
				_, _ = a.out.Write(body)
				return nil
			}
			log, err := o.RoomHistory(cmd.Context(), caller, s.in(args), office.HistoryPage{Since: n - 1, Page: office.Page{Limit: 1}})
			if err != nil {
				return err
			}
			if len(log.Entries) == 0 {
				return fault.New(fault.NotFound, "no entry %d in room %s; it has %d", n, log.Name, log.Total).WithHint("bureau room history %s shows them", log.Name)
			}
			if a.json {
				return a.printJSON(log.Entries[0])
			}
			a.showEntries(log.Name, log.Entries)
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "print exactly the message's bytes")
	return cmd
}
