package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

// desk is an office in a temporary folder, with everything that a test of its
// hook needs: stand-in clients, somebody who writes to them, and a clock.
type desk struct {
	t    *testing.T
	ctx  context.Context
	o    *office.Office
	home string
	dir  string // where sessions work
	ana  office.Caller
	late time.Duration // how far the hook's clock is ahead
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	base := t.TempDir()
	d := &desk{t: t, ctx: context.Background(), home: filepath.Join(base, "office"), dir: filepath.Join(base, "app")}
	d.must(os.Mkdir(d.dir, 0o700))
	template, err := newOffice()
	d.must(err)
	d.must(os.CopyFS(d.home, os.DirFS(template)))
	d.o, err = office.Open(d.ctx, office.Options{Home: d.home, Now: d.now})
	d.must(err)
	run := d.o.RuntimeDir().Path()
	t.Cleanup(func() {
		if err := d.o.Close(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(run)
	})
	d.ana, err = d.o.Identify(d.ctx, office.Claim{As: "ana", Ancestors: []proc.ID{}})
	d.must(err)
	return d
}

// newOffice gives a new office with ana in it, made once and never opened again.
var newOffice = sync.OnceValues(func() (string, error) {
	home := filepath.Join(temporary, "office")
	o, err := office.Open(d0, office.Options{Home: home, Create: true})
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(o.RuntimeDir().Path())
	user, err := o.Identify(d0, office.Claim{Ancestors: []proc.ID{}})
	if err == nil {
		_, err = o.Register(d0, user, "ana", roster.Process{})
	}
	return home, errors.Join(err, o.Close())
})

func (d *desk) now() time.Time { return time.Now().Add(d.late) }

// client is a process that the hook takes for a coding agent, and one
// conversation in it.
type client struct {
	d       *desk
	pid     int
	stop    func()
	session string
	dir     string
	env     map[string]string
}

// client starts a process with a conversation; SessionStart is not sent.
func (d *desk) client(session string) *client {
	d.t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	stopped := false
	c := &client{d: d, pid: cmd.Process.Pid, session: session, dir: d.dir, env: map[string]string{}}
	c.stop = func() {
		if !stopped {
			stopped = true
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	d.t.Cleanup(c.stop)
	return c
}

// in gives another conversation in the same process.
func (c *client) in(session string) *client {
	other := *c
	other.session = session
	return &other
}

// started is client with its SessionStart.
func (d *desk) started(session string) *client {
	d.t.Helper()
	c := d.client(session)
	c.event("SessionStart", "source", "startup")
	return c
}

// said is what a hook printed.
type said struct {
	t        *testing.T
	event    string
	out      string
	errOut   string
	code     int
	Decision string
	Reason   string
	Context  string
	Denied   string // why a tool may not be used
}

// input makes the JSON of an event from pairs of keys and values.
func (c *client) input(event string, pairs ...any) string {
	in := map[string]any{"session_id": c.session, "cwd": c.dir, "hook_event_name": event}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(in, pairs[i].(string))
			continue
		}
		in[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		c.d.t.Fatal(err)
	}
	return string(raw)
}

func (c *client) getenv(key string) string {
	if key == "CLAUDE_PID" {
		return itoa(c.pid)
	}
	return c.env[key]
}

// run gives an input to the hook, inside the test's process.
func (c *client) run(in io.Reader, args ...string) said {
	c.d.t.Helper()
	var out, errOut bytes.Buffer
	return c.runTo(&out, &errOut, in, args...)
}

func (c *client) runTo(out io.Writer, errOut *bytes.Buffer, in io.Reader, args ...string) said {
	c.d.t.Helper()
	s := said{t: c.d.t}
	s.code = Run(IO{
		In: in, Out: out, Err: errOut, Env: c.getenv, Now: c.d.now, patience: patience,
		Exit: func(code int) { c.d.t.Errorf("the hook gave up at its deadline, status %d", code) },
	}, append([]string{"claude", "--home", c.d.home}, args...))
	if b, ok := out.(*bytes.Buffer); ok {
		s.out = b.String()
	}
	s.errOut = errOut.String()
	return s
}

// event sends one event and checks that the answer is a valid one.
func (c *client) event(event string, pairs ...any) said {
	c.d.t.Helper()
	s := c.run(strings.NewReader(c.input(event, pairs...)))
	s.event = event
	s.check()
	if s.errOut != "" {
		c.d.t.Fatalf("%s said: %s", event, s.errOut)
	}
	return s
}

// check fails the test unless the answer is nothing, or one document that is
// valid for its event.
func (s *said) check() {
	s.t.Helper()
	if s.code != 0 {
		s.t.Fatalf("%s ended with status %d", s.event, s.code)
	}
	if n := strings.Count(s.errOut, "\n"); s.errOut != "" && (n != 1 || !strings.HasSuffix(s.errOut, "\n")) {
		s.t.Fatalf("%s said more than a line: %q", s.event, s.errOut)
	}
	if s.out == "" {
		return
	}
	var doc struct {
		Decision *string `json:"decision"`
		Reason   *string `json:"reason"`
		Specific *struct {
			Event      string  `json:"hookEventName"`
			Permission *string `json:"permissionDecision"`
			Why        *string `json:"permissionDecisionReason"`
			Context    *string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	dec := json.NewDecoder(strings.NewReader(s.out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		s.t.Fatalf("%s printed %q: %v", s.event, s.out, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		s.t.Fatalf("%s printed more than one document: %q", s.event, s.out)
	}
	if doc.Specific == nil || doc.Specific.Event != s.event {
		s.t.Fatalf("%s printed %q", s.event, s.out)
	}
	if p := doc.Specific.Permission; p != nil {
		if s.event != "PreToolUse" || *p != "deny" || doc.Specific.Why == nil || *doc.Specific.Why == "" || doc.Specific.Context != nil || doc.Decision != nil {
			s.t.Fatalf("%s printed %q", s.event, s.out)
		}
		if s.Denied = *doc.Specific.Why; quote.UTF16Len(s.Denied) > 2000 || strings.Count(s.Denied, "\n") >= 20 {
			s.t.Fatalf("the reason is too long: %q", s.Denied)
		}
		return
	}
	if doc.Specific.Why != nil || doc.Specific.Context == nil || *doc.Specific.Context == "" {
		s.t.Fatalf("%s printed %q", s.event, s.out)
	}
	s.Context = *doc.Specific.Context
	if n := quote.UTF16Len(s.Context); n > budget {
		s.t.Fatalf("%s gave a context of %d units", s.event, n)
	}
	switch s.event {
	case "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "PostToolUse":
		if doc.Decision != nil || doc.Reason != nil {
			s.t.Fatalf("%s decided: %q", s.event, s.out)
		}
	case "Stop", "SubagentStop":
		if doc.Decision == nil || *doc.Decision != "block" || doc.Reason == nil || *doc.Reason == "" {
			s.t.Fatalf("%s printed %q", s.event, s.out)
		}
		s.Decision, s.Reason = *doc.Decision, *doc.Reason
	default:
		s.t.Fatalf("%s printed %q", s.event, s.out)
	}
}

// silent fails the test if anything was printed.
func (s said) silent() said {
	s.t.Helper()
	if s.out != "" {
		s.t.Fatalf("%s printed %q", s.event, s.out)
	}
	return s
}

// has fails the test unless the context holds all of the words.
func (s said) has(words ...string) said {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(s.Context, w) {
			s.t.Fatalf("%s: no %q in %q", s.event, w, s.Context)
		}
	}
	return s
}

// matches is has for an expression.
func (s said) matches(pattern string) said {
	s.t.Helper()
	if !regexp.MustCompile(pattern).MatchString(s.Context) {
		s.t.Fatalf("%s: no %q in %q", s.event, pattern, s.Context)
	}
	return s
}

// lacks is the opposite of has.
func (s said) lacks(words ...string) said {
	s.t.Helper()
	for _, w := range words {
		if strings.Contains(s.out, w) {
			s.t.Fatalf("%s: %q in %q", s.event, w, s.out)
		}
	}
	return s
}

// own is an event around a call of one of our tools.
func (c *client) own(pairs ...any) said {
	c.d.t.Helper()
	return c.event("PreToolUse", append([]any{"tool_name", "mcp__bureau__inbox", "tool_use_id", string(event.NewID(time.Now()))}, pairs...)...).silent()
}

// caller is the client's session as the office knows it.
func (c *client) caller() office.Caller {
	c.d.t.Helper()
	id, _ := proc.Of(c.pid)
	caller, err := c.d.o.SessionCaller(c.d.ctx, clientName, c.session, "", roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()})
	if err != nil {
		c.d.t.Fatal(err)
	}
	return caller
}

func (c *client) name() string { return string(c.caller().Agent.Name) }

// send writes from ana.
func (d *desk) send(to, body string) office.Sent {
	d.t.Helper()
	return d.letter(office.Letter{To: []string{to}, Body: []byte(body)})
}

func (d *desk) letter(l office.Letter) office.Sent {
	d.t.Helper()
	s, err := d.o.Send(d.ctx, d.ana, l)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// state is how far a message of ana's has come.
func (d *desk) state(id event.ID) mail.State {
	d.t.Helper()
	list, err := d.o.SentMail(d.ctx, d.ana, office.Page{Limit: office.MaxPage})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, m := range list.Messages {
		if m.ID == id {
			return m.State
		}
	}
	d.t.Fatalf("ana did not send %s", id)
	return ""
}

// want fails the test unless a message of ana's is in a state.
func (d *desk) want(s office.Sent, state mail.State) {
	d.t.Helper()
	if got := d.state(s.ID); got != state {
		d.t.Fatalf("message %s is %s, not %s", s.Short, got, state)
	}
}

// offers lists what was put before a client and is not proved.
func (c *client) offers() []presence.Offered {
	c.d.t.Helper()
	live, err := c.d.o.Live(c.d.ctx)
	if err != nil {
		c.d.t.Fatal(err)
	}
	list, err := live.Offers(c.d.ctx, c.caller().Agent.ID)
	if err != nil {
		c.d.t.Fatal(err)
	}
	return list
}
