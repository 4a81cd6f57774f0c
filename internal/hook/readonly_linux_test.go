package hook

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"bureau/internal/mail"
)

// readOnly lets the real hook run where the office's folder can only be read.
func (c *client) readOnly(event string) said {
	c.d.t.Helper()
	hook := c.command()
	script := `mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, c.d.home}, hook.Args...)...)
	cmd.Env = hook.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.usual(event)), &out, &errOut
	if err := cmd.Run(); err != nil {
		c.d.t.Fatalf("%s: %v, %q", event, err, errOut.String())
	}
	s := said{t: c.d.t, event: event, out: out.String(), errOut: errOut.String()}
	s.check()
	return s
}

// TestAnOfficeThatCanOnlyBeRead: its mail is shown, nothing is marked, and
// nobody is held up.
func TestAnOfficeThatCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: this test needs root, to mount a folder read-only")
	}
	d := newDesk(t)
	c := d.started("S1")
	m := d.send(c.name(), "hello")
	for _, event := range everyEvent {
		s := c.readOnly(event)
		if event == "UserPromptSubmit" {
			s.has("hello")
		}
	}
	d.want(m, mail.Offered)
	c.step("UserPromptSubmit").has("hello")
	c.step("Stop").silent()
	d.want(m, mail.Seen)
}
