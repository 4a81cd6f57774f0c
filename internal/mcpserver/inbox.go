package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
)

type inboxIn struct {
	Show    string `json:"show,omitempty" jsonschema:"unread, all or sent"`
	Wait    int    `json:"wait_seconds,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
	Receipt string `json:"receipt,omitempty"`
}

type inboxOut struct {
	Status    string     `json:"status,omitempty" jsonschema:"nothing yet: none came"`
	Messages  []entry    `json:"messages"`
	Total     int        `json:"total"`
	Unread    int        `json:"unread"`
	Questions []question `json:"questions,omitempty" jsonschema:"that wait for your answer"`
	Next      string     `json:"next,omitempty"`
}

type question struct {
	ID     string    `json:"id"`
	Asker  string    `json:"asker"`
	Text   string    `json:"text"`
	SentAt time.Time `json:"sent_at"`
}

// maxQuestions bounds the open questions beside a list.
const maxQuestions = 20

func inboxTool(ctx context.Context, c *call, in inboxIn) (out inboxOut, err error) {
	if err := c.prove(ctx, in.Receipt); err != nil {
		return out, err
	}
	show := in.Show
	if show == "" {
		show = "unread"
	}
	get := func(p office.Page) (office.Messages, error) { return c.o.Inbox(ctx, c.caller, show == "all", p) }
	switch show {
	case "unread", "all":
	case "sent":
		get = func(p office.Page) (office.Messages, error) { return c.o.SentMail(ctx, c.caller, p) }
	default:
		return out, fault.New(fault.Invalid, "cannot show %q", show).WithHint("show is unread, all or sent")
	}
	waited := false
	if in.Wait > 0 && show != "sent" {
		if waited, err = c.waitMail(ctx, in.Wait); err != nil {
			return out, err
		}
	}
	out.Messages, err = paged(office.Page{Limit: in.Limit, From: in.Cursor}, maxList, func(p office.Page) ([]entry, error) {
		box, err := get(p)
		if err != nil {
			return nil, err
		}
		out.Total, out.Unread, out.Next = box.Total, box.Unread, box.Next
		list := make([]entry, len(box.Messages))
		for i := range box.Messages {
			if list[i] = entryOf(&box.Messages[i], maxBrief); show == "sent" {
				list[i] = sentOf(&box.Messages[i])
			}
		}
		return list, nil
	})
	if err != nil {
		return out, err
	}
	if waited && out.Unread == 0 {
		out.Status = statusNothing
	}
	if show == "unread" && in.Cursor == "" {
		out.Questions, err = c.questions(ctx)
	}
	return out, err
}

// questions lists what waits for the caller's answer, whether it was read or not.
func (c *call) questions(ctx context.Context) ([]question, error) {
	open, err := c.o.OpenQuestions(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	var list []question
	for i, q := range open {
		if i == maxQuestions {
			break
		}
		list = append(list, question{ID: string(q.ID), Asker: q.Asker, Text: line(q.Text), SentAt: q.SentAt.Truncate(time.Second)})
	}
	return list, nil
}

// waitMail waits for unread mail. That none came is no error.
func (c *call) waitMail(ctx context.Context, seconds int) (waited bool, err error) {
	patience := c.patience(seconds)
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer c.progress(waiting, patience, "waiting for mail")()
	_, err = c.o.WaitMail(waiting, c.caller)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return true, nil
	}
	return true, err
}

type readIn struct {
	IDs     []string `json:"ids,omitempty"`
	Offset  int      `json:"offset,omitempty" jsonschema:"next_offset of the part before"`
	Limit   int      `json:"limit,omitempty"`
	Ack     []string `json:"ack,omitempty"`
	Receipt string   `json:"receipt,omitempty"`
}

type readOut struct {
	Messages []letter `json:"messages"`
	Unread   int      `json:"unread" jsonschema:"how many more"`
	Left     []string `json:"left,omitempty" jsonschema:"ids that did not fit"`
	Acked    []string `json:"acked,omitempty"`
	Receipt  string   `json:"receipt,omitempty" jsonschema:"pass it to your next call: it proves that you got these"`
}

// readPage is how many messages are read at once unless a limit is given;
// maxRead is the most.
const (
	readPage = 10
	maxRead  = 50
)

func readTool(ctx context.Context, c *call, in readIn) (out readOut, err error) {
	out.Messages = []letter{}
	switch {
	case in.Offset < 0 || in.Offset > 0 && len(in.IDs) != 1:
		return out, fault.New(fault.Invalid, "an offset is for one message").WithHint("give its id alone, with the next_offset of the part before")
	case in.Limit < 0 || in.Limit > maxRead || len(in.IDs) > maxRead:
		return out, fault.New(fault.Invalid, "at most %d messages at once", maxRead).WithHint("leave limit away, and call again for the next ones")
	case in.Limit == 0:
		in.Limit = readPage
	}
	if err := c.prove(ctx, in.Receipt); err != nil {
		return out, err
	}
	if len(in.Ack) > 0 {
		acked, err := c.o.Ack(ctx, c.caller, in.Ack)
		if err != nil {
			return out, err
		}
		for i := range acked {
			out.Acked = append(out.Acked, string(acked[i].ID))
		}
	}
	var handed []event.ID
	switch {
	case len(in.IDs) > 0:
		handed, err = c.readThese(ctx, in, &out)
	case len(in.Ack) == 0:
		handed, err = c.readNext(ctx, in.Limit, &out)
	}
	if err != nil {
		return out, err
	}
	out.Receipt = c.receiptFor(handed)
	if out.Unread, err = c.unread(ctx); err == nil {
		out.Unread = max(out.Unread-len(handed), 0)
	}
	return out, err
}

// readThese shows the messages with some ids, as many as fit.
func (c *call) readThese(ctx context.Context, in readIn, out *readOut) (handed []event.ID, err error) {
	room := maxText
	for i, id := range in.IDs {
		if room <= 0 {
			out.Left = append(out.Left, in.IDs[i:]...)
			break
		}
		// One by one: what does not fit must not count as handed out.
		list, err := c.o.Read(ctx, c.caller, []string{id})
		if err != nil {
			return handed, err
		}
		room -= out.show(&list[0], in.Offset, room)
		if mail.Unseen(list[0].State) {
			handed = append(handed, list[0].ID)
		}
	}
	return handed, nil
}

// readNext shows the next unread messages. Those that the caller was handed
// before, and has not proved, are among them.
func (c *call) readNext(ctx context.Context, limit int, out *readOut) (handed []event.ID, err error) {
	list, _, err := c.o.Pending(ctx, c.caller, presence.Everything, office.AnyMail, limit)
	if err != nil {
		return nil, err
	}
	fits, room := 0, maxText
	for fits < len(list) && (fits == 0 || len([]rune(list[fits].Body)) <= room) {
		room -= len([]rune(list[fits].Body))
		fits++
	}
	ids := make([]event.ID, fits)
	for i := range ids {
		ids[i] = list[i].ID
	}
	if handed, err = c.o.Hand(ctx, c.caller, ids); err != nil {
		return nil, err
	}
	at := 0
	for i := range list[:fits] {
		if at < len(handed) && list[i].ID == handed[at] {
			out.show(&list[i], 0, maxText)
			at++
		}
	}
	return handed, nil
}

// show adds a message and gives how many characters of its body it took.
func (out *readOut) show(m *office.MessageView, offset, room int) int {
	l := letterOf(m, offset, max(room, maxBrief))
	out.Messages = append(out.Messages, l)
	return len([]rune(l.Body))
}

func (c *call) unread(ctx context.Context) (int, error) {
	box, err := c.o.Inbox(ctx, c.caller, false, office.Page{Limit: 1})
	return box.Unread, err
}

// text is each message in an element of its own, for clients whose model reads
// a result's text.
func (out *readOut) text() string {
	text := ""
	for i := range out.Messages {
		text += out.Messages[i].wrapped() + "\n"
	}
	return text + out.tail()
}

// tail says what a reading leaves to do.
func (out *readOut) tail() string {
	var lines []string
	if len(out.Acked) > 0 {
		lines = append(lines, "acknowledged: "+strings.Join(out.Acked, ", "))
	}
	if len(out.Messages) == 0 && len(out.Acked) == 0 {
		lines = append(lines, "nothing new")
	}
	if len(out.Left) > 0 {
		lines = append(lines, "did not fit: "+strings.Join(out.Left, ", "))
	}
	if out.Unread > 0 {
		lines = append(lines, fmt.Sprintf("%d more unread: read_message", out.Unread))
	}
	if out.Receipt != "" {
		lines = append(lines, "receipt for your next call here: "+out.Receipt)
	}
	return strings.Join(lines, "\n")
}
