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
