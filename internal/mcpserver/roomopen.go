package mcpserver

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

type roomOpenIn struct {
	Name         string   `json:"name"`
	Topic        string   `json:"topic,omitempty"`
	Purpose      string   `json:"purpose,omitempty" jsonschema:"what shall come of it"`
	Members      []string `json:"members,omitempty" jsonschema:"handles of agents, or handle=agent; none: whoever comes"`
	Aliases      aliases  `json:"aliases,omitempty" jsonschema:"further names of handles"`
	Roles        aliases  `json:"roles,omitempty" jsonschema:"shared ones"`
	Handle       string   `json:"handle,omitempty" jsonschema:"default: your name"`
	Outside      bool     `json:"outside,omitempty" jsonschema:"take no part yourself"`
	Moderator    string   `json:"moderator,omitempty" jsonschema:"default: you"`
	First        string   `json:"first,omitempty" jsonschema:"who begins"`
	Floor        string   `json:"floor,omitempty" jsonschema:"strict (only the holder speaks) or open"`
	Queue        string   `json:"queue,omitempty" jsonschema:"fifo or score"`
	Barrier      string   `json:"barrier,omitempty" jsonschema:"begins with N members (2), declared (all) or moderator"`
	BarrierLimit seconds  `json:"barrier_seconds,omitempty" jsonschema:"then it begins anyway; default 600; 0: never"`
	TurnLimit    seconds  `json:"turn_seconds,omitempty" jsonschema:"after which a silent holder loses the floor; default 600"`
	Wake         string   `json:"wake,omitempty" jsonschema:"addressed or all"`
	Admission    string   `json:"admission,omitempty" jsonschema:"listed or anyone"`
	RelayUser    bool     `json:"relay_user,omitempty" jsonschema:"the moderator may post for the person"`
	Transcript   string   `json:"transcript,omitempty" jsonschema:"Markdown file or folder in your project; default: .bureau/rooms"`
	NoTranscript bool     `json:"no_transcript,omitempty" jsonschema:"no such file"`
	Lang         string   `json:"lang,omitempty" jsonschema:"of the transcript: en, de, es, fr, pt or ru"`
	Thread       string   `json:"thread,omitempty" jsonschema:"that it belongs to"`
	Force        bool     `json:"force,omitempty" jsonschema:"close an open one of that name"`
}

func roomOpenTool(ctx context.Context, c *call, in roomOpenIn) (out roomOut, err error) {
	op := office.Opening{
		Name: in.Name, Topic: in.Topic, Purpose: in.Purpose, Moderator: in.Moderator, First: in.First, Force: in.Force,
		Settings: room.Settings{
			Floor: room.Floor(in.Floor), Queue: room.Order(in.Queue), Wake: room.Wake(in.Wake), Admission: room.Admission(in.Admission),
			RelayUser: in.RelayUser, TurnLimit: in.TurnLimit.d,
		},
	}
	if op.Settings.Barrier, err = barrierOf(in.Barrier); err != nil {
		return out, err
	}
	if in.BarrierLimit.given {
		if op.Settings.Barrier.Limit = in.BarrierLimit.d; in.BarrierLimit.d == 0 {
			op.Settings.Barrier.Limit = -1 // none
		}
	}
	if in.Thread != "" {
		id, err := c.o.Resolve(ctx, c.caller, in.Thread, "thread")
		if err != nil {
			return out, err
		}
		op.Links = []room.Link{{Kind: "thread", ID: string(id)}}
	}
	if op.Transcript, err = c.roomTranscript(&in); err != nil {
		return out, err
	}
	if !in.Outside {
		if op.Handle = bare(in.Handle); op.Handle == "" {
			op.Handle = string(c.caller.Agent.Name)
		}
		op.Members = []office.Invitation{{Handle: op.Handle, Agent: string(c.caller.Agent.ID)}}
		if len(in.Members) == 0 && in.Admission == "" {
			op.Settings.Admission = room.Anyone // nobody else was named
		}
	}
	for _, m := range in.Members {
		op.Members = append(op.Members, invitation(m))
	}
	if err := further(op.Members, &in.Aliases, "aliases", func(i *office.Invitation, names []string) { i.Aliases = names }); err != nil {
		return out, err
	}
	if err := further(op.Members, &in.Roles, "roles", func(i *office.Invitation, names []string) { i.Roles = names }); err != nil {
		return out, err
	}
	r, err := c.o.RoomOpen(ctx, c.caller, op)
	if err != nil {
		return out, inRoomWords(err)
	}
	opened := r
	if !in.Outside {
		if r, err = c.o.RoomJoin(ctx, c.caller, office.Sitting{Room: string(opened.Room.ID), As: op.Handle, Hooked: c.hooked}, office.Joining{}); err != nil {
			return out, inRoomWords(err)
		}
	}
	out = roomResult(&r)
	out.Room, out.Kept = stateOf(&r.Room, true), opened.Kept
	for _, n := range opened.Notes {
		out.Notes = append(out.Notes, line(roomWords.Replace(n)))
	}
	return out, nil
}

// further puts the names that are given for handles to the members.
func further(members []office.Invitation, given *aliases, what string, put func(*office.Invitation, []string)) error {
	for _, handle := range given.order {
		at := slices.IndexFunc(members, func(i office.Invitation) bool { return name.Fold(bare(i.Handle)) == name.Fold(handle) })
		if at < 0 {
			return fault.New(fault.Invalid, "%s are given for @%s, who is no member", what, line(handle)).WithHint("name it among members; nothing was opened")
		}
		put(&members[at], given.of[handle])
	}
	return nil
}

// roomTranscript gives the options of a room's transcript, nil for none.
func (c *call) roomTranscript(in *roomOpenIn) (*office.TranscriptOptions, error) {
	switch chosen := strings.TrimSpace(in.Transcript) != ""; {
	case in.NoTranscript && (chosen || in.Lang != ""):
		return nil, fault.New(fault.Invalid, "no_transcript is set, and there is something about the transcript").WithHint("leave transcript and lang out, or no_transcript; nothing was opened")
	case in.NoTranscript:
		return nil, nil
	case chosen:
		return (*office.TranscriptOptions)(c.transcript(transcript.PathIn(in.Transcript, c.absolute(in.Transcript), in.Name), in.Lang)), nil
	}
	root := ""
	if at, err := place.Of(c.folder); err == nil && at.Project.Root != "" {
		root = at.Tree
	}
	t := office.UsualTranscript(root, in.Name)
	t.Lang = in.Lang
	return t, nil
}

func barrierOf(word string) (room.Barrier, error) {
	switch word {
	case "":
		return room.Barrier{}, nil
	case string(room.GateDeclared), string(room.GateWord):
		return room.Barrier{Gate: room.Gate(word)}, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return room.Barrier{}, fault.New(fault.Invalid, "no barrier %q", line(word)).WithHint("it is a number of members, declared or moderator; nothing was opened")
	}
	return room.Barrier{Gate: room.GateCount, N: n}, nil
}
