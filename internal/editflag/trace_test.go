package editflag

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen lists who is found to have changed a file, in order.
func seen(t *testing.T, dir, key string, now time.Time, paths ...string) []string {
	t.Helper()
	list, err := Trace(dir, key, paths, now, now.Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s %q %s", c.Path, c.By, now.Sub(c.At)))
	}
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestChangesOfOneFile: whoever changes what another changed within a minute
// is told, once for each of them, and nobody about oneself.
func TestChangesOfOneFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "e")
	now := time.UnixMilli(time.Now().UnixMilli())
	same(t, seen(t, dir, "A", now, "/p/a", "/p/b"))
	same(t, seen(t, dir, "A", now, "/p/a"))
	same(t, seen(t, dir, "B\n \"x\x00", now.Add(time.Second), "/p/a"), `/p/a "A" 1s`)
	same(t, seen(t, dir, "A", now.Add(3*time.Second), "/p/a", "/p/b"), `/p/a "B\n \"x\x00" 2s`)
	same(t, seen(t, dir, "C", now.Add(5*time.Second), "/p/a"), `/p/a "A" 2s`, `/p/a "B\n \"x\x00" 4s`)
	same(t, seen(t, dir, "A", now.Add(2*time.Minute), "/p/a"))
	// After a clock was set back nothing is known of that time.
	same(t, seen(t, dir, "B", now.Add(-time.Hour), "/p/a"))
}

// TestTracesStaySmall: a file that is changed all the time has a short trace,
// and what is broken is passed over.
func TestTracesStaySmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "e")
	now := time.Now()
	for range 2000 {
		seen(t, dir, strings.Repeat("k", 50), now, "/p/a")
	}
	file := filepath.Join(dir, traces, hash("/p/a"))
	if st, err := os.Stat(file); err != nil || st.Size() > maxTrace+200 {
		t.Errorf("%v, %v", st.Size(), err)
	}
	if err := os.WriteFile(file, []byte("x\n5 \"\n\x00\n"+fmt.Sprint(now.UnixMilli())+" \"B\"\n99999999999999 \"C\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, seen(t, dir, "A", now, "/p/a"), fmt.Sprintf(`/p/a "B" %s`, now.Sub(time.UnixMilli(now.UnixMilli()))))
	if err := Sweep(dir, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an old trace is still there")
	}
	if err := os.WriteFile(filepath.Join(dir, traces), nil, 0o600); err == nil {
		t.Fatal("the folder was removed")
	}
}

// TestTwoAtOnceSeeEachOther: of two that change a file at the same moment at
// least one learns of the other.
func TestTwoAtOnceSeeEachOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "e")
	now := time.Now()
	for i := range 200 {
		path := fmt.Sprint("/p/", i)
		var both [2][]Change
		var all sync.WaitGroup
		for k := range both {
			all.Go(func() {
				both[k], _ = Trace(dir, fmt.Sprint("S", k), []string{path}, now, now.Add(-time.Minute))
			})
		}
		all.Wait()
		if len(both[0])+len(both[1]) == 0 {
			t.Fatalf("%s: neither saw the other", path)
		}
	}
}
