package projection

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/mail"
)

// PreviewLen is how many characters of a body a listing can show.
const PreviewLen = 240

func (p *Projection) applyThread(tx *db.Tx, rec *event.Record) error {
	id := event.ID(strings.TrimPrefix(string(rec.Subject), "thread."))
	t, _, found, err := p.Thread(tx, id)
	if err != nil {
		return err
	}
	row := threadState{created: rec.Time}
	if found {
		if row, err = p.threadState(tx, id); err != nil {
			return err
		}
	} else if err := p.addIdent(tx, id, "thread"); err != nil {
		return err
	}
	before := slices.Clone(t.Members)
	for part, e := range rec.Events {
		t.Apply(e, rec.Time)
		sent, err := p.applyThreadEvent(tx, rec, part, &t)
		if err != nil {
			return err
		}
		if sent {
			row.messages++
		}
	}
	for _, m := range t.Members {
		if slices.Contains(before, m) {
			continue
		}
		if err := p.exec(tx, `INSERT OR IGNORE INTO ~member (agent, thread) VALUES (?, ?)`, m, id); err != nil {
			return err
		}
	}
	state, err := json.Marshal(&t)
	if err != nil {
		return err
	}
	row.version, row.state = rec.Seq, string(state)
	p.memoOf(tx).threads[id] = row
	return p.exec(tx, `INSERT INTO ~thread (id, version, owner, status, created, updated, messages, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, owner = excluded.owner, status = excluded.status,
			updated = excluded.updated, messages = excluded.messages, state = excluded.state`,
		id, row.version, t.Owner, t.Status, row.created, rec.Time, row.messages, row.state)
}

// applyThreadEvent keeps the rows of messages, receipts and questions. An
// event that cannot be read changes none; the thread then refuses commands.
func (p *Projection) applyThreadEvent(tx *db.Tx, rec *event.Record, part int, t *mail.Thread) (sent bool, err error) {
	e, thread := rec.Events[part], event.ID(strings.TrimPrefix(string(rec.Subject), "thread."))
	at := rec.Time
	switch e.Kind {
	case mail.KindSent:
		var m mail.Message
		if e.Decode(&m) != nil {
			return false, nil
		}
		return true, p.addMessage(tx, rec, part, thread, &m)
	case mail.KindExhausted:
		var d mail.ExhaustedNotice
		if e.Decode(&d) != nil {
			return false, nil
		}
		// A line from the office itself, so it costs no hop.
		return false, p.addMessage(tx, rec, part, thread, &mail.Message{
			ID: d.Notice, To: []event.ID{d.Owner}, Kind: mail.Update, Subject: "hop budget used up", Body: ExhaustedBody,
		})
	case mail.KindExpired:
		var d mail.ExpiredMessage
		if e.Decode(&d) != nil {
			return false, nil
		}
		// Who has seen it keeps it, but nothing is wanted of anybody any more.
		return false, p.exec(tx, `UPDATE ~receipt SET pending = 0, at = CASE state WHEN ?1 THEN ?2 ELSE at END,
			state = CASE state WHEN ?1 THEN ?3 ELSE state END WHERE n = (SELECT n FROM ~message WHERE id = ?4)`,
			mail.Stored, at, mail.Expired, d.ID)
	case mail.KindEnded:
		var d mail.EndedQuestion
		if e.Decode(&d) != nil {
			return false, nil
		}
		return false, p.exec(tx, `UPDATE ~question SET status = 'ended', reason = ? WHERE id = ? AND asked = ? AND status = 'open'`,
			d.Reason, d.ID, d.Asked)
	case mail.KindPassed:
		var d mail.PassedOn
		if e.Decode(&d) != nil {
			return false, nil
		}
		return false, p.applyPassed(tx, rec, t, &d)
	}
	return false, nil
}

