package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/room"
)

// roomState is how a room stands. Its fields are those of office.RoomView.
type roomState struct {
	ID         string        `json:"id"`
	Name       string        `json:"name"`
	Topic      string        `json:"topic"`
	Purpose    string        `json:"purpose,omitempty"`
	Status     string        `json:"status"`
	You        string        `json:"you,omitempty"`
	YourTurn   bool          `json:"your_turn"`
	MaySpeak   bool          `json:"may_speak"`
	Holder     string        `json:"holder,omitempty"`
	Until      *time.Time    `json:"until,omitempty"`
	Queue      []string      `json:"queue"`
	Present    []string      `json:"present"`
	Started    bool          `json:"started"`
	Missing    []string      `json:"missing,omitempty"`
	More       int           `json:"more,omitempty"`
	Moderator  string        `json:"moderator,omitempty"`
	Entries    int64         `json:"entries"`
	Messages   int64         `json:"messages"`
	Read       int64         `json:"read,omitempty"`
	Unread     int64         `json:"unread"`
	Proposals  []roomBallot  `json:"proposals,omitempty"`
	Undecided  []int         `json:"undecided,omitempty"`
	Members    []member      `json:"members,omitempty"`
	Settings   *roomSettings `json:"settings,omitempty"`
	Links      []room.Link   `json:"links,omitempty"`
	Opener     string        `json:"opener,omitempty"`
	Transcript string        `json:"transcript,omitempty"`
}

type roomBallot struct {
	Number int         `json:"number"`
	By     string      `json:"by"`
	Text   string      `json:"text,omitempty"`
	Voters []string    `json:"voters"`
	Votes  []room.Cast `json:"votes"`
	Quorum int         `json:"quorum"`
	Until  time.Time   `json:"until"`
}

type member struct {
	Handle   string        `json:"handle"`
	Name     string        `json:"name,omitempty"`
	Aliases  []string      `json:"aliases,omitempty"`
	Roles    []string      `json:"roles,omitempty"`
	Agent    string        `json:"agent,omitempty"`
	Human    bool          `json:"human,omitempty"`
	Presence room.Presence `json:"presence"`
	Read     int64         `json:"read"`
	Waiting  bool          `json:"waiting,omitempty"`
}

type roomSettings struct {
	Column    string `json:"column,omitempty"`
	Floor     string `json:"floor"`
	Queue     string `json:"queue"`
	Barrier   string `json:"barrier"`
	TurnLimit string `json:"turn_limit,omitempty"`
	Admission string `json:"admission"`
	Wake      string `json:"wake"`
	RelayUser bool   `json:"relay_user,omitempty"`
}

// handleNames are handles without the sign that marks a mention.
func handleNames(list []name.Name) []string {
	out := make([]string, len(list))
	for i, h := range list {
		out[i] = string(h)
	}
	return out
}

// retiredNote says of members who were addressed that nobody comes as them.
func retiredNote(list []name.Name) string {
	return "retired, and will not come: " + strings.Join(ats(list), ", ")
}

// stateOf shows a room; whole adds what changes seldom.
func stateOf(v *office.RoomView, whole bool) roomState {
	s := roomState{
		ID: v.Short, Name: string(v.Name), Topic: line(v.Topic), Status: string(v.Status), You: string(v.You), YourTurn: v.YourTurn, MaySpeak: v.MaySpeak,
		Holder: string(v.Holder), Until: inSeconds(v.Until), Queue: handleNames(v.Queue), Present: handleNames(v.Present), Started: v.Started,
		Missing: handleNames(v.Missing), More: v.More, Moderator: string(v.Moderator), Entries: v.Entries, Messages: v.Messages,
		Read: v.Read, Unread: int64(v.Unread), Undecided: v.Undecided,
	}
	for i := range v.Proposals {
		b := &v.Proposals[i]
		s.Proposals = append(s.Proposals, roomBallot{
			Number: b.Number, By: string(b.By), Text: briefly(b.Text), Voters: handleNames(b.Voters), Votes: b.Votes, Quorum: b.Quorum, Until: b.Until.Truncate(time.Second),
		})
	}
	if !whole {
		return s
	}
	s.Purpose, s.Links, s.Opener, s.Transcript = quote.Text(v.Purpose), v.Links, line(v.Opener), v.Transcript
	s.Settings = settingsOf(&v.Settings)
	for i := range v.Members {
		m := &v.Members[i]
		shown := member{
			Handle: string(m.Handle), Aliases: m.Aliases, Roles: m.Roles, Agent: m.Agent, Human: m.Human,
			Presence: m.Presence, Read: m.Read, Waiting: m.Waiting,
		}
		if m.Name != string(m.Handle) {
			shown.Name = line(m.Name)
		}
		s.Members = append(s.Members, shown)
	}
	return s
}

func settingsOf(s *room.Settings) *roomSettings {
	out := &roomSettings{
		Column: string(s.Column), Floor: string(s.Floor), Queue: string(s.Queue), Barrier: string(s.Barrier.Gate),
		Admission: string(s.Admission), Wake: string(s.Wake), RelayUser: s.RelayUser,
	}
	if s.Barrier.Gate == room.GateCount {
		out.Barrier = strconv.Itoa(s.Barrier.N)
	}
	if s.TurnLimit > 0 {
		out.TurnLimit = s.TurnLimit.String()
	}
	return out
}

// inSeconds cuts a time to what a reader needs.
func inSeconds(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.Truncate(time.Second)
	return &at
}

