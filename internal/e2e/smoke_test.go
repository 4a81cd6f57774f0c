//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/agent/claude/inbox"
	"bureau/internal/e2e/mockapi"
)

// recorder puts a program in the hook's place that keeps what each event says
// and answers with a context.
func recorder(t *testing.T, d *Desk) (program, folder string) {
	t.Helper()
	folder = filepath.Join(d.Dir, "events")
	program = filepath.Join(d.Dir, "bin é", "bureau-hook")
	for _, dir := range []string{folder, filepath.Dir(program)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := `#!/bin/sh
[ "$1 $2 $3" = "claude --home $HOME/.bureau" ] || exit 1
in=$(cat)
event=$(printf %s "$in" | sed 's/.*"hook_event_name":"\([A-Za-z]*\)".*/\1/')
printf '%s\n' "$in" >> "` + folder + `/$event"
case $event in SessionStart|UserPromptSubmit|PostToolBatch)
	printf '{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"CONTEXT-OF-%s"}}' $event $event;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, folder
}

// What setup registers runs: hooks in the exec form, at the events that are
// registered, and their context reaches the model.
func TestRegisteredHooksRun(t *testing.T) {
	d := NewDesk(t)
	hook, folder := recorder(t, d)
	d.install(hook)
	d.API.Add(mockapi.Rule{When: mockapi.When{Last: "run a command"}, Turn: mockapi.Call("Bash", map[string]string{"command": "echo ran-here", "description": "d"})})
	if got := d.Print("run a command", "--allowedTools", "Bash"); got != "ok" {
		t.Errorf("the client said %q", got)
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop", "SessionEnd"} {
		text, err := os.ReadFile(filepath.Join(folder, event))
		var in struct {
			Event string `json:"hook_event_name"`
		}
		if err != nil || json.Unmarshal(text, &in) != nil || in.Event != event {
			t.Errorf("%s: %v %s", event, err, text)
		}
	}
	last := d.Request(func(r *mockapi.Request) bool { return strings.Contains(r.Last(), "ran-here") })
	for _, word := range []string{"CONTEXT-OF-SessionStart", "CONTEXT-OF-UserPromptSubmit", "CONTEXT-OF-PostToolBatch"} {
		if !strings.Contains(last.Any(), word) {
			t.Errorf("the model was not given %s", word)
		}
	}
}

// A doorbell wakes an idle session, is shown under our name, and its prompt is
// not taken for the person's.
func TestDoorbell(t *testing.T) {
	d := NewDesk(t)
	hook, folder := recorder(t, d)
	d.install(hook)
	w := d.Terminal("a", "")
	w.Say("hello there")
	d.Request(func(r *mockapi.Request) bool { return strings.Contains(r.Last(), "hello there") })
	d.idle()
	rec := d.Sessions()[0]
	if _, err := inbox.RingRecord(t.Context(), rec, "", "1 new message (m1): call inbox"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r := d.Request(func(r *mockapi.Request) bool { return strings.Contains(r.Last(), "(m1): call inbox") })
	t.Logf("woken after %v", r.At.Sub(began).Round(time.Millisecond))
	w.Wait("Message from @bureau: 1 new message")
	text, err := os.ReadFile(filepath.Join(folder, "UserPromptSubmit"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []claude.OriginKind
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var in struct {
			Prompt     string
			Transcript string `json:"transcript_path"`
			PromptID   string `json:"prompt_id"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, claude.UserPromptOrigin(in.Prompt, in.Transcript, in.PromptID).Kind)
	}
	if len(kinds) != 2 || kinds[0] != claude.Human || kinds[1] != claude.Doorbell {
		t.Errorf("prompts of %v", kinds)
	}
}
