package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/git/place"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// opening holds the flags of room open.
type opening struct {
	topic, purpose, moderator, first, handle string
	members, aliases, roles, links           []string

	column, floor, queue, barrier, barrierLimit, turnLimit, empty, wake, admit string

	relay, force, loose bool

	transcript, lang                     string
	noTranscript, withWhispers, anywhere bool
}

func newRoomOpen(a *app) *cobra.Command {
	var f opening
	cmd := &cobra.Command{
		Use:   "open NAME",
		Short: "Open a room",
		Long: `Open a room and invite its members: agents by their names, handles that
somebody will come as, and user for the person. Who is known is told. You are a
member only if you are among them; as the opener you moderate it in any case.

The meeting begins when two members are there (--barrier N), all who were named
(declared), or when its moderator says so; ten minutes (--barrier-limit) after
the first came it begins in any case. --column takes all settings as the older
multiagent-mcp describes them (description) or as its code has them (code); what
is set beside it goes first. A turn lasts ten minutes (--turn-limit); that of
the person has no limit while he is in the room, or one who can hand it on.

A Markdown file shows the meeting as it goes on: .bureau/rooms/NAME.md, at the
root of the project or of the worktree that you work in, where git does not see
it; that of an earlier room of this name is kept there under a dated name.
--transcript chooses another place below the project, --no-transcript none;
outside of any project there is none by default. It never takes the place of a
file that bureau did not write. --with-whispers shows whispers in it too; then
only the person may read it.`,
		Example: `  bureau room open debate --topic "Tabs or spaces?" --members ana,bob,carla
  bureau room open review --topic "API v2" --members ana,bob,user \
    --floor open --barrier declared --transcript docs/review.md --lang de
  bureau room open board --members ana,bob --role ana=judge --alias bob=bobby`,
		Args:              between(1, 1, "a name for the room"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			op, err := f.opening(cmd, args[0])
			if err != nil {
				return err
			}
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				op.Transcript = f.options(a, caller, args[0])
				if !caller.Human && f.handle == "" {
					op.Handle = ownHandle(&op, caller.Agent.Name)
				}
				out, err := o.RoomOpen(cmd.Context(), caller, op)
				if err == nil && out.Room.You == "" && !caller.Human {
					way := "name yourself among --members"
					if f.loose && len(op.Members) > 0 {
						way += ", or say with --as-handle which of them you are,"
					}
					out.Notes = append(out.Notes, "you take no part in it yourself: "+way+" to speak and moderate there")
				}
				return out, err
			}, func(out *office.RoomResult) string {
				words := fmt.Sprintf("room %s is open, %s", out.Room.Name, plural(len(out.Room.Members), "member"))
				if out.Room.Transcript != "" {
					words += "; transcript " + out.Room.Transcript
				}
				return words
			})
		},
	}
	f.flags(a, cmd)
	return cmd
}

func (f *opening) flags(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.topic, "topic", "", "what it is about, one line of `TEXT`")
	flags.StringVar(&f.purpose, "purpose", "", "what everybody must know, as `TEXT`")
	flags.StringSliceVar(&f.members, "members", nil, "who may come: `NAMES` with commas (default: anybody)")
	flags.StringArrayVar(&f.aliases, "alias", nil, "further names of a member: `HANDLE=NAMES`")
	flags.StringArrayVar(&f.roles, "role", nil, "names that members share: `HANDLE=ROLES`")
	flags.StringVar(&f.moderator, "moderator", "", "`HANDLE` leads (default: you, if a member)")
	flags.StringVar(&f.first, "first", "", "`HANDLE` begins (default: the first who is there)")
	flags.StringVar(&f.handle, "as-handle", "", "you are the member `HANDLE`")
	flags.BoolVar(&f.loose, "loose", false, "handles are for whoever comes first")
	flags.StringVar(&f.floor, "floor", "", "who speaks, as `WORD`: strict (in turn) or open")
	flags.StringVar(&f.queue, "queue", "", "who is next, as `WORD`: fifo or score (mentions)")
	flags.StringVar(&f.barrier, "barrier", "", "begin with `N` members (2), declared or moderator")
	flags.StringVar(&f.barrierLimit, "barrier-limit", "", "begin `D` after the first came (10m), or none")
	flags.StringVar(&f.turnLimit, "turn-limit", "", "a turn ends after `D` (10m), or none")
	flags.StringVar(&f.empty, "empty", "", "with nobody waiting, as `WORD`: moderator or open")
	flags.StringVar(&f.wake, "wake", "", "whom a message wakes, as `WORD`: addressed or all")
	flags.StringVar(&f.admit, "admit", "", "who may join, as `WORD`: listed or anyone")
	flags.BoolVar(&f.relay, "relay-user", false, "the moderator may post the person's words")
	flags.StringVar(&f.column, "column", "", "the settings of `COLUMN`: description or code")
	flags.StringArrayVar(&f.links, "link", nil, "it is about `KIND:ID` (thread, task, handoff)")
	flags.StringVar(&f.transcript, "transcript", "", "show the meeting in `FILE`, or in a folder")
	flags.BoolVar(&f.noTranscript, "no-transcript", false, "no file shows the meeting")
	flags.StringVar(&f.lang, "lang", "", "the transcript's `LANGUAGE`: "+strings.Join(transcript.Languages(), ", "))
	flags.BoolVar(&f.withWhispers, "with-whispers", false, "the transcript shows whispers too")
	flags.BoolVar(&f.anywhere, "force-path", false, "--transcript may lie elsewhere")
	flags.BoolVar(&f.force, "force", false, "close a room of this name and begin anew")
	completeFlag(cmd, "members", a.completeNames)
	completeFlag(cmd, "floor", words("strict", "open"))
	completeFlag(cmd, "queue", words("fifo", "score"))
	completeFlag(cmd, "barrier", words("declared", "moderator"))
	completeFlag(cmd, "empty", words("moderator", "open"))
	completeFlag(cmd, "wake", words("addressed", "all"))
	completeFlag(cmd, "admit", words("listed", "anyone"))
	completeFlag(cmd, "column", words("description", "code"))
	completeFlag(cmd, "lang", words(transcript.Languages()...))
}

