package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/office"
)

// cut makes a call over a connection of its own and closes that before it reads
// anything: once the answer lies there, or, given something to do, while the
// call still waits.
func (c *caller) cut(tool string, in args, meanwhile func()) {
	t := c.s.b.t
	t.Helper()
	conn, err := net.Dial("tcp", c.s.at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := c.call(tool, in).Write(conn); err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile()
		return
	}
	// The answer is there, and all but its first byte is never read.
	_, err = conn.Read(make([]byte, 1))
	if err != nil {
		t.Fatal(err)
	}
}

// talkOver opens a conversation of A (ana) and B over HTTP, in which A has the
// floor and B has read what there is.
func talkOver(t *testing.T, version string) (b *bench, s *site, ana, bob *caller) {
	t.Helper()
	b = newBench(t)
	s = b.site("TEST_TOOLS=multiagent,room")
	first, view := b.token("ana", 0)
	second, _ := b.token("bob", 0)
	ana, bob = s.connect(first), s.connect(second)
	if version == firstStateless {
		bob.session, bob.version = "", version
	}
	told[json.RawMessage](t, ana.tool("init_conversation", args{"filepath": filepath.Join(view.Folder, "talk.md"), "participants": []string{"@A", "@B"}}))
	told[turnResult](t, ana.tool("join_conversation", args{"handle": "A", "timeout_seconds": 0}))
	told[turnResult](t, bob.tool("join_conversation", args{"handle": "B", "block": false}))
	bob.reads()
	return b, s, ana, bob
}

// reads calls as B and gives what that hands out.
func (c *caller) reads() []string {
	c.s.b.t.Helper()
	got := told[turnResult](c.s.b.t, c.tool("wait_for_turn", args{"handle": "B", "timeout_seconds": 0}))
	return got.texts()
}

