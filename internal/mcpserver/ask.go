package mcpserver

import (
	"context"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/wake"
)

func addAsk(s *server) {
	add(s, spec{
		name: "ask", title: "Ask and wait", always: true,
		about: `Ask one agent or person and wait for the answer. On "nothing yet" the question stays open: the answer comes to your inbox, or call again with question.`,
	}, askTool)
}

type askIn struct {
	To       string `json:"to,omitempty" jsonschema:"a name from roster"`
	Text     string `json:"text,omitempty" jsonschema:"complete in itself: they do not see your conversation"`
	Question string `json:"question,omitempty" jsonschema:"wait on for it, without to and text"`
	Thread   string `json:"thread,omitempty"`
	IfLive   bool   `json:"if_live,omitempty" jsonschema:"only if they are here"`
	Timeout  int    `json:"timeout_seconds,omitempty"`
	Receipt  string `json:"receipt,omitempty"`
}

type askOut struct {
	Status   string `json:"status" jsonschema:"answered or nothing yet"`
	Question string `json:"question"`
	Thread   string `json:"thread"`
	From     string `json:"from,omitempty"`
	Answer   string `json:"answer,omitempty"`
	AnswerID string `json:"answer_id,omitempty"`
	Next     int    `json:"next_offset,omitempty" jsonschema:"read_message of answer_id gives the rest"`
	Note     string `json:"note,omitempty"`
	Receipt  string `json:"receipt,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

// The states of an asking.
const (
	statusAnswered = "answered"
	statusNothing  = "nothing yet"
)

func askTool(ctx context.Context, c *call, in askIn) (out askOut, err error) {
	if in.Question == "" && (in.To == "" || in.Text == "") {
		return out, fault.New(fault.Invalid, "ask whom what?").WithHint("give to and text, or the question that you asked before")
	}
	if err := c.prove(ctx, in.Receipt); err != nil {
		return out, err
	}
	a := office.Asking{Question: in.Question, IfLive: in.IfLive}
	a.To, a.Thread, a.Body = []string{in.To}, in.Thread, []byte(in.Text)
	outcome, asked, err := c.ask(ctx, a, c.patience(in.Timeout))
	out = askOut{Status: statusNothing, Question: string(outcome.Question), Thread: string(outcome.Thread)}
	switch {
	case outcome.Timeout:
		out.Hint = nothingHint(out.Question, &asked)
		return out, nil
	case err != nil:
		return out, err
	}
	m := outcome.Answer
	l := letterOf(m, 0, maxText)
	out.Status, out.From, out.Answer, out.AnswerID, out.Next, out.Note = statusAnswered, l.From, l.Body, l.ID, l.Next, l.Note
	out.Receipt = c.receiptFor([]event.ID{m.ID})
	return out, nil
}

// nothingHint says how to go on where no answer has come, and why none may: the
// one who was asked is away, is not rung, or has ended.
func nothingHint(question string, asked *office.RecipientView) string {
	hint := "the question stays open; go on with other work, or wait again: ask with question=" + question
	switch {
	case asked.Name == "":
		return hint
	case !asked.Here:
		hint = asked.Name + " is not here, " + wakeOf(asked) + "; " + hint
	case asked.Held != "":
		hint = asked.Name + " is not rung: " + strings.TrimPrefix(asked.Held, "not rung: ") + "; " + hint
	}
	if asked.For != "" {
		hint = asked.For + " was a subagent and has ended; " + asked.Name + ", whose it was, has the question now; " + hint
	}
	return hint
}

// ask puts a question and waits, with progress. The answer that it gives is
// handed out. Whoever gives up waiting takes nothing. It gives as well how the
// one who was asked would notice, by the end of the wait.
func (c *call) ask(ctx context.Context, a office.Asking, patience time.Duration) (office.Outcome, office.RecipientView, error) {
	var to office.RecipientView
	a.Timeout = patience
	stop := func() {}
	defer func() { stop() }()
	a.Waiting = func(asked office.Asked) {
		list := []office.RecipientView{asked.To}
		wake.AfterSend(ctx, c.o, c.s.opts.Env, list)
		to = list[0]
		doing := "waiting for the answer of " + quote.Line(asked.To.Name, 64)
		if !to.Here {
			doing += ", who is not here (" + wakeOf(&to) + ")"
		} else if to.Held != "" {
			doing += ", who is not rung (" + strings.TrimPrefix(to.Held, "not rung: ") + ")"
		}
		stop = c.progress(ctx, patience, doing)
	}
	a.Passed = func(_ string, r office.RecipientView) bool {
		list := []office.RecipientView{r}
		wake.AfterSend(ctx, c.o, c.s.opts.Env, list)
		to = list[0]
		return false // the model hears of it now
	}
	a.Left = func(office.RecipientView) bool { return false } // so it does of this
	out, err := c.o.Ask(ctx, c.caller, a)
	if out.Timeout {
		if out.To.Name != "" {
			// As it is now; it may have come or gone while we waited.
			list := []office.RecipientView{out.To}
			wake.AfterSend(ctx, c.o, c.s.opts.Env, list)
			list[0].For = to.For
			to = list[0]
		}
		return out, to, nil
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil || out.Answer == nil {
		return out, to, err
	}
	_, err = c.o.Hand(ctx, c.caller, []event.ID{out.Answer.ID})
	return out, to, err
}
