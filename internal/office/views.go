package office

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/projection"
)

// The types here are what every face shows: the command line's JSON and the
// results of MCP tools have exactly these shapes.

// MessageView is one message as somebody may see it.
type MessageView struct {
	ID         event.ID      `json:"id"`
	Short      string        `json:"short"` // the shortest unique end of the id
	Thread     event.ID      `json:"thread"`
	From       string        `json:"from"`
	To         []string      `json:"to"`
	Kind       mail.Kind     `json:"kind"`
	Subject    string        `json:"subject"`
	Body       string        `json:"body"`
	Cut        bool          `json:"cut,omitempty"`  // Body is only the beginning
	Bytes      int64         `json:"bytes"`          // of the whole body
	Raw        bool          `json:"raw,omitempty"`  // the body is not valid UTF-8: read --raw gives its bytes
	Lost       string        `json:"lost,omitempty"` // why there is no more than the beginning of the body
	ReplyTo    event.ID      `json:"reply_to"`       // "" for none
	Answers    event.ID      `json:"answers,omitempty"`
	Importance string        `json:"importance"`
	Group      string        `json:"group,omitempty"`
	AckWanted  bool          `json:"ack_wanted,omitempty"`
	Files      []FileView    `json:"files,omitempty"`
	SentAt     time.Time     `json:"sent_at"`
	ExpiresAt  *time.Time    `json:"expires_at,omitempty"`
	State      mail.State    `json:"state"`          // for the one who looks
	Open       bool          `json:"open,omitempty"` // a question that still waits for this reader's answer
	Receipts   []ReceiptView `json:"receipts,omitempty"`
	// For names the subagent that it was written to, if that has ended and the
	// one who looks has its mail.
	For string `json:"for,omitempty"`
	// Of is what it answers or replies to; nil if that is nothing, or nothing
	// that the one who looks may see.
	Of *Original `json:"of,omitempty"`

	content     []byte // the whole body, when it was read
	lost        error  // why it cannot be
	wakes       bool
	position    event.Seq
	threadShort string
}

// Original is a message that another one answers or replies to.
type Original struct {
	ID    event.ID `json:"id"`
	Short string   `json:"short"`
	From  string   `json:"from"`
	Text  string   `json:"text"` // its subject, or else its first words: one line of at most 80 characters
	Mine  bool     `json:"mine"` // it is of the one who looks
}

// originalRunes is how much of an original is shown beside what responds to it.
const originalRunes = 80

// Content gives the bytes of the whole body, after a read.
func (m *MessageView) Content() []byte { return m.content }

// ThreadShort gives the short form of the thread's id.
func (m *MessageView) ThreadShort() string { return m.threadShort }

// FileView is an attachment.
type FileView struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Path   string `json:"path"` // where its content lies on this machine
}

// ReceiptView is how far a message has come with one recipient.
type ReceiptView struct {
	Name   string     `json:"name"`
	State  mail.State `json:"state"`
	Reason string     `json:"reason,omitempty"`
	At     time.Time  `json:"at"`
	// For names the subagent that had the message before and has ended.
	For string `json:"for,omitempty"`
	// Woken says how the recipient was or can be woken; see WakeWord.
	Woken string `json:"woken,omitempty"`
}

// view makes the view of a message without its body's bytes.
func (tx *Tx) view(m *projection.Message, state mail.State) (MessageView, error) {
	short, err := tx.o.tables.Short(tx.t, m.ID)
	if err != nil {
		return MessageView{}, err
	}
	thread, err := tx.o.tables.Short(tx.t, m.Thread)
	if err != nil {
		return MessageView{}, err
	}
	v := MessageView{
		threadShort: thread,
		ID:          m.ID, Short: short, Thread: m.Thread, From: tx.nameOf(m.From), To: []string{}, Kind: m.Kind, Subject: m.Subject,
		Body: m.Preview, Cut: isCut(m.Preview, m.Size), Bytes: m.Size, ReplyTo: m.ReplyTo, Answers: m.Answers,
		Importance: m.Importance.String(), Group: m.Group, AckWanted: m.AckWanted, SentAt: m.Sent, State: state,
	}
	if !m.Expires.IsZero() {
		at := m.Expires
		v.ExpiresAt = &at
	}
	for _, f := range m.Files {
		v.Files = append(v.Files, FileView{Name: f.Name, Bytes: f.Size, SHA256: f.Sum, Path: tx.o.blobPath(f.Sum)})
	}
	receipts, err := tx.o.tables.Receipts(tx.t, m.N, tx.now)
	if err != nil {
		return v, err
	}
	for _, r := range receipts {
		v.To = append(v.To, tx.nameOf(r.Agent))
	}
	return v, nil
}

