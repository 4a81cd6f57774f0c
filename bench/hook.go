package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bureau/internal/office"
)

// session is a stand-in for a client and its server: a process that the hook
// takes for the client, and that has the office open.
type session struct {
	b   *bench
	env []string
	cmd *exec.Cmd
}

// session begins one in an office, under a name.
func (b *bench) session(env []string, name string) (*session, error) {
	return b.sessionIn(env, name, "/")
}

// sessionIn begins one in a folder.
func (b *bench) sessionIn(env []string, name, folder string) (*session, error) {
	cmd := exec.Command(b.self, "worker", "hold")
	cmd.Env = env
	in, err := cmd.StdinPipe() // closed with this process, which ends it
	if err != nil {
		return nil, err
	}
	_ = in
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &session{b: b, env: append(append([]string(nil), env...), "CLAUDE_PID="+strconv.Itoa(cmd.Process.Pid), "BUREAU_NAME="+name), cmd: cmd}
	_, _, err = s.hook(`{"hook_event_name":"SessionStart","session_id":"bench-` + name + `","source":"startup","cwd":"` + folder + `"}`)
	return s, err
}

func (s *session) end() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// hook runs the hook program once and gives its time, output and peak memory.
func (s *session) hook(input string) (time.Duration, string, error) {
	cmd := exec.Command(s.b.hook, "claude")
	cmd.Env, cmd.Stdin = s.env, strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout = &out
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	if err == nil {
		s.b.hookRSS = max(s.b.hookRSS, peak(cmd.ProcessState))
	}
	return took, out.String(), err
}

// batch is the input of a PostToolBatch with some 30 KB of tool output.
func batch(name string) string {
	return `{"hook_event_name":"PostToolBatch","session_id":"bench-` + name + `","cwd":"/","tool_calls":[{"tool_name":"Bash","tool_response":"` +
		strings.Repeat("some line of output, as tools write them\\n", 700) + `"}]}`
}

// hooks measures what every tool call of every session pays.
func (b *bench) hooks() error {
	env, err := b.office("hooks")
	if err != nil {
		return err
	}
	if err := b.register(env, "ana"); err != nil {
		return err
	}
	return b.hookIn(env, "", b.scale(300, 20), b.scale(60, 5))
}

// hookIn measures the hook in an office that is there.
func (b *bench) hookIn(env []string, where string, idle, busy int) error {
	s, err := b.session(env, "hooked")
	if err != nil {
		return err
	}
	defer s.end()
	input := batch("hooked")
	for range 3 { // until nothing is outstanding
		if _, _, err := s.hook(input); err != nil {
			return err
		}
	}
	var nothing, floor []time.Duration
	for range idle {
		took, out, err := s.hook(input)
		if err != nil || out != "" {
			return fmt.Errorf("an idle hook printed %q, %v", out, err)
		}
		nothing = append(nothing, took)
		e, err := s.empty(input)
		if err != nil {
			return err
		}
		floor = append(floor, e)
	}
	ratio := float64(quantile(nothing, 0.5)) / float64(quantile(floor, 0.5))
	b.add("hook, nothing to deliver, 30 KB of input"+where, fmt.Sprintf("%.2f × an empty program", ratio), "≤ 1.6 ×", ms(quantile(nothing, 0.5))+", beside "+ms(quantile(floor, 0.5)))
	b.hookRSS = 0
	var one, proof []time.Duration
	for range busy {
		if _, err := call(env, b.bureau, "send", "--as", "ana", "hooked", "a message of some length, as people write them"); err != nil {
			return err
		}
		took, out, err := s.hook(input)
		if err != nil || !strings.Contains(out, "as people write them") {
			return fmt.Errorf("the hook did not deliver: %q, %v", out, err)
		}
		one = append(one, took)
		// What was printed is proved by the session's next move.
		if took, out, err = s.hook(input); err != nil || out != "" {
			return fmt.Errorf("the hook after a delivery printed %q, %v", out, err)
		}
		proof = append(proof, took)
	}
	ratio = float64(quantile(one, 0.5)) / float64(quantile(floor, 0.5))
	b.add("hook with one message"+where, fmt.Sprintf("%.1f × an empty program", ratio), "≤ 6 ×", ms(quantile(one, 0.5))+", peak memory "+strconv.FormatInt(b.hookRSS/1024, 10)+" MB (≤ 25 MB)")
	ratio = float64(quantile(proof, 0.5)) / float64(quantile(floor, 0.5))
	b.add("the next hook, which proves it"+where, fmt.Sprintf("%.1f × an empty program", ratio), "", ms(quantile(proof, 0.5))+", synced")
	return nil
}

// empty runs an empty program the same way.
func (s *session) empty(input string) (time.Duration, error) {
	cmd := exec.Command(s.b.empty)
	cmd.Env, cmd.Stdin = s.env, strings.NewReader(input)
	begin := time.Now()
	err := cmd.Run()
	if err != nil && strings.Contains(err.Error(), "broken pipe") {
		err = nil // it does not read its input
	}
	return time.Since(begin), err
}

// hold is a worker that has the office open until its input ends, as the MCP
// server of every session does.
func hold() error {
	o, err := office.Open(context.Background(), office.Options{})
	if err != nil {
		return err
	}
	defer o.Close()
	if _, err := o.Live(context.Background()); err != nil { // as a server has from its first call on
		return err
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}
