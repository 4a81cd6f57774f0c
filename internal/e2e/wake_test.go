//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bureau/internal/e2e/mockapi"
)

// A session that has been idle all the while fires no event that could bring
// its mail: it is woken all the same, once, and the sender learns by what.
func TestNothingHappensAndMailComes(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.install(d.hook())
	d.API.Add(mockapi.Rule{Name: "woken", When: mockapi.When{Last: "BODY-24"}, Turn: d.after("thought", mockapi.Text("read"))})
	w := d.Terminal("bob", "")
	d.eventually("bob is here", func() bool { return d.agents()["bob"] != "" && len(d.Sessions()) == 1 })
	time.Sleep(5 * time.Second)
	now := time.Now()
	d.Run("bureau", "send", "bob", "BODY-24 out of the blue")
	r := d.Request(has("BODY-24"))
	if took := r.At.Sub(now); took > patience/2 {
		t.Errorf("woken after %v", took)
	}
	d.eventually("the sender is told how", func() bool {
		m := d.sentBy("")[0]
		return len(m.Receipts) == 1 && strings.Contains(m.Receipts[0].Woken, "woken via inbox")
	})
	touch(t, d.Project, "thought")
	d.eventually("it is seen", func() bool { return d.stateOf("BODY-24") == "seen" })

	// The same while the session's server is not there: the sender rings.
	client := d.Sessions()[0].Process.PID
	servers := serversOf(t, client)
	if len(servers) != 1 {
		t.Fatalf("servers %v below %d", servers, client)
	}
	if err := syscall.Kill(servers[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.idle()
	time.Sleep(3 * time.Second) // rings of one session are kept apart, and a sender rings at once or not
	if out := d.Run("bureau", "send", "bob", "BODY-25 without a server"); !strings.Contains(out, "inbox") {
		t.Errorf("the sender is told\n%s", out)
	}
	d.Request(has("BODY-25"))
	d.eventually("it is seen", func() bool { return d.stateOf("BODY-25") == "seen" })
	time.Sleep(3 * time.Second)
	if n := len(d.API.Requests()); n != 2 {
		t.Errorf("%d requests for two messages", n)
		d.Dump()
	}
	if screen := w.Screen(); strings.Count(screen, "Message from @bureau") != 2 {
		t.Errorf("the person saw\n%s", screen)
	}
	// Whoever is gone cannot be woken, and the sender is not told otherwise.
	w.Say("/exit")
	d.eventually("the session ends", func() bool { return len(d.Sessions()) == 0 })
	if out := d.Run("bureau", "send", "bob", "BODY-26 for whoever comes"); strings.Contains(out, "inbox") {
		t.Errorf("the sender is told\n%s", out)
	}
}

// serversOf lists the processes of our server that a client has started.
func serversOf(t *testing.T, client int) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // gone meanwhile
		}
		// PID (NAME) STATE PPID …
		rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil || len(rest) < 2 || rest[1] != strconv.Itoa(client) || !strings.Contains(string(line), "bureau\x00mcp\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// A client that gives up on a call that waits does not take the mail with it:
// other calls are answered meanwhile, and what comes later comes with the next
// one.
func TestTheClientGivesUpAWait(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob", "MCP_TOOL_TIMEOUT=6000"}
	d.install(d.hook())
	d.API.Add(
		mockapi.Rule{Name: "waits", When: mockapi.When{Last: "WORK"}, Turn: mockapi.Turn{Reply: []mockapi.Block{
			mockapi.Tool("mcp__bureau__inbox", map[string]any{"wait_seconds": 90}), mockapi.Tool("mcp__bureau__roster", nil)}}},
		mockapi.Rule{Name: "gave up", When: mockapi.When{Last: "tool_result error"}, Turn: d.after("sent", mockapi.Tool("mcp__bureau__inbox", map[string]any{"wait_seconds": 90}))},
	)
	run := d.Background("WORK")
	r := d.Request(has("tool_result error"))
	if !strings.Contains(r.Last(), `"you":{"name":"bob"`) {
		t.Errorf("the call beside the wait gave\n%s", r.Last())
	}
	d.Run("bureau", "send", "bob", "BODY-27 after the wait")
	touch(t, d.Project, "sent")
	if r := d.Request(has("BODY-27")); strings.Contains(r.Last(), "tool_result error") {
		t.Errorf("the second wait gave\n%s", r.Last())
	}
	run.Wait(t)
	if got := d.stateOf("BODY-27"); got != "seen" {
		t.Errorf("the message is %s", got)
	}
}
