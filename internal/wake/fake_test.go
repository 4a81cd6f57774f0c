package wake

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

// fake is a Claude Code session as far as waking can tell: a process, its
// record and its inbox.
type fake struct {
	t       *testing.T
	env     map[string]string
	process roster.Process
	socket  string
	rung    chan string // the text of every line that came into the inbox
	kill    func()      // ends the process

	mu     sync.Mutex
	fields map[string]any
}

// newFake starts a process that does nothing and stands for the client.
func newFake(t *testing.T) *fake {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip("no program sleep here")
	}
	kill := sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(kill)
	id, ok := proc.Of(cmd.Process.Pid)
	if !ok {
		t.Fatal("the process is gone")
	}
	dir, err := os.MkdirTemp("/tmp", "wake")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &fake{
		t: t, kill: kill, process: roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}, rung: make(chan string, 100), socket: filepath.Join(dir, "i.sock"),
		env: map[string]string{"HOME": dir, claude.EnvToken: "secret"},
	}
	f.env[claude.EnvSocket] = f.socket
	f.fields = map[string]any{
		"pid": id.PID, "sessionId": "s1", "procStart": strconv.FormatInt(id.Start, 10), "version": "2.1.332", "peerProtocol": 1,
		"kind": "interactive", "entrypoint": "cli", "messagingSocketPath": f.socket,
	}
	if err := os.MkdirAll(filepath.Join(dir, ".claude", "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.listen(f.socket, "secret")
	return f
}

func (f *fake) getenv(key string) string { return f.env[key] }

// listen is an inbox that refuses a wrong token.
func (f *fake) listen(path, token string) {
	f.t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for s := bufio.NewScanner(c); s.Scan(); {
				var line struct {
					Type, Token string
					Message     struct{ Content string }
				}
				switch err := json.Unmarshal(s.Bytes(), &line); {
				case err != nil:
					f.rung <- "broken: " + s.Text()
				case line.Type == "auth" && line.Token != token:
					f.rung <- "wrong token"
				case line.Type == "user":
					f.rung <- line.Message.Content
				}
			}
			c.Close()
		}
	}()
}

// status writes the record; "" leaves the status out.
func (f *fake) status(s claude.Status) { f.record("status", s) }

// record sets a field of the record, nil takes it out, and writes the record.
func (f *fake) record(field string, value any) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fields[field] = value
	if value == nil || value == claude.Status("") {
		delete(f.fields, field)
	}
	f.fields["statusUpdatedAt"] = time.Now().UnixMilli()
	text, err := json.Marshal(f.fields)
	if err != nil {
		f.t.Fatal(err)
	}
	path := filepath.Join(f.env["HOME"], ".claude", "sessions", fmt.Sprintf("%d.json", f.process.PID))
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		f.t.Fatal(err)
	}
}

// waker is the way into it for a child of the session.
func (f *fake) waker() Waker {
	return ClaudeInbox(ClaudeHomes(f.getenv, ""), f.process.PID, f.getenv)
}

// wantRing waits for a ring whose text has the words.
func (f *fake) wantRing(words string) {
	f.t.Helper()
	select {
	case got := <-f.rung:
		if !strings.Contains(got, words) {
			f.t.Fatalf("rung with %q, want %q", got, words)
		}
	case <-time.After(patience):
		f.t.Fatalf("no ring, want %q", words)
	}
}

// wantQuiet fails if it is rung within a time.
func (f *fake) wantQuiet(d time.Duration) {
	f.t.Helper()
	select {
	case got := <-f.rung:
		f.t.Fatalf("rung with %q", got)
	case <-time.After(d):
	}
}

// bench is an office with somebody who writes.
type bench struct {
	t *testing.T
	*office.Office
	user  office.Caller
	clock *clock
}

// clock is the office's: the real one, unless a test stops it.
type clock struct {
	mu      sync.Mutex
	stopped time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped.IsZero() {
		return time.Now()
	}
	return c.stopped
}

// stop makes that no time passes in the office, however long a test takes.
func (c *clock) stop() { c.set(time.Now()) }

// goOn ends that: it is as late as it really is.
func (c *clock) goOn() { c.set(time.Time{}) }

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = at
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx := context.Background()
	c := new(clock)
	o, err := office.Open(ctx, office.Options{Home: filepath.Join(t.TempDir(), "office"), Create: true, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(o.RuntimeDir().Path())
	})
	user, err := o.Identify(ctx, office.Claim{Ancestors: []proc.ID{}})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, o, user, c}
}

// session registers a fake's session, as its hook does.
func (b *bench) session(f *fake, name string) office.Caller {
	b.t.Helper()
	done, err := b.StartSession(context.Background(), office.Session{Client: "claude", ID: "s1-" + name, Declared: name, Process: f.process, Folder: "/srv"})
	if err != nil {
		b.t.Fatal(err)
	}
	return office.Caller{Agent: done.Agent, Process: f.process, Session: "s1-" + name}
}

func (b *bench) send(to, text string) office.Sent {
	b.t.Helper()
	sent, err := b.Send(context.Background(), b.user, office.Letter{To: []string{to}, Body: []byte(text)})
	if err != nil {
		b.t.Fatal(err)
	}
	return sent
}

// woken gives what the sender sees about how the newest message woke its
// recipient, once it says what is wanted.
func (b *bench) wantWoken(words string) {
	b.t.Helper()
	var got string
	b.eventually("the sender is told "+words, func() bool {
		list, err := b.SentMail(context.Background(), b.user, office.Page{Limit: 1})
		if err != nil {
			b.t.Fatal(err)
		}
		got = list.Messages[0].Receipts[0].Woken
		return strings.Contains(got, words)
	})
}

func (b *bench) eventually(what string, ok func() bool) {
	b.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("it never came that %s", what)
		}
	}
}

// doorbell runs a server's doorbell until the function it gives is called.
func (b *bench) doorbell(f *fake) (stop func()) {
	return b.run(&Doorbell{Office: b.lend, Process: f.process, Waker: f.waker()})
}

func (b *bench) run(d *Doorbell) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { d.Run(ctx) })
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); wg.Wait() }) }
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) lend(context.Context) (*office.Office, func(), error) {
	return b.Office, func() {}, nil
}

// life gives the entry of an agent in a role.
func (b *bench) life(c office.Caller, role presence.Role) (presence.Life, bool) {
	b.t.Helper()
	live, err := b.Live(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	lives, err := live.Lives(context.Background(), c.Agent.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, l := range lives {
		if l.Role == role {
			return l, true
		}
	}
	return presence.Life{}, false
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Most tests wait for something, or for nothing.
	_ = flag.Set("test.parallel", "8")
	// A busy machine is no reason to give up.
	afterSendTimeout, ringTimeout, leaveTimeout = patience, patience, patience
	os.Exit(m.Run())
}
