package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bureau/internal/agent/claude"
)

// Bounds of a play with the real client. The person pays for it.
const (
	maxTurns  = 8 // requests to the model, of each of the two runs
	maxDollar = "0.50"
	// claudeLimit bounds the whole play, arrival how long a session may take to
	// come in.
	claudeLimit = 4 * time.Minute
	arrival     = time.Minute
)

// Client says how the play is given with the real client.
type Client struct {
	Options
	Path    string // the client's program
	Version string
	Model   string // "" is the person's usual one
	// Register gives the client's settings and its configuration of servers,
	// as JSON, for sessions that are to be in the office home.
	Register func(home string) (settings, servers []byte, err error)
}

// Announce says what RunClaude will do and what it will cost, before it does.
func (c *Client) Announce(w io.Writer) {
	model := "your default model"
	if c.Model != "" {
		model = "the model " + c.Model
	}
	end := "is removed at the end"
	if c.Keep {
		end = "stays there (--keep)"
	}
	fmt.Fprintf(w, `Two sessions of Claude Code start, without a terminal (claude -p). ana asks bob a
question through the office, bob answers.

  client    %s, %s
  account   your own login, with %s
  requests  usually 6 to 8 to the model for both together, never more than %d
            (--max-turns %d each), and what the client asks on the side
  money     never more than $%s for each of the two, as the client reckons it
            (--max-budget-usd); a subscription is charged against its limits
  time      about a minute, never more than %d minutes
  access    they have the office's tools and no others: no commands, no files
  files     a folder for temporary files, which %s; your settings,
            hooks, MCP servers and your office are neither used nor changed
`, c.Path, versionWord(c.Version), model, 2*maxTurns, maxTurns, maxDollar, int(claudeLimit.Minutes()), end)
}

func versionWord(v string) string {
	if v == "" || v == "unknown" {
		return "of an unknown version"
	}
	return "version " + v
}

// What the two are told.
const (
	bobPrompt = `You are bob, and you are in an office with other sessions; the tools of bureau are all you have. ` +
		`What you know: the staging server listens on port 8471. Somebody is about to ask you something. ` +
		`Call inbox with wait_seconds 45; if nothing has come, call it once more. ` +
		`Answer the question with send (answers is its id), in one sentence. Then say in one sentence what you did, and end.`
	anaPrompt = `You are ana, and you are in an office with other sessions; the tools of bureau are all you have. ` +
		`Ask bob, with ask, on which port the staging server listens, and wait for the answer. ` +
		`If there is none yet, call inbox with wait_seconds 45. Then say in one sentence what you learnt and from whom, and end.`
)

// RunClaude gives the play with two real sessions of the client. An error
// means that something did not happen as it should.
func RunClaude(ctx context.Context, c Client) error {
	ctx, cancel := context.WithTimeout(ctx, claudeLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "bureau-demo-")
	if err != nil {
		return err
	}
	// The client knows folders by their real path.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	p := &play{opts: c.Options, ctx: ctx, dir: dir, home: filepath.Join(dir, "office")}
	if !c.Keep {
		defer p.remove()
	}
	err = p.sessions(&c)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("it took longer than %v: %w", claudeLimit, err)
	}
	return err
}

func (p *play) sessions(c *Client) error {
	folder := filepath.Join(p.dir, "project")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	settings, servers, err := c.Register(p.home)
	if err != nil {
		return err
	}
	files := [2]string{filepath.Join(p.dir, "settings.json"), filepath.Join(p.dir, "servers.json")}
	for i, text := range [][]byte{settings, servers} {
		if err := os.WriteFile(files[i], text, 0o600); err != nil {
			return err
		}
	}
	if _, err := p.quiet("", "init"); err != nil {
		return err
	}
	run := func(name, prompt string) *session {
		return p.client(c, folder, name, "-p", prompt, "--output-format", "json", "--no-session-persistence",
			"--max-turns", strconv.Itoa(maxTurns), "--max-budget-usd", maxDollar,
			"--setting-sources", "project,local", "--settings", files[0], "--strict-mcp-config", "--mcp-config", files[1], "--tools", "")
	}

	p.say("bob comes in, and waits for mail. He is told that the staging server listens on port 8471.")
	bob := run("bob", bobPrompt)
	defer bob.stop()
	if err := p.wait(bob); err != nil {
		return err
	}
	p.say("ana comes in, and asks bob for the port.")
	ana := run("ana", anaPrompt)
	defer ana.stop()
	for _, s := range []*session{ana, bob} {
		if err := s.end(); err != nil {
			return err
		}
		p.show(fmt.Sprintf("%s said: %s", s.name, s.said.Result))
	}
	p.say("ana is gone. Whoever takes her seat has her mail, and sees what her question came to:")
	if _, err := p.bureau("register", "ana"); err != nil {
		return err
	}
	if err := p.expect("answered", "ana", "sent"); err != nil {
		return err
	}
	p.say(fmt.Sprintf("By the client's own count that was %d turns and $%.4f.", ana.said.Turns+bob.said.Turns, ana.said.Cost+bob.said.Cost))
	if p.opts.Keep {
		p.say("The office stays: BUREAU_HOME=" + p.home + " bureau")
		return nil
	}
	p.say("All of it is removed now. Your own sessions come in with: bureau setup claude")
	return nil
}

