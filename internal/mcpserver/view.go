package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

// The fields here are those of the office's views, which the command line
// prints, with the same names and meaning; what a model does not need is left
// out. Text of others went through quote.Text.

// entry is a message in a list.
type entry struct {
	ID         string    `json:"id"`
	Thread     string    `json:"thread"`
	From       string    `json:"from"`
	To         []string  `json:"to,omitempty"`
	Kind       mail.Kind `json:"kind"`
	Subject    string    `json:"subject,omitempty"`
	Body       string    `json:"body"`
	Cut        bool      `json:"cut,omitempty" jsonschema:"body is only the beginning"`
	SentAt     time.Time `json:"sent_at"`
	State      string    `json:"state,omitempty"`
	Open       bool      `json:"open,omitempty" jsonschema:"a question that waits for your answer"`
	Importance string    `json:"importance,omitempty"`
	AckWanted  bool      `json:"ack_wanted,omitempty"`
	Files      int       `json:"files,omitempty"`
	For        string    `json:"for,omitempty"` // the subagent that had it and has ended
	original
	Receipts []receipt `json:"receipts,omitempty"`
}

// original is what a message answers or replies to: its id, and its first words.
type original struct {
	ReplyTo   string `json:"reply_to,omitempty"`
	Answers   string `json:"answers,omitempty"`
	Question  string `json:"question,omitempty" jsonschema:"the beginning of what it answers"`
	Re        string `json:"re,omitempty" jsonschema:"the beginning of what it replies to"`
	WrittenBy string `json:"written_by,omitempty" jsonschema:"whose that was, if not yours"`
}

func originalOf(m *office.MessageView) original {
	o := original{ReplyTo: string(m.ReplyTo), Answers: string(m.Answers)}
	if m.Of == nil {
		return o
	}
	if o.Re = quote.Text(m.Of.Text); m.Answers != "" {
		o.Question, o.Re = o.Re, ""
	}
	if !m.Of.Mine && m.Of.From != m.For {
		o.WrittenBy = m.Of.From
	}
	return o
}

// receipt is how far a message of the caller has come with one recipient.
type receipt struct {
	Name   string     `json:"name"`
	State  mail.State `json:"state"`
	Reason string     `json:"reason,omitempty"`
	For    string     `json:"for,omitempty"`
	Woken  string     `json:"woken,omitempty"`
}

// maxNames bounds the names of one message or thread in a list.
const maxNames = 12

func entryOf(m *office.MessageView, brief int) entry {
	body, cut := head(m.Body, brief)
	e := entry{
		ID: string(m.ID), Thread: string(m.Thread), From: m.From, Kind: m.Kind, Subject: line(m.Subject), Body: quote.Text(body),
		Cut: cut || m.Cut, SentAt: m.SentAt.Truncate(time.Second), State: string(m.State), Open: m.Open, AckWanted: m.AckWanted, Files: len(m.Files), For: m.For,
		original: originalOf(m),
	}
	if m.Importance != mail.Normal.String() {
		e.Importance = m.Importance
	}
	if len(m.To) > 1 {
		e.To = few(m.To)
	}
	return e
}

// sentOf is an entry of the caller's own mail.
func sentOf(m *office.MessageView) entry {
	e := entryOf(m, maxBrief)
	e.From, e.To = "", nil
	for i, r := range m.Receipts {
		if i == maxNames {
			e.To = []string{fmt.Sprintf("and %d more", len(m.Receipts)-i)}
			break
		}
		e.Receipts = append(e.Receipts, receipt{Name: r.Name, State: r.State, Reason: line(r.Reason), For: r.For, Woken: line(r.Woken)})
	}
	return e
}

func few(names []string) []string {
	if len(names) <= maxNames {
		return names
	}
	return append(names[:maxNames:maxNames], fmt.Sprintf("and %d more", len(names)-maxNames))
}

// line is a short text of others.
func line(s string) string {
	s, cut := head(s, maxLine)
	if cut {
		s += "…"
	}
	return quote.Text(s)
}

