package db

import (
	"fmt"
	"reflect"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Row is the current row of a query.
type Row struct{ s *stmt }

// bind sets the parameters of a statement: strings, integers, floats, bools,
// byte slices (a blob; nil is NULL), types made from these, times (as whole Unix
// milliseconds), pointers to all of them (nil is NULL) and nil.
func bind(s *stmt, args []any) error {
	if len(args) != s.params {
		return fmt.Errorf("%d arguments for %d parameters", len(args), s.params)
	}
	for i, a := range args {
		if err := bindOne(s, i+1, a); err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return nil
}

func bindOne(s *stmt, i int, a any) error {
	switch a := a.(type) {
	case nil:
		return s.BindNull(i)
	case string:
		return s.BindText(i, a)
	case []byte:
		return s.BindBlob(i, a)
	case int64:
		return s.BindInt64(i, a)
	case int:
		return s.BindInt64(i, int64(a))
	case bool:
		return s.BindBool(i, a)
	case float64:
		return s.BindFloat(i, a)
	case time.Time:
		return bindTime(s, i, a)
	}
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.String:
		return s.BindText(i, v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return s.BindInt64(i, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if u := v.Uint(); u <= 1<<63-1 {
			return s.BindInt64(i, int64(u))
		}
		return fmt.Errorf("%d does not fit into SQLite's integers", v.Uint())
	case reflect.Bool:
		return s.BindBool(i, v.Bool())
	case reflect.Float32, reflect.Float64:
		return s.BindFloat(i, v.Float())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return s.BindBlob(i, v.Bytes())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return s.BindNull(i)
		}
		return bindOne(s, i, v.Elem().Interface())
	}
	return fmt.Errorf("a %T cannot be stored", a)
}

// Scan copies the columns of the row into dest, one pointer per column: to a
// string, an integer, a bool, a float64, a []byte, a time, a type made from these, an
// any, or a pointer to one of them for a column that may be NULL. NULL sets
// all others to their zero value. It does not convert: a text in place of a
// number is an error, because it means that the row is damaged.
func (r Row) Scan(dest ...any) error {
	if n := r.s.ColumnCount(); n != len(dest) {
		return fmt.Errorf("db: %d columns for %d destinations: %s", n, len(dest), brief(r.s.SQL()))
	}
	for i, to := range dest {
		if err := r.scanOne(i, to); err != nil {
			return fmt.Errorf("column %s: %w", r.s.ColumnName(i), err)
		}
	}
	return r.s.Err()
}

func (r Row) scanOne(i int, to any) error {
	kind := r.s.ColumnType(i)
	switch to := to.(type) {
	case *string:
		switch kind {
		case sqlite3.TEXT, sqlite3.BLOB:
			*to = r.text(i, kind)
		case sqlite3.NULL:
			*to = ""
		default:
			return mismatch(kind, to)
		}
		return nil
	case *[]byte:
		switch kind {
		case sqlite3.TEXT, sqlite3.BLOB:
			*to = r.bytes(i, kind)
		case sqlite3.NULL:
			*to = nil
		default:
			return mismatch(kind, to)
		}
		return nil
	case *int64:
		switch kind {
		case sqlite3.INTEGER:
			*to = r.s.ColumnInt64(i)
		case sqlite3.NULL:
			*to = 0
		default:
			return mismatch(kind, to)
		}
		return nil
	case *time.Time:
		return r.scanTime(i, kind, to)
	case *any:
		*to = r.value(i, kind)
		return nil
	}
	v := reflect.ValueOf(to)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("destination %T is not a pointer", to)
	}
	return r.set(i, kind, v.Elem())
}

// set is scanOne for every other type.
func (r Row) set(i int, kind sqlite3.Datatype, v reflect.Value) error {
	if kind == sqlite3.NULL {
		v.SetZero()
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return r.scanOne(i, v.Interface())
	case reflect.String:
		if kind == sqlite3.TEXT || kind == sqlite3.BLOB {
			v.SetString(r.text(i, kind))
			return nil
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 && (kind == sqlite3.TEXT || kind == sqlite3.BLOB) {
			v.SetBytes(r.bytes(i, kind))
			return nil
		}
	case reflect.Bool:
		if kind == sqlite3.INTEGER {
			v.SetBool(r.s.ColumnInt64(i) != 0)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if kind == sqlite3.INTEGER {
			n := r.s.ColumnInt64(i)
			if v.OverflowInt(n) {
				return rowError(fmt.Sprintf("%d does not fit into %s", n, v.Type()))
			}
			v.SetInt(n)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if kind == sqlite3.INTEGER {
			n := r.s.ColumnInt64(i)
			if n < 0 || v.OverflowUint(uint64(n)) {
				return rowError(fmt.Sprintf("%d does not fit into %s", n, v.Type()))
			}
			v.SetUint(uint64(n))
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if kind == sqlite3.FLOAT || kind == sqlite3.INTEGER {
			v.SetFloat(r.s.ColumnFloat(i))
			return nil
		}
	}
	return mismatch(kind, v.Addr().Interface())
}

func (r Row) text(i int, kind sqlite3.Datatype) string {
	if kind == sqlite3.BLOB {
		return string(r.s.ColumnRawBlob(i))
	}
	return r.s.ColumnText(i)
}

// bytes gives a copy that is never nil, so that an empty value and NULL differ.
func (r Row) bytes(i int, kind sqlite3.Datatype) []byte {
	raw := r.s.ColumnRawBlob
	if kind == sqlite3.TEXT {
		raw = r.s.ColumnRawText
	}
	return append([]byte{}, raw(i)...)
}

func (r Row) value(i int, kind sqlite3.Datatype) any {
	switch kind {
	case sqlite3.INTEGER:
		return r.s.ColumnInt64(i)
	case sqlite3.FLOAT:
		return r.s.ColumnFloat(i)
	case sqlite3.TEXT:
		return r.s.ColumnText(i)
	case sqlite3.BLOB:
		return r.bytes(i, kind)
	}
	return nil
}

func mismatch(kind sqlite3.Datatype, to any) error {
	return rowError(fmt.Sprintf("a value of type %s does not go into %T", kind, to))
}
