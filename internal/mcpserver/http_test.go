package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
	"bureau/internal/proc"
)

// A server that was killed and restarted under its sessions: an old id is told
// to begin again, the same token is the same agent, and a repeated send is one
// message.
func TestHTTPRestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	bobs, _ := b.token("bob", 0)
	ana, bob := s.connect(text), s.connect(bobs)
	if ana.whoami() != "ana" || bob.whoami() != "bob" {
		t.Fatal("not who the tokens say")
	}
	letter := args{"to": "bob", "text": "once only", "client_id": "m-1"}
	first := told[sendOut](t, ana.tool("send", letter))
	// The control: without a restart the old id goes on working.
	if again := told[sendOut](t, ana.tool("send", letter)); again.ID != first.ID || !again.Repeated {
		t.Errorf("repeated: %+v, first %+v", again, first)
	}

	s.kill()
	s.start()
	old := ana.session
	if a := ana.tool("send", letter); a.status != http.StatusNotFound {
		t.Errorf("an id of before the restart: %+v", a)
	}
	ana.session = ""
	if a := ana.tool("send", letter); a.status != http.StatusBadRequest || !strings.Contains(a.body, "initialize") {
		t.Errorf("no session id: %+v", a)
	}
	if ana.begin(); ana.session == old {
		t.Error("the same session id again")
	}
	if again := told[sendOut](t, ana.tool("send", letter)); again.ID != first.ID || !again.Repeated {
		t.Errorf("after the restart: %+v, first %+v", again, first)
	}
	if ana.whoami() != "ana" {
		t.Error("another agent after the restart")
	}
	if r := told[rosterOut](t, bob.begin().tool("roster", nil)); r.Total != 3 {
		t.Errorf("agents: %+v", r.Agents)
	}
	if box := told[inboxOut](t, bob.tool("inbox", nil)); box.Total != 1 || box.Messages[0].ID != first.ID {
		t.Errorf("bob's inbox: %+v", box)
	}

	// The same through an orderly end.
	s.interrupt()
	s.start()
	if a := ana.tool("roster", nil); a.status != http.StatusNotFound {
		t.Errorf("an id of before the end: %+v", a)
	}
	if ana.begin().whoami() != "ana" {
		t.Error("another agent after the end")
	}
}

// A session that was deleted is gone; its agent is not here until it comes back.
func TestHTTPDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	ana := s.connect(text)
	ana.whoami()
	here := func() bool {
		v, err := b.Agent(context.Background(), "ana")
		return err == nil && v.Here
	}
	eventually(t, "ana is here", here)
	second := s.connect(text)
	if a := ana.send(ana.request(http.MethodDelete, PathMCP, nil)); a.status != http.StatusNoContent {
		t.Fatalf("delete: %+v", a)
	}
	if a := ana.tool("roster", nil); a.status != http.StatusNotFound {
		t.Errorf("use after delete: %+v", a)
	}
	if a := ana.send(ana.request(http.MethodDelete, PathMCP, nil)); a.status != http.StatusNotFound {
		t.Errorf("deleted twice: %+v", a)
	}
	if second.whoami() != "ana" || !here() {
		t.Error("her other connection went with the first")
	}
	if a := second.send(second.request(http.MethodDelete, PathMCP, nil)); a.status != http.StatusNoContent {
		t.Fatalf("delete: %+v", a)
	}
	eventually(t, "ana has left", func() bool { return !here() })
	if ana.begin().whoami() != "ana" || !here() {
		t.Error("she did not come back")
	}
}

// What a broken stream did not carry comes with the next one; over a restart a
// stream ends in order and cannot be gone on with.
func TestHTTPStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	ana := s.connect(text)

	// A call that waits, whose connection breaks in the middle.
	ctx, breakOff := context.WithCancel(context.Background())
	body := ana.rpc("tools/call", map[string]any{
		"name": "inbox", "arguments": args{"wait_seconds": 50}, "_meta": map[string]any{"progressToken": "p"},
	})
	id := ana.n
	res, err := http.DefaultClient.Do(ana.request(http.MethodPost, PathMCP, body).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	lines := bufio.NewScanner(res.Body)
	for last == "" || !strings.Contains(lines.Text(), "progress") {
		if !lines.Scan() {
			t.Fatal("the stream ended early")
		}
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			last = v
		}
	}
	breakOff()
	res.Body.Close()
	b.tell("ana", "while you were away")
	var a answer
	eventually(t, "the stream is gone on with", func() bool {
		a = ana.send(ana.request(http.MethodGet, PathMCP, nil, "Last-Event-Id", last))
		return a.status == http.StatusOK && a.body != ""
	})
	var reply struct{ ID int }
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil || reply.ID != id || !strings.Contains(a.body, "while you were away") {
		t.Errorf("the result that was missing: %s", a.body)
	}

	// A stream that is open when the server ends.
	open, err := http.DefaultClient.Do(ana.request(http.MethodGet, PathMCP, nil))
	if err != nil || open.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", open, err)
	}
	defer open.Body.Close()
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, open.Body); ended <- err }()
	s.interrupt()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the stream broke off: %v", err)
		}
	case <-time.After(patience):
		t.Error("the stream stays open after the server's end")
	}
	s.start()
	if a := ana.send(ana.request(http.MethodGet, PathMCP, nil, "Last-Event-Id", a.last)); a.status != http.StatusNotFound {
		t.Errorf("a stream of before the restart: %+v", a)
	}
	if a := ana.send(ana.request(http.MethodGet, PathMCP, nil)); a.status != http.StatusNotFound {
		t.Errorf("a session of before the restart: %+v", a)
	}
	ana.session = ""
	if a := ana.send(ana.request(http.MethodGet, PathMCP, nil)); a.status != http.StatusBadRequest {
		t.Errorf("a stream without a session: %+v", a)
	}
}

