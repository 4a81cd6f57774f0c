//go:build linux || darwin

package proc

import (
	"testing"
	"time"
)

// waitZombie waits until a child has ended, without collecting it.
func waitZombie(t *testing.T, id ID) {
	t.Helper()
	for range 200 {
		if i, ok := look(id.PID); ok && i.dead {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("child %d did not become a zombie", id.PID)
}
