// Package demo plays a real office for somebody who wants to see one: several
// processes, real messages, a blocked question that is answered, a note on the
// board, a claim that somebody else meets, and what the monitor showed of it all. It uses nothing but the
// program's own commands, in an office of its own that is removed at the end.
package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"bureau/internal/git"
	"bureau/internal/runtimedir"
)

// Options say how the play is given.
type Options struct {
	Program string    // path of bureau
	Out     io.Writer // where it is shown
	Keep    bool      // leave the office behind
}

// Run gives the play. It ends by itself in a few seconds; an error means that
// something did not happen as it should.
func Run(ctx context.Context, opts Options) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "bureau-demo-")
	if err != nil {
		return err
	}
	// The folder is a project, as a repository would be.
	if err := os.Mkdir(filepath.Join(dir, ".bureau"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, git.IDFile), []byte("demo\n"), 0o600); err != nil {
		return err
	}
	p := &play{opts: opts, ctx: ctx, dir: dir, home: filepath.Join(dir, "office")}
	if !opts.Keep {
		defer p.remove()
	}
	return p.run()
}

type play struct {
	opts Options
	ctx  context.Context
	dir  string // the working folder of everybody
	home string
}

func (p *play) run() error {
	p.say("A new office, and three agents who come in. Each command is a process of its own.")
	for _, name := range []string{"ana", "bob", "carla"} {
		if _, err := p.bureau("register", name); err != nil {
			return err
		}
	}
	monitor, err := p.monitor()
	if err != nil {
		return err
	}
	defer monitor.stop()

	p.say("Mail. The sender learns that it is stored, and how each recipient will notice.")
	if _, err := p.as("ana", "send", "bob,carla", "--subject", "release", "I cut the release branch at noon. Please hold merges."); err != nil {
		return err
	}
	if err := p.expect("hold merges", "bob", "read"); err != nil {
		return err
	}

	p.say("A question. ana's process blocks until bob, in another process, has answered.")
	if err := p.question(); err != nil {
		return err
	}

	p.say("The board: notes without a recipient, with history and compare-and-set.")
	if _, err := p.as("carla", "board", "set", "build:main", "green at 12:04"); err != nil {
		return err
	}
	if err := p.expect("green at 12:04", "ana", "board", "list", "build:"); err != nil {
		return err
	}

	p.say("A claim: ana says what she is about to change. bob cannot get between, and is told why and what to do.")
	if err := p.claim(); err != nil {
		return err
	}

	p.say("What became of ana's messages: bob has seen his, carla has not looked yet.")
	if err := p.expect("carla", "ana", "sent"); err != nil {
		return err
	}

	p.say("What the monitor (bureau tail, a process that has waited all the while) showed:")
	lines, err := monitor.lines(p.ctx, "build:main")
	if err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintln(p.opts.Out, "  "+l)
	}

	p.say("The journal verifies, and everything lies in these files:")
	if err := p.expect("checked", "", "journal", "verify"); err != nil {
		return err
	}
	return p.files()
}

// question lets ana ask and bob answer, at the same time.
func (p *play) question() error {
	type result struct {
		out string
		err error
	}
	asked := make(chan result, 1)
	fmt.Fprintln(p.opts.Out, `$ bureau --as ana ask bob "May I merge the fix for the login page?" &`)
	go func() {
		out, err := p.quiet("ana", "ask", "bob", "May I merge the fix for the login page?", "--timeout", "30s")
		asked <- result{out, err}
	}()
	if _, err := p.as("bob", "inbox", "--wait", "20s"); err != nil {
		return err
	}
	if _, err := p.as("bob", "answer", "Yes, it is small. Merge it before two."); err != nil {
		return err
	}
	r := <-asked
	if r.err != nil {
		return r.err
	}
	p.show("ana's blocked process ends with the answer:\n" + r.out)
	if !strings.Contains(r.out, "Merge it before two") {
		return fmt.Errorf("the answer did not arrive: %q", r.out)
	}
	return nil
}

