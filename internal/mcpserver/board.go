package mcpserver

import (
	"context"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/quote"
)

func addBoardTools(s *server) {
	add(s, spec{
		name: "board", title: "Board",
		about: "Notes for everybody, under keys. With value it writes, with a key it reads, without one (or one ending in *) it lists.",
	}, boardTool)
}

type boardIn struct {
	Key       string  `json:"key,omitempty" jsonschema:"like build:status"`
	Value     *string `json:"value,omitempty"`
	Action    string  `json:"action,omitempty" jsonschema:"delete or history"`
	Office    bool    `json:"office,omitempty" jsonschema:"the office's, not your project's"`
	IfVersion *int64  `json:"if_version,omitempty" jsonschema:"only if it is at this version (0: absent)"`
	Offset    int     `json:"offset,omitempty" jsonschema:"next_offset of the part before"`
	Limit     int     `json:"limit,omitempty"`
	Cursor    string  `json:"cursor,omitempty"`
}

type boardOut struct {
	Entries []note `json:"entries"`
	Total   int    `json:"total"`
	Next    string `json:"next,omitempty"`
}

type note struct {
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Rest    int       `json:"next_offset,omitempty" jsonschema:"the rest: the key with this offset"`
	Author  string    `json:"author"`
	At      time.Time `json:"at"`
	Version event.Seq `json:"version"`
	Deleted bool      `json:"deleted,omitempty"`
}

func noteOf(e *office.EntryView, offset, limit int) note {
	value, next := part(e.Value, offset, limit)
	return note{
		Key: quote.Text(e.Key), Value: quote.Text(value), Rest: next, Author: e.Author, At: e.At.Truncate(time.Second), Version: e.Version, Deleted: e.Deleted,
	}
}

func boardTool(ctx context.Context, c *call, in boardIn) (out boardOut, err error) {
	scope := office.BoardScope(c.caller.Project, in.Office)
	action := in.Action
	switch {
	case action != "":
	case in.Value != nil:
		action = "set"
	case in.Key == "" || strings.HasSuffix(in.Key, "*"):
		action = "list"
	default:
		action = "get"
	}
	var expect *event.Seq
	if in.IfVersion != nil {
		seq := event.Seq(*in.IfVersion)
		expect = &seq
	}
	if in.Offset < 0 {
		return out, fault.New(fault.Invalid, "an offset cannot be %d", in.Offset)
	}
	page := office.Page{Limit: in.Limit, From: in.Cursor}
	var one office.EntryView
	switch action {
	case "set":
		if in.Value == nil {
			return out, fault.New(fault.Invalid, "set %q to what?", in.Key).WithHint("give a value")
		}
		one, err = c.o.BoardSet(ctx, c.caller, scope, in.Key, *in.Value, expect)
	case "delete":
		one, err = c.o.BoardDelete(ctx, c.caller, scope, in.Key, expect)
	case "get":
		one, err = c.o.BoardGet(ctx, scope, in.Key)
	case "list", "history":
		get := c.o.BoardList
		if action == "history" {
			get = c.o.BoardHistory
		}
		out.Entries, err = paged(page, maxList, func(p office.Page) ([]note, error) {
			found, err := get(ctx, scope, in.Key, p)
			if err != nil {
				return nil, err
			}
			out.Total, out.Next = found.Total, found.Next
			list := make([]note, len(found.Entries))
			for i := range found.Entries {
				list[i] = noteOf(&found.Entries[i], 0, maxBrief)
			}
			return list, nil
		})
		return out, err
	default:
		err = fault.New(fault.Invalid, "no action %q", action).WithHint("actions are get, set, list, delete and history")
	}
	if err != nil {
		return out, err
	}
	out.Entries, out.Total = []note{noteOf(&one, in.Offset, maxText)}, 1
	if action == "set" && in.Offset == 0 {
		// Who wrote it knows it.
		out.Entries[0] = noteOf(&one, 0, maxBrief)
	}
	return out, nil
}
