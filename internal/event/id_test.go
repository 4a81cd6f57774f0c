package event

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("EVENT_TEST_MINT") != "" {
		var b strings.Builder
		for range 50 {
			b.WriteString(string(NewID(time.UnixMilli(1))) + "\n")
		}
		os.Stdout.WriteString(b.String())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestIDsAreULIDs(t *testing.T) {
	// The example of the specification, and its largest value.
	if id := encodeID(0x01563E3AB5D3D676, 0x4C61EFB99302BD5B); id != "01ARZ3NDEKTSV4RRFFQ69G5FAV" {
		t.Error(id)
	}
	if id := encodeID(1<<64-1, 1<<64-1); id != "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" {
		t.Error(id)
	}
	if id := encodeID(0, 0); id != "00000000000000000000000000" {
		t.Error(id)
	}
	// What was derived once stays what it is: journals hold such ids.
	for want, parts := range map[ID][]string{
		"7TSQF7NFRYNHDK04KKNCQ2GBVS": {"a", "b"}, "73P324567W3GA9NYZMS2CPZE94": nil,
		"238P1BE4R3HNM5WXMB74NJE9TQ": {"thread", "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
	} {
		if got := Derive(parts...); got != want {
			t.Errorf("%q: %s, want %s", parts, got, want)
		}
	}
	for s, want := range map[string]bool{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV": true, "01arz3ndektsv4rrffq69g5fav": true, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ": true,
		"8ZZZZZZZZZZZZZZZZZZZZZZZZZ": false, "01ARZ3NDEKTSV4RRFFQ69G5FAI": false, "01ARZ3NDEKTSV4RRFFQ69G5FAl": false, "01ARZ3NDEKTSV4RRFFQ69G5FAO": false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAU": false, "01ARZ3NDEKTSV4RRFFQ69G5FA": false, "01ARZ3NDEKTSV4RRFFQ69G5FAV0": false, "": false,
		"01ARZ3NDEKTSV4RRFFQ69G5F\x10V": false, "01ARZ3NDEKTSV4RRFFQ69G5F-V": false, "01ARZ3NDEKTSV4RRFFQ69G5é": false, "01ARZ3NDEKTSV4RRFFQ69G5F@V": false,
	} {
		if got := ValidID(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestIDsSortByMinting(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	last := NewID(now.Add(-time.Millisecond))
	for i := range 10_000 {
		id := NewID(now)
		if id <= last || !ValidID(string(id)) {
			t.Fatalf("%d: %s after %s", i, id, last)
		}
		last = id
	}
	if id := NewID(now.Add(time.Millisecond)); id <= last {
		t.Errorf("%s after %s", id, last)
	}
	// At the end of the random bits of a millisecond, and at odd moments.
	minted.Lock()
	minted.milli, minted.hi, minted.lo = uint64(now.UnixMilli()), 1<<16-1, 1<<64-1
	minted.Unlock()
	a, b := NewID(now), NewID(now)
	if a == b || !strings.HasPrefix(string(a), string(b[:10])) {
		t.Errorf("%s, %s", a, b)
	}
	for _, odd := range []time.Time{{}, time.UnixMilli(-5), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if id := NewID(odd); !ValidID(string(id)) {
			t.Errorf("%v: %q", odd, id)
		}
	}
}

// Many at once, in one process and in several, in the same millisecond.
func TestIDsDiffer(t *testing.T) {
	seen := map[ID]bool{}
	var mu sync.Mutex
	add := func(ids ...ID) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s twice", id)
			}
			seen[id] = true
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				add(NewID(time.UnixMilli(1)))
			}
		})
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "EVENT_TEST_MINT=1")
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
				return
			}
			for _, word := range strings.Fields(string(out)) {
				add(ID(word))
			}
		})
	}
	wg.Wait()
	if len(seen) != 8*1050 {
		t.Errorf("%d ids", len(seen))
	}
}
