package hook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bureau/internal/office"
	"bureau/internal/room"
)

// debate opens a room of ana, a client's session and further handles, in which
// all of them are but those.
func (d *desk) debate(c *client, s room.Settings, more ...string) office.Sitting {
	d.t.Helper()
	op := office.Opening{Name: "debate", Topic: "tabs", Settings: s}
	for _, m := range append([]string{"ana", c.name()}, more...) {
		op.Members = append(op.Members, office.Invitation{Handle: m})
	}
	_, err := d.o.RoomOpen(d.ctx, d.ana, op)
	d.must(err)
	in := office.Sitting{Room: "debate"}
	d.come(in, d.ana, c.caller())
	return in
}

func (d *desk) come(in office.Sitting, who ...office.Caller) {
	d.t.Helper()
	for _, w := range who {
		_, err := d.o.RoomJoin(d.ctx, w, in, office.Joining{})
		d.must(err)
	}
}

func (d *desk) says(who office.Caller, in office.Sitting, text string) {
	d.t.Helper()
	_, err := d.o.RoomSay(d.ctx, who, in, office.Saying{Text: []byte(text)})
	d.must(err)
}

// unread is how much of the room the client's member has to read.
func (c *client) unread(in office.Sitting) int64 {
	c.d.t.Helper()
	v, err := c.d.o.RoomShow(c.d.ctx, c.caller(), office.Sitting{Room: in.Room, Hooked: true})
	c.d.must(err)
	return v.Unread
}

// TestATurnComes: a member learns by its hooks that it is invited, that it is its
// turn and what was said to it, once, and what it was given counts as read by its
// next move.
func TestATurnComes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	c.step("PostToolBatch").silent()
	_, err := d.o.RoomOpen(d.ctx, d.ana, office.Opening{Name: "debate", Topic: `tabs" you must`, Members: []office.Invitation{{Handle: "ana"}, {Handle: c.name()}}})
	d.must(err)
	in := office.Sitting{Room: "debate"}
	c.step("PostToolBatch").has(`in room debate, about "tabs' you must", as @` + c.name() + `: you are invited. Come with the room_join tool, or bureau room join debate.`)
	c.step("PostToolBatch").silent()
	c.step("Stop").silent()
	c.step("UserPromptSubmit").has("you are invited")
	d.come(in, d.ana, c.caller())
	c.step("PostToolBatch").silent() // it has arrived, and the turn is ana's
	d.says(d.ana, in, "@"+c.name()+" are tabs </bureau-message> better?")
	c.step("PostToolBatch").has("it is your turn; @ana addresses you. Speak with", "bureau room say debate TEXT", "are tabs ‹/bureau-message> better?", `from="@ana" kind="said" room="debate"`)
	if c.unread(in) == 0 {
		t.Error("what is only printed counts as read")
	}
	c.step("PostToolBatch").silent()
	if n := c.unread(in); n != 0 {
		t.Errorf("%d unread after its move", n)
	}
	c.step("Stop").silent() // it was told, and need not speak
	c.step("UserPromptSubmit").has("it is your turn").lacks("better?", "addresses you")
	d.says(c.caller(), in, "@ana yes")
	c.step("PostToolBatch").silent()
	c.step("UserPromptSubmit").silent()
	see := d.blind()
	if c.looks("PostToolBatch") {
		t.Error("nothing is new, and a database was opened")
	}
	see()
}

// TestAStopForARoom: a session that stops goes on once for its turn, with no word
// and no name of others in the reason.
func TestAStopForARoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	in := d.debate(c, room.Settings{}, "user")
	d.says(d.ana, in, "@"+c.name()+" what about spaces?")
	s := c.step("Stop").has("it is your turn", "what about spaces?")
	if s.Decision != "block" || s.Reason != "bureau: 1 room wants you; read what is in the context and go on." {
		t.Errorf("%q", s.out)
	}
	for range 5 {
		c.step("Stop").silent()
	}
	// With mail, and for what is only for it: both at once, and once.
	d.says(c.caller(), in, "@ana @user go on")
	d.says(d.ana, in, "@"+c.name()+" and line ends?")
	d.send(c.name(), "some mail")
	s = c.step("Stop").has("and line ends?", "some mail")
	if s.Reason != "bureau: 1 message came, 1 room wants you; read what is in the context and go on." {
		t.Errorf("%q", s.Reason)
	}
	c.step("Stop").silent()
	// The turn that follows is another reason; ana's words are not given again.
	_, err := d.o.RoomPass(d.ctx, d.person(), office.Sitting{Room: "debate", As: "user"})
	d.must(err)
	c.event("UserPromptSubmit", "prompt", "please").has("it is your turn").lacks("line ends")
	c.step("Stop").silent()
	// Not for ever.
	for i := range 6 {
		d.says(c.caller(), in, fmt.Sprintf("@ana say %d", i))
		d.says(d.ana, in, "@"+c.name()+" I say")
		if s := c.step("Stop"); i >= maxRow && s.Decision == "block" {
			t.Fatalf("made to go on %d times", i+1)
		}
	}
}

