package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// reply writes a message, as one object or as the events of a stream.
func reply(w http.ResponseWriter, r *Request, stream bool, blocks []Block) {
	stop := "end_turn"
	content := make([]map[string]any, len(blocks))
	for i, b := range blocks {
		if b.Tool == "" {
			content[i] = map[string]any{"type": "text", "text": b.Text}
			continue
		}
		stop = "tool_use"
		input := b.Input
		if input == nil {
			input = map[string]any{}
		}
		content[i] = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_mock_%d_%d", r.N, i), "name": b.Tool, "input": input}
	}
	message := map[string]any{
		"id": fmt.Sprintf("msg_mock_%d", r.N), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage(r, 10),
	}
	if !stream {
		answer(w, 200, message)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	w.Header().Set("cache-control", "no-cache")
	w.Header().Set("request-id", "req_mock")
	send := func(kind string, event map[string]any) {
		event["type"] = kind
		text, err := json.Marshal(event)
		if err == nil {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
		}
	}
	message["content"], message["stop_reason"], message["usage"] = []any{}, nil, usage(r, 1)
	send("message_start", map[string]any{"message": message})
	for i, b := range content {
		delta := map[string]any{"type": "text_delta", "text": b["text"]}
		begin := map[string]any{"type": "text", "text": ""}
		if b["type"] == "tool_use" {
			input, _ := json.Marshal(b["input"])
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
			begin = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": begin})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 10}})
	send("message_stop", map[string]any{})
}

func usage(r *Request, out int) map[string]any {
	return map[string]any{"input_tokens": len(r.Body) / 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": out}
}