// applyPassed moves what somebody left in a thread to who has it now; t is the
// thread after that.
func (p *Projection) applyPassed(tx *db.Tx, rec *event.Record, t *mail.Thread, d *mail.PassedOn) error {
	// What it had seen stays seen, but nothing is wanted of it any more.
	end := func(id, to event.ID, reason string) error {
		return p.exec(tx, `UPDATE ~receipt SET pending = 0, reason = ?1, via = ?2, at = CASE state WHEN ?3 THEN ?4 ELSE at END,
			state = CASE state WHEN ?3 THEN ?5 ELSE state END WHERE agent = ?6 AND n = (SELECT n FROM ~message WHERE id = ?7)`,
			reason, to, mail.Stored, rec.Time, mail.Undeliverable, d.From, id)
	}
	for _, id := range d.Void {
		if err := end(id, "", mail.Gone); err != nil {
			return err
		}
	}
	if d.To == "" {
		return nil
	}
	for _, id := range d.Messages {
		if err := end(id, d.To, ReasonPassed); err != nil {
			return err
		}
		err := p.exec(tx, `INSERT OR IGNORE INTO ~receipt (agent, n, importance, state, reason, at, pending, expires, seq, via)
			SELECT ?, n, importance, ?, '', ?, 1, expires, ?, ? FROM ~message WHERE id = ?`,
			d.To, mail.Stored, rec.Time, rec.Seq, d.From, id)
		if err != nil {
			return err
		}
	}
	for _, q := range t.Questions {
		if q.Asked == d.To {
			if err := p.exec(tx, `INSERT OR IGNORE INTO ~question (id, asked, asker, answer_to, thread, n, status, reason, answer, at, expires, print)
				SELECT id, ?, asker, answer_to, thread, n, 'open', '', '', at, expires, print FROM ~question WHERE id = ? AND asked = ? AND status = 'open'`,
				d.To, q.ID, d.From); err != nil {
				return err
			}
			if err := p.exec(tx, `UPDATE ~question SET status = 'passed', reason = ? WHERE id = ? AND asked = ? AND status = 'open'`, d.To, q.ID, d.From); err != nil {
				return err
			}
		}
		if err := p.exec(tx, `UPDATE ~question SET answer_to = ? WHERE id = ? AND asked = ? AND status = 'open'`, q.AnswerTo, q.ID, q.Asked); err != nil {
			return err
		}
	}
	return nil
}

// ReasonPassed is a receipt's reason where the message was passed on.
const ReasonPassed = "passed"

// ExhaustedBody is the text of the line that tells a thread's owner that its
// hop budget is used up.
const ExhaustedBody = "This thread has used up its hop budget: nothing more can be sent in it until you grant hops (bureau thread grant THREAD 8)."

func (p *Projection) addMessage(tx *db.Tx, rec *event.Record, part int, thread event.ID, m *mail.Message) error {
	size, preview := int64(len(m.Body)), m.Body
	if m.Blob != nil {
		size, preview = m.Blob.Size, m.Blob.Head
	}
	files := ""
	if len(m.Files) > 0 {
		raw, err := json.Marshal(m.Files)
		if err != nil {
			return err
		}
		files = string(raw)
	}
	// A later record with a known id is skipped, whoever stored it.
	err := p.exec(tx, `INSERT OR IGNORE INTO ~message (id, seq, part, thread, sender, kind, subject, preview, size, importance, reply_to, answers,
			sent, expires, ack, nowake, grp, files, project) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, rec.Seq, part, thread, m.From, m.Kind, m.Subject, Head(preview, PreviewLen), size, int(m.Importance), m.ReplyTo, m.Answers,
		rec.Time, m.Expires, m.AckWanted, m.NoWake, m.Group, files, rec.Project)
	if err != nil || tx.Changes() == 0 {
		return err
	}
	n := tx.LastID()
	if err := p.addIdent(tx, m.ID, "message"); err != nil {
		return err
	}
	for _, to := range m.To {
		state, reason := mail.Stored, ""
		if a, found, err := p.Agent(tx, to); err != nil {
			return err
		} else if !found || a.Retired {
			state, reason = mail.Undeliverable, "retired"
		}
		err := p.exec(tx, `INSERT OR IGNORE INTO ~receipt (agent, n, importance, state, reason, at, pending, expires, seq, via) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
			to, n, int(m.Importance), state, reason, rec.Time, mail.Pending(state, m.AckWanted), m.Expires, rec.Seq)
		if err != nil {
			return err
		}
		if m.Kind == mail.Question {
			err := p.exec(tx, `INSERT OR IGNORE INTO ~question (id, asked, asker, answer_to, thread, n, status, reason, answer, at, expires, print)
				VALUES (?, ?, ?, ?, ?, ?, 'open', '', '', ?, ?, ?)`,
				m.ID, to, m.From, m.AnswerTo, thread, n, rec.Time, m.Expires, m.Print)
			if err != nil {
				return err
			}
		}
	}
	if m.Answers == "" {
		return nil
	}
	if err := p.exec(tx, `UPDATE ~question SET status = 'answered', answer = ? WHERE id = ? AND asked = ? AND status = 'open'`,
		m.ID, m.Answers, m.From); err != nil {
		return err
	}
	return p.mark(tx, m.From, m.Answers, mail.Answered, rec.Time)
}