// ownHandle gives the handle of the opener who is named among the members of a
// room whose handles are for whoever comes first: it has come. "" in other rooms,
// where the name says it.
func ownHandle(op *office.Opening, own name.Name) string {
	named := slices.ContainsFunc(op.Members, func(i office.Invitation) bool {
		h, err := room.Handle(i.Handle)
		return err == nil && i.Agent == "" && h.Key() == own.Key()
	})
	if !op.Loose || !named {
		return ""
	}
	return string(own)
}

// opening makes a room to open of the flags.
func (f *opening) opening(cmd *cobra.Command, name string) (office.Opening, error) {
	op := office.Opening{
		Name: name, Topic: f.topic, Purpose: f.purpose, Handle: f.handle, Moderator: f.moderator, First: f.first, Loose: f.loose, Force: f.force,
		Settings: room.Settings{
			Column: room.Column(f.column), Floor: room.Floor(f.floor), Queue: room.Order(f.queue), Empty: room.Empty(f.empty),
			Wake: room.Wake(f.wake), Admission: room.Admission(f.admit), RelayUser: f.relay,
		},
	}
	var err error
	if op.Settings.Barrier, err = barrier(f.barrier); err != nil {
		return op, err
	}
	if op.Settings.Barrier.Limit, err = limit(f.barrierLimit); err != nil {
		return op, err
	}
	if op.Settings.TurnLimit, err = limit(f.turnLimit); err != nil {
		return op, err
	}
	if op.Members, err = f.invitations(); err != nil {
		return op, err
	}
	for _, l := range f.links {
		kind, id, ok := strings.Cut(l, ":")
		if !ok || id == "" {
			return op, usage(cmd, "--link %q says not what of what kind", l)
		}
		op.Links = append(op.Links, room.Link{Kind: strings.TrimSpace(kind), ID: strings.TrimSpace(id)})
	}
	switch chosen := cmd.Flags().Changed("transcript"); {
	case chosen && f.transcript == "":
		return op, usage(cmd, "--transcript names no file; --no-transcript is for none")
	case chosen && f.noTranscript:
		return op, usage(cmd, "--transcript and --no-transcript exclude each other")
	case f.anywhere && !chosen:
		return op, usage(cmd, "--force-path is about the place of --transcript, and there is none")
	case f.noTranscript && f.lang != "":
		return op, usage(cmd, "--lang is about the transcript, and there is none")
	case f.noTranscript && f.withWhispers:
		return op, usage(cmd, "--with-whispers is about the transcript, and there is none")
	}
	return op, nil
}

// invitations gives the members with what else was said of them.
func (f *opening) invitations() ([]office.Invitation, error) {
	var list []office.Invitation
	for _, m := range f.members {
		if m = strings.TrimSpace(m); m != "" {
			list = append(list, office.Invitation{Handle: strings.TrimPrefix(m, "@")})
		}
	}
	further := func(flag string, given []string, add func(*office.Invitation, []string)) error {
		for _, g := range given {
			handle, more, ok := strings.Cut(g, "=")
			if !ok {
				return fault.New(fault.Invalid, "--%s %q says not whose it is", flag, g).WithHint("--%s HANDLE=NAME", flag)
			}
			found := false
			for i := range list {
				if name.Fold(list[i].Handle) == name.Fold(strings.TrimPrefix(strings.TrimSpace(handle), "@")) {
					found = true
					add(&list[i], strings.Split(more, ","))
				}
			}
			if !found {
				return fault.New(fault.Invalid, "--%s is about %q, who is no member", flag, handle).WithHint("name it in --members too")
			}
		}
		return nil
	}
	if err := further("alias", f.aliases, func(i *office.Invitation, more []string) { i.Aliases = append(i.Aliases, more...) }); err != nil {
		return nil, err
	}
	return list, further("role", f.roles, func(i *office.Invitation, more []string) { i.Roles = append(i.Roles, more...) })
}