// wait waits until a session is in the office.
func (p *play) wait(s *session) error {
	for end := time.Now().Add(arrival); ; {
		out, err := p.quiet("", "agents", "--json")
		var list struct {
			Agents []struct {
				Name string
				Here bool
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &list)
		}
		if err != nil {
			return err
		}
		for _, a := range list.Agents {
			if a.Name == s.name && a.Here {
				return nil
			}
		}
		select {
		case <-s.done:
			if err := s.end(); err != nil {
				return err
			}
			return fmt.Errorf("%s has ended and was never in the office: its hooks do not run; bureau doctor may say why", s.name)
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is not in the office after %v: its hooks do not run; bureau doctor may say why", s.name, arrival)
		}
	}
}

// session is one run of the client.
type session struct {
	name       string
	out, noise bytes.Buffer
	cancel     context.CancelFunc
	done       chan struct{}
	err        error // once done
	said       result
}

// result is what the client prints at the end of a run.
type result struct {
	Result  string
	Subtype string
	Failed  bool    `json:"is_error"`
	Turns   int     `json:"num_turns"`
	Cost    float64 `json:"total_cost_usd"`
}

// client starts the client as somebody.
func (p *play) client(c *Client, folder, name string, args ...string) *session {
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	s := &session{name: name, cancel: cancel, done: make(chan struct{})}
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Dir, cmd.Env = folder, append(outside(os.Environ()), "BUREAU_HOME="+p.home, "BUREAU_NAME="+name)
	cmd.Stdout, cmd.Stderr = &s.out, &s.noise
	// Interrupted, it takes itself out of its own records and ends its servers.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	go func() {
		defer close(s.done)
		s.err = cmd.Run()
	}()
	return s
}

// end waits for the run's end and reads what it said.
func (s *session) end() error {
	<-s.done
	trouble := strings.TrimSpace(s.noise.String())
	if err := json.Unmarshal(bytes.TrimSpace(s.out.Bytes()), &s.said); err != nil {
		return fmt.Errorf("%s: the client did not say what came of it: %w\n%s", s.name, errors.Join(s.err, err), clip(s.out.String()+trouble))
	}
	switch {
	case s.said.Subtype == "error_max_turns":
		return fmt.Errorf("%s was not done after %d turns", s.name, maxTurns)
	case s.err != nil || s.said.Failed:
		// That nobody is logged in is said here, too.
		return fmt.Errorf("%s: the client ended with %q: %s%s\n(without your settings files it knows your login from its own store and from the environment only)",
			s.name, s.said.Subtype, clip(s.said.Result), clip(trouble))
	}
	return nil
}

// stop ends the run if it still goes on.
func (s *session) stop() {
	s.cancel()
	<-s.done
}

// clip bounds what is shown of a program's output.
func clip(s string) string {
	const most = 2000
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " …"
	}
	return s
}

// inherited are the variables that name the session which a process runs in.
// Of a session that somebody runs the play in, nothing must reach the two.
var inherited = []string{
	claude.EnvSession, claude.EnvSocket, claude.EnvToken, claude.EnvPID, claude.EnvAttended, claude.EnvEntrypoint,
	claude.EnvProject, claude.EnvChild, claude.EnvEnvFile, claude.EnvPluginRoot, "ESCRITORIO_ID", "MCLAUDE_IDENTITY",
}

// outside is an environment without the office and the session that it is of.
func outside(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "BUREAU_") || slices.Contains(inherited, name)
	})
}
