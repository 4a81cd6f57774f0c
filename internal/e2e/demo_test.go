//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// onPath puts the client on the desk's path, as whoever installed it has it.
func (d *Desk) onPath() {
	d.Extra = append(d.Extra, "PATH="+d.Bin+":"+filepath.Dir(d.Claude)+":/usr/local/bin:/usr/bin:/bin", "TMPDIR="+filepath.Join(d.Dir, "tmp"))
	if err := os.MkdirAll(filepath.Join(d.Dir, "tmp"), 0o755); err != nil {
		d.T.Fatal(err)
	}
}

// The demonstration with the real client: two sessions talk in an office of
// their own, of which nothing is left, and the person's settings, hooks and
// office have no part in it.
func TestDemoWithTheClient(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.onPath()
	settings := filepath.Join(d.Home, ".claude", "settings.json")
	before := read(t, settings)
	d.API.Add(
		mockapi.Rule{Name: "bob waits", When: mockapi.When{Last: "You are bob, and"}, Turn: mockapi.Call("mcp__bureau__inbox", map[string]any{"wait_seconds": 45})},
		mockapi.Rule{Name: "ana asks", When: mockapi.When{Last: "You are ana, and"}, Turn: mockapi.Call("mcp__bureau__ask", map[string]any{"to": "bob", "text": "On which port does staging listen?"})},
		mockapi.Rule{Name: "bob answers", When: mockapi.When{Last: "On which port", Any: "You are bob, and"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			return answerTo(r, "On which port", "It listens on port 8471.")
		}}},
		mockapi.Rule{Name: "ana hears", When: mockapi.When{Last: "port 8471", Any: "You are ana, and"}, Turn: mockapi.Say("bob says that it is port 8471")},
		mockapi.Rule{Name: "bob ends", When: mockapi.When{Any: "You are bob, and"}, Times: -1, Turn: mockapi.Say("I told ana the port")},
	)
	out := d.Run("bureau", "demo", "--claude", "--yes", "--model", "haiku")
	for _, want := range []string{
		"your own login, with the model haiku", "never more than 16", "never more than $0.50", "--max-turns 8",
		"ana said: bob says that it is port 8471", "bob said: I told ana the port", "On which port does staging listen?", "answered", "By the client's own count",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the demonstration does not show %q:\n%s", want, out)
		}
	}
	if strings.Index(out, "never more than") > strings.Index(out, "bob comes in") {
		t.Error("what it costs is said after it began")
	}
	all := d.API.Requests()
	if len(all) != 5 {
		t.Errorf("%d requests, want 5", len(all))
		d.Dump()
	}
	// The client puts a placeholder where tools are to be had by search.
	foreign := func(tool string) bool {
		return !strings.HasPrefix(tool, "mcp__bureau__") && tool != "DeferredToolPlaceholder"
	}
	for _, r := range all {
		if !strings.Contains(r.Model, "haiku") || slices.ContainsFunc(r.Tools, foreign) {
			t.Errorf("model %s, tools %v", r.Model, r.Tools)
		}
	}
	if len(d.agents()) != 0 {
		t.Errorf("in the person's own office there are %v", d.agents())
	}
	if after := read(t, settings); after != before {
		t.Errorf("the person's settings are\n%s\nand were\n%s", after, before)
	}
	if left, _ := filepath.Glob(filepath.Join(d.Dir, "tmp", "bureau-demo-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	var transcripts []string
	_ = filepath.WalkDir(filepath.Join(d.Home, ".claude", "projects"), func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			transcripts = append(transcripts, path)
		}
		return nil
	})
	if len(transcripts) > 0 {
		t.Errorf("conversations are left: %v", transcripts)
	}
}

// In a terminal it asks, and a no starts nothing.
func TestDemoAsksFirst(t *testing.T) {
	d := NewDesk(t)
	d.onPath()
	for _, tt := range []struct{ name, key, end string }{
		{"no", "n", `Nothing was started\.\nENDED 0`}, {"nothing", "Enter", `Nothing was started\.\nENDED 0`}, {"interrupt", "C-c", "ENDED 130"},
	} {
		w := d.demoWindow(tt.name)
		w.Wait(`Go on\? \[y/N\]`)
		if screen := w.Screen(); !strings.Contains(screen, "your own login") || !strings.Contains(screen, "$0.50") {
			t.Errorf("it asks without having said what it costs:\n%s", screen)
		}
		w.Key(tt.key)
		if tt.key == "n" {
			w.Key("Enter")
		}
		w.Wait(tt.end)
	}
	if n := len(d.API.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// What goes wrong is said, and nothing is left running or lying about.
func TestDemoThatGoesWrong(t *testing.T) {
	d := NewDesk(t)
	d.onPath()
	d.Extra = append(d.Extra, "ANTHROPIC_API_KEY=") // nobody is logged in
	out, err := d.Try("bureau", "demo", "--claude", "--yes")
	if err == nil || !strings.Contains(out, "the demonstration went wrong: ") || !strings.Contains(out, "/login") || !strings.Contains(out, "claude -p hello") {
		t.Errorf("%v\n%s", err, out)
	}
	d.eventually("the sessions are gone", func() bool { return len(d.Sessions()) == 0 })
	if left, _ := filepath.Glob(filepath.Join(d.Dir, "tmp", "bureau-demo-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Interrupted in the middle it ends both sessions and leaves nothing.
func TestDemoInterrupted(t *testing.T) {
	d := NewDesk(t)
	d.onPath()
	d.API.Add(mockapi.Rule{Name: "bob waits", When: mockapi.When{Last: "You are bob, and"}, Turn: mockapi.Call("mcp__bureau__inbox", map[string]any{"wait_seconds": 45})},
		mockapi.Rule{Name: "ana thinks", When: mockapi.When{Last: "You are ana, and"}, Turn: d.after("never")})
	w := d.demoWindow("demo", "--yes")
	d.Request(has("You are bob, and"))
	d.Request(has("You are ana, and"))
	w.Key("C-c")
	w.Wait("ENDED 130")
	d.eventually("the sessions are gone", func() bool { return len(d.Sessions()) == 0 })
	if left, _ := filepath.Glob(filepath.Join(d.Dir, "tmp", "bureau-demo-*")); len(left) > 0 {
		t.Errorf("left: %v\n%s", left, w.Screen())
	}
	touch(t, d.Project, "never")
	if n := len(d.API.Requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// demoWindow gives the demonstration in a terminal, and says there how it ended.
func (d *Desk) demoWindow(name string, args ...string) *Terminal {
	d.T.Helper()
	return d.Window(name, d.Project, append([]string{"sh", "-c", `trap : INT; bureau demo --claude "$@"; echo "ENDED $?"; sleep 600`, "sh"}, args...)...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
