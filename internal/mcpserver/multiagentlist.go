package mcpserver

import (
	"context"

	"bureau/internal/office"
	"bureau/internal/room"
)

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