// applyMailbox folds what an agent has seen and acknowledged, and how far it
// has read in rooms.
func (p *Projection) applyMailbox(tx *db.Tx, rec *event.Record) error {
	agent := event.ID(strings.TrimPrefix(string(rec.Subject), "agent."))
	for _, e := range rec.Events {
		if e.Kind == KindRoomRead {
			if err := p.applyRoomRead(tx, agent, e); err != nil {
				return err
			}
			continue
		}
		state := map[event.Kind]mail.State{mail.KindSeen: mail.Seen, mail.KindAcked: mail.Acked}[e.Kind]
		var d mail.Marked
		if state == "" || e.Decode(&d) != nil {
			if err := p.noteUnknown(tx, rec.Subject, e.Kind); err != nil {
				return err
			}
			continue
		}
		for _, id := range d.Messages {
			if err := p.mark(tx, agent, id, state, rec.Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// mark moves one receipt forward; what is not newer changes nothing. Whether a
// message had run out when it was seen is not asked again: who wrote the event
// decided that by the clock of that moment, and the record's time may have
// been raised since (a clock that jumped back).
func (p *Projection) mark(tx *db.Tx, agent, message event.ID, news mail.State, at time.Time) error {
	var n int64
	var old mail.State
	var ack bool
	found, err := p.one(tx, `SELECT r.n, r.state, m.ack FROM ~message m JOIN ~receipt r ON r.n = m.n AND r.agent = ? WHERE m.id = ?`,
		[]any{agent, message}, &n, &old, &ack)
	if err != nil || !found {
		return err
	}
	state := mail.Forward(old, news)
	if state == old {
		return nil
	}
	return p.exec(tx, `UPDATE ~receipt SET state = ?, at = ?, pending = ? WHERE agent = ? AND n = ?`,
		state, at, mail.Pending(state, ack), agent, n)
}

func (p *Projection) applyBroadcast(tx *db.Tx, rec *event.Record) error {
	for _, e := range rec.Events {
		var d mail.Posted
		if e.Kind != mail.KindBroadcasted || e.Decode(&d) != nil {
			continue
		}
		err := p.exec(tx, `INSERT OR IGNORE INTO ~broadcast (id, audience, sender, expires, seq) VALUES (?, ?, ?, ?, ?)`,
			d.Message.ID, d.Audience, d.Message.From, d.Message.Expires, rec.Seq)
		if err != nil {
			return err
		}
	}
	return nil
}

// Head cuts a text to a number of characters, never inside one. A byte that
// belongs to none counts as one and becomes U+FFFD.
func Head(s string, runes int) string {
	if len(s) > runes {
		n := 0
		for i := range s {
			if n == runes {
				s = s[:i]
				break
			}
			n++
		}
	}
	return Text(s)
}

// Text puts U+FFFD in place of every byte that belongs to no character, so that
// as many characters are shown as there are.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