// isCut reports whether a preview may be less than the body. In a body that is
// not valid UTF-8 bytes became characters of three bytes, so the lengths say
// nothing there.
func isCut(preview string, size int64) bool {
	return int64(len(preview)) < size ||
		strings.ContainsRune(preview, utf8.RuneError) && utf8.RuneCountInString(preview) >= projection.PreviewLen
}

// whole puts the whole body into a view. A content that is lost leaves the
// beginning of it, so that one damaged message keeps no other from its reader.
func (tx *Tx) whole(v *MessageView, m *projection.Message) error {
	content, err := tx.body(m)
	var lost *lostContent
	if errors.As(err, &lost) {
		v.Cut, v.Lost, v.lost = true, lost.Error(), lost.error
		return nil
	}
	if err != nil {
		return err
	}
	v.content = content
	v.Body, v.Raw, v.Cut = projection.Text(string(content)), !utf8.Valid(content), false
	return nil
}

// ThreadView is a conversation.
type ThreadView struct {
	ID           event.ID       `json:"id"`
	Short        string         `json:"short"`
	Subject      string         `json:"subject"`
	Owner        string         `json:"owner"`
	Participants []string       `json:"participants"`
	Status       mail.Status    `json:"status"`
	Hops         int            `json:"hops"`      // granted in all
	HopsLeft     int            `json:"hops_left"` // messages that may still be sent
	Messages     int            `json:"messages"`
	Questions    []QuestionView `json:"questions"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
}

// QuestionView is a question to one of those asked.
type QuestionView struct {
	ID      event.ID  `json:"id"`
	Short   string    `json:"short"`
	Thread  event.ID  `json:"thread"`
	Asker   string    `json:"asker"`
	Asked   string    `json:"asked"`
	Text    string    `json:"text"` // its first words
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	SentAt  time.Time `json:"sent_at"`
	Waiting bool      `json:"waiting"` // somebody is blocked until it is answered
}

func (tx *Tx) threadView(row *projection.ThreadRow) (ThreadView, error) {
	short, err := tx.o.tables.Short(tx.t, row.ID)
	if err != nil {
		return ThreadView{}, err
	}
	v := ThreadView{
		ID: row.ID, Short: short, Subject: row.Subject, Owner: tx.nameOf(row.Owner), Participants: tx.namesOf(row.Members),
		Status: row.Status, Hops: row.Hops, HopsLeft: row.Left, Messages: row.Messages, Questions: []QuestionView{},
		CreatedAt: row.Created, UpdatedAt: row.Updated,
	}
	for _, q := range row.Questions {
		list, err := tx.o.tables.Question(tx.t, q.ID)
		if err != nil {
			return v, err
		}
		for i := range list {
			if list[i].Asked != q.Asked {
				continue
			}
			qv, err := tx.questionView(&list[i])
			if err != nil {
				return v, err
			}
			v.Questions = append(v.Questions, qv)
		}
	}
	return v, nil
}

func (tx *Tx) questionView(q *projection.Question) (QuestionView, error) {
	short, err := tx.o.tables.Short(tx.t, q.ID)
	if err != nil {
		return QuestionView{}, err
	}
	m, _, err := tx.o.tables.MessageByID(tx.t, q.ID)
	if err != nil {
		return QuestionView{}, err
	}
	text := m.Preview
	if m.Subject != "" {
		text = m.Subject
	}
	return QuestionView{
		ID: q.ID, Short: short, Thread: q.Thread, Asker: tx.nameOf(q.Asker), Asked: tx.nameOf(q.Asked), Text: text,
		Status: q.Status, Reason: q.Reason, SentAt: q.At,
	}, nil
}