// letter is a whole message.
type letter struct {
	ID      string    `json:"id"`
	Thread  string    `json:"thread"`
	From    string    `json:"from"`
	To      []string  `json:"to"`
	Kind    mail.Kind `json:"kind"`
	Subject string    `json:"subject,omitempty"`
	Note    string    `json:"note" jsonschema:"what these words are worth"`
	Body    string    `json:"body"`
	Next    int       `json:"next_offset,omitempty" jsonschema:"the rest: read_message with this offset"`
	SentAt  time.Time `json:"sent_at"`
	Open    bool      `json:"open,omitempty" jsonschema:"a question that waits for your answer: send with answers=id"`
	original
	Importance string `json:"importance,omitempty"`
	AckWanted  bool   `json:"ack_wanted,omitempty" jsonschema:"read_message with ack=[id] acknowledges it"`
	Files      []file `json:"files,omitempty"`
	For        string `json:"for,omitempty"` // the subagent that had it and has ended
}

type file struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Path  string `json:"path"`
}

// letterOf shows a message's body from an offset, at most limit characters.
func letterOf(m *office.MessageView, offset, limit int) letter {
	body, next := part(m.Body, offset, limit)
	l := letter{
		ID: string(m.ID), Thread: string(m.Thread), From: m.From, To: few(m.To), Kind: m.Kind, Subject: line(m.Subject),
		Note: noteOn(m), Body: quote.Text(body), Next: next, SentAt: m.SentAt.Truncate(time.Second), Open: m.Open,
		original: originalOf(m), AckWanted: m.AckWanted && (mail.Unseen(m.State) || m.State == mail.Seen), For: m.For,
	}
	if l.To == nil {
		l.To = []string{}
	}
	if m.Importance != mail.Normal.String() {
		l.Importance = m.Importance
	}
	for _, f := range m.Files {
		l.Files = append(l.Files, file{Name: line(f.Name), Bytes: f.Bytes, Path: f.Path})
	}
	return l
}

// noteOn says who speaks and what that is worth.
func noteOn(m *office.MessageView) string {
	if m.From == string(roster.UserName) {
		return quote.NoteHuman
	}
	return quote.NotePeer
}

// wrapped is a letter as an element that its body cannot leave.
func (l *letter) wrapped() string {
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix) // never fails, says its documentation
	w := quote.Wrapper{
		Suffix: hex.EncodeToString(suffix), ID: l.ID, From: l.From, Kind: string(l.Kind), Note: l.Note, Body: l.Body,
		Attrs: []quote.Attr{{Name: "to", Value: strings.Join(l.To, ", ")}, {Name: "thread", Value: l.Thread}, {Name: "sent", Value: l.SentAt.Format(time.RFC3339)}},
	}
	add := func(name, value string) {
		if value != "" {
			w.Attrs = append(w.Attrs, quote.Attr{Name: name, Value: value})
		}
	}
	add("subject", l.Subject)
	add("importance", l.Importance)
	add("reply-to", l.ReplyTo)
	add("re", l.Re)
	add("answers", l.Answers)
	add("question", l.Question)
	add("written-by", l.WrittenBy)
	if l.For != "" {
		add("for", l.For+", which has ended: you have its mail")
	}
	for _, f := range l.Files {
		add("file", fmt.Sprintf("%s (%d bytes) %s", f.Name, f.Bytes, f.Path))
	}
	text := quote.Message(w)
	if l.Next > 0 {
		text += fmt.Sprintf("\nthe rest: read_message with ids=[%q] and offset=%d", l.ID, l.Next)
	}
	if l.Open {
		text += fmt.Sprintf("\n%s waits for your answer: send with answers=%q", l.From, l.ID)
	}
	if l.AckWanted {
		text += fmt.Sprintf("\nan acknowledgement is wanted: read_message with ack=[%q]", l.ID)
	}
	return text
}
