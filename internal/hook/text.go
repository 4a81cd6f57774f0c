package hook

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

const (
	// budget is how much text one event puts into the context, in UTF-16
	// units: the client replaces more than 10,000 by a preview and a file.
	budget = 9000
	// maxMessages is how many messages one event delivers.
	maxMessages = 20
	// enough is the least part of a long message that is worth showing.
	enough = 500
)

// delivery says how mail is put before the model.
type delivery struct {
	head   string // our own words before it
	again  bool   // what was offered to this key before and is not proved, too
	low    bool   // mail of low importance, too
	remind bool   // say what waits although nothing is new
	goOn   bool   // make the session go on
}

// deliver prints what waits: as many whole messages as fit, and how many more
// there are.
func (h *visit) deliver(d delivery) error {
	list, unread, err := h.o.Pending(h.ctx, h.caller, d.again, maxMessages)
	if err != nil {
		return err
	}
	if !d.low {
		list = slices.DeleteFunc(list, func(m office.MessageView) bool { return m.Importance == mail.Low.String() })
	}
	ids := make([]event.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	granted, err := h.o.Reserve(h.ctx, h.caller, ids)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(m office.MessageView) bool { return !slices.Contains(granted, m.ID) })
	text, shown := h.compose(d, list, unread)
	if text == "" {
		return nil
	}
	out := output{Specific: &specific{Event: h.fields.event, Context: text}}
	if d.goOn {
		// The client frames the reason as the user's own instruction, so it
		// holds our words only.
		out.Decision, out.Reason = "block", fmt.Sprintf("bureau: %s came for %s; read what is in the context and go on.", count(len(shown), "message"), h.caller.Agent.Name)
	}
	if err := h.print(out); err != nil {
		return err // nothing was given: the reservations run out
	}
	return h.o.Printed(h.ctx, h.caller, shown)
}

// compose makes the text and says which messages are in it.
func (h *visit) compose(d delivery, list []office.MessageView, unread int) (text string, shown []event.ID) {
	var b strings.Builder
	if d.head != "" {
		b.WriteString(d.head)
	}
	used := quote.UTF16Len(b.String())
	suffix := randomSuffix()
	const tail = 300 // kept for the closing lines
	var parts []string
	for i := range list {
		m := &list[i]
		part := wrap(m, suffix, m.Body, "")
		room := budget - tail - used
		if n := quote.UTF16Len(part); n > room {
			if len(parts) > 0 || room < enough {
				break
			}
			part = h.beginning(m, suffix, room)
		}
		used += quote.UTF16Len(part) + 1
		parts = append(parts, part)
		shown = append(shown, m.ID)
	}
	if len(parts) > 0 {
		if d.head != "" {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "bureau: %s for %s.\n%s", count(len(parts), "message"), h.caller.Agent.Name, strings.Join(parts, "\n"))
	}
	switch more := unread - len(shown); {
	case more > 0 && (len(shown) > 0 || d.head != ""):
		fmt.Fprintf(&b, "\nbureau: %d more wait: call the inbox tool, or run `bureau inbox` and `bureau read`.", more)
	case more > 0 && d.remind:
		fmt.Fprintf(&b, "bureau: %s wait for %s, to be read or acknowledged: call the inbox tool, or run `bureau inbox`.", count(more, "message"), h.caller.Agent.Name)
	}
	return b.String(), shown
}

// wrap quotes a message for the model.
func wrap(m *office.MessageView, suffix, body, note string) string {
	w := quote.Wrapper{Suffix: suffix, ID: m.Short, From: m.From, Kind: string(m.Kind), Note: quote.NotePeer, Body: body}
	if m.From == string(roster.UserName) {
		w.Note = quote.NoteHuman
	}
	if m.Subject != "" {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "subject", Value: m.Subject})
	}
	if m.Group != "" {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "to", Value: m.Group})
	} else if len(m.To) > 1 {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "to", Value: strings.Join(m.To, ", ")})
	}
	if m.Importance != mail.Normal.String() {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "importance", Value: m.Importance})
	}
	if m.AckWanted {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "acknowledge", Value: "wanted: bureau ack " + m.Short})
	}
	for _, f := range m.Files {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "file", Value: f.Name + " at " + f.Path})
	}
	if m.Open {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "answer", Value: "wanted: bureau answer " + m.Short + " TEXT"})
	}
	if note != "" {
		w.Attrs = append(w.Attrs, quote.Attr{Name: "cut", Value: note})
	}
	return quote.Message(w)
}

// beginning quotes as much of a long message as fits, and says how the rest is
// read.
func (h *visit) beginning(m *office.MessageView, suffix string, room int) string {
	note := fmt.Sprintf("only the beginning of %d bytes; the rest: read_message %s, or bureau read %s", m.Bytes, m.Short, m.Short)
	frame := quote.UTF16Len(wrap(m, suffix, "", note))
	for most := room - frame; most > 0; most = most * 3 / 4 {
		head, _ := quote.CutUTF16(m.Body, most)
		if part := wrap(m, suffix, head, note); quote.UTF16Len(part) <= room {
			return part
		}
	}
	return wrap(m, suffix, "", note)
}

// randomSuffix makes a tag that no text could know beforehand.
func randomSuffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // does not fail
	return hex.EncodeToString(b[:])
}

// welcome says who the session is and how things stand.
func (h *visit) welcome(done office.Registered) (string, error) {
	me := done.Agent
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s in bureau, the office that all coding-agent sessions of this machine share.", me.Name)
	if done.Instead != "" {
		fmt.Fprintf(&b, " The name %s is held by another live session, so you have a number.", done.Instead)
	}
	all, err := h.o.Directory(h.ctx, office.DirectoryQuery{Here: true, Page: office.Page{Limit: 12}})
	if err != nil {
		return "", err
	}
	var here []string
	for _, a := range all.Agents {
		if a.ID == me.ID || a.Kind == roster.Human {
			continue
		}
		word := string(a.Name)
		if a.Status != "" {
			word += " (" + a.Status + ")"
		}
		here = append(here, word)
	}
	switch {
	case len(here) == 0:
		b.WriteString("\nNobody else is here now; the roster tool lists everybody, and mail waits for them.")
	case all.Next != "":
		fmt.Fprintf(&b, "\nHere now: %s and more (the roster tool lists everybody).", strings.Join(here, ", "))
	default:
		fmt.Fprintf(&b, "\nHere now: %s (the roster tool lists everybody).", strings.Join(here, ", "))
	}
	open, err := h.o.OpenQuestions(h.ctx, h.caller)
	if err != nil {
		return "", err
	}
	if len(open) > 0 {
		words := make([]string, 0, 5)
		for i, q := range open {
			if i == 5 {
				words = append(words, "…")
				break
			}
			words = append(words, q.Short+" from "+q.Asker)
		}
		fmt.Fprintf(&b, "\n%s for your answer: %s.", waits(len(open), "question"), strings.Join(words, ", "))
	}
	if done.Unread > 0 {
		fmt.Fprintf(&b, "\n%s for you.", waits(done.Unread, "unread message"))
	}
	return b.String(), nil
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func waits(n int, word string) string {
	if n == 1 {
		return "1 " + word + " waits"
	}
	return fmt.Sprintf("%d %ss wait", n, word)
}
