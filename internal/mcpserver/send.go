package mcpserver

import (
	"context"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/wake"
)

type sendIn struct {
	Text       string `json:"text"`
	To         string `json:"to,omitempty" jsonschema:"names with commas, @all (who is live), * (your project), project:NAME; or answers, reply_to, thread"`
	Answers    string `json:"answers,omitempty" jsonschema:"the question's id"`
	ReplyTo    string `json:"reply_to,omitempty"`
	Thread     string `json:"thread,omitempty" jsonschema:"default: a new one"`
	Subject    string `json:"subject,omitempty"`
	Kind       string `json:"kind,omitempty" jsonschema:"note, request, update, error, question, ack"`
	Importance string `json:"importance,omitempty" jsonschema:"low (wakes nobody), normal, high"`
	AckWanted  bool   `json:"ack_wanted,omitempty"`
	ClientID   string `json:"client_id,omitempty" jsonschema:"calls with the same send once"`
	Receipt    string `json:"receipt,omitempty"`
}

type sendOut struct {
	ID         string      `json:"id"`
	Thread     string      `json:"thread,omitempty"`
	State      mail.State  `json:"state" jsonschema:"stored means durable, no more"`
	Kind       mail.Kind   `json:"kind"`
	Answers    string      `json:"answers,omitempty"`
	Recipients []recipient `json:"recipients"`
	Repeated   bool        `json:"repeated,omitempty"`
}

type recipient struct {
	Name string `json:"name"`
	Here bool   `json:"here"`
	Wake string `json:"wake"`
	For  string `json:"for,omitempty"`
}

// names splits a list of recipients.
func names(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\n' || r == '\t' })
}

func sendTool(ctx context.Context, c *call, in sendIn) (out sendOut, err error) {
	kind, err := mail.ParseKind(in.Kind)
	if err != nil {
		return out, err
	}
	importance, err := mail.ParseImportance(in.Importance)
	if err != nil {
		return out, err
	}
	if in.To == "" && in.Answers == "" && in.ReplyTo == "" && in.Thread == "" {
		return out, fault.New(fault.Invalid, "the message has no recipient").WithHint("give to, answers, reply_to or thread; roster lists everyone")
	}
	if err := c.prove(ctx, in.Receipt); err != nil {
		return out, err
	}
	l := office.Letter{
		To: names(in.To), Thread: in.Thread, Re: in.ReplyTo, Kind: kind, Subject: in.Subject, Body: []byte(in.Text),
		Importance: importance, AckWanted: in.AckWanted, ClientID: in.ClientID,
	}
	var sent office.Sent
	if in.Answers != "" {
		sent, err = c.o.Answer(ctx, c.caller, in.Answers, l)
	} else {
		sent, err = c.o.Send(ctx, c.caller, l)
	}
	if err != nil {
		return out, err
	}
	wake.AfterSend(ctx, c.o, c.s.opts.Env, sent.Recipients)
	out = sendOut{
		ID: string(sent.ID), Thread: string(sent.Thread), State: sent.State, Kind: sent.Kind, Answers: string(sent.Answers),
		Recipients: []recipient{}, Repeated: sent.Repeated,
	}
	for i, r := range sent.Recipients {
		if i == maxRecipients {
			break
		}
		out.Recipients = append(out.Recipients, recipient{Name: r.Name, Here: r.Here, Wake: wakeOf(&r), For: r.For})
	}
	return out, nil
}

// wakeOf says how a recipient notices mail, and what would help where nothing
// wakes it.
func wakeOf(r *office.RecipientView) string {
	if r.Held != "" {
		return r.Wake + ", " + r.Held
	}
	if r.Hint != "" {
		return r.Wake + ": " + r.Hint
	}
	return r.Wake
}

// maxRecipients bounds how many recipients a result names.
const maxRecipients = 64
