package projection

import (
	"encoding/json"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/mail"
)

// Thread gives a thread's state and version; an unknown id gives an empty one.
func (p *Projection) Thread(tx *db.Tx, id event.ID) (t mail.Thread, version event.Seq, found bool, err error) {
	row, err := p.threadState(tx, id)
	if err == nil && row.state != "" {
		err = json.Unmarshal([]byte(row.state), &t)
	}
	return t, row.version, row.state != "", err
}

// Message is a row of a message's table: all but its body.
type Message struct {
	N          int64
	ID         event.ID
	Seq        event.Seq
	Part       int // index of its event in the record
	Thread     event.ID
	From       event.ID // "" for the office itself
	Kind       mail.Kind
	Subject    string
	Preview    string // the first PreviewLen characters
	Size       int64  // bytes of the body
	Importance mail.Importance
	ReplyTo    event.ID
	Answers    event.ID
	Sent       time.Time
	Expires    time.Time
	AckWanted  bool
	NoWake     bool
	Group      string
	Files      []mail.Attachment
	Project    string
}

// Receipt is how far a message has come with one recipient.
type Receipt struct {
	Agent  event.ID
	State  mail.State
	Reason string
	At     time.Time
	Seq    event.Seq // where the recipient got it
	Via    event.ID  // who had it before, of one that was passed on; who has it now, of one that Reason says was
}

const messageColumns = `m.n, m.id, m.seq, m.part, m.thread, m.sender, m.kind, m.subject, m.preview, m.size, m.importance,
	m.reply_to, m.answers, m.sent, m.expires, m.ack, m.nowake, m.grp, m.files, m.project`

func (m *Message) scan(r db.Row, more ...any) error {
	var files string
	var importance int
	dest := []any{&m.N, &m.ID, &m.Seq, &m.Part, &m.Thread, &m.From, &m.Kind, &m.Subject, &m.Preview, &m.Size, &importance,
		&m.ReplyTo, &m.Answers, &m.Sent, &m.Expires, &m.AckWanted, &m.NoWake, &m.Group, &files, &m.Project}
	if err := r.Scan(append(dest, more...)...); err != nil {
		return err
	}
	m.Importance = mail.Importance(importance)
	if files == "" {
		return nil
	}
	return json.Unmarshal([]byte(files), &m.Files)
}

// MessageByID finds a message.
func (p *Projection) MessageByID(tx *db.Tx, id event.ID) (m Message, found bool, err error) {
	err = p.each(tx, `SELECT `+messageColumns+` FROM ~message m WHERE m.id = ?`, []any{id}, func(r db.Row) error {
		found = true
		return m.scan(r)
	})
	return m, found, err
}

// Receipts lists the states of a message, in order of recipients.
func (p *Projection) Receipts(tx *db.Tx, n int64, now time.Time) ([]Receipt, error) {
	var out []Receipt
	err := p.each(tx, `SELECT agent, state, reason, at, seq, via, expires FROM ~receipt WHERE n = ? ORDER BY agent`, []any{n}, func(r db.Row) error {
		var c Receipt
		var expires time.Time
		if err := r.Scan(&c.Agent, &c.State, &c.Reason, &c.At, &c.Seq, &c.Via, &expires); err != nil {
			return err
		}
		c.settle(expires, now)
		out = append(out, c)
		return nil
	})
	return out, err
}

// ReceiptOf gives one recipient's state.
func (p *Projection) ReceiptOf(tx *db.Tx, n int64, agent event.ID, now time.Time) (Receipt, bool, error) {
	c := Receipt{Agent: agent}
	var expires time.Time
	found, err := p.one(tx, `SELECT state, reason, at, seq, via, expires FROM ~receipt WHERE n = ? AND agent = ?`, []any{n, agent},
		&c.State, &c.Reason, &c.At, &c.Seq, &c.Via, &expires)
	if found {
		c.settle(expires, now)
	}
	return c, found, err
}

// ReceiptFor gives the state of a message for one recipient, and who sent it;
// found is false if it is not one of theirs.
func (p *Projection) ReceiptFor(tx *db.Tx, message, agent event.ID, now time.Time) (from event.ID, c Receipt, found bool, err error) {
	c.Agent = agent
	var expires time.Time
	found, err = p.one(tx, `SELECT m.sender, r.state, r.reason, r.at, r.expires FROM ~message m JOIN ~receipt r ON r.n = m.n AND r.agent = ? WHERE m.id = ?`,
		[]any{agent, message}, &from, &c.State, &c.Reason, &c.At, &expires)
	if found {
		c.settle(expires, now)
	}
	return from, c, found, err
}

