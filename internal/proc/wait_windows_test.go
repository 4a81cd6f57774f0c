package proc

import (
	"testing"
	"time"
)

// waitZombie waits until a child has ended; the test holds its handle.
func waitZombie(t *testing.T, id ID) {
	t.Helper()
	for range 200 {
		if !id.Alive() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("child %d did not end", id.PID)
}
