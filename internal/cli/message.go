package cli

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

// showMessages prints messages, whole or their beginnings.
func (a *app) showMessages(list []office.MessageView, whole bool) {
	for i := range list {
		if i > 0 {
			a.printf("\n")
		}
		a.showMessage(&list[i], whole)
	}
}

func (a *app) showMessage(m *office.MessageView, whole bool) {
	body, cut := m.Body, false
	if !whole {
		body, cut = cutBody(body)
	}
	if a.session {
		a.printf("%s\n", forModel(m, body))
	} else {
		a.forPerson(m, body)
	}
	switch {
	case cut:
		a.printf("  the rest of %s: %s read %s\n", size(m.Bytes), a.bureau(), m.Short)
	case m.Raw:
		a.printf("  not all of it is text: %s read %s --raw\n", a.bureau(), m.Short)
	}
	if m.Open {
		a.printf("  %s waits for your answer: %s answer %s TEXT\n", m.From, a.bureau(), m.Short)
	}
	if m.AckWanted && (mail.Unseen(m.State) || m.State == mail.Seen) {
		a.printf("  an acknowledgement is wanted: %s ack %s\n", a.bureau(), m.Short)
	}
}

// margin is what a person sees bodies behind: nothing in one can pass for a
// message of somebody else.
const margin = "    "

func (a *app) forPerson(m *office.MessageView, body string) {
	a.printf("%s\n", a.bold(fmt.Sprintf("%s %s from %s", m.Short, kindWords(m), m.From)))
	a.printf("  to %s, %s, thread %s\n", recipients(m), a.since(m.SentAt), m.ThreadShort())
	if m.Subject != "" {
		a.printf("  subject: %s\n", safeLine(m.Subject, 0))
	}
	if m.Of != nil {
		a.printf("  %s\n", responds(m))
	}
	for _, f := range m.Files {
		a.printf("  file: %s (%s) %s\n", safeLine(f.Name, 80), size(f.Bytes), safeLine(f.Path, 0))
	}
	if body != "" {
		a.printf("\n%s", indented(margin, body))
	}
}

// randomSuffix makes a tag that no text could know beforehand.
func randomSuffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	return hex.EncodeToString(b[:])
}

// noteForModel wraps a note from the board for the model of a session.
func noteForModel(e office.EntryView) string {
	return quote.Message(quote.Wrapper{
		Suffix: randomSuffix(), ID: e.Key, From: e.Author, Kind: "board", Note: quote.NotePeer, Body: e.Value,
	})
}

// forModel wraps a message for the model of a session.
func forModel(m *office.MessageView, body string) string {
	w := quote.Wrapper{
		Suffix: randomSuffix(), ID: m.Short, From: m.From, Kind: kindWords(m), Note: quote.NotePeer, Body: body,
		Attrs: []quote.Attr{{Name: "to", Value: recipients(m)}, {Name: "thread", Value: m.ThreadShort()}, {Name: "sent", Value: m.SentAt.Format(time.RFC3339)}},
	}
	if m.From == string(roster.UserName) {
		w.Note = quote.NoteHuman
	}
	if m.Subject != "" {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "subject", Value: m.Subject})
	}
	if m.Of != nil {
		id, text := "reply-to", "re"
		if m.Answers != "" {
			id, text = "answers", "question"
		}
		w.Attrs = append(w.Attrs, quote.Attr{Name: id, Value: m.Of.Short}, quote.Attr{Name: text, Value: m.Of.Text})
		if !m.Of.Mine && m.Of.From != m.For {
			w.Attrs = append(w.Attrs, quote.Attr{Name: "written-by", Value: m.Of.From})
		}
	}
	for _, f := range m.Files {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "file", Value: fmt.Sprintf("%s (%s) %s", f.Name, size(f.Bytes), f.Path)})
	}
	return quote.Message(w)
}

// responds says to a person what a message answers or replies to.
func responds(m *office.MessageView) string {
	word := "replies to "
	if m.Answers != "" {
		word = "answers "
	}
	if !m.Of.Mine {
		word += m.Of.From + "'s "
	}
	return fmt.Sprintf("%s%s: %s", word, m.Of.Short, safeLine(m.Of.Text, 0))
}

func recipients(m *office.MessageView) string {
	to := strings.Join(m.To, ", ")
	if m.Group != "" {
		to += " (sent to " + safeLine(m.Group, 60) + ")"
	}
	if m.For != "" {
		to += " (for " + m.For + ", which has ended)"
	}
	return to
}

// Bounds of a body where several messages are shown at once.
const (
	headLines = 40
	headBytes = 4096
)

// cutBody gives the beginning of a long body, at the end of a line.
func cutBody(s string) (head string, cut bool) {
	head = s
	if len(head) > headBytes {
		head = strings.ToValidUTF8(head[:headBytes], "")
		if i := strings.LastIndexByte(head, '\n'); i > 0 {
			head = head[:i]
		}
	}
	if lines := strings.SplitAfterN(head, "\n", headLines+1); len(lines) > headLines {
		head = strings.Join(lines[:headLines], "")
	}
	return head, len(head) < len(strings.TrimRight(s, "\n"))
}
