package mcpserver

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// waitingCall makes a call and gives its answer to come, once it waits: it says so.
func waitingCall(t *testing.T, c *client, tool string, in args) chan turned {
	t.Helper()
	done, over := make(chan turned, 1), make(chan struct{})
	go func() {
		out, err := tryWith[turnResult](context.Background(), c, tool, in, mcp.Meta{"progressToken": tool})
		close(over)
		done <- turned{out, err}
	}()
	select {
	case <-c.notes:
	case <-time.After(patience):
		t.Fatal("the call does not wait")
	}
	go func() {
		for {
			select {
			case <-c.notes:
			case <-over:
				return
			}
		}
	}()
	return done
}

// TestTheSameCallAgain: a client that gives a wait up without a word, and soon,
// makes the same call again. Then it has not read what the answer held, which is
// given once more and marked; who goes on as an answer asks for gets nothing twice.
func TestTheSameCallAgain(t *testing.T) {
	t.Parallel()
	// waited gives B's answer to a wait in which A's words came, and B the floor.
	waited := func(t *testing.T, tool string) (*debate, turnResult) {
		d := meet(t, nil, "A", "B", "C")
		d.look("B")
		waits := waitingCall(t, d.of("B"), tool, args{"handle": "B", "timeout_seconds": 20})
		d.sent("A", "@B the words", "@B")
		got := d.got(waits)
		if got.Status != "your_turn" || !slices.Equal(got.texts(), []string{"@B the words"}) {
			t.Fatalf("%+v", got)
		}
		return d, got
	}
	wait := func(d *debate, tool string, more args) turnResult {
		in := args{"handle": "B", "timeout_seconds": 0}
		for k, v := range more {
			in[k] = v
		}
		return do[turnResult](d.of("B"), tool, in)
	}
	for _, tool := range []string{"wait_for_turn", "wait_for_message"} {
		t.Run(tool, func(t *testing.T) {
			d, _ := waited(t, tool)
			got := wait(d, tool, nil)
			if !slices.Equal(got.texts(), []string{"@B the words"}) || got.SystemNotice == nil || !has(*got.SystemNotice, "once more") {
				t.Fatalf("%+v", got)
			}
			if got := wait(d, tool, nil); len(got.NewMessages) > 0 || has(*got.SystemNotice, "once more") {
				t.Fatalf("a third time: %+v", got)
			}
		})
	}
	t.Run("speaks", func(t *testing.T) {
		d, _ := waited(t, "wait_for_turn")
		d.sent("B", "@A an answer", "@A")
		d.sent("A", "@B more", "@B")
		if got := wait(d, "wait_for_turn", nil); !slices.Equal(got.texts(), []string{"@B more"}) {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("another tool", func(t *testing.T) {
		d, _ := waited(t, "wait_for_message")
		if got := wait(d, "wait_for_turn", nil); len(got.NewMessages) > 0 {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("receipt", func(t *testing.T) {
		d, first := waited(t, "wait_for_turn")
		if got := wait(d, "wait_for_turn", args{"receipt": first.Receipt}); len(got.NewMessages) > 0 {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("no turn", func(t *testing.T) { // who is only told something waits on
		d, _ := waited(t, "wait_for_turn")
		d.look("C")
		waits := waitingCall(t, d.of("C"), "wait_for_turn", args{"handle": "C", "timeout_seconds": 20})
		d.sent("B", "@A @C both of you", "@A", "@C")
		if got := d.got(waits); got.Status != "message_received" {
			t.Fatalf("%+v", got)
		}
		if got := d.look("C"); len(got.NewMessages) > 0 {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("a message", func(t *testing.T) {
		d := meet(t, nil, "A", "B")
		d.sent("A", "@B the words", "@B")
		d.look("B")
		send := args{"sender": "B", "content": "@A a question", "client_msg_id": "b1", "timeout_seconds": 20}
		sends := waitingCall(t, d.of("B"), "send_message", send)
		d.sent("A", "@B the answer", "@B")
		if got := d.got(sends); !slices.Equal(got.texts(), []string{"@B the answer"}) {
			t.Fatalf("%+v", got)
		}
		send["timeout_seconds"] = 0
		got := do[turnResult](d.of("B"), "send_message", send)
		if got.Sent == nil || !got.Sent.Repeated || !slices.Equal(got.texts(), []string{"@B the answer"}) || !has(*got.SystemNotice, "once more") {
			t.Fatalf("%+v", got)
		}
		if got := d.look("B"); len(got.NewMessages) > 0 {
			t.Fatalf("%+v", got)
		}
	})
}
