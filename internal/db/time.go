package db

import (
	"time"

	"github.com/ncruces/go-sqlite3"
)

// A time is stored as whole Unix milliseconds in UTC, the zero time as 0. So
// tables hold plain integers that compare and index well.

func bindTime(s *stmt, i int, t time.Time) error {
	if t.IsZero() {
		return s.BindInt64(i, 0)
	}
	return s.BindInt64(i, t.UnixMilli())
}

func (r Row) scanTime(i int, kind sqlite3.Datatype, to *time.Time) error {
	switch kind {
	case sqlite3.INTEGER, sqlite3.NULL:
	default:
		return mismatch(kind, to)
	}
	*to = time.Time{}
	if ms := r.s.ColumnInt64(i); ms != 0 {
		*to = time.UnixMilli(ms).UTC()
	}
	return nil
}
