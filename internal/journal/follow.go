package journal

import (
	"context"
	"iter"
	"sync"
	"time"

	"bureau/internal/event"
)

// Sweep is how often a Watch looks for records that nobody rang for.
const Sweep = 2 * time.Second

// watchPage is how many records a Watch reads at a time.
const watchPage = 256

// Follow is an engine's Watch: read gives the next records, changed a channel
// that is closed with the engine's own next append.
func Follow(ctx context.Context, after event.Seq, nudge <-chan struct{},
	read func(ctx context.Context, after event.Seq, limit int) ([]event.Record, error),
	changed func() <-chan struct{},
) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		sweep := time.NewTimer(Sweep)
		defer sweep.Stop()
		for at := after; ctx.Err() == nil; {
			// Taken before the look: what comes during it is not missed.
			next := changed()
			records, err := read(ctx, at, watchPage)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(event.Record{}, err)
				return
			}
			for _, r := range records {
				if ctx.Err() != nil || !yield(r, nil) {
					return
				}
				at = r.Seq
			}
			if len(records) > 0 {
				continue
			}
			sweep.Reset(Sweep)
			select {
			case <-ctx.Done():
			case <-next:
			case _, open := <-nudge:
				if !open {
					nudge = nil
				}
			case <-sweep.C:
			}
		}
	}
}

// Bell tells everybody in this process who waits that something was appended.
// The zero value is ready to use.
type Bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// Next gives a channel that the next Ring closes.
func (b *Bell) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

// Ring wakes all who wait.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
