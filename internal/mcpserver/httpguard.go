package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bureau/internal/fault"
)

// guard lets in only what was meant for this server: a page that a browser
// shows can reach a loopback address under a name of its own (DNS rebinding).
// An address that the connection came to is nobody's name. What a request sends
// has to come within a time, whether somebody reads it or not.
func guard(next http.Handler, hosts []string, within time.Duration) http.Handler {
	known := map[string]bool{"localhost": true}
	for _, h := range hosts {
		known[strings.ToLower(strings.Trim(strings.TrimSpace(h), "[]"))] = true
	}
	ours := func(r *http.Request, hostport string) bool {
		host := hostport
		if h, _, err := net.SplitHostPort(hostport); err == nil {
			host = h
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		if known[host] {
			return true
		}
		ip := net.ParseIP(host)
		at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		return ip != nil && (ip.IsLoopback() || at != nil && ip.Equal(at.IP))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(within))
		}
		if !ours(r, r.Host) {
			refuse(w, http.StatusForbidden, fault.New(fault.Denied, "the host %q is not this server", r.Host).
				WithHint("call it by its address, or name the host with bureau serve --host"))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); origin != "" && (err != nil || u.Host == "" || !ours(r, u.Host)) {
				refuse(w, http.StatusForbidden, fault.New(fault.Denied, "requests of pages from %q are not served", origin).
					WithHint("call it from a client, or name the page's host with bureau serve --host"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// take reads a request's body, which then counts as read in time.
func take(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		status := http.StatusBadRequest
		if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, fault.New(fault.Invalid, "the request cannot be read: %w", err).WithHint("a request has at most %d bytes, which come at once", maxRequestBody))
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, true
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
