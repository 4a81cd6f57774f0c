package paper

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bureau/internal/fault"
)

// TestLock: one at a time has it; who waits gets it or is told.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path, 0); !fault.Is(err, fault.Timeout) {
		t.Errorf("it was given twice: %v", err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := TryLock(f); got || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	release()
	inside, most := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			release, err := Lock(path, time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			release()
		}()
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d had it at once", most)
	}
	if got, err := TryLock(f); !got || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