// settle makes a message that has run out unseen an expired one, whether or
// not somebody has written that down.
func (c *Receipt) settle(expires, now time.Time) {
	if c.State == mail.Stored && mail.Due(expires, now) {
		c.State, c.At = mail.Expired, expires
	}
}

// Cursor is a place in a list of mail: everything at or after it in the
// list's order has been shown, nothing newer than Top belongs to the walk.
type Cursor struct {
	Top        int64 // newest message when the walk began
	Importance int
	N          int64
}

// Received is a message in somebody's mailbox.
type Received struct {
	Message
	Receipt Receipt
}

// Inbox lists an agent's mail, important before normal before low, newest
// first in each. Pending restricts it to what waits for the agent. from nil
// begins a walk. next is nil at its end.
func (p *Projection) Inbox(tx *db.Tx, agent event.ID, pending bool, from *Cursor, limit int, now time.Time) (list []Received, next *Cursor, err error) {
	c := Cursor{Importance: int(mail.High) + 1}
	if from != nil {
		c = *from
	} else if _, err := p.one(tx, `SELECT coalesce(max(n), 0) FROM ~message`, nil, &c.Top); err != nil {
		return nil, nil, err
	}
	where := ``
	if pending {
		where = ` AND r.pending = 1 AND (r.expires = 0 OR r.expires > ?)`
	} else {
		where = ` AND ? > 0`
	}
	q := `SELECT ` + messageColumns + `, r.state, r.reason, r.at, r.seq, r.via FROM ~receipt r JOIN ~message m ON m.n = r.n
		WHERE r.agent = ?` + where + ` AND r.n <= ? AND (r.importance, r.n) < (?, ?) ORDER BY r.importance DESC, r.n DESC LIMIT ?`
	err = p.each(tx, q, []any{agent, now, c.Top, c.Importance, c.N, limit + 1}, func(r db.Row) error {
		x := Received{Receipt: Receipt{Agent: agent}}
		if err := x.scan(r, &x.Receipt.State, &x.Receipt.Reason, &x.Receipt.At, &x.Receipt.Seq, &x.Receipt.Via); err != nil {
			return err
		}
		x.Receipt.settle(x.Expires, now)
		list = append(list, x)
		return nil
	})
	if err != nil || len(list) <= limit {
		return list, nil, err
	}
	list = list[:limit]
	last := list[limit-1]
	return list, &Cursor{Top: c.Top, Importance: int(last.Importance), N: last.N}, nil
}

// Counts says how much mail an agent has: in all, and waiting for it.
func (p *Projection) Counts(tx *db.Tx, agent event.ID, now time.Time) (total, pending int, err error) {
	_, err = p.one(tx, `SELECT total, pending - (SELECT count(*) FROM ~receipt WHERE agent = ?1 AND pending = 1 AND expires > 0 AND expires <= ?2)
		FROM ~mailbox WHERE agent = ?1`, []any{agent, now}, &total, &pending)
	return total, pending, err
}

// Unseen lists an agent's messages that it has yet to get, oldest first, which
// is the order for reading them.
func (p *Projection) Unseen(tx *db.Tx, agent event.ID, after int64, limit int, now time.Time) (list []Received, err error) {
	q := `SELECT ` + messageColumns + `, r.state, r.reason, r.at, r.seq, r.via FROM ~receipt r JOIN ~message m ON m.n = r.n
		WHERE r.agent = ? AND r.pending = 1 AND r.state = ? AND (r.expires = 0 OR r.expires > ?) AND r.n > ? ORDER BY r.n LIMIT ?`
	err = p.each(tx, q, []any{agent, mail.Stored, now, after, limit}, func(r db.Row) error {
		x := Received{Receipt: Receipt{Agent: agent}}
		if err := x.scan(r, &x.Receipt.State, &x.Receipt.Reason, &x.Receipt.At, &x.Receipt.Seq, &x.Receipt.Via); err != nil {
			return err
		}
		list = append(list, x)
		return nil
	})
	return list, err
}

// SentBy lists an agent's own messages, newest first, below a number (0: from
// the newest).
func (p *Projection) SentBy(tx *db.Tx, agent event.ID, below int64, limit int) (list []Message, total int, err error) {
	if _, err = p.one(tx, `SELECT count(*) FROM ~message WHERE sender = ?`, []any{agent}, &total); err != nil {
		return nil, 0, err
	}
	err = p.messages(tx, &list, ` WHERE m.sender = ? AND (? = 0 OR m.n < ?) ORDER BY m.n DESC LIMIT ?`, agent, below, below, limit)
	return list, total, err
}

