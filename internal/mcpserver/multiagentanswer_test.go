package mcpserver

import (
	"context"
	"slices"
	"testing"
)

// TestMultiagentAnswer: who sends and waits is not given older unread messages in
// place of the answer; they come along with it, or with the time-out.
func TestMultiagentAnswer(t *testing.T) {
	for _, column := range []string{"", "description", "code"} {
		d := meet(t, args{"column": column}, "A", "B")
		d.sent("A", "@B first", "@B")
		out := do[turnResult](d.of("B"), "send_message", args{"sender": "B", "content": "@A unread", "timeout_seconds": 0})
		if out.Status != "timeout" || out.Sent == nil || !slices.Equal(out.texts(), []string{"@B first"}) {
			t.Errorf("%q: %+v", column, out)
		}
		d.sent("A", "@B second", "@B")
		b := later(context.Background(), d.of("B"), "send_message", args{"sender": "B", "content": "@A asks"})
		d.waiting("A", "B")
		d.sent("A", "@B answers", "@B")
		if out := d.got(b); out.Status != "your_turn" || !slices.Equal(out.texts(), []string{"@B second", "@B answers"}) {
			t.Errorf("%q: %+v", column, out)
		}
	}
}
