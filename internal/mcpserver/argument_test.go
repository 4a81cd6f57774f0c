package mcpserver

import (
	"strings"
	"testing"
)

// What does not fit is answered with what fits, not with how a schema failed.
func TestArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	d := meet(t, nil, "A", "B")
	for _, tc := range []struct {
		tool string
		in   args
		want string
	}{
		{"send_message", args{"sender": "A", "content": "x", "private": 3}, "private is a list of texts, true or false or null"},
		{"send_message", args{"sender": "A", "content": "x", "private": []any{1}}, "private is a list of texts, true or false or null"},
		{"send_message", args{"sender": "A", "content": 3}, "content is a text"},
		{"send_message", args{"sender": "A", "content": "x", "block": "yes"}, "block is true or false"},
		{"send_message", args{"sender": "A", "content": "x", "timeout_seconds": -1}, "timeout_seconds is a number that is not negative or null"},
		{"send_message", args{"content": "x"}, `missing properties: ["sender"]`},
		{"send_message", args{"sender": "A", "content": "x", "nosuch": 1}, `unexpected additional properties ["nosuch"]`},
		{"whisper_message", args{"sender": "A", "content": "x", "target": 1}, "target is a text or a list of texts"},
		{"room_open", args{"name": "x", "members": "ana"}, "members is a list of texts"},
		{"room", args{"room": "x", "since": "1"}, "since is a whole number"},
	} {
		r := deny(d.of("A"), "invalid", tc.tool, tc.in)
		if !strings.HasSuffix(r.Message, ": "+tc.want) || has(r.Message, "validating") || has(r.Message, "anonymous") {
			t.Errorf("%s %v: %s", tc.tool, tc.in, r.Message)
		}
	}
}

// TestNullIsNotGiven: for every parameter of every tool that may be left away.
func TestNullIsNotGiven(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for set := range toolsetTools {
		c := b.client(seat{tools: []string{set}})
		for name, schema := range c.server.takes {
			in := args{}
			for p := range schema.Properties {
				in[p] = nil
			}
			for _, p := range schema.Required {
				delete(in, p) // which is then what is wrong
			}
			if len(schema.Required) == 0 {
				in["no such"] = nil
			}
			r := deny(c, "invalid", name, in)
			if !strings.Contains(r.Message, "missing properties") && !strings.Contains(r.Message, `additional properties ["no such"]`) {
				t.Errorf("%s of %s: %s", name, set, r.Message)
			}
		}
	}
	d := meet(t, nil, "A", "B")
	out := do[turnResult](d.of("A"), "send_message", args{
		"sender": "A", "content": "@B hello", "block": false, "client_msg_id": nil, "receipt": nil, "private": nil, "is_private": nil, "timeout_seconds": nil, "conversation": nil,
	})
	if out.Sent == nil || len(out.Sent.Recipients) != 1 {
		t.Errorf("%+v", out)
	}
	r := deny(d.of("A"), "invalid", "send_message", args{"sender": "A", "content": nil})
	if !strings.HasSuffix(r.Message, "content is a text") {
		t.Error(r.Message)
	}
}
