package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
	"bureau/internal/proc"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

// serveVariable makes this test binary a server: its value is Options.Tools.
const serveVariable = "BUREAU_TEST_MCP_TOOLS"

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

func TestMain(m *testing.M) {
	if tools := os.Getenv(serveVariable); tools != "" {
		dir, _ := os.Getwd()
		err := Run(context.Background(), Options{
			In: os.Stdin, Out: os.Stdout, Env: os.Getenv, Dir: dir, Home: os.Getenv("TEST_HOME_FLAG"), Tools: []string{tools},
		})
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	if at := os.Getenv(listenVariable); at != "" {
		os.Exit(serveForTest(at))
	}
	flag.Parse()
	// Most tests wait for something.
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}

// bench is an office for servers.
type bench struct {
	t    *testing.T
	home string
	*office.Office
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t}
	b.at(filepath.Join(t.TempDir(), "office"))
	b.open(true)
	return b
}

// at says where the office is, whose live state goes with the test.
func (b *bench) at(home string) {
	b.home = home
	b.t.Cleanup(func() {
		if run, err := runtimedir.Look(home); err == nil {
			os.RemoveAll(run.Path())
		}
	})
}

func (b *bench) open(create bool) {
	b.t.Helper()
	o, err := office.Open(context.Background(), office.Options{Home: b.home, Create: create})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Office = o
	b.t.Cleanup(func() { o.Close() })
}

// process starts one that stands for a client.
func (b *bench) process() proc.ID {
	b.t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		b.t.Skip("no program sleep here")
	}
	b.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	id, ok := proc.Of(cmd.Process.Pid)
	if !ok {
		b.t.Fatal("the process is gone")
	}
	return id
}

func processOf(id proc.ID) roster.Process {
	return roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
}

// client is a client and its server, connected in memory.
type client struct {
	t *testing.T
	*mcp.ClientSession
	server  *server
	process proc.ID
	meta    mcp.Meta // goes with every call
	env     map[string]string
	notes   chan string // words of progress
}

// seat says who a client is.
type seat struct {
	client string // clientInfo.name; claude-code unless given
	name   string // BUREAU_NAME
	env    map[string]string
	tools  []string
	home   string    // --home
	above  []proc.ID // its ancestors; a process of its own unless given
}

func (b *bench) client(s seat) *client {
	b.t.Helper()
	if s.client == "" {
		s.client = "claude-code"
	}
	env := map[string]string{"HOME": b.t.TempDir(), "BUREAU_NAME": s.name, office.HomeVariable: b.home}
	for k, v := range s.env {
		env[k] = v
	}
	srv, err := newServer(Options{Env: func(k string) string { return env[k] }, Dir: b.t.TempDir(), Home: s.home, Tools: s.tools})
	if err != nil {
		b.t.Fatal(err)
	}
	if s.above == nil {
		s.above = []proc.ID{b.process()}
	}
	srv.above, srv.each = s.above, 100*time.Millisecond
	c := &client{t: b.t, server: srv, process: s.above[0], env: env, notes: make(chan string, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	there, here := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	ready := make(chan struct{})
	go func() { close(ready); done <- srv.serve(ctx, there) }()
	<-ready
	m := mcp.NewClient(&mcp.Implementation{Name: s.client, Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { c.notes <- r.Params.Message },
	})
	if c.ClientSession, err = m.Connect(ctx, here, nil); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		c.Close()
		cancel()
		<-done
	})
	return c
}

// try calls a tool; its refusal is an error.
func try[Out any](c *client, tool string, args any) (out Out, err error) {
	return tryWith[Out](context.Background(), c, tool, args, nil)
}

// refused is a refusal as a model sees it.
type refused struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Hint    string          `json:"hint"`
	Detail  json.RawMessage `json:"detail"`
}

func (r *refused) Error() string { return r.Code + ": " + r.Message + " (" + r.Hint + ")" }

func tryWith[Out any](ctx context.Context, c *client, tool string, args any, meta mcp.Meta) (out Out, err error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: args, Meta: mcp.Meta{}}
	for _, m := range []mcp.Meta{c.meta, meta} {
		for k, v := range m {
			p.Meta[k] = v
		}
	}
	res, err := c.CallTool(ctx, p)
	if err != nil {
		return out, err
	}
	text := textOf(res)
	if res.IsError {
		var v struct{ Error *refused }
		if res.StructuredContent != nil || json.Unmarshal([]byte(text), &v) != nil || v.Error == nil || v.Error.Code == "" {
			return out, errors.New("a refusal of another shape: " + text)
		}
		return out, v.Error
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return out, err
	}
	if len(raw) > 45_000 || len(text) > 45_000 {
		c.t.Errorf("%s: the result has %d and %d bytes", tool, len(raw), len(text))
	}
	return out, json.Unmarshal(raw, &out)
}

func textOf(res *mcp.CallToolResult) string {
	if len(res.Content) != 1 {
		return ""
	}
	t, _ := res.Content[0].(*mcp.TextContent)
	if t == nil {
		return ""
	}
	return t.Text
}

// do calls a tool that must succeed.
func do[Out any](c *client, tool string, args any) Out {
	c.t.Helper()
	out, err := try[Out](c, tool, args)
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	return out
}

// deny calls a tool that must refuse with a code, and gives the refusal.
func deny(c *client, code, tool string, args any) *refused {
	c.t.Helper()
	_, err := try[any](c, tool, args)
	var r *refused
	if !errors.As(err, &r) || r.Code != code {
		c.t.Fatalf("%s %v: %v, want %s", tool, args, err, code)
	}
	return r
}

// args is short for a tool's arguments.
type args map[string]any

// eventually waits for something.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

func has(s string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}
