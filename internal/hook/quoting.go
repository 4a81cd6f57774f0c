package hook

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

// What a message's attributes may hold, so that they leave room for its words:
// one character of a subject can be shown as ten.
const (
	subjectRunes = 120
	fileRunes    = 60
	pathRunes    = 300
	namesShown   = 8
	filesShown   = 4
)

// style is what the messages of one output have in common: the suffix of their
// tags, and whether they are for a subagent, whose shell acts as its session.
type style struct {
	suffix string
	sub    bool
}

// way names a tool and then, where a shell acts as who reads it, the command
// that does the same: a session may use its tools unasked, while a command needs
// leave and a bureau on the path.
func (s style) way(tool, command string) string {
	if s.sub {
		return tool
	}
	return tool + ", or " + command
}

// how is the style of the event's texts.
func (h *visit) how() style { return style{sub: h.fields.agent != ""} }

// wrap quotes a message for the model.
func wrap(m *office.MessageView, s style, body, note string) string {
	w := quote.Wrapper{Suffix: s.suffix, ID: m.Short, From: m.From, Kind: string(m.Kind), Note: quote.NotePeer, Body: body}
	if m.From == string(roster.UserName) {
		w.Note = quote.NoteHuman
	}
	add := func(name, value string) { w.Attrs = append(w.Attrs, quote.Attr{Name: name, Value: value}) }
	if m.Subject != "" {
		add("subject", head(m.Subject, subjectRunes))
	}
	switch {
	case m.Group != "":
		add("to", m.Group)
	case len(m.To) > namesShown:
		add("to", fmt.Sprintf("%s and %d more", strings.Join(m.To[:namesShown], ", "), len(m.To)-namesShown))
	case len(m.To) > 1:
		add("to", strings.Join(m.To, ", "))
	}
	if m.For != "" {
		add("for", m.For+", which has ended: you have its mail")
	}
	original(m, add)
	if m.Importance != mail.Normal.String() {
		add("importance", m.Importance)
	}
	if m.AckWanted {
		add("acknowledge", "wanted: "+s.way("read_message tool with ack=["+m.Short+"]", "bureau ack "+m.Short))
	}
	for i, f := range m.Files {
		if i == filesShown {
			add("more-files", fmt.Sprintf("%d more: %s", len(m.Files)-i, s.way("read_message tool with ids=["+m.Short+"]", "bureau read "+m.Short)))
			break
		}
		word := head(f.Name, fileRunes)
		if len(f.Path) <= pathRunes {
			word += " at " + f.Path
		}
		add(fmt.Sprintf("file-%d", i+1), word)
	}
	if m.Open {
		add("answer", "wanted: "+s.way("send tool with answers="+m.Short, "bureau answer "+m.Short+" TEXT"))
	}
	if note != "" {
		add("cut", note)
	}
	return quote.Message(w)
}

// original names what a message answers or replies to: with several open
// questions an answer alone says nothing.
func original(m *office.MessageView, add func(name, value string)) {
	switch {
	case m.Of == nil:
		return
	case m.Answers != "":
		add("answers", m.Of.Short)
		add("question", m.Of.Text)
	default:
		add("reply-to", m.Of.Short)
		add("re", m.Of.Text)
	}
	if !m.Of.Mine && m.Of.From != m.For {
		add("written-by", m.Of.From)
	}
}

// head cuts a text to a number of characters.
func head(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return s
}

// whole quotes a message if that fits into a room of UTF-16 units.
func whole(m *office.MessageView, s style, room int) (part string, fits bool) {
	// At most twelve bytes are shown as one unit, so much of a long body need
	// not be looked at.
	if len(m.Body) > 12*room {
		return "", false
	}
	note := ""
	if m.Lost != "" {
		note = fmt.Sprintf("only the beginning of %d bytes is left: %s", m.Bytes, head(m.Lost, subjectRunes))
	}
	part = wrap(m, s, m.Body, note)
	return part, quote.UTF16Len(part) <= room
}

// beginning quotes as much of a long message as fits, and says how the rest is
// read.
func beginning(m *office.MessageView, s style, room int) string {
	note := fmt.Sprintf("only the beginning of %d bytes; the rest: %s", m.Bytes, s.way("read_message tool with ids=["+m.Short+"]", "bureau read "+m.Short))
	frame := quote.UTF16Len(wrap(m, s, "", note))
	for most := room - frame; most > 0; most = most * 3 / 4 {
		head, _ := quote.CutUTF16(m.Body, most)
		if part := wrap(m, s, head, note); quote.UTF16Len(part) <= room {
			return part
		}
	}
	return wrap(m, s, "", note)
}

// randomSuffix makes a tag that no text could know beforehand.
func randomSuffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // does not fail
	return hex.EncodeToString(b[:])
}
