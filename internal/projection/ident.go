package projection

import (
	"strings"

	"bureau/internal/db"
	"bureau/internal/event"
)

// ShortLen is the least number of characters of a short id.
const ShortLen = 6

// Ident is an id and what it names: agent, thread or message.
type Ident struct {
	ID   event.ID
	Kind string
}

func (p *Projection) addIdent(tx *db.Tx, id event.ID, kind string) error {
	return p.exec(tx, `INSERT OR IGNORE INTO ~ident (rid, kind) VALUES (?, ?)`, reverse(string(id)), kind)
}

// Short gives the shortest end of an id, of at least ShortLen characters, that
// no other id of the office ends in. Ids of one second begin alike, so their
// ends are what tells them apart.
func (p *Projection) Short(tx *db.Tx, id event.ID) (string, error) {
	rid := reverse(string(id))
	var before, after string // the neighbours in alphabetical order; "" for none
	_, err := p.one(tx, `SELECT (SELECT max(rid) FROM ~ident WHERE rid < ?1), (SELECT min(rid) FROM ~ident WHERE rid > ?1)`, []any{rid}, &before, &after)
	if err != nil {
		return "", err
	}
	longest := max(common(rid, before), common(rid, after))
	n := min(max(longest+1, ShortLen), len(id))
	return string(id[len(id)-n:]), nil
}

// Find lists the ids that have part as their end or their beginning or, if
// there are none, anywhere inside; at most limit. kind "" means any.
func (p *Projection) Find(tx *db.Tx, part, kind string, limit int) ([]Ident, error) {
	part = strings.ToUpper(part)
	if part == "" || strings.IndexFunc(part, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') }) >= 0 {
		return nil, nil
	}
	var out []Ident
	collect := func(r db.Row) error {
		var i Ident
		var rid string
		if err := r.Scan(&rid, &i.Kind); err != nil {
			return err
		}
		i.ID = event.ID(reverse(rid))
		out = append(out, i)
		return nil
	}
	rid := reverse(part)
	err := p.each(tx, `SELECT rid, kind FROM ~ident WHERE rid >= ? AND rid < ? AND (? = '' OR kind = ?) ORDER BY rid LIMIT ?`,
		[]any{rid, rid + "~", kind, kind, limit}, collect)
	if err != nil || len(out) > 0 {
		return out, err
	}
	err = p.each(tx, `SELECT rid, kind FROM ~ident WHERE instr(rid, ?) > 0 AND (? = '' OR kind = ?) ORDER BY rid LIMIT ?`,
		[]any{rid, kind, kind, limit}, collect)
	return out, err
}

func reverse(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// common counts the characters that two strings begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
