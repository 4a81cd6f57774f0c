package mcpserver

import (
	"crypto/rand"
	"mime"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// older serves the HTTP+SSE transport of 2024-11-05: a stream that is open for
// the connection's whole life, and requests to the address that it names. The
// calls of a connection are those of the token that opened its stream, and come
// with no other one.
type older struct {
	server *mcp.Server
	remote *remote

	mu   sync.Mutex
	open map[string]*stream // by session id
}

type stream struct {
	transport *mcp.SSEServerTransport
	token     event.ID
}

func (h *older) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		h.stream(w, r)
	case http.MethodPost:
		h.message(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		refuse(w, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "%s is nothing that %s knows", r.Method, PathSSE).WithHint("GET opens the stream, POST sends"))
	}
}

// stream opens a connection and keeps it until the client or the server ends it.
func (h *older) stream(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	s := &stream{transport: &mcp.SSEServerTransport{Endpoint: PathSSE + "?sessionid=" + id, Response: w}, token: tokenOf(r.Context()).ID}
	if n := h.add(id, s); n > 0 {
		refuse(w, http.StatusServiceUnavailable, tooMany(n, "close those that are not needed"))
		return
	}
	defer func() {
		h.mu.Lock()
		delete(h.open, id)
		h.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Connection", "keep-alive")
	// The context tells the calls whose they are: its values stay with them.
	session, err := h.server.Connect(r.Context(), s.transport, nil)
	if err != nil {
		return // the client has left
	}
	defer func() {
		h.remote.hangUp(s.token, func(other *mcp.ServerSession) bool { return other == session })
		_ = session.Close()
	}()
	ended := make(chan struct{})
	go func() {
		_ = session.Wait()
		close(ended)
	}()
	select {
	case <-r.Context().Done():
	case <-ended:
	}
}

// add notes a connection, or gives the number of open ones that it would be too
// many for.
func (h *older) add(id string, s *stream) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= maxConnections {
		return len(h.open)
	}
	for _, other := range h.open {
		if other.token == s.token {
			n++
		}
	}
	if n < maxOfToken {
		h.open[id] = s
		return 0
	}
	return n
}

// message takes a request for an open connection.
func (h *older) message(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, fault.New(fault.Invalid, "the content type is %q", r.Header.Get("Content-Type")).WithHint("send application/json"))
		return
	}
	id := r.URL.Query().Get("sessionid")
	h.mu.Lock()
	s := h.open[id]
	h.mu.Unlock()
	switch {
	case id == "":
		refuse(w, http.StatusBadRequest, fault.New(fault.Invalid, "the request has no sessionid").WithHint("open the stream first (GET %s); its first event has the address to send to", PathSSE))
	case s == nil:
		refuse(w, http.StatusNotFound, fault.New(fault.NotFound, "the session is none that is open").WithHint("open the stream again: GET %s", PathSSE))
	case s.token != tokenOf(r.Context()).ID:
		refuse(w, http.StatusForbidden, fault.New(fault.Denied, "the session is another token's").WithHint("open a stream of your own: GET %s", PathSSE))
	default:
		s.transport.ServeHTTP(w, r)
	}
}
