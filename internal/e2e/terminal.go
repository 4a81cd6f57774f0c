package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
)

// Terminal is a session of the client in a window of the desk's own tmux.
type Terminal struct {
	d    *Desk
	name string
}

// prompt is the client's empty input line; a no-break space follows the sign.
const prompt = `(?m)^❯[ \x{a0}]*$`

// Terminal starts the client in a folder ("" is the project) and waits until
// it asks for input. The permission mode is manual: the usual one asks the
// vendor's server what is safe.
func (d *Desk) Terminal(name, folder string, args ...string) *Terminal {
	d.T.Helper()
	if folder == "" {
		folder = d.Project
	}
	w := d.Window(name, folder, append([]string{d.Claude, "--permission-mode", "manual"}, args...)...)
	w.Wait(prompt)
	return w
}

// Window runs a command in a window of its own.
func (d *Desk) Window(name, folder string, command ...string) *Terminal {
	d.T.Helper()
	line := strings.Join(quoteAll(append(append([]string{"env", "-i"}, d.Env()...), command...)), " ")
	w := &Terminal{d, name}
	first := false
	d.tmux.Do(func() { first = true })
	if first {
		d.T.Cleanup(d.hangUp)
		// A window whose command has ended stays, also one that ends at once.
		d.tmuxRun("-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
			"new-session", "-d", "-s", "desk", "-n", name, "-x", "180", "-y", "50", "-c", folder, line)
	} else {
		d.tmuxRun("new-window", "-d", "-t", "desk", "-n", name, "-c", folder, line)
	}
	return w
}

// tmuxTry runs tmux on the desk's own server, which has the desk's environment
// and no other.
func (d *Desk) tmuxTry(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", filepath.Join(d.Dir, "tmux")}, args...)...)
	cmd.Env = append(d.Env(), "TMUX_TMPDIR="+d.Dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *Desk) tmuxRun(args ...string) string {
	d.T.Helper()
	out, err := d.tmuxTry(args...)
	if err != nil {
		d.T.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return out
}

// hangUp closes all windows and waits until their sessions are gone: a client
// writes for another moment.
func (d *Desk) hangUp() {
	records := d.Sessions()
	_, _ = d.tmuxTry("kill-server")
	for end := time.Now().Add(5 * time.Second); len(records) > 0; time.Sleep(50 * time.Millisecond) {
		records = slices.DeleteFunc(records, func(r claude.Record) bool { return !r.Alive() })
		if time.Now().After(end) {
			for _, r := range records {
				if p, err := os.FindProcess(r.Process.PID); err == nil {
					_ = p.Kill()
				}
			}
			return
		}
	}
}

// Screen is what the window shows, without blank lines.
func (w *Terminal) Screen() string {
	w.d.T.Helper()
	var lines []string
	for _, line := range strings.Split(w.d.tmuxRun("capture-pane", "-p", "-t", "desk:"+w.name), "\n") {
		if line = strings.TrimRight(line, " \t"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Wait waits until the window shows what the expression says.
func (w *Terminal) Wait(expression string) {
	w.d.T.Helper()
	re := regexp.MustCompile(expression)
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		screen := w.Screen()
		if re.MatchString(screen) {
			return
		}
		if time.Now().After(end) {
			w.d.T.Fatalf("window %s does not show %q within %v:\n%s", w.name, expression, patience, screen)
		}
	}
}

// Say types a prompt, as a person does. The client drops an Enter that comes
// in one burst with the text, so it waits until the text is there, and presses
// Enter again while the text still is.
func (w *Terminal) Say(text string) {
	w.d.T.Helper()
	w.d.tmuxRun("send-keys", "-t", "desk:"+w.name, "-l", text)
	typed := func() bool {
		lines := inputLine.FindAllStringSubmatch(w.Screen(), -1)
		return len(lines) > 0 && strings.TrimRight(lines[len(lines)-1][1], " \u00a0") == text
	}
	w.d.eventually("the client shows "+text, typed)
	for range 5 {
		time.Sleep(200 * time.Millisecond)
		w.Key("Enter")
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if !typed() {
				return
			}
		}
	}
}

// inputLine is what is typed at the client's sign. Of prompts that were sent,
// which show the same sign, the input line is below.
var inputLine = regexp.MustCompile(`(?m)^❯[ \x{a0}](.*)$`)

// Key presses a key, by tmux's name.
func (w *Terminal) Key(name string) {
	w.d.T.Helper()
	w.d.tmuxRun("send-keys", "-t", "desk:"+w.name, name)
}

// quoteAll writes words for the shell that tmux starts.
func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return out
}
