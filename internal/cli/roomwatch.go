package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/quote"
)

func newRoomTranscript(a *app) *cobra.Command {
	var s sitting
	var sync bool
	cmd := &cobra.Command{
		Use:               "transcript [NAME]",
		Short:             "Print the path of a room's transcript",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Print the path of the Markdown file that shows the meeting as it goes on.
--sync writes what it may lack first, or all of it if the file was lost; the
journal keeps everything. A file that another program has changed, or that
tells what the journal does not have (after a backup was restored, or when two
offices write it), is put aside under a dated name and written anew. A file
that shows whispers is the person's alone: its path is told to nobody else.`,
		Example: `  bureau room transcript debate
  less "$(bureau room transcript debate --sync)"`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			v, err := o.RoomShow(cmd.Context(), caller, s.in(args))
			if err != nil {
				return err
			}
			now := office.Transcribed{Path: v.Transcript}
			if sync {
				if now, err = o.RoomTranscriptSync(cmd.Context(), caller, s.in(args)); err != nil {
					return err
				}
			}
			if now.Path == "" {
				return fault.New(fault.NotFound, "room %s has no transcript that you may read", v.Name).
					WithHint("bureau room history %s prints what was said", v.Name)
			}
			if a.json {
				return a.printJSON(struct {
					Room       name.Name `json:"room"`
					Transcript string    `json:"transcript"`
					Kept       string    `json:"kept,omitempty"` // the file that was put aside
				}{v.Name, now.Path, now.Kept})
			}
			if now.Kept != "" {
				a.note("the file did not go together with the journal and is kept as %s", safeLine(now.Kept, 0))
			}
			a.printf("%s\n", safeLine(now.Path, max(longLine, quote.Width(now.Path))))
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&sync, "sync", false, "first write what the file lacks")
	return cmd
}

func newRoomWatch(a *app) *cobra.Command {
	var s sitting
	var since int64
	var last int
	cmd := &cobra.Command{
		Use:               "watch [NAME]",
		Short:             "Watch a meeting as it goes on",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Show a room with its last entries, then every entry as it comes, with whose turn
it is and who waits whenever that changes. It ends with the room, or with
Ctrl-C, and marks nothing as read. --json prints one object a line: the room and
its new entries.`,
		Example: `  bureau room watch debate
  bureau room watch debate --since 0 > debate.txt`,
		Args: between(0, 1, "the room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if since < 0 || last < 0 {
				return usage(cmd, "entries have the numbers 1, 2, 3 …")
			}
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			in := s.in(args)
			v, err := o.RoomShow(ctx, caller, in)
			if err != nil {
				return err
			}
			in.Room = string(v.ID)
			if !cmd.Flags().Changed("since") {
				since = max(0, v.Entries-int64(last))
			}
			return a.watch(ctx, o, caller, in, since)
		},
	}
	s.flags(cmd)
	cmd.Flags().Int64Var(&since, "since", 0, "begin after entry `N` (0: at the beginning)")
	cmd.Flags().IntVar(&last, "last", 10, "begin with the last `N` entries")
	return cmd
}

// watch follows a room until it is closed.
func (a *app) watch(ctx context.Context, o *office.Office, caller office.Caller, in office.Sitting, since int64) error {
	floor, begun := "", false
	return o.RoomFollow(ctx, caller, in, since, func(v office.RoomView, list []office.RoomEntry) error {
		if a.json {
			if list == nil {
				list = []office.RoomEntry{}
			}
			raw, err := encodeJSON(struct {
				Room    office.RoomView    `json:"room"`
				Entries []office.RoomEntry `json:"entries"`
			}{v, list}, false)
			if err != nil {
				return err
			}
			_, _ = a.out.Write(raw)
			return a.flush()
		}
		if !begun {
			begun = true
			v.Unread = 0 // what is shown is no matter of reading
			a.showRoom(&v)
			a.printf("%s\n", a.dim(strings.Repeat("─", min(a.width(), 72))))
			floor = floorWords(a, &v)
		}
		a.showEntries(v.Name, list)
		if now := floorWords(a, &v); now != floor {
			floor = now
			a.printf("%s\n", a.dim(a.folded("— "+now, a.OutTTY)))
		}
		return a.flush()
	})
}
