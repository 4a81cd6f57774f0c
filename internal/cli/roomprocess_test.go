package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// roomDesk is an office with eight agents, in a room with a transcript.
func roomDesk(t *testing.T) (d *desk, agents []string) {
	d = newDesk(t)
	for i := range 8 {
		agents = append(agents, fmt.Sprintf("w%d", i))
		d.must("register", agents[i])
	}
	return d, agents
}

// all runs a command for each agent at once, each in a process of its own.
func (d *desk) all(agents []string, args func(agent string) []string) {
	d.t.Helper()
	var wg sync.WaitGroup
	for _, a := range agents {
		wg.Go(func() {
			if out, err := d.command(append(args(a), "--as", a)...).CombinedOutput(); err != nil {
				d.t.Errorf("%v: %v\n%s", args(a), err, out)
			}
		})
	}
	wg.Wait()
}

// Eight processes join at once, and all are there, each with one notice. The
// meeting began once.
func TestEightJoinAtOnce(t *testing.T) {
	const rounds = 20
	d, agents := roomDesk(t)
	for i := range rounds {
		r := fmt.Sprintf("r%d", i)
		d.must("room", "open", r, "--members", strings.Join(agents, ","), "--barrier", "declared")
		d.all(agents, func(string) []string { return []string{"room", "join", r, "--no-wait"} })
		var v office.RoomView
		d.decode(&v, "room", "show", r)
		if len(v.Present) != len(agents) || !v.Started || v.Holder == "" {
			t.Fatalf("round %d: %+v", i, v)
		}
		var log office.RoomLog
		d.decode(&log, "room", "history", r)
		kinds := map[string]int{}
		for n, e := range log.Entries {
			kinds[string(e.Kind)]++
			if e.Seq != int64(n+1) {
				t.Errorf("entry %d has the number %d", n+1, e.Seq)
			}
		}
		if kinds[string(room.KindJoined)] != len(agents) || kinds[string(room.KindStarted)] != 1 || log.Total != int64(len(agents)+1) {
			t.Fatalf("round %d: %v", i, kinds)
		}
	}
	d.verify()
}

// Eight processes speak at once in an open room: nothing is lost or doubled,
// and the transcript is whole and in the room's order.
func TestEightSpeakAtOnce(t *testing.T) {
	const rounds = 6
	d, agents := roomDesk(t)
	d.must("room", "open", "r", "--members", strings.Join(agents, ","), "--floor", "open", "--transcript", "r.md")
	d.all(agents, func(string) []string { return []string{"room", "join", "r", "--no-wait"} })
	for i := range rounds {
		d.all(agents, func(a string) []string {
			return []string{"room", "say", "r", fmt.Sprintf("@all %s says %d\n# no heading", a, i)}
		})
	}
	var log office.RoomLog
	d.decode(&log, "room", "history", "r", "--limit", "200")
	var said []string
	for _, e := range log.Entries {
		if e.Message {
			said = append(said, e.Text)
		}
	}
	sorted := slices.Clone(said)
	slices.Sort(sorted)
	if n := len(slices.Compact(sorted)); n != rounds*len(agents) || n != len(said) {
		t.Errorf("%d messages, %d different ones", len(said), n)
	}
	doc, err := transcript.Parse(filepath.Join(d.dir, "r.md"))
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, e := range doc.Entries {
		if e.Kind == transcript.Message {
			written = append(written, e.Body)
		}
	}
	if !slices.Equal(written, said) {
		t.Errorf("the transcript has\n%q\nthe room\n%q", written, said)
	}
	d.verify()
}

// A meeting goes on when every process in it is killed: who comes again has the
// same turn, and gets what it was not shown.
func TestMeetingOutlivesItsProcesses(t *testing.T) {
	d, agents := roomDesk(t)
	agents = agents[:3]
	d.must("room", "open", "r", "--members", strings.Join(agents, ","))
	d.all(agents, func(string) []string { return []string{"room", "join", "r", "--no-wait"} })
	d.must("room", "skip", "r", "--to", "w0")
	waiting := make([]*exec.Cmd, 0, len(agents))
	for _, a := range agents[1:] {
		cmd := d.command("room", "wait", "r", "--timeout", "60s", "--as", a)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, cmd)
	}
	for _, cmd := range waiting { // as dead as can be, at whatever they were
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	d.must("room", "say", "r", "@w1 @w2 go on", "--as", "w0")
	var w office.Waited
	d.decode(&w, "room", "wait", "r", "--as", "w1")
	i := slices.IndexFunc(w.Entries, func(e office.RoomEntry) bool { return e.Text == "@w1 @w2 go on" })
	if w.Status != office.RoomYourTurn || i < 0 || !slices.Equal(w.Room.Queue, []name.Name{"w2"}) {
		raw, _ := json.Marshal(w)
		t.Errorf("%s", raw)
	}
	d.must("room", "say", "r", "@w0 yes", "--as", "w1")
	d.decode(&w, "room", "wait", "r", "--as", "w2")
	if w.Status != office.RoomYourTurn {
		t.Errorf("%+v", w)
	}
	d.verify()
}

// What rooms want is printed as soon as somebody looks on, not with the next
// event.
func TestTailSaysAtOnceWhoAsks(t *testing.T) {
	d, _ := roomDesk(t)
	d.must("room", "open", "r", "--members", "w0,w1")
	d.must("room", "join", "r", "--no-wait", "--as", "w0")
	d.must("room", "join", "r", "--no-wait", "--as", "w1")
	d.must("room", "say", "r", "@user red or blue?", "--as", "w0")
	cmd := d.command("tail")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	told := false
	for lines := bufio.NewScanner(out); !told && lines.Scan(); {
		told = strings.Contains(lines.Text(), "@w0 asks @user: @user red or blue?")
	}
	if !told {
		t.Error("it says nothing of who asks the person until something else happens")
	}
	cmd.Process.Kill()
	cmd.Wait()
}
