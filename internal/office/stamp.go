package office

import (
	"strings"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/projection"
)

// likeness says whether two stamps are of one folder.
type likeness int

const (
	unknown likeness = iota // one of them was never taken, or nothing here takes any
	same
	different
)

// compareStamps tells whether a folder is the one that a stamp was taken of (see
// [Options.Stamp]), wherever it lies now. On one file system a move keeps the
// number of the folder. On the way to another it gets a new one, and only the
// moment of its birth is left; what has none is not recognised there.
func compareStamps(was, now string) likeness {
	a, b := strings.Split(was, ":"), strings.Split(now, ":")
	if len(a) != 3 || len(b) != 3 {
		return unknown
	}
	born := a[2] != "" && a[2] == b[2]
	switch {
	case a[2] != "" && b[2] != "" && !born:
		return different // the number went to another one
	case a[1] == b[1] && (born || a[0] == b[0]):
		return same
	case a[0] != b[0] && born:
		return same
	}
	return different
}

// born reports whether a stamp tells a folder's birth: that cannot be another's
// by chance, as a number that was given away again may.
func born(stamp string) bool {
	at := strings.LastIndexByte(stamp, ':')
	return at >= 0 && at < len(stamp)-1
}

// stamp gives a folder's stamp, "" where nothing here takes any.
func (o *Office) stamp(folder string) string {
	if o.stampOf == nil || folder == "" {
		return ""
	}
	return o.stampOf(folder)
}

// The journal keeps a project's mark and its stamp as one text, with a blank
// between them. Before there were stamps it was the mark alone.

func markOf(k *projection.Project) string {
	mark, _, _ := strings.Cut(k.Mark, " ")
	return mark
}

func stampOf(k *projection.Project) string {
	_, stamp, _ := strings.Cut(k.Mark, " ")
	return stamp
}

func joinMark(mark, stamp string) string {
	if stamp == "" {
		return mark
	}
	return mark + " " + stamp
}

// stampGranted puts the stamps of their work trees into claims that begin.
func (tx *Tx) stampGranted(events []event.Event) error {
	if tx.o.stampOf == nil {
		return nil
	}
	for i := range events {
		if events[i].Kind != claim.KindGranted {
			continue
		}
		var g claim.GrantedClaim
		if err := events[i].Decode(&g); err != nil {
			return err
		}
		if len(g.Paths) == 0 || g.Tree == "" {
			continue
		}
		if g.Folder = tx.o.stamp(g.Tree); g.Folder != "" {
			events[i] = event.New(claim.KindGranted, g)
		}
	}
	return nil
}
