package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	headerTimeout  = 10 * time.Second
	keepAlive      = 2 * time.Minute // of a connection between two requests
	shutdownWithin = 3 * time.Second
	choresEvery    = 45 * time.Second // the longest pause between two rounds of chores
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

	serving context.Context // ends when the server does
	cancel  context.CancelFunc
	chores  chan struct{} // closed when they have ended
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
	s.remote = newRemote(s.desk, opts.Idle, opts.Now)
	h := &HTTP{s: s, opts: opts, chores: make(chan struct{})}
	h.serving, h.cancel = context.WithCancel(context.Background())
	s.ctx = h.serving
	one := func(*http.Request) *mcp.Server { return s.mcp }
	// The Host header is checked by guard.
	h.stateful = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{
		SessionTimeout: opts.Idle, EventStore: mcp.NewMemoryEventStore(nil), DisableLocalhostProtection: true,
	})
	h.stateless = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	h.older = mcp.NewSSEHandler(h.ownServer, &mcp.SSEOptions{DisableLocalhostProtection: true})
	return h, nil
}

// ownServer makes the server of a connection over the older transport, in which
// calls do not say which request they came with.
func (h *HTTP) ownServer(r *http.Request) *mcp.Server {
	s, err := newServer(h.s.opts)
	if err != nil {
		return nil
	}
	s.desk, s.remote, s.ctx, s.token = h.s.desk, h.s.remote, h.serving, tokenOf(r.Context())
	return s.mcp
}

// Serve serves until the context ends. Then it lets nobody begin anything and
// closes all streams. The sessions of the tokens are not ended by that: their
// clients are elsewhere, and go on with the next server.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: h.handler(l.Addr()), ReadHeaderTimeout: headerTimeout, IdleTimeout: keepAlive,
		BaseContext: func(net.Listener) context.Context { return h.serving },
	}
	go h.doChores()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
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
	<-h.chores
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
	defer close(h.chores)
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

func (h *HTTP) handler(at net.Addr) http.Handler {
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
	return guard(mux, hostsOf(at, h.opts.Hosts))
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
		o, giveBack, err := h.s.desk.use(r.Context())
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
		defer h.s.remote.began(t.ID)()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, &t)))
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
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && !h.mayBegin(w, r) {
		return
	}
	h.stateful.ServeHTTP(w, r)
}

// mayBegin refuses what comes without a session and does not begin one.
func (h *HTTP) mayBegin(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		status := http.StatusBadRequest
		if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, fault.New(fault.Invalid, "the request cannot be read: %w", err).WithHint("a request has at most %d bytes", maxRequestBody))
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !begins(body) {
		refuse(w, http.StatusBadRequest, fault.New(fault.Invalid, "the request has no header Mcp-Session-Id").
			WithHint("begin with initialize, and send the id that its answer has with every request; from version %s on send MCP-Protocol-Version instead", firstStateless))
		return false
	}
	if h.s.remote.connections() >= maxConnections {
		refuse(w, http.StatusServiceUnavailable, fault.New(fault.Unavailable, "%d connections are open", maxConnections).
			WithHint("close those that are not needed (DELETE), or wait: they end after %v without a request", h.opts.Idle))
		return false
	}
	return true
}

// begins reports whether a body holds an initialize request.
func begins(body []byte) bool {
	type message struct {
		Method string `json:"method"`
	}
	var one message
	if json.Unmarshal(body, &one) == nil {
		return one.Method == "initialize"
	}
	var list []message
	return json.Unmarshal(body, &list) == nil && slices.ContainsFunc(list, func(m message) bool { return m.Method == "initialize" })
}

// refuse answers with an error in the shape of JSON-RPC, which clients read.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text := err.Error()
	if hint := fault.HintOf(err); hint != "" {
		text += "; " + hint
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{
		"code": refusedCode, "message": text, "data": map[string]any{"code": fault.CodeOf(err), "hint": fault.HintOf(err)},
	}})
}

// refusedCode is JSON-RPC's first code for a server's own errors.
const refusedCode = -32000

// guard lets in only what was meant for this server: a page that a browser
// shows can reach a loopback address under a name of its own (DNS rebinding).
func guard(next http.Handler, hosts []string) http.Handler {
	ours := func(hostport string) bool {
		host := hostport
		if h, _, err := net.SplitHostPort(hostport); err == nil {
			host = h
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
			return true
		}
		return slices.Contains(hosts, host)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(r.Host) {
			refuse(w, http.StatusForbidden, fault.New(fault.Denied, "the host %q is not this server", r.Host).
				WithHint("call it by its address, or name the host with bureau serve --host"))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !ours(u.Host) {
				refuse(w, http.StatusForbidden, fault.New(fault.Denied, "requests of pages from %q are not served", origin).
					WithHint("call it from a client, or name the page's host with bureau serve --host"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hostsOf gives the names by which a server is called that listens at an address.
func hostsOf(at net.Addr, further []string) []string {
	hosts := []string{"localhost"}
	if host, _, err := net.SplitHostPort(at.String()); err == nil {
		if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
			hosts = append(hosts, strings.ToLower(host))
		}
	}
	for _, h := range further {
		hosts = append(hosts, strings.ToLower(strings.TrimSpace(h)))
	}
	return hosts
}
