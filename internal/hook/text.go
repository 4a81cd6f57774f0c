package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/quote"
)

const (
	// budget is how much text one event puts into the context, in UTF-16
	// units: the client replaces more than 10,000 by a preview and a file.
	budget = 9000
	// maxMessages is how many messages one event delivers.
	maxMessages = 20
	// least is the least part of a long message that is worth showing.
	least = 500
	// tail is kept for the opening and the closing line.
	tail = 300
)

// delivery says how mail is put before the model.
type delivery struct {
	head    string         // our own words before it
	again   presence.Again // which of what was given to this key before, too
	choice  office.Choice
	remind  bool // say what waits although nothing is new
	goOn    bool // make the session go on
	inRound bool // other calls of the same round of tool calls still run
	// newer leaves everything as it is unless there is a message behind this
	// position.
	newer event.Seq
}

// deliver prints what waits: as many whole messages as fit, and how many more
// there are. given reports whether any message was.
func (h *visit) deliver(d delivery) (given bool, err error) {
	p, err := h.prepare(d)
	if err != nil {
		return false, err
	}
	return len(p.shown)+len(p.rooms.receipts) > 0, h.put(d, p)
}

// prepared is a text that may be printed, and what is in it.
type prepared struct {
	text  string
	shown []office.MessageView
	rooms roomNews
	open  []office.MessageView // questions that the session has got and not answered
}

// newest gives the latest position of the messages, 0 if there are none.
func newest(list []office.MessageView) (last event.Seq) {
	for i := range list {
		last = max(last, list[i].Position())
	}
	return last
}

// newestQuestion gives the latest position of the questions among messages.
func newestQuestion(list []office.MessageView) (last event.Seq) {
	for i := range list {
		if list[i].Open {
			last = max(last, list[i].Position())
		}
	}
	return last
}

// reminder says which questions wait that the session has got in this turn.
func (h *visit) reminder(open []office.MessageView) string {
	if len(open) == 0 {
		return ""
	}
	names := make([]string, 0, remindedShown)
	for i := range open[:min(len(open), remindedShown)] {
		names = append(names, open[i].Short+" from "+open[i].From)
	}
	return fmt.Sprintf("bureau: %s for your answer: %s. Answer with %s; where you cannot, say so, and who can.", waits(len(open), "question"),
		andMore(strings.Join(names, ", "), len(open)-remindedShown), h.how().way("the send tool (answers=ID)", "`bureau answer ID TEXT`"))
}

// prepare composes the text and reserves the messages in it.
func (h *visit) prepare(d delivery) (prepared, error) {
	list, unread, err := h.o.Pending(h.ctx, h.caller, d.again, d.choice, maxMessages)
	if err != nil {
		return prepared{}, err
	}
	if newest(list) <= d.newer && d.newer > 0 {
		list, unread = nil, 0
	}
	rooms, err := h.roomNews(d, min(roomBudget, budget-tail-quote.UTF16Len(d.head)))
	if err != nil { // mail does not wait for it
		h.late, rooms = errors.Join(h.late, err), roomNews{}
	}
	d.head = join(d.head, rooms.text)
	reserved := map[event.ID]bool{}
	for {
		p := h.compose(d, list, unread)
		p.rooms = rooms
		var ask []event.ID
		for i := range p.shown {
			if id := p.shown[i].ID; !reserved[id] {
				ask = append(ask, id)
			}
		}
		granted, err := h.o.Reserve(h.ctx, h.caller, ask, d.again)
		if err != nil || len(granted) == len(ask) {
			return p, err
		}
		// Somebody else was given some meanwhile; what follows may fit now.
		for _, id := range granted {
			reserved[id] = true
		}
		list = slices.DeleteFunc(list, func(m office.MessageView) bool {
			return !reserved[m.ID] && slices.Contains(ask, m.ID)
		})
	}
}

// put prints what was prepared.
func (h *visit) put(d delivery, p prepared) error {
	if p.text == "" {
		return nil
	}
	out := output{Specific: &specific{Event: h.fields.event, Context: p.text}}
	if d.goOn {
		out.Decision, out.Reason = "block", "bureau: "+p.came()+"; read what is in the context and go on."
	}
	if err := h.print(out); err != nil {
		return err // nothing was given: the reservations run out
	}
	ids := slices.Clone(p.rooms.receipts)
	for i := range p.shown {
		ids = append(ids, p.shown[i].ID)
	}
	if len(ids) > 0 {
		if err := h.o.Printed(h.ctx, h.caller, ids, d.inRound, h.lease()); err != nil {
			return err
		}
	}
	if p.rooms.rooms == 0 || d.goOn {
		return nil // or it is stored already
	}
	st, err := h.o.Stops(h.ctx, h.caller)
	if err != nil || p.rooms.position <= st.Told {
		return err
	}
	st.Told = p.rooms.position
	return h.o.SetStops(h.ctx, h.caller, st)
}

// lease is how long what was printed is kept for the session.
func (h *visit) lease() time.Duration {
	if h.fields.event == "SessionStart" {
		return office.StartLease
	}
	return office.DefaultLease
}

// came says what makes a session go on. The client frames it as the user's own
// instruction, so it holds our words only and no name that others chose.
func (p *prepared) came() string {
	var parts []string
	if n := len(p.shown); n > 0 {
		parts = append(parts, count(n, "message")+" came")
	}
	if n := len(p.open); n > 0 {
		ids := make([]string, 0, remindedShown)
		for i := range p.open[:min(n, remindedShown)] {
			ids = append(ids, p.open[i].Short)
		}
		parts = append(parts, waits(n, "question")+" for your answer: "+andMore(strings.Join(ids, " "), n-remindedShown))
	}
	switch n := p.rooms.rooms; {
	case n == 1:
		parts = append(parts, "1 room wants you")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d rooms want you", n))
	}
	return strings.Join(parts, ", ")
}

// compose makes the text.
func (h *visit) compose(d delivery, list []office.MessageView, unread int) prepared {
	var b strings.Builder
	if d.head != "" {
		b.WriteString(d.head)
	}
	used := quote.UTF16Len(b.String())
	how := h.how()
	how.suffix = randomSuffix()
	var parts []string
	for i := range list {
		m := &list[i]
		room := budget - tail - used
		part, fits := whole(m, how, room)
		if !fits {
			if len(parts) > 0 || room < least {
				break
			}
			part = beginning(m, how, room)
		}
		used += quote.UTF16Len(part) + 1
		parts = append(parts, part)
	}
	shown := list[:len(parts)]
	if len(parts) > 0 {
		if d.head != "" {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "bureau: %s for %s.\n%s", count(len(parts), "message"), h.caller.Agent.Name, strings.Join(parts, "\n"))
	}
	switch more := unread - len(shown); {
	case more > 0 && (len(shown) > 0 || d.head != ""):
		fmt.Fprintf(&b, "\nbureau: %d more wait: call %s.", more, how.way("the inbox and read_message tools", "run `bureau inbox` and `bureau read`"))
	case more > 0 && d.remind:
		fmt.Fprintf(&b, "bureau: %s for %s, to be read or acknowledged: call %s.", waits(more, "message"), h.caller.Agent.Name,
			how.way("the inbox tool, and read_message with ids or ack", "run `bureau inbox`, `bureau read` or `bureau ack ID`"))
	}
	return prepared{text: b.String(), shown: shown}
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
