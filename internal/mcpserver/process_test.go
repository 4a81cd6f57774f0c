package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// wire is a server in a process of its own, spoken to in raw lines.
type wire struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan error

	mu      sync.Mutex
	waiting map[int]chan reply
	n       int
}

type reply struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// start runs a server below this process, which stands for its client.
func (b *bench) start(env ...string) *wire {
	b.t.Helper()
	w := &wire{t: b.t, cmd: exec.Command(os.Args[0]), waiting: map[int]chan reply{}, ended: make(chan error, 1)}
	w.cmd.Env = append([]string{serveVariable + "=mail,board", "HOME=" + b.t.TempDir(), "PATH=" + os.Getenv("PATH"), office.HomeVariable + "=" + b.home}, env...)
	w.cmd.Dir = b.t.TempDir()
	w.cmd.Stderr = os.Stderr
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	gone := make(chan struct{})
	// Its folders are removed next, and nobody may write there then.
	b.t.Cleanup(func() { w.in.Close(); w.cmd.Process.Kill(); <-gone })
	go func() {
		defer close(gone)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var r reply
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				b.t.Errorf("the server prints %q", lines.Text())
				continue
			}
			w.mu.Lock()
			if done := w.waiting[r.ID]; done != nil && r.Method == "" {
				done <- r
			}
			w.mu.Unlock()
		}
		w.ended <- w.cmd.Wait()
	}()
	return w
}

// send sends a request and gives where its answer will be.
func (w *wire) send(method string, params any) chan reply {
	w.t.Helper()
	w.mu.Lock()
	w.n++
	id := w.n
	done := make(chan reply, 1)
	w.waiting[id] = done
	w.mu.Unlock()
	w.line(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return done
}

func (w *wire) line(m map[string]any) {
	w.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in.Write(append(raw, '\n')); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) ask(method string, params any) reply {
	w.t.Helper()
	select {
	case r := <-w.send(method, params):
		return r
	case <-time.After(patience):
		w.t.Fatalf("no answer to %s", method)
	}
	return reply{}
}

func (w *wire) initialize(version, client string) reply {
	w.t.Helper()
	r := w.ask("initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": client, "version": "1"},
	})
	w.line(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return r
}

// end closes the input and gives how long the process took to end.
func (w *wire) end() time.Duration {
	w.t.Helper()
	begun := time.Now()
	w.in.Close()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		w.t.Fatal("it lives on")
	}
	return time.Since(begun)
}

// structured decodes a tool's result.
func structured[Out any](w *wire, r reply) (out Out) {
	w.t.Helper()
	var res struct {
		IsError           bool
		StructuredContent json.RawMessage
	}
	if r.Error != nil || json.Unmarshal(r.Result, &res) != nil || res.IsError || json.Unmarshal(res.StructuredContent, &out) != nil {
		w.t.Fatalf("%s, %+v", r.Result, r.Error)
	}
	return out
}

// TestEras: with a handshake, in versions that clients still speak, and without.
func TestEras(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
		w := b.start("BUREAU_NAME=ana")
		var hello struct {
			ProtocolVersion string
			ServerInfo      struct{ Name string }
		}
		if r := w.initialize(version, "x"); json.Unmarshal(r.Result, &hello) != nil || hello.ProtocolVersion != version || hello.ServerInfo.Name != "bureau" {
			t.Errorf("%s: %s", version, r.Result)
		}
		if out := structured[rosterOut](w, w.ask("tools/call", map[string]any{"name": "roster", "arguments": map[string]any{}})); out.You.Name == "" {
			t.Errorf("%s: %+v", version, out)
		}
		w.end()
	}
	w := b.start("BUREAU_NAME=bob")
	meta := func(version string) map[string]any {
		return map[string]any{
			"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "codex", "version": "1"},
		}
	}
	if r := w.ask("server/discover", map[string]any{"_meta": meta("2026-07-28")}); r.Error != nil || !has(string(r.Result), "2026-07-28", "2025-11-25") {
		t.Fatalf("%s, %+v", r.Result, r.Error)
	}
	if r := w.ask("tools/list", map[string]any{"_meta": meta("2026-07-28")}); r.Error != nil || len(r.Result) > 8<<10 || !has(string(r.Result), "ttlMs", "read_message") {
		t.Fatalf("%d bytes, %+v", len(r.Result), r.Error)
	}
	call := map[string]any{"name": "roster", "arguments": map[string]any{}, "_meta": meta("2026-07-28")}
	if out := structured[rosterOut](w, w.ask("tools/call", call)); out.You.Name == "" {
		t.Errorf("%+v", out)
	}
	if r := w.ask("tools/list", map[string]any{"_meta": meta("2031-01-01")}); r.Error == nil || r.Error.Code != -32022 || !has(string(r.Error.Data), "2026-07-28") {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
	w.end()
}

// TestReadyAndSmall: the budget of a server, of the best of many starts, since
// the machine does other things too.
func TestReadyAndSmall(t *testing.T) {
	if slow {
		t.Skip("not a program to be measured")
	}
	b := newBench(t)
	best := time.Hour
	for range 100 {
		begun := time.Now()
		w := b.start()
		w.initialize("2025-11-25", "x")
		best = min(best, time.Since(begun))
		structured[inboxOut](w, w.ask("tools/call", map[string]any{"name": "inbox", "arguments": map[string]any{}}))
		if kb := resident(w.cmd.Process.Pid); kb > 30<<10 {
			t.Errorf("%d KB resident", kb)
		} else if best <= 50*time.Millisecond {
			t.Logf("ready in %s, %d KB resident", best, kb)
			w.end()
			return
		}
		w.end()
	}
	t.Errorf("ready in %s at best", best)
}

