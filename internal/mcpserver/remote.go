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
	connections int       // MCP sessions
	requests    int       // HTTP requests at work, open streams too
	last        time.Time // when the last one ended
	closed      bool      // the last connection was closed
}

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
// way is done; the function it gives, its end.
func (r *remote) began(token event.ID) (done func()) {
	r.mu.Lock()
	for r.ending[token] != nil {
		ended := r.ending[token]
		r.mu.Unlock()
		<-ended
		r.mu.Lock()
	}
	g := r.guest[token]
	if g == nil {
		g = &guest{}
		r.guest[token] = g
	}
	g.requests++
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		g.requests--
		g.last = r.now()
		r.mu.Unlock()
		r.settle(token)
	}
}

// joined notes a connection; it is taken off when it is closed, by whom ever.
func (r *remote) joined(token event.ID, s *mcp.ServerSession) {
	r.mu.Lock()
	g := r.guest[token]
	if g == nil {
		g = &guest{}
		r.guest[token] = g
	}
	g.connections++
	g.closed = false
	r.mu.Unlock()
	go func() {
		_ = s.Wait()
		r.mu.Lock()
		g.connections--
		g.closed, g.last = g.connections == 0, r.now()
		r.mu.Unlock()
		r.settle(token)
	}()
}

// stop keeps the sessions when their connections are closed with the server.
func (r *remote) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
}

// connections gives how many there are.
func (r *remote) connections() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.guest {
		n += g.connections
	}
	return n
}

// settle ends the session of a token that has left: at once when its last
// connection was closed, else after the idle time.
func (r *remote) settle(token event.ID) {
	r.mu.Lock()
	g := r.guest[token]
	over := g != nil && !r.stopped && g.connections == 0 && g.requests == 0 && (g.closed || r.now().Sub(g.last) >= r.idle)
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
	defer func() {
		r.mu.Lock()
		close(r.ending[token])
		delete(r.ending, token)
		r.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	o, giveBack, err := r.desk.look(ctx)
	if err != nil {
		return // its process tells that it is gone
	}
	defer giveBack()
	_ = o.EndToken(ctx, token, r.process)
}

// endTimeout bounds the end of one token's session.
const endTimeout = 5 * time.Second

// sweep ends those of whom nothing was heard.
func (r *remote) sweep() {
	r.mu.Lock()
	var tokens []event.ID
	for t := range r.guest {
		tokens = append(tokens, t)
	}
	r.mu.Unlock()
	for _, t := range tokens {
		r.settle(t)
	}
}
