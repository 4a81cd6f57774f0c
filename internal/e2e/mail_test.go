//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
)

// A message that comes while a tool runs is in the model's next request, and
// seen once the model has made its next move.
func TestMailWhileAToolRuns(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(mockapi.Rule{Name: "work", When: mockapi.When{Last: "WORK"}, Turn: bash("touch started; while [ ! -e go ]; do sleep 0.1; done; echo tool-ran")})
	run := d.Background("WORK", "--allowedTools", "Bash")
	d.eventually("the tool runs", func() bool { return exists(d.Project, "started") })
	d.Run("bureau", "send", "bob", "BODY-7 while you work")
	touch(t, d.Project, "go")
	if got := run.Wait(t); got != "ok" {
		t.Errorf("the client said %q", got)
	}
	next := d.Request(has("tool-ran"))
	for _, want := range []string{"BODY-7 while you work", "bureau-message-", `from="user"`} {
		if !strings.Contains(next.Last(), want) {
			t.Errorf("the request after the tool lacks %q:\n%s", want, next.Last())
		}
	}
	if n := len(d.API.Requests()); n != 2 {
		t.Errorf("%d requests, want 2: the turn went on for nothing", n)
	}
	if got := d.stateOf("BODY-7"); got != "seen" {
		t.Errorf("the message is %s", got)
	}
}

// Stop with an open question makes the session go on once; with nothing it
// ends.
func TestStopWithAnOpenQuestion(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "quiet", When: mockapi.When{Last: "QUIET"}, Turn: mockapi.Say("quiet")},
		mockapi.Rule{Name: "busy", When: mockapi.When{Last: "BUSY"}, Turn: d.after("asked", mockapi.Text("nothing left to do"))},
		mockapi.Rule{Name: "answer", When: mockapi.When{Last: "Q-5"}, Turn: bash(`bureau answer "A-5, surely"`)},
		mockapi.Rule{Name: "end", When: mockapi.When{Last: "tool_result"}, Times: -1, Turn: mockapi.Say("answered")},
	)
	if got := d.Print("QUIET", "--allowedTools", "Bash"); got != "quiet" || len(d.API.Requests()) != 1 {
		t.Fatalf("with nothing to read: %q, %d requests", got, len(d.API.Requests()))
	}
	run := d.Background("BUSY", "--allowedTools", "Bash")
	d.Request(has("BUSY"))
	type outcome struct {
		out string
		err error
	}
	asked := make(chan outcome, 1)
	go func() {
		out, err := d.Try("bureau", "ask", "bob", "Q-5: is it so?", "--timeout", "60s")
		asked <- outcome{out, err}
	}()
	d.eventually("the question is stored", func() bool { return d.stateOf("Q-5") != "(not sent)" })
	touch(t, d.Project, "asked")
	if got := run.Wait(t); got != "answered" {
		t.Errorf("the client said %q", got)
	}
	select {
	case o := <-asked:
		if o.err != nil || !strings.Contains(o.out, "A-5, surely") {
			t.Errorf("the asker got %q %v", o.out, o.err)
		}
	case <-time.After(patience):
		t.Error("the asker still waits")
	}
	again := d.Request(has("Q-5"))
	if !strings.Contains(again.Last(), "Stop hook feedback") || again.Rule != "answer" {
		t.Errorf("the session went on by %s with\n%s", again.Rule, again.Last())
	}
	// Quiet, busy, the question, after the answer.
	if n := len(d.API.Requests()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

// A question that came within the turn, and that the model passed over, makes the
// session go on once: its answer is given by the tool that the hook names.
func TestStopWithAQuestionThatWasPassedOver(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "work", When: mockapi.When{Last: "WORK"}, Turn: bash("touch started; while [ ! -e go ]; do sleep 0.1; done; echo tool-ran")},
		mockapi.Rule{Name: "pass over", When: mockapi.When{Last: "tool-ran"}, Turn: mockapi.Say("done")},
		mockapi.Rule{Name: "still", When: mockapi.When{Last: "1 question waits for your answer"}, Turn: mockapi.Say("not now")},
	)
	run := d.Background("WORK", "--allowedTools", "Bash")
	d.eventually("the tool runs", func() bool { return exists(d.Project, "started") })
	d.Run("bureau", "send", "bob", "Q-6: is it so?", "--kind", "question")
	touch(t, d.Project, "go")
	if got := run.Wait(t); got != "not now" {
		t.Errorf("the client said %q", got)
	}
	if r := d.Request(has("tool-ran")); !strings.Contains(r.Last(), "Q-6") || r.Rule != "pass over" {
		t.Errorf("the question came by %s with\n%s", r.Rule, r.Last())
	}
	again := d.Request(has("1 question waits for your answer"))
	if !strings.Contains(again.Last(), "Stop hook feedback") || !strings.Contains(again.Last(), "from user. Answer with the send tool") {
		t.Errorf("the session went on with\n%s", again.Last())
	}
	// The work, its result, and the one reminder.
	if n := len(d.API.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// What another hook blocks took its context with it: the mail comes again, and
// is not seen before the model had it.
func TestABlockedPromptLosesNothing(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	guard := filepath.Join(d.Dir, "guard")
	if err := os.WriteFile(guard, []byte("#!/bin/sh\nif grep -q BLOCKED; then sleep 0.5; echo '{\"decision\":\"block\",\"reason\":\"no\"}'; fi\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.WriteJSON(filepath.Join(d.Home, ".claude", "settings.json"), map[string]any{"hooks": map[string]any{
		"UserPromptSubmit": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": guard, "args": []string{}}}}}}})
	d.install(d.hook())
	w := d.Terminal("bob", "")
	w.Say("first words")
	d.Request(has("first words"))
	d.idle()
	d.Run("bureau", "send", "bob", "BODY-8 for the next prompt", "--no-wake")
	w.Say("BLOCKED words")
	w.Wait("blocked by hook")
	if got := d.stateOf("BODY-8"); got == "seen" {
		t.Fatal("seen, although the model never got it")
	}
	w.Key("C-u") // the blocked words are offered again for editing
	w.Wait(prompt)
	w.Say("other words")
	r := d.Request(has("other words"))
	if !strings.Contains(r.Last(), "BODY-8") || strings.Contains(r.Any(), "BLOCKED") {
		t.Errorf("the next prompt came with\n%s", r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-8") == "seen" })
}

// after is a turn that comes when the test has made a file in the project.
func (d *Desk) after(file string, reply ...mockapi.Block) mockapi.Turn {
	return mockapi.Turn{From: func(*mockapi.Request) []mockapi.Block {
		for end := time.Now().Add(patience); !exists(d.Project, file) && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		return reply
	}}
}

// work is a tool that says when it has begun and ends when the test has made
// the file "go".
func work() mockapi.Block {
	return bash("touch started; while [ ! -e go ]; do sleep 0.1; done; echo tool-ran").Reply[0]
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

func touch(t testing.TB, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(fmt.Sprintln("x")), 0o644); err != nil {
		t.Fatal(err)
	}
}
