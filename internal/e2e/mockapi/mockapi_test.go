package mockapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, s *Server, path string, headers map[string]string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "POST", s.URL()+path, bytes.NewReader(text))
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(out)
}

func ask(text string, more ...any) map[string]any {
	msgs := []any{map[string]any{"role": "user", "content": text}}
	return map[string]any{"model": "m", "messages": append(msgs, more...), "tools": []any{map[string]any{"name": "Bash"}}}
}

func said(t *testing.T, s *Server, headers map[string]string, body any) string {
	t.Helper()
	status, out := post(t, s, "/v1/messages?beta=true", headers, body)
	var m struct {
		Content []struct{ Text, Name string }
		Stop    string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil || status != 200 {
		t.Fatalf("%d %s", status, out)
	}
	return m.Content[0].Text + m.Content[0].Name + " " + m.Stop
}

func TestRulesAndQueues(t *testing.T) {
	s := start(t)
	s.Add(
		Rule{Name: "once", When: When{Last: "apple"}, Turn: Call("Bash", map[string]string{"command": "ls"})},
		Rule{Name: "always", When: When{Last: "apple", Agent: "-"}, Times: -1, Turn: Say("again")},
		Rule{Name: "sub", When: When{Agent: "abc", NotLast: "pear"}, Times: -1, Turn: Say("sub")},
		Rule{Name: "from", When: When{Is: func(r *Request) bool { return r.Model == "m" && strings.HasPrefix(r.Last(), "echo ") }},
			Turn: Turn{From: func(r *Request) []Block { return []Block{Text(r.Last()[5:])} }}},
	)
	s.Queue("s1", Say("first"), Say("second"))
	in := func(h ...string) map[string]string {
		return map[string]string{"x-claude-code-session-id": h[0], "x-claude-code-agent-id": strings.Join(h[1:], "")}
	}
	for i, tt := range []struct {
		headers map[string]string
		body    any
		want    string
	}{
		{nil, ask("an apple"), "Bash tool_use"},
		{nil, ask("an apple"), "again end_turn"},
		{in("s2", "xabcx"), ask("an apple"), "sub end_turn"},
		{in("s2", "xabcx"), ask("a pear"), "ok end_turn"},
		{in("s1"), ask("apple"), "first end_turn"},
		{in("s1", "abc"), ask("x"), "sub end_turn"},
		{in("s1"), ask("x"), "second end_turn"},
		{in("s1"), ask("x"), "ok end_turn"},
		{nil, ask("echo hi"), "hi end_turn"},
		{nil, map[string]any{"messages": []any{map[string]any{"role": "user", "content": "apple"}}}, "A title end_turn"},
	} {
		if got := said(t, s, tt.headers, tt.body); got != tt.want {
			t.Errorf("request %d: %q, want %q", i+1, got, tt.want)
		}
	}
	all := s.Requests()
	if len(all) != 9 || all[0].Rule != "once" || all[4].Session != "s1" || all[5].Agent != "abc" || all[0].Tools[0] != "Bash" || all[8].N != 9 {
		t.Errorf("%d requests, %+v", len(all), all[0])
	}
}

func TestLast(t *testing.T) {
	s := start(t)
	said(t, s, nil, ask("old", map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "thinking", "thinking": "hm"}, map[string]any{"type": "tool_use", "name": "T", "input": map[string]int{"a": 1}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "is_error": true, "content": []any{map[string]any{"type": "text", "text": "no"}}}}},
		map[string]any{"role": "system", "content": "mail"}))
	r := s.Requests()[0]
	if r.Last() != "[tool_result error] no\nmail" || r.Any() != "old\n[tool_use T] {\"a\":1}\n[tool_result error] no\nmail" {
		t.Errorf("%q %q", r.Last(), r.Any())
	}
}

func TestStream(t *testing.T) {
	s := start(t)
	s.Add(Rule{Turn: Turn{Reply: []Block{Text("hi"), Tool("T", nil)}}})
	body := ask("x")
	body["stream"] = true
	_, out := post(t, s, "/v1/messages", nil, body)
	var kinds []string
	for _, line := range strings.Split(out, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var e struct{ Type string }
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			kinds = append(kinds, e.Type)
		}
	}
	want := "message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(kinds, " "); got != want || !strings.Contains(out, `"stop_reason":"tool_use"`) {
		t.Errorf("%s\n%s", got, out)
	}
}

func TestOtherPaths(t *testing.T) {
	s := start(t)
	s.Add(Rule{Turn: Turn{Status: 529, Message: "overloaded"}})
	if status, out := post(t, s, "/v1/messages", nil, ask("x")); status != 529 || !strings.Contains(out, "overloaded") {
		t.Errorf("%d %s", status, out)
	}
	if status, _ := post(t, s, "/v1/messages", nil, 7); status != 400 {
		t.Errorf("nonsense: %d", status)
	}
	if status, out := post(t, s, "/v1/messages/count_tokens", nil, ask("x")); status != 200 || !strings.Contains(out, "input_tokens") {
		t.Errorf("%d %s", status, out)
	}
	if status, _ := post(t, s, "/elsewhere", nil, 1); status != 404 {
		t.Errorf("%d", status)
	}
}

func TestWait(t *testing.T) {
	s := start(t)
	go func() {
		for _, word := range []string{"one", "two"} {
			http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"tools":[{}],"messages":[{"role":"user","content":"`+word+`"}]}`))
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := s.Wait(ctx, func(r *Request) bool { return r.Last() == "two" })
	if err != nil || r.N != 2 {
		t.Errorf("%+v %v", r, err)
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := s.Wait(short, func(r *Request) bool { return false }); err == nil {
		t.Error("found what never came")
	}
}
