package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/quote"
)

// roomTaking bounds what a call hands out.
var roomTaking = office.Taking{Bytes: maxText, Measure: asShown}

// asShown measures a text of others: more than its bytes only where so much of it
// is written as escapes that the result would grow beyond what a client takes.
func asShown(text string) int {
	raw, _ := json.Marshal(quote.Text(text)) // a string: it cannot fail
	return max(len(text), len(raw)*maxText/maxEscaped)
}

// maxEscaped is how many bytes the texts of a result may have, escapes included.
const maxEscaped = 28_000

// roomPatience is how long a call in a room may wait. None given means the
// preset; what is longer than the client's patience is cut.
func (c *call) roomPatience(wait seconds, preset time.Duration) time.Duration {
	d := preset
	if wait.given {
		d = wait.d
	}
	if d == 0 {
		return -1 // one look
	}
	if c.req.Params.GetProgressToken() == nil {
		return min(d, maxSilent)
	}
	return min(d, maxWait)
}

// roomWait waits in a room, with progress. Whoever gives up waiting takes
// nothing, also when something came at that moment.
func (c *call) roomWait(ctx context.Context, s office.Sitting, w office.Waiting) (out office.Waited, err error) {
	stop := func() {}
	defer func() { stop() }()
	begins := w.Waiting
	w.Waiting = func(v office.RoomView) {
		if begins != nil {
			begins(v)
		}
		what := "waiting in " + quote.Line(string(v.Name), 64)
		if v.Holder != "" {
			what += ": @" + quote.Line(string(v.Holder), 64) + " has the floor"
		}
		stop = c.progress(ctx, w.Timeout, what)
	}
	out, err = c.o.RoomWait(ctx, c.caller, s, w)
	defer func() {
		if errors.Is(err, context.Canceled) {
			err = &stopped{err}
		}
	}()
	switch {
	case err != nil || out.Receipt == "":
	case ctx.Err() != nil:
		return out, errors.Join(ctx.Err(), c.takeBack(ctx, out.Receipt))
	default:
		c.s.handed.note(c.req.Session, handed{c.caller, out.Receipt, time.Now()})
		return out, nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// stopped is a wait in a room that its client gave up.
type stopped struct{ error }

func (s *stopped) Unwrap() error { return s.error }

func (c *call) takeBack(ctx context.Context, receipt string) error {
	return c.o.RoomTakeBack(context.WithoutCancel(ctx), c.caller, receipt)
}

// handed is what the last wait on a connection handed out.
type handed struct {
	caller  office.Caller
	receipt string
	at      time.Time
}

// handouts keeps the newest for each connection, for as long as it can matter.
type handouts struct {
	mu sync.Mutex
	of map[*mcp.ServerSession]handed
}

func (l *handouts) note(session *mcp.ServerSession, h handed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[*mcp.ServerSession]handed{}
	}
	maps.DeleteFunc(l.of, func(_ *mcp.ServerSession, old handed) bool { return h.at.Sub(old.at) > lateCancel })
	l.of[session] = h
}

func (l *handouts) take(session *mcp.ServerSession) (h handed, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok = l.of[session]
	delete(l.of, session)
	return h, ok
}

// lateCancel is how long after a result the client's word that it gave up the
// call may still come. The client drops such a result.
const lateCancel = 5 * time.Second

// gaveUp takes back what a wait handed out just before its client gave it up.
// The library does not say which call that was. If it was another one, what the
// wait gave comes once more.
func (s *server) gaveUp(ctx context.Context, session *mcp.ServerSession) {
	h, ok := s.handed.take(session)
	if !ok || time.Since(h.at) > lateCancel {
		return
	}
	o, giveBack, err := s.desk.use(ctx)
	if err != nil {
		return
	}
	defer giveBack()
	_ = o.RoomTakeBack(ctx, h.caller, h.receipt) // else the next call may prove it
}

// latest keeps one value for each session of this server.
type latest[T any] struct {
	mu sync.Mutex
	of map[presence.Key]T
}

func (l *latest[T]) in(key presence.Key, v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[presence.Key]T{}
	}
	l.of[key] = v
}

func (l *latest[T]) get(key presence.Key) (v T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok = l.of[key]
	return v, ok
}
