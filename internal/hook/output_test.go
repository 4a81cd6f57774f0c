package hook

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/runtimedir"
)

// everyEvent are the events that something is done at, as the client gives them.
var everyEvent = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Notification", "CwdChanged", "SubagentStop", "StopFailure", "Stop", "SessionEnd",
}

// input of an event with what the client usually gives along.
func (c *client) usual(event string) string {
	return c.input(event,
		"source", "resume", "prompt", "please", "tool_name", "mcp__bureau__inbox", "tool_use_id", "toolu_1", "tool_input", map[string]any{"show": "unread"},
		"tool_response", []any{map[string]any{"type": "text", "text": "nothing"}}, "notification_type", "idle_prompt", "message", "waiting",
		"old_cwd", c.dir, "new_cwd", "/", "stop_hook_active", false, "last_assistant_message", "done", "reason", "other",
		"tool_calls", []any{map[string]any{"tool_name": "Bash", "tool_response": "ok"}})
}

// mailStates put mail before a session. Each says whether Stop goes on for it.
var mailStates = []struct {
	name string
	send func(d *desk, to string)
	any  bool // something is to be read
	goes bool // and it may keep a session from stopping
}{
	{"none", func(*desk, string) {}, false, false},
	{"one", func(d *desk, to string) { d.send(to, "hello") }, true, true},
	{"many", func(d *desk, to string) {
		for i := range maxMessages + 1 {
			d.send(to, fmt.Sprint("hello ", i))
		}
	}, true, true},
	{"a question", func(d *desk, to string) {
		d.send(to, "hello")
		d.letter(office.Letter{To: []string{to}, Kind: mail.Question, Body: []byte("ready?")})
	}, true, true},
	{"of low importance", func(d *desk, to string) {
		d.letter(office.Letter{To: []string{to}, Importance: mail.Low, Body: []byte("by the way")})
	}, true, false},
	{"to acknowledge", func(d *desk, to string) {
		d.letter(office.Letter{To: []string{to}, AckWanted: true, Body: []byte("the rules")})
	}, true, true},
}

// TestEveryEvent is case H4 in an office that works: each event, each sort of
// mail, each in a session of its own.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	for _, state := range mailStates {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			for _, event := range everyEvent {
				c := d.client(event)
				c.dir = filepath.Join(d.dir, event) // a seat of its own
				c.event("SessionStart", "source", "startup")
				c.step("UserPromptSubmit").silent()
				state.send(d, c.name())
				s := c.run(strings.NewReader(c.usual(event)))
				s.event = event
				s.check()
				if s.errOut != "" {
					t.Errorf("%s said %q", event, s.errOut)
				}
				wanted := false
				switch event {
				case "SessionStart":
					wanted = true
				case "UserPromptSubmit":
					wanted = state.any
				case "PostToolBatch", "PostToolUse", "Stop":
					wanted = state.goes
				}
				if wanted != (s.out != "") {
					t.Errorf("%s printed %q", event, s.out)
				}
				c.stop()
			}
		})
	}
}

// TestTroubledOffices is case H4 in offices that cannot work: never more than
// a line, and what is printed is valid.
func TestTroubledOffices(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*desk){
		"damaged": func(d *desk) { d.write("office.db", "this is no database, and never was one") },
		"torn":    func(d *desk) { d.truncate("office.db", 5000) },
		"emptied": func(d *desk) { d.truncate("office.db", 0) },
		"missing": func(d *desk) { d.remove("office.db", "office.db-wal", "office.db-shm") },
		"no home": func(d *desk) { d.must(os.RemoveAll(d.home)) },
		"volume":  func(d *desk) { d.must(os.RemoveAll(filepath.Dir(d.home))) },
		"a file":  func(d *desk) { d.must(os.RemoveAll(d.home)); d.must(os.WriteFile(d.home, nil, 0o600)) },
		"live":    func(d *desk) { d.must(os.WriteFile(d.o.RuntimeDir().LiveDB(), []byte("no database either"), 0o600)) },
		"runtime": func(d *desk) { d.must(os.RemoveAll(d.o.RuntimeDir().Path())) },
		"flags":   func(d *desk) { d.must(os.RemoveAll(d.o.RuntimeDir().FlagDir())) },
		"no flag": func(d *desk) { d.must(os.WriteFile(d.o.RuntimeDir().FlagDir()+"x", nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.started("S1")
			d.send(c.name(), "hello")
			if err := d.o.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(d)
			for _, event := range append([]string{"PostToolBatch", "Stop", "UserPromptSubmit"}, everyEvent...) {
				begun := time.Now()
				s := c.run(strings.NewReader(c.usual(event)))
				s.t, s.event = t, event
				s.check()
				if took := time.Since(begun); took > patience {
					t.Errorf("%s took %s", event, took)
				}
			}
			if name == "volume" {
				if _, err := os.Stat(filepath.Dir(d.home)); err == nil {
					t.Error("an office was made where its volume is missing")
				}
			}
		})
	}
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) write(file, content string) {
	d.must(os.WriteFile(filepath.Join(d.home, file), []byte(content), 0o600))
}

