package projection

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bureau/internal/db"
	"bureau/internal/event"
)

// Difference is something that the tables hold otherwise than the journal says.
type Difference struct {
	Table string `json:"table"`
	Key   string `json:"key"`  // the row's key; "" for the table itself
	Have  string `json:"have"` // what the tables hold, "" for nothing
	Want  string `json:"want"` // what a full fold gives, "" for nothing
}

func (d Difference) String() string {
	return fmt.Sprintf("%s %s: have %s, want %s", d.Table, d.Key, orNothing(d.Have), orNothing(d.Want))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Compare folds the journal from its beginning to the position of the tables,
// into a database of its own in a new folder below dir, and reports up to
// limit differences. It changes nothing and, inside a View, keeps no writer
// waiting; it takes as long as filling a generation does.
func (p *Projection) Compare(tx *db.Tx, read func(after event.Seq, limit int) ([]event.Record, error), dir string, limit int) (list []Difference, err error) {
	pos, ready, err := p.Position(tx)
	if err != nil {
		return nil, err
	}
	if !ready {
		return []Difference{{Table: p.prefix + "meta", Want: "a position"}}, nil
	}
	dir, err = os.MkdirTemp(dir, "compare-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := db.Open(tx.Context(), filepath.Join(dir, "fold.db"), db.Options{Create: true, Sync: db.Off})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	fresh := &Projection{prefix: p.prefix, texts: map[string]string{}}
	if err := fresh.foldTo(d, tx, read, pos); err != nil {
		return nil, err
	}
	err = d.View(tx.Context(), func(want *db.Tx) error {
		c := comparison{have: tx, want: want, limit: limit}
		if err := c.schema(p.prefix); err != nil {
			return err
		}
		for _, table := range tables() {
			if err := c.rows(p.prefix + table); err != nil {
				return err
			}
		}
		list = c.list
		return nil
	})
	return list, err
}

// foldTo fills a generation in d with the records up to pos.
func (p *Projection) foldTo(d *db.DB, tx *db.Tx, read func(after event.Seq, limit int) ([]event.Record, error), pos event.Seq) error {
	if err := d.Update(tx.Context(), p.Create); err != nil {
		return err
	}
	for after := event.Seq(0); after < pos; {
		recs, err := read(after, Batch)
		if err != nil {
			return err
		}
		if len(recs) == 0 {
			return fmt.Errorf("the journal ends at %d, the tables at %d", after, pos)
		}
		err = d.Update(tx.Context(), func(into *db.Tx) error {
			for i := range recs {
				if recs[i].Seq > pos {
					break
				}
				if err := p.Apply(into, &recs[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = recs[len(recs)-1].Seq
	}
	return nil
}

// tables lists the generation's tables whose rows are derived.
func tables() (list []string) {
	for _, q := range schema {
		rest, ok := strings.CutPrefix(q, "CREATE TABLE IF NOT EXISTS ~")
		if name, _, _ := strings.Cut(rest, " "); ok && name != "meta" {
			list = append(list, name)
		}
	}
	return list
}

// comparison collects what differs between two databases.
type comparison struct {
	have, want *db.Tx
	limit      int
	list       []Difference
}

func (c *comparison) full() bool { return len(c.list) >= c.limit }

func (c *comparison) add(d Difference) {
	if !c.full() {
		c.list = append(c.list, d)
	}
}

// schema compares tables, indexes and triggers.
func (c *comparison) schema(prefix string) error {
	read := func(tx *db.Tx) (map[string]string, []string, error) {
		made, order := map[string]string{}, []string(nil)
		err := tx.Each(`SELECT name, sql FROM sqlite_schema WHERE substr(name, 1, ?) = ? AND sql IS NOT NULL ORDER BY name`,
			[]any{len(prefix), prefix}, func(r db.Row) error {
				var name, sql string
				err := r.Scan(&name, &sql)
				made[name], order = sql, append(order, name)
				return err
			})
		return made, order, err
	}
	have, haveOrder, err := read(c.have)
	if err != nil {
		return err
	}
	want, wantOrder, err := read(c.want)
	if err != nil {
		return err
	}
	for _, name := range wantOrder {
		if have[name] != want[name] {
			c.add(Difference{Table: name, Have: have[name], Want: want[name]})
		}
	}
	for _, name := range haveOrder {
		if _, known := want[name]; !known {
			c.add(Difference{Table: name, Have: have[name]})
		}
	}
	return nil
}

// rows compares one table, row by row in the order of keys.
func (c *comparison) rows(table string) error {
	columns, query, err := rowQuery(c.want, table)
	if err != nil {
		return err
	}
	if has, _, err := rowQuery(c.have, table); err != nil {
		return err
	} else if strings.Join(has, ",") != strings.Join(columns, ",") {
		return nil // said by schema already
	}
	var errs [2]error
	nextHave, stopHave := iter.Pull2(each(c.have, query, &errs[0]))
	defer stopHave()
	nextWant, stopWant := iter.Pull2(each(c.want, query, &errs[1]))
	defer stopWant()
	haveKey, have, okHave := nextHave()
	wantKey, want, okWant := nextWant()
	for (okHave || okWant) && !c.full() {
		switch {
		case okHave && (!okWant || haveKey < wantKey):
			c.add(Difference{Table: table, Key: readable(haveKey), Have: show(columns, have, "")})
			haveKey, have, okHave = nextHave()
		case okWant && (!okHave || wantKey < haveKey):
			c.add(Difference{Table: table, Key: readable(wantKey), Want: show(columns, want, "")})
			wantKey, want, okWant = nextWant()
		default:
			if have != want {
				c.add(Difference{Table: table, Key: readable(haveKey), Have: show(columns, have, want), Want: show(columns, want, have)})
			}
			haveKey, have, okHave = nextHave()
			wantKey, want, okWant = nextWant()
		}
	}
	return errors.Join(errs[:]...)
}

// rowQuery makes the query that writes every row of a table as two texts, its
// key and its values, in the order of the keys' texts.
func rowQuery(tx *db.Tx, table string) (columns []string, query string, err error) {
	var values, keys []string
	err = tx.Each(`SELECT name, pk FROM pragma_table_info(?) ORDER BY cid`, []any{table}, func(r db.Row) error {
		var name string
		var pk int
		if err := r.Scan(&name, &pk); err != nil {
			return err
		}
		// hex keeps every byte, and a text with a NUL in it is not cut.
		value := fmt.Sprintf(`CASE typeof("%[1]s") WHEN 'null' THEN 'n' WHEN 'integer' THEN 'i' || "%[1]s" ELSE 't' || hex("%[1]s") END`, name)
		columns, values = append(columns, name), append(values, value)
		if pk > 0 {
			keys = append(keys, value)
		}
		return nil
	})
	join := func(list []string) string { return strings.Join(list, ` || ' ' || `) }
	return columns, fmt.Sprintf(`SELECT %s AS k, %s FROM "%s" ORDER BY k`, join(keys), join(values), table), err
}

// each yields the rows of a rowQuery.
func each(tx *db.Tx, query string, failed *error) iter.Seq2[string, string] {
	stop := errors.New("enough")
	return func(yield func(key, row string) bool) {
		err := tx.Each(query, nil, func(r db.Row) error {
			var key, row string
			if err := r.Scan(&key, &row); err != nil {
				return err
			}
			if !yield(key, row) {
				return stop
			}
			return nil
		})
		if err != stop {
			*failed = err
		}
	}
}

// show writes a row for people; of a row that there is twice, only the columns
// that differ from the other.
func show(columns []string, row, other string) string {
	values, others := strings.Split(row, " "), strings.Split(other, " ")
	var out []string
	for i, c := range columns {
		if other == "" || values[i] != others[i] {
			out = append(out, c+"="+readable(values[i]))
		}
	}
	return strings.Join(out, " ")
}

// readable undoes what rowQuery did to values.
func readable(values string) string {
	list := strings.Split(values, " ")
	for i, v := range list {
		switch v[0] {
		case 'n':
			list[i] = "NULL"
		case 'i':
			list[i] = v[1:]
		default:
			if raw, err := hex.DecodeString(v[1:]); err == nil {
				list[i] = strconv.Quote(string(raw))
			}
		}
	}
	return strings.Join(list, " ")
}
