package office

import (
	"context"
	"fmt"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// maxCandidates is how many ids a refusal of an ambiguous one lists.
const maxCandidates = 8

// Candidate is one of several ids that a part of one could mean.
type Candidate struct {
	ID    event.ID `json:"id"`
	Short string   `json:"short"`
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`
}

// resolve gives the one message or thread that a part of an id means, among
// those that the caller may see. Where a thread is wanted, a message's id
// means its thread.
func (tx *Tx) resolve(caller Caller, part, kind string) (event.ID, error) {
	word := strings.TrimSpace(part)
	found, err := tx.o.tables.Find(tx.t, word, kind, 100)
	if err != nil {
		return "", err
	}
	if len(found) == 0 && kind == "thread" {
		messages, err := tx.o.tables.Find(tx.t, word, "message", 2)
		if err != nil {
			return "", err
		}
		if len(messages) == 1 {
			if m, ok, err := tx.o.tables.MessageByID(tx.t, messages[0].ID); err != nil {
				return "", err
			} else if ok && tx.maySee(caller, m.Thread) {
				return m.Thread, nil
			}
		}
	}
	var ids []event.ID
	for _, f := range found {
		if strings.EqualFold(string(f.ID), word) {
			return f.ID, nil // whole: whether the caller may see it is for the verb to say
		}
		thread := f.ID
		if f.Kind == "message" {
			m, _, err := tx.o.tables.MessageByID(tx.t, f.ID)
			if err != nil {
				return "", err
			}
			thread = m.Thread
		}
		if tx.maySee(caller, thread) {
			ids = append(ids, f.ID)
		}
	}
	list := map[string]string{"message": "bureau inbox --all", "thread": "bureau thread list"}[kind]
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", fault.New(fault.NotFound, "no %s %q", kind, part).WithHint("%s lists them", list)
	}
	return "", tx.ambiguous(part, kind, ids)
}

func (tx *Tx) ambiguous(part, kind string, ids []event.ID) error {
	var lines []string
	var candidates []Candidate
	for i, id := range ids {
		if i == maxCandidates {
			lines = append(lines, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		short, err := tx.o.tables.Short(tx.t, id)
		if err != nil {
			return err
		}
		text := ""
		if kind == "message" {
			if m, ok, err := tx.o.tables.MessageByID(tx.t, id); err == nil && ok {
				text = head(strings.Join(strings.Fields(m.Subject+" "+m.Preview), " "), 40)
			}
		} else if kind == "claim" {
			if scope, ok, err := tx.o.tables.ClaimScope(tx.t, id); err == nil && ok {
				if c, _, err := tx.o.tables.Claims(tx.t, scope).Claim(id); err == nil {
					text = head(c.Intent, 40)
				}
			}
		} else if t, _, ok, err := tx.o.tables.Thread(tx.t, id); err == nil && ok {
			text = head(t.Subject, 40)
		}
		candidates = append(candidates, Candidate{ID: id, Short: short, Kind: kind, Text: text})
		lines = append(lines, fmt.Sprintf("%s (%q)", short, text))
	}
	return fault.New(fault.Conflict, "%q is part of %d %s ids", part, len(ids), kind).
		WithHint("say which: %s", strings.Join(lines, ", ")).WithDetail(candidates)
}

// maySee reports whether the caller takes part in a thread.
func (tx *Tx) maySee(caller Caller, thread event.ID) bool {
	if caller.Human {
		return true
	}
	t, _, found, err := tx.o.tables.Thread(tx.t, thread)
	return err == nil && found && t.Has(caller.Agent.ID)
}

// see refuses a thread that the caller takes no part in.
func (tx *Tx) see(caller Caller, thread event.ID) error {
	if tx.maySee(caller, thread) {
		return nil
	}
	return fault.New(fault.Denied, "%s takes no part in thread %s", caller.Agent.Name, thread).
		WithHint("a participant can add you: bureau thread add %s %s", thread, caller.Agent.Name)
}

// Resolve gives the id that a part of one means; kind is message or thread.
func (o *Office) Resolve(ctx context.Context, caller Caller, part, kind string) (event.ID, error) {
	var id event.ID
	err := o.look(ctx, func(tx *Tx) (err error) {
		id, err = tx.resolve(caller, part, kind)
		return err
	})
	return id, err
}

// head cuts a text to a number of characters.
func head(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	return strings.TrimSpace(string(r[:runes-1])) + "…"
}
