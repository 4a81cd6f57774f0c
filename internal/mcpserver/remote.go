package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/roster"
)

// remote is who is connected over HTTP. Each token is one session of the
// office, however many connections it has at a time; it ends with the last of
// them, or when nothing was heard of it for a while.
type remote struct {
	desk    *desk
	process roster.Process // this one: it speaks for all of them
	idle    time.Duration
	now     func() time.Time

	mu      sync.Mutex
	guest   map[event.ID]*guest        // by token
	ending  map[event.ID]chan struct{} // closed when the session's end is done
	stopped bool                       // the server ends, and with it no session
	ends    sync.WaitGroup
}

// guest is what is known of a token's connections.
type guest struct {
	connections map[*mcp.ServerSession]*connection
	requests    int       // HTTP requests at work, open streams too
	last        time.Time // when the last one ended
	closed      bool      // the last connection was closed

	until context.Context // ends when the token is found to be no good any more
	cut   context.CancelFunc
}

// connection is an MCP session.
type connection struct {
	requests int
	last     time.Time

	until context.Context // ends with it, or with its token
	cut   context.CancelFunc
}

// maxOfToken is how many connections a token has: a client that forgets them
// takes nobody else's place.
const maxOfToken = 100

func newRemote(d *desk, idle time.Duration, now func() time.Time) *remote {
	return &remote{desk: d, process: presence.Self(), idle: idle, now: now, guest: map[event.ID]*guest{}, ending: map[event.ID]chan struct{}{}}
}

// identify says who a token is.
func (r *remote) identify(ctx context.Context, o *office.Office, t *roster.Token) (office.Caller, error) {
	if t == nil {
		return office.Caller{}, fault.New(fault.Denied, "the call shows no token").WithHint("send it with every request: Authorization: Bearer TOKEN")
	}
	return o.IdentifyToken(ctx, *t, r.process)
}

// began notes a request of a token, once an end of its session that is under
// way is done. The context it gives ends with the token; the function, called
// at the request's end, notes that.
func (r *remote) began(token event.ID) (until context.Context, done func()) {
	r.mu.Lock()
	for r.ending[token] != nil {
		ended := r.ending[token]
		r.mu.Unlock()
		<-ended
		r.mu.Lock()
	}
	g := r.guest[token]
	if g == nil {
		g = &guest{connections: map[*mcp.ServerSession]*connection{}}
		g.until, g.cut = context.WithCancel(context.Background())
		r.guest[token] = g
	}
	g.requests++
	r.mu.Unlock()
	return g.until, func() {
		r.mu.Lock()
		g.requests--
		g.last = r.now()
		r.mu.Unlock()
		r.settle(token)
	}
}

// until gives the context of a token's calls in a connection, which may outlive
// the request that they came with.
func (r *remote) until(token *roster.Token, s *mcp.ServerSession) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token == nil || r.guest[token.ID] == nil {
		return context.Background()
	}
	g := r.guest[token.ID]
	if c := g.connections[s]; c != nil {
		return c.until
	}
	return g.until
}

// hangUp ends the calls of connections that end: the library waits for them
// before it closes one.
func (r *remote) hangUp(token event.ID, is func(*mcp.ServerSession) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.guest[token]; g != nil {
		for s, c := range g.connections {
			if is(s) {
				c.cut()
			}
		}
	}
}

// joined notes a connection; it is taken off when it is closed, by whom ever.
func (r *remote) joined(token event.ID, s *mcp.ServerSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.guest[token]
	switch {
	case g == nil: // whoever began it has left meanwhile
		go s.Close()
		return
	case g.connections[s] != nil:
		return
	}
	c := &connection{last: r.now()}
	c.until, c.cut = context.WithCancel(g.until)
	g.connections[s] = c
	g.closed = false
	go func() {
		_ = s.Wait()
		c.cut()
		r.mu.Lock()
		delete(g.connections, s)
		g.closed, g.last = len(g.connections) == 0, r.now()
		r.mu.Unlock()
		r.settle(token)
	}()
}

// uses notes a request of a connection; the function it gives, its end.
func (r *remote) uses(token event.ID, session string) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.guest[token]; g != nil && session != "" {
		for s, c := range g.connections {
			if s.ID() == session {
				c.requests++
				return func() {
					r.mu.Lock()
					defer r.mu.Unlock()
					c.requests--
					c.last = r.now()
				}
			}
		}
	}
	return func() {}
}

// admits reports whether a token may begin another connection. One that has very
// many loses the one that was used least lately for it.
func (r *remote) admits(token event.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, g := range r.guest {
		n += len(g.connections)
	}
	g := r.guest[token]
	if g == nil || len(g.connections) < maxOfToken {
		return n < maxConnections
	}
	var oldest *mcp.ServerSession
	for s, c := range g.connections {
		if s.ID() != "" && c.requests == 0 && (oldest == nil || c.last.Before(g.connections[oldest].last)) {
			oldest = s
		}
	}
	if oldest != nil {
		g.connections[oldest].cut()
		go oldest.Close()
	}
	return oldest != nil
}

// watch lets go of tokens that were revoked, or whose time is over, while they
// are in use: their calls, their streams, their connections.
func (r *remote) watch(ctx context.Context, each time.Duration) {
	ticker := time.NewTicker(each)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, token := range r.tokens(true) {
			if o, giveBack, err := r.desk.look(ctx); err == nil {
				err = o.TokenGood(ctx, token)
				giveBack()
				if fault.Is(err, fault.Denied) {
					r.cutOff(token)
				}
			}
		}
	}
}

func (r *remote) cutOff(token event.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.guest[token]; g != nil {
		g.cut()
		for s := range g.connections {
			go s.Close()
		}
	}
}

// stop keeps the sessions when their connections are closed with the server.
func (r *remote) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
}

// settle ends the session of a token that has left: at once when its last
// connection was closed, else after the idle time.
func (r *remote) settle(token event.ID) {
	r.mu.Lock()
	g := r.guest[token]
	over := g != nil && !r.stopped && len(g.connections) == 0 && g.requests == 0 && (g.closed || r.now().Sub(g.last) >= r.idle)
	if over {
		delete(r.guest, token)
		r.ending[token] = make(chan struct{})
		r.ends.Add(1)
	}
	r.mu.Unlock()
	if !over {
		return
	}
	defer r.ends.Done()
	err := r.endToken(token)
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.ending[token])
	delete(r.ending, token)
	if err != nil {
		// This process lives on, so nobody else will take it for gone: it is
		// tried again with the next sweep.
		g.closed, r.guest[token] = true, g
		return
	}
	g.cut()
}

func (r *remote) endToken(token event.ID) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	o, giveBack, err := r.desk.look(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	return o.EndToken(ctx, token, r.process)
}

// endTimeout bounds the end of one token's session.
const endTimeout = 5 * time.Second

// sweep closes the connections, and ends the sessions, of which nothing was
// heard.
func (r *remote) sweep() {
	r.mu.Lock()
	for _, g := range r.guest {
		for s, c := range g.connections {
			// The older transport's are open as long as their stream is.
			if s.ID() != "" && c.requests == 0 && r.now().Sub(c.last) >= r.idle {
				c.cut()
				go s.Close()
			}
		}
	}
	r.mu.Unlock()
	for _, t := range r.tokens(false) {
		r.settle(t)
	}
}

// tokens lists those that are connected, or those alone of which a request is at
// work.
func (r *remote) tokens(busy bool) (list []event.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t, g := range r.guest {
		if !busy || g.requests > 0 {
			list = append(list, t)
		}
	}
	return list
}
