// Package mockapi plays the model: a small stand-in for the Messages API on
// loopback, for tests with a real client.
//
// Every turn is scripted, by rules that look at the request or by a queue per
// session, and every request is recorded. It answers as the real service does
// to the client that asks: server-sent events or one JSON object, text and
// tool_use blocks, errors and delays. What the client needs beyond messages
// (count_tokens, models, a HEAD of the root) is answered too.
package mockapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Rule says how to answer a request.
type Rule struct {
	Name string
	When When
	// Times is how often the rule answers; 0 is once, less is always.
	Times int
	Turn  Turn
}

// When is a condition; what is set must hold.
type When struct {
	// Last is in the text after the last assistant message: prompt, tool
	// results, and the system messages with hook context and peers' mail.
	Last string
	// NotLast is not in it.
	NotLast string
	// Any is anywhere in the messages.
	Any string
	// Session is (a part of) the session's id; pin it with --session-id.
	Session string
	// Agent is (a part of) the subagent's id; "-" is the main conversation.
	Agent string
	// Is is any other condition.
	Is func(*Request) bool
}

// Turn is what the model says.
type Turn struct {
	Reply []Block
	// From makes the reply from the request, instead of Reply.
	From  func(*Request) []Block
	Delay time.Duration
	// Status is that of an error, with Message; 0 is none.
	Status  int
	Message string
}

// Block is a part of a reply: text, or the call of a tool.
type Block struct {
	Text  string
	Tool  string
	Input any
}

// Text makes a block of text.
func Text(s string) Block { return Block{Text: s} }

// Tool makes a tool call. input is marshalled; nil is {}.
func Tool(name string, input any) Block { return Block{Tool: name, Input: input} }

// Say is a turn that only says something.
func Say(s string) Turn { return Turn{Reply: []Block{Text(s)}} }

// Call is a turn that calls one tool.
func Call(name string, input any) Turn { return Turn{Reply: []Block{Tool(name, input)}} }

// Request is a recorded request for a message.
type Request struct {
	N       int // from 1
	At      time.Time
	Session string // x-claude-code-session-id
	Agent   string // x-claude-code-agent-id
	Model   string
	System  string
	Tools   []string
	Msgs    []Message
	// Aux is a request on the side (a title, a summary): without tools and
	// with one message. Rules do not see it.
	Aux  bool
	Rule string // what answered
	Body []byte
}

// Message is one message of a request, as text.
type Message struct {
	Role string
	Text string
}

// Last is the text after the last assistant message.
func (r *Request) Last() string {
	i := len(r.Msgs)
	for i > 0 && r.Msgs[i-1].Role != "assistant" {
		i--
	}
	return joinText(r.Msgs[i:])
}

// Any is the text of all messages.
func (r *Request) Any() string { return joinText(r.Msgs) }

func joinText(ms []Message) string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.Text
	}
	return strings.Join(parts, "\n")
}

// Server is the running stand-in.
type Server struct {
	http *http.Server
	url  string

	mu       sync.Mutex
	rules    []*rule
	queues   map[string][]Turn
	fallback Turn
	requests []*Request
	grown    chan struct{} // closed and renewed with every request
}

type rule struct {
	Rule
	left int
}

// Start serves on a free port of loopback. Without rules every turn is "ok".
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{url: "http://" + l.Addr().String(), queues: map[string][]Turn{}, fallback: Say("ok"), grown: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// URL is what ANTHROPIC_BASE_URL is set to.
func (s *Server) URL() string { return s.url }

// Close stops serving, also turns that are being delayed.
func (s *Server) Close() { _ = s.http.Close() }

// Add adds rules behind those there are; the first one that matches answers.
func (s *Server) Add(rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		left := r.Times
		if left == 0 {
			left = 1
		}
		s.rules = append(s.rules, &rule{r, left})
	}
}

// Queue adds turns of one session's main conversation, tried before rules.
func (s *Server) Queue(session string, turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[session] = append(s.queues[session], turns...)
}