// TestHTTPUnread: what did not come to a client is given again, in both eras of
// the protocol; what came is proved by the next call of the same session.
func TestHTTPUnread(t *testing.T) {
	for name, version := range map[string]string{"sessions": "2025-11-25", "stateless": firstStateless} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, ana, bob := talkOver(t, version)
			say := func(text string) {
				t.Helper()
				told[turnResult](t, ana.tool("send_message", args{"sender": "A", "content": text, "block": false}))
			}
			reply := func(text string) {
				t.Helper()
				told[turnResult](t, bob.tool("send_message", args{"sender": "B", "content": text, "block": false}))
			}
			say("@B one")
			// The connection is closed with the answer in it. Where the system ends such
			// a connection in order, nobody can tell that.
			if runtime.GOOS == "linux" {
				for range 2 {
					bob.cut("wait_for_turn", args{"handle": "B", "timeout_seconds": 0}, nil)
				}
			}
			if got := bob.reads(); !slices.Equal(got, []string{"@B one"}) {
				t.Fatalf("after answers that nobody read: %q", got)
			}
			// This one came, and the next call proves it.
			if got := bob.reads(); len(got) > 0 {
				t.Fatalf("given again: %q", got)
			}
			reply("@A yes")

			// It is closed while the call waits; the answer comes too late.
			told[turnResult](t, ana.tool("wait_for_turn", args{"handle": "A", "timeout_seconds": 5}))
			waits := func() bool {
				for _, m := range told[oldListOut](t, ana.tool("list_participants", nil)).Participants {
					if m.Handle == "@B" {
						return m.Waiting
					}
				}
				return false
			}
			bob.cut("wait_for_turn", args{"handle": "B", "timeout_seconds": 20}, func() { eventually(t, "bob waits", waits) })
			say("@B two")
			eventually(t, "bob waits no more", func() bool { return !waits() })
			if got := bob.reads(); !slices.Equal(got, []string{"@B two"}) {
				t.Fatalf("after a wait that was given up: %q", got)
			}

			if version == firstStateless {
				return
			}
			// A client that begins anew has read nothing of what the one before got.
			for range 2 {
				if got := bob.begin().reads(); !slices.Equal(got, []string{"@B two"}) {
					t.Fatalf("a new session: %q", got)
				}
			}
			if got := bob.reads(); len(got) > 0 {
				t.Fatalf("given again: %q", got)
			}
			reply("@A and you?")

			// A receipt proves in any session.
			say("@B three")
			got := told[turnResult](t, bob.tool("wait_for_turn", args{"handle": "B", "timeout_seconds": 5}))
			again := told[turnResult](t, bob.begin().tool("wait_for_turn", args{"handle": "B", "timeout_seconds": 0, "receipt": got.Receipt}))
			if got.Receipt == "" || len(again.NewMessages) > 0 {
				t.Errorf("%+v, then %+v", got, again)
			}
			if list, err := b.CompareTables(context.Background(), 10); err != nil || len(list) > 0 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// TestHTTPRoomReceipts: the toolset room has receipts, and they alone prove.
func TestHTTPRoomReceipts(t *testing.T) {
	t.Parallel()
	_, _, ana, bob := talkOver(t, "2025-11-25")
	told[turnResult](t, ana.tool("send_message", args{"sender": "A", "content": "@B one", "block": false}))
	waits := func(receipt string) roomOut {
		t.Helper()
		return told[roomOut](t, bob.tool("room_wait", args{"room": "talk", "wait_seconds": 0, "receipt": receipt}))
	}
	texts := func(r roomOut) (out []string) {
		for _, e := range r.Entries {
			if e.Text != "" && !strings.Contains(e.Text, "joined") {
				out = append(out, e.Text)
			}
		}
		return out
	}
	var got roomOut
	for range 3 {
		if got = waits(""); !slices.Contains(texts(got), "@B one") || got.Receipt == "" {
			t.Fatalf("%+v", got)
		}
	}
	if got = waits(got.Receipt); len(got.Entries) > 0 {
		t.Fatalf("%+v", got)
	}
}

// TestDeliveries: an answer counts as delivered when it was written to the end
// to a client that is there, whatever its form, and its connection lives on or
// ends in order.
func TestDeliveries(t *testing.T) {
	for _, form := range []string{"application/json", "text/event-stream"} {
		t.Run(form, func(t *testing.T) {
			const receipt = "0123456789ABCDEFGHJKMNPQRS"
			var l deliveries
			token, room := event.ID("token"), event.ID("room")
			hold, held, over := make(chan bool), make(chan bool), make(chan bool, 10)
			srv := &http.Server{ConnContext: withLink, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := &answering{ResponseWriter: w, ctx: r.Context(), link: linkOf(r.Context()), of: &l, token: token}
				defer func() { over <- true }()
				defer a.end()
				l.add(&delivery{token: token, session: "s", room: room, handle: "b", receipt: receipt})
				if r.URL.Path == "/waits" {
					held <- true
					<-hold
				}
				w.Header().Set("Content-Type", form)
				if form == "application/json" {
					io.WriteString(a, `{"receipt":"`+receipt+`"}`)
					return
				}
				io.WriteString(a, "event: message\ndata: {\"receipt\":\""+receipt+"\"}\n\n")
				_ = http.NewResponseController(a).Flush()
			})}
			at, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go srv.Serve(links{at})
			defer srv.Close()
			arrived := func(token event.ID, session, handle string) int {
				receipts, _ := l.arrived(token, session, room, name.Key(handle), "")
				return len(receipts)
			}
			proved := func() int { return arrived(token, "s", "b") }

			for _, keep := range []bool{true, false} {
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !keep}}
				res, err := client.Get("http://" + at.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				<-over
				if n := arrived(token, "another", "b") + arrived(token, "s", "c") + arrived("other", "s", "b"); n > 0 {
					t.Error("it proves what others were given")
				}
				if n := proved(); n != 1 || proved() != 0 {
					t.Errorf("an answer that was read proves %d (kept alive: %v)", n, keep)
				}
				client.CloseIdleConnections()
			}

			// It leaves while the answer is made.
			conn, err := net.Dial("tcp", at.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n")
			<-held
			if n := proved(); n != 0 {
				t.Errorf("an answer that is not made yet proves %d", n)
			}
			conn.Close()
			if runtime.GOOS != "linux" {
				return // there the close may show after the answer was written
			}
			hold <- true
			<-over
			if n := proved(); n != 0 {
				t.Errorf("an answer to nobody proves %d", n)
			}
		})
	}
}

