package mcpserver

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"bureau/internal/event"
	"bureau/internal/name"
)

// Clients of multiagent-mcp pass no receipts: there, being handed a slice was
// having read it. Here their next call proves it, if the call before was answered
// and not given up, whatever of the two is carried out first, and is not the very
// same call: who waits again for the turn that it was just given, or repeats a
// message, has not read the answer. Over HTTP that would prove what never came:
// every call of a token looks the same, whether its client has read the answer
// before, has lost it, or is a new one. So there a call proves what was handed out
// to its own connection's session, in an answer that was written to the end to a
// client that was there, and whose connection did not break afterwards. Everything
// else is given again.

// delivery is what one answer hands out.
type delivery struct {
	token   event.ID
	session any // the MCP session; nil where the protocol has none
	room    event.ID
	handle  name.Key
	receipt string
	retry   string // see call.retry; a call with the same proves nothing
	link    *link  // that it was written to; nil before
}

// deliveries are those that no call has proved yet.
type deliveries struct {
	mu   sync.Mutex
	list []*delivery
}

// maxDeliveries bounds those of one token; the oldest are given again.
const maxDeliveries = 100

func (l *deliveries) add(d *delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, oldest := 0, -1
	for i, o := range l.list {
		if o.token == d.token {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n >= maxDeliveries {
		l.list = append(l.list[:oldest], l.list[oldest+1:]...)
	}
	l.list = append(l.list, d)
}

// in lists those of a token that a part of an answer carries.
func (l *deliveries) in(token event.ID, part []byte) (found []*delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.list {
		if d.token == token && bytes.Contains(part, []byte(d.receipt)) {
			found = append(found, d)
		}
	}
	return found
}

// written notes that the answer with these went out to the end.
func (l *deliveries) written(list []*delivery, over *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range list {
		d.link = over
	}
}

// arrived gives, and forgets, the receipts of what a call of a member proves.
// What was lost is forgotten too, and so, with again, what the call shows to be
// lost because it is the same once more.
func (l *deliveries) arrived(token event.ID, session any, room event.ID, handle name.Key, retry string) (receipts []string, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.list[:0]
	for _, d := range l.list {
		if d.token != token || d.session != session || d.room != room || d.handle != handle || d.link == nil {
			kept = append(kept, d) // not of this member, or still on its way
			continue
		}
		switch {
		case d.link.lost():
		case d.retry != "" && d.retry == retry:
			again = true
		default:
			receipts = append(receipts, d.receipt)
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
	return receipts, again
}

// drop forgets those of an MCP session that has ended.
func (l *deliveries) drop(session any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.list[:0]
	for _, d := range l.list {
		if d.session != session {
			kept = append(kept, d)
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
}

// answering watches what is written to a client: which answers hand something
// out, and whether they went out to the end. It also sees what a stream repeats
// that a client goes on with.
type answering struct {
	http.ResponseWriter
	ctx   context.Context // ends when the client has left
	link  *link
	of    *deliveries
	token event.ID

	mu      sync.Mutex
	pending []*delivery
}

func (w *answering) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		if found := w.of.in(w.token, p); len(found) > 0 {
			w.mu.Lock()
			w.pending = append(w.pending, found...)
			w.mu.Unlock()
		}
	}
	return n, err
}

// FlushError brings to the client what was written so far.
func (w *answering) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.mu.Lock()
	list := w.pending
	w.pending = nil
	w.mu.Unlock()
	if err == nil && len(list) > 0 && w.ctx.Err() == nil && w.link.there() {
		w.of.written(list, w.link)
	}
	return err
}

// Flush is FlushError for who does not ask.
func (w *answering) Flush() { _ = w.FlushError() }

// Unwrap lets the library reach the connection's deadlines.
func (w *answering) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end brings out what is left when the answer is over.
func (w *answering) end() {
	w.mu.Lock()
	left := len(w.pending)
	w.mu.Unlock()
	if left > 0 {
		w.Flush()
	}
}

// handsOut notes what the answer to a call carries, whose client passes no
// receipts. With retry the same call once more does not prove it.
func (c *call) handsOut(receipt string, room event.ID, handle name.Key, retry string) {
	if receipt != "" {
		d := &delivery{token: c.token, session: c.session(), room: room, handle: handle, receipt: receipt, retry: retry}
		c.handing = append(c.handing, d)
		c.s.delivered.add(d)
	}
}

// answered is called when the answer to a call is made. To a client of one's own
// it is written next, unless the client gave the call up before: then it drops
// it, and what it holds is never proved. What a client gives up after that,
// [server.gaveUp] takes back, before the client's next call is served.
func (c *call) answered(ctx context.Context) {
	if c.s.remote == nil && len(c.handing) > 0 && ctx.Err() == nil {
		c.s.delivered.written(c.handing, &link{})
	}
}

// arrived stores as read what a call of a member proves by being made. again
// reports that it is the last one once more, whose answer did not reach anybody.
func (c *call) arrived(ctx context.Context, room event.ID, handle name.Key) (again bool, err error) {
	if c.hooked {
		return false, nil // the client's hooks see what arrives
	}
	receipts, again := c.s.delivered.arrived(c.token, c.session(), room, handle, c.retry)
	for _, r := range receipts {
		if err := c.o.RoomProve(ctx, c.caller, r); err != nil {
			return again, err
		}
	}
	return again, nil
}

// session is the MCP session of a call over HTTP; nil where the protocol has
// none any more, and every request is one for the library.
func (c *call) session() any {
	if x := c.req.GetExtra(); x != nil && x.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		return nil
	}
	return c.req.Session
}
