package office

import (
	"context"

	"bureau/internal/event"
	journalsqlite "bureau/internal/journal/sqlite"
)

// Verify checks the journal and changes nothing.
func (o *Office) Verify(ctx context.Context, progress func(done, total event.Seq)) (journalsqlite.Report, error) {
	return o.journal.Verify(ctx, func(done, total int) {
		if progress != nil {
			progress(event.Seq(done), event.Seq(total))
		}
	})
}
