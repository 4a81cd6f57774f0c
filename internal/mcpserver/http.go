package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/fault"
	"bureau/internal/roster"
	"bureau/internal/version"
)

// Paths of a server over HTTP.
const (
	PathMCP    = "/mcp"     // streamable HTTP, both eras of the protocol
	PathSSE    = "/sse"     // the older HTTP+SSE transport
	PathHealth = "/healthz" // says that the server is there; needs no token
)

// HTTPOptions say what is served over HTTP.
type HTTPOptions struct {
	Env   func(string) string
	Now   func() time.Time // nil: the machine's clock
	Home  string           // as in [Options]
	Tools []string         // as in [Options]

	// Idle is how long a connection lives without a request, and a token's
	// session without a connection: 0 is [DefaultIdle]. A call that waits and a
	// stream that is open are no idleness.
	Idle time.Duration
	// Hosts are further host names by which the server may be called.
	Hosts []string
}

// DefaultIdle is HTTPOptions.Idle where none is given.
const DefaultIdle = 30 * time.Minute

// Limits of the HTTP server.
const (
	maxConnections = 1000
	maxRequestBody = mcp.DefaultMaxRequestBodyBytes
	maxHeaders     = 64 << 10 // bytes
	headerTimeout  = 10 * time.Second
	bodyTimeout    = 30 * time.Second
	keepAlive      = 2 * time.Minute // of a connection between two requests
	shutdownWithin = 3 * time.Second
	choresEvery    = 45 * time.Second // the longest pause between two rounds of chores
	tokensEvery    = 5 * time.Second  // between two looks whether tokens in use are still good
)

// HTTP is the office's tools over HTTP, for clients that a process of this
// machine cannot stand for. Who calls is what the token says that comes with
// every request: one token is one session of the office, the same one after a
// restart of the server and in a new connection. It can be told things only
// with the results of its calls, so nobody can wake it.
//
// A session id of another life of the server is answered with 404, which tells
// a client to begin again, and a request without one with 400.
type HTTP struct {
	s    *server
	opts HTTPOptions

	stateful, stateless, older http.Handler // the transports

	bodyWithin, tokensEach time.Duration // see the limits

	serving context.Context // ends when the server does
	cancel  context.CancelFunc
	chores  sync.WaitGroup
}

// NewHTTP makes a server. Nothing is served before [HTTP.Serve].
func NewHTTP(opts HTTPOptions) (*HTTP, error) {
	if opts.Idle <= 0 {
		opts.Idle = DefaultIdle
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s, err := newServer(Options{Env: opts.Env, Now: opts.Now, Home: opts.Home, Tools: opts.Tools})
	if err != nil {
		return nil, err
	}
	// Tokens are made in an office that is there: whoever calls begins none.
	s.desk.served = true
	s.remote = newRemote(s.desk, opts.Idle, opts.Now)
	h := &HTTP{s: s, opts: opts, bodyWithin: bodyTimeout, tokensEach: tokensEvery}
	h.serving, h.cancel = context.WithCancel(context.Background())
	s.ctx = h.serving
	one := func(*http.Request) *mcp.Server { return s.mcp }
	// The Host header is checked by guard, and idle connections are closed by
	// remote: an open stream is no silence to it.
	h.stateful = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{EventStore: newReplies(), DisableLocalhostProtection: true})
	h.stateless = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	h.older = &older{server: s.mcp, remote: s.remote, open: map[string]*stream{}}
	return h, nil
}

// Serve serves until the context ends. Then it lets nobody begin anything and
// closes all streams. The sessions of the tokens are not ended by that: their
// clients are elsewhere, and go on with the next server.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: h.handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: keepAlive, MaxHeaderBytes: maxHeaders,
		BaseContext: func(net.Listener) context.Context { return h.serving }, ConnContext: withLink,
	}
	h.chores.Go(h.doChores)
	h.chores.Go(func() { h.s.remote.watch(h.serving, h.tokensEach) })
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(links{l}) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	h.s.remote.stop()
	h.cancel()
	for ss := range h.s.mcp.Sessions() {
		go ss.Close()
	}
	ending, done := context.WithTimeout(context.Background(), shutdownWithin)
	defer done()
	if srv.Shutdown(ending) != nil {
		_ = srv.Close()
	}
	h.chores.Wait()
	h.s.remote.ends.Wait()
	h.s.desk.close()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fault.New(fault.Unavailable, "cannot serve any longer: %w", err)
	}
	return nil
}

