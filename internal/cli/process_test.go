package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
)

// desk is an office of a test, used through processes and through Run.
type desk struct {
	t    *testing.T
	home string
	dir  string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: filepath.Join(t.TempDir(), "office"), dir: t.TempDir()}
	t.Cleanup(func() { forget(t, d.home) })
	return d
}

func (d *desk) env(key string) string {
	if key == office.HomeVariable {
		return d.home
	}
	return ""
}

// run carries out a command inside this process, as a program would see it.
func (d *desk) run(args ...string) (status int, out, errs string) {
	d.t.Helper()
	return d.runIO(IO{}, args...)
}

func (d *desk) runIO(streams IO, args ...string) (status int, out, errs string) {
	d.t.Helper()
	var o, e bytes.Buffer
	if streams.In == nil {
		streams.In = strings.NewReader("")
	}
	if streams.Out == nil {
		streams.Out = &o
	}
	streams.Err, streams.Env, streams.Dir = &e, d.env, d.dir
	if streams.Now == nil {
		streams.Now = time.Now
	}
	status = Run(context.Background(), streams, args)
	return status, o.String(), e.String()
}

// must carries out a command that has to succeed.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	status, out, errs := d.run(args...)
	if status != 0 {
		d.t.Fatalf("bureau %s: status %d\n%s%s", strings.Join(args, " "), status, out, errs)
	}
	return out
}

// decode carries out a command with --json.
func (d *desk) decode(v any, args ...string) {
	d.t.Helper()
	out := d.must(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		d.t.Fatalf("bureau %s: %v in %s", strings.Join(args, " "), err, out)
	}
}

// command is a process of its own.
func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command("bureau", args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), office.HomeVariable+"="+d.home, "BUREAU_AS=", "GORACE="+raceless)
	return cmd
}

// Every call that succeeded is there afterwards, with an id of its own: many
// processes lose nothing to each other (C1).
func TestManyProcessesLoseNothing(t *testing.T) {
	const workers, rounds = 6, 5
	d := newDesk(t)
	d.must("register", "b")
	var mu sync.Mutex
	var ids []string
	var failures []string
	var wg sync.WaitGroup
	start := make(chan struct{})
	for w := range workers {
		wg.Go(func() {
			me := fmt.Sprintf("w%d", w)
			<-start
			for i := range rounds {
				var steps [][]string
				if i == 0 {
					steps = append(steps, []string{"register", me})
				}
				steps = append(steps,
					[]string{"send", "b", fmt.Sprintf("%s says %d", me, i), "--as", me},
					[]string{"board", "set", fmt.Sprintf("%s-%d", me, i), "x", "--as", me})
				for _, args := range steps {
					out, err := d.command(append(args, "--json")...).Output()
					var v struct{ ID string }
					mu.Lock()
					if err != nil {
						failures = append(failures, fmt.Sprintf("%v: %v", args, err))
					} else if err := json.Unmarshal(out, &v); err != nil {
						failures = append(failures, fmt.Sprintf("%v: %s", args, out))
					} else if args[0] == "send" {
						ids = append(ids, v.ID)
					}
					mu.Unlock()
				}
			}
		})
	}
	close(start)
	wg.Wait()
	if len(failures) > 0 {
		t.Fatalf("%d commands failed: %v", len(failures), failures)
	}
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != workers*rounds {
		t.Fatalf("%d ids for %d messages", got, workers*rounds)
	}
	var box office.Messages
	d.decode(&box, "inbox", "--as", "b", "--limit", "500")
	for _, m := range box.Messages {
		if _, mine := slices.BinarySearch(ids, string(m.ID)); !mine {
			t.Errorf("message %s was never acknowledged to its sender", m.ID)
		}
	}
	if box.Total != workers*rounds || len(box.Messages) != workers*rounds {
		t.Errorf("%d of %d messages arrived", box.Total, workers*rounds)
	}
	var entries office.Entries
	d.decode(&entries, "board", "list", "--limit", "500")
	if entries.Total != workers*rounds {
		t.Errorf("%d of %d board entries are there", entries.Total, workers*rounds)
	}
	var agents office.Agents
	d.decode(&agents, "agents")
	if agents.Total != workers+2 {
		t.Errorf("%d agents, not %d", agents.Total, workers+2)
	}
	d.verify()
}