// TestDeliveriesAreBounded: the oldest of a token are forgotten, and no other's.
func TestDeliveriesAreBounded(t *testing.T) {
	var l deliveries
	l.add(&delivery{token: "other", receipt: "R", link: &link{}})
	for range maxDeliveries + 10 {
		l.add(&delivery{token: "t", session: "s", receipt: "R", link: &link{}})
	}
	if list, _ := l.arrived("other", nil, "", "", ""); len(list) != 1 {
		t.Errorf("another token's: %d", len(list))
	}
	if l.drop("none"); len(l.list) != maxDeliveries {
		t.Errorf("%d are kept", len(l.list))
	}
	if l.drop("s"); len(l.list) != 0 {
		t.Errorf("%d are kept of a session that has ended", len(l.list))
	}
}

// TestLateAnswers is case M1 for a client that gives a call up without a word:
// what came after that is given once more by the next call.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	d.look("B")
	d.of("B").server.silent = 0 // every answer of a wait is late
	waits := later(context.Background(), d.of("B"), "wait_for_turn", args{"handle": "B", "timeout_seconds": 20})
	d.waiting("A", "B")
	d.sent("A", "@B the message of the 70th second", "@B")
	d.got(waits) // nobody reads it
	d.of("B").server.silent = maxSilent
	got := d.look("B")
	if !slices.Equal(got.texts(), []string{"@B the message of the 70th second"}) || !has(*got.SystemNotice, "once more") {
		t.Fatalf("%+v", got)
	}
	if got := d.look("B"); len(got.NewMessages) > 0 {
		t.Fatalf("%+v", got)
	}
}

// TestACancelledCallProvesNothing: a wait that was given up at the moment at which
// something came hands out a slice that the next call must not take for read, in
// whatever order the two are carried out.
func TestACancelledCallProvesNothing(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	d.look("B")
	d.look("B")
	s := d.of("B").server
	d.sent("A", "@B hello", "@B")
	look := func() []string {
		t.Helper()
		got := d.look("B")
		return got.texts()
	}
	// The offer is stored and the call is not over: nothing is proved by others.
	o, giveBack, err := s.desk.use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer giveBack()
	ctx, cancel := context.WithCancel(context.Background())
	who, err := s.identify(ctx, o, claimed{client: clientClaude})
	if err != nil {
		t.Fatal(err)
	}
	c := &call{s: s, o: o, caller: who, req: &mcp.CallToolRequest{}}
	at, err := c.talk(ctx, "debate", "B", "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.RoomWait(ctx, who, at.sitting, office.Waiting{Timeout: -1})
	if err != nil || w.Receipt == "" {
		t.Fatalf("%+v, %v", w, err)
	}
	c.handsOut(w.Receipt, w.Room.ID, "b", "")
	if got := look(); !slices.Equal(got, []string{"@B hello"}) {
		t.Fatalf("before the call was answered: %q", got)
	}
	cancel()
	c.answered(ctx) // it was given up first
	if list, _ := s.delivered.arrived("", c.session(), w.Room.ID, "b", ""); len(list) != 0 {
		t.Errorf("a call that was given up proves %d", len(list))
	}
	if got := look(); len(got) > 0 {
		t.Fatalf("given again: %q", got)
	}
}
