//go:build unix

package bell

import (
	"syscall"
	"testing"
	"time"
)

// A stopped process reads nothing, so its queue is full after some rings. The
// sender must not feel that, and the process hears when it goes on.
func TestAStoppedProcessDelaysNobody(t *testing.T) {
	dir := bellDir(t)
	stopped := startOther(t, dir, "all")
	stopped.ready(t)
	awake := startOther(t, dir, "all")
	awake.ready(t)
	if err := stopped.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// The signal is only sent by now; this returns when it took effect.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(stopped.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process did not stop: %v %v", status, err)
	}
	before := time.Now()
	for range 500 {
		ring(t, 2, dir, "all")
	}
	took := time.Since(before)
	t.Logf("500 rings took %v", took)
	if took > patience {
		t.Errorf("500 rings took %v", took)
	}
	awake.woke(t)
	select {
	case line := <-stopped.lines:
		t.Errorf("the stopped one says %q", line)
	default:
	}
	if err := stopped.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	stopped.woke(t)
}
