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

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/room"
)

// In multiagent-mcp there is one conversation at a time, and no tool names it.
// Here there are many rooms. A call means the one that it names, else the one
// that this session opened or joined last, else the newest one that its agent
// takes part in, else the newest one that lets the handle in, first of all one
// whose transcript lies where the session works.

// talks remembers the conversation that each session of this server is in. It is
// only a short cut: a new server finds it in the office.
type talks = latest[event.ID]

// conversation finds the room of a call.
func (c *call) conversation(ctx context.Context, word string, handle name.Name) (event.ID, error) {
	if word = strings.TrimSpace(word); word != "" {
		return c.named(ctx, word)
	}
	last, known := c.s.talks.get(c.caller.Key())
	if known {
		v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: string(last), Hooked: true})
		if err == nil && v.Status == room.Open {
			return last, nil
		}
	}
	mine, err := c.o.RoomList(ctx, c.caller, office.RoomFilter{Mine: true, Page: office.Page{Limit: office.MaxPage}})
	if err != nil {
		return "", err
	}
	if v := newest(mine.Rooms); v != nil {
		return v.ID, nil
	}
	all, err := c.o.RoomList(ctx, c.caller, office.RoomFilter{Page: office.Page{Limit: office.MaxPage}})
	if err != nil {
		return "", err
	}
	mayJoin := slices.DeleteFunc(slices.Clone(all.Rooms), func(v office.RoomView) bool { return handle != "" && !lets(&v, handle) })
	for _, list := range [][]office.RoomView{mayJoin, all.Rooms} {
		near := slices.DeleteFunc(slices.Clone(list), func(v office.RoomView) bool { return !c.near(&v) })
		if v := newest(near); v != nil {
			return v.ID, nil
		}
		if v := newest(list); v != nil {
			return v.ID, nil
		}
	}
	if known {
		return last, nil // closed, and the caller is told so
	}
	return "", fault.New(fault.NotFound, "no conversation is open").WithHint("init_conversation opens one")
}

// named finds a conversation by its name, its id or its file.
func (c *call) named(ctx context.Context, word string) (event.ID, error) {
	v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: word, Hooked: true})
	if err == nil {
		return v.ID, nil
	}
	if !fault.Is(err, fault.NotFound) {
		return "", err
	}
	path := c.transcript(word, "").full()
	all, listErr := c.o.RoomList(ctx, c.caller, office.RoomFilter{Page: office.Page{Limit: office.MaxPage}})
	if listErr != nil {
		return "", listErr
	}
	for i := range all.Rooms {
		if all.Rooms[i].Transcript == path {
			return all.Rooms[i].ID, nil
		}
	}
	return "", err
}

func newest(list []office.RoomView) *office.RoomView {
	var found *office.RoomView
	for i := range list {
		if v := &list[i]; v.Status == room.Open && (found == nil || v.Opened.After(found.Opened)) {
			found = v
		}
	}
	return found
}

// lets reports whether a handle that is nobody's yet may come into a room.
func lets(v *office.RoomView, handle name.Name) bool {
	for i := range v.Members {
		if v.Members[i].Handle.Key() == handle.Key() {
			return v.Members[i].Agent == ""
		}
	}
	return v.Settings.Admission == room.Anyone
}

// near reports whether a room's transcript lies where the session works.
func (c *call) near(v *office.RoomView) bool {
	if v.Transcript == "" {
		return false
	}
	rel, err := filepath.Rel(c.transcriptRoot(), v.Transcript)
	return err == nil && filepath.IsLocal(rel)
}

// transcriptRoot is the folder that transcripts of the session lie in: its work
// tree, else its project, else where it works.
func (c *call) transcriptRoot() string {
	if tree, _, ok := git.Root(c.folder); ok {
		return tree
	}
	if rel, err := filepath.Rel(c.caller.Project.Root, c.folder); c.caller.Project.Root != "" && err == nil && filepath.IsLocal(rel) {
		return c.caller.Project.Root
	}
	return c.folder
}

// placed is where a transcript shall be.
type placed office.TranscriptOptions

// transcript gives the place that a path means to the session.
func (c *call) transcript(path, lang string) *placed {
	root := c.transcriptRoot()
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.folder, path)
	}
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return &placed{Root: root, Path: path, Lang: lang}
}

func (p *placed) full() string {
	if filepath.IsAbs(p.Path) {
		return filepath.Clean(p.Path)
	}
	return filepath.Join(p.Root, p.Path)
}

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
		return out, fault.New(fault.Conflict, "%w", err).WithDetail(there).WithHint("join_conversation with a handle of your own; or init_conversation with force=true closes it, keeps its transcript and begins anew")
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

type oldListIn struct {
	Conversation optional `json:"conversation,omitempty" jsonschema:"its name or file, if you are in several"`
}

type oldListOut struct {
	Participants []oldMember         `json:"participants"`
	Active       []string            `json:"active_participants"`
	Aliases      map[string][]string `json:"aliases"`
	ActiveTurn   *string             `json:"active_turn"`
	First        *string             `json:"first_speaker"`
	Queue        []string            `json:"turn_queue"`
	Count        int64               `json:"message_count" jsonschema:"notices are counted too"`
	Topic        string              `json:"topic"`
	Filepath     *string             `json:"filepath"`

	Conversation string   `json:"conversation"`
	Status       string   `json:"status"`
	Column       string   `json:"column"`
	You          *string  `json:"you"`
	Missing      []string `json:"missing,omitempty"`
}

type oldMember struct {
	Handle   string   `json:"handle"`
	Name     string   `json:"name"`
	Status   string   `json:"status"` // active, not_joined, left or gone
	Aliases  []string `json:"aliases"`
	JoinedAt *string  `json:"joined_at"`
	LastRead int64    `json:"last_read_seq_id"`
	Agent    string   `json:"agent,omitempty"`
	Waiting  bool     `json:"waiting,omitempty"`
}

func oldList(ctx context.Context, c *call, in oldListIn) (out oldListOut, err error) {
	id, err := c.conversation(ctx, string(in.Conversation), "")
	if err != nil {
		return out, inOldWords(err)
	}
	v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: string(id), Hooked: c.hooked})
	if err != nil {
		return out, inOldWords(err)
	}
	out = oldListOut{
		Participants: []oldMember{}, Active: ats(v.Present), Aliases: map[string][]string{}, ActiveTurn: atOr(v.Holder), First: atOr(v.First),
		Queue: ats(v.Queue), Count: v.Entries, Topic: line(v.Topic), Conversation: string(v.Name), Status: string(v.Status),
		Column: string(v.Settings.Column), You: atOr(v.You),
	}
	if v.Transcript != "" {
		out.Filepath = &v.Transcript
	}
	if v.More > 0 {
		out.Missing = ats(v.Missing)
	}
	for i := range v.Members {
		m := &v.Members[i]
		p := oldMember{Handle: room.At(m.Handle), Name: line(m.Name), Status: oldPresence(m.Presence), Aliases: m.Aliases, LastRead: m.Read, Agent: m.Agent, Waiting: m.Waiting}
		if m.Joined != nil {
			at := m.Joined.UTC().Format("2006-01-02T15:04:05.000Z")
			p.JoinedAt = &at
		}
		if len(m.Aliases) > 0 {
			out.Aliases[p.Handle] = m.Aliases
		}
		out.Participants = append(out.Participants, p)
	}
	return out, nil
}

// oldPresence is multiagent-mcp's word for whether somebody is there.
func oldPresence(p room.Presence) string {
	switch p {
	case room.Present:
		return "active"
	case room.Invited:
		return "not_joined"
	}
	return string(p)
}