// resident gives the resident memory of a process in KB; 0 if it cannot be told.
func resident(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			kb, _ := strconv.Atoi(f[1])
			return kb
		}
	}
	return 0
}

// TestClientLeaves during an ask: the server ends at once, the question stays,
// and nobody waits for it any more.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.client(seat{name: "bob"})
	do[rosterOut](bob, "roster", nil)
	w := b.start("BUREAU_NAME=ana")
	w.initialize("2025-11-25", "x")
	w.send("tools/call", map[string]any{"name": "ask", "arguments": map[string]any{"to": "bob", "text": "ready?"}})
	q := wantQuestion(bob, "ready?")
	if took := w.end(); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	do[sendOut](bob, "send", args{"answers": q.ID, "text": "yes"})
	// Another server of the same client (this process) finds the answer unread.
	again := b.start("BUREAU_NAME=ana")
	again.initialize("2025-11-25", "x")
	box := structured[inboxOut](again, again.ask("tools/call", map[string]any{"name": "inbox", "arguments": map[string]any{}}))
	if box.Unread != 1 || box.Messages[0].Body != "yes" || box.Messages[0].State != "stored" {
		t.Fatalf("%+v", box)
	}
	again.end()
}

// TestKilledServer: the client starts another; it is the same agent, and a
// message that is sent again with its id comes once (case M3).
func TestKilledServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.client(seat{name: "bob"})
	do[rosterOut](bob, "roster", nil)
	send := map[string]any{"name": "send", "arguments": map[string]any{"to": "bob", "text": "once", "client_id": "c-1"}}
	w := b.start("BUREAU_NAME=ana")
	w.initialize("2025-11-25", "x")
	first := structured[sendOut](w, w.ask("tools/call", send))
	w.cmd.Process.Kill()
	<-w.ended
	w = b.start("BUREAU_NAME=ana")
	w.initialize("2025-11-25", "x")
	again := structured[sendOut](w, w.ask("tools/call", send))
	if !again.Repeated || again.ID != first.ID {
		t.Errorf("%+v, then %+v", first, again)
	}
	if box := do[inboxOut](bob, "inbox", nil); box.Total != 1 || box.Messages[0].From != "ana" {
		t.Fatalf("%+v", box)
	}
	w.end()
}

// TestOddLines: what is no request does no harm but to itself.
func TestOddLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start()
	if r := w.ask("tools/call", map[string]any{"name": "roster"}); r.Error == nil {
		t.Error("served before the handshake")
	}
	w.initialize("2025-11-25", "x")
	if r := w.ask("resources/read", map[string]any{"uri": "file:///etc/passwd"}); r.Error == nil {
		t.Errorf("%s", r.Result)
	}
	if r := w.ask("tools/call", map[string]any{"name": "send", "arguments": map[string]any{"to": "user", "text": strings.Repeat("x", 2<<20)}}); !has(string(r.Result), "invalid", "1 MiB") {
		t.Errorf("%.300s, %+v", r.Result, r.Error)
	}
	structured[rosterOut](w, w.ask("tools/call", map[string]any{"name": "roster", "arguments": nil}))
	w.end()
}

// TestDoorbell: the server of a session rings it, through the real path: the
// client is this process, its record and inbox are made up.
func TestDoorbell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no inbox sockets here")
	}
	b := newBench(t)
	home, err := os.MkdirTemp("/tmp", "bell")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	socket := filepath.Join(home, "i.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	me := presence.Self()
	record, err := json.Marshal(map[string]any{
		"pid": me.PID, "sessionId": "S1", "procStart": strconv.FormatInt(me.Start, 10), "version": "2.1.332", "peerProtocol": 1,
		"entrypoint": "cli", "messagingSocketPath": socket, "status": "idle", "statusUpdatedAt": time.Now().UnixMilli(),
	})
	if err != nil {
		t.Fatal(err)
	}
	sessions := filepath.Join(home, ".claude", "sessions")
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sessions, fmt.Sprintf("%d.json", me.PID)), record, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.StartSession(context.Background(), office.Session{Client: "claude", ID: "S1", Declared: "bob", Process: me, Folder: "/srv"}); err != nil {
		t.Fatal(err)
	}
	w := b.start("HOME="+home, claude.EnvSession+"=S0", claude.EnvSocket+"="+socket, claude.EnvToken+"=secret")
	w.initialize("2025-11-25", "claude-code")
	ana := b.client(seat{name: "ana"})
	eventually(t, "the way is known", func() bool {
		for _, a := range do[rosterOut](ana, "roster", nil).Agents {
			if a.Name == "bob" && a.Wake == "inbox" && a.Status == "idle" {
				return true
			}
		}
		return false
	})
	do[sendOut](ana, "send", args{"to": "bob", "text": "hello"})
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	raw, err := io.ReadAll(c)
	if err != nil || !has(string(raw), `"token":"secret"`, "bureau: 1 new message", "Call inbox") || has(string(raw), "hello") {
		t.Fatalf("%s, %v", raw, err)
	}
	eventually(t, "the sender is told", func() bool {
		r := do[inboxOut](ana, "inbox", args{"show": "sent"}).Messages[0].Receipts[0]
		return has(r.Woken, "woken via inbox")
	})
	w.end()
	eventually(t, "the server has left", func() bool {
		return do[rosterOut](ana, "roster", args{"here": true}).Agents[1].Wake != "inbox"
	})
}
