//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
	"bureau/internal/paper/transcript"
)

// The sessions of the debates.
const (
	bobID   = "bbbbbbbb-2222-4333-8444-555555555555"
	carlaID = "cccccccc-2222-4333-8444-555555555555"
)

// speaker is the model of a member: at each of its turns it makes the next of
// its moves, once it votes, and else it waits, until the room is closed.
type speaker struct {
	name, session string
	moves         []mockapi.Block
	vote, wait    mockapi.Block

	mu    sync.Mutex
	voted bool
}

var (
	turnCame   = regexp.MustCompile(`"status": ?"your_turn"`)
	roomClosed = regexp.MustCompile(`"status": ?"closed"`)
)

// rule is the speaker as the scripted model's.
func (s *speaker) rule(begin mockapi.Block) mockapi.Rule {
	return mockapi.Rule{Name: s.name, Times: -1, When: mockapi.When{Session: s.session}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch last := r.Last(); {
		case strings.Contains(last, "TAKE-PART"):
			return []mockapi.Block{begin}
		case roomClosed.MatchString(last):
			return []mockapi.Block{mockapi.Text(s.name + " is through")}
		case !s.voted && strings.Contains(last, "PROPOSAL-8"):
			s.voted = true
			return []mockapi.Block{s.vote}
		case turnCame.MatchString(last) && len(s.moves) > 0:
			move := s.moves[0]
			s.moves = s.moves[1:]
			return []mockapi.Block{move}
		}
		return []mockapi.Block{s.wait}
	}}}
}

// byTools is a speaker who uses the tools of the set room.
func byTools(name, session, vote string, moves ...mockapi.Block) *speaker {
	return &speaker{
		name: name, session: session, moves: moves, wait: mockapi.Tool("mcp__bureau__room_wait", map[string]any{"room": "debate"}),
		vote: mockapi.Tool("mcp__bureau__room_vote", map[string]any{"choice": vote}),
	}
}

func says(text string) mockapi.Block {
	return mockapi.Tool("mcp__bureau__room_say", map[string]any{"text": text, "wait_seconds": 45})
}

// byCommand is a speaker who uses the command line, as a session without those
// tools does.
func byCommand(name, session, vote string, lines ...string) *speaker {
	command := func(words string) mockapi.Block { return bash(words).Reply[0] }
	s := &speaker{name: name, session: session, wait: command("bureau room wait debate --timeout 45s --json"), vote: command("bureau room vote debate " + vote + " --json")}
	for _, l := range lines {
		s.moves = append(s.moves, command("bureau room say debate '"+l+"' --wait --timeout 45s --json"))
	}
	return s
}

// roomState is a room as the person sees it.
type roomState struct {
	Holder    string
	Present   []string
	Proposals []struct {
		Number int
		Votes  []struct{ By, Choice string }
	}
}

func (d *Desk) room(name string) (v roomState) {
	d.T.Helper()
	if text := d.Run("bureau", "room", "show", name, "--json"); json.Unmarshal([]byte(text), &v) != nil {
		d.T.Fatalf("bureau room show: %s", text)
	}
	return v
}

// dumps shows what the models were asked if the test fails.
func (d *Desk) dumps() {
	d.T.Helper()
	d.T.Cleanup(func() {
		if d.T.Failed() {
			d.Dump()
		}
	})
}

// history gives what members said in a room, oldest first, as the person sees
// it.
func (d *Desk) history(name string) (texts []string) {
	d.T.Helper()
	var out struct {
		Entries []struct {
			From, Text string
			Message    bool
		}
	}
	if text := d.Run("bureau", "room", "history", name, "--json", "--limit", "200"); json.Unmarshal([]byte(text), &out) != nil {
		d.T.Fatalf("bureau room history: %s", text)
	}
	for _, e := range out.Entries {
		if e.Message {
			texts = append(texts, e.From+": "+e.Text)
		}
	}
	return texts
}

