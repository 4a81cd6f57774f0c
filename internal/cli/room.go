package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/room"
)

func newRoom(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:        "room",
		Aliases:    []string{"rooms"},
		GroupID:    groupOffice,
		Short:      "Meetings with turns, whispers and votes",
		SuggestFor: []string{"meeting", "debate", "conversation"},
		Long: `A room is a meeting. In a strict room one member has the floor and speaks; whom
it mentions (@bob, @all) waits for a turn, in the order of the mentions. Code,
quotes and links mention nobody. Who dies, leaves or is silent for too long
loses the floor, so a meeting does not hang. The person's turn has no limit
while he is in the room, or its moderator, who can hand it on (room skip); else
it ends like any other, and he is not waited for again before he comes.

A whisper reaches those it names and the person who runs the office, nobody
else. All that happens is an entry with a number; each member reads on from
where it was, in whatever process.

The person takes part as @user: bureau room say NAME TEXT in a plain terminal.`,
		Example: `  bureau room open debate --topic "Tabs or spaces?" --members ana,bob,carla
  bureau room join debate --as ana
  bureau room say debate "@bob, what is against tabs?" --as ana
  bureau room watch debate`,
	}, newRoomOpen(a), newRoomJoin(a), newRoomSay(a), newRoomWhisper(a), newRoomWait(a), newRoomPass(a), newRoomSkip(a),
		newRoomInvite(a), newRoomStart(a), newRoomLeave(a), newRoomPropose(a), newRoomVote(a), newRoomShow(a), newRoomList(a),
		newRoomHistory(a), newRoomRead(a), newRoomSearch(a), newRoomWatch(a), newRoomTranscript(a), newRoomClose(a))
}

// sitting holds the flags that say as which member somebody acts.
type sitting struct{ as, seat, receipt string }

func (s *sitting) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.as, "as-handle", "", "as the member `HANDLE` (default: your own)")
	cmd.Flags().StringVar(&s.seat, "seat", "", "the `TOKEN` of a seat that join --new-seat gave")
	cmd.Flags().StringVar(&s.receipt, "receipt", "", "the `RECEIPT` of what you were given before; it has arrived")
	_ = cmd.Flags().MarkHidden("receipt") // for clients without hooks
}

// in gives the sitting for a room, whose name may be left away by who is in
// one room only.
func (s *sitting) in(args []string) office.Sitting {
	out := office.Sitting{As: s.as, Seat: s.seat, Token: true, Receipt: s.receipt}
	if len(args) > 0 {
		out.Room = args[0]
	}
	return out
}

// roomVerb is the shape of the commands that change a room: done says what
// happened, in words.
func (a *app) roomVerb(cmd *cobra.Command, do func(o *office.Office, caller office.Caller) (office.RoomResult, error), done func(*office.RoomResult) string) error {
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return err
	}
	out, err := do(o, caller)
	if err != nil {
		return roomRefusal(err)
	}
	if a.json {
		return a.printJSON(out)
	}
	a.printf("%s\n", a.folded(safeLine(done(&out), 0), a.OutTTY))
	a.showResult(&out)
	return nil
}

// showResult prints what a result holds beside what was done.
func (a *app) showResult(out *office.RoomResult) {
	absent := slices.DeleteFunc(slices.Clone(out.Absent), func(h name.Name) bool { return slices.Contains(out.Retired, h) })
	if len(absent) > 0 {
		a.printf("  not there: %s; they find it when they come\n", handles(absent))
	}
	if len(out.Retired) > 0 {
		a.printf("  retired, and will not come: %s\n", handles(out.Retired))
	}
	if len(out.Unknown) > 0 {
		a.printf("  nobody here is called %s\n", safeLine("@"+joined(out.Unknown, ", @"), 0))
	}
	if out.Kept != "" {
		a.printf("  the transcript of the room before is %s\n", safeLine(out.Kept, 0))
	}
	for _, n := range out.Notes {
		a.note("%s", safeLine(n, 0))
	}
	if out.Room.Status != room.Closed { // else what was done has said so
		a.showFloor(&out.Room)
	}
}