// Requests gives what was asked so far, without requests on the side.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait gives the first request, past or coming, that is says yes to.
func (s *Server) Wait(ctx context.Context, is func(*Request) bool) (*Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		all, grown := s.requests, s.grown
		s.mu.Unlock()
		for ; seen < len(all); seen++ {
			if is(all[seen]) {
				return all[seen], nil
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, fmt.Errorf("no such request among %d: %w", len(all), ctx.Err())
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 64<<20))
	if err != nil {
		return
	}
	switch path := req.URL.Path; {
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages/count_tokens"):
		answer(w, 200, map[string]any{"input_tokens": len(body) / 4})
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages"):
		s.message(w, req, body)
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/v1/models"):
		answer(w, 200, map[string]any{"data": []any{}, "has_more": false, "first_id": nil, "last_id": nil})
	case req.Method == http.MethodHead, path == "/":
		w.WriteHeader(200)
	default:
		fail(w, 404, "not_found_error", "nothing at "+path)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("content-type", "application/json")
	w.Header().Set("request-id", "req_mock")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (s *Server) message(w http.ResponseWriter, req *http.Request, body []byte) {
	r, stream, err := read(body)
	if err != nil {
		fail(w, 400, "invalid_request_error", err.Error())
		return
	}
	r.At = time.Now()
	r.Session, r.Agent = req.Header.Get("x-claude-code-session-id"), req.Header.Get("x-claude-code-agent-id")
	turn := s.choose(r)
	if turn.Delay > 0 {
		select {
		case <-time.After(turn.Delay):
		case <-req.Context().Done():
			return
		}
	}
	if turn.Status != 0 {
		fail(w, turn.Status, "api_error", turn.Message)
		return
	}
	blocks := turn.Reply
	if turn.From != nil {
		blocks = turn.From(r)
	}
	reply(w, r, stream, blocks)
}

// choose records the request and finds its turn.
func (s *Server) choose(r *Request) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Aux {
		r.Rule = "(aux)"
		return Say("A title")
	}
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	defer func() { close(s.grown); s.grown = make(chan struct{}) }()
	if q := s.queues[r.Session]; len(q) > 0 && r.Agent == "" {
		s.queues[r.Session] = q[1:]
		r.Rule = "(queue)"
		return q[0]
	}
	for _, rule := range s.rules {
		if rule.left != 0 && rule.When.match(r) {
			rule.left--
			r.Rule = rule.Name
			return rule.Turn
		}
	}
	r.Rule = "(default)"
	return s.fallback
}

func (w When) match(r *Request) bool {
	in := func(part, text string) bool { return part == "" || strings.Contains(text, part) }
	agent := in(w.Agent, r.Agent)
	if w.Agent == "-" {
		agent = r.Agent == ""
	}
	return agent && in(w.Session, r.Session) && in(w.Last, r.Last()) && in(w.Any, r.Any()) &&
		(w.NotLast == "" || !strings.Contains(r.Last(), w.NotLast)) && (w.Is == nil || w.Is(r))
}

// read decodes a request's body.
func read(body []byte) (*Request, bool, error) {
	var in struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Tools    []struct{ Name, Type string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	if len(in.Messages) == 0 {
		return nil, false, errors.New("messages: at least one message is required")
	}
	r := &Request{Model: in.Model, System: contentText(in.System), Body: body}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, m := range in.Messages {
		r.Msgs = append(r.Msgs, Message{m.Role, contentText(m.Content)})
	}
	r.Aux = len(in.Tools) == 0 && len(in.Messages) == 1
	return r, in.Stream, nil
}

// contentText gives a content's text: a string, or blocks, of which tool calls
// and results show as [tool_use NAME] INPUT and [tool_result] TEXT.
func contentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Type, Text, Name string
		Input, Content   json.RawMessage
		IsError          bool `json:"is_error"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	parts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "tool_use":
			parts = append(parts, "[tool_use "+b.Name+"] "+string(b.Input))
		case "tool_result":
			mark := "[tool_result] "
			if b.IsError {
				mark = "[tool_result error] "
			}
			parts = append(parts, mark+contentText(b.Content))
		case "thinking":
		default:
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}