// claim lets ana hold a file, and bob have it once she is done.
func (p *play) claim() error {
	if err := p.expect("is yours", "ana", "claim", "src/login.go", "--intent", "fix the redirect"); err != nil {
		return err
	}
	args := []string{"claim", "src", "--intent", "rename the package"}
	fmt.Fprintln(p.opts.Out, "$ bureau --as bob "+quoted(args))
	_, err := p.quiet("bob", args...)
	var refused *exec.ExitError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "held by ana: fix the redirect") {
		return fmt.Errorf("bob should have been refused: %v", err)
	}
	_, why, _ := strings.Cut(err.Error(), "\n")
	p.show(why)
	if err := p.expect("released", "ana", "release", "src/login.go", "--summary", "the redirect keeps the query"); err != nil {
		return err
	}
	return p.expect("is yours", "bob", args...)
}

// files shows what the office is made of.
func (p *play) files() error {
	err := filepath.Walk(p.home, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintf(p.opts.Out, "  %8d bytes  %s\n", info.Size(), path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if run, err := runtimedir.Look(p.home); err == nil {
		fmt.Fprintf(p.opts.Out, "  live state (bells, presence): %s\n", run.Path())
	}
	if p.opts.Keep {
		p.say("The office stays: BUREAU_HOME=" + p.home + " bureau")
		return nil
	}
	fmt.Fprintln(p.opts.Out)
	p.say("The demonstration's office is removed now; --keep leaves it. Your own begins with: bureau register NAME")
	return nil
}

// remove takes away what the play made.
func (p *play) remove() {
	if run, err := runtimedir.Look(p.home); err == nil {
		_ = os.RemoveAll(run.Path())
	}
	_ = os.RemoveAll(p.dir)
}

func (p *play) say(s string) { fmt.Fprintf(p.opts.Out, "\n== %s\n", s) }

func (p *play) show(s string) {
	for _, l := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		fmt.Fprintln(p.opts.Out, "  "+l)
	}
}

// as runs a command as an agent and shows it.
func (p *play) as(name string, args ...string) (string, error) {
	return p.bureau(append([]string{"--as", name}, args...)...)
}

func (p *play) bureau(args ...string) (string, error) {
	fmt.Fprintln(p.opts.Out, "$ bureau "+quoted(args))
	out, err := p.quiet("", args...)
	if out != "" {
		p.show(out)
	}
	return out, err
}

// expect is as with a word that the output must hold.
func (p *play) expect(word, name string, args ...string) error {
	if name != "" {
		args = append([]string{"--as", name}, args...)
	}
	out, err := p.bureau(args...)
	if err == nil && !strings.Contains(out, word) {
		err = fmt.Errorf("bureau %s should have shown %q", quoted(args), word)
	}
	return err
}

func (p *play) quiet(name string, args ...string) (string, error) {
	if name != "" {
		args = append([]string{"--as", name}, args...)
	}
	cmd := p.command(args...)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("bureau %s: %w\n%s", quoted(args), err, trouble.String())
	}
	return out.String(), nil
}

func (p *play) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.ctx, p.opts.Program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(outside(os.Environ()), "BUREAU_HOME="+p.home, "NO_COLOR=1", "COLUMNS=100")
	return cmd
}

// quoted renders arguments as one would type them.
func quoted(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.ContainsAny(a, " '\"") || a == "" {
			words[i] = `"` + a + `"`
		}
	}
	return strings.Join(words, " ")
}

// watcher is a monitor that runs beside the play.
type watcher struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu   sync.Mutex
	text []string
}

func (p *play) monitor() (*watcher, error) {
	cmd := p.command("tail")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &watcher{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.mu.Lock()
			w.text = append(w.text, s.Text())
			w.mu.Unlock()
		}
	}()
	// Its header ends with a rule; from then on it misses nothing.
	_, err = w.lines(p.ctx, "───")
	return w, err
}

// lines gives what was shown so far, once it holds a word.
func (w *watcher) lines(ctx context.Context, word string) ([]string, error) {
	for {
		w.mu.Lock()
		text := append([]string(nil), w.text...)
		w.mu.Unlock()
		if strings.Contains(strings.Join(text, "\n"), word) {
			return text, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the monitor did not show %q: %w", word, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (w *watcher) stop() {
	if w.cmd.Process.Signal(os.Interrupt) != nil {
		_ = w.cmd.Process.Kill() // not every system has interrupts
	}
	<-w.done
	_ = w.cmd.Wait()
}
