//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
)

// slow is a turn that no test waits for.
var slow = mockapi.Rule{Name: "slow", When: mockapi.When{Last: "SLOW"}, Times: -1, Turn: mockapi.Turn{Reply: []mockapi.Block{mockapi.Text("late")}, Delay: time.Minute}}

// Esc before the first output takes the prompt back, with its context: the
// mail in it comes with the next prompt.
func TestEscLosesNothing(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(slow)
	w := d.Terminal("bob", "")
	w.Say("first words")
	d.Request(has("first words"))
	d.idle()
	d.Run("bureau", "send", "bob", "BODY-12 with a prompt", "--no-wake")
	w.Say("SLOW words")
	d.Request(has("SLOW words", "BODY-12"))
	w.Key("Escape")
	d.idle()
	if got := d.stateOf("BODY-12"); got == "seen" {
		t.Fatal("seen, although no answer proves it")
	}
	w.Key("C-u")
	w.Wait(prompt)
	w.Say("other words")
	if r := d.Request(has("other words")); !strings.Contains(r.Last(), "BODY-12") {
		t.Errorf("the next prompt came with\n%s", r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-12") == "seen" })
}

// A prompt typed while a turn runs fires UserPromptSubmit at once, with that
// turn's prompt_id, and waits; the person may take it back, and its context
// with it. The running turn's own Stop proves nothing about it.
func TestAPromptTakenBackLosesNothing(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(mockapi.Rule{Name: "long", When: mockapi.When{Last: "LONG"}, Turn: d.after("go", mockapi.Text("done at last"))})
	w := d.Terminal("bob", "")
	w.Say("LONG words")
	d.Request(has("LONG"))
	d.Run("bureau", "send", "bob", "BODY-18 while you think", "--no-wake")
	w.Say("QUEUED words")
	w.Wait("Press up to edit queued messages")
	// The prompt's hook runs beside this and leaves no trace; a pause that is
	// too short for it makes the test weaker and never fails it.
	time.Sleep(time.Second)
	w.Key("Up")
	w.Wait(`(?m)^❯.QUEUED words`)
	touch(t, d.Project, "go")
	d.idle()
	w.Key("C-u")
	w.Wait(prompt)
	if got := d.stateOf("BODY-18"); got == "seen" {
		t.Error("seen, although the model never got it")
	}
	w.Say("other words")
	if r := d.Request(has("other words")); !strings.Contains(r.Any(), "BODY-18") {
		t.Errorf("the next prompt came with\n%s", r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-18") == "seen" })
}

// A session that is killed before its next move gets its mail again when it is
// resumed.
func TestKillLosesNothing(t *testing.T) {
	d := NewDesk(t)
	d.Extra = append(d.Extra, "BUREAU_NAME=bob")
	d.install(d.hook())
	d.API.Add(slow)
	const id = "11111111-2222-4333-8444-555555555555"
	w := d.Terminal("one", "", "--session-id", id)
	w.Say("first words")
	d.Request(has("first words"))
	d.idle()
	d.Run("bureau", "send", "bob", "BODY-11 before the end", "--no-wake")
	w.Say("SLOW words")
	d.Request(has("SLOW words", "BODY-11"))
	all := d.Sessions()
	if len(all) != 1 {
		t.Fatalf("sessions %+v", all)
	}
	if err := syscall.Kill(all[0].Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.eventually("the session is gone", func() bool { return len(d.Sessions()) == 0 })
	if got := d.stateOf("BODY-11"); got == "seen" {
		t.Fatal("seen, although the session made no move")
	}
	again := d.Terminal("two", "", "--resume", id)
	again.Say("after the end")
	r := d.Request(has("after the end"))
	if who(r) != "bob" || !strings.Contains(r.Last(), "BODY-11") {
		t.Errorf("resumed as %q with\n%s", who(r), r.Last())
	}
	d.eventually("the message is seen", func() bool { return d.stateOf("BODY-11") == "seen" })
}
