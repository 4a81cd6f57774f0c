package proc

import (
	"testing"
	"time"
)

// TestAwakeGoesOn: the reading grows, and no faster than time does.
func TestAwakeGoesOn(t *testing.T) {
	begun := time.Now()
	first := Awake()
	if first <= 0 {
		t.Fatalf("%s", first)
	}
	for Awake() == first {
		time.Sleep(time.Millisecond)
	}
	last := Awake()
	if last < first || last-first > time.Since(begun)+time.Second {
		t.Errorf("%s, then %s within %s", first, last, time.Since(begun))
	}
}