// doChores does what any server of the machine does for all: questions whose
// time has run out, rooms, lock files; and it ends the sessions of which
// nothing was heard.
func (h *HTTP) doChores() {
	for {
		wait := choresEvery
		if o, giveBack, err := h.s.desk.look(h.serving); err == nil {
			if next, err := o.SweepDue(h.serving); err == nil && !next.IsZero() {
				wait = min(wait, max(next.Sub(h.opts.Now()), time.Second))
			}
			_, _ = o.BeatMirrors(h.serving)
			giveBack()
		}
		h.s.remote.sweep()
		select {
		case <-time.After(min(wait, max(h.opts.Idle, time.Second))):
		case <-h.serving.Done():
			return
		}
	}
}

func (h *HTTP) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PathHealth, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"status": "ok", "name": "bureau", "version": version.String()})
	})
	mux.Handle(PathMCP, h.known(http.HandlerFunc(h.mcp)))
	mux.Handle(PathSSE, h.known(h.older))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fault.New(fault.NotFound, "nothing is served at %q", r.URL.Path).WithHint("MCP is at %s, for older clients at %s", PathMCP, PathSSE))
	})
	return guard(mux, h.opts.Hosts, h.bodyWithin)
}

// known lets requests in that show a valid token.
func (h *HTTP) known(next http.Handler) http.Handler {
	next = auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		t := tokenOf(ctx)
		// The library then serves a connection only to the token that began it.
		return &auth.TokenInfo{UserID: string(t.ID), Extra: map[string]any{extraToken: t}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		word, text, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		if !strings.EqualFold(word, "bearer") || strings.TrimSpace(text) == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="bureau"`)
			refuse(w, http.StatusUnauthorized, fault.New(fault.Denied, "the request shows no token").
				WithHint("send the header Authorization: Bearer TOKEN; the person makes one with bureau token new NAME"))
			return
		}
		o, giveBack, err := h.s.desk.look(r.Context())
		if err != nil {
			refuse(w, http.StatusServiceUnavailable, err)
			return
		}
		t, err := o.Credential(r.Context(), text)
		giveBack()
		switch {
		case fault.Is(err, fault.Denied):
			w.Header().Set("WWW-Authenticate", `Bearer realm="bureau", error="invalid_token"`)
			refuse(w, http.StatusUnauthorized, err)
			return
		case err != nil:
			refuse(w, http.StatusServiceUnavailable, err)
			return
		}
		if _, ok := take(w, r); !ok {
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), tokenKey{}, &t))
		defer cancel()
		until, done := h.s.remote.began(t.ID)
		defer done()
		defer context.AfterFunc(until, cancel)()
		watched := &answering{ResponseWriter: w, ctx: r.Context(), link: linkOf(r.Context()), of: &h.s.delivered, token: t.ID}
		defer watched.end()
		next.ServeHTTP(watched, r.WithContext(ctx))
	})
}

type tokenKey struct{}

const extraToken = "token"

func tokenOf(ctx context.Context) *roster.Token {
	t, _ := ctx.Value(tokenKey{}).(*roster.Token)
	return t
}

// firstStateless is the version of the protocol that has no sessions any more.
const firstStateless = "2026-07-28"

// mcp serves streamable HTTP, by the era of the request's protocol version.
func (h *HTTP) mcp(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		h.stateless.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodPost && id == "" && !h.mayBegin(w, r) {
		return
	}
	token := tokenOf(r.Context()).ID
	defer h.s.remote.uses(token, id)()
	if r.Method == http.MethodDelete && id != "" {
		h.s.remote.hangUp(token, func(s *mcp.ServerSession) bool { return s.ID() == id })
	}
	h.stateful.ServeHTTP(w, r)
}

// mayBegin refuses what comes without a session and does not begin one.
func (h *HTTP) mayBegin(w http.ResponseWriter, r *http.Request) bool {
	body, ok := take(w, r)
	switch {
	case !ok:
		return false
	case !begins(body):
		refuse(w, http.StatusBadRequest, fault.New(fault.Invalid, "the request has no header Mcp-Session-Id").
			WithHint("begin with initialize, and send the id that its answer has with every request; from version %s on send MCP-Protocol-Version instead", firstStateless))
		return false
	case !h.s.remote.admits(tokenOf(r.Context()).ID):
		refuse(w, http.StatusServiceUnavailable, tooMany(maxConnections, "close those that are not needed (DELETE), or wait: they end after %v without a request", h.opts.Idle))
		return false
	}
	return true
}

func tooMany(n int, hint string, args ...any) error {
	return fault.New(fault.Unavailable, "%d connections are open", n).WithHint(hint, args...)
}
