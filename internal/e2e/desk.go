package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/e2e/mockapi"
)

// Desk is one person's machine for one test: a home, a project, an office, the
// client, our two programs on the path, and a model that says what the test
// wants.
type Desk struct {
	T       testing.TB
	Dir     string // everything is below it
	Home    string
	Project string
	Office  string
	Bin     string // bureau and bureau-hook, nothing else
	Claude  string // the client's program
	API     *mockapi.Server
	// Extra are further variables of everything that is run, as K=V.
	Extra []string

	tmux sync.Once
}

// apiKey is what the client sends. Its first screens ask about a key that is
// not approved, by its last 20 characters.
const apiKey = "dummy"

// NewDesk sets up a desk. The test fails without the client or tmux.
func NewDesk(t testing.TB) *Desk {
	t.Helper()
	client := os.Getenv("BUREAU_E2E_CLAUDE")
	if client == "" {
		t.Fatal("BUREAU_E2E_CLAUDE names no client; sh internal/e2e/install.sh installs one and prints its path")
	}
	dir, err := os.MkdirTemp("", "bureau-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the client left is in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	d := &Desk{T: t, Dir: dir, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Claude: client, Bin: programs(t)}
	d.Office = filepath.Join(d.Home, ".bureau")
	for _, folder := range []string{d.Home, d.Project} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if d.API, err = mockapi.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.API.Close)
	d.Onboard(d.Project)
	return d
}

var built struct {
	sync.Once
	dir string
	err error
}

// programs builds our programs, once for all tests.
func programs(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "bureau-e2e-bin-"); built.err != nil {
			return
		}
		for _, name := range []string{"bureau", "bureau-hook"} {
			out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, name), "bureau/cmd/"+name).CombinedOutput()
			if err != nil {
				built.err = fmt.Errorf("go build %s: %w\n%s", name, err, out)
				return
			}
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// Cleanup removes what all tests shared.
func Cleanup() {
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
}

// Env is the environment of everything on the desk: nothing of the caller's,
// our programs first on the path, the scripted model, and no other traffic.
func (d *Desk) Env() []string {
	return append([]string{
		"PATH=" + d.Bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + d.Home, "SHELL=/bin/sh", "TERM=xterm-256color", "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + d.API.URL(), "ANTHROPIC_API_KEY=" + apiKey,
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_BUG_COMMAND=1",
		"DISABLE_COST_WARNINGS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, d.Extra...)
}

// Onboard answers the client's first screens for sessions in these folders: a
// session in a terminal would ask, and would reach for the vendor's server.
func (d *Desk) Onboard(folders ...string) {
	d.T.Helper()
	projects := map[string]any{}
	for _, f := range folders {
		projects[f] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []any{}}
	}
	d.WriteJSON(filepath.Join(d.Home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{apiKey}, "rejected": []string{}}, "projects": projects,
	})
}

// WriteJSON writes a file, and its folders.
func (d *Desk) WriteJSON(path string, v any) {
	d.T.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		d.T.Fatal(err)
	}
}

// Run runs a program on the desk, in the project, and gives what it printed.
// It fails the test if the program does.
func (d *Desk) Run(name string, args ...string) string {
	d.T.Helper()
	out, err := d.Try(name, args...)
	if err != nil {
		d.T.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Run for what may fail.
func (d *Desk) Try(name string, args ...string) (string, error) {
	d.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if !filepath.IsAbs(name) && (name == "bureau" || name == "bureau-hook") {
		name = filepath.Join(d.Bin, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = d.Project, d.Env()
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Print runs the client for one prompt (claude -p) and gives its answer.
func (d *Desk) Print(prompt string, args ...string) string {
	d.T.Helper()
	return strings.TrimSpace(d.Run(d.Claude, append([]string{"-p", prompt}, args...)...))
}

// Headless is a run of the client that goes on while the test does other
// things.
type Headless struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
}

// Background starts the client for one prompt.
func (d *Desk) Background(prompt string, args ...string) *Headless {
	d.T.Helper()
	h := &Headless{cmd: exec.Command(d.Claude, append([]string{"-p", prompt}, args...)...), done: make(chan error, 1)}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stdout, h.cmd.Stderr = d.Project, d.Env(), &h.out, &h.out
	h.cmd.WaitDelay = 2 * time.Second
	if err := h.cmd.Start(); err != nil {
		d.T.Fatal(err)
	}
	go func() { h.done <- h.cmd.Wait() }()
	d.T.Cleanup(func() { _ = h.cmd.Process.Kill() })
	return h
}

// Wait waits for the run's end and gives its answer.
func (h *Headless) Wait(t testing.TB) string {
	t.Helper()
	select {
	case err := <-h.done:
		if err != nil {
			t.Fatalf("the client: %v\n%s", err, h.out.String())
		}
	case <-time.After(patience):
		_ = h.cmd.Process.Kill()
		<-h.done
		t.Fatalf("the client has not ended within %v\n%s", patience, h.out.String())
	}
	return strings.TrimSpace(h.out.String())
}

// patience is how long the tests wait for what must happen. It decides only
// when to give up: nothing that is late by less than that fails.
const patience = 90 * time.Second

// Request waits for a request to the model, past or coming.
func (d *Desk) Request(is func(*mockapi.Request) bool) *mockapi.Request {
	d.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := d.API.Wait(ctx, is)
	if err != nil {
		d.Dump()
		d.T.Fatal(err)
	}
	return r
}

// eventually waits until is says yes.
func (d *Desk) eventually(what string, is func() bool) {
	d.T.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			d.T.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// Dump logs the newest part of every request so far.
func (d *Desk) Dump() {
	d.T.Helper()
	for _, r := range d.API.Requests() {
		last := r.Last()
		d.T.Logf("request %d of session %.8s, %s: … %s", r.N, r.Session, r.Rule, last[max(0, len(last)-600):])
	}
}

// Sessions lists the client's sessions on the desk.
func (d *Desk) Sessions() []claude.Record {
	d.T.Helper()
	records, err := claude.Records([]claude.Home{{Dir: filepath.Join(d.Home, ".claude"), Default: true}})
	if err != nil {
		d.T.Fatal(err)
	}
	return records
}
