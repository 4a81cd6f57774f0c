package journaltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
)

// onceEach lets several appenders race for every version of one subject: each
// may be taken by one of them only.
func onceEach(t *testing.T, j journal.Journal) {
	const appenders, each = 6, 15
	var mu sync.Mutex
	granted := map[event.Seq]event.ID{}
	var wg sync.WaitGroup
	for a := range appenders {
		wg.Go(func() {
			for n := range each {
				e := entry(a*each+n, "s")
				for {
					v, err := j.Version(t.Context(), "s")
					if err != nil {
						t.Error(err)
						return
					}
					e.Expect = &v
					_, _, err = j.Append(t.Context(), e)
					var c *journal.ErrConflict
					if errors.As(err, &c) {
						if c.Actual <= v {
							t.Errorf("conflict at %d with %d expected", c.Actual, v)
							return
						}
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if other, taken := granted[v]; taken {
						t.Errorf("version %d was granted to %s and %s", v, other, e.ID)
					}
					granted[v] = e.ID
					mu.Unlock()
					break
				}
			}
		})
	}
	wg.Wait()
	got := all(t, j, 0, 0)
	if len(got) != appenders*each {
		t.Fatalf("%d records, want %d", len(got), appenders*each)
	}
	last := event.Seq(0)
	for _, r := range got {
		if *r.Expect != last || granted[last] != r.ID {
			t.Errorf("record %d expected %d, want %d", r.Seq, *r.Expect, last)
		}
		last = r.Seq
	}
}

// concurrent appends the same ids from several goroutines: each is stored once.
func concurrent(t *testing.T, j journal.Journal) {
	const ids = 40
	var wg sync.WaitGroup
	fresh := make([]int, ids)
	var mu sync.Mutex
	for range 4 {
		wg.Go(func() {
			for n := range ids {
				_, isNew, err := j.Append(t.Context(), entry(n, event.Subject(fmt.Sprintf("s%d", n%5))))
				if err != nil {
					t.Error(err)
				}
				if isNew {
					mu.Lock()
					fresh[n]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for n, times := range fresh {
		if times != 1 {
			t.Errorf("id %d was stored %d times", n, times)
		}
	}
	got := all(t, j, 0, 0)
	inOrder(t, got)
	if len(got) != ids {
		t.Errorf("%d records, want %d", len(got), ids)
	}
}

// watch collects count records above after, or fails.
func watch(t *testing.T, j journal.Journal, after event.Seq, nudge <-chan struct{}, count int) []event.Record {
	t.Helper()
	if count == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), minute)
	defer cancel()
	var got []event.Record
	for r, err := range j.Watch(ctx, after, nudge) {
		if err != nil {
			t.Errorf("watch: %v", err)
			break
		}
		got = append(got, r)
		if len(got) == count {
			break
		}
	}
	return got
}

func watchFrom(t *testing.T, j journal.Journal) {
	var want []event.Record
	for n := range 10 {
		want = append(want, add(t, j, entry(n, event.Subject(fmt.Sprintf("s%d", n%2)))))
	}
	for i := range want {
		after := event.Seq(0)
		if i > 0 {
			after = want[i-1].Seq
		}
		if got := watch(t, j, after, nil, len(want)-i); !reflect.DeepEqual(seqs(got), seqs(want[i:])) {
			t.Errorf("after %d: %v, want %v", after, seqs(got), seqs(want[i:]))
		}
	}
}

func watchWakes(t *testing.T, j journal.Journal) {
	nudge := make(chan struct{}, 1)
	got := make(chan time.Duration)
	var at time.Time
	var mu sync.Mutex
	ctx, cancel := context.WithTimeout(t.Context(), minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range j.Watch(ctx, 0, nudge) {
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			took := time.Since(at)
			mu.Unlock()
			select {
			case got <- took:
			case <-ctx.Done():
				return
			}
		}
	}()
	slow := 0
	for n := range 5 {
		time.Sleep(20 * time.Millisecond) // let it wait
		mu.Lock()
		at = time.Now()
		mu.Unlock()
		add(t, j, entry(n, "s"))
		nudge <- struct{}{}
		select {
		case took := <-got:
			if took > journal.Sweep/2 {
				slow++
			}
		case <-ctx.Done():
			t.Fatal("the watch was not woken")
		}
	}
	if slow > 2 {
		t.Errorf("%d of 5 records came with the sweep only", slow)
	}
	close(nudge) // a nudge that ends must not make it spin or stop
	add(t, j, entry(9, "s"))
	select {
	case <-got:
	case <-ctx.Done():
		t.Error("the watch stopped with its nudge")
	}
	cancel()
	<-done
}

func watchConcurrent(t *testing.T, j journal.Journal) {
	const writers, each, watchers = 4, 40, 3
	const total = writers * each
	results := make([][]event.Record, watchers)
	var watching, writing sync.WaitGroup
	written := make(chan struct{})
	for w := range watchers {
		watching.Go(func() {
			if w == 2 {
				<-written // a late one
			}
			results[w] = watch(t, j, 0, nil, total)
		})
	}
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				if _, _, err := j.Append(t.Context(), entry(w*each+n, event.Subject(fmt.Sprintf("s%d", w)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(written)
	watching.Wait()
	want := seqs(all(t, j, 0, 0))
	for w, got := range results {
		if !reflect.DeepEqual(seqs(got), want) {
			t.Errorf("watcher %d saw %d records, not the %d in order", w, len(got), len(want))
		}
	}
}

func watchEnds(t *testing.T, j journal.Journal) {
	add(t, j, entry(1, "s"))
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	for _, err := range j.Watch(ctx, 0, nil) {
		if err != nil {
			t.Errorf("the end of the context came as %v", err)
		}
		n++
		cancel()
	}
	cancel()
	if n != 1 {
		t.Errorf("%d records", n)
	}
	// The engine's end is an error, because the watcher did not ask for it.
	done := make(chan error, 1)
	go func() {
		var last error
		for _, err := range j.Watch(t.Context(), 1<<40, nil) {
			last = err
		}
		done <- last
	}()
	time.Sleep(20 * time.Millisecond)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("a watch of a closed journal ended with %v", err)
		}
	case <-time.After(minute):
		t.Error("a watch goes on after Close")
	}
}