// roomRefusal puts into words what a refusal's detail says to programs.
func roomRefusal(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	d, ok := f.Detail.(room.NotYourTurn)
	if !ok || len(d.Queue) == 0 {
		return err
	}
	return fault.New(f.Code, "%w; next: %s", err, handles(d.Queue)).WithHint("%s", fault.HintOf(err)).WithDetail(d)
}

// roomAct is a result of a command that may have waited afterwards.
type roomAct struct {
	office.RoomResult
	*office.Slice
}

// roomWait waits in a room and gives what there is. Being interrupted loses
// nothing. after is the number of what was just said, 0 for nothing.
func (a *app) roomWait(ctx context.Context, o *office.Office, caller office.Caller, s office.Sitting, timeout time.Duration, after int64) (office.Waited, error) {
	said, where := false, s.Room
	out, err := o.RoomWait(ctx, caller, s, office.Waiting{Timeout: timeout, After: after, Taking: a.taking(), Waiting: func(v office.RoomView) {
		where = string(v.Name)
		if !said {
			a.note("waiting in room %s for up to %s; %s", v.Name, length(timeout), floorWords(a, &v))
		}
		said = true
	}})
	if err != nil && errors.Is(err, context.Canceled) && ctx.Err() != nil {
		kept := "nothing is lost"
		if after > 0 {
			kept = "what you said stands in the room"
		}
		return out, fault.New(fault.Unavailable, "interrupted: %w", context.Canceled).
			WithHint("%s; go on with: bureau room wait %s", kept, where)
	}
	return out, roomRefusal(err)
}

// taking bounds what a session is given at once by what its client does not
// cut.
func (a *app) taking() office.Taking {
	if a.session {
		return office.Taking{Bytes: sessionBytes}
	}
	return office.Taking{}
}

// give prints what a wait brought, and then, and only then, says so.
func (a *app) give(ctx context.Context, o *office.Office, caller office.Caller, w *office.Waited, asJSON any) error {
	if a.json {
		if err := a.printJSON(asJSON); err != nil {
			return err
		}
	} else {
		a.showEntries(w.Room.Name, w.Entries)
		if w.More {
			a.printf("%s\n", a.dim("more is unread: "+a.bureau()+" room wait "+string(w.Room.Name)))
		}
		for _, n := range w.Notes {
			a.note("%s", safeLine(n, 0))
		}
		a.showWaited(w)
	}
	if err := a.flush(); err != nil {
		return unread(err)
	}
	if w.Receipt != "" {
		if a.NoReader {
			return fault.New(fault.Unavailable, "the output is closed").WithHint("nothing was marked as read")
		}
		if a.session {
			a.note("receipt %s", w.Receipt) // by which the session's hook sees that it arrived
		}
		if err := o.RoomShown(ctx, caller, w.Receipt); err != nil {
			return fault.New(fault.CodeOf(err), "printed, but it could not be marked as read: %w", err).WithHint("it will be given again")
		}
	}
	if w.Status == office.RoomTimeout {
		return fault.New(fault.Timeout, "nothing for %s in room %s yet: %s", who(&w.Room), w.Room.Name, floorWords(a, &w.Room)).
			WithHint("nothing is lost; wait again: bureau room wait %s", w.Room.Name)
	}
	return nil
}

// who names the one who looks.
func who(v *office.RoomView) string {
	if v.You == "" {
		return "you"
	}
	return room.At(v.You)
}

// handles lists members as people write them.
func handles(list []name.Name) string {
	words := make([]string, len(list))
	for i, h := range list {
		words[i] = string(h)
	}
	return "@" + joined(words, ", @")
}

// joined joins at most a line of words.
func joined(words []string, between string) string {
	const most = 12
	out := ""
	for i, w := range words {
		switch {
		case i == most:
			return out + ", …"
		case i > 0:
			out += between
		}
		out += w
	}
	return out
}

// completeRooms completes the name of an open room.
func (a *app) completeRooms(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if a.lookUp(cmd.Context()) == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := o.RoomList(cmd.Context(), caller, office.RoomFilter{Page: office.Page{Limit: maxCompletions}})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for i := range list.Rooms {
		if v := &list.Rooms[i]; strings.HasPrefix(strings.ToLower(string(v.Name)), strings.ToLower(typed)) {
			out = append(out, cobra.CompletionWithDesc(string(v.Name), safeLine(v.Topic, 40)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
