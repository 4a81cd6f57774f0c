package office

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
)

// Search is what somebody looks for in mail.
type Search struct {
	Text   string // words, all of which must occur; "a phrase" in quotes; a word* by its beginning
	From   string
	To     string
	Thread string
	Kind   mail.Kind
	Since  time.Time
	Page
}

// indexBatch is how many messages one transaction adds to the index.
const indexBatch = 500

// Find searches mail that the caller may see, newest first. It brings the
// full-text index up first; nothing else changes. The body of a result is the
// part where the first word occurs.
func (o *Office) Find(ctx context.Context, caller Caller, s Search) (Messages, error) {
	out := Messages{Messages: []MessageView{}}
	limit, err := s.limit()
	if err != nil {
		return out, err
	}
	match, first, err := matchQuery(s.Text)
	if err != nil {
		return out, err
	}
	q := projection.Query{Match: match, Kind: s.Kind, Since: s.Since, Limit: limit + 1}
	if s.Page.From != "" {
		if err := decodeCursor(s.Page.From, &q.Below); err != nil {
			return out, err
		}
	}
	if !caller.Human {
		q.Member = caller.Agent.ID
	}
	if err := o.bringIndex(ctx); err != nil {
		return out, err
	}
	offered := o.offered(ctx, caller.Agent.ID)
	err = o.look(ctx, func(tx *Tx) error {
		out.Messages = out.Messages[:0]
		if _, ready, err := projection.IndexPosition(tx.t); err != nil || !ready {
			return err
		}
		for word, to := range map[string]*event.ID{s.From: &q.From, s.To: &q.To} {
			if word == "" {
				continue
			}
			a, err := tx.find(word)
			if err != nil {
				return err
			}
			*to = a.ID
		}
		if s.Thread != "" {
			if q.Thread, err = tx.resolve(caller, s.Thread, "thread"); err != nil {
				return err
			}
		}
		list, total, err := o.tables.Search(tx.t, q)
		if err != nil {
			return err
		}
		out.Total = total
		if len(list) > limit {
			list = list[:limit]
			out.Next = encodeCursor(list[limit-1].Row())
		}
		for i := range list {
			v, err := tx.wholeFor(caller, list[i].ID, offered)
			if err != nil {
				return err
			}
			v.excerpt(first)
			out.Messages = append(out.Messages, v)
		}
		return nil
	})
	return out, err
}

// bringIndex adds what the full-text index lacks, in batches.
func (o *Office) bringIndex(ctx context.Context) error {
	if o.fullText == nil {
		return fault.New(fault.Unavailable, "this program has no full-text search").WithHint("use bureau search")
	}
	if err := o.fullText(o.store); err != nil {
		return err
	}
	if o.ReadOnly() {
		return nil // what is indexed can still be found
	}
	for done := false; !done; {
		behind := false
		err := o.look(ctx, func(tx *Tx) error {
			pos, _, err := projection.IndexPosition(tx.t)
			if err != nil {
				return err
			}
			list, err := tx.toIndex(pos, 1)
			behind = len(list) > 0
			return err
		})
		if err != nil || !behind {
			return err
		}
		err = o.store.Update(ctx, func(t *db.Tx) error {
			tx := o.tx(t, event.Actor{})
			pos, _, err := projection.IndexPosition(t)
			if err != nil {
				return err
			}
			list, err := tx.toIndex(pos, indexBatch)
			if err != nil {
				return err
			}
			done = len(list) < indexBatch
			for _, x := range list {
				subject, body := x.text()
				if err := o.tables.Index(t, x.row, subject, strings.ToValidUTF8(body, "\uFFFD")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// indexed is a text for the full-text index.
type indexed struct {
	row  int64
	text func() (subject, body string)
}

// toIndex lists what the index lacks, in order: mail, and what was said in
// rooms.
func (tx *Tx) toIndex(after int64, limit int) (list []indexed, err error) {
	mails, err := tx.o.tables.ToIndex(tx.t, after, limit)
	if err != nil {
		return nil, err
	}
	for i := range mails {
		m := &mails[i]
		list = append(list, indexed{m.Row(), func() (string, string) {
			body, err := tx.body(m)
			if err != nil {
				body = []byte(m.Preview) // a blob that is gone can still be found by its beginning
			}
			return m.Subject, string(body)
		}})
	}
	said, err := tx.o.tables.SaidToIndex(tx.t, after, limit)
	if err != nil {
		return nil, err
	}
	for i := range said {
		list = append(list, indexed{said[i].Row(), func() (string, string) { return "", tx.saidText(&said[i]) }})
	}
	slices.SortFunc(list, func(a, b indexed) int { return cmp.Compare(a.row, b.row) })
	return list[:min(len(list), limit)], nil
}

// matchQuery turns what a person types into FTS5's language, where every word
// is quoted, so nothing in it is an operator. first is the first word, for the
// excerpt.
func matchQuery(text string) (match, first string, err error) {
	var parts []string
	rest := strings.TrimSpace(strings.ReplaceAll(text, "\x00", " ")) // which ends a query
	for rest != "" {
		var word string
		if rest[0] == '"' {
			phrase, after, closed := strings.Cut(rest[1:], `"`)
			word, rest = phrase, strings.TrimSpace(after)
			if !closed {
				rest = ""
			}
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			word, rest = rest[:end], strings.TrimSpace(rest[end:])
		}
		prefix := strings.HasSuffix(word, "*")
		word = strings.Trim(word, "*")
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0 {
			continue
		}
		if first == "" {
			first = strings.Fields(word)[0]
		}
		part := `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
		if prefix {
			part += "*"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "", "", fault.New(fault.Invalid, "nothing to search for in %q", text).WithHint(`bureau search WORD… ("a phrase", begin*)`)
	}
	return strings.Join(parts, " "), first, nil
}

// excerptLen is how much of a body a search result shows, in characters.
const excerptLen = 240

// excerpt cuts the body to the part around a word.
func (m *MessageView) excerpt(word string) {
	runes := []rune(m.Body)
	if len(runes) <= excerptLen {
		return
	}
	start := 0
	if at := strings.Index(strings.ToLower(m.Body), strings.ToLower(word)); at > 0 && at <= len(m.Body) {
		start = max(len([]rune(strings.ToLower(m.Body)[:at]))-excerptLen/4, 0)
	}
	start = min(start, len(runes)-excerptLen)
	m.Body, m.Cut = string(runes[start:start+excerptLen]), true
	if start > 0 {
		m.Body = "…" + m.Body
	}
}