func (d *desk) truncate(file string, size int64) {
	d.remove(file+"-wal", file+"-shm")
	d.must(os.Truncate(filepath.Join(d.home, file), size))
}

func (d *desk) remove(files ...string) {
	for _, f := range files {
		if err := os.Remove(filepath.Join(d.home, f)); err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
	}
}

// TestFirstRun: nothing was ever run on this machine but the set-up.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, home: filepath.Join(t.TempDir(), "office"), dir: t.TempDir()}
	t.Cleanup(func() {
		if run, err := runtimedir.Look(d.home); err == nil {
			os.RemoveAll(run.Path())
		}
	})
	c := d.client("S1")
	for _, event := range []string{"PostToolBatch", "UserPromptSubmit", "Stop", "SessionEnd"} {
		s := c.run(strings.NewReader(c.usual(event)))
		s.event = event
		s.check()
		s.silent()
		if !strings.Contains(s.errOut, "bureau init") {
			t.Errorf("%s said %q", event, s.errOut)
		}
	}
	c.event("SessionStart", "source", "startup").has("You are ")
	c.step("UserPromptSubmit").silent()
}

// lockVariable names a database that the test program is to hold locked until
// its input ends.
const lockVariable = "BUREAU_HOOK_TEST_LOCK"

func holdLock(path string) error {
	d, err := db.Open(d0, path, db.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Update(d0, func(tx *db.Tx) error {
		fmt.Println("locked")
		_, err := io.ReadAll(os.Stdin)
		return err
	})
}

// lock lets another process hold a database until the test ends.
func (d *desk) lock(path string) {
	d.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockVariable+"="+path)
	in, err := cmd.StdinPipe()
	d.must(err)
	out, err := cmd.StdoutPipe()
	d.must(err)
	d.must(cmd.Start())
	d.t.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		d.t.Fatal("the other process got no lock: ", err)
	}
}

// TestLockedStores: another process writes for longer than a hook may wait.
func TestLockedStores(t *testing.T) {
	t.Parallel()
	for _, which := range []string{"the office", "the live state"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			sessions := map[string]*client{}
			for _, event := range everyEvent {
				sessions[event] = d.started("S-" + event)
				d.send(sessions[event].name(), "hello")
			}
			path := d.o.StorePath()
			if which == "the live state" {
				path = d.o.RuntimeDir().LiveDB()
			}
			d.lock(path)
			var all sync.WaitGroup
			for event, c := range sessions {
				all.Go(func() {
					begun := time.Now()
					cmd := c.commandOf(program)
					var out, errOut bytes.Buffer
					cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.usual(event)), &out, &errOut
					err := cmd.Run()
					took := time.Since(begun)
					s := said{t: t, event: event, out: out.String(), errOut: errOut.String()}
					limit := deadline
					if event == "SessionEnd" {
						limit = endDeadline
					}
					s.check()
					if err != nil || took > limit+7*time.Second { // a store that is locked is waited for longer
						t.Errorf("%s: %v after %s, said %q, printed %q", event, err, took, s.errOut, s.out)
					}
				})
			}
			all.Wait()
		})
	}
}
