package mcpserver

import (
	"context"
	"sync"
	"time"

	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/quote"
)

// roomTaking bounds what a call hands out.
var roomTaking = office.Taking{Bytes: maxText}

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
// nothing.
func (c *call) roomWait(ctx context.Context, s office.Sitting, w office.Waiting) (office.Waited, error) {
	stop := func() {}
	defer func() { stop() }()
	w.Taking = roomTaking
	w.Waiting = func(v office.RoomView) {
		what := "waiting in " + quote.Line(string(v.Name), 64)
		if v.Holder != "" {
			what += ": @" + quote.Line(string(v.Holder), 64) + " has the floor"
		}
		stop = c.progress(ctx, w.Timeout, what)
	}
	out, err := c.o.RoomWait(ctx, c.caller, s, w)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
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
