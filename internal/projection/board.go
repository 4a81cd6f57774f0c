package projection

import (
	"strings"

	"bureau/internal/board"
	"bureau/internal/db"
	"bureau/internal/event"
)

func (p *Projection) applyBoard(tx *db.Tx, rec *event.Record) error {
	scope := strings.TrimPrefix(string(rec.Subject), "board.")
	for _, e := range rec.Events {
		var err error
		var set board.Set
		var deleted board.Deleted
		switch {
		case e.Kind == board.KindSet && e.Decode(&set) == nil:
			if err = p.exec(tx, `INSERT OR REPLACE INTO ~board (scope, key, value, author, at, version) VALUES (?, ?, ?, ?, ?, ?)`,
				scope, set.Key, set.Value, rec.Actor.Agent, rec.Time, rec.Seq); err == nil {
				err = p.logBoard(tx, rec, scope, set.Key, &set.Value)
			}
		case e.Kind == board.KindDeleted && e.Decode(&deleted) == nil:
			if err = p.exec(tx, `DELETE FROM ~board WHERE scope = ? AND key = ?`, scope, deleted.Key); err == nil {
				err = p.logBoard(tx, rec, scope, deleted.Key, nil)
			}
		default:
			err = p.noteUnknown(tx, rec.Subject, e.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Projection) logBoard(tx *db.Tx, rec *event.Record, scope, key string, value *string) error {
	return p.exec(tx, `INSERT OR REPLACE INTO ~board_log (scope, key, version, value, author, at) VALUES (?, ?, ?, ?, ?, ?)`,
		scope, key, rec.Seq, value, rec.Actor.Agent, rec.Time)
}

// BoardEntry gives what stands under a key; its Version is 0 if nothing does.
func (p *Projection) BoardEntry(tx *db.Tx, scope, key string) (board.Entry, error) {
	e := board.Entry{Scope: scope, Key: key}
	_, err := p.one(tx, `SELECT value, author, at, version FROM ~board WHERE scope = ? AND key = ?`, []any{scope, key},
		&e.Value, &e.Author, &e.At, &e.Version)
	return e, err
}

// BoardList lists the entries whose key begins with prefix, after a key, in
// order of keys.
func (p *Projection) BoardList(tx *db.Tx, scope, prefix, after string, limit int) (entries []board.Entry, total int, err error) {
	// A key holds no character above U+10FFFF, so this bounds the prefix's range.
	end := prefix + "\U0010FFFF\U0010FFFF"
	if _, err = p.one(tx, `SELECT count(*) FROM ~board WHERE scope = ? AND key >= ? AND key < ?`, []any{scope, prefix, end}, &total); err != nil {
		return nil, 0, err
	}
	err = p.each(tx, `SELECT key, value, author, at, version FROM ~board WHERE scope = ? AND key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?`,
		[]any{scope, prefix, end, after, limit}, func(r db.Row) error {
			e := board.Entry{Scope: scope}
			if err := r.Scan(&e.Key, &e.Value, &e.Author, &e.At, &e.Version); err != nil {
				return err
			}
			entries = append(entries, e)
			return nil
		})
	return entries, total, err
}

// BoardChange is one line of a key's history.
type BoardChange struct {
	board.Entry
	Deleted bool
}

// BoardHistory lists what was written under a key, newest first, below a
// version (0: from the newest), and says how much there is in all.
func (p *Projection) BoardHistory(tx *db.Tx, scope, key string, below event.Seq, limit int) (list []BoardChange, total int, err error) {
	if _, err := p.one(tx, `SELECT count(*) FROM ~board_log WHERE scope = ? AND key = ?`, []any{scope, key}, &total); err != nil {
		return nil, 0, err
	}
	err = p.each(tx, `SELECT version, coalesce(value, ''), value IS NULL, author, at FROM ~board_log
		WHERE scope = ? AND key = ? AND (? = 0 OR version < ?) ORDER BY version DESC LIMIT ?`,
		[]any{scope, key, below, below, limit}, func(r db.Row) error {
			c := BoardChange{Entry: board.Entry{Scope: scope, Key: key}}
			if err := r.Scan(&c.Version, &c.Value, &c.Deleted, &c.Author, &c.At); err != nil {
				return err
			}
			list = append(list, c)
			return nil
		})
	return list, total, err
}
