package projection

import (
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/mail"
)

// The full-text index of mail and of what was said in rooms. It is not part of a generation and not in the
// writers' transactions: whoever searches brings it up first. A row's number
// is made from where the message stands in the journal, so every generation
// finds it. The connection needs package db/fts.
const (
	fulltextTable = `CREATE VIRTUAL TABLE IF NOT EXISTS fulltext_1 USING fts5 (subject, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')`
	fulltextMark  = `CREATE TABLE IF NOT EXISTS fulltext_1_position (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL)`
)

// rowOf gives the number of a message's row in the index; a record has at most
// 1,000 events.
func rowOf(seq event.Seq, part int) int64 { return int64(seq)<<10 | int64(part) }

// IndexPosition is the row up to which the index has come; ready is false when
// there is no index.
func IndexPosition(tx *db.Tx) (pos int64, ready bool, err error) {
	found, err := tx.One(`SELECT 1 FROM sqlite_schema WHERE name = 'fulltext_1_position'`, nil, new(int))
	if err != nil || !found {
		return 0, false, err
	}
	_, err = tx.One(`SELECT n FROM fulltext_1_position`, nil, &pos)
	return pos, true, err
}

// ToIndex lists messages that the index does not hold yet, in order.
func (p *Projection) ToIndex(tx *db.Tx, after int64, limit int) (list []Message, err error) {
	err = p.messages(tx, &list, ` WHERE (m.seq << 10 | m.part) > ? AND m.seq >= ? ORDER BY m.seq, m.part LIMIT ?`, after, after>>10, limit)
	return list, err
}

// Index adds a text to the index under its place in the journal, making the
// index if there is none. Places come in order.
func (p *Projection) Index(tx *db.Tx, row int64, subject, body string) error {
	if err := tx.Exec(fulltextTable); err != nil {
		return err
	}
	if err := tx.Exec(fulltextMark); err != nil {
		return err
	}
	if err := tx.Exec(`INSERT INTO fulltext_1 (rowid, subject, body) VALUES (?, ?, ?)`, row, subject, body); err != nil {
		return err
	}
	return tx.Exec(`INSERT OR REPLACE INTO fulltext_1_position (one, n) VALUES (1, ?)`, row)
}

// Query is a search in mail.
type Query struct {
	Match  string   // in FTS5's language
	Member event.ID // only threads that this agent takes part in; "" for all
	From   event.ID
	To     event.ID
	Thread event.ID
	Kind   mail.Kind
	Since  time.Time
	Below  int64 // row number: only what comes before it; 0 for all
	Limit  int
}

// Search lists the messages that match, newest first, and how many there are.
func (p *Projection) Search(tx *db.Tx, q Query) (list []Message, total int, err error) {
	where := ` WHERE fulltext_1 MATCH ? AND (? = '' OR m.thread IN (SELECT thread FROM ~member WHERE agent = ?))
		AND (? = '' OR m.sender = ?) AND (? = '' OR EXISTS (SELECT 1 FROM ~receipt r WHERE r.agent = ? AND r.n = m.n))
		AND (? = '' OR m.thread = ?) AND (? = '' OR m.kind = ?) AND m.sent >= ?`
	from := ` FROM fulltext_1 f JOIN ~message m ON m.seq = f.rowid >> 10 AND m.part = f.rowid & 1023`
	args := []any{q.Match, q.Member, q.Member, q.From, q.From, q.To, q.To, q.Thread, q.Thread, q.Kind, q.Kind, q.Since}
	if _, err = p.one(tx, `SELECT count(*)`+from+where, args, &total); err != nil {
		return nil, 0, err
	}
	err = p.each(tx, `SELECT `+messageColumns+from+where+` AND (? = 0 OR f.rowid < ?) ORDER BY f.rowid DESC LIMIT ?`,
		append(args, q.Below, q.Below, q.Limit), func(r db.Row) error {
			var m Message
			if err := m.scan(r); err != nil {
				return err
			}
			list = append(list, m)
			return nil
		})
	return list, total, err
}

// Row gives a message's place for Query.Below.
func (m *Message) Row() int64 { return rowOf(m.Seq, m.Part) }
