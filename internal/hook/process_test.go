package hook

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bureau/internal/mail"
	"bureau/internal/office"
)

// command is the real hook, run as the client runs it, on a busy machine.
func (c *client) command(args ...string) *exec.Cmd { return c.commandOf(patient, args...) }

// commandOf runs the hook with the deadlines that it has.
func (c *client) commandOf(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append([]string{"claude", "--home", c.d.home}, args...)...)
	cmd.Env = append(os.Environ(), "CLAUDE_PID="+itoa(c.pid), "BUREAU_HOME=/nonexistent", "BUREAU_NAME=", "ESCRITORIO_ID=", "MCLAUDE_IDENTITY=", "CLAUDE_PROJECT_DIR=")
	return cmd
}

// process runs the real hook with an event.
func (c *client) process(event string, pairs ...any) said {
	c.d.t.Helper()
	cmd := c.command()
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.input(event, pairs...)), &out, &errOut
	err := cmd.Run()
	s := said{t: c.d.t, event: event, out: out.String(), errOut: errOut.String(), code: cmd.ProcessState.ExitCode()}
	if err != nil {
		c.d.t.Fatalf("%s: %v, %q", event, err, s.errOut)
	}
	s.check()
	return s
}

func TestTheProgram(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.client("S1")
	c.process("SessionStart", "source", "startup").has("You are " + string(office.DefaultName(d.dir)))
	c.process("PostToolBatch").silent()
	m := d.send(c.name(), "hello")
	c.process("PostToolBatch").has("hello", m.Short)
	c.process("Stop", "stop_hook_active", false).silent()
	d.want(m, mail.Seen)
	m = d.send(c.name(), "once more")
	c.process("Stop", "stop_hook_active", false).has("once more")
	c.process("Stop", "stop_hook_active", true).silent()
	d.want(m, mail.Seen)
	c.process("SessionEnd", "reason", "prompt_input_exit").silent()
	if c.caller().Agent.Life != nil {
		t.Error("it lives on")
	}
}

// TestNoInput: a client that gives nothing and leaves the input open.
func TestNoInput(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	for name, x := range map[string]struct {
		args    []string
		written string
		limit   time.Duration
	}{
		"PostToolBatch": {[]string{"PostToolBatch"}, `{"session_id":"S1",`, deadline},
		"SessionEnd":    {[]string{"SessionEnd"}, `{"session_id":"S1",`, endDeadline},
		// As setup registers it: only the input says what it is about.
		"told late":         {nil, `{"session_id":"S1","hook_event_name":"Stop",`, deadline},
		"told late, an end": {nil, `{"session_id":"S1","hook_event_name":"SessionEnd",`, endDeadline},
		"never told":        {nil, ``, endDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := x.limit + lateBy
			cmd := c.commandOf(late, x.args...)
			r, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := io.WriteString(in, x.written); err != nil { // there from the start
				t.Fatal(err)
			}
			cmd.Stdin = r
			begun := time.Now()
			var errOut bytes.Buffer
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errOut
			err = cmd.Run()
			took := time.Since(begun)
			r.Close()
			if err != nil || out.Len() > 0 || strings.Count(errOut.String(), "\n") != 1 {
				t.Errorf("%v, printed %q, said %q", err, out.String(), errOut.String())
			}
			if !strings.Contains(errOut.String(), "gave up after "+limit.String()+"\n") {
				t.Errorf("said %q, want it to give up after %s", errOut.String(), limit)
			}
			if took < limit-100*time.Millisecond || took > limit+patience {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestAClosedOutput: mail that nobody could read is not given.
func TestAClosedOutput(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*exec.Cmd) func(){
		"nobody reads": func(cmd *exec.Cmd) func() {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			cmd.Stdout = w
			return func() { w.Close() }
		},
		"the null device": func(cmd *exec.Cmd) func() { return func() {} }, // what exec gives for nil
		"closed": func(cmd *exec.Cmd) func() {
			sh := exec.Command("sh", "-c", `exec "$0" "$@" >&-`)
			sh.Args = append(sh.Args, cmd.Args...)
			sh.Env, sh.Stderr = cmd.Env, cmd.Stderr
			*cmd = *sh
			return func() {}
		},
	} {
		for _, event := range []string{"UserPromptSubmit", "PostToolBatch", "Stop"} {
			d := newDesk(t)
			c := d.started("S1")
			m := d.send(c.name(), "hello")
			cmd := c.command()
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			done := prepare(cmd)
			cmd.Stdin = strings.NewReader(c.input(event, "prompt", "x"))
			err := cmd.Run()
			done()
			if err != nil || strings.Count(errOut.String(), "\n") != 1 {
				t.Errorf("%s, %s: %v, %q", name, event, err, errOut.String())
			}
			d.late += 6 * time.Second // the hook's reservation runs out
			c.own()
			d.want(m, mail.Stored)
			c.step("PostToolBatch").has("hello")
			c.own()
			d.want(m, mail.Seen)
		}
	}
}

// TestKilledHooks: hooks that are killed at any moment. What is marked as seen
// was printed, and nothing is lost.
func TestKilledHooks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	shown := map[string]bool{}
	note := func(out string) {
		// The client takes whole documents only.
		if strings.HasSuffix(out, "}\n") {
			for _, word := range strings.Split(out, `id=\"`)[1:] {
				shown[word[:6]] = true
			}
		}
	}
	events := []string{"UserPromptSubmit", "PostToolBatch", "Stop", "SessionStart"}
	var sent []office.Sent
	check := func() (unseen int) {
		t.Helper()
		list, err := d.o.SentMail(d.ctx, d.ana, office.Page{Limit: office.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Messages {
			switch {
			case m.State != mail.Seen:
				unseen++
			case !shown[string(m.ID[len(m.ID)-6:])]:
				t.Fatalf("%s is seen and was never printed", m.Short)
			}
		}
		return unseen
	}
	typical := 15 * time.Millisecond
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for i := range rounds {
		sent = append(sent, d.send(c.name(), "hello"))
		cmd := c.command()
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout = strings.NewReader(c.input(events[i%len(events)], "prompt", "x", "source", "compact")), &out
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(rand.N(typical*3/2), func() { cmd.Process.Kill() })
		if err := cmd.Wait(); err == nil {
			typical = (typical*3 + time.Since(begun)) / 4
		}
		timer.Stop()
		note(out.String())
		c.own()
		if i%10 == 9 {
			check()
		}
	}
	for range 100 {
		note(c.step("UserPromptSubmit").out)
		c.own()
		if check() == 0 {
			return
		}
	}
	t.Errorf("%d messages of %d were never delivered", check(), len(sent))
}
