package trial

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

const jobVariable = "BUREAU_TRIAL_JOB"

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		if err := perform(strings.Split(job, " ")); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// long picks the full count or the one for every day.
func long(full, short int) int {
	if os.Getenv("BUREAU_LONG") != "" {
		return full
	}
	return short
}

// perform is a worker's life. It says "ready", waits for a line, and works.
func perform(args []string) error {
	ctx := context.Background()
	gen := 0
	if g := os.Getenv("BUREAU_TRIAL_GENERATION"); g != "" {
		gen, _ = strconv.Atoi(g)
	}
	o, err := office.Open(ctx, office.Options{Generation: gen})
	if err != nil {
		return err
	}
	defer o.Close()
	if args[0] == "hold" {
		return holdClaim(ctx, o, args[1])
	}
	me, err := o.Identify(ctx, office.Claim{As: args[1]})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return nil // the parent is gone
	}
	w := &worker{ctx: ctx, o: o, me: me, args: args[2:]}
	switch args[0] {
	case "send":
		return w.send()
	case "take":
		return w.take()
	case "ask":
		return w.ask()
	case "answer":
		return w.answer()
	case "claim":
		return w.claim()
	case "debate":
		return w.debate()
	case "wait":
		_, err := o.WaitMail(ctx, me)
		return err
	}
	return fmt.Errorf("no job %q", args[0])
}

type worker struct {
	ctx  context.Context
	o    *office.Office
	me   office.Caller
	args []string
}

func (w *worker) int(i int) int {
	n, err := strconv.Atoi(w.args[i])
	if err != nil {
		panic(err)
	}
	return n
}

// send TO N PAUSE-MS: prints "sent ID MICROSECONDS" for every message that is
// acknowledged.
func (w *worker) send() error {
	pause := time.Duration(w.int(2)) * time.Millisecond
	if pause > 0 {
		time.Sleep(rand.N(pause)) // sessions do not write in step
	}
	for range w.int(1) {
		begin := time.Now()
		s, err := w.o.Send(w.ctx, w.me, office.Letter{To: []string{w.args[0]}, Body: []byte("text")})
		if err != nil {
			return err
		}
		took := time.Since(begin)
		fmt.Printf("sent %s %d\n", s.ID, took.Microseconds())
		if pause > 0 {
			time.Sleep(pause - took)
		}
	}
	return nil
}

// take N: reads until N messages were given or none came for a second; prints
// "got ID" for each before it is marked, and "seen ID" after.
func (w *worker) take() error {
	idle := 0
	for got := 0; got < w.int(0) && idle < 50; {
		list, _, err := w.o.Take(w.ctx, w.me, 7, time.Minute)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			idle++
			time.Sleep(20 * time.Millisecond)
			continue
		}
		idle = 0
		ids := make([]event.ID, len(list))
		for i, m := range list {
			ids[i] = m.ID
			fmt.Printf("got %s\n", m.ID)
		}
		if err := w.o.Seen(w.ctx, w.me, ids, "trial"); err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Printf("seen %s\n", id)
		}
		got += len(list)
	}
	return nil
}

// ask TO N: asks N questions, one after the other, and prints "asked ID" and
// "answered ID ANSWER".
func (w *worker) ask() error {
	for i := range w.int(1) {
		body := fmt.Sprintf("question %d of %d", i, os.Getpid())
		out, err := w.o.Ask(w.ctx, w.me, office.Asking{
			Letter: office.Letter{To: []string{w.args[0]}, Body: []byte(body)}, Timeout: patience,
			Waiting: func(a office.Asked) { fmt.Printf("asked %s\n", a.Question) },
		})
		if err != nil {
			return err
		}
		fmt.Printf("answered %s %s\n", out.Question, out.Answer.ID)
	}
	return nil
}

// answer N: answers whatever is asked, until N answers were stored or nothing
// was asked for longer than any test waits; prints "gave QUESTION" for every one stored.
func (w *worker) answer() error {
	last := time.Now()
	for given := 0; given < w.int(0) && time.Since(last) < patience; {
		open, err := w.o.OpenQuestions(w.ctx, w.me)
		if err != nil {
			return err
		}
		if len(open) == 0 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		last = time.Now()
		for _, q := range open {
			if s, err := w.o.Answer(w.ctx, w.me, string(q.ID), office.Letter{Body: []byte("yes")}); err == nil {
				fmt.Printf("gave %s %s\n", q.ID, s.ID)
				given++
			}
		}
	}
	return nil
}

// place is an office for a trial.
type place struct {
	t *testing.T
	*office.Office
	dir string
}

func newPlace(t *testing.T, agents ...string) *place {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "office")
	o, err := office.Open(context.Background(), office.Options{Home: home, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = o.Close()
		if run, err := runtimedir.Look(home); err == nil {
			_ = os.RemoveAll(run.Path())
		}
	})
	p := &place{t: t, Office: o, dir: dir}
	for _, a := range agents {
		if _, err := o.Register(context.Background(), p.user(), a, roster.Process{}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) user() office.Caller { return p.as("") }

func (p *place) as(name string) office.Caller {
	p.t.Helper()
	c, err := p.Identify(context.Background(), office.Claim{As: name})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// child is a worker in another process. Everything it prints is kept.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	wait chan struct{}

	mu    sync.Mutex
	lines []string
	err   error
}

func (p *place) child(job string, env ...string) *child {
	p.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+job, "BUREAU_HOME="+p.Home(), "BUREAU_AS=")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	c := &child{cmd: cmd, in: in, wait: make(chan struct{})}
	ready := make(chan bool, 1)
	go func() {
		defer close(c.wait)
		s := bufio.NewScanner(out)
		ready <- s.Scan() && s.Text() == "ready"
		for s.Scan() {
			c.mu.Lock()
			c.lines = append(c.lines, s.Text())
			c.mu.Unlock()
		}
		err := cmd.Wait()
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
	}()
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.wait
	})
	if !<-ready {
		p.t.Fatalf("the worker %q did not get ready", job)
	}
	return c
}

func (c *child) begin() { _, _ = io.WriteString(c.in, "go\n") }

// end waits for the worker's own end.
func (c *child) end(t *testing.T) {
	t.Helper()
	select {
	case <-c.wait:
	case <-time.After(patience):
		t.Fatal("a worker does not end")
	}
	if c.err != nil {
		t.Fatalf("worker: %v", c.err)
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.wait
}

// said gives the first words after a word, of every line that begins with it.
func (c *child) said(word string) (out [][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if f := strings.Fields(l); len(f) > 1 && f[0] == word {
			out = append(out, f[1:])
		}
	}
	return out
}

// stored counts how often each message stands in the journal.
func (p *place) stored() map[event.ID]int {
	p.t.Helper()
	count := map[event.ID]int{}
	var after event.Seq
	for {
		list, next, err := p.Events(context.Background(), p.user(), office.Filter{Kind: "message.sent"}, after, 500)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, v := range list {
			count[v.Message]++
		}
		if next == after {
			return count
		}
		after = next
	}
}

// sound fails unless the journal verifies.
func (p *place) sound() {
	p.t.Helper()
	r, err := p.Verify(context.Background(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range r.Findings {
		p.t.Errorf("journal: %s", f.Text)
	}
}