// verify checks the journal as a whole.
func (d *desk) verify() {
	d.t.Helper()
	ctx := context.Background()
	o, err := office.Open(ctx, office.Options{Home: d.home})
	if err != nil {
		d.t.Fatal(err)
	}
	defer o.Close()
	report, err := o.Verify(ctx, nil)
	if err != nil || len(report.Findings) > 0 {
		d.t.Errorf("%+v, %v", report, err)
	}
}

// Two readers of one inbox at the same time are never given the same message,
// and together they get all.
func TestTwoReadersShareAnInbox(t *testing.T) {
	const messages = 60
	d := newDesk(t)
	d.must("register", "a")
	d.must("register", "b")
	ctx := context.Background()
	o, err := office.Open(ctx, office.Options{Home: d.home})
	if err != nil {
		t.Fatal(err)
	}
	ana, err := o.Identify(ctx, office.Claim{As: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range messages {
		if _, err := o.Send(ctx, ana, office.Letter{To: []string{"b"}, Body: fmt.Appendf(nil, "n%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[event.ID]int{}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				out, err := d.command("read", "--as", "b", "--limit", "7", "--json").Output()
				if err != nil {
					t.Error(err)
					return
				}
				var page office.Messages
				if err := json.Unmarshal(out, &page); err != nil {
					t.Error(err)
					return
				}
				if len(page.Messages) == 0 {
					return
				}
				mu.Lock()
				for _, m := range page.Messages {
					got[m.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range got {
		if n != 1 {
			t.Errorf("message %s was given %d times", id, n)
		}
	}
	if len(got) != messages {
		t.Errorf("%d of %d messages were given", len(got), messages)
	}
	var box office.Messages
	if d.decode(&box, "inbox", "--as", "b"); box.Total != 0 {
		t.Errorf("%d messages are still unread", box.Total)
	}
}

// The list of a big office stays short, tells how big it is, and a small one
// is listed in full (S4).
func TestDirectoryOfManyIsBounded(t *testing.T) {
	const agents, most = 100, 8 << 10
	d := newDesk(t)
	d.must("register", "first")
	var list office.Agents
	if d.decode(&list, "agents"); len(list.Agents) != 2 || list.Next != "" {
		t.Errorf("a small office is not listed in full: %+v", list)
	}
	for i := range agents - 2 {
		d.must("register", fmt.Sprintf("agent-%03d", i))
	}
	out := d.must("agents", "--json")
	if len(out) > most {
		t.Errorf("the list has %d bytes", len(out))
	}
	if d.decode(&list, "agents"); list.Total != agents || list.Next == "" {
		t.Errorf("%d agents, next %q", list.Total, list.Next)
	}
	if text := d.must("agents"); len(text) > most || !strings.Contains(text, "20 of 100 agents, 0 here") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	seen := map[event.ID]bool{}
	for cursor := ""; ; cursor = list.Next {
		args := []string{"agents", "--limit", "33"}
		if cursor != "" {
			args = append(args, "--cursor", cursor)
		}
		list = office.Agents{}
		d.decode(&list, args...)
		for _, a := range list.Agents {
			if seen[a.ID] {
				t.Errorf("%s is listed twice", a.Name)
			}
			seen[a.ID] = true
		}
		if list.Next == "" {
			break
		}
	}
	if len(seen) != agents {
		t.Errorf("the walk shows %d of %d", len(seen), agents)
	}
}

// Two who answer each other for ever are stopped by the thread's budget, after
// exactly as many messages as it has hops.
func TestPingPongStops(t *testing.T) {
	d := newDesk(t)
	d.must("register", "a")
	d.must("register", "b")
	var sent office.Sent
	d.decode(&sent, "send", "b", "ping", "--as", "a")
	delivered := 1
	for i := range 30 {
		me := []string{"b", "a"}[i%2]
		if status, _, _ := d.run("send", "--thread", string(sent.Thread), "again", "--as", me); status == 0 {
			delivered++
		} else if status != 4 {
			t.Fatalf("status %d", status)
		}
	}
	if delivered != mail.DefaultHops {
		t.Errorf("%d messages in a thread of %d hops", delivered, mail.DefaultHops)
	}
}