// Three headless sessions, two by the tools and one by the command line, hold a
// debate of six turns with a whisper and a vote; the person takes part at a
// terminal. The whisper is in no request of whom it was not for.
func TestADebate(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.dumps()
	join := mockapi.Tool("mcp__bureau__room_join", map[string]any{"room": "debate", "wait_seconds": 45})
	a := byTools("ana", ana, "yes",
		says("@bob @carla TURN-1 tabs or spaces?"),
		says("@user @carla TURN-3 what does the person say?"),
		mockapi.Tool("mcp__bureau__room_vote", map[string]any{"propose": "PROPOSAL-8 we use tabs"}))
	b := byTools("bob", bobID, "yes",
		mockapi.Tool("mcp__bureau__room_whisper", map[string]any{"to": []string{"ana"}, "text": "WHISPER-2 I am for tabs", "wait_seconds": 45}),
		says("@ana TURN-4 tabs are fine"))
	c := byCommand("carla", carlaID, "no", "@bob TURN-2 spaces", "@ana TURN-6 put it to the vote")
	d.API.Add(a.rule(join), b.rule(join), c.rule(bash("bureau room join debate --timeout 45s --json").Reply[0]))
	d.Run("bureau", "room", "open", "debate", "--topic", "Tabs or spaces?", "--members", "ana,bob,carla,user", "--first", "ana", "--barrier", "declared", "--transcript", "debate.md")
	d.Run("bureau", "room", "join", "debate", "--no-wait")
	var runs []*Headless
	for _, s := range []*speaker{a, b, c} {
		d.Extra = []string{"BUREAU_NAME=" + s.name}
		runs = append(runs, d.Background("TAKE-PART", append(d.toolset("room"), "--session-id", s.session)...))
	}
	d.Extra = nil
	d.eventually("it is the person's turn", func() bool { return d.room("debate").Holder == "user" })
	d.Run("bureau", "room", "say", "debate", "@carla TURN-5 decide among yourselves", "--as", "user")
	d.eventually("the three have voted", func() bool {
		v := d.room("debate")
		return len(v.Proposals) == 1 && len(v.Proposals[0].Votes) == 3
	})
	d.Run("bureau", "room", "vote", "debate", "yes", "--as", "user")
	d.Run("bureau", "room", "close", "debate", "--summary", "Tabs, by three to one.", "--as", "user")
	for i, r := range runs {
		if got, want := r.Wait(t), []string{"ana", "bob", "carla"}[i]+" is through"; got != want {
			t.Errorf("the client said %q, want %q", got, want)
		}
	}
	want := []string{
		"ana: @bob @carla TURN-1 tabs or spaces?", "bob: WHISPER-2 I am for tabs", "carla: @bob TURN-2 spaces", "ana: @user @carla TURN-3 what does the person say?",
		"bob: @ana TURN-4 tabs are fine", "user: @carla TURN-5 decide among yourselves", "carla: @ana TURN-6 put it to the vote",
	}
	if got := d.history("debate"); !slices.Equal(got, want) {
		t.Errorf("said was\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	heard := map[string]bool{}
	for _, r := range d.API.Requests() {
		whispered := strings.Contains(r.Any(), "WHISPER-2")
		heard[r.Session] = heard[r.Session] || whispered
		if whispered && strings.Contains(r.Session, carlaID) {
			t.Errorf("request %d of carla's holds the whisper", r.N)
		}
	}
	if !heard[ana] || !heard[bobID] {
		t.Errorf("the whisper reached %v", heard)
	}
	doc, err := transcript.Parse(filepath.Join(d.Project, "debate.md"))
	if err != nil || doc.Torn {
		t.Fatalf("the transcript: %+v, %v", doc, err)
	}
	kinds, said := map[transcript.Kind]int{}, []string{}
	for _, e := range doc.Entries {
		kinds[e.Kind]++
		if e.Kind == transcript.Message {
			said = append(said, e.From+": "+e.Body)
		}
	}
	public := slices.Delete(slices.Clone(want), 1, 2)
	if !slices.Equal(said, public) || kinds[transcript.Whisper] != 0 || kinds[transcript.Proposal] != 1 || kinds[transcript.Vote] != 4 || kinds[transcript.Result] != 1 || kinds[transcript.Close] != 1 {
		t.Errorf("the transcript has %v\n%s", kinds, strings.Join(said, "\n"))
	}
}

// A session that sits idle in a terminal learns that it is invited, and later
// that its turn has come, and holds no call: it is rung, and speaks.
func TestAnIdleMemberSpeaks(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	d.dumps()
	d.API.Add(
		mockapi.Rule{Name: "joins", When: mockapi.When{Last: "as @bob: you are invited"}, Turn: mockapi.Call("mcp__bureau__room_join", map[string]any{"room": "debate"})},
		mockapi.Rule{Name: "speaks", When: mockapi.When{Last: "as @bob: it is your turn"}, Turn: mockapi.Call("mcp__bureau__room_say", map[string]any{"room": "debate", "text": "@user BODY-32 here I am"})},
	)
	w := d.Terminal("bob", "", d.toolset("room")...)
	d.eventually("bob is here", func() bool { return d.agents()["bob"] != "" && len(d.Sessions()) == 1 })
	time.Sleep(2 * time.Second) // a session that has just begun is left alone for a moment
	d.Run("bureau", "room", "open", "debate", "--topic", "anything", "--members", "bob,user", "--barrier", "1", "--first", "user")
	d.Run("bureau", "room", "join", "debate", "--no-wait")
	d.eventually("bob is in the room", func() bool { return slices.Contains(d.room("debate").Present, "bob") })
	d.idle()
	before := len(d.API.Requests())
	if d.room("debate").Holder != "user" {
		d.Run("bureau", "room", "skip", "debate", "--to", "user")
	}
	now := time.Now()
	d.Run("bureau", "room", "say", "debate", "@bob BODY-31 are you there?")
	r := d.Request(has("as @bob: it is your turn", "BODY-31"))
	t.Logf("woken after %v", r.At.Sub(now).Round(time.Millisecond))
	if !strings.Contains(r.Last(), "room debate waits for you") {
		t.Errorf("not rung, but\n%s", r.Last())
	}
	d.eventually("bob has spoken", func() bool { return slices.Contains(d.history("debate"), "bob: @user BODY-32 here I am") })
	d.idle()
	time.Sleep(3 * time.Second)
	if n := len(d.API.Requests()) - before; n != 2 {
		t.Errorf("%d requests for one turn", n)
		d.Dump()
	}
	if screen := w.Screen(); !strings.Contains(screen, "Message from @bureau") {
		t.Errorf("the person saw\n%s", screen)
	}
}

// A member is killed while it has the floor and thinks: whoever is next goes on.
func TestASpeakerIsKilled(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.dumps()
	join := mockapi.Tool("mcp__bureau__room_join", map[string]any{"room": "debate", "wait_seconds": 45})
	b := byTools("bob", bobID, "yes", says("@user TURN-2 ana is gone"))
	d.API.Add(
		mockapi.Rule{Name: "ana thinks", When: mockapi.When{Session: ana, Last: `"your_turn"`}, Turn: mockapi.Turn{Reply: []mockapi.Block{mockapi.Text("late")}, Delay: patience}},
		mockapi.Rule{Name: "ana waits", Times: -1, When: mockapi.When{Session: ana}, Turn: mockapi.Turn{Reply: []mockapi.Block{join}}},
		b.rule(join),
	)
	d.Run("bureau", "room", "open", "debate", "--members", "ana,bob,user", "--first", "user", "--barrier", "declared")
	d.Run("bureau", "room", "join", "debate", "--no-wait")
	d.Extra = []string{"BUREAU_NAME=ana"}
	killed := d.Background("TAKE-PART", append(d.toolset("room"), "--session-id", ana)...)
	d.Extra = []string{"BUREAU_NAME=bob"}
	run := d.Background("TAKE-PART", append(d.toolset("room"), "--session-id", bobID)...)
	d.Extra = nil
	d.eventually("both are there", func() bool { return len(d.room("debate").Present) == 3 })
	d.Run("bureau", "room", "say", "debate", "@ana @bob TURN-1 go on")
	d.Request(func(r *mockapi.Request) bool { return r.Session == ana && strings.Contains(r.Last(), "TURN-1") })
	if got := d.room("debate").Holder; got != "ana" {
		t.Fatalf("%s has the floor", got)
	}
	if err := killed.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.eventually("bob has spoken", func() bool { return slices.Contains(d.history("debate"), "bob: @user TURN-2 ana is gone") })
	if v := d.room("debate"); v.Holder != "user" || slices.Contains(v.Present, "ana") {
		t.Errorf("%+v", v)
	}
	d.Run("bureau", "room", "close", "debate")
	if got := run.Wait(t); got != "bob is through" {
		t.Errorf("the client said %q", got)
	}
}

// A transcript with whispers is not read by a session; another file is.
func TestATranscriptWithWhispersIsNotRead(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.dumps()
	for _, name := range []string{"secret", "public"} {
		args := []string{"room", "open", name, "--topic", "TOPIC-OF-" + name, "--members", "ana,user", "--transcript", name + ".md"}
		if name == "secret" {
			args = append(args, "--with-whispers")
		}
		d.Run("bureau", args...)
	}
	read := func(name string) mockapi.Block {
		return mockapi.Tool("Read", map[string]any{"file_path": filepath.Join(d.Project, name+".md")})
	}
	search := mockapi.Tool("Grep", map[string]any{"pattern": "TOPIC", "path": filepath.Join(d.Project, "secret.md"), "output_mode": "content"})
	d.API.Add(mockapi.Rule{Name: "reads", When: mockapi.When{Last: "READ-THEM"}, Turn: mockapi.Turn{Reply: []mockapi.Block{read("secret"), read("public"), search}}})
	d.Print("READ-THEM")
	r := d.Request(has("tool_result"))
	if last := r.Last(); strings.Contains(last, "TOPIC-OF-secret") || strings.Count(last, "whispers in it") < 1 || !strings.Contains(last, "TOPIC-OF-public") {
		t.Errorf("the session read\n%s", last)
	}
	if text, err := os.ReadFile(filepath.Join(d.Project, "secret.md")); err != nil || !strings.Contains(string(text), "TOPIC-OF-secret") {
		t.Errorf("the person reads %q, %v", text, err)
	}
}
