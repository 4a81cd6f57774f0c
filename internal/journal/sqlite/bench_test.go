package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
)

// The budgets of the design that concern the journal alone. All write to the
// directory of the test's temporary files: what they measure is that disk.

// BenchmarkAppend is one synced append in a process that stays.
func BenchmarkAppend(b *testing.B) {
	e := benchEngine(b)
	n := 0
	for b.Loop() {
		if _, _, err := e.Append(b.Context(), mail(event.Derive(strconv.Itoa(n)), "thread."+strconv.Itoa(n%10))); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkProcess compares an empty process with one that opens the journal,
// appends one record, synced, and closes it: alone, so that closing copies the
// log back, and beside a process that stays.
func BenchmarkProcess(b *testing.B) {
	once := func(b *testing.B, path, name string) {
		n := 0
		var took []time.Duration
		for b.Loop() {
			cmd := child(b, name, path, string(event.Derive(b.Name(), strconv.Itoa(n), strconv.Itoa(b.N))))
			start := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			n++
		}
		report(b, took)
	}
	b.Run("empty", func(b *testing.B) { once(b, "", "hello") })
	b.Run("alone", func(b *testing.B) { once(b, filepath.Join(b.TempDir(), "journal.db"), "once") })
	b.Run("beside", func(b *testing.B) {
		e := benchEngine(b)
		if _, err := e.Head(b.Context()); err != nil {
			b.Fatal(err)
		}
		once(b, e.d.Path(), "once")
	})
}

// BenchmarkWriters runs several writing processes: 8 as fast as they can, and
// 50 that pause like sessions do. Every iteration is one run of all of them.
func BenchmarkWriters(b *testing.B) {
	for _, c := range []struct {
		writers, each int
		pause         time.Duration
	}{{1, 1000, 0}, {8, 500, 0}, {50, 60, 100 * time.Millisecond}} {
		b.Run(fmt.Sprintf("%d-%v", c.writers, c.pause), func(b *testing.B) {
			e := benchEngine(b)
			var took []time.Duration
			var spent time.Duration
			run := 0
			for b.Loop() {
				began := time.Now()
				var all []*writer
				for n := range c.writers {
					all = append(all, start(b, e.d.Path(), fmt.Sprintf("w%d-%d", n, run), 0, c.each, c.pause))
				}
				var wg sync.WaitGroup
				for _, w := range all {
					wg.Go(func() {
						if err := w.wait(); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
				spent += time.Since(began)
				for _, w := range all {
					took = append(took, w.took...)
				}
				run++
			}
			b.ReportMetric(float64(len(took))/spent.Seconds(), "records/s")
			report(b, took)
		})
	}
}

// BenchmarkRead reads 1,000 records, of one subject among ten.
func BenchmarkRead(b *testing.B) {
	e := benchEngine(b)
	for n := range 10_000 {
		if _, _, err := e.Append(b.Context(), mail(event.Derive(strconv.Itoa(n)), "thread."+strconv.Itoa(n%10))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		page, err := e.ReadSubject(b.Context(), "thread.3", 0, 1000)
		if err != nil || len(page) != 1000 {
			b.Fatal(len(page), err)
		}
	}
}

func benchEngine(b *testing.B) *Engine {
	b.Helper()
	return openAt(b, filepath.Join(b.TempDir(), "journal.db"))
}

// report adds percentiles to a benchmark.
func report(b *testing.B, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
}
