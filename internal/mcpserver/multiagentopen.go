package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/room"
)

type oldInitIn struct {
	Filepath     string   `json:"filepath" jsonschema:"the Markdown file that shows the conversation, below your project; empty for none"`
	Participants []string `json:"participants" jsonschema:"handles"`
	Topic        optional `json:"topic,omitempty"`
	First        optional `json:"first_speaker,omitempty" jsonschema:"default: the first participant who is there"`
	Aliases      aliases  `json:"aliases,omitempty" jsonschema:"further names of handles"`
	Force        bool     `json:"force,omitempty" jsonschema:"close the one that is open and begin anew"`
	Column       optional `json:"column,omitempty" jsonschema:"description or code: how multiagent-mcp is described, or how it works; default: ours"`
}

type oldInitOut struct {
	Status       string              `json:"status"`
	Filepath     string              `json:"filepath"`
	Topic        string              `json:"topic"`
	Participants []string            `json:"participants"`
	First        *string             `json:"first_speaker"`
	Aliases      map[string][]string `json:"aliases"`
	Message      string              `json:"message"`

	Conversation string `json:"conversation"`
	Column       string `json:"column"`
	Kept         string `json:"kept,omitempty" jsonschema:"where the transcript of the one before is"`
}

// ColumnVariable names the column of conversations that do not say theirs.
const ColumnVariable = "BUREAU_MULTIAGENT_COLUMN"

// mostNamesakes bounds the looking for a free name.
const mostNamesakes = 100

func oldInit(ctx context.Context, c *call, in oldInitIn) (out oldInitOut, err error) {
	op, err := c.opening(&in)
	if err != nil {
		return out, err
	}
	base, path := op.Name, ""
	if op.Transcript != nil {
		path = (*placed)(op.Transcript).full()
	}
	var opened office.RoomResult
	for n := 2; ; n++ {
		opened, err = c.o.RoomOpen(ctx, c.caller, op)
		there, taken := inRoom(err)
		if !taken {
			break
		}
		v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: string(there.Room), Hooked: true})
		if err != nil {
			return out, inOldWords(err)
		}
		// Another file of the same name, of another project for instance, is
		// another conversation.
		if v.Transcript == path || n > mostNamesakes {
			break
		}
		op.Name = fmt.Sprintf("%s-%d", base, n)
	}
	there, taken := inRoom(err)
	if in.Force && fault.Is(err, fault.Conflict) {
		if taken {
			op.Name = there.Name
		}
		op.Force = true // also for the file of one that was closed
		opened, err = c.o.RoomOpen(ctx, c.caller, op)
	} else if taken {
		hint := "join_conversation with a handle of your own; or init_conversation with another filepath: only who takes part in that one can close it"
		if there.MayForce {
			hint = "join_conversation with a handle of your own; or init_conversation with force=true closes it, keeps its transcript and begins anew"
		}
		return out, fault.New(fault.Conflict, "%w", err).WithDetail(there).WithHint("%s", hint)
	}
	if err != nil {
		return out, inOldWords(err)
	}
	v := &opened.Room
	c.s.talks.in(c.caller.Key(), v.ID)
	out = oldInitOut{
		Status: "initialized", Filepath: in.Filepath, Topic: line(v.Topic), Participants: []string{}, First: atOr(v.First), Aliases: map[string][]string{},
		Conversation: string(v.Name), Column: string(v.Settings.Column), Kept: opened.Kept,
	}
	for i := range v.Members {
		m := &v.Members[i]
		out.Participants = append(out.Participants, room.At(m.Handle))
		if len(m.Aliases) > 0 {
			out.Aliases[room.At(m.Handle)] = m.Aliases
		}
	}
	out.Message = fmt.Sprintf("conversation %s is open; its participants join_conversation, each under its handle", v.Name)
	if c.readFrom([]string{in.Filepath}) != "" {
		out.Message += "; its file is " + line(v.Transcript)
	}
	if len(opened.Notes) > 0 {
		out.Message += "; " + strings.Join(opened.Notes, "; ")
	}
	return out, nil
}

// inRoom tells from a refusal which open room has the name.
func inRoom(err error) (office.InRoom, bool) {
	var f *fault.Error
	if !errors.As(err, &f) {
		return office.InRoom{}, false
	}
	d, ok := f.Detail.(office.InRoom)
	return d, ok
}

// opening makes the room that is wanted.
func (c *call) opening(in *oldInitIn) (op office.Opening, err error) {
	column := room.Column(in.Column)
	if column == "" {
		column = room.Column(c.s.opts.Env(ColumnVariable))
	}
	op = office.Opening{
		Name: conversationName(in.Filepath), Topic: string(in.Topic), First: string(in.First), Loose: true,
		Settings: room.Settings{Column: column},
	}
	for _, p := range in.Participants {
		h, err := room.Handle(p)
		if err != nil {
			return op, err
		}
		op.Members = append(op.Members, office.Invitation{Handle: string(h)})
	}
	for _, handle := range in.Aliases.order {
		h, err := room.Handle(handle)
		if err != nil {
			return op, err
		}
		at := slices.IndexFunc(op.Members, func(i office.Invitation) bool { return name.Name(i.Handle).Key() == h.Key() })
		if at < 0 {
			return op, fault.New(fault.Invalid, "aliases are given for %s, who is no participant", room.At(h)).WithHint("name %s among the participants; nothing was opened", room.At(h))
		}
		op.Members[at].Aliases = in.Aliases.of[handle]
	}
	if strings.TrimSpace(in.Filepath) != "" {
		lang := ""
		if column != room.ColumnOurs {
			lang = "fr" // the labels of multiagent-mcp
		}
		op.Transcript = (*office.TranscriptOptions)(c.transcript(in.Filepath, lang))
	}
	return op, nil
}

// defaultConversation is the name of one without a file.
const defaultConversation = "conversation"

// conversationName makes the name of a room from the file that shows it.
func conversationName(path string) string {
	base := filepath.Base(filepath.ToSlash(strings.ReplaceAll(path, `\`, "/")))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	base = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, base)
	for utf8.RuneCountInString(base) > name.MaxRunes-4 { // room for a number
		_, size := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-size]
	}
	base = strings.Trim(base, "._-")
	if n, err := name.Parse(base); err == nil {
		return string(n)
	}
	return defaultConversation
}