// options gives the options of the transcript, nil for none.
func (f *opening) options(a *app, caller office.Caller, name string) *office.TranscriptOptions {
	if f.noTranscript {
		return nil
	}
	t := f.usual(a, name)
	if f.transcript != "" {
		t = f.chosen(a, caller, name)
	}
	t.Lang, t.Private = f.lang, f.withWhispers
	return t
}

// usual is the place when nobody chose one: at the root of the work tree in which
// somebody works, or that --project names.
func (f *opening) usual(a *app, name string) *office.TranscriptOptions {
	dir := a.Dir
	if filepath.IsAbs(a.project) {
		dir = a.project
	} else if a.project != "" {
		dir = filepath.Join(dir, a.project)
	}
	root := ""
	if at, err := place.Of(dir); err == nil && at.Project.Root != "" {
		root = at.Tree
	}
	return office.UsualTranscript(root, name)
}

// chosen is the place that --transcript names. A relative path is seen from the
// working folder, as every path that is typed; a folder gets a file called after
// the room. The allowed root is the project, or the worktree of it that the
// folder belongs to.
func (f *opening) chosen(a *app, caller office.Caller, name string) *office.TranscriptOptions {
	base := a.Dir
	if a.project != "" && caller.Project.Root != "" {
		base = caller.Project.Root
	}
	// Links on the way to the working folder are the person's own; those below
	// it are not followed.
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		real = base
	}
	path := f.transcript
	if filepath.IsAbs(path) {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.Join(real, rel)
		}
	} else {
		path = filepath.Join(real, path)
	}
	path = transcript.PathIn(f.transcript, path, strings.TrimSpace(name))
	root := real
	if rel, err := filepath.Rel(caller.Project.Root, real); caller.Project.Root != "" && err == nil && filepath.IsLocal(rel) {
		root = caller.Project.Root
	} else if tree, _, ok := git.Root(real); ok {
		root = tree // a worktree of the project
	}
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return &office.TranscriptOptions{Root: root, Path: path, Force: f.anywhere}
}

func barrier(word string) (room.Barrier, error) {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "":
		return room.Barrier{}, nil
	case string(room.GateDeclared), string(room.GateWord):
		return room.Barrier{Gate: room.Gate(word)}, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return room.Barrier{}, fault.New(fault.Invalid, "--barrier %q is neither a number of members nor a word", word).
			WithHint("a number, declared (all who were named) or moderator (who says room start)")
	}
	return room.Barrier{Gate: room.GateCount, N: n}, nil
}

// limit reads how long something may last: 0 for the default, less for no limit.
func limit(word string) (time.Duration, error) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "":
		return 0, nil
	case "none", "never":
		return -1, nil
	}
	return parseDuration(word)
}

func newRoomInvite(a *app) *cobra.Command {
	var s sitting
	var i office.Invitation
	cmd := &cobra.Command{
		Use:               "invite NAME HANDLE",
		Short:             "Add a member, who may then join",
		ValidArgsFunction: onlyFirst(a.completeRooms),
		Long: `Add a member to a room, who may then join. An agent of that name is the only one
who may, or the one of --agent; another handle is for whoever comes first. An
agent that is a member already, under an older name of its own, is not invited
again: both names mean it.`,
		Example: `  bureau room invite debate dora
  bureau room invite debate critic --agent dora --role jury`,
		Args: between(2, 2, "the room and whom to invite"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i.Handle = strings.TrimPrefix(strings.TrimSpace(args[1]), "@")
			return a.roomVerb(cmd, func(o *office.Office, caller office.Caller) (office.RoomResult, error) {
				return o.RoomInvite(cmd.Context(), caller, s.in(args), i)
			}, func(out *office.RoomResult) string {
				return fmt.Sprintf("invited @%s to room %s", i.Handle, out.Room.Name)
			})
		},
	}
	s.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&i.Agent, "agent", "", "only the agent `NAME` may come as this member")
	flags.StringVar(&i.Name, "display", "", "the `NAME` shown for it in the list of members")
	flags.StringSliceVar(&i.Aliases, "alias", nil, "further names of it: `NAMES` with commas")
	flags.StringSliceVar(&i.Roles, "role", nil, "names that it shares: `ROLES` with commas")
	completeFlag(cmd, "agent", a.completeNames)
	return cmd
}
