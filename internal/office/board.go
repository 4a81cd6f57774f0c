package office

import (
	"context"
	"strings"
	"time"

	"bureau/internal/board"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// EntryView is a note on the board.
type EntryView struct {
	Scope   string    `json:"scope"`
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Author  string    `json:"author"`
	At      time.Time `json:"at"`
	Version event.Seq `json:"version"`
	Deleted bool      `json:"deleted,omitempty"`
}

// Entries is a page of the board.
type Entries struct {
	Entries []EntryView `json:"entries"`
	Total   int         `json:"total"`
	Next    string      `json:"next"`
}

// BoardScope gives the scope that a caller's keys lie in: the project's, or
// the whole office's.
func BoardScope(p Project, office bool) string {
	if office || p.ID == "" {
		return board.OfficeScope
	}
	return "project-" + p.ID
}

// BoardSet writes a value under a key; with ifVersion only if the entry still
// has that version (0: only if nothing is there), else conflict.
func (o *Office) BoardSet(ctx context.Context, caller Caller, scope, key, value string, ifVersion *event.Seq) (EntryView, error) {
	return o.onBoard(ctx, caller, scope, key, func(now board.Entry) ([]event.Event, error) {
		return board.Put{Key: key, Value: value, IfVersion: ifVersion}.Decide(now)
	})
}

// BoardDelete takes a key off the board; its history stays.
func (o *Office) BoardDelete(ctx context.Context, caller Caller, scope, key string, ifVersion *event.Seq) (EntryView, error) {
	return o.onBoard(ctx, caller, scope, key, func(now board.Entry) ([]event.Event, error) {
		return board.Delete{Key: key, IfVersion: ifVersion}.Decide(now)
	})
}

func (o *Office) onBoard(ctx context.Context, caller Caller, scope, key string, decide func(board.Entry) ([]event.Event, error)) (EntryView, error) {
	if err := caller.mayChange(); err != nil {
		return EntryView{}, err
	}
	var out EntryView
	err := o.change(ctx, caller.actor(), func(tx *Tx) error {
		tx.project = caller.Project.ID
		subject := event.BoardSubject(scope)
		if err := tx.known(subject); err != nil {
			return err
		}
		now, err := o.tables.BoardEntry(tx.t, scope, key)
		if err != nil {
			return err
		}
		events, err := decide(now)
		if err != nil {
			return err
		}
		version, err := o.journal.In(tx.t).Version(subject)
		if err != nil {
			return err
		}
		rec, err := tx.append("", subject, &version, events)
		if err != nil {
			return err
		}
		now, err = o.tables.BoardEntry(tx.t, scope, key)
		if err != nil {
			return err
		}
		if now.Version == 0 {
			out = EntryView{Scope: scope, Key: key, Author: tx.nameOf(caller.Agent.ID), At: rec.Time, Version: rec.Seq, Deleted: true}
			return nil
		}
		out = tx.entryView(now)
		return nil
	})
	return out, err
}

// BoardGet gives what stands under a key.
func (o *Office) BoardGet(ctx context.Context, scope, key string) (EntryView, error) {
	var out EntryView
	err := o.look(ctx, func(tx *Tx) error {
		e, err := o.tables.BoardEntry(tx.t, scope, key)
		if err != nil {
			return err
		}
		if e.Version == 0 {
			return fault.New(fault.NotFound, "nothing on the board under %q", key).WithHint("bureau board list shows what is there")
		}
		out = tx.entryView(e)
		return nil
	})
	return out, err
}

// BoardList lists the keys that begin with a prefix (a * at its end is
// allowed), in order.
func (o *Office) BoardList(ctx context.Context, scope, prefix string, page Page) (Entries, error) {
	out := Entries{Entries: []EntryView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	after := ""
	if page.From != "" {
		if err := decodeCursor(page.From, &after); err != nil {
			return out, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Entries = out.Entries[:0]
		list, total, err := o.tables.BoardList(tx.t, scope, strings.TrimSuffix(prefix, "*"), after, limit+1)
		if err != nil {
			return err
		}
		out.Total = total
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(list[limit-1].Key)
		}
		for _, e := range list {
			out.Entries = append(out.Entries, tx.entryView(e))
		}
		return nil
	})
	return out, err
}

// BoardHistory lists what was written under a key, newest first.
func (o *Office) BoardHistory(ctx context.Context, scope, key string, page Page) (Entries, error) {
	out := Entries{Entries: []EntryView{}}
	limit, err := page.limit()
	if err != nil {
		return out, err
	}
	var below event.Seq
	if page.From != "" {
		if err := decodeCursor(page.From, &below); err != nil {
			return out, err
		}
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Entries = out.Entries[:0]
		list, total, err := o.tables.BoardHistory(tx.t, scope, key, below, limit+1)
		if err != nil {
			return err
		}
		out.Total = total
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(list[limit-1].Version)
		}
		for _, c := range list {
			v := tx.entryView(c.Entry)
			v.Deleted = c.Deleted
			out.Entries = append(out.Entries, v)
		}
		return nil
	})
	return out, err
}

func (tx *Tx) entryView(e board.Entry) EntryView {
	return EntryView{Scope: e.Scope, Key: e.Key, Value: e.Value, Author: tx.nameOf(e.Author), At: e.At, Version: e.Version}
}
