package mcpserver

import (
	"context"
	"time"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
)

type threadIn struct {
	Thread   string `json:"thread,omitempty" jsonschema:"default: list yours"`
	Action   string `json:"action,omitempty" jsonschema:"list, show, open, add, grant (hops), close, withdraw (a question)"`
	With     string `json:"with,omitempty" jsonschema:"names"`
	Subject  string `json:"subject,omitempty"`
	Hops     int    `json:"hops,omitempty" jsonschema:"messages it may carry (more)"`
	Question string `json:"question,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Closed   bool   `json:"closed,omitempty" jsonschema:"list closed ones too"`
	Limit    int    `json:"limit,omitempty"`
	Cursor   string `json:"cursor,omitempty"`
}

type threadOut struct {
	Threads  []conversation `json:"threads" jsonschema:"just the one that was named"`
	Messages []entry        `json:"log,omitempty" jsonschema:"its messages, oldest first"`
	Total    int            `json:"total"`
	Next     string         `json:"next,omitempty"`
}

type conversation struct {
	ID           string      `json:"id"`
	Subject      string      `json:"subject"`
	Owner        string      `json:"owner"`
	Participants []string    `json:"participants"`
	Status       mail.Status `json:"status"`
	HopsLeft     int         `json:"hops_left"`
	Messages     int         `json:"messages"`
	Open         int         `json:"open_questions,omitempty"`
	UpdatedAt    time.Time   `json:"updated_at"`
}

func conversationOf(t *office.ThreadView) conversation {
	return conversation{
		ID: string(t.ID), Subject: line(t.Subject), Owner: t.Owner, Participants: few(t.Participants), Status: t.Status,
		HopsLeft: t.HopsLeft, Messages: t.Messages, Open: len(t.Questions), UpdatedAt: t.UpdatedAt.Truncate(time.Second),
	}
}

func threadTool(ctx context.Context, c *call, in threadIn) (out threadOut, err error) {
	action := in.Action
	switch {
	case action == "" && in.Thread == "":
		action = "list"
	case action == "":
		action = "show"
	}
	page := office.Page{Limit: in.Limit, From: in.Cursor}
	var t office.ThreadView
	switch action {
	case "list":
		out.Threads, err = paged(page, maxList, func(p office.Page) ([]conversation, error) {
			found, err := c.o.ThreadList(ctx, c.caller, false, !in.Closed, p)
			if err != nil {
				return nil, err
			}
			out.Total, out.Next = found.Total, found.Next
			list := make([]conversation, len(found.Threads))
			for i := range found.Threads {
				list[i] = conversationOf(&found.Threads[i])
			}
			return list, nil
		})
		return out, err
	case "show":
		out.Messages, err = paged(page, maxList, func(p office.Page) ([]entry, error) {
			found, err := c.o.Thread(ctx, c.caller, in.Thread, p)
			if err != nil {
				return nil, err
			}
			t, out.Total, out.Next = found.ThreadView, found.Total, found.Next
			list := make([]entry, len(found.Log))
			for i := range found.Log {
				list[i] = entryOf(&found.Log[i], maxBrief)
				list[i].Thread = ""
			}
			return list, nil
		})
	case "open":
		t, err = c.o.OpenThread(ctx, c.caller, in.Subject, names(in.With), in.Hops)
	case "add":
		if in.With == "" {
			return out, fault.New(fault.Invalid, "add whom?").WithHint("give names in with")
		}
		t, err = c.o.AddToThread(ctx, c.caller, in.Thread, names(in.With))
	case "grant":
		t, err = c.o.GrantHops(ctx, c.caller, in.Thread, in.Hops)
	case "close":
		t, err = c.o.CloseThread(ctx, c.caller, in.Thread, in.Reason)
	case "withdraw":
		t, err = c.o.Withdraw(ctx, c.caller, in.Question)
	default:
		err = fault.New(fault.Invalid, "no action %q", action).WithHint("actions are list, show, open, add, grant, close and withdraw")
	}
	if err != nil {
		return out, err
	}
	out.Threads = []conversation{conversationOf(&t)}
	if action != "show" {
		out.Total = 1
	}
	return out, nil
}