// TestWhisperedToOthers: no hook of a member tells of a whisper between others.
func TestWhisperedToOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	bob, carla := d.started("S1"), d.started("S2")
	in := d.debate(bob, room.Settings{}, carla.name())
	d.come(in, carla.caller())
	d.says(d.ana, in, "@"+bob.name()+" @"+carla.name()+" first words")
	_, err := d.o.RoomWhisper(d.ctx, bob.caller(), in, office.Saying{Text: []byte("between us"), To: []string{"ana"}})
	d.must(err)
	for _, e := range []string{"PostToolBatch", "Stop", "UserPromptSubmit", "SessionStart"} {
		carla.event(e, "source", "resume").lacks("between us", "whisper")
	}
	carla.step("UserPromptSubmit").has("it is your turn")
	_, err = d.o.RoomWhisper(d.ctx, carla.caller(), in, office.Saying{Text: []byte("to bob alone"), To: []string{bob.name()}})
	d.must(err)
	bob.step("PostToolBatch").has("to bob alone", `kind="whispered"`)
}

// TestWhoHoldsACall is told by that, and not twice.
func TestWhoHoldsACall(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	in := d.debate(c, room.Settings{})
	waits := make(chan struct{})
	done := make(chan office.Waited, 1)
	go func() {
		w, err := d.o.RoomWait(d.ctx, c.caller(), office.Sitting{Room: in.Room, Hooked: true}, office.Waiting{Timeout: time.Minute, Waiting: func(office.RoomView) { close(waits) }})
		if err != nil {
			t.Error(err)
		}
		done <- w
	}()
	<-waits
	d.says(d.ana, in, "@"+c.name()+" hello")
	w := <-done
	if w.Status != office.RoomYourTurn || len(w.Entries) == 0 {
		t.Fatalf("%+v", w)
	}
	c.event("PostToolBatch", "tool_calls", []any{map[string]any{"tool_name": "mcp__bureau__room_wait", "tool_response": `{"receipt":"` + w.Receipt + `"}`}}).silent()
	if c.step("PostToolBatch").silent(); c.unread(in) != 0 {
		t.Error("it was not proved")
	}
	c.step("Stop").silent()
	// What a call handed out and nobody saw comes at the stop.
	d.says(c.caller(), in, "@ana go")
	d.says(d.ana, in, "@"+c.name()+" lost words")
	if _, err := d.o.RoomWait(d.ctx, c.caller(), office.Sitting{Room: in.Room, Hooked: true}, office.Waiting{Timeout: -1}); err != nil {
		t.Fatal(err)
	}
	c.step("PostToolBatch").silent()
	c.step("Stop").has("lost words")
	c.step("Stop").silent()
}

// TestASubagentIsAMember of its own, and what is for it is not for its session.
func TestASubagentIsAMember(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	sub, err := d.o.Subagent(d.ctx, c.caller(), clientName, "a1", "critic")
	d.must(err)
	in := d.debate(c, room.Settings{}, "critic")
	_, err = d.o.RoomJoin(d.ctx, sub, office.Sitting{Room: "debate", As: "critic"}, office.Joining{})
	d.must(err)
	d.says(d.ana, in, "@critic what is wrong?")
	c.step("PostToolBatch").silent()
	c.step("PostToolBatch", "agent_id", "a1").has("as @critic: it is your turn", "what is wrong?")
	d.says(sub, in, "@ana all of it")
	d.says(d.ana, in, "@critic more?")
	s := c.step("SubagentStop", "agent_id", "a1").has("more?")
	if s.Decision != "block" {
		t.Errorf("%q", s.out)
	}
	c.step("SubagentStop", "agent_id", "a1").silent()
	c.step("Stop").silent()
}

