//go:build unix

package probe

import (
	"os/exec"
	"syscall"
)

// startGroup starts a program as the leader of a new process group. kill ends
// the whole group with a signal that cannot be ignored; it is called once more
// after the leader was waited for, when the group's id is still taken as long
// as anybody is in it.
func startGroup(cmd *exec.Cmd) (kill func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { _ = cmd.Cancel() }, nil
}
