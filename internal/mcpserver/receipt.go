package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
)

// A receipt stands for what one result handed out: the ends of the messages'
// ids, and a check over whole ids and the agent, so that it proves nothing for
// anybody else and a slip of the pen is noticed. Whoever can show it has the
// result in its context, also when the conversation went on in another process
// or under another id; so neither is part of it.
//
//	5P0SZZ+7XKQ2M.k3f9qa
const (
	receiptEnd   = 6
	receiptCheck = 6
)

func makeReceipt(c office.Caller, ids []event.ID) string {
	if len(ids) == 0 {
		return ""
	}
	ends := make([]string, len(ids))
	for i, id := range ids {
		ends[i] = string(id[len(id)-receiptEnd:])
	}
	return strings.Join(ends, "+") + "." + checkOf(c, ids)
}

func checkOf(c office.Caller, ids []event.ID) string {
	h := sha256.New()
	h.Write([]byte(c.Agent.ID + "\n"))
	for _, id := range ids {
		h.Write([]byte(id + "\n"))
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)))[:receiptCheck]
}

// prove marks as seen what a receipt stands for.
func (c *call) prove(ctx context.Context, word string) error {
	word = strings.TrimSpace(word)
	if word == "" || c.caller.Stale {
		return nil
	}
	ends, check, ok := strings.Cut(word, ".")
	var ids []event.ID
	if ok {
		for _, end := range strings.Split(ends, "+") {
			id, err := c.o.Resolve(ctx, c.caller, end, "message")
			if err != nil {
				ok = false
				break
			}
			ids = append(ids, id)
		}
	}
	if !ok || checkOf(c.caller, ids) != check {
		return fault.New(fault.Invalid, "the receipt %q is none of yours", word).
			WithHint("copy it as it was, or leave it away: the messages then come again; nothing was done")
	}
	return c.o.Seen(ctx, c.caller, ids, "receipt")
}

// receiptFor gives the receipt for messages that were handed out, to clients
// whose hooks do not prove them.
func (c *call) receiptFor(ids []event.ID) string {
	if c.hooked || !c.caller.InSession() {
		return ""
	}
	return makeReceipt(c.caller, ids)
}
