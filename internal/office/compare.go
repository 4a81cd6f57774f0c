package office

import (
	"context"

	"bureau/internal/projection"
)

// CompareTables folds the whole journal anew and reports up to limit rows that
// the tables hold otherwise. It changes nothing; [Office.Rebuild] mends what
// it finds.
func (o *Office) CompareTables(ctx context.Context, limit int) (list []projection.Difference, err error) {
	err = o.look(ctx, func(tx *Tx) (err error) {
		list, err = o.tables.Compare(tx.t, tx.reader(), o.run.Path(), limit)
		return err
	})
	return list, err
}