// ThreadMessages lists a thread's messages, oldest first, after a number.
func (p *Projection) ThreadMessages(tx *db.Tx, thread event.ID, after int64, limit int) (list []Message, err error) {
	err = p.messages(tx, &list, ` WHERE m.thread = ? AND m.n > ? ORDER BY m.n LIMIT ?`, thread, after, limit)
	return list, err
}

func (p *Projection) messages(tx *db.Tx, list *[]Message, where string, args ...any) error {
	return p.each(tx, `SELECT `+messageColumns+` FROM ~message m`+where, args, func(r db.Row) error {
		var m Message
		if err := m.scan(r); err != nil {
			return err
		}
		*list = append(*list, m)
		return nil
	})
}

// ThreadRow is a thread in a list.
type ThreadRow struct {
	mail.Thread
	Version  event.Seq
	Created  time.Time
	Updated  time.Time
	Messages int
}

// ThreadRowByID gives a thread as a list shows it.
func (p *Projection) ThreadRowByID(tx *db.Tx, id event.ID) (row ThreadRow, found bool, err error) {
	list, err := p.threads(tx, ` WHERE t.id = ?`, id)
	if err != nil || len(list) == 0 {
		return row, false, err
	}
	return list[0], true, nil
}

// Threads lists threads, those with the newest event first, below a version
// (0: from the newest). agent "" means everybody's; open leaves out the closed.
func (p *Projection) Threads(tx *db.Tx, agent event.ID, open bool, below event.Seq, limit int) (list []ThreadRow, total int, err error) {
	where, args := ` WHERE (? = 0 OR t.status <> 'closed')`, []any{open}
	if agent != "" {
		where, args = where+` AND t.id IN (SELECT thread FROM ~member WHERE agent = ?)`, append(args, agent)
	}
	if _, err = p.one(tx, `SELECT count(*) FROM ~thread t`+where, args, &total); err != nil {
		return nil, 0, err
	}
	list, err = p.threads(tx, where+` AND (? = 0 OR t.version < ?) ORDER BY t.version DESC LIMIT ?`, append(args, below, below, limit)...)
	return list, total, err
}

// ThreadsOf lists the ids of the threads in which an agent has a question
// open, as the one who asked or was asked.
func (p *Projection) ThreadsOf(tx *db.Tx, agent event.ID) (ids []event.ID, err error) {
	err = p.each(tx, `SELECT DISTINCT thread FROM ~question WHERE status = 'open' AND (asked = ? OR asker = ?)`, []any{agent, agent},
		func(r db.Row) error {
			var id event.ID
			if err := r.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
			return nil
		})
	return ids, err
}

func (p *Projection) threads(tx *db.Tx, where string, args ...any) (list []ThreadRow, err error) {
	err = p.each(tx, `SELECT t.id, t.state, t.version, t.created, t.updated, t.messages FROM ~thread t`+where, args, func(r db.Row) error {
		var row ThreadRow
		var id event.ID
		var state string
		if err := r.Scan(&id, &state, &row.Version, &row.Created, &row.Updated, &row.Messages); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(state), &row.Thread); err != nil {
			return err
		}
		row.ID = id // also of one whose beginning cannot be read
		list = append(list, row)
		return nil
	})
	return list, err
}

// Question is one question to one of those asked.
type Question struct {
	ID       event.ID
	Asked    event.ID
	Asker    event.ID
	AnswerTo event.ID
	Thread   event.ID
	N        int64
	Status   string // open, answered, ended, passed
	Reason   string // why it ended: closed, retired, expired, withdrawn, gone; to whom it was passed
	Answer   event.ID
	At       time.Time
	Expires  time.Time
	Print    string
}

const questionColumns = `q.id, q.asked, q.asker, q.answer_to, q.thread, q.n, q.status, q.reason, q.answer, q.at, q.expires, q.print`

func (p *Projection) questions(tx *db.Tx, where string, args ...any) (list []Question, err error) {
	err = p.each(tx, `SELECT `+questionColumns+` FROM ~question q`+where, args, func(r db.Row) error {
		var q Question
		if err := r.Scan(&q.ID, &q.Asked, &q.Asker, &q.AnswerTo, &q.Thread, &q.N, &q.Status, &q.Reason, &q.Answer, &q.At, &q.Expires, &q.Print); err != nil {
			return err
		}
		list = append(list, q)
		return nil
	})
	return list, err
}

