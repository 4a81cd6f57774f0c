package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"bureau/internal/office"
	"bureau/internal/proc"
)

// listenVariable makes this test binary a server over HTTP: its value is the
// address.
const listenVariable = "BUREAU_TEST_HTTP"

func serveForTest(at string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	idle, _ := time.ParseDuration(os.Getenv("TEST_IDLE"))
	h, err := NewHTTP(HTTPOptions{Env: os.Getenv, Idle: idle, Tools: []string{os.Getenv("TEST_TOOLS")}})
	if err == nil {
		h.s.each, h.tokensEach = 100*time.Millisecond, 100*time.Millisecond
		if d, err := time.ParseDuration(os.Getenv("TEST_BODY")); err == nil {
			h.bodyWithin = d
		}
		var l net.Listener
		if l, err = net.Listen("tcp", at); err == nil {
			fmt.Println(l.Addr())
			err = h.Serve(ctx, l)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// site is a server over HTTP in a process of its own.
type site struct {
	b    *bench
	at   string
	env  []string
	cmd  *exec.Cmd
	gone chan error
}

func (b *bench) site(env ...string) *site {
	b.t.Helper()
	s := &site{b: b, at: freeAddress(b.t), env: env}
	s.start()
	b.t.Cleanup(s.kill)
	return s
}

// freeAddress gives one at which nobody listens, and which nobody is given by
// the system while a server that starts again is away: its port is below those
// that connections get.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start starts the server, at the same address if it ran before.
func (s *site) start() {
	t := s.b.t
	t.Helper()
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append([]string{listenVariable + "=" + s.at, "HOME=" + t.TempDir(), office.HomeVariable + "=" + s.b.home, "PATH=" + os.Getenv("PATH")}, s.env...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not begin: %v", err)
	}
	s.at = strings.TrimSpace(line)
	gone := make(chan error, 1)
	cmd := s.cmd
	go func() { gone <- cmd.Wait() }()
	s.gone = gone
}

func (s *site) kill() {
	_ = s.cmd.Process.Kill()
	<-s.gone
	s.gone <- nil
}

func (s *site) interrupt() {
	s.b.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	select {
	case err := <-s.gone:
		s.gone <- nil
		if err != nil {
			s.b.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(patience):
		s.b.t.Fatal("the server does not end")
	}
}

// token makes a token for a name.
func (b *bench) token(name string, ttl time.Duration) (text string, v office.TokenView) {
	b.t.Helper()
	ctx := context.Background()
	user, err := b.Identify(ctx, office.Claim{Ancestors: []proc.ID{}})
	if err != nil {
		b.t.Fatal(err)
	}
	v, text, err = b.IssueToken(ctx, user, office.Issuing{Name: name, TTL: ttl, Folder: b.t.TempDir()})
	if err != nil {
		b.t.Fatal(err)
	}
	return text, v
}

// tell sends mail from the person.
func (b *bench) tell(to, text string) {
	b.t.Helper()
	ctx := context.Background()
	user, err := b.Identify(ctx, office.Claim{Ancestors: []proc.ID{}})
	if err == nil {
		_, err = b.Send(ctx, user, office.Letter{To: []string{to}, Body: []byte(text)})
	}
	if err != nil {
		b.t.Error(err)
	}
}

// caller is a client over HTTP, request by request.
type caller struct {
	s       *site
	token   string
	session string
	version string
	n       int
}

// answer is what came back to a request.
type answer struct {
	status int
	header http.Header
	body   string // of an event stream: the data of its last event
	last   string // the id of its last event
}

func (c *caller) request(method, path string, body any, more ...string) *http.Request {
	c.s.b.t.Helper()
	var r io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			c.s.b.t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, "http://"+c.s.at+path, r)
	if err != nil {
		c.s.b.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.version != "" {
		req.Header.Set("Mcp-Protocol-Version", c.version)
	}
	for i := 0; i+1 < len(more); i += 2 {
		req.Header.Set(more[i], more[i+1])
	}
	return req
}

func (c *caller) send(req *http.Request) answer {
	c.s.b.t.Helper()
	a, err := c.attempt(req)
	if err != nil {
		c.s.b.t.Fatal(err)
	}
	return a
}

func (c *caller) attempt(req *http.Request) (answer, error) {
	client := &http.Client{Timeout: 2 * patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		a.body = ""
		for line := range strings.Lines(string(raw)) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
				a.body = strings.TrimSpace(data)
			}
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				a.last = strings.TrimSpace(id)
			}
		}
	}
	return a, nil
}

// rpc makes the body of a request.
func (c *caller) rpc(method string, params any) map[string]any {
	c.n++
	return map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params}
}

func (c *caller) post(method string, params any) answer {
	c.s.b.t.Helper()
	return c.send(c.request(http.MethodPost, PathMCP, c.rpc(method, params)))
}

// begin begins an MCP session.
func (c *caller) begin() *caller {
	t := c.s.b.t
	t.Helper()
	c.session = ""
	a := c.post("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
	})
	if c.session = a.header.Get("Mcp-Session-Id"); a.status != 200 || c.session == "" {
		t.Fatalf("initialize: %+v", a)
	}
	if a := c.send(c.request(http.MethodPost, PathMCP, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})); a.status != 202 {
		t.Fatalf("initialized: %+v", a)
	}
	return c
}

func (s *site) connect(token string) *caller { return (&caller{s: s, token: token}).begin() }

// told decodes the structured content of a tool's result.
func told[Out any](t *testing.T, a answer) (out Out) {
	t.Helper()
	var r struct {
		Result *struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Text string }
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || r.Result == nil || r.Result.IsError {
		t.Fatalf("%d %s (%v)", a.status, a.body, err)
	}
	if err := json.Unmarshal(r.Result.StructuredContent, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *caller) tool(name string, in args) answer {
	c.s.b.t.Helper()
	return c.send(c.call(name, in))
}

// call makes the request of a tool call.
func (c *caller) call(name string, in args) *http.Request {
	c.s.b.t.Helper()
	params := map[string]any{"name": name, "arguments": in}
	if c.version >= firstStateless {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.version,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
		return c.request(http.MethodPost, PathMCP, c.rpc("tools/call", params), "Mcp-Method", "tools/call", "Mcp-Name", name)
	}
	return c.request(http.MethodPost, PathMCP, c.rpc("tools/call", params))
}

func (c *caller) whoami() string {
	c.s.b.t.Helper()
	return told[rosterOut](c.s.b.t, c.tool("roster", nil)).You.Name
}

// bearer shows a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
