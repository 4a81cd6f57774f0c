package hook

import (
	"regexp"
	"strings"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
)

// command is a command of ours that a text asks its reader to run.
var command = regexp.MustCompile("bureau (--as|inbox|read|ack|answer|ask|claim|claims|release|takeover|who|room) ?")

// TestASubagentIsToldOfToolsOnly: its shell acts as its session, which has none
// of its mail. The session itself is told of the tool first.
func TestASubagentIsToldOfToolsOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	sub := []any{"agent_id", "a0123456789abcdef", "agent_type", "Explore"}
	c.event("UserPromptSubmit", "prompt", "go").silent()
	c.own(sub...)
	who, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a0123456789abcdef", "Explore")
	d.must(err)
	letter := func(to string) office.Letter {
		l := office.Letter{To: []string{to}, Body: []byte("the words " + strings.Repeat("x", 9000)), AckWanted: true, Kind: mail.Question}
		for range filesShown + 2 {
			l.Files = append(l.Files, office.File{Name: "f", Content: []byte("x")})
		}
		return l
	}
	q, mine := d.letter(letter(string(who.Agent.Name))), d.letter(letter(c.name()))
	d.send(string(who.Agent.Name), "one more")
	for _, row := range []struct {
		id  string
		s   said
		sub bool
	}{{q.Short, c.event("PostToolBatch", sub...), true}, {mine.Short, c.event("PostToolBatch"), false}} {
		row.s.has("wanted: read_message tool with ack=["+row.id+"]", "2 more: read_message tool with ids=["+row.id+"]",
			"wanted: send tool with answers="+row.id, "the rest: read_message tool with ids=["+row.id+"]")
		if found := command.FindString(row.s.Context); (found == "") != row.sub {
			t.Errorf("the subagent's: %v, names %q: %s", row.sub, found, row.s.Context)
		}
	}
	c.event("Stop").matches("Answer with the send tool .*, or `bureau answer ")
	// What was read and is to be acknowledged: the tool that can.
	c.event("UserPromptSubmit", "prompt", "more").has("to be read or acknowledged: call the inbox tool, and read_message with ids or ack, or run `bureau inbox`")

	// A room names the tools alone, too.
	for _, why := range []string{office.CallInvited, office.CallTurn, office.CallVote} {
		call := &office.RoomCall{Name: "debate", Handle: "x", Why: []string{why}, Yours: true, Unread: 3}
		for _, here := range []bool{true, false} {
			call.Here = here
			if got := roomLine(call, 0, style{sub: true}); command.MatchString(got) || !strings.Contains(got, "the room_") {
				t.Errorf("%s", got)
			}
		}
	}
	// So does a denial.
	claims := []claim.Block{
		{Name: "bob", Standing: claim.Active, Claim: "01ARZ3NDEKTSV4RRFFQ69G5FAV", YourClaims: []event.ID{"01ARZ3NDEKTSV4RRFFQ69G5FAW"}},
		{Name: "bob", Standing: claim.Stale, Claim: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Lapsed: true}, {Name: "bob", Own: true, Claim: "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{Name: "bob", Own: true, Auto: true, Claim: "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
	}
	for i := range claims {
		for _, agent := range []string{"", "a1"} {
			h := &visit{io: IO{Now: d.now}, edit: &edit{paths: []string{"/app/x.go"}}, fields: fields{agent: agent}}
			text := h.refusal(fault.New(fault.Conflict, "held").WithDetail(claims[i : i+1]))
			if found := command.FindString(text); (found == "") != (agent != "") || !strings.Contains(text, "tool with ") {
				t.Errorf("for %q it names %q: %s", agent, found, text)
			}
		}
	}
}
