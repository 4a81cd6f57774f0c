package office

import (
	"context"
	"os"
	"sort"
	"time"

	"bureau/internal/event"
)

// Stats are figures of a journal.
type Stats struct {
	Home     string      `json:"home"`
	Store    string      `json:"store"`
	Head     event.Seq   `json:"head"`
	Bytes    int64       `json:"bytes"` // of the store's file
	Subjects int         `json:"subjects"`
	First    *time.Time  `json:"first"` // of the first record; null in an empty journal
	Last     *time.Time  `json:"last"`
	Kinds    []KindCount `json:"events"` // the most frequent first
}

// KindCount is how often a kind of event occurs.
type KindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Stats counts what is in the journal; it reads all of it. Events are counted
// for the human alone; anybody else has counted what Events gives it, so that a
// whisper among others leaves no trace in a number.
func (o *Office) Stats(ctx context.Context, caller Caller) (Stats, error) {
	s := Stats{Home: o.home, Store: o.store.Path(), Kinds: []KindCount{}}
	if st, err := os.Stat(s.Store); err == nil {
		s.Bytes = st.Size()
	}
	kinds, subjects := map[string]int{}, map[event.Subject]bool{}
	for more := true; more; {
		err := o.look(ctx, func(tx *Tx) error {
			recs, err := tx.reader()(s.Head, 1000)
			more = len(recs) > 0
			for i := range recs {
				r := &recs[i]
				at := r.Time
				if s.First == nil {
					s.First = &at
				}
				s.Head, s.Last = r.Seq, &at
				subjects[r.Subject] = true
				if !caller.Human {
					for _, v := range tx.eventViews(caller, r) {
						kinds[string(v.Kind)]++
					}
					continue
				}
				for _, e := range r.Events {
					kinds[string(e.Kind)]++
				}
			}
			return err
		})
		if err != nil {
			return s, err
		}
	}
	s.Subjects = len(subjects)
	for k, n := range kinds {
		s.Kinds = append(s.Kinds, KindCount{k, n})
	}
	sort.Slice(s.Kinds, func(i, j int) bool {
		if s.Kinds[i].Count != s.Kinds[j].Count {
			return s.Kinds[i].Count > s.Kinds[j].Count
		}
		return s.Kinds[i].Kind < s.Kinds[j].Kind
	})
	return s, nil
}