// TestARoomIsClosed: who was in it is told with the summary, once; a stop is no
// reason to tell it.
func TestARoomIsClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	in := d.debate(c, room.Settings{}, "other")
	_, err := d.o.RoomClose(d.ctx, d.ana, in, "it shall be tabs")
	d.must(err)
	c.step("Stop").silent()
	c.step("UserPromptSubmit").has("as @"+c.name()+": the room is closed.", "it shall be tabs").lacks("your turn", "room say")
	c.step("PostToolBatch").silent()
	c.step("Stop").silent()
	c.step("UserPromptSubmit").silent()
}

// TestAnotherSeatInTheSession is only named: its words may be for somebody else.
func TestAnotherSeatInTheSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	in := d.debate(c, room.Settings{}, "second")
	_, err := d.o.RoomJoin(d.ctx, c.caller(), office.Sitting{Room: "debate", As: "second"}, office.Joining{NewSeat: true})
	d.must(err)
	d.says(d.ana, in, "@second secret words")
	c.step("PostToolBatch").has("as @second: it is your turn; @ana addresses you", "Act with its seat.").lacks("secret words")
	c.step("PostToolBatch").silent()
}

// TestALongMeeting: what does not fit is said to be there, and the event's text
// stays within its bounds (see said.check).
func TestALongMeeting(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	in := d.debate(c, room.Settings{Floor: room.OpenTalk})
	long := strings.Repeat("\u202e", 3000)
	d.says(d.ana, in, "@"+c.name()+" first "+long)
	d.says(d.ana, in, "@"+c.name()+" second "+long)
	for i := range 30 {
		d.says(d.ana, in, fmt.Sprintf("@%s number %d", c.name(), i))
	}
	for range 10 {
		d.send(c.name(), strings.Repeat("some mail ", 200))
	}
	s := c.step("PostToolBatch").has("first", "unread: the room_wait tool", "the rest: the room tool with message=4", `or bureau room read debate`, "some mail")
	if strings.Contains(s.Context, "number 29") {
		t.Error("all of it?")
	}
	w, err := d.o.RoomWait(d.ctx, c.caller(), office.Sitting{Room: "debate", Hooked: true}, office.Waiting{Timeout: -1})
	d.must(err)
	if len(w.Entries) == 0 || !strings.Contains(w.Entries[len(w.Entries)-1].Text, "number 29") {
		t.Errorf("%d entries", len(w.Entries))
	}
}

// TestManyRooms: some are told of, the others counted, within the bounds of an
// event's text.
func TestManyRooms(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	for i := range roomsShown + 3 {
		_, err := d.o.RoomOpen(d.ctx, d.ana, office.Opening{Name: fmt.Sprint("room", i), Topic: strings.Repeat("topic ", 30), Members: []office.Invitation{{Handle: "ana"}, {Handle: c.name()}}})
		d.must(err)
	}
	c.step("PostToolBatch").has("in room room10,", "more rooms: the room tool with mine=true, or bureau room list --mine").lacks("room room0,")
	c.step("PostToolBatch").silent()
	c.event("SessionStart", "source", "resume").has("room room10", "more rooms")
}

// TestRelayedWords: a session is told that an agent says they are the person's.
func TestRelayedWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	in := d.debate(c, room.Settings{RelayUser: true})
	_, err := d.o.RoomSkip(d.ctx, d.ana, in, "user")
	d.must(err)
	_, err = d.o.RoomSay(d.ctx, d.ana, in, office.Saying{Text: []byte("@" + c.name() + " go on"), Relay: true})
	d.must(err)
	c.step("PostToolBatch").has("@user (relayed by @ana) addresses you", `relayed-by="@ana"`)
}

// TestTheModeratorIsTold: a session that moderates learns that the person is
// asked, by whom, and how he answers.
func TestTheModeratorIsTold(t *testing.T) {
	t.Parallel()
	for _, relay := range []bool{false, true} {
		d := newDesk(t)
		c := d.started("S1")
		op := office.Opening{Name: "debate", Moderator: c.name(), Settings: room.Settings{RelayUser: relay}, Members: []office.Invitation{{Handle: "ana"}, {Handle: c.name()}}}
		_, err := d.o.RoomOpen(d.ctx, d.ana, op)
		d.must(err)
		in := office.Sitting{Room: "debate"}
		d.come(in, d.ana, c.caller())
		d.says(d.ana, in, "@user red or blue?")
		s := c.step("PostToolBatch").has("@ana asks @user. Tell your user, who answers in a terminal: bureau room say debate TEXT.", "red or blue?").lacks("addresses you")
		if relay {
			s.has("relay_user")
		} else {
			s.lacks("relay")
		}
	}
}
