package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A connection that is told much is bounded, loses what it was told first, and
// takes nothing from another one; what is gone is an error and never a gap.
func TestReplies(t *testing.T) {
	ctx := context.Background()
	r := newReplies()
	add := func(session, stream string, data ...string) {
		t.Helper()
		if err := r.Open(ctx, session, stream); err != nil {
			t.Fatal(err)
		}
		for _, d := range data {
			if err := r.Append(ctx, session, stream, []byte(d)); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := func(session, stream string, index int) (list []string, err error) {
		for d, err := range r.After(ctx, session, stream, index) {
			if err != nil {
				return nil, err
			}
			list = append(list, string(d))
		}
		return list, nil
	}
	add("a", "", "word")
	add("b", "one", "x", "y", "z")
	for i := range 500 {
		add("a", fmt.Sprint(i), "small")
	}
	if _, err := after("a", "0", -1); err == nil {
		t.Error("the first of 500 streams is kept")
	}
	add("a", "large", strings.Repeat("l", maxReplies*3/4), "end")
	add("a", "larger", strings.Repeat("l", maxReplies*3/4))
	if _, err := after("a", "large", 0); err == nil {
		t.Error("more is kept than the limit")
	}
	add("a", "large", "late") // it is made anew, as for a client that asks again
	add("a", "huge", strings.Repeat("h", 2*maxReplies), "end")
	if got, err := after("a", "huge", 0); err != nil || !slices.Equal(got, []string{"end"}) {
		t.Errorf("the newest: %d, %v", len(got), err)
	}
	if err := r.Append(ctx, "a", "1", []byte("late")); err != nil {
		t.Error(err)
	}
	if _, err := after("a", "1", -1); err == nil {
		t.Error("a stream goes on with a gap")
	}
	if got, err := after("a", "", -1); err != nil || !slices.Equal(got, []string{"word"}) {
		t.Errorf("the stream of no request: %q, %v", got, err)
	}
	if got, err := after("b", "one", 0); err != nil || !slices.Equal(got, []string{"y", "z"}) {
		t.Errorf("the other connection: %q, %v", got, err)
	}
	if n := len(r.of["a"]); n > maxStreams {
		t.Errorf("%d streams", n)
	}
	for _, s := range []string{"a", "b"} {
		if err := r.SessionClosed(ctx, s); err != nil {
			t.Error(err)
		}
	}
	if _, err := after("b", "one", 0); err == nil || len(r.of) != 0 {
		t.Errorf("closed: %v, %v", r.of, err)
	}
}
