package mcpserver

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
	"bureau/internal/proc"
)

func (b *bench) revoke(word string) {
	b.t.Helper()
	user, err := b.Identify(context.Background(), office.Claim{Ancestors: []proc.ID{}})
	if err == nil {
		_, err = b.RevokeTokens(context.Background(), user, word)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// A token that is revoked while its calls wait and its streams are open: they
// end, and tell nothing that came later.
func TestHTTPRevokedInUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	ana := s.connect(text)
	newer := &caller{s: s, token: text, version: firstStateless}

	said := make(chan string, 4)
	listen := func(c *caller, req *http.Request) {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			said <- ""
			return
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		said <- string(raw)
	}
	wait := map[string]any{"name": "inbox", "arguments": args{"wait_seconds": 45}}
	go listen(ana, ana.request(http.MethodPost, PathMCP, ana.rpc("tools/call", wait)))
	go listen(ana, ana.request(http.MethodGet, PathMCP, nil))
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    firstStateless,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	go listen(newer, newer.request(http.MethodPost, PathMCP,
		newer.rpc("tools/call", map[string]any{"name": "inbox", "arguments": args{"wait_seconds": 45}, "_meta": meta}), "Mcp-Method", "tools/call", "Mcp-Name", "inbox"))
	older, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
		&mcp.SSEClientTransport{Endpoint: "http://" + s.at + PathSSE, HTTPClient: &http.Client{Transport: bearer(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	go func() {
		res, err := older.CallTool(context.Background(), &mcp.CallToolParams{Name: "inbox", Arguments: args{"wait_seconds": 45}})
		if err != nil || len(res.Content) == 0 {
			said <- ""
			return
		}
		said <- res.Content[0].(*mcp.TextContent).Text
	}()
	eventually(t, "they wait", func() bool {
		v, err := b.Agent(context.Background(), "ana")
		return err == nil && v.Here
	})

	b.revoke("ana")
	b.tell("ana", "not for those who had the token")
	for range 4 {
		select {
		case got := <-said:
			if strings.Contains(got, "not for those") {
				t.Errorf("it was told: %s", got)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a stream or a call goes on")
		}
	}
	eventually(t, "ana has left", func() bool {
		v, err := b.Agent(context.Background(), "ana")
		return err == nil && !v.Here
	})
	again, _ := b.token("ana", 0)
	if box := told[inboxOut](t, s.connect(again).tool("inbox", nil)); box.Total != 1 {
		t.Errorf("the next session of the seat: %+v", box)
	}
}

// Over the older transport too a connection serves the token that began it and
// no other one.
func TestHTTPOthersStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	bobs, _ := b.token("bob", 0)
	ana, bob := &caller{s: s, token: text}, &caller{s: s, token: bobs}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	res, err := http.DefaultClient.Do(ana.request(http.MethodGet, PathSSE, nil).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var to string
	for lines := bufio.NewScanner(res.Body); to == "" && lines.Scan(); {
		to, _ = strings.CutPrefix(lines.Text(), "data: ")
		if !strings.HasPrefix(to, "/") {
			to = ""
		}
	}
	ping := ana.rpc("ping", nil)
	for _, c := range []struct {
		who    *caller
		method string
		to     string
		status int
	}{
		{ana, http.MethodPost, to, http.StatusAccepted},
		{bob, http.MethodPost, to, http.StatusForbidden},
		{ana, http.MethodPost, PathSSE + "?sessionid=other", http.StatusNotFound},
		{ana, http.MethodPost, PathSSE, http.StatusBadRequest},
		{ana, http.MethodDelete, to, http.StatusMethodNotAllowed},
		{&caller{s: s}, http.MethodPost, to, http.StatusUnauthorized},
	} {
		if a := c.who.send(c.who.request(c.method, c.to, ping)); a.status != c.status {
			t.Errorf("%s %.12s: %+v", c.method, c.to, a)
		}
	}
	if a := ana.send(ana.request(http.MethodPost, to, ping, "Content-Type", "text/plain")); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("%+v", a)
	}
}

// A connection whose stream is open is not idle, however long nothing is asked.
func TestHTTPOpenStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_IDLE=" + idleForTest.String())
	text, _ := b.token("ana", 0)
	ana := s.connect(text)
	open, err := http.DefaultClient.Do(ana.request(http.MethodGet, PathMCP, nil))
	if err != nil || open.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", open, err)
	}
	time.Sleep(idleForTest*2 + time.Second)
	if ana.whoami() != "ana" {
		t.Error("the connection did not live on")
	}
	open.Body.Close()
	eventually(t, "the connection has ended", func() bool {
		time.Sleep(idleForTest*2 + time.Second) // longer than the idle time and the pause between two looks
		return ana.tool("roster", nil).status == http.StatusNotFound
	})
}

// A connection that is closed under a call that waits takes it along at once:
// nobody would hear what it waited for.
func TestHTTPClosedUnderACall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	b.token("bob", 0)
	asks := func(name string) bool {
		v, err := b.Agent(context.Background(), name)
		return err == nil && len(v.WaitingFor) > 0
	}
	for _, name := range []string{"streamable", "older"} {
		text, _ := b.token(name, 0)
		var end func()
		if name == "streamable" {
			c := s.connect(text)
			go c.attempt(c.request(http.MethodPost, PathMCP, c.rpc("tools/call", map[string]any{"name": "ask", "arguments": args{"to": "bob", "text": "?", "timeout_seconds": 250}})))
			end = func() {
				if a := c.send(c.request(http.MethodDelete, PathMCP, nil)); a.status != http.StatusNoContent {
					t.Errorf("%+v", a)
				}
			}
		} else {
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
				&mcp.SSEClientTransport{Endpoint: "http://" + s.at + PathSSE, HTTPClient: &http.Client{Transport: bearer(text)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			go session.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: args{"to": "bob", "text": "?", "timeout_seconds": 250}})
			end = leave
		}
		eventually(t, name+" waits", func() bool { return asks(name) })
		end()
		eventually(t, name+" has left", func() bool {
			v, err := b.Agent(context.Background(), name)
			return err == nil && !v.Here && !asks(name)
		})
	}
}

// A session that could not be ended, because the office was away or its disk
// full, is ended later: its server's process lives on.
func TestEndIsTriedAgain(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	text, _ := b.token("ana", 0)
	tok, err := b.Credential(ctx, text)
	if err != nil {
		t.Fatal(err)
	}
	env := func(k string) string { return map[string]string{office.HomeVariable: b.home}[k] }
	d := &desk{opts: Options{Env: env}, served: true}
	defer d.close()
	r := newRemote(d, 0, time.Now)
	_, done := r.began(tok.ID)
	if _, err := b.IdentifyToken(ctx, tok, r.process); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(b.home, b.home+".away"); err != nil {
		t.Fatal(err)
	}
	done()
	if err := os.Rename(b.home+".away", b.home); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Agent(ctx, "ana"); err != nil || !v.Here {
		t.Fatalf("it has ended: %+v, %v", v, err)
	}
	r.sweep()
	if v, err := b.Agent(ctx, "ana"); err != nil || v.Here {
		t.Errorf("it has not ended: %+v, %v", v, err)
	}
	if len(r.guest) != 0 {
		t.Errorf("%+v", r.guest)
	}
}

// A client that forgets its connections loses the oldest of them, and takes no
// place from others.
func TestHTTPManyConnections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site()
	text, _ := b.token("ana", 0)
	bobs, _ := b.token("bob", 0)
	first := s.connect(text)
	var last *caller
	for range maxOfToken {
		last = s.connect(text)
	}
	eventually(t, "the oldest is closed", func() bool { return first.tool("roster", nil).status == http.StatusNotFound })
	if last.whoami() != "ana" || s.connect(bobs).whoami() != "bob" {
		t.Error("the others have suffered")
	}
	// Streams of the older transport are open as long as their clients want, so
	// none is closed for another.
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	open := func(token string) int {
		c := &caller{s: s, token: token}
		res, err := http.DefaultClient.Do(c.request(http.MethodGet, PathSSE, nil).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res.StatusCode
	}
	for i := range maxOfToken {
		if status := open(text); status != http.StatusOK {
			t.Fatalf("stream %d: %d", i, status)
		}
	}
	if one, other := open(text), open(bobs); one != http.StatusServiceUnavailable || other != http.StatusOK {
		t.Errorf("one more: %d, another token's: %d", one, other)
	}
}