// idleForTest is how long a connection may be idle where a test waits for its
// end. On a busy machine that much time may pass between two calls of a test.
const idleForTest = 4 * time.Second

// A call that waits is not idle; a connection that is, ends, and so does the
// session of a token that has none left.
func TestHTTPIdle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_IDLE=" + idleForTest.String())
	text, _ := b.token("ana", 0)
	ana := s.connect(text)
	go func() {
		time.Sleep(idleForTest*2 + time.Second)
		b.tell("ana", "at last")
	}()
	a := ana.tool("inbox", args{"wait_seconds": 50})
	if box := told[inboxOut](t, a); box.Total != 1 {
		t.Errorf("the call that waited: %s", a.body)
	}
	if ana.whoami() != "ana" {
		t.Error("the connection did not live on")
	}
	eventually(t, "the connection has ended", func() bool {
		time.Sleep(idleForTest*2 + time.Second) // longer than the idle time and the pause between two looks
		return ana.tool("roster", nil).status == http.StatusNotFound
	})
	// Without connections, as in the newer era.
	ana.session, ana.version = "", firstStateless
	if ana.whoami() != "ana" {
		t.Error("the newer era does not know her")
	}
	eventually(t, "ana has left", func() bool {
		v, err := b.Agent(context.Background(), "ana")
		return err == nil && !v.Here
	})
}

// What is shown decides who it is, and without it nothing is served.
func TestHTTPTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	short, _ := b.token("short", time.Minute)
	bobs, view := b.token("bob", 0)
	ana, bob := s.connect(text), s.connect(bobs)

	other := *bob
	other.session = ana.session
	if a := other.tool("roster", nil); a.status != http.StatusForbidden {
		t.Errorf("bob in ana's session: %+v", a)
	}
	for _, bad := range []string{"", "x", text + "x", text[:len(text)-1], strings.Replace(bobs, string(view.ID), strings.Repeat("0", 26), 1), "bureau_" + text} {
		a := (&caller{s: s, token: bad}).post("initialize", nil)
		if a.status != http.StatusUnauthorized || !strings.Contains(a.body, "bureau token new") || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%q: %+v", bad, a)
		}
		if bad != "" && strings.Contains(a.body, bad) {
			t.Errorf("the answer repeats the token: %s", a.body)
		}
	}
	if (&caller{s: s, token: short}).begin().whoami() != "short" {
		t.Error("a token with an end")
	}
	user, err := b.Identify(context.Background(), office.Claim{Ancestors: []proc.ID{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.RevokeTokens(context.Background(), user, "bob"); err != nil {
		t.Fatal(err)
	}
	if a := bob.tool("roster", nil); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "revoked") {
		t.Errorf("after the token was revoked: %+v", a)
	}
	// Another token of the name takes the seat that is free since then.
	again, _ := b.token("bob", 0)
	if who := s.connect(again).whoami(); who != "bob" {
		t.Errorf("with a new token: %s", who)
	}
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Host", "evil.example", http.StatusForbidden},
		{"Host", "127.0.0.1.evil.example", http.StatusForbidden},
		{"Origin", "http://evil.example", http.StatusForbidden},
		{"Origin", "null", http.StatusForbidden},
		{"Origin", "http://localhost:3000", http.StatusOK},
		{"Host", "localhost", http.StatusOK},
		{"Host", "[::1]:80", http.StatusOK},
	} {
		req := ana.request(http.MethodGet, PathHealth, nil, c.header, c.value)
		if c.header == "Host" {
			req.Host = c.value
		}
		if a := ana.send(req); a.status != c.status {
			t.Errorf("%s %s: %+v", c.header, c.value, a)
		}
	}
	if a := ana.send(ana.request(http.MethodGet, "/elsewhere", nil)); a.status != http.StatusNotFound || !strings.Contains(a.body, PathMCP) {
		t.Errorf("another path: %+v", a)
	}
	big := ana.rpc("tools/call", map[string]any{"name": "send", "arguments": args{"to": "bob", "text": strings.Repeat("x", 5<<20)}})
	if a, err := ana.attempt(ana.request(http.MethodPost, PathMCP, big)); err == nil && a.status != http.StatusRequestEntityTooLarge && a.status != http.StatusBadRequest {
		t.Errorf("5 MiB: %d", a.status)
	}
	for _, junk := range []string{"", "{", "[]", "null", `{"method":7}`, "\x00"} {
		req := (&caller{s: s, token: text}).request(http.MethodPost, PathMCP, nil)
		req.Body = io.NopCloser(strings.NewReader(junk))
		if a := ana.send(req); a.status != http.StatusBadRequest {
			t.Errorf("%q: %+v", junk, a)
		}
	}
	if ana.whoami() != "ana" {
		t.Error("the server has suffered")
	}
}