// briefly is the beginning of a longer text of others.
func briefly(s string) string {
	text, cut := head(s, maxBrief)
	if cut {
		text += "…"
	}
	return quote.Text(text)
}

// said is an entry of a room: a message, or a notice of what happened. Its
// fields are those of office.RoomEntry.
type said struct {
	Seq      int64        `json:"seq"`
	Kind     string       `json:"kind"` // said, whispered, joined, …
	Time     time.Time    `json:"time"`
	ID       string       `json:"id,omitempty"`
	From     string       `json:"from,omitempty"`
	To       []string     `json:"to,omitempty"`
	All      room.AllRule `json:"all,omitempty"`
	Private  bool         `json:"private,omitempty"`
	Relayed  string       `json:"relayed_by,omitempty"`
	Client   string       `json:"client_msg_id,omitempty"`
	Text     string       `json:"text"`
	Cut      bool         `json:"cut,omitempty"` // text is only a part
	Bytes    int64        `json:"bytes,omitempty"`
	Lost     string       `json:"lost,omitempty"`
	ForYou   bool         `json:"for_you,omitempty"`
	Proposal int          `json:"proposal,omitempty"`
	Choice   room.Choice  `json:"choice,omitempty"`
	Outcome  room.Outcome `json:"outcome,omitempty"`

	free bool // its text is somebody's own words
}

func saidOf(e *office.RoomEntry) said {
	s := said{
		Seq: e.Seq, Kind: strings.TrimPrefix(string(e.Kind), "room."), Time: e.Time.Truncate(time.Second), ID: string(e.ID), From: string(e.From),
		To: handleNames(e.To), All: e.All, Private: e.Private, Relayed: string(e.Relayed), Client: quote.Text(e.Client), Text: quote.Text(e.Text),
		Cut: e.Cut, Lost: line(e.Lost), ForYou: e.Addressed, free: e.Message,
	}
	if e.Cut {
		s.Bytes = e.Bytes
	}
	switch d := e.Detail.(type) {
	case room.Proposal:
		s.Proposal, s.free = d.Number, true
	case room.Voted:
		s.Proposal, s.Choice = d.Number, d.Choice
	case room.Decided:
		s.Proposal, s.Outcome = d.Number, d.Outcome
	case room.ClosedBy:
		s.free = d.Summary != ""
	case room.Departure:
		s.free = d.Reason != ""
	}
	return s
}

func saidList(list []office.RoomEntry) []said {
	out := make([]said, len(list))
	for i := range list {
		out[i] = saidOf(&list[i])
	}
	return out
}

// note says what the words of an entry are worth.
func (s *said) note() string {
	if s.From == string(room.User) && s.Relayed == "" {
		return quote.NoteHuman
	}
	return quote.NotePeer
}

// noteOfAll says the same of a list of entries, if there are words in it.
func noteOfAll(list []said) string {
	words := false
	for i := range list {
		words = words || list[i].free
	}
	if !words {
		return ""
	}
	return noteWords
}

// wrapped is an entry for clients whose model reads a result's text: words of
// others in an element that they cannot leave, what happened in a line.
func (s *said) wrapped() string {
	if !s.free {
		return fmt.Sprintf("[%d] %s", s.Seq, quote.Line(s.Text, maxLine))
	}
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix) // never fails, says its documentation
	w := quote.Wrapper{
		Suffix: hex.EncodeToString(suffix), ID: s.ID, From: s.From, Kind: s.Kind, Note: s.note(), Body: s.Text,
		Attrs: []quote.Attr{{Name: "number", Value: strconv.FormatInt(s.Seq, 10)}},
	}
	for _, a := range []quote.Attr{{Name: "to", Value: strings.Join(s.To, ", ")}, {Name: "relayed-by", Value: s.Relayed}, {Name: "sent", Value: s.Time.Format(time.RFC3339)}} {
		if a.Value != "" {
			w.Attrs = append(w.Attrs, a)
		}
	}
	if s.Proposal > 0 {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "proposal", Value: strconv.Itoa(s.Proposal)})
	}
	text := quote.Message(w)
	if s.Cut {
		text += fmt.Sprintf("\nonly a part of %d bytes: room with message=%d and an offset gives the rest", s.Bytes, s.Seq)
	}
	return text
}

// floor says in a line whose turn it is, and who is missing.
func (s *roomState) floor() string {
	at := func(list []string) string { return "@" + strings.Join(list, ", @") }
	text := ""
	switch {
	case s.Status == string(room.Closed):
		text = "The room is closed."
	case !s.Started && len(s.Missing) > 0 && s.More > 0 && s.More < len(s.Missing):
		text = fmt.Sprintf("Not begun: %d more of %s must come.", s.More, at(s.Missing))
	case !s.Started && len(s.Missing) > 0:
		text = "Not begun: it waits for " + at(s.Missing) + "."
	case !s.Started && s.More > 0:
		text = fmt.Sprintf("Not begun: %d more must come.", s.More)
	case !s.Started:
		text = "Not begun: its moderator begins it."
	case s.YourTurn:
		text = "You have the floor."
	case s.Holder != "":
		text = "@" + s.Holder + " has the floor."
	default:
		text = "Nobody has the floor: whoever speaks first has it."
	}
	if len(s.Queue) > 0 {
		text += " Next: " + at(s.Queue) + "."
	}
	if s.Unread > 0 {
		text += fmt.Sprintf(" %d unread.", s.Unread)
	}
	return text
}

// rehint puts a refusal's next step into the words of a toolset.
func rehint(err error, words *strings.Replacer) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	said := *f
	said.Hint = words.Replace(f.Hint)
	return &said
}