// Question gives a question, one element for each of those asked.
func (p *Projection) Question(tx *db.Tx, id event.ID) ([]Question, error) {
	return p.questions(tx, ` WHERE q.id = ? ORDER BY q.asked`, id)
}

// OpenTo lists the open questions put to an agent, oldest first.
func (p *Projection) OpenTo(tx *db.Tx, agent event.ID, limit int) ([]Question, error) {
	return p.questions(tx, ` WHERE q.asked = ? AND q.status = 'open' ORDER BY q.n LIMIT ?`, agent, limit)
}

// GivenTo lists the open questions put to an agent that it has got, behind the
// position where it got them, oldest first.
func (p *Projection) GivenTo(tx *db.Tx, agent event.ID, after event.Seq, limit int, now time.Time) (list []Received, err error) {
	q := `SELECT ` + messageColumns + `, r.state, r.reason, r.at, r.seq, r.via FROM ~question q
		JOIN ~receipt r ON r.agent = q.asked AND r.n = q.n JOIN ~message m ON m.n = q.n
		WHERE q.asked = ? AND q.status = 'open' AND (q.expires = 0 OR q.expires > ?) AND r.state IN (?, ?) AND r.seq > ? ORDER BY r.seq LIMIT ?`
	err = p.each(tx, q, []any{agent, now, mail.Seen, mail.Acked, after, limit}, func(r db.Row) error {
		x := Received{Receipt: Receipt{Agent: agent}}
		if err := x.scan(r, &x.Receipt.State, &x.Receipt.Reason, &x.Receipt.At, &x.Receipt.Seq, &x.Receipt.Via); err != nil {
			return err
		}
		list = append(list, x)
		return nil
	})
	return list, err
}

// NewestGivenTo gives the position where an agent got the newest of those that
// [Projection.GivenTo] lists, 0 if there are none.
func (p *Projection) NewestGivenTo(tx *db.Tx, agent event.ID) (newest event.Seq, err error) {
	_, err = p.one(tx, `SELECT coalesce(max(r.seq), 0) FROM ~question q JOIN ~receipt r ON r.agent = q.asked AND r.n = q.n
		WHERE q.asked = ? AND q.status = 'open' AND r.state IN (?, ?)`, []any{agent, mail.Seen, mail.Acked}, &newest)
	return newest, err
}

// OpenFrom lists the open questions that an agent asked, oldest first.
func (p *Projection) OpenFrom(tx *db.Tx, agent event.ID, limit int) ([]Question, error) {
	return p.questions(tx, ` WHERE q.asker = ? AND q.status = 'open' ORDER BY q.n LIMIT ?`, agent, limit)
}

// OpenQuestions lists all open questions of the office, oldest first.
func (p *Projection) OpenQuestions(tx *db.Tx, limit int) ([]Question, error) {
	return p.questions(tx, ` WHERE q.status = 'open' ORDER BY q.n LIMIT ?`, limit)
}

// Expiring lists the open questions that end by themselves, those that end
// first in front.
func (p *Projection) Expiring(tx *db.Tx, limit int) ([]Question, error) {
	return p.questions(tx, ` WHERE q.status = 'open' AND q.expires > 0 ORDER BY q.expires, q.n LIMIT ?`, limit)
}

// SameQuestion finds the newest open question with the same text from one
// agent to another.
func (p *Projection) SameQuestion(tx *db.Tx, asker, asked event.ID, print string) (Question, bool, error) {
	list, err := p.questions(tx, ` WHERE q.asker = ? AND q.status = 'open' AND q.asked = ? AND q.print = ? ORDER BY q.n DESC LIMIT 1`, asker, asked, print)
	if err != nil || len(list) == 0 {
		return Question{}, false, err
	}
	return list[0], true, nil
}

// Broadcast is a message to a group that has not run out.
type Broadcast struct {
	ID       event.ID
	Audience string
	From     event.ID
	Seq      event.Seq
}

// Broadcasts lists the messages to an audience that still reach newcomers.
func (p *Projection) Broadcasts(tx *db.Tx, audience string, now time.Time) (list []Broadcast, err error) {
	err = p.each(tx, `SELECT id, audience, sender, seq FROM ~broadcast WHERE audience = ? AND expires > ? ORDER BY seq`, []any{audience, now},
		func(r db.Row) error {
			var b Broadcast
			if err := r.Scan(&b.ID, &b.Audience, &b.From, &b.Seq); err != nil {
				return err
			}
			list = append(list, b)
			return nil
		})
	return list, err
}
