//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/agent/claude"
	"bureau/internal/e2e/mockapi"
	"bureau/internal/setup"
)

func (d *Desk) options(hook string) setup.Options {
	return setup.Options{
		Home: d.Office, Bureau: filepath.Join(d.Bin, "bureau"), Hook: hook, Allow: true,
		Homes:  []claude.Home{{Dir: filepath.Join(d.Home, ".claude"), Default: true}},
		Client: setup.Client{Path: d.Claude, Version: claude.Tested},
	}
}

// install does what a person does, and nothing else. The client is not on the
// desk's path, so files are edited. With another program in the hook's place
// the same is done without the command.
func (d *Desk) install(hook string) {
	d.T.Helper()
	if hook == d.hook() {
		d.Run("bureau", "setup", "claude", "--allow")
		return
	}
	d.Run("bureau", "init")
	o := d.options(hook)
	o.Client.Path = ""
	p, err := setup.Prepare(o)
	if err != nil {
		d.T.Fatal(err)
	}
	if err := p.Apply(d.T.Context()); err != nil {
		d.T.Fatal(err)
	}
}

// hook is our own program for hooks.
func (d *Desk) hook() string { return filepath.Join(d.Bin, "bureau-hook") }

// plugin is the repository's plugin folder.
func (d *Desk) plugin() string {
	d.T.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "plugin"))
	if err != nil {
		d.T.Fatal(err)
	}
	return dir
}

// sent is a message as its sender sees it.
type sent struct {
	Body, State string
	Receipts    []struct{ Name, State, Woken string }
}

// sentBy lists what somebody has sent, the newest first; "" is the person.
func (d *Desk) sentBy(name string) []sent {
	d.T.Helper()
	args := []string{"sent", "--json"}
	if name != "" {
		args = append(args, "--as", name)
	}
	var out struct{ Messages []sent }
	if text := d.Run("bureau", args...); json.Unmarshal([]byte(text), &out) != nil {
		d.T.Fatalf("bureau sent: %s", text)
	}
	return out.Messages
}

// stateOf gives the state of the message with these words in it.
func (d *Desk) stateOf(words string) string {
	d.T.Helper()
	for _, m := range d.sentBy("") {
		if strings.Contains(m.Body, words) {
			return m.State
		}
	}
	return "(not sent)"
}

// idle waits until the one session on the desk is idle. What is typed before
// that belongs to the running turn.
func (d *Desk) idle() {
	d.T.Helper()
	d.eventually("the session is idle", func() bool {
		all := d.Sessions()
		return len(all) == 1 && all[0].Status == claude.Idle
	})
}

// quiet waits until no session works: a prompt that is typed before joins the
// turn that runs.
func (d *Desk) quiet() {
	d.T.Helper()
	d.eventually("all sessions are idle", func() bool {
		return !slices.ContainsFunc(d.Sessions(), func(r claude.Record) bool { return r.Status != claude.Idle })
	})
}

// has is a request whose newest part holds all these words.
func has(words ...string) func(*mockapi.Request) bool {
	return func(r *mockapi.Request) bool {
		last := r.Last()
		for _, w := range words {
			if !strings.Contains(last, w) {
				return false
			}
		}
		return true
	}
}

// bash is the call of a shell command.
func bash(command string) mockapi.Turn {
	return mockapi.Call("Bash", map[string]string{"command": command, "description": "a step"})
}