// Both eras are the same agent, and two of them talk.
func TestHTTPTalk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	bobs, _ := b.token("bob", 0)
	ana := s.connect(text)
	bob := &caller{s: s, token: bobs, version: firstStateless}
	if ana.whoami() != "ana" || bob.whoami() != "bob" {
		t.Fatal("not who the tokens say")
	}
	answered := make(chan answer, 1)
	go func() {
		a, err := ana.attempt(ana.request(http.MethodPost, PathMCP, ana.rpc("tools/call", map[string]any{
			"name": "ask", "arguments": args{"to": "bob", "text": "ready?", "timeout_seconds": 50},
		})))
		if err != nil {
			t.Error(err)
		}
		answered <- a
	}()
	box := told[inboxOut](t, bob.tool("inbox", args{"wait_seconds": 50}))
	if box.Total != 1 {
		t.Fatalf("%+v", box)
	}
	read := told[readOut](t, bob.tool("read_message", args{"ids": []string{box.Messages[0].ID}}))
	if read.Receipt == "" {
		t.Errorf("no receipt: %+v", read)
	}
	told[sendOut](t, bob.tool("send", args{"answers": box.Messages[0].ID, "text": "yes", "receipt": read.Receipt}))
	if a := <-answered; !strings.Contains(a.body, "yes") {
		t.Errorf("%+v", a)
	}
	if box := told[inboxOut](t, bob.tool("inbox", nil)); box.Unread != 0 {
		t.Errorf("the receipt did not prove: %+v", box)
	}
	ana.session, ana.version = "", firstStateless
	if ana.whoami() != "ana" {
		t.Error("another agent in the newer era")
	}
	if r := told[rosterOut](t, ana.tool("roster", nil)); r.Total != 3 {
		t.Errorf("agents: %+v", r.Agents)
	}
}

// The library's own clients, over both transports.
func TestHTTPClients(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	for _, name := range []string{"streamable", "older"} {
		text, _ := b.token(name, 0)
		with := &http.Client{Transport: bearer(text)}
		var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: "http://" + s.at + PathMCP, HTTPClient: with}
		if name == "older" {
			transport = &mcp.SSEClientTransport{Endpoint: "http://" + s.at + PathSSE, HTTPClient: with}
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), transport, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c := &client{t: t, ClientSession: session}
		if r := do[rosterOut](c, "roster", nil); r.You.Name != name {
			t.Errorf("%s is %+v", name, r.You)
		}
		tools, err := session.ListTools(context.Background(), nil)
		if err != nil || len(tools.Tools) != 8 {
			t.Errorf("%s: %v, %v", name, tools, err)
		}
		b.tell(name, "hello")
		if box := do[inboxOut](c, "inbox", args{"wait_seconds": 50}); box.Total != 1 {
			t.Errorf("%s: %+v", name, box)
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "streamable" {
			continue // of the era without sessions: nobody is told that it ends
		}
		eventually(t, name+" has left", func() bool {
			v, err := b.Agent(context.Background(), name)
			return err == nil && !v.Here
		})
	}
}

// Tools that can be had over HTTP are the same as over standard input; an
// address that is taken is an error, once.
func TestHTTPServing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_TOOLS=multiagent")
	text, _ := b.token("ana", 0)
	ana := s.connect(text)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(ana.post("tools/list", nil).body), &list); err != nil || len(list.Result.Tools) != 8 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := NewHTTP(HTTPOptions{Env: os.Getenv, Tools: []string{"nonsense"}}); err == nil {
		t.Error("a toolset that there is none of")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(s.cmd.Env, listenVariable+"="+s.at)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strings.Count(string(out), "\n") != 1 {
		t.Errorf("a taken address: %v, %q", err, out)
	}
	_, port, _ := net.SplitHostPort(s.at)
	if n, err := strconv.Atoi(port); err != nil || n == 0 {
		t.Errorf("at %q", s.at)
	}
}
