package sqlite

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
)

// writer is a process that appends, and what it had acknowledged.
type writer struct {
	name  string
	first int
	acked []int
	took  []time.Duration
	cmd   *exec.Cmd
	out   io.ReadCloser
	begun func() // called with the first acknowledgement
}

// start starts a writer.
func start(t testing.TB, path, name string, first, count int, pause time.Duration) *writer {
	t.Helper()
	w := &writer{name: name, first: first, cmd: child(t, "write", path, name, strconv.Itoa(first), strconv.Itoa(count), pause.String())}
	var err error
	if w.out, err = w.cmd.StdoutPipe(); err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// wait collects what the writer says until it ends. A killed writer's last
// line may be cut: then it was not acknowledged.
func (w *writer) wait() error {
	for r := bufio.NewReader(w.out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			break
		}
		var n int
		var took int64
		if _, err := fmt.Sscan(line, &n, &took); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		if w.begun != nil && len(w.acked) == 0 {
			w.begun()
		}
		w.acked, w.took = append(w.acked, n), append(w.took, time.Duration(took))
	}
	return w.cmd.Wait()
}

// stored counts how often each id is in the journal.
func stored(t *testing.T, e *Engine) map[event.ID]int {
	t.Helper()
	times := map[event.ID]int{}
	for after := event.Seq(0); ; {
		page, err := e.Read(t.Context(), after, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return times
		}
		for _, r := range page {
			times[r.ID]++
		}
		after = page[len(page)-1].Seq
	}
}

func TestManyProcesses(t *testing.T) {
	const writers = 8
	each := usually(250, 40)
	path := filepath.Join(t.TempDir(), "office", "journal.db") // nobody has created it
	began := time.Now()
	var all []*writer
	for n := range writers {
		all = append(all, start(t, path, fmt.Sprintf("w%d", n), 0, each, 0))
	}
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			if err := w.wait(); err != nil || len(w.acked) != each {
				t.Errorf("%s: %d acknowledged, %v", w.name, len(w.acked), err)
			}
		})
	}
	wg.Wait()
	t.Logf("%.0f records per second", float64(writers*each)/time.Since(began).Seconds())
	for _, rest := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + rest); err == nil {
			t.Errorf("%s is left behind", rest)
		}
	}
	e := openAt(t, path)
	times := stored(t, e)
	for _, w := range all {
		for n := range each {
			if got := times[writeID(w.name, n)]; got != 1 {
				t.Errorf("%s %d is there %d times", w.name, n, got)
			}
		}
	}
	if len(times) != writers*each {
		t.Errorf("%d records, want %d", len(times), writers*each)
	}
	clean(t, e)
}

// usually gives the size of a test, and a smaller one for go test -short: under
// the race detector a process takes a hundred times as long.
func usually(usual, short int) int {
	if testing.Short() {
		return short
	}
	return usual
}

// rounds says how often a test of chance is repeated; BUREAU_ROUNDS makes it
// thorough.
func rounds(usual int) int {
	n, err := strconv.Atoi(os.Getenv("BUREAU_ROUNDS"))
	if err != nil || n <= 0 {
		return usual
	}
	return n
}

// TestKilledProcesses kills writers at random moments. What was acknowledged
// is there, nothing is there twice, and a writer that repeats its last record
// under the same id has it stored once.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	const writers = 4
	path := filepath.Join(t.TempDir(), "journal.db")
	next := make([]int, writers)
	acked := map[event.ID]bool{}
	for round := range rounds(usually(20, 3)) {
		var all []*writer
		for n := range writers {
			all = append(all, start(t, path, fmt.Sprintf("w%d", n), next[n], 0, 0))
		}
		var wg sync.WaitGroup
		for n, w := range all {
			kill := func() {
				time.AfterFunc(rand.N(40*time.Millisecond), func() { w.cmd.Process.Kill() })
			}
			if n == 0 {
				kill() // perhaps before it has opened the journal
			} else {
				w.begun = kill
			}
			wg.Go(func() {
				if err := w.wait(); err == nil {
					t.Errorf("%s ended by itself", w.name)
				} else if !strings.Contains(err.Error(), "killed") {
					t.Errorf("%s: %v", w.name, err)
				}
			})
		}
		wg.Wait()
		for n, w := range all {
			for _, i := range w.acked {
				acked[writeID(w.name, i)] = true
				// The one after the last acknowledged is begun again.
				next[n] = i + 1
			}
		}
		if round%10 == 9 {
			checkAcked(t, path, acked)
		}
	}
	checkAcked(t, path, acked)
	if len(acked) == 0 {
		t.Error("no writer came to write anything")
	}
	t.Logf("%d records acknowledged", len(acked))
}

func checkAcked(t *testing.T, path string, acked map[event.ID]bool) {
	t.Helper()
	d, err := db.Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e, err := Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	times := stored(t, e)
	for id := range acked {
		if times[id] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", id, times[id])
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	clean(t, e)
}

// TestShortProcesses runs processes that append one record each, alone and
// beside a process that stays: the log must not grow with their number.
func TestShortProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	run := func(from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			if out, err := child(t, "once", path, string(writeID("once", n))).Output(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
		}
	}
	half := usually(150, 20)
	run(0, half)
	if info, err := os.Stat(path + "-wal"); err == nil {
		t.Errorf("a log of %d bytes stays", info.Size())
	}
	e := openAt(t, path)
	run(half, 2*half)
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 6<<20 {
		t.Errorf("a log of %d bytes, %v", info.Size(), err)
	}
	if head, err := e.Head(t.Context()); int(head) != 2*half || err != nil {
		t.Errorf("head %d, %v", head, err)
	}
	clean(t, e)
}
